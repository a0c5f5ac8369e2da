/* Gradients piece by piece, from the last op that a tape has recorded to the first: between pieces the
 * caller looks at what has come to a value, and puts other gradients there. Each piece is differentiated as
 * the whole tape would be, so that sums are added in the same order. */
#include "eager/tape.h"

struct ebb_sweep {
    ebb_tape *tape;
    ebb_eager *eager; /* with which it is destroyed, the tape being gone or not */
    ebb_arena arena;
    ebb_datum **come;      /* [n_values] gradients so far, held, or NULL */
    bool *wanted;          /* [n_values] leads from what is differentiated by */
    bool *asked;           /* [n_values] is that */
    ebb_id *as;            /* [n_values] ids in a piece's graph */
    uint32_t n_values, at; /* at: nodes that are still to come */
};

/* ---- life ----------------------------------------------------------------------------------- */

static void wanted_spread(ebb_sweep *s) {
    const ebb_tape *tape = s->tape;
    for (size_t n = 0; n < tape->nodes.n; n++) {
        const ebb_taped *node = &tape->nodes.at[n];
        bool any = false;
        for (uint32_t i = 0; i < node->n_in; i++) any = any || s->wanted[tape->operands.at[node->in + i]];
        for (uint32_t i = 0; any && i < node->op->n_out; i++)
            s->wanted[node->out + i] = ebb_dtype_real(tape->values.at[node->out + i].type.dtype);
    }
}

static ebb_status ones_make(ebb_sweep *s, const ebb_type *type, ebb_datum **out) {
    ebb_attr attr[EBB_MAX_ATTRS] = {{{0}}};
    ebb_datum *made[EBB_MAX_RESULTS];
    attr[EBB_FILL_VALUE].f = 1;
    attr[EBB_FILL_DTYPE].i[0] = type->dtype;
    for (uint32_t d = 0; d < type->rank; d++) attr[EBB_FILL_SHAPE].i[d] = type->dim[d];
    const ebb_status status = ebb_apply_data(s->tape->eager, &ebb_op_fill, NULL, 0, attr, 0, 0, made);
    *out = status ? NULL : made[0];
    return status;
}

/* A gradient for value v: the first, or one more. */
static ebb_status come_add(ebb_sweep *s, ebb_id v, ebb_datum *given) {
    ebb_datum *made[EBB_MAX_RESULTS], *dy = given ? ebb_datum_hold(given) : NULL;
    ebb_status status = EBB_OK;
    if (!dy) status = ones_make(s, &s->tape->values.at[v].type, &dy);
    if (!status && s->come[v]) {
        ebb_datum *terms[] = {s->come[v], dy};
        status = ebb_apply_data(s->tape->eager, &ebb_op_add, terms, 2, NULL, 0, 0, made);
        ebb_datum_drop(s->tape->eager, dy);
        dy = status ? NULL : made[0];
    }
    if (status) return status;
    ebb_datum_drop(s->tape->eager, s->come[v]);
    s->come[v] = dy;
    return EBB_OK;
}

static ebb_status ys_seed(ebb_sweep *s, ebb_tensor *const *ys, ebb_tensor *const *dys, uint32_t n_y) {
    const ebb_tape *tape = s->tape;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; !status && i < n_y; i++) {
        const ebb_id v = ebb_tape_find(tape, ys[i]->datum->serial);
        ebb_datum *dy = dys && dys[i] ? dys[i]->datum : NULL;
        if (v == EBB_NONE || !s->wanted[v]) continue;
        if (dy && !ebb_type_equal(&dy->type, &tape->values.at[v].type)) {
            char is[EBB_TYPE_TEXT], due[EBB_TYPE_TEXT];
            return ebb_fail(tape->eager->env, EBB_BAD_INPUT, "the gradient given for y %u is %s, not %s", i,
                            ebb_type_text(&dy->type, is), ebb_type_text(&tape->values.at[v].type, due));
        }
        status = come_add(s, v, dy);
    }
    return status;
}

ebb_status ebb_sweep_create(ebb_tape *tape, ebb_tensor *const *ys, ebb_tensor *const *dys, uint32_t n_y,
                            ebb_tensor *const *of, uint32_t n_of, ebb_sweep **out) {
    ebb_env *env = tape->eager->env;
    const uint32_t n = (uint32_t)tape->values.n;
    ebb_sweep *s = *out = ebb_calloc(env, 1, sizeof *s);
    if (!s) return EBB_NO_MEMORY;
    *s = (ebb_sweep){.tape = tape, .eager = tape->eager, .n_values = n, .at = (uint32_t)tape->nodes.n};
    ebb_arena_init(&s->arena, env);
    s->come = EBB_NEW(&s->arena, ebb_datum *, n);
    s->wanted = EBB_NEW(&s->arena, bool, n);
    s->asked = EBB_NEW(&s->arena, bool, n);
    s->as = EBB_NEW(&s->arena, ebb_id, n);
    ebb_status status = s->come && s->wanted && s->asked && s->as ? EBB_OK : EBB_NO_MEMORY;
    if (!status) status = ebb_tape_ends_check(tape, ys, dys, n_y, of, n_of);
    for (uint32_t i = 0; !status && i < n_of; i++) {
        const ebb_id v = ebb_tape_find(tape, of[i]->datum->serial);
        if (v != EBB_NONE) s->wanted[v] = s->asked[v] = ebb_dtype_real(tape->values.at[v].type.dtype);
    }
    const bool paused = tape->paused;
    tape->paused = true;
    if (!status) wanted_spread(s);
    if (!status) status = ys_seed(s, ys, dys, n_y);
    tape->paused = paused;
    if (!status) return EBB_OK;
    ebb_sweep_destroy(s);
    *out = NULL;
    return status;
}

void ebb_sweep_destroy(ebb_sweep *s) {
    if (!s) return;
    ebb_eager *eager = s->eager;
    for (uint32_t v = 0; s->come && v < s->n_values; v++) ebb_datum_drop(eager, s->come[v]);
    ebb_arena_deinit(&s->arena);
    ebb_cfree(eager->env, s, 1, sizeof *s);
}

/* ---- a piece -------------------------------------------------------------------------------- */

typedef struct piece {
    ebb_arena arena;
    ebb_builder *b;
    ebb_graph *forward, *whole;
    ebb_id *of; /* the tape's value of each of the graph's that is one */
    ebb_id *ys, *dys, *wrt, *grads;
    ebb_id *wrt_of; /* the tape's */
    uint32_t n_of, n_y, n_wrt;
    ebb_datum **values;
    bool *kept;
} piece;

static ebb_id value_id(ebb_sweep *s, piece *p, ebb_id v) {
    if (s->as[v] != EBB_NONE) return s->as[v];
    const ebb_type *type = &s->tape->values.at[v].type;
    p->of[p->n_of++] = v;
    return s->as[v] = ebb_builder_given(p->b, NULL, EBB_ROLE_INPUT, type, EBB_INIT_ZERO, 0);
}

static void nodes_build(ebb_sweep *s, piece *p, uint32_t first) {
    const ebb_tape *tape = s->tape;
    for (uint32_t n = first; n < s->at; n++) {
        const ebb_taped *node = &tape->nodes.at[n];
        ebb_id in[EBB_MAX_OPERANDS];
        for (uint32_t i = 0; i < node->n_in; i++) in[i] = value_id(s, p, tape->operands.at[node->in + i]);
        const ebb_id *out = ebb_builder_node(p->b, node->op, in, node->n_in, node->attr, NULL, EBB_FORWARD,
                                             node->op->effect == EBB_SEEDED ? EBB_DRAW_KEY(node->draw) : 0);
        for (uint32_t i = 0; i < node->op->n_out; i++) {
            s->as[node->out + i] = out[i];
            p->of[p->n_of++] = node->out + i;
        }
    }
}

/* Values of the piece that have a gradient are its ys; those made before it, and those that are asked for,
 * are what it differentiates by. */
static void ends_find(ebb_sweep *s, piece *p, uint32_t first) {
    for (uint32_t i = 0; i < p->n_of; i++) {
        const ebb_taped_value *value = &s->tape->values.at[p->of[i]];
        if (!s->wanted[p->of[i]]) continue;
        if (s->come[p->of[i]]) {
            p->ys[p->n_y] = s->as[p->of[i]];
            p->dys[p->n_y++] =
                ebb_builder_given(p->b, NULL, EBB_ROLE_INPUT, &value->type, EBB_INIT_ZERO, 0);
        }
        if (value->maker != EBB_NONE && value->maker >= first && !s->asked[p->of[i]]) continue;
        p->wrt_of[p->n_wrt] = p->of[i];
        p->wrt[p->n_wrt++] = s->as[p->of[i]];
    }
}

static ebb_status piece_build(ebb_sweep *s, piece *p, uint32_t first) {
    ebb_env *env = s->tape->eager->env;
    const size_t n = s->n_values;
    p->of = EBB_NEW(&p->arena, ebb_id, n);
    p->ys = EBB_NEW(&p->arena, ebb_id, n);
    p->dys = EBB_NEW(&p->arena, ebb_id, n);
    p->wrt = EBB_NEW(&p->arena, ebb_id, n);
    p->wrt_of = EBB_NEW(&p->arena, ebb_id, n);
    p->grads = EBB_NEW(&p->arena, ebb_id, n);
    if (!p->of || !p->ys || !p->dys || !p->wrt || !p->wrt_of || !p->grads) return EBB_NO_MEMORY;
    for (size_t v = 0; v < n; v++) s->as[v] = EBB_NONE;
    ebb_status status = ebb_builder_create(env, "piece", &p->b);
    if (status) return status;
    nodes_build(s, p, first);
    ends_find(s, p, first);
    status = ebb_builder_seal(p->b, &p->forward);
    if (!status)
        status = ebb_grad_of(env, p->forward, p->ys, p->dys, p->n_y, p->wrt, p->n_wrt, p->grads, &p->whole);
    return status;
}

static ebb_status piece_run(ebb_sweep *s, piece *p) {
    ebb_tape *tape = s->tape;
    p->values = EBB_NEW(&p->arena, ebb_datum *, p->whole->n_values);
    p->kept = EBB_NEW(&p->arena, bool, p->whole->n_values);
    if (!p->values || !p->kept) return EBB_NO_MEMORY;
    uint32_t y = 0;
    for (uint32_t i = 0; i < p->n_of; i++) {
        const ebb_id v = p->of[i];
        ebb_datum *datum = tape->values.at[v].datum;
        if (datum) p->values[s->as[v]] = ebb_datum_hold(datum);
        if (s->wanted[v] && s->come[v]) p->values[p->dys[y++]] = ebb_datum_hold(s->come[v]);
    }
    for (uint32_t i = 0; i < p->n_wrt; i++) {
        if (p->grads[i] != EBB_NONE) p->kept[p->grads[i]] = true;
    }
    return ebb_tape_play(tape, p->whole, p->forward->n_nodes, p->values, p->kept);
}

/* What was made by the piece has had its gradient; what it reads has what has come. */
static void come_take(ebb_sweep *s, const piece *p) {
    ebb_eager *eager = s->tape->eager;
    for (uint32_t i = 0; i < p->n_of; i++) {
        if (!s->wanted[p->of[i]]) continue;
        ebb_datum_drop(eager, s->come[p->of[i]]);
        s->come[p->of[i]] = NULL;
    }
    for (uint32_t i = 0; i < p->n_wrt; i++) {
        if (p->grads[i] != EBB_NONE) s->come[p->wrt_of[i]] = ebb_datum_hold(p->values[p->grads[i]]);
    }
}

ebb_status ebb_sweep_back(ebb_sweep *s, uint32_t n_nodes) {
    ebb_eager *eager = s->tape->eager;
    piece p = {.b = NULL};
    if (n_nodes >= s->at) return EBB_OK;
    ebb_arena_init(&p.arena, eager->env);
    ebb_status status = piece_build(s, &p, n_nodes);
    if (!status) status = piece_run(s, &p);
    if (!status) come_take(s, &p);
    if (!status) s->at = n_nodes;
    for (uint32_t i = 0; p.values && i < p.whole->n_values; i++) ebb_datum_drop(eager, p.values[i]);
    ebb_graph_destroy(p.whole);
    ebb_graph_destroy(p.forward);
    ebb_arena_deinit(&p.arena);
    return status;
}

/* ---- between pieces ------------------------------------------------------------------------- */

/* The tensor's value on the tape, of those that it had when the sweep began; EBB_NONE: it has none. */
static ebb_status value_find(const ebb_sweep *s, const ebb_tensor *tensor, ebb_id *v) {
    *v = ebb_tape_find(s->tape, tensor->datum->serial);
    if (*v == EBB_NONE || *v < s->n_values) return EBB_OK;
    *v = EBB_NONE;
    return ebb_fail(s->tape->eager->env, EBB_USAGE, "a value that was recorded after the sweep began");
}

ebb_status ebb_sweep_get(const ebb_sweep *s, const ebb_tensor *tensor, ebb_tensor **out) {
    ebb_id v;
    *out = NULL;
    const ebb_status status = value_find(s, tensor, &v);
    if (status != EBB_OK || v == EBB_NONE || !s->come[v]) return status;
    *out = ebb_tensor_of(s->tape->eager, ebb_datum_hold(s->come[v]));
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_sweep_set(ebb_sweep *s, const ebb_tensor *tensor, const ebb_tensor *gradient) {
    ebb_id v;
    const ebb_status status = value_find(s, tensor, &v);
    if (status != EBB_OK) return status;
    if (v == EBB_NONE || gradient->eager != s->tape->eager ||
        !ebb_type_equal(&gradient->datum->type, &s->tape->values.at[v].type))
        return ebb_fail(
            s->tape->eager->env, EBB_USAGE,
            "a gradient is put where the tape has a value of its type, and is the tape's eager's");
    ebb_datum *before = s->come[v];
    s->come[v] = ebb_datum_hold(gradient->datum);
    ebb_datum_drop(s->tape->eager, before);
    return EBB_OK;
}
