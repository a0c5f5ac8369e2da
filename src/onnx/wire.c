/* wire: fields of a protobuf message, one after the other. */
#include "onnx/file.h"

bool onnx_wire_varint(onnx_wire *wire, uint64_t *out) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        if (wire->at == wire->end) return false;
        const uint8_t byte = *wire->at++;
        if (shift == 63 && byte > 1) return false;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool fixed(onnx_wire *wire, uint32_t n, uint64_t *out) {
    if ((size_t)(wire->end - wire->at) < n) return false;
    *out = 0;
    for (uint32_t i = 0; i < n; i++) *out |= (uint64_t)*wire->at++ << 8 * i;
    return true;
}

bool onnx_wire_next(onnx_wire *wire, onnx_field *out, bool *more) {
    uint64_t key;
    *more = wire->at != wire->end;
    if (!*more) return true;
    if (!onnx_wire_varint(wire, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3) return false;
    *out = (onnx_field){.number = (uint32_t)(key >> 3), .type = (uint32_t)(key & 7)};
    switch (out->type) {
    case 0:
        return onnx_wire_varint(wire, &out->value);
    case 1:
        return fixed(wire, 8, &out->value);
    case 5:
        return fixed(wire, 4, &out->value);
    case 2:
        if (!onnx_wire_varint(wire, &out->value) || out->value > (size_t)(wire->end - wire->at))
            return false;
        out->bytes = (onnx_wire){wire->at, wire->at + out->value};
        wire->at = out->bytes.end;
        return true;
    default:
        return false; /* groups, which protobuf no longer has */
    }
}
