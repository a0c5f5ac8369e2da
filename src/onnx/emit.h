/* emit: declares inputs, params, states and constants of the imported model. */
#ifndef EBB_ONNX_EMIT_H
#define EBB_ONNX_EMIT_H

#include "onnx/import.h"

/* Reserves %lr for the learning rate: a file's own value of that name is renamed, as if the name were
 * taken, except an input of one number, which then is the rate. false: no memory. */
bool onnx_keep_rate(onnx_import *im);
/* Declares a value. word: input, param, state or constant; fill: for a constant. EBB_BUILD_NONE after a
 * refusal. */
uint32_t onnx_declare(onnx_import *im, const char *word, const char *like, const char *type, double fill);

#endif
