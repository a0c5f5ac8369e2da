/* tensor: TensorProto, and its elements as numbers. */
#include <math.h>

#include "onnx/file.h"

static const struct {
    const char *name;
    int64_t bytes;
} types[] = {
    [ONNX_FLOAT] = {"float32", 4},   [ONNX_UINT8] = {"uint8", 1},       [ONNX_INT8] = {"int8", 1},
    [ONNX_UINT16] = {"uint16", 2},   [ONNX_INT16] = {"int16", 2},       [ONNX_INT32] = {"int32", 4},
    [ONNX_INT64] = {"int64", 8},     [ONNX_STRING] = {"string", 0},     [ONNX_BOOL] = {"bool", 1},
    [ONNX_FLOAT16] = {"float16", 2}, [ONNX_DOUBLE] = {"float64", 8},    [ONNX_UINT32] = {"uint32", 4},
    [ONNX_UINT64] = {"uint64", 8},   [ONNX_BFLOAT16] = {"bfloat16", 2},
};

int64_t onnx_type_bytes(int32_t type) {
    return type > 0 && (size_t)type < EBB_COUNT(types) ? types[type].bytes : 0;
}

const char *onnx_type_name(int32_t type) {
    const char *name = type > 0 && (size_t)type < EBB_COUNT(types) ? types[type].name : NULL;
    return name ? name : "a type that is not read";
}

bool onnx_is_f32(int32_t type) {
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_BFLOAT16;
}

bool onnx_is_whole(int32_t type) {
    return type != ONNX_DOUBLE && !onnx_is_f32(type);
}

static double half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double sign = bits >> 15 ? -1 : 1, part = bits & 1023;
    if (exponent == 31) return part != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + part, exponent - 25) : ldexp(part, -24));
}

double onnx_tensor_at(const onnx_tensor *tensor, int64_t i) {
    uint64_t bits = 0;
    const int64_t bytes = onnx_type_bytes(tensor->type);
    memcpy(&bits, tensor->bytes + i * bytes, (size_t)bytes); /* the host is little-endian, as the file */
    const uint32_t word = (uint32_t)bits;
    float f32;
    double f64;
    switch (tensor->type) {
    case ONNX_FLOAT:
        return memcpy(&f32, &word, sizeof f32), (double)f32;
    case ONNX_DOUBLE:
        return memcpy(&f64, &bits, sizeof f64), f64;
    case ONNX_BFLOAT16:
        bits <<= 16;
        return memcpy(&f32, &bits, sizeof f32), (double)f32;
    case ONNX_FLOAT16:
        return half((uint16_t)bits);
    case ONNX_INT8:
        return (int8_t)bits;
    case ONNX_INT16:
        return (int16_t)bits;
    case ONNX_INT32:
        return (int32_t)word;
    case ONNX_INT64:
        return (double)(int64_t)bits;
    case ONNX_BOOL:
        return bits != 0;
    default:
        return (double)bits;
    }
}

/* Which field has the elements where raw_data has not, and how it writes them. */
static uint32_t list_field(int32_t type) {
    switch (type) {
    case ONNX_FLOAT:
        return 4;
    case ONNX_DOUBLE:
        return 10;
    case ONNX_INT64:
        return 7;
    case ONNX_UINT32:
    case ONNX_UINT64:
        return 11;
    default:
        return 5;
    }
}

typedef struct reading {
    onnx_tensor *out;
    onnx_wire raw, packed; /* of raw_data, and of a packed list */
    bool has_raw, has_packed, single, external;
    const char *location;
    int64_t from, length;
} reading;

/* Axes beyond the most are counted alone. */
static ebb_status read_dims(onnx_file *file, const onnx_field *field, onnx_tensor *out) {
    onnx_wire list = field->bytes;
    uint64_t value = field->value;
    bool more = field->type == 0 || list.at != list.end;
    while (more) {
        if (field->type == 2 && !onnx_wire_varint(&list, &value)) return onnx_damaged(file, "a shape");
        if (value > (uint64_t)INT64_MAX) return onnx_damaged(file, "a tensor's shape: a size below 0");
        if (out->rank < ONNX_MAX_RANK) out->dim[out->rank] = (int64_t)value;
        out->rank += out->rank < UINT32_MAX;
        more = field->type == 2 && list.at != list.end;
    }
    return EBB_OK;
}

static ebb_status read_entry(onnx_file *file, onnx_wire wire, reading *r) {
    const char *key = "", *text = "";
    onnx_field field;
    bool more;
    while (onnx_wire_next(&wire, &field, &more)) {
        ebb_status status = EBB_OK;
        if (!more) {
            if (strcmp(key, "location") == 0) r->location = text;
            int64_t *number = strcmp(key, "offset") == 0   ? &r->from
                              : strcmp(key, "length") == 0 ? &r->length
                                                           : NULL;
            if (number && !ebb_parse_i64(text, 0, INT64_MAX, number))
                return onnx_damaged(file, "external data's place");
            return EBB_OK;
        }
        if (field.type == 2 && field.number == 1) status = onnx_text(file, &field.bytes, &key);
        if (field.type == 2 && field.number == 2) status = onnx_text(file, &field.bytes, &text);
        if (status != EBB_OK) return status;
    }
    return onnx_damaged(file, "external data");
}

static ebb_status read_field(onnx_file *file, const onnx_field *field, reading *r) {
    const bool listed = field->number == 4 || field->number == 5 || field->number == 7 ||
                        field->number == 10 || field->number == 11;
    if (field->number == 1 && (field->type == 0 || field->type == 2)) return read_dims(file, field, r->out);
    if (field->number == 2 && field->type == 0)
        r->out->type = field->value < 64 ? (int32_t)field->value : 64;
    if (field->number == 8 && field->type == 2) return onnx_text(file, &field->bytes, &r->out->name);
    if (field->number == 13 && field->type == 2) return read_entry(file, field->bytes, r);
    if (field->number == 14 && field->type == 0) r->external = field->value == 1;
    if (field->number == 9 && field->type == 2) {
        if (r->has_raw) return onnx_damaged(file, "a tensor with two times raw data");
        r->has_raw = true;
        r->raw = field->bytes;
    }
    if (listed && field->type == 2) {
        if (r->has_packed || r->single) return onnx_damaged(file, "a tensor whose list is in pieces");
        r->has_packed = true;
        r->packed = field->bytes;
    }
    if (listed && field->type != 2) r->single = true;
    return EBB_OK;
}

/* Elements that the file has as varints are brought to their own width. What takes more than two bytes for
 * one of the file's is limited in number. */
static ebb_status unpack(onnx_file *file, reading *r) {
    onnx_tensor *out = r->out;
    const int64_t width = onnx_type_bytes(out->type);
    if (out->count > r->packed.end - r->packed.at)
        return onnx_damaged(file, "a tensor that is shorter than its shape");
    if (out->count * width > 2 * (r->packed.end - r->packed.at)) file->n_numbers += out->count;
    if (file->n_numbers > ONNX_MAX_NUMBERS)
        return onnx_damaged(file, "more than 1048576 numbers one by one: write tensors as raw data");
    uint8_t *bytes = EBB_NEW(&file->arena, uint8_t, out->count * width);
    if (!bytes) return EBB_NO_MEMORY;
    for (int64_t i = 0; i < out->count; i++) {
        uint64_t value;
        if (!onnx_wire_varint(&r->packed, &value))
            return onnx_damaged(file, "a tensor that is shorter than its shape");
        memcpy(bytes + i * width, &value, (size_t)width);
    }
    if (r->packed.at != r->packed.end) return onnx_damaged(file, "a tensor that is longer than its shape");
    out->bytes = bytes;
    return EBB_OK;
}

static ebb_status place(onnx_file *file, reading *r) {
    onnx_tensor *out = r->out;
    int64_t n_bytes = onnx_type_bytes(out->type);
    if (out->rank > ONNX_MAX_RANK) return onnx_too_deep(file, "tensor", out->name, out->rank);
    out->count = 1;
    for (uint32_t d = 0; d < out->rank; d++)
        if (!ebb_mul_i64(out->count, out->dim[d], &out->count))
            return onnx_damaged(file, "a tensor's shape");
    if (n_bytes == 0) return EBB_OK; /* refused where it is used */
    if (!ebb_mul_i64(n_bytes, out->count, &n_bytes)) return onnx_damaged(file, "a tensor's shape");
    if (r->external) {
        onnx_mapped mapped = {NULL, 0};
        ebb_status status = r->location ? onnx_external(file, r->location, r->from, r->length, &mapped)
                                        : onnx_damaged(file, "external data without a place");
        if (status != EBB_OK) return status;
        r->raw = (onnx_wire){mapped.at, mapped.at + mapped.n};
        r->has_raw = true;
    }
    const uint32_t list = list_field(out->type);
    if (r->single) return onnx_damaged(file, "a tensor whose list is in pieces");
    if (!r->has_raw && r->has_packed && list != 4 && list != 10) return unpack(file, r);
    const onnx_wire bytes = r->has_raw ? r->raw : r->packed;
    if (n_bytes != (bytes.at ? bytes.end - bytes.at : 0))
        return onnx_damaged(file, "a tensor whose bytes are not its shape's");
    out->bytes = bytes.at;
    return EBB_OK;
}

ebb_status onnx_read_tensor(onnx_file *file, onnx_wire wire, onnx_tensor *out) {
    reading r = {.out = out, .length = -1};
    onnx_field field;
    bool more;
    *out = (onnx_tensor){.name = ""};
    while (onnx_wire_next(&wire, &field, &more)) {
        const ebb_status status = more ? read_field(file, &field, &r) : place(file, &r);
        if (status != EBB_OK || !more) return status;
    }
    return onnx_damaged(file, "a tensor");
}
