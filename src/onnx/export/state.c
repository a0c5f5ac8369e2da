/* state: refusals, names, nodes. */
#include "onnx/export/state.h"

#include <stdio.h>

/* onnx.proto's numbers */
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5, GRAPH_NODE = 1 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_S = 4, ATTRIBUTE_INTS = 8 };
enum { ATTRIBUTE_TYPE = 20, IS_FLOAT = 1, IS_INT = 2, IS_STRING = 3, IS_INTS = 7 };

bool onnx_out_stopped(const onnx_out *o) {
    return o->why[0] != '\0' || o->no_memory || o->status != EBB_OK;
}

void onnx_out_no_memory(onnx_out *o) {
    o->no_memory = true;
}

void onnx_out_refuse(onnx_out *o, const char *format, ...) {
    va_list args;
    if (onnx_out_stopped(o)) return;
    va_start(args, format);
    (void)vsnprintf(o->why, sizeof o->why, format, args);
    va_end(args);
}

onnx_sizes onnx_shape_sizes(const onnx_out *o, ebb_id value) {
    onnx_sizes sizes = {.n = onnx_out_type(o, 0, value)->rank};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < sizes.n; d++) sizes.at[k][d] = onnx_out_type(o, k, value)->dim[d];
    return sizes;
}

/* What ONNX calls each dtype. */
enum {
    CODE_F32 = ONNX_FLOAT,
    CODE_F64 = ONNX_DOUBLE,
    CODE_I32 = ONNX_INT32,
    CODE_U8 = ONNX_UINT8,
    CODE_BOOL = ONNX_BOOL,
    CODE_F16 = ONNX_FLOAT16,
    CODE_BF16 = ONNX_BFLOAT16,
    CODE_I8 = ONNX_INT8,
    CODE_I16 = ONNX_INT16
};

int64_t onnx_dtype_code(ebb_dtype dtype) {
    static const int64_t codes[] = {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) CODE_##NAME,
#include "graph/dtypes.def"
    };
    return codes[dtype];
}

/* ---- names ---- */

const char *onnx_value_name(onnx_out *o, ebb_id value) {
    const ebb_value *v = &o->graph[0]->values[value];
    if (onnx_out_stopped(o)) return "";
    if (o->name[value]) return o->name[value];
    if (o->wide[value]) {
        const char *port = onnx_own_name(o, value);
        onnx_set_int(o, "to", ONNX_INT32);
        o->name[value] = onnx_make1(o, "Cast", "narrow", port);
        return o->name[value];
    }
    if (v->role == EBB_ROLE_CONSTANT) {
        o->name[value] = onnx_filled(o, v->name, value, v->fill);
        return o->name[value];
    }
    if (v->producer != EBB_NONE) {
        onnx_out_refuse(o, "it reads %.100s, a result that ONNX does not have", v->name);
        return "";
    }
    o->name[value] = onnx_own_name(o, value);
    if (ebb_role_persistent(v->role)) onnx_store(o, o->name[value], &v->type, v->name, NULL);
    return o->name[value];
}

const char *onnx_arg(onnx_out *o, uint32_t i) {
    return onnx_value_name(o, onnx_out_node(o)->in[i]);
}

const char *onnx_part_name(onnx_out *o, const char *part) {
    const char *stem = o->result == EBB_NONE ? "" : o->graph[0]->values[o->result].name;
    const size_t n = strlen(stem) + strlen(part) + 16;
    char *name = EBB_NEW(&o->arena, char, n);
    if (!name) {
        onnx_out_no_memory(o);
        return "";
    }
    do (void)snprintf(name, n, "%s:%s%u", stem, part, o->n_made++);
    while (onnx_taken_find(o, name));
    return name;
}

/* ---- attributes ---- */

/* The attribute in o->room becomes one of the next node. */
static void attribute_end(onnx_out *o, const char *name, int64_t type) {
    onnx_put_text(&o->room, ATTRIBUTE_NAME, name);
    onnx_put_int(&o->room, ATTRIBUTE_TYPE, type);
    onnx_put_bytes(&o->attributes, NODE_ATTRIBUTE, o->room.at, o->room.n);
    o->room.n = 0;
}

void onnx_set_int(onnx_out *o, const char *name, int64_t value) {
    onnx_put_int(&o->room, ATTRIBUTE_I, value);
    attribute_end(o, name, IS_INT);
}

void onnx_set_ints(onnx_out *o, const char *name, const int64_t *at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) onnx_put_int(&o->room, ATTRIBUTE_INTS, at[i]);
    attribute_end(o, name, IS_INTS);
}

void onnx_set_real(onnx_out *o, const char *name, double value) {
    onnx_put_float(&o->room, ATTRIBUTE_F, (float)value);
    attribute_end(o, name, IS_FLOAT);
}

void onnx_set_text(onnx_out *o, const char *name, const char *text) {
    onnx_put_text(&o->room, ATTRIBUTE_S, text);
    attribute_end(o, name, IS_STRING);
}

/* ---- nodes ---- */

void onnx_make_several(onnx_out *o, const char *op, const char *const *result, uint32_t n_result,
                       const char *const *in, uint32_t n_in) {
    if (onnx_out_stopped(o)) {
        o->attributes.n = 0;
        return;
    }
    for (uint32_t i = 0; i < n_in; i++) onnx_put_text(&o->room, NODE_INPUT, in[i]);
    for (uint32_t i = 0; i < n_result; i++) onnx_put_text(&o->room, NODE_OUTPUT, result[i]);
    onnx_put_text(&o->room, NODE_NAME, result[0]);
    onnx_put_text(&o->room, NODE_OP, op);
    if (o->attributes.n > 0) ebb_text_put(&o->room, o->attributes.at, o->attributes.n);
    onnx_put_bytes(&o->nodes, GRAPH_NODE, o->room.at, o->room.n);
    o->room.n = o->attributes.n = 0;
}

const char *onnx_make_named(onnx_out *o, const char *op, const char *result, const char *const *in,
                            uint32_t n_in) {
    onnx_make_several(o, op, &result, 1, in, n_in);
    return onnx_out_stopped(o) ? "" : result;
}

const char *onnx_make(onnx_out *o, const char *op, const char *part, const char *const *in, uint32_t n_in) {
    const char *result = part ? onnx_part_name(o, part) : onnx_own_name(o, o->result);
    result = onnx_make_named(o, op, result, in, n_in);
    if (!part && !onnx_out_stopped(o)) o->name[o->result] = result;
    return result;
}

const char *onnx_make1(onnx_out *o, const char *op, const char *part, const char *x) {
    return onnx_make(o, op, part, &x, 1);
}

const char *onnx_make2(onnx_out *o, const char *op, const char *part, const char *a, const char *b) {
    return onnx_make(o, op, part, (const char *[]){a, b}, 2);
}

void onnx_is(onnx_out *o, const char *name) {
    if (!onnx_out_stopped(o)) o->name[o->result] = name;
}
