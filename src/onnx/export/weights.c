/* weights: what params and states hold, from a file or from memory; batch norm folded into a product. */
#include "onnx/export/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- by name ---- */

static int by_weight_name(const void *a, const void *b) {
    return strcmp(((const onnx_weight *)a)->row.name, ((const onnx_weight *)b)->row.name);
}

ebb_status onnx_weights_open(onnx_out *o, const onnx_source *source) {
    ebb_status status = source->path ? ebb_tensors_open(o->env, source->path, &o->file) : EBB_OK;
    if (status != EBB_OK) return status;
    o->n_weights = o->file ? ebb_tensors_count(o->file) : source->n;
    o->weights = EBB_NEW(&o->arena, onnx_weight, o->n_weights);
    if (!o->weights) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < o->n_weights; i++)
        o->weights[i] = o->file ? (onnx_weight){*ebb_tensors_at(o->file, i), NULL}
                                : (onnx_weight){source->rows[i], source->data[i]};
    if (o->n_weights > 1) qsort(o->weights, o->n_weights, sizeof *o->weights, by_weight_name);
    return EBB_OK;
}

static const onnx_weight *weight_find(const onnx_out *o, const char *name) {
    const onnx_weight like = {.row = {.name = name}};
    return o->n_weights > 0 ? bsearch(&like, o->weights, o->n_weights, sizeof *o->weights, by_weight_name)
                            : NULL;
}

static bool fits(const ebb_type *type, const ebb_tensor_row *row) {
    if (!ebb_word_equal(row->dtype, ebb_dtype_name(type->dtype)) || row->rank != type->rank) return false;
    for (uint32_t d = 0; d < type->rank; d++)
        if (row->dim[d] != type->dim[d]) return false;
    return true;
}

ebb_status onnx_weights_check(onnx_out *o) {
    char there[EBB_TENSOR_ROW_TEXT], due[EBB_TYPE_TEXT];
    ebb_text said;
    uint32_t n = 0;
    ebb_text_init(&said, o->env);
    for (ebb_id i = 0; i < o->graph[0]->n_nodes; i++)
        for (uint32_t k = 0; o->needed[i] && k < o->graph[0]->nodes[i].n_in; k++) {
            const ebb_id id = o->graph[0]->nodes[i].in[k];
            const ebb_value *v = &o->graph[0]->values[id];
            const bool weight =
                v->producer == EBB_NONE && (v->role == EBB_ROLE_PARAM || v->role == EBB_ROLE_STATE);
            const onnx_weight *w = weight ? weight_find(o, v->name) : NULL;
            if (!weight || (w && fits(&v->type, &w->row)) || o->name[id]) continue;
            o->name[id] = v->name; /* told once */
            if (w) ebb_tensor_row_text(&w->row, there);
            ebb_text_add(&said, "%s%.100s %s %s%s", n++ > 0 ? "; " : ": ", v->name,
                         ebb_type_text(&v->type, due), w ? "is there " : "is not there", w ? there : "");
        }
    ebb_status status = ebb_text_status(&said);
    if (status == EBB_OK && n > 0)
        status = ebb_fail(o->env, EBB_BAD_INPUT, "the weights do not fit %.200s%s", o->model, said.at);
    ebb_text_deinit(&said);
    return status;
}

const void *onnx_weight_bytes(onnx_out *o, const char *name) {
    const onnx_weight *w = weight_find(o, name); /* it is there: onnx_weights_check */
    if (onnx_out_stopped(o)) return NULL;
    if (w->data) return w->data;
    void *bytes = EBB_NEW(&o->arena, char, w->row.bytes);
    if (!bytes) onnx_out_no_memory(o);
    if (bytes) o->status = ebb_tensors_read(o->file, &w->row, 0, w->row.bytes, bytes);
    return o->status == EBB_OK ? bytes : NULL;
}

void onnx_store(onnx_out *o, const char *name, const ebb_type *type, const char *weight,
                const void *bytes) {
    const onnx_stored stored = {name, *type, weight, bytes};
    if (!EBB_PUSH(o->env, &o->stored, stored)) onnx_out_no_memory(o);
}

/* ---- products with what follows them ---- */

static const ebb_node *sole_reader(const onnx_out *o, ebb_id value, const ebb_op_info *op) {
    const ebb_id reader = o->reader[value];
    if (reader == EBB_NONE) return NULL;
    const ebb_node *node = &o->graph[0]->nodes[reader];
    return node->op == op && node->in[0] == value ? node : NULL;
}

static bool is_weight(const onnx_out *o, ebb_id value) {
    const ebb_value *v = &o->graph[0]->values[value];
    return v->producer == EBB_NONE && (v->role == EBB_ROLE_PARAM || v->role == EBB_ROLE_STATE);
}

typedef struct folding {
    onnx_out *o;
    const ebb_type *weight;
    ebb_dtype dtype;
    int64_t channels, groups; /* groups 0: channels are the weight's first axis */
    double *scale, *shift;    /* of each channel */
} folding;

/* y = scale * x + shift does what the norm does. */
static bool find_scale(folding *f, const ebb_node *norm) {
    const void *at[5] = {NULL};
    for (int i = 1; i < 5; i++)
        if (!(at[i] = onnx_weight_bytes(f->o, f->o->graph[0]->values[norm->in[i]].name))) return false;
    double (*load)(const void *, int64_t) = ebb_dtypes[f->dtype].load;
    f->scale = EBB_NEW(&f->o->arena, double, f->channels);
    f->shift = EBB_NEW(&f->o->arena, double, f->channels);
    if (!f->scale || !f->shift) return onnx_out_no_memory(f->o), false;
    for (int64_t c = 0; c < f->channels; c++) {
        f->scale[c] = load(at[1], c) / sqrt(load(at[4], c) + norm->attr[EBB_BATCH_NORM_EPS].f);
        f->shift[c] = load(at[2], c) - load(at[3], c) * f->scale[c];
    }
    return true;
}

/* The result's channel of element i: weights are [o,...] or, transposed, [c,o/groups,...]. */
static int64_t channel_of(const folding *f, int64_t i) {
    const ebb_type *w = f->weight;
    const int64_t first = ebb_type_count(w) / w->dim[0];
    if (f->groups == 0) return i / first;
    const int64_t inner = first / w->dim[1], group = i / first / (w->dim[0] / f->groups);
    return group * w->dim[1] + i / inner % w->dim[1];
}

static const char *folded_weight(folding *f, const char *name) {
    onnx_out *o = f->o;
    const void *from = onnx_weight_bytes(o, name);
    void *to = EBB_NEW(&o->arena, char, ebb_type_bytes(f->weight));
    const char *made = onnx_part_name(o, "weight");
    if (!to) onnx_out_no_memory(o);
    if (onnx_out_stopped(o)) return "";
    for (int64_t i = 0, n = ebb_type_count(f->weight); i < n; i++)
        ebb_dtypes[f->dtype].store(to, i, ebb_dtypes[f->dtype].load(from, i) * f->scale[channel_of(f, i)]);
    onnx_store(o, made, f->weight, NULL, to);
    return made;
}

/* name NULL: there was none. */
static const char *folded_bias(folding *f, const char *name) {
    onnx_out *o = f->o;
    const ebb_type type = {.dtype = f->dtype, .rank = 1, .dim = {f->channels}};
    const void *from = name ? onnx_weight_bytes(o, name) : NULL;
    void *to = EBB_NEW(&o->arena, char, ebb_type_bytes(&type));
    const char *made = onnx_part_name(o, "bias");
    if (!to) onnx_out_no_memory(o);
    if (onnx_out_stopped(o)) return "";
    for (int64_t c = 0; c < f->channels; c++)
        ebb_dtypes[f->dtype].store(
            to, c, (from ? ebb_dtypes[f->dtype].load(from, c) : 0) * f->scale[c] + f->shift[c]);
    onnx_store(o, made, &type, NULL, to);
    return made;
}

static bool can_fold(const onnx_out *o, const ebb_node *norm, ebb_id weight) {
    const ebb_dtype dtype = o->graph[0]->values[weight].type.dtype;
    bool can = is_weight(o, weight) && (dtype == EBB_F32 || dtype == EBB_F64);
    for (uint32_t i = 1; i < 5; i++) can = can && is_weight(o, norm->in[i]);
    return can;
}

void onnx_absorb(onnx_out *o, int64_t groups, const char **weight, const char **bias) {
    const ebb_id product = onnx_out_node(o)->in[1];
    const ebb_node *added = sole_reader(o, o->result, &ebb_op_bias);
    if (added && !is_weight(o, added->in[1])) added = NULL;
    if (added) {
        o->done[o->reader[o->result]] = true;
        o->result = added->out[0];
    }
    const ebb_node *norm =
        o->options->fold_batch_norm ? sole_reader(o, o->result, &ebb_op_batch_norm) : NULL;
    if (!norm || !can_fold(o, norm, product)) {
        *weight = onnx_value_name(o, product);
        *bias = added ? onnx_value_name(o, added->in[1]) : "";
        return;
    }
    const ebb_value *w = &o->graph[0]->values[product];
    folding f = {.o = o,
                 .weight = &w->type,
                 .dtype = w->type.dtype,
                 .channels = o->graph[0]->values[norm->in[1]].type.dim[0],
                 .groups = groups};
    *weight = *bias = "";
    o->done[o->reader[o->result]] = true;
    o->result = norm->out[0];
    if (!find_scale(&f, norm)) return;
    *weight = folded_weight(&f, w->name);
    *bias = folded_bias(&f, added ? o->graph[0]->values[added->in[1]].name : NULL);
}
