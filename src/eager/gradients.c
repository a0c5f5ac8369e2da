/* Gradients of what a tape has recorded: the rules of the ops play on the tape as a graph, and the nodes
 * that they give run one by one. */
#include "eager/tape.h"

/* ---- the tape as a graph: its values' ids are theirs ---------------------------------------- */

static void node_build(const ebb_tape *tape, ebb_builder *b, const ebb_taped *node) {
    ebb_builder_node(b, node->op, tape->operands.at + node->in, node->n_in, node->attr, NULL, EBB_FORWARD,
                     node->op->effect == EBB_SEEDED ? EBB_DRAW_KEY(node->draw) : 0);
}

/* The given gradients follow the tape's values; dys[i] is the one of y i, or EBB_NONE. */
static ebb_status graph_build(const ebb_tape *tape, const ebb_backward *backward, ebb_id *dys,
                              ebb_graph **out) {
    ebb_builder *b;
    *out = NULL;
    const ebb_status status = ebb_builder_create(tape->eager->env, "tape", &b);
    if (status) return status;
    for (ebb_id v = 0; v < tape->values.n; v++) {
        const ebb_taped_value *value = &tape->values.at[v];
        if (value->maker == EBB_NONE)
            ebb_builder_given(b, NULL, EBB_ROLE_INPUT, &value->type, EBB_INIT_ZERO, 0);
        else if (tape->nodes.at[value->maker].out == v)
            node_build(tape, b, &tape->nodes.at[value->maker]);
    }
    for (uint32_t i = 0; i < backward->n_y; i++)
        dys[i] = backward->dy[i]
                     ? ebb_builder_given(b, NULL, EBB_ROLE_INPUT, &backward->dy[i]->type, EBB_INIT_ZERO, 0)
                     : EBB_NONE;
    return ebb_builder_seal(b, out);
}

/* ---- one call's tables ---------------------------------------------------------------------- */

typedef struct work {
    ebb_arena arena;
    ebb_id *ys, *dys, *wrt, *grads;
    ebb_graph *forward, *whole;
    ebb_datum **values; /* [whole's values], held */
    bool *kept;
} work;

/* Ids of what the tape has seen. A y that it has not seen depends on nothing that it watches: it counts as
 * a value of its own. */
static ebb_status ids_find(ebb_tape *tape, const ebb_backward *b, work *w) {
    const ebb_eager *eager = tape->eager;
    ebb_arena_init(&w->arena, eager->env);
    w->ys = EBB_NEW(&w->arena, ebb_id, b->n_y);
    w->dys = EBB_NEW(&w->arena, ebb_id, b->n_y);
    w->wrt = EBB_NEW(&w->arena, ebb_id, b->n_of);
    w->grads = EBB_NEW(&w->arena, ebb_id, b->n_of);
    if (!w->ys || !w->dys || !w->wrt || !w->grads) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < b->n_y; i++) w->ys[i] = ebb_tape_find(tape, b->y[i]->serial);
    for (uint32_t i = 0; i < b->n_of; i++) w->wrt[i] = ebb_tape_find(tape, b->of[i]->serial);
    return EBB_OK;
}

/* Leaves out what the tape has not seen: `grads` of those are EBB_NONE. */
static ebb_status grads_find(ebb_tape *tape, const ebb_backward *b, work *w) {
    ebb_env *env = tape->eager->env;
    ebb_id *ys = EBB_NEW(&w->arena, ebb_id, b->n_y), *dys = EBB_NEW(&w->arena, ebb_id, b->n_y);
    ebb_id *wrt = EBB_NEW(&w->arena, ebb_id, b->n_of), *grads = EBB_NEW(&w->arena, ebb_id, b->n_of);
    uint32_t n_y = 0, n_of = 0;
    if (!ys || !dys || !wrt || !grads) return EBB_NO_MEMORY;
    ebb_status status = graph_build(tape, b, w->dys, &w->forward);
    if (status) return status;
    for (uint32_t i = 0; i < b->n_y; i++) {
        if (w->ys[i] == EBB_NONE) continue;
        ys[n_y] = w->ys[i];
        dys[n_y++] = w->dys[i];
    }
    for (uint32_t i = 0; i < b->n_of; i++) {
        if (w->wrt[i] != EBB_NONE) wrt[n_of++] = w->wrt[i];
    }
    status = ebb_grad_of(env, w->forward, ys, dys, n_y, wrt, n_of, grads, &w->whole);
    n_of = 0;
    for (uint32_t i = 0; i < b->n_of; i++) w->grads[i] = w->wrt[i] == EBB_NONE ? EBB_NONE : grads[n_of++];
    return status;
}

/* The table takes over what the tape holds, or shares it. */
static ebb_status values_fill(ebb_tape *tape, const ebb_backward *b, bool keep, work *w) {
    const uint32_t n = w->whole->n_values;
    w->values = EBB_NEW(&w->arena, ebb_datum *, n);
    w->kept = EBB_NEW(&w->arena, bool, n);
    if (!w->values || !w->kept) return EBB_NO_MEMORY;
    for (ebb_id v = 0; v < tape->values.n; v++) {
        ebb_datum *datum = tape->values.at[v].datum;
        if (datum) w->values[v] = keep ? ebb_datum_hold(datum) : datum;
        if (!keep) tape->values.at[v].datum = NULL;
    }
    for (uint32_t i = 0; i < b->n_y; i++) {
        if (w->dys[i] != EBB_NONE) w->values[w->dys[i]] = ebb_datum_hold(b->dy[i]);
    }
    for (uint32_t i = 0; i < b->n_of; i++) {
        if (w->grads[i] != EBB_NONE) w->kept[w->grads[i]] = true;
    }
    return EBB_OK;
}

static void work_drop(ebb_eager *eager, work *w) {
    for (uint32_t i = 0; w->values && i < w->whole->n_values; i++) ebb_datum_drop(eager, w->values[i]);
    ebb_graph_destroy(w->whole);
    ebb_graph_destroy(w->forward);
    ebb_arena_deinit(&w->arena);
}

/* Runs the nodes behind the forward ones; out gets data that the caller holds. */
static ebb_status run(ebb_tape *tape, const ebb_backward *b, bool keep, work *w, ebb_datum **out) {
    ebb_status status = values_fill(tape, b, keep, w);
    if (!status) status = ebb_tape_play(tape, w->whole, w->forward->n_nodes, w->values, w->kept);
    if (!keep) ebb_tape_clear(tape);
    for (uint32_t i = 0; !status && i < b->n_of; i++)
        out[i] = w->grads[i] == EBB_NONE ? NULL : ebb_datum_hold(w->values[w->grads[i]]);
    return status;
}

/* ---- the call ------------------------------------------------------------------------------- */

/* Builds and runs; the recorder is asked how. */
static ebb_status differentiate(ebb_tape *tape, ebb_backward *b, bool keep, ebb_datum **out) {
    ebb_eager *eager = tape->eager;
    const ebb_recorder *recorder = eager->recorder;
    ebb_backward_way way = EBB_BACKWARD_EACH;
    work w = {.forward = NULL};
    ebb_status status = ids_find(tape, b, &w);
    if (!status) status = grads_find(tape, b, &w);
    b->grads = w.grads;
    if (!status && recorder) status = recorder->backward(eager->recorder_ctx, b, out, &way);
    if (!status && way != EBB_BACKWARD_TAKEN) {
        if (way == EBB_BACKWARD_QUIET) eager->recorder = NULL;
        status = run(tape, b, keep, &w, out);
        eager->recorder = recorder;
        if (!status && way == EBB_BACKWARD_QUIET)
            status = recorder->backward_done(eager->recorder_ctx, b, out);
    } else if (!keep) {
        ebb_tape_clear(tape);
    }
    work_drop(eager, &w);
    return status;
}

static ebb_status hand_out(ebb_eager *eager, ebb_datum **data, uint32_t n, ebb_tensor **out) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < n; i++) {
        if (data[i] && !(out[i] = ebb_tensor_of(eager, data[i]))) status = EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; status && i < n; i++) {
        ebb_tensor_destroy(out[i]);
        out[i] = NULL;
    }
    return status;
}

ebb_status ebb_tape_ends_check(const ebb_tape *tape, ebb_tensor *const *ys, ebb_tensor *const *dys,
                               uint32_t n_y, ebb_tensor *const *of, uint32_t n_of) {
    ebb_env *env = tape->eager->env;
    for (uint32_t i = 0; i < n_y + n_of; i++) {
        const ebb_tensor *tensor = i < n_y ? ys[i] : of[i - n_y];
        if (!tensor || tensor->eager != tape->eager)
            return ebb_fail(env, EBB_USAGE, "gradients: tensor %u is none of the tape's eager", i);
    }
    for (uint32_t i = 0; dys && i < n_y; i++)
        if (dys[i] && dys[i]->eager != tape->eager)
            return ebb_fail(env, EBB_USAGE, "gradients: what is given for y %u is none of the tape's eager",
                            i);
    return EBB_OK;
}

ebb_status ebb_tape_gradients(ebb_tape *tape, ebb_tensor *const *ys, ebb_tensor *const *dys, uint32_t n_y,
                              ebb_tensor *const *of, uint32_t n_of, bool keep, ebb_tensor **out) {
    ebb_eager *eager = tape->eager;
    ebb_arena arena;
    ebb_arena_init(&arena, eager->env);
    ebb_datum **data = EBB_NEW(&arena, ebb_datum *, 2 * (size_t)n_y + 2 * (size_t)n_of);
    ebb_status status = data ? EBB_OK : EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n_of; i++) out[i] = NULL;
    if (!status) status = ebb_tape_ends_check(tape, ys, dys, n_y, of, n_of);
    if (!status) {
        ebb_datum **y = data, **dy = y + n_y, **wrt = dy + n_y, **made = wrt + n_of;
        for (uint32_t i = 0; i < n_y; i++) {
            y[i] = ys[i]->datum;
            dy[i] = dys && dys[i] ? dys[i]->datum : NULL;
        }
        for (uint32_t i = 0; i < n_of; i++) wrt[i] = of[i]->datum;
        ebb_backward backward = {
            .tape = tape, .y = y, .dy = dy, .of = wrt, .n_y = n_y, .n_of = n_of, .grads = NULL};
        bool took = false;
        eager->handles = of;
        eager->n_handles = n_of;
        if (eager->recorder) status = eager->recorder->compare(eager->recorder_ctx, &backward, made, &took);
        if (!status && took && !keep) ebb_tape_clear(tape);
        if (!status && !took) status = differentiate(tape, &backward, keep, made);
        eager->n_handles = 0;
        if (!status) status = hand_out(eager, made, n_of, out);
    }
    ebb_arena_deinit(&arena);
    return status;
}
