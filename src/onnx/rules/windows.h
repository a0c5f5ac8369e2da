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

/* The same of one axis. */
typedef struct onnx_ends {
    int64_t kernel, stride, dilation, before, after, beyond;
} onnx_ends;
/* Finds what is added at both ends of an axis: the file's pads, or by SAME_UPPER and SAME_LOWER, and by
 * ceil_mode. Requires kernel, stride and dilation. */
void onnx_ends_find(onnx_import *im, int64_t size, int64_t before, int64_t after, onnx_ends *out);
void onnx_window_set(onnx_window *w, uint32_t d, const onnx_ends *ends);
/* The largest, or the mean, of each window of x, of rank 4. counted: pads count. */
uint32_t onnx_pool(onnx_import *im, uint32_t x, onnx_window *w, bool max, bool counted);

/* volumes.c: of three axes. */
bool onnx_is_volume(onnx_import *im, uint32_t x);
uint32_t onnx_volume_pool(onnx_import *im, uint32_t x, bool max, bool counted);
uint32_t onnx_volume_conv(onnx_import *im, uint32_t x, uint32_t weights); /* and operand 2, its bias */
uint32_t onnx_volume_back(onnx_import *im, uint32_t x, uint32_t weights); /* transposed */
/* For each place of a window a weight of 1 at that place: [channels*rows*columns,1,rows,columns]. */
uint32_t onnx_one_at_each(onnx_import *im, int64_t channels, int64_t rows, int64_t columns);
/* The operand, where there is one, added to every channel of y. */
uint32_t onnx_with_bias(onnx_import *im, uint32_t y, uint32_t operand);

/* weights: NULL for pools, whose kernel is an attribute. back: for ConvTranspose. false: refused. */
bool onnx_window_read(onnx_import *im, uint32_t x, const onnx_shape *weights, bool back, onnx_window *out);
/* Converts rank 3 to 4, and back. */
uint32_t onnx_window_widen(onnx_import *im, uint32_t x, const onnx_window *w);
uint32_t onnx_window_narrow(onnx_import *im, uint32_t x, const onnx_window *w);
/* Adds the padding that the op cannot do itself. */
uint32_t onnx_window_pad(onnx_import *im, uint32_t x, const onnx_window *w, double value);

#endif
