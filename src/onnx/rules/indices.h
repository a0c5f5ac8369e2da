/* indices: places along axes as integers of the graph. */
#ifndef EBB_ONNX_INDICES_H
#define EBB_ONNX_INDICES_H

#include "onnx/import.h"

/* Indices whose numbers below 0 count from the end of `size` places. */
uint32_t onnx_from_start(onnx_import *im, uint32_t i, int64_t size);
/* Of this shape: each place's number along an axis. */
uint32_t onnx_places_along(onnx_import *im, const onnx_shape *shape, uint32_t axis);
/* Truth values: which of the places are in [0, size). */
uint32_t onnx_places_within(onnx_import *im, uint32_t place, int64_t size);
/* scatters.c. The rows of x [places,...] with those of the updates [n,...] at places i [n], by
 * ScatterElements' `reduction`. */
uint32_t onnx_scatter_rows(onnx_import *im, uint32_t x, uint32_t i, uint32_t updates, const char *how);

#endif
