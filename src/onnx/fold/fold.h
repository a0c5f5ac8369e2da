/* onnx/fold/fold.h: nodes whose operands are known numbers, computed instead of imported. */
#ifndef EBB_ONNX_FOLD_H
#define EBB_ONNX_FOLD_H

#include "onnx/import.h"

/* Evaluates the node on known numbers. false: this is impossible, or not all its operands are known. */
bool onnx_fold(onnx_import *im);
/* The part of onnx_fold for Reshape, Transpose, Slice, Unsqueeze and Expand of numbers v of any rank. */
bool onnx_fold_moved(onnx_import *im, const onnx_value *v);
/* The part of onnx_fold for Shape, Size, Constant, ConstantOfShape. */
bool onnx_fold_made(onnx_import *im);
/* The part of onnx_fold for pointwise ops with up to three operands v. */
bool onnx_fold_pointwise(onnx_import *im, const onnx_value *const v[3], uint32_t n_in);
/* Sets the node's first result for both sizes of the batch, with floats rounded to float. */
void onnx_give_new(onnx_import *im, int32_t type, const onnx_shape *shape, double *a, double *b);
/* Whether n more numbers of a table of indices are computed here; more of them are left to the graph. */
bool onnx_fold_is_small(const onnx_import *im, int64_t n);
/* Whether an integer is so large (from 2^53 on) that its double may be rounded. */
bool onnx_is_far(double x);
bool onnx_refuse_far(onnx_import *im, double x); /* true */

#endif
