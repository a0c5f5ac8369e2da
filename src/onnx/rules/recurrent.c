/* rules_recurrent: LSTM, GRU and RNN, the steps of whose loops stand one behind the other. What a step
 * reads of the sequence is one product for all of them. */
#include "onnx/import.h"
#include "onnx/rules/recurrent.h"

enum { X, WEIGHTS, FROM_STATE, BIASES, LENGTHS, STATE, CELL, PEEPHOLES };

/* Whether every number of operand i is 0, or it is not there: a state that exporters write for their batch.
 */
static bool is_nothing(onnx_import *im, uint32_t i) {
    if (!onnx_has(im, i)) return true;
    const onnx_value *v = onnx_operand(im, i);
    if (v->kind == ONNX_FOLDED) return onnx_is_uniform(v) && v->at[0][0] == 0;
    return v->kind == ONNX_INITIAL && v->tensor->bytes && onnx_is_uniform(v) &&
           onnx_tensor_at(v->tensor, 0) == 0;
}

/* x, which has one place along the axis, without it. */
static uint32_t without(onnx_import *im, uint32_t x, uint32_t axis) {
    onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im) || axis >= shape.rank) return EBB_BUILD_NONE;
    shape.rank--;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = axis; d < shape.rank; d++) shape.dim[k][d] = shape.dim[k][d + 1];
    return onnx_reshape(im, x, &shape);
}

/* Direction d of the first axis, without it. */
static uint32_t part_of(onnx_import *im, const onnx_loop *l, uint32_t x, int64_t d) {
    const onnx_shape shape = onnx_shape_of(im, x);
    if (!onnx_stopped(im) && (shape.rank < 2 || shape.dim[0][0] != l->n_directions))
        onnx_refuse(im, "an operand of rank %u for %u directions", shape.rank, l->n_directions);
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    if (shape.dim[0][0] > 1) x = onnx_slice(im, x, 0, (int64_t[]){d, d}, (int64_t[]){1, 1});
    return without(im, x, 0);
}

/* x as one part of an axis at `axis`. */
static uint32_t as_part(onnx_import *im, uint32_t x, uint32_t axis) {
    onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im) || onnx_beyond_rank(im, (int64_t)shape.rank + 1)) return EBB_BUILD_NONE;
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t d = shape.rank; d > axis; d--) shape.dim[k][d] = shape.dim[k][d - 1];
        shape.dim[k][axis] = 1;
    }
    shape.rank++;
    return onnx_reshape(im, x, &shape);
}

uint32_t onnx_gates(onnx_import *im, uint32_t x, const onnx_loop *l, int64_t first, int64_t n) {
    const uint32_t axis = onnx_shape_of(im, x).rank - 1;
    const int64_t at = first * l->size;
    return onnx_slice(im, x, axis, (int64_t[]){at, at}, (int64_t[]){n * l->size, n * l->size});
}

void onnx_apart(onnx_import *im, uint32_t x, uint32_t axis, int64_t n, uint32_t *out) {
    if (n == 1) *out = without(im, x, axis);
    if (n < 2 || onnx_stopped(im)) return;
    const int64_t half = n / 2, rest = n - half;
    onnx_apart(im, onnx_slice(im, x, axis, (int64_t[]){0, 0}, (int64_t[]){half, half}), axis, half, out);
    onnx_apart(im, onnx_slice(im, x, axis, (int64_t[]){half, half}, (int64_t[]){rest, rest}), axis, rest,
               out + half);
}

uint32_t onnx_together(onnx_import *im, uint32_t *part, int64_t n, uint32_t axis) {
    for (int64_t i = 0; i < n; i++) part[i] = as_part(im, part[i], axis);
    return n == 1 || onnx_stopped(im) ? part[0] : onnx_concat(im, part, (uint32_t)n, axis);
}

/* ---- how much it makes ---- */

void onnx_unroll_begin(onnx_import *im) {
    if (im->unrolled.depth++ > 0) return;
    im->unrolled.first = im->id_name.n;
    im->unrolled.begin = im->text.n;
}

bool onnx_unroll_more(onnx_import *im, int64_t n_nodes) {
    enum { NODES = 1 << 15, OPS = 20 << 10, BYTES = 4 << 20 };
    im->unrolled.n_nodes += n_nodes;
    if (im->unrolled.n_nodes > NODES || im->unrolled.n_ops + im->id_name.n - im->unrolled.first > OPS ||
        im->unrolled.n_bytes + im->text.n - im->unrolled.begin > BYTES)
        onnx_refuse(im, "loops of more than %d nodes, %d ops or %d bytes of text: take fewer steps", NODES,
                    OPS, BYTES);
    return !onnx_stopped(im);
}

void onnx_unroll_end(onnx_import *im) {
    if (--im->unrolled.depth > 0) return;
    im->unrolled.n_ops += im->id_name.n - im->unrolled.first;
    im->unrolled.n_bytes += im->text.n - im->unrolled.begin;
}

/* ---- what it reads ---- */

/* The state that direction d begins with. */
static uint32_t first_state(onnx_import *im, const onnx_loop *l, uint32_t operand, uint32_t d) {
    onnx_shape shape = {.rank = 2, .dim = {{l->batch[0], l->size}, {l->batch[1], l->size}}};
    if (is_nothing(im, operand)) return onnx_fill(im, &shape, l->x, 0);
    uint32_t all = onnx_in(im, operand);
    if (l->batch_first) all = onnx_permute(im, all, (const uint32_t[]){1, 0, 2}, 3);
    const uint32_t state = part_of(im, l, all, d);
    const onnx_shape given = onnx_shape_of(im, state);
    if (!onnx_stopped(im) && !onnx_same_shape(&given, &shape))
        onnx_refuse(im, "operand %u is of another shape", operand);
    return state;
}

/* What each step reads of the sequence, for direction d. */
static void read_steps(onnx_import *im, const onnx_loop *l, uint32_t d, uint32_t bias, uint32_t *steps) {
    onnx_shape rows = {.rank = 2}, all = {.rank = 3};
    const onnx_shape shape = onnx_shape_of(im, l->x);
    const uint32_t w = part_of(im, l, onnx_in(im, WEIGHTS), d);
    if (onnx_stopped(im)) return;
    for (uint32_t k = 0; k < 2; k++) {
        all.dim[k][0] = l->n;
        all.dim[k][1] = l->batch[k];
        all.dim[k][2] = l->n_gates * l->size;
        rows.dim[k][0] = l->n * l->batch[k];
        rows.dim[k][1] = shape.dim[k][2];
    }
    uint32_t y = onnx_op2(im, "linear", onnx_reshape(im, l->x, &rows), w);
    if (bias != EBB_BUILD_NONE) y = onnx_op2(im, "bias", y, bias);
    y = onnx_reshape(im, y, &all);
    if (!onnx_stopped(im)) onnx_apart(im, y, 0, l->n, steps);
}

/* What direction d has in a line of so many numbers: biases, peepholes. */
static uint32_t line_of(onnx_import *im, const onnx_loop *l, uint32_t operand, uint32_t d, int64_t n) {
    const uint32_t line = part_of(im, l, onnx_in(im, operand), d);
    const onnx_shape shape = onnx_shape_of(im, line);
    if (!onnx_stopped(im) && (shape.rank != 1 || shape.dim[0][0] != n))
        onnx_refuse(im, "operand %u is of another shape", operand);
    return line;
}

static void read_cell(onnx_import *im, const onnx_loop *l, uint32_t d, onnx_cell *c) {
    c->w_bias = c->r_bias = c->peepholes = EBB_BUILD_NONE;
    c->r = part_of(im, l, onnx_in(im, FROM_STATE), d);
    if (onnx_has(im, BIASES)) {
        const uint32_t both = line_of(im, l, BIASES, d, 2 * l->n_gates * l->size);
        c->w_bias = onnx_gates(im, both, l, 0, l->n_gates);
        c->r_bias = onnx_gates(im, both, l, l->n_gates, l->n_gates);
    }
    if (onnx_has(im, PEEPHOLES)) c->peepholes = line_of(im, l, PEEPHOLES, d, 3 * l->size);
    c->h = first_state(im, l, STATE, d);
    if (l->has_cell) c->c = first_state(im, l, CELL, d);
}

static bool read_functions(onnx_import *im, const onnx_loop *l, uint32_t d, onnx_cell *c) {
    static const struct {
        const char *name, *op;
    } known[] = {{"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Relu", "relu"}};
    const onnx_attribute *a = onnx_attr(im, "activations");
    for (uint32_t i = 0; i < l->n_functions; i++) {
        const uint32_t at = d * l->n_functions + i;
        const char *name = !a ? l->functions[i] : at < a->n_texts ? a->texts[at] : "none";
        for (size_t k = 0; k < EBB_COUNT(known); k++)
            if (strcmp(known[k].name, name) == 0) c->function[i] = known[k].op;
        if (!c->function[i]) onnx_refuse(im, "activation %.40s: Sigmoid, Tanh and Relu are read", name);
    }
    return !onnx_stopped(im);
}

/* ---- the whole ---- */

static void refuse_lengths(onnx_import *im, const onnx_loop *l) {
    int64_t n = 0;
    if (!onnx_has(im, LENGTHS)) return;
    const double *at = onnx_operand(im, LENGTHS)->kind == ONNX_GRAPH ? NULL : onnx_fixed(im, LENGTHS, &n);
    bool whole = at != NULL;
    for (int64_t i = 0; i < n && whole; i++) whole = onnx_whole(at[i]) == l->n;
    if (!whole) onnx_refuse(im, "its sequences have lengths of their own: all steps are read");
}

static bool read_loop(onnx_import *im, onnx_loop *l) {
    enum { MOST_STEPS = 1024 };
    const char *way = onnx_attr_text(im, "direction", "forward");
    l->batch_first = onnx_attr_int(im, "layout", 0) != 0;
    l->x = onnx_in(im, X);
    if (l->batch_first) l->x = onnx_permute(im, l->x, (const uint32_t[]){1, 0, 2}, 3);
    const onnx_shape x = onnx_shape_of(im, l->x), r = onnx_shape_of(im, onnx_in(im, FROM_STATE));
    if (onnx_stopped(im)) return false;
    l->n_directions = strcmp(way, "bidirectional") == 0 ? 2 : 1;
    l->reversed = strcmp(way, "reverse") == 0;
    if (l->n_directions == 1 && !l->reversed && strcmp(way, "forward") != 0)
        onnx_refuse(im, "direction %.40s: forward, reverse and bidirectional are read", way);
    if (x.rank != 3 || r.rank != 3 || r.dim[0][0] != l->n_directions ||
        r.dim[0][1] != l->n_gates * r.dim[0][2])
        onnx_refuse(im, "sequences of rank %u, weights of rank %u for %u directions", x.rank, r.rank,
                    l->n_directions);
    else if (x.dim[0][0] != x.dim[1][0])
        onnx_refuse(im, "its number of steps depends on the batch");
    else if (x.dim[0][0] > MOST_STEPS)
        onnx_refuse(im, "%lld steps: up to %d are read", (long long)x.dim[0][0], MOST_STEPS);
    if (onnx_attr(im, "clip") || onnx_attr_int(im, "input_forget", 0))
        onnx_refuse(im, "clip or input_forget");
    l->n = x.dim[0][0];
    l->size = r.dim[0][2];
    for (uint32_t k = 0; k < 2; k++) l->batch[k] = x.dim[k][1];
    refuse_lengths(im, l);
    return !onnx_stopped(im);
}

static void give(onnx_import *im, const onnx_loop *l, uint32_t k, uint32_t y) {
    if (l->batch_first && k == 0) y = onnx_permute(im, y, (const uint32_t[]){2, 0, 1, 3}, 4);
    if (l->batch_first && k > 0) y = onnx_permute(im, y, (const uint32_t[]){1, 0, 2}, 3);
    onnx_give(im, k, y);
}

static void make(onnx_import *im, onnx_loop *l) {
    uint32_t all[2], last[2], last_cell[2];
    if (!onnx_unroll_more(im, 1) || !read_loop(im, l)) return;
    uint32_t *steps = EBB_NEW(im->arena, uint32_t, l->n);
    if (!steps) im->fatal = true, im->status = EBB_NO_MEMORY;
    for (uint32_t d = 0; d < l->n_directions && !onnx_stopped(im); d++) {
        onnx_cell c = {.c = EBB_BUILD_NONE};
        if (!read_functions(im, l, d, &c)) return;
        read_cell(im, l, d, &c);
        if (l->begin && !onnx_stopped(im)) l->begin(im, l, &c);
        read_steps(im, l, d, c.w_bias, steps);
        for (int64_t i = 0; i < l->n && onnx_unroll_more(im, 1); i++) {
            const int64_t t = l->reversed || d == 1 ? l->n - 1 - i : i;
            l->step(im, l, &c, steps[t]);
            steps[t] = c.h;
        }
        if (onnx_stopped(im)) return;
        last[d] = c.h;
        last_cell[d] = c.c;
        if (onnx_wants(im, 0)) all[d] = onnx_together(im, steps, l->n, 0);
    }
    if (onnx_stopped(im)) return;
    if (onnx_wants(im, 0)) give(im, l, 0, onnx_together(im, all, l->n_directions, 1));
    if (onnx_wants(im, 1)) give(im, l, 1, onnx_together(im, last, l->n_directions, 0));
    if (onnx_wants(im, 2) && l->has_cell) give(im, l, 2, onnx_together(im, last_cell, l->n_directions, 0));
}

void onnx_loop_make(onnx_import *im, onnx_loop *l) {
    onnx_unroll_begin(im);
    make(im, l);
    onnx_unroll_end(im);
}
