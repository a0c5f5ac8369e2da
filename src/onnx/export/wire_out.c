/* wire_out: varints, 32 bits, and bytes with their length. */
#include "onnx/export/wire_out.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, WIRE_32_BITS = 5 };

static void put_varint(ebb_text *to, uint64_t value) {
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) bytes[n++] = (char)((value & 0x7F) | 0x80);
    bytes[n++] = (char)value;
    ebb_text_put(to, bytes, n);
}

static void put_key(ebb_text *to, uint32_t field, uint32_t type) {
    put_varint(to, (uint64_t)field << 3 | type);
}

void onnx_put_int(ebb_text *to, uint32_t field, int64_t value) {
    put_key(to, field, WIRE_VARINT);
    put_varint(to, (uint64_t)value);
}

void onnx_put_float(ebb_text *to, uint32_t field, float value) {
    char bytes[sizeof value]; /* the host is little-endian, as the format */
    memcpy(bytes, &value, sizeof value);
    put_key(to, field, WIRE_32_BITS);
    ebb_text_put(to, bytes, sizeof bytes);
}

void onnx_put_head(ebb_text *to, uint32_t field, uint64_t n) {
    put_key(to, field, WIRE_BYTES);
    put_varint(to, n);
}

void onnx_put_bytes(ebb_text *to, uint32_t field, const void *bytes, size_t n) {
    onnx_put_head(to, field, n);
    if (n > 0) ebb_text_put(to, bytes, n);
}

void onnx_put_text(ebb_text *to, uint32_t field, const char *text) {
    onnx_put_bytes(to, field, text, strlen(text));
}
