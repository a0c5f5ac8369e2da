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

static ebb_status push_text(onnx_file *file, onnx_attribute *a, const onnx_wire *bytes) {
    if (a->n_texts == ONNX_MAX_TEXTS) return EBB_OK;
    const char **texts = (const char **)a->texts;
    if (!texts) texts = EBB_NEW(&file->arena, const char *, ONNX_MAX_TEXTS);
    if (!texts) return EBB_NO_MEMORY;
    a->texts = texts;
    return onnx_text(file, bytes, &texts[a->n_texts++]);
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
        if (field->number == 6 && field->type == 2) a->graph = field->bytes;
        return EBB_OK;
    case 7:
        push_floats(a, field, floats);
        return EBB_OK;
    case 8:
        return field->type == 0 || field->type == 2 ? push_ints(file, a, field, ints) : EBB_OK;
    case 9:
        return field->type == 2 ? push_text(file, a, &field->bytes) : EBB_OK;
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

/* ---- graphs in a node: the branches of an If, the body of a loop ---- */

/* Appends to a node's names what a branch reads that it does not make. */
static ebb_status add_captured(onnx_file *file, const onnx_graph *branch, onnx_names *known,
                               onnx_node *out) {
    bool there = true;
    for (uint32_t i = 0; i < branch->n_inputs && there; i++)
        there = onnx_names_put(file->env, known, branch->inputs[i].name, 0);
    for (uint32_t i = 0; i < branch->n_tensors && there; i++)
        there = onnx_names_put(file->env, known, branch->tensors[i].name, 0);
    for (uint32_t i = 0; i < branch->n_nodes && there; i++)
        for (uint32_t k = 0; k < branch->nodes[i].n_out && there; k++)
            there = onnx_names_put(file->env, known, branch->nodes[i].out[k], 0);
    for (uint32_t i = 0; i <= branch->n_nodes && there; i++) {
        const onnx_node *node = i < branch->n_nodes ? &branch->nodes[i] : NULL;
        for (uint32_t k = 0; k < (node ? node->n_read : branch->n_outputs) && there; k++) {
            const char *name = node ? node->in[k] : branch->outputs[k].name;
            if (name[0] == '\0' || onnx_names_find(known, name) != EBB_NONE) continue;
            out->in[out->n_read++] = name;
            there = onnx_names_put(file->env, known, name, 0);
        }
    }
    return there ? EBB_OK : EBB_NO_MEMORY;
}

/* How many names a branch reads at most. */
static uint32_t count_reads(const onnx_graph *branch) {
    uint32_t n = branch->n_outputs;
    for (uint32_t i = 0; i < branch->n_nodes; i++) n += branch->nodes[i].n_read;
    return n;
}

static ebb_status read_branches(onnx_file *file, onnx_attribute *attributes, onnx_node *out) {
    uint32_t n = out->n_in;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < out->n_attributes && status == EBB_OK; i++) {
        if (!attributes[i].graph.at) continue;
        onnx_graph *branch = EBB_NEW(&file->arena, onnx_graph, 1);
        if (!branch) return EBB_NO_MEMORY;
        status = onnx_read_graph(file, attributes[i].graph, branch);
        if (status == EBB_OK) n += count_reads(branch);
        attributes[i].branch = branch;
    }
    const char **in = status == EBB_OK ? EBB_NEW(&file->arena, const char *, n) : NULL;
    if (!in) return status == EBB_OK ? EBB_NO_MEMORY : status;
    memcpy((void *)in, out->in, out->n_in * sizeof *in);
    out->in = in;
    for (uint32_t i = 0; i < out->n_attributes && status == EBB_OK; i++) {
        onnx_names known = {.n = 0};
        if (attributes[i].branch) status = add_captured(file, attributes[i].branch, &known, out);
        onnx_names_end(file->env, &known);
    }
    return status;
}

ebb_status onnx_read_node(onnx_file *file, onnx_wire wire, onnx_node *out) {
    onnx_wire look = wire;
    onnx_field field;
    bool more;
    uint32_t n[8] = {0}, g = 0;
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
    out->n_read = out->n_in;
    static const char *const with_graphs[] = {"If", "Loop", "Scan", NULL};
    while (with_graphs[g] && strcmp(with_graphs[g], out->op) != 0) g++;
    return with_graphs[g] ? read_branches(file, attributes, out) : EBB_OK;
}
