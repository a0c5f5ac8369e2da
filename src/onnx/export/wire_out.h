/* wire_out: appends fields of protobuf messages to a text
 * (https://protobuf.dev/programming-guides/encoding). A nested message is first written separately.
 */
#ifndef EBB_ONNX_EXPORT_WIRE_OUT_H
#define EBB_ONNX_EXPORT_WIRE_OUT_H

#include "base/base.h"

void onnx_put_int(ebb_text *to, uint32_t field, int64_t value);
void onnx_put_float(ebb_text *to, uint32_t field, float value);
void onnx_put_bytes(ebb_text *to, uint32_t field, const void *bytes, size_t n);
void onnx_put_text(ebb_text *to, uint32_t field, const char *text);
/* The head of a field of n bytes, which the caller appends. */
void onnx_put_head(ebb_text *to, uint32_t field, uint64_t n);

#endif
