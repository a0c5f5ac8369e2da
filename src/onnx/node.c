/* node: NodeProto and AttributeProto. */
#include "onnx/file.h"

static ebb_status push_ints(onnx_file *file, onnx_attribute *a, const onnx_field *field, int64_t *list) {
    onnx_wire wire = field->bytes;
    uint64_t value = field->value;
    if (field->type == 0) {
        list[a->n_ints++] = (int64_t)value;
        return EBB_OK;
    }
    while (wire.at != wire.end) {
        if (!onnx_wire_varint(&wire, &value)) return onnx_damaged(file, "an attribute");
        list[a->n_ints++] = (int64_t)value;
    }
    return EBB_OK;
}

static double float_of(uint64_t bits) {
    const uint32_t word = (uint32_t)bits;
    float f;
    memcpy(&f, &word, sizeof f);
    return (double)f;
}

static void push_floats(onnx_attribute *a, const onnx_field *field, double *list) {
    if (field->type == 5) list[a->n_floats++] = float_of(field->value);
    if (field->type != 2) return;
    for (const uint8_t *at = field->bytes.at; field->bytes.end - at >= 4; at += 4) {
        uint32_t word;
        memcpy(&word, at, 4);
        list[a->n_floats++] = float_of(word);
    }
}

static ebb_status attribute_field(onnx_file *file, const onnx_field *field, onnx_attribute *a,
                                  int64_t *ints, double *floats) {
    switch (field->number) {
    case 1:
        return field->type == 2 ? onnx_text(file, &field->bytes, &a->name) : EBB_OK;
    case 2:
        a->has_f = field->type == 5;
        a->f = float_of(field->value);
        return EBB_OK;
    case 3:
        a->has_i = field->type == 0;
        a->i = (int64_t)field->value;
        return EBB_OK;
    case 4:
        return field->type == 2 ? onnx_text(file, &field->bytes, &a->s) : EBB_OK;
    case 5: {
        onnx_tensor *tensor = field->type == 2 && !a->tensor ? EBB_NEW(&file->arena, onnx_tensor, 1) : NULL;
        if (!tensor)
            return field->type == 2 && !a->tensor ? EBB_NO_MEMORY : onnx_damaged(file, "an attribute");
        a->tensor = tensor;
        return onnx_read_tensor(file, field->bytes, tensor);
    }
    case 6:
    case 11:
        a->has_graph = true;
        return EBB_OK;
    case 7:
        push_floats(a, field, floats);
        return EBB_OK;
    case 8:
        return field->type == 0 || field->type == 2 ? push_ints(file, a, field, ints) : EBB_OK;
    default:
        return EBB_OK;
    }
}

/* Numbers that a list has at most: a byte an integer, four a float. */
static bool count_numbers(onnx_wire wire, int64_t *n_ints, int64_t *n_floats) {
    onnx_field field;
    bool more;
    *n_ints = *n_floats = 0;
    while (onnx_wire_next(&wire, &field, &more)) {
        if (!more) return true;
        const int64_t n_bytes = field.type == 2 ? field.bytes.end - field.bytes.at : 0;
        if (field.number == 7) *n_floats += field.type == 2 ? n_bytes / 4 : 1;
        if (field.number == 8) *n_ints += field.type == 2 ? n_bytes : 1;
    }
    return false;
}

static ebb_status read_attribute(onnx_file *file, onnx_wire wire, onnx_attribute *a) {
    onnx_field field;
    int64_t n_ints, n_floats;
    bool more;
    *a = (onnx_attribute){.name = ""};
    if (!count_numbers(wire, &n_ints, &n_floats)) return onnx_damaged(file, "an attribute");
    file->n_numbers += n_ints + n_floats;
    if (file->n_numbers > ONNX_MAX_NUMBERS)
        return onnx_damaged(file, "more than 1048576 numbers in attributes");
    int64_t *ints = EBB_NEW(&file->arena, int64_t, n_ints);
    double *floats = EBB_NEW(&file->arena, double, n_floats);
    if (!ints || !floats) return EBB_NO_MEMORY;
    a->ints = ints;
    a->floats = floats;
    while (onnx_wire_next(&wire, &field, &more)) {
        const ebb_status status = more ? attribute_field(file, &field, a, ints, floats) : EBB_OK;
        if (status != EBB_OK || !more) return status;
    }
    return onnx_damaged(file, "an attribute");
}

static ebb_status node_field(onnx_file *file, const onnx_field *field, onnx_node *out,
                             onnx_attribute *attributes) {
    if (field->type != 2) return EBB_OK;
    switch (field->number) {
    case 1:
        return onnx_text(file, &field->bytes, &out->in[out->n_in++]);
    case 2:
        return onnx_text(file, &field->bytes, &out->out[out->n_out++]);
    case 3:
        return onnx_text(file, &field->bytes, &out->name);
    case 4:
        return onnx_text(file, &field->bytes, &out->op);
    case 5:
        return read_attribute(file, field->bytes, &attributes[out->n_attributes++]);
    case 7:
        return onnx_text(file, &field->bytes, &out->domain);
    default:
        return EBB_OK;
    }
}

ebb_status onnx_read_node(onnx_file *file, onnx_wire wire, onnx_node *out) {
    onnx_wire look = wire;
    onnx_field field;
    bool more;
    uint32_t n[8] = {0};
    *out = (onnx_node){.name = "", .op = "", .domain = ""};
    for (;;) {
        if (!onnx_wire_next(&look, &field, &more)) return onnx_damaged(file, "a node");
        if (!more) break;
        if (field.number < 8 && field.type == 2) n[field.number]++;
        if (file->n_names + n[1] + n[2] > ONNX_MAX_NAMES ||
            file->n_attributes_all + n[5] > ONNX_MAX_ATTRIBUTES)
            return onnx_damaged(file, "more than 262144 operands or attributes");
    }
    file->n_names += n[1] + n[2];
    file->n_attributes_all += n[5];
    out->in = EBB_NEW(&file->arena, const char *, n[1]);
    out->out = EBB_NEW(&file->arena, const char *, n[2]);
    onnx_attribute *attributes = EBB_NEW(&file->arena, onnx_attribute, n[5]);
    if (!out->in || !out->out || !attributes) return EBB_NO_MEMORY;
    out->attributes = attributes;
    while (onnx_wire_next(&wire, &field, &more) && more) {
        const ebb_status status = node_field(file, &field, out, attributes);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}
