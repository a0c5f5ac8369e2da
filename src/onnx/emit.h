/* emit: declarations, for what makes inputs and initial values. */
#ifndef EBB_ONNX_EMIT_H
#define EBB_ONNX_EMIT_H

#include "onnx/import.h"

/* %lr is the rate that a step learns at: a file's own value of that name is renamed, as if the name were
 * taken; but for an input of one number, which then is the rate. false: no memory. */
bool onnx_keep_rate(onnx_import *im);
/* word: input, param, state or constant; fill: of the last. EBB_BUILD_NONE after a refusal. */
uint32_t onnx_declare(onnx_import *im, const char *word, const char *like, const char *type, double fill);

#endif
