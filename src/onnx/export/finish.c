/* finish: ports, initializers, and the file, whole or not at all: what lies in memory already is not
 * copied.
 *
 *     ModelProto  versions | graph: nodes, ports | for each initializer: head, elements
 */
#include "onnx/export/state.h"

#include <stdio.h>

/* onnx.proto's numbers */
enum { MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { GRAPH_NAME = 2, GRAPH_TENSOR = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
#define MOST_FILE_BYTES ((int64_t)INT32_MAX) /* of a protobuf message */

/* ---- inputs and outputs ---- */

/* TypeProto { tensor_type { elem_type, shape { dim { dim_value or dim_param } } } } of a ValueInfoProto */
static ebb_status write_port(onnx_out *o, uint32_t field, const onnx_out_port *port) {
    const onnx_sizes sizes = onnx_shape_sizes(o, port->value);
    ebb_text shape, type;
    int64_t over, under;
    ebb_text_init(&shape, o->env);
    ebb_text_init(&type, o->env);
    for (uint32_t d = 0; d < sizes.n; d++) {
        const int64_t a = sizes.at[0][d], b = sizes.at[1][d];
        char symbol[96];
        (void)snprintf(symbol, sizeof symbol, "%.64s.%u", o->graph[0]->values[port->value].name, d);
        if (a != b && onnx_of_batch(a, b, &over, &under))
            (void)snprintf(symbol, sizeof symbol,
                           under > 1  ? "N*%lld/%lld"
                           : over > 1 ? "N*%lld"
                                      : "N",
                           (long long)over, (long long)under);
        if (a == b)
            onnx_put_int(&o->room2, 1, a);
        else
            onnx_put_text(&o->room2, 2, symbol);
        onnx_put_bytes(&shape, 1, o->room2.at, o->room2.n);
        o->room2.n = 0;
    }
    onnx_put_int(&type, 1,
                 port->wide ? ONNX_INT64 : onnx_dtype_code(onnx_out_type(o, 0, port->value)->dtype));
    onnx_put_bytes(&type, 2, shape.at, shape.n);
    onnx_put_bytes(&o->room2, 1, type.at, type.n);
    onnx_put_text(&o->room, 1, port->name);
    onnx_put_bytes(&o->room, 2, o->room2.at, o->room2.n);
    onnx_put_bytes(&o->nodes, field, o->room.at, o->room.n);
    o->room.n = o->room2.n = 0;
    ebb_status status = ebb_text_status(&shape);
    if (status == EBB_OK) status = ebb_text_status(&type);
    ebb_text_deinit(&shape);
    ebb_text_deinit(&type);
    return status;
}

/* Of a model that was no file, inputs that nothing reads any more, the labels, go. */
static ebb_status write_ports(onnx_out *o) {
    ebb_status status = EBB_OK;
    for (size_t i = 0; i < o->inputs.n && status == EBB_OK; i++)
        if (o->inputs.at[i].kept || o->name[o->inputs.at[i].value])
            status = write_port(o, GRAPH_INPUT, &o->inputs.at[i]);
    for (size_t i = 0; i < o->outputs.n && status == EBB_OK; i++)
        status = write_port(o, GRAPH_OUTPUT, &o->outputs.at[i]);
    onnx_put_text(&o->nodes, GRAPH_NAME, o->graph[0]->name);
    return status;
}

/* ---- initializers ---- */

/* A TensorProto up to its elements, as a field of the graph. */
static void write_head(onnx_out *o, const onnx_stored *s, ebb_text *heads) {
    const int64_t n = ebb_type_bytes(&s->type);
    for (uint32_t d = 0; d < s->type.rank; d++) onnx_put_int(&o->room, TENSOR_DIMS, s->type.dim[d]);
    onnx_put_int(&o->room, TENSOR_TYPE, onnx_dtype_code(s->type.dtype));
    onnx_put_text(&o->room, TENSOR_NAME, s->name);
    onnx_put_head(&o->room, TENSOR_RAW, (uint64_t)n);
    onnx_put_head(heads, GRAPH_TENSOR, (uint64_t)o->room.n + (uint64_t)n);
    ebb_text_put(heads, o->room.at, o->room.n);
    o->room.n = 0;
}

/* heads has what lies before the elements of each, ends[i] where that of stored i ends. */
static ebb_status write_heads(onnx_out *o, ebb_text *heads, size_t *ends, int64_t *n_bytes) {
    *n_bytes = 0;
    for (size_t i = 0; i < o->stored.n; i++) {
        write_head(o, &o->stored.at[i], heads);
        ends[i] = heads->n;
        if (!ebb_add_i64(*n_bytes, ebb_type_bytes(&o->stored.at[i].type), n_bytes)) *n_bytes = INT64_MAX;
    }
    const ebb_text *const texts[] = {heads, &o->room, &o->room2, &o->attributes, &o->nodes};
    for (size_t i = 0; i < EBB_COUNT(texts); i++) {
        const ebb_status status = ebb_text_status(texts[i]);
        if (status != EBB_OK) return status;
    }
    if (ebb_add_i64(*n_bytes, (int64_t)(heads->n + o->nodes.n), n_bytes) &&
        *n_bytes <= MOST_FILE_BYTES - 256)
        return EBB_OK;
    return ebb_fail(
        o->env, EBB_BAD_INPUT,
        "%.200s takes %lld bytes: an ONNX file has at most %lld (external data are not written)", o->model,
        (long long)*n_bytes, (long long)MOST_FILE_BYTES);
}

static ebb_status write_versions(onnx_out *o, ebb_text *front, int64_t n_graph) {
    onnx_put_int(front, MODEL_IR, ONNX_IR_VERSION);
    onnx_put_text(front, MODEL_PRODUCER, "ebb");
    onnx_put_text(&o->room, 1, "");
    onnx_put_int(&o->room, 2, ONNX_OPSET);
    onnx_put_bytes(front, MODEL_OPSET, o->room.at, o->room.n);
    o->room.n = 0;
    onnx_put_head(front, MODEL_GRAPH, (uint64_t)n_graph);
    return ebb_text_status(front);
}

static ebb_status write_parts(onnx_out *o, const char *path, const ebb_text *front, const ebb_text *heads,
                              const size_t *ends) {
    ebb_file_part *part = EBB_NEW(&o->arena, ebb_file_part, 2 * o->stored.n + 2);
    if (!part) return EBB_NO_MEMORY;
    uint32_t n = 0;
    part[n++] = (ebb_file_part){front->at, front->n};
    part[n++] = (ebb_file_part){o->nodes.at, o->nodes.n};
    for (size_t i = 0, from = 0; i < o->stored.n; from = ends[i++]) {
        const onnx_stored *s = &o->stored.at[i];
        const void *bytes = s->weight ? onnx_weight_bytes(o, s->weight) : s->bytes;
        if (!bytes) return o->no_memory ? EBB_NO_MEMORY : o->status;
        part[n++] = (ebb_file_part){heads->at + from, ends[i] - from};
        part[n++] = (ebb_file_part){bytes, (size_t)ebb_type_bytes(&s->type)};
    }
    return ebb_file_write_parts(o->env, path, part, n);
}

ebb_status onnx_finish(onnx_out *o, const char *path) {
    ebb_text front, heads;
    int64_t n_graph = 0;
    size_t *ends = EBB_NEW(&o->arena, size_t, o->stored.n);
    ebb_text_init(&front, o->env);
    ebb_text_init(&heads, o->env);
    ebb_status status = ends ? write_ports(o) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = write_heads(o, &heads, ends, &n_graph);
    if (status == EBB_OK) status = write_versions(o, &front, n_graph);
    if (status == EBB_OK) status = write_parts(o, path, &front, &heads, ends);
    ebb_text_deinit(&front);
    ebb_text_deinit(&heads);
    return status;
}
