/* known: numbers that are known when the file is written, as Constant nodes; sizes with N in them. */
#include "onnx/export/state.h"

enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_T = 5, ATTRIBUTE_TYPE = 20, IS_TENSOR = 4, NODE_ATTRIBUTE = 5 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_RAW = 9 };

/* A Constant of a type code of ONNX. */
static const char *constant(onnx_out *o, int64_t code, const int64_t *dim, uint32_t rank, const void *bytes,
                            size_t n) {
    if (onnx_out_stopped(o)) return "";
    for (uint32_t d = 0; d < rank; d++) onnx_put_int(&o->room2, TENSOR_DIMS, dim[d]);
    onnx_put_int(&o->room2, TENSOR_TYPE, code);
    onnx_put_bytes(&o->room2, TENSOR_RAW, bytes, n);
    onnx_put_text(&o->room, ATTRIBUTE_NAME, "value");
    onnx_put_bytes(&o->room, ATTRIBUTE_T, o->room2.at, o->room2.n);
    onnx_put_int(&o->room, ATTRIBUTE_TYPE, IS_TENSOR);
    onnx_put_bytes(&o->attributes, NODE_ATTRIBUTE, o->room.at, o->room.n);
    o->room.n = o->room2.n = 0;
    return onnx_make(o, "Constant", "known", NULL, 0);
}

const char *onnx_known(onnx_out *o, const ebb_type *type, const void *bytes, size_t n) {
    return constant(o, onnx_dtype_code(type->dtype), type->dim, type->rank, bytes, n);
}

const char *onnx_known_real(onnx_out *o, ebb_dtype dtype, double value) {
    uint64_t bytes = 0;
    ebb_dtypes[dtype].store(&bytes, 0, value);
    return constant(o, onnx_dtype_code(dtype), NULL, 0, &bytes, (size_t)ebb_dtype_bytes(dtype));
}

const char *onnx_known_ints(onnx_out *o, const int64_t *at, uint32_t n) {
    return constant(o, ONNX_INT64, &(int64_t){n}, 1, at, n * sizeof *at);
}

/* N, where it is a size of this input. */
static void batch_of(onnx_out *o, ebb_id input) {
    const onnx_sizes sizes = onnx_shape_sizes(o, input);
    for (uint32_t d = 0; d < sizes.n && !o->batch; d++) {
        if (sizes.at[0][d] != ONNX_BATCH_A || sizes.at[1][d] != ONNX_BATCH_B) continue;
        const char *x = onnx_value_name(o, input);
        onnx_set_int(o, "start", d);
        onnx_set_int(o, "end", d + 1);
        o->batch = onnx_make1(o, "Shape", "batch", x);
    }
}

/* N, from the first input that has it for a size: of those that the outputs need, or else of all, which is
 * an input of the file for its size alone. */
static const char *batch_of_input(onnx_out *o) {
    const ebb_graph *g = o->graph[0];
    for (int all = 0; all < 2; all++)
        for (ebb_id v = 0; v < g->n_values && !o->batch; v++)
            if (g->values[v].role == EBB_ROLE_INPUT && (all || o->read[v])) batch_of(o, v);
    if (o->batch) return o->batch;
    onnx_out_refuse(o, "a size grows with N, which is no size of an input: give --dim N=SIZE");
    return "";
}

/* One size as a vector of one. */
static const char *one_size(onnx_out *o, int64_t a, int64_t b) {
    int64_t over, under;
    if (a == b) return onnx_known_ints(o, &a, 1);
    if (!onnx_of_batch(a, b, &over, &under)) {
        onnx_out_refuse(o, "a size that is no multiple of N: %lld at N=%d, %lld at N=%d: give --dim N=SIZE",
                        (long long)a, ONNX_BATCH_A, (long long)b, ONNX_BATCH_B);
        return "";
    }
    const char *n = batch_of_input(o);
    if (over > 1) n = onnx_make2(o, "Mul", "size", n, onnx_known_ints(o, &over, 1));
    return under > 1 ? onnx_make2(o, "Div", "size", n, onnx_known_ints(o, &under, 1)) : n;
}

const char *onnx_known_sizes(onnx_out *o, const onnx_sizes *sizes) {
    const char *part[EBB_MAX_RANK];
    bool fixed = true;
    for (uint32_t d = 0; d < sizes->n; d++) fixed &= sizes->at[0][d] == sizes->at[1][d];
    if (fixed) return onnx_known_ints(o, sizes->at[0], sizes->n);
    for (uint32_t d = 0; d < sizes->n; d++) part[d] = one_size(o, sizes->at[0][d], sizes->at[1][d]);
    if (sizes->n == 1) return part[0];
    onnx_set_int(o, "axis", 0);
    return onnx_make(o, "Concat", "sizes", part, sizes->n);
}

const char *onnx_filled(onnx_out *o, const char *part, ebb_id like, double number) {
    const onnx_sizes sizes = onnx_shape_sizes(o, like);
    const char *one = onnx_known_real(o, onnx_out_type(o, 0, like)->dtype, number);
    if (sizes.n == 0 && part) return one;
    if (sizes.n == 0) return onnx_make1(o, "Identity", NULL, one);
    return onnx_make2(o, "Expand", part, one, onnx_known_sizes(o, &sizes));
}

const char *onnx_causal_mask(onnx_out *o, int64_t n, int64_t k) {
    const ebb_type type = {.dtype = EBB_BOOL, .rank = 2, .dim = {n, k}};
    for (size_t i = 0; i < o->stored.n; i++) {
        const onnx_stored *s = &o->stored.at[i];
        if (s->bytes && strchr(s->name, ':') && ebb_type_equal(&s->type, &type)) return s->name;
    }
    uint8_t *bits = EBB_NEW(&o->arena, uint8_t, ebb_type_count(&type));
    const char *name = onnx_part_name(o, "causal");
    if (!bits) onnx_out_no_memory(o);
    if (onnx_out_stopped(o)) return "";
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) bits[i * k + j] = j <= i + k - n;
    onnx_store(o, name, &type, NULL, bits);
    return name;
}
