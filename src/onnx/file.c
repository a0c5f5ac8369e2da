/* file: ModelProto and GraphProto: what the file has of each kind is counted, then read. */
#include "onnx/file.h"

#include <fcntl.h>

#include "onnx/map.h"

enum { MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_FUNCTION = 25 };
enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_TENSOR = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_INFO = 13,
    GRAPH_SPARSE = 15
};

ebb_status onnx_damaged(const onnx_file *file, const char *what) {
    return ebb_fail(file->env, EBB_BAD_INPUT, "%.300s: not an ONNX model, or damaged: %s", file->path,
                    what);
}

ebb_status onnx_too_deep(const onnx_file *file, const char *what, const char *name, uint32_t rank) {
    return ebb_fail(file->env, EBB_BAD_INPUT, "%.300s: %s %.100s: rank %u: Ebb takes at most %d axes",
                    file->path, what, name[0] ? name : "(no name)", rank, ONNX_MAX_RANK);
}

ebb_status onnx_text(onnx_file *file, const onnx_wire *bytes, const char **out) {
    const size_t n = (size_t)(bytes->end - bytes->at);
    if (n > ONNX_MAX_NAME_BYTES) return onnx_damaged(file, "a name of more than 1024 bytes");
    if (n > 0 && memchr(bytes->at, 0, n)) return onnx_damaged(file, "a name with a NUL in it");
    char *text = EBB_NEW(&file->arena, char, n + 1);
    if (!text) return EBB_NO_MEMORY;
    if (n > 0) memcpy(text, bytes->at, n);
    *out = text;
    return EBB_OK;
}

/* Enters the message's field `number`, once, if it is there (else at is NULL): onnx.proto nests a port's
 * shape four deep. What is there twice protobuf would merge. */
static ebb_status find(const onnx_file *file, onnx_wire wire, uint32_t number, onnx_wire *out) {
    onnx_field field;
    bool more;
    *out = (onnx_wire){NULL, NULL};
    while (onnx_wire_next(&wire, &field, &more)) {
        if (!more) return EBB_OK;
        if (field.number != number || field.type != 2) continue;
        if (out->at) break;
        *out = field.bytes;
    }
    return onnx_damaged(file, "an input or output");
}

/* Axes beyond the most are counted alone. */
static ebb_status port_dim(onnx_file *file, onnx_wire wire, onnx_port *out) {
    onnx_field field;
    bool more;
    const uint32_t d = out->rank;
    out->rank += d < UINT32_MAX;
    if (d >= ONNX_MAX_RANK) return EBB_OK;
    out->symbol[d] = "";
    while (onnx_wire_next(&wire, &field, &more)) {
        ebb_status status = EBB_OK;
        if (!more) return EBB_OK;
        if (field.number == 1 && field.type == 0)
            out->dim[d] = (int64_t)field.value > 0 ? (int64_t)field.value : 0;
        if (field.number == 2 && field.type == 2) status = onnx_text(file, &field.bytes, &out->symbol[d]);
        if (status != EBB_OK) return status;
    }
    return onnx_damaged(file, "a shape");
}

static ebb_status read_port(onnx_file *file, const char *what, onnx_wire wire, onnx_port *out) {
    onnx_wire name, type, tensor = {NULL, NULL}, shape;
    onnx_field field;
    bool more;
    *out = (onnx_port){.name = ""};
    ebb_status status = find(file, wire, 1, &name);
    if (status == EBB_OK && name.at) status = onnx_text(file, &name, &out->name);
    if (status == EBB_OK) status = find(file, wire, 2, &type);
    if (status == EBB_OK && type.at) status = find(file, type, 1, &tensor);
    if (status != EBB_OK || !tensor.at) return status;
    for (onnx_wire at = tensor; onnx_wire_next(&at, &field, &more) && more;)
        if (field.number == 1 && field.type == 0) out->type = field.value < 64 ? (int32_t)field.value : 64;
    status = find(file, tensor, 2, &shape);
    out->shaped = shape.at;
    if (status != EBB_OK || !out->shaped) return status;
    while (onnx_wire_next(&shape, &field, &more)) {
        if (!more)
            return out->rank > ONNX_MAX_RANK ? onnx_too_deep(file, what, out->name, out->rank) : EBB_OK;
        if (field.number != 1 || field.type != 2) continue;
        status = port_dim(file, field.bytes, out);
        if (status != EBB_OK) return status;
    }
    return onnx_damaged(file, "a shape");
}

static ebb_status graph_field(onnx_file *file, const onnx_field *field, onnx_graph *out) {
    if (field->type != 2) return EBB_OK;
    switch (field->number) {
    case GRAPH_NODE:
        return onnx_read_node(file, field->bytes, &out->nodes[out->n_nodes++]);
    case GRAPH_NAME:
        return onnx_text(file, &field->bytes, &out->name);
    case GRAPH_TENSOR:
        return onnx_read_tensor(file, field->bytes, &out->tensors[out->n_tensors++]);
    case GRAPH_INPUT:
        return read_port(file, "input", field->bytes, &out->inputs[out->n_inputs++]);
    case GRAPH_OUTPUT:
        return read_port(file, "output", field->bytes, &out->outputs[out->n_outputs++]);
    case GRAPH_INFO:
        return file->depth == 1 ? onnx_read_said(file, field->bytes) : EBB_OK;
    case GRAPH_SPARSE:
        return onnx_damaged(file, "sparse initializers, which are not read");
    default:
        return EBB_OK;
    }
}

/* How many of each there are, within the limits of all graphs together. */
static ebb_status count_fields(onnx_file *file, onnx_wire wire, uint32_t n[16]) {
    onnx_field field;
    bool more;
    while (onnx_wire_next(&wire, &field, &more)) {
        if (!more) return EBB_OK;
        if (field.number >= 16 || field.type != 2) continue;
        n[field.number]++;
        if (++file->n_of[field.number] > ONNX_MAX_NODES)
            return onnx_damaged(file, "more than 65536 nodes, tensors, inputs or outputs");
    }
    return onnx_damaged(file, "its graph ends in the middle of a field");
}

ebb_status onnx_read_graph(onnx_file *file, onnx_wire wire, onnx_graph *out) {
    onnx_field field;
    bool more;
    uint32_t n[16] = {0};
    if (file->depth > ONNX_MAX_DEPTH) /* the file's own graph is the first */
        return onnx_damaged(file, "branches that are nested more than 8 deep");
    ebb_status status = count_fields(file, wire, n);
    if (status != EBB_OK) return status;
    *out = (onnx_graph){.name = "",
                        .nodes = EBB_NEW(&file->arena, onnx_node, n[GRAPH_NODE]),
                        .tensors = EBB_NEW(&file->arena, onnx_tensor, n[GRAPH_TENSOR]),
                        .inputs = EBB_NEW(&file->arena, onnx_port, n[GRAPH_INPUT]),
                        .outputs = EBB_NEW(&file->arena, onnx_port, n[GRAPH_OUTPUT])};
    if (file->depth == 0) file->said = EBB_NEW(&file->arena, onnx_said, n[GRAPH_INFO]);
    if (!out->nodes || !out->tensors || !out->inputs || !out->outputs || !file->said) return EBB_NO_MEMORY;
    file->depth++;
    while (status == EBB_OK && onnx_wire_next(&wire, &field, &more) && more)
        status = graph_field(file, &field, out);
    file->depth--;
    return status;
}

static ebb_status read_opset(onnx_file *file, onnx_wire wire) {
    const char *domain = "";
    int64_t version = 0;
    onnx_field field;
    bool more;
    while (onnx_wire_next(&wire, &field, &more)) {
        ebb_status status = EBB_OK;
        if (!more) {
            if (domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0) file->opset = version;
            return EBB_OK;
        }
        if (field.number == 1 && field.type == 2) status = onnx_text(file, &field.bytes, &domain);
        if (field.number == 2 && field.type == 0) version = (int64_t)field.value;
        if (status != EBB_OK) return status;
    }
    return onnx_damaged(file, "its opset");
}

static ebb_status read_model(onnx_file *file) {
    onnx_wire wire = {file->map.at, file->map.at + file->map.n}, graph = {NULL, NULL};
    onnx_field field;
    bool more, functions = false;
    for (;;) {
        if (!onnx_wire_next(&wire, &field, &more))
            return onnx_damaged(file, "it ends in the middle of a field");
        if (!more) break;
        if (field.type != 2) continue;
        if (field.number == MODEL_GRAPH && graph.at) return onnx_damaged(file, "two graphs");
        if (field.number == MODEL_GRAPH) graph = field.bytes;
        if (field.number == MODEL_PRODUCER)
            file->is_own = field.bytes.end - field.bytes.at == 3 && memcmp(field.bytes.at, "ebb", 3) == 0;
        functions |= field.number == MODEL_FUNCTION;
        if (field.number == MODEL_OPSET) {
            const ebb_status status = read_opset(file, field.bytes);
            if (status != EBB_OK) return status;
        }
    }
    if (!graph.at) return onnx_damaged(file, "it has no graph");
    if (functions) return onnx_damaged(file, "it has functions of its own: inline them (onnx.inliner)");
    if (file->opset < 7 || file->opset > 23)
        return ebb_fail(file->env, EBB_BAD_INPUT,
                        "%.300s: opset %lld is not read: export it with one of 7 to 23", file->path,
                        (long long)file->opset);
    return onnx_read_graph(file, graph, &file->graph);
}

ebb_status onnx_file_open(ebb_env *env, const char *path, onnx_file *out) {
    *out = (onnx_file){.env = env, .graph = {.name = ""}};
    ebb_arena_init(&out->arena, env);
    ebb_status status = onnx_map(env, path, AT_FDCWD, true, &out->map);
    if (status == EBB_OK && !(out->path = ebb_arena_text(&out->arena, path))) status = EBB_NO_MEMORY;
    if (status == EBB_OK && out->map.n == 0) status = onnx_damaged(out, "it is empty");
    if (status == EBB_OK) status = read_model(out);
    if (status != EBB_OK) onnx_file_close(out);
    return status;
}

void onnx_file_close(onnx_file *file) {
    for (size_t i = 0; i < file->external.n; i++) onnx_unmap(&file->external.at[i]);
    onnx_unmap(&file->map);
    if (!file->env) return;
    EBB_ARRAY_FREE(file->env, &file->external);
    EBB_ARRAY_FREE(file->env, &file->external_name);
    ebb_arena_deinit(&file->arena);
}
