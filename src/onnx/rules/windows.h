/* windows: reads the windows of convolutions and pools: kernel, stride and pads along one or two axes. */
#ifndef EBB_ONNX_WINDOWS_H
#define EBB_ONNX_WINDOWS_H

#include "onnx/import.h"

typedef struct onnx_window {
    bool line; /* one axis, handled as two, the first of size 1 */
    bool even; /* pads are the same at both ends */
    int64_t kernel[2], stride[2], dilation[2], out_pad[2];
    int64_t pad[2];              /* padding by the op itself */
    int64_t before[2], after[2]; /* padding added to x first if even is false; back: cut from the result, of
                                  * which the op cuts pad */
    int64_t beyond[2];           /* what ceil_mode added to after: no mean counts it */
} onnx_window;

/* weights: NULL for pools, whose kernel is an attribute. back: for ConvTranspose. false: refused. */
bool onnx_window_read(onnx_import *im, uint32_t x, const onnx_shape *weights, bool back, onnx_window *out);
/* Converts rank 3 to 4, and back. */
uint32_t onnx_window_widen(onnx_import *im, uint32_t x, const onnx_window *w);
uint32_t onnx_window_narrow(onnx_import *im, uint32_t x, const onnx_window *w);
/* Adds the padding that the op cannot do itself. */
uint32_t onnx_window_pad(onnx_import *im, uint32_t x, const onnx_window *w, double value);

#endif
