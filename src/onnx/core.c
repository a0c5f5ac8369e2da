/* core: what rules are written with: operands, results, refusals. */
#include <stdio.h>
#include <stdlib.h>

#include "onnx/stages.h"

/* ---- names ---- */

static size_t slot(const onnx_names *names, const char *key) {
    ebb_hash hash;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, key, strlen(key));
    size_t i = (size_t)hash.low & (names->cap - 1);
    while (names->key[i] && strcmp(names->key[i], key) != 0) i = (i + 1) & (names->cap - 1);
    return i;
}

uint32_t onnx_names_find(const onnx_names *names, const char *key) {
    if (names->cap == 0) return EBB_NONE;
    const size_t i = slot(names, key);
    return names->key[i] ? names->value[i] : EBB_NONE;
}

void onnx_names_end(ebb_env *env, onnx_names *names) {
    ebb_cfree(env, (void *)names->key, names->cap, sizeof *names->key);
    ebb_cfree(env, names->value, names->cap, sizeof *names->value);
    *names = (onnx_names){.n = 0};
}

static bool names_grow(ebb_env *env, onnx_names *names) {
    onnx_names larger = {.n = names->n, .cap = names->cap ? 2 * names->cap : 64};
    larger.key = ebb_calloc(env, larger.cap, sizeof *larger.key);
    larger.value = ebb_calloc(env, larger.cap, sizeof *larger.value);
    if (!larger.key || !larger.value) {
        onnx_names_end(env, &larger);
        return false;
    }
    for (size_t i = 0; i < names->cap; i++) {
        if (!names->key[i]) continue;
        const size_t to = slot(&larger, names->key[i]);
        larger.key[to] = names->key[i];
        larger.value[to] = names->value[i];
    }
    onnx_names_end(env, names);
    *names = larger;
    return true;
}

bool onnx_names_put(ebb_env *env, onnx_names *names, const char *key, uint32_t value) {
    if (2 * (names->n + 1) > names->cap && !names_grow(env, names)) return false;
    const size_t i = slot(names, key);
    if (!names->key[i]) names->n++;
    names->key[i] = key;
    names->value[i] = value;
    return true;
}

void onnx_import_end(onnx_import *im) {
    for (int k = 0; k < 2; k++) ebb_build_destroy(im->build[k]);
    ebb_text_deinit(&im->text);
    EBB_ARRAY_FREE(im->env, &im->id_name);
    EBB_ARRAY_FREE(im->env, &im->id_given);
    EBB_ARRAY_FREE(im->env, &im->samples);
    EBB_ARRAY_FREE(im->env, &im->values);
    EBB_ARRAY_FREE(im->env, &im->initial);
    EBB_ARRAY_FREE(im->env, &im->refused);
    onnx_names_end(im->env, &im->by_name);
    onnx_names_end(im->env, &im->taken);
    onnx_names_end(im->env, &im->wanted);
    onnx_names_end(im->env, &im->reached);
    onnx_names_end(im->env, &im->read_as);
    onnx_names_end(im->env, &im->once);
}

/* ---- refusals ---- */

bool onnx_stopped(const onnx_import *im) {
    return im->why[0] != '\0' || im->fatal;
}

void onnx_refuse(onnx_import *im, const char *format, ...) {
    va_list args;
    if (onnx_stopped(im)) return;
    va_start(args, format);
    (void)vsnprintf(im->why, sizeof im->why, format, args);
    va_end(args);
}

/* ---- attributes ---- */

const onnx_attribute *onnx_attr(const onnx_import *im, const char *name) {
    for (uint32_t i = 0; i < im->node->n_attributes; i++)
        if (strcmp(im->node->attributes[i].name, name) == 0) return &im->node->attributes[i];
    return NULL;
}

int64_t onnx_attr_int(const onnx_import *im, const char *name, int64_t otherwise) {
    const onnx_attribute *a = onnx_attr(im, name);
    return a && a->has_i ? a->i : otherwise;
}

double onnx_meant(double f) {
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, f);
        const double shortest = strtod(text, NULL);
        if ((float)shortest == (float)f) return shortest;
    }
    return f;
}

double onnx_attr_real(const onnx_import *im, const char *name, double otherwise) {
    const onnx_attribute *a = onnx_attr(im, name);
    return a && a->has_f ? onnx_meant(a->f) : otherwise;
}

const char *onnx_attr_text(const onnx_import *im, const char *name, const char *otherwise) {
    const onnx_attribute *a = onnx_attr(im, name);
    return a && a->s ? a->s : otherwise;
}

bool onnx_attr_list(onnx_import *im, const char *name, uint32_t n, int64_t otherwise, int64_t *out) {
    const onnx_attribute *a = onnx_attr(im, name);
    const bool given = a && a->n_ints > 0;
    if (given && a->n_ints != n) onnx_refuse(im, "%s has %u numbers, not %u", name, a->n_ints, n);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = given && i < a->n_ints ? a->ints[i] : otherwise;
        if (out[i] >= 0 && out[i] <= INT32_MAX) continue;
        onnx_refuse(im, "%s=%lld", name, (long long)out[i]);
        out[i] = otherwise; /* some are added up before the rule ends */
    }
    return given;
}

uint32_t onnx_axis(onnx_import *im, int64_t axis, uint32_t rank) {
    if (axis >= -(int64_t)rank && axis < (int64_t)rank) return (uint32_t)(axis < 0 ? axis + rank : axis);
    onnx_refuse(im, "axis %lld of rank %u", (long long)axis, rank);
    return 0;
}

bool onnx_axes(onnx_import *im, uint32_t i, uint32_t rank, uint32_t *bits) {
    const onnx_attribute *a = onnx_attr(im, "axes");
    *bits = 0;
    if (a && a->n_ints > 0) {
        for (uint32_t k = 0; k < a->n_ints; k++) *bits |= 1U << onnx_axis(im, a->ints[k], rank);
        return true;
    }
    if (!onnx_has(im, i)) return false;
    int64_t n;
    const double *at = onnx_fixed(im, i, &n);
    for (int64_t k = 0; k < n; k++) *bits |= 1U << onnx_axis(im, onnx_whole(at[k]), rank);
    return n > 0;
}

/* ---- operands ---- */

bool onnx_has(const onnx_import *im, uint32_t i) {
    return i < im->node->n_in && im->node->in[i][0] != '\0';
}

bool onnx_wants(const onnx_import *im, uint32_t k) {
    return k < im->node->n_out && im->node->out[k][0] != '\0' &&
           onnx_names_find(&im->wanted, im->node->out[k]) != EBB_NONE;
}

const onnx_value *onnx_operand(onnx_import *im, uint32_t i) {
    static const onnx_value none = {.kind = ONNX_LOST, .id = EBB_BUILD_NONE};
    const uint32_t at = onnx_has(im, i) ? onnx_names_find(&im->by_name, im->node->in[i]) : EBB_NONE;
    if (at != EBB_NONE) return &im->values.at[at];
    onnx_refuse(im, "operand %u is missing", i);
    return &none;
}

int32_t onnx_type_of(onnx_import *im, uint32_t i) {
    char dtype[8];
    const onnx_value *v = onnx_operand(im, i);
    if (v->kind != ONNX_GRAPH) return v->type;
    (void)onnx_dtype_of(im, v->id, dtype);
    return strcmp(dtype, "f64") == 0    ? ONNX_DOUBLE
           : strcmp(dtype, "u8") == 0   ? ONNX_UINT8
           : strcmp(dtype, "i32") == 0  ? ONNX_INT64
           : strcmp(dtype, "bool") == 0 ? ONNX_BOOL
                                        : ONNX_FLOAT;
}

double *onnx_folded(onnx_import *im, int64_t n) {
    if (n > ONNX_MAX_FOLDED - im->n_folded) {
        onnx_refuse(im, "more than 2097152 numbers to be computed from constants");
        return NULL;
    }
    im->n_folded += n;
    double *at = EBB_NEW(im->arena, double, n);
    if (!at) im->fatal = true, im->status = EBB_NO_MEMORY;
    return at;
}

bool onnx_numbers(onnx_import *im, uint32_t i, const double *at[2], int64_t *n) {
    const onnx_value *v = onnx_operand(im, i);
    *n = 0;
    at[0] = at[1] = NULL;
    if (onnx_stopped(im)) return false;
    if (v->kind == ONNX_FOLDED) {
        *n = onnx_count(&v->shape, 0);
        at[0] = v->at[0];
        at[1] = v->at[1];
        return true;
    }
    if (v->kind != ONNX_INITIAL || !v->tensor->bytes) {
        onnx_refuse(im, "operand %u is computed from data, where known numbers are needed", i);
        return false;
    }
    double *to = onnx_folded(im, v->tensor->count);
    if (!to) return false;
    for (int64_t k = 0; k < v->tensor->count; k++) to[k] = onnx_tensor_at(v->tensor, k);
    at[0] = at[1] = to;
    *n = v->tensor->count;
    return true;
}

const double *onnx_fixed(onnx_import *im, uint32_t i, int64_t *n) {
    const double *at[2];
    if (!onnx_numbers(im, i, at, n)) return NULL;
    for (int64_t k = 0; k < *n; k++)
        if (!onnx_same_number(at[0][k], at[1][k])) {
            onnx_refuse(im, "operand %u depends on the batch", i);
            *n = 0;
        }
    return at[0];
}

/* ---- results ---- */

/* What is only moved, and is the same for both sizes of the batch, is of other sizes; what is computed is
 * of the batch where something that it is computed from is. */
static bool of_batch(const onnx_import *im, const onnx_value *v) {
    static const char *const moves[] = {"Shape",     "Size",    "Gather",  "Slice",    "Concat", "Squeeze",
                                        "Unsqueeze", "Reshape", "Flatten", "Identity", NULL};
    for (int64_t i = 0; v->at[0] != v->at[1] && i < onnx_count(&v->shape, 0); i++)
        if (!onnx_same_number(v->at[0][i], v->at[1][i])) return true;
    if (onnx_is_in(im->node->op, moves)) return false;
    for (uint32_t k = 0; k < im->node->n_in; k++) {
        const uint32_t at = onnx_names_find(&im->by_name, im->node->in[k]);
        if (at != EBB_NONE && im->values.at[at].of_batch) return true;
    }
    return false;
}

static void put(onnx_import *im, uint32_t k, onnx_value value) {
    if (!onnx_wants(im, k) || onnx_stopped(im)) return;
    value.name = im->node->out[k];
    value.maker = im->node;
    const bool is_same = strcmp(im->node->op, "Identity") == 0 && im->node->n_in == 1;
    value.same = is_same ? onnx_names_find(&im->by_name, im->node->in[0]) : EBB_NONE;
    value.of_batch = value.kind == ONNX_FOLDED && of_batch(im, &value);
    if (onnx_names_find(&im->by_name, value.name) != EBB_NONE)
        onnx_refuse(im, "its result %.100s is there already", value.name);
    else if (!EBB_PUSH(im->env, &im->values, value) ||
             !onnx_names_put(im->env, &im->by_name, value.name, (uint32_t)im->values.n - 1))
        im->fatal = true, im->status = EBB_NO_MEMORY;
}

void onnx_give(onnx_import *im, uint32_t k, uint32_t id) {
    if (id == EBB_BUILD_NONE) onnx_refuse(im, "its result %u is not made", k);
    put(im, k, (onnx_value){.kind = ONNX_GRAPH, .id = id});
}

void onnx_give_tensor(onnx_import *im, uint32_t k, const onnx_tensor *t) {
    onnx_value v = {.kind = ONNX_INITIAL,
                    .id = EBB_BUILD_NONE,
                    .type = t->type,
                    .shape = {.rank = t->rank},
                    .tensor = t};
    for (uint32_t d = 0; d < t->rank; d++) v.shape.dim[0][d] = v.shape.dim[1][d] = t->dim[d];
    put(im, k, v);
}

void onnx_give_known(onnx_import *im, uint32_t k, int32_t type, const onnx_shape *shape,
                     const double *at[2]) {
    put(im, k,
        (onnx_value){.kind = ONNX_FOLDED,
                     .id = EBB_BUILD_NONE,
                     .type = type,
                     .shape = *shape,
                     .at = {at[0], at[1]}});
}
