/* loops: Loop and Scan whose rounds are known in number: their bodies stand one behind the other. What a
 * body has of its own, tensors and constants, is there once for all rounds. */
#include "onnx/stages.h"

enum { MOST_ROUNDS = 1024, PARTS_A_NODE = 16 };

typedef struct rounds {
    const onnx_node *node;
    const onnx_graph *body;
    uint32_t n_before, n_states, n_given, n_results; /* inputs before the states; states; parts of what is
                                                      * scanned; results that are gathered round by round */
    uint32_t *state;                                 /* places in im->values */
    uint32_t
        *part; /* [n_results][n]: of each result, then of each scanned one, by numbers of the builder */
    int64_t n;
    size_t first; /* values that are there before */
} rounds;

static const onnx_value *value_of(onnx_import *im, const char *name) {
    const uint32_t at = onnx_names_find(&im->by_name, name);
    if (at != EBB_NONE && im->values.at[at].kind != ONNX_LOST) return &im->values.at[at];
    if (at == EBB_NONE) onnx_refuse(im, "%.80s is not made by its body", name);
    return NULL;
}

/* ---- a round ---- */

static void bind_new(onnx_import *im, const char *name, onnx_value v) {
    v.name = name;
    v.maker = im->node;
    v.same = EBB_NONE;
    if (!EBB_PUSH(im->env, &im->values, v)) im->fatal = true, im->status = EBB_NO_MEMORY;
    if (!im->fatal) onnx_bind(im, name, (uint32_t)im->values.n - 1);
}

static void bind_number(onnx_import *im, const char *name, int32_t type, double number) {
    double *at = onnx_folded(im, 1);
    if (!at) return;
    *at = number;
    bind_new(im, name,
             (onnx_value){.kind = ONNX_FOLDED, .id = EBB_BUILD_NONE, .type = type, .at = {at, at}});
}

/* The number of the builder for what a name of the body means; made if it is known numbers. */
static uint32_t made(onnx_import *im, const char *name) {
    const onnx_node *node = im->node;
    const onnx_node reader = {.name = node->name,
                              .op = node->op,
                              .domain = "",
                              .in = &name,
                              .out = node->out,
                              .n_in = 1,
                              .n_out = 1};
    if (!value_of(im, name)) return EBB_BUILD_NONE;
    im->node = &reader;
    const uint32_t id = onnx_in(im, 0);
    im->node = node;
    return id;
}

static void end_round(onnx_import *im, const rounds *r) {
    for (uint32_t i = 0; i < r->body->n_inputs; i++) onnx_name_hide(im, r->body->inputs[i].name, r->first);
    onnx_body_end(im, r->body, r->first);
}

/* Its states and results; false: some are lost, or it was refused. */
static bool read_round(onnx_import *im, const rounds *r, int64_t i, uint32_t n_ahead) {
    for (uint32_t k = 0; k < r->n_states; k++) {
        const onnx_value *v = value_of(im, r->body->outputs[n_ahead + k].name);
        if (!v) return false;
        r->state[k] = (uint32_t)(v - im->values.at);
    }
    for (uint32_t k = 0; k < r->n_results; k++) {
        r->part[k * r->n + i] = made(im, r->body->outputs[n_ahead + r->n_states + k].name);
        if (r->part[k * r->n + i] == EBB_BUILD_NONE) return false;
    }
    return !onnx_stopped(im);
}

/* One round, whose inputs before the states are bound. */
static bool run_round(onnx_import *im, const rounds *r, int64_t i) {
    const onnx_graph *body = r->body;
    for (uint32_t k = 0; k < r->n_states && !onnx_stopped(im); k++)
        onnx_bind(im, body->inputs[r->n_before + k].name, r->state[k]);
    for (uint32_t k = 0; k < r->n_given && !onnx_stopped(im); k++)
        bind_new(im, body->inputs[r->n_states + k].name,
                 (onnx_value){.kind = ONNX_GRAPH, .id = r->part[(r->n_results + k) * r->n + i]});
    const int64_t n = (int64_t)body->n_nodes + body->n_tensors + body->n_inputs + body->n_outputs + 1;
    if (!onnx_unroll_more(im, n)) return false;
    const bool made_all = onnx_body_make(im, body);
    im->node = r->node;
    return made_all && !onnx_stopped(im);
}

/* ---- the whole ---- */

static bool begin(onnx_import *im, rounds *r, uint32_t n_of_node, uint32_t n_ahead) {
    const onnx_node *node = r->node = im->node;
    const onnx_attribute *a = onnx_attr(im, "body");
    r->body = a ? a->branch : NULL;
    r->first = im->values.n;
    const uint32_t n_inputs = r->n_before + r->n_states + r->n_given;
    if (!r->body || node->n_in < n_of_node || r->body->n_inputs != n_inputs || node->n_out < r->n_states ||
        r->body->n_outputs != n_ahead + node->n_out)
        onnx_refuse(im, "its body is missing, or has other inputs or outputs than it");
    if (onnx_stopped(im)) return false;
    r->n_results = node->n_out - r->n_states;
    if (r->n > MOST_ROUNDS) onnx_refuse(im, "more than %d rounds", MOST_ROUNDS);
    /* A loop within another begins again in each round. */
    const int64_t n_parts = ((int64_t)r->n_results + r->n_given) * r->n;
    if (!onnx_stopped(im))
        (void)onnx_unroll_more(im, (int64_t)node->n_in + node->n_out + n_parts / PARTS_A_NODE);
    r->state = EBB_NEW(im->arena, uint32_t, r->n_states + 1);
    r->part = onnx_stopped(im) ? NULL : EBB_NEW(im->arena, uint32_t, n_parts + 1);
    if (!r->state || (!r->part && !onnx_stopped(im))) im->fatal = true, im->status = EBB_NO_MEMORY;
    for (uint32_t k = 0; k < r->n_states && !onnx_stopped(im); k++) {
        const onnx_value *v = onnx_operand(im, n_of_node - r->n_states - r->n_given + k);
        r->state[k] = onnx_stopped(im) ? 0 : (uint32_t)(v - im->values.at);
    }
    return !onnx_stopped(im);
}

/* axis: of a gathered result; NULL: the first. */
static void give(onnx_import *im, const rounds *r, int64_t n, const int64_t *axis) {
    for (uint32_t k = 0; k < r->n_states; k++)
        if (onnx_wants(im, k) && !onnx_stopped(im)) onnx_bind(im, im->node->out[k], r->state[k]);
    for (uint32_t k = 0; k < r->n_results && !onnx_stopped(im); k++) {
        if (!onnx_wants(im, r->n_states + k)) continue;
        if (n == 0) onnx_refuse(im, "it has no rounds to gather");
        if (onnx_stopped(im) || !onnx_unroll_more(im, 0)) return;
        const uint32_t rank = onnx_shape_of(im, r->part[k * r->n]).rank;
        const uint32_t at = axis ? onnx_axis(im, axis[k], rank + 1) : 0;
        onnx_give(im, r->n_states + k, onnx_together(im, &r->part[k * r->n], n, at));
    }
}

/* ---- Loop: rounds, condition, states -> condition, states, results ---- */

/* A number that must be known: operand i, or `otherwise` if it has none. */
static int64_t known(onnx_import *im, uint32_t i, int64_t otherwise) {
    int64_t n = 0;
    if (!onnx_has(im, i)) return otherwise;
    if (onnx_operand(im, i)->kind == ONNX_GRAPH)
        onnx_refuse(im, "%s computed from data: it must be known",
                    i == 0 ? "its number of rounds is" : "whether it begins is");
    const double *at = onnx_fixed(im, i, &n);
    if (at && n != 1) onnx_refuse(im, "%lld numbers where it has one", (long long)n);
    return at && n == 1 ? onnx_whole(at[0]) : 0;
}

/* Whether the body's first output says that it goes on. */
static bool goes_on(onnx_import *im, const rounds *r) {
    const onnx_value *v = value_of(im, r->body->outputs[0].name);
    if (!v) return false;
    const bool folded = v->kind == ONNX_FOLDED;
    if (v->kind == ONNX_GRAPH)
        onnx_refuse(im, "whether it goes on is computed from data: it must be known");
    else if (folded ? onnx_count(&v->shape, 0) != 1 : !v->tensor->bytes || v->tensor->count != 1)
        onnx_refuse(im, "whether it goes on is not one number");
    else if (folded && (v->of_batch || v->at[0][0] != v->at[1][0]))
        onnx_refuse(im, "whether it goes on depends on the batch: export it for a number of samples");
    if (onnx_stopped(im)) return false;
    return (folded ? v->at[0][0] : onnx_tensor_at(v->tensor, 0)) != 0;
}

void onnx_loop_take(onnx_import *im) {
    enum { ROUNDS, CONDITION, STATES };
    const int64_t most = known(im, ROUNDS, MOST_ROUNDS + 1);
    bool more = known(im, CONDITION, 1) != 0;
    rounds r = {.n_before = 2,
                .n_states = im->node->n_in > STATES ? im->node->n_in - STATES : 0,
                .n = most < 0 ? 0 : most};
    const bool open = r.n > MOST_ROUNDS; /* its condition ends it */
    if (open) r.n = MOST_ROUNDS;
    int64_t i = 0;
    if (onnx_stopped(im) || !begin(im, &r, STATES + r.n_states, 1)) return;
    for (; i < r.n && more; i++) {
        bind_number(im, r.body->inputs[0].name, ONNX_INT64, (double)i);
        if (!onnx_stopped(im)) bind_number(im, r.body->inputs[1].name, ONNX_BOOL, 1);
        const bool whole = !onnx_stopped(im) && run_round(im, &r, i) && read_round(im, &r, i, 1);
        more = whole && goes_on(im, &r);
        end_round(im, &r);
        if (!whole || onnx_stopped(im)) break;
    }
    if (open && more && !onnx_stopped(im)) onnx_refuse(im, "more than %d rounds", MOST_ROUNDS);
    if (!onnx_stopped(im) && (i == r.n || !more)) give(im, &r, i, NULL);
}

/* ---- Scan: states, what is scanned -> states, results ---- */

static const int64_t *numbers(onnx_import *im, const char *name, uint32_t n) {
    int64_t *at = EBB_NEW(im->arena, int64_t, n + 1);
    const onnx_attribute *a = onnx_attr(im, name);
    if (!at) im->fatal = true, im->status = EBB_NO_MEMORY;
    if (a && a->n_ints != n) onnx_refuse(im, "%s has %u numbers, not %u", name, a->n_ints, n);
    for (uint32_t k = 0; at && a && k < n && !onnx_stopped(im); k++) at[k] = a->ints[k];
    return at;
}

static bool only_zeros(onnx_import *im, const char *name) {
    const onnx_attribute *a = onnx_attr(im, name);
    for (uint32_t k = 0; a && k < a->n_ints; k++)
        if (a->ints[k] != 0) onnx_refuse(im, "%s backwards", name);
    return !onnx_stopped(im);
}

/* Each scanned operand by its parts. */
static void scanned(onnx_import *im, rounds *r, const int64_t *axis) {
    for (uint32_t k = 0; k < r->n_given && !onnx_stopped(im); k++) {
        const uint32_t x = onnx_in(im, r->n_states + k);
        const onnx_shape shape = onnx_shape_of(im, x);
        if (onnx_stopped(im) || !onnx_unroll_more(im, 0)) return;
        const uint32_t at = onnx_axis(im, axis[k], shape.rank);
        if (onnx_stopped(im)) return;
        if (shape.dim[0][at] != r->n || shape.dim[1][at] != r->n)
            onnx_refuse(im, "what it scans is of other lengths");
        if (!onnx_stopped(im)) onnx_apart(im, x, at, r->n, &r->part[(r->n_results + k) * r->n]);
    }
}

static int64_t length_of(onnx_import *im, uint32_t i, const int64_t *axis) {
    const onnx_value *v = onnx_operand(im, i);
    const onnx_shape shape =
        onnx_stopped(im) || v->kind != ONNX_GRAPH ? v->shape : onnx_shape_of(im, v->id);
    const uint32_t at = onnx_stopped(im) ? 0 : onnx_axis(im, axis[0], shape.rank);
    if (onnx_stopped(im)) return 0;
    if (shape.dim[0][at] != shape.dim[1][at]) onnx_refuse(im, "its number of rounds depends on the batch");
    return shape.dim[0][at];
}

void onnx_scan_take(onnx_import *im) {
    const int64_t n_given = onnx_attr_int(im, "num_scan_inputs", 0);
    if (n_given < 1 || n_given > im->node->n_in || im->file->opset < 9)
        onnx_refuse(im, "num_scan_inputs %lld of %u operands, opset %lld", (long long)n_given,
                    im->node->n_in, (long long)im->file->opset);
    if (onnx_stopped(im)) return;
    rounds r = {.n_states = im->node->n_in - (uint32_t)n_given, .n_given = (uint32_t)n_given};
    const int64_t *in_axis = numbers(im, "scan_input_axes", r.n_given);
    if (onnx_stopped(im)) return;
    r.n = length_of(im, r.n_states, in_axis);
    if (onnx_stopped(im) || !begin(im, &r, im->node->n_in, 0)) return;
    const int64_t *out_axis = numbers(im, "scan_output_axes", r.n_results);
    if (!only_zeros(im, "scan_input_directions") || !only_zeros(im, "scan_output_directions")) return;
    scanned(im, &r, in_axis);
    r.first = im->values.n;
    bool whole = !onnx_stopped(im);
    for (int64_t i = 0; i < r.n && whole; i++) {
        whole = run_round(im, &r, i) && read_round(im, &r, i, 0);
        end_round(im, &r);
    }
    if (whole && !onnx_stopped(im)) give(im, &r, r.n, out_axis);
}
