/* initial: a tensor of the file, or known numbers, as an operand: declared when first read, with what it
 * starts from. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "onnx/emit.h"
#include "onnx/import.h"

/* What docs/ir.md has for a type of the file, and safetensors for that; NULL: nothing. */
static const char *dtype_of(int32_t type, const char **kept, int64_t *bytes) {
    static const struct {
        int32_t type;
        const char *dtype, *kept;
        int64_t bytes;
    } rows[] = {{ONNX_FLOAT, "f32", "F32", 4},   {ONNX_DOUBLE, "f64", "F64", 8},
                {ONNX_INT64, "i32", "I32", 4},   {ONNX_INT32, "i32", "I32", 4},
                {ONNX_BOOL, "bool", "BOOL", 1},  {ONNX_UINT8, "u8", "U8", 1},
                {ONNX_FLOAT16, "f32", "F32", 4}, {ONNX_BFLOAT16, "f32", "F32", 4}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++)
        if (rows[i].type == type) {
            *kept = rows[i].kept;
            *bytes = rows[i].bytes;
            return rows[i].dtype;
        }
    return NULL;
}

static double number(const onnx_value *v, int64_t i) {
    return v->kind == ONNX_FOLDED ? v->at[0][i] : onnx_tensor_at(v->tensor, i);
}

/* The bytes that it starts from: the file's own where they are as needed, otherwise a copy. */
static const void *bytes_of(onnx_import *im, const onnx_value *v, int64_t count, const char *dtype,
                            int64_t bytes) {
    if (v->kind == ONNX_INITIAL && onnx_type_bytes(v->type) == bytes && v->type != ONNX_INT64)
        return v->tensor->bytes;
    uint8_t *to = EBB_NEW(im->arena, uint8_t, count * bytes);
    if (!to) return im->fatal = true, im->status = EBB_NO_MEMORY, NULL;
    for (int64_t i = 0; i < count; i++) {
        const double x = number(v, i);
        const float f32 = (float)x;
        if (dtype[0] == 'i' && !(x >= INT32_MIN && x <= INT32_MAX)) {
            onnx_refuse(im, "%.80s has %.17g, which is not an int32", v->name, x);
            return NULL;
        }
        const int32_t i32 = dtype[0] == 'i' ? (int32_t)x : 0;
        const uint8_t u8 = dtype[0] == 'b' || dtype[0] == 'u' ? (uint8_t)onnx_whole(x) : 0;
        const void *from = dtype[0] == 'i' ? (const void *)&i32
                           : bytes == 8    ? (const void *)&x
                           : bytes == 4    ? (const void *)&f32
                                           : &u8;
        memcpy(to + i * bytes, from, (size_t)bytes);
    }
    return to;
}

static bool uniform(const onnx_value *v, int64_t count) {
    for (int64_t i = 1; i < count; i++)
        if (number(v, i) != number(v, 0)) return false;
    return count > 0 && number(v, 0) - number(v, 0) == 0;
}

/* Whether an infinite number is among the first ones, as in a mask: by none is anything trained. */
static bool has_infinity(const onnx_value *v, int64_t count) {
    enum { FIRST = 1 << 16 };
    for (int64_t i = 0; i < count && i < FIRST; i++)
        if (fabs(number(v, i)) > DBL_MAX) return true;
    return false;
}

bool onnx_is_uniform(const onnx_value *v) {
    return uniform(v, onnx_count(&v->shape, 0));
}

/* word: "param", "state", or "table" for known numbers, which are a constant if all are equal, else a
 * state. */
static uint32_t declare(onnx_import *im, const onnx_value *v, const char *word) {
    char type[ONNX_SHAPE_TEXT + 8], shape[ONNX_SHAPE_TEXT];
    const char *kept = NULL;
    int64_t bytes = 0;
    const char *dtype = dtype_of(v->type, &kept, &bytes);
    const int64_t count = onnx_count(&v->shape, 0);
    if (!dtype || (v->kind == ONNX_INITIAL && !v->tensor->bytes && count > 0))
        return onnx_refuse(im, "%.80s is of %s", v->name, onnx_type_name(v->type)), EBB_BUILD_NONE;
    if (v->shape.rank > ONNX_MAX_RANK || count < 1)
        return onnx_refuse(im, "%.80s is of rank %u and has %lld elements", v->name, v->shape.rank,
                           (long long)count),
               EBB_BUILD_NONE;
    (void)snprintf(type, sizeof type, "%s%s", dtype, onnx_shape_text(im, &v->shape, shape));
    for (int64_t i = 0; v->kind == ONNX_FOLDED && i < count; i++)
        if (!onnx_same_number(v->at[0][i], v->at[1][i]))
            return onnx_refuse(im, "%.80s, computed from the batch, is read as data", v->name),
                   EBB_BUILD_NONE;
    const bool table = strcmp(word, "table") == 0;
    if (table && v->kind == ONNX_FOLDED && uniform(v, count))
        return onnx_declare(im, "constant", v->name, type, number(v, 0));
    onnx_initial initial = {.row = {.dtype = kept, .rank = v->shape.rank, .bytes = count * bytes}};
    for (uint32_t d = 0; d < v->shape.rank; d++) initial.row.dim[d] = v->shape.dim[0][d];
    initial.data = bytes_of(im, v, count, dtype, bytes);
    const bool fixed = table || dtype[0] != 'f' || has_infinity(v, count);
    const uint32_t id =
        initial.data ? onnx_declare(im, fixed ? "state" : word, v->name, type, 0) : EBB_BUILD_NONE;
    if (id == EBB_BUILD_NONE) return id;
    initial.row.name = im->id_name.at[id];
    if (!EBB_PUSH(im->env, &im->initial, initial))
        return im->fatal = true, im->status = EBB_NO_MEMORY, EBB_BUILD_NONE;
    return id;
}

uint32_t onnx_table(onnx_import *im, int32_t type, const onnx_shape *shape, const double *at) {
    const onnx_value v = {.name = im->node->out[0],
                          .kind = ONNX_FOLDED,
                          .id = EBB_BUILD_NONE,
                          .type = type,
                          .shape = *shape,
                          .at = {at, at}};
    return onnx_stopped(im) ? EBB_BUILD_NONE : declare(im, &v, "table");
}

/* Whether a Constant, as operand i, is a weight: some exporters write weights so. The ones and zeros of a
 * norm without a scale and a bias are written so, too. */
static bool is_weight(const onnx_import *im, uint32_t i, const onnx_value *v) {
    const char *op = im->node->op;
    static const char *const ops[] = {"Conv",
                                      "ConvTranspose",
                                      "Gemm",
                                      "BatchNormalization",
                                      "InstanceNormalization",
                                      "LayerNormalization",
                                      "GroupNormalization",
                                      "PRelu"};
    if (strcmp(op, "MatMul") == 0) return true;
    if (strcmp(op, "Gather") == 0) return i == 0;
    if (onnx_is_in(op, (const char *const[]){"LSTM", "GRU", "RNN", NULL})) return i > 0 && i < 4;
    if (strstr(op, "Normalization") && v->kind == ONNX_FOLDED && onnx_is_uniform(v)) return false;
    for (size_t k = 0; k < EBB_COUNT(ops); k++)
        if (strcmp(op, ops[k]) == 0) return i > 0;
    return false;
}

/* A buffer is none: but one whose numbers are equal may stand for a weight, too, as exporters join tensors
 * that are equal. */
static bool is_trained(const onnx_import *im, uint32_t i, const onnx_value *v) {
    if (v->maker && strcmp(v->maker->op, "Constant") == 0) return is_weight(im, i, v);
    if (v->kind == ONNX_INITIAL && v->buffer) return onnx_is_uniform(v) && is_weight(im, i, v);
    return v->kind == ONNX_INITIAL;
}

/* What an operand is by other names. */
static const onnx_value *origin(const onnx_import *im, const onnx_value *v) {
    while (v->kind == ONNX_GRAPH && v->same != EBB_NONE) v = &im->values.at[v->same];
    return v;
}

bool onnx_is_given(onnx_import *im, uint32_t i) {
    return origin(im, onnx_operand(im, i))->kind != ONNX_GRAPH;
}

/* Each BatchNormalization has statistics of its own, even where the file has one tensor for several of
 * them, or for weights: exporters join tensors that are equal, as new networks have many. */
static uint32_t statistics(onnx_import *im, const onnx_value *v) {
    onnx_value own = *origin(im, v);
    if (own.kind == ONNX_GRAPH || onnx_stopped(im)) return v->id;
    own.name = v->name;
    return declare(im, &own, "state");
}

uint32_t onnx_in(onnx_import *im, uint32_t i) {
    const onnx_value *v = onnx_operand(im, i);
    if (strcmp(im->node->op, "BatchNormalization") == 0 && i >= 3) return statistics(im, v);
    if (onnx_stopped(im) || v->id != EBB_BUILD_NONE) return v->id;
    const uint32_t id = declare(im, v, is_trained(im, i, v) ? "param" : "table");
    im->values.at[onnx_names_find(&im->by_name, im->node->in[i])].id = id;
    return id;
}
