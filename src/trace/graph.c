/* A segment of a recording as a graph. Its values are named after the recording's, by which they are found
 * again behind passes that renumber. */
#include "trace/trace.h"

#include <stdio.h>

/* ---- a graph in the making ------------------------------------------------------------------ */

typedef struct draft {
    ebb_env *env;
    const ebb_recorded *r;
    uint32_t begin, end;
    bool constants;
    bool algebra, fuse; /* still to be done, before the first backward or at the end */
    ebb_arena arena;
    ebb_builder *b;
    ebb_id *at;       /* [values] in the graph, or EBB_NONE */
    uint8_t *phase;   /* [values] ebb_phase */
    bool *read_after; /* [values] by entries behind the first backward */
    bool *updated;    /* [values] an entry updates it */
    bool *viewed;     /* [values] a view of it is an output */
    bool *apart;      /* [entries] an update with bytes of its own */
    bool *assigned;   /* [values] it is written over what a captured tensor was */
} draft;

/* Is the value made by an op of these entries? */
static bool is_made(const draft *d, uint32_t v) {
    const ebb_traced_value *value = &d->r->values.at[v];
    return !ebb_value_given(d->r, v) && value->at >= d->begin && value->at < d->end;
}

static ebb_id operand(draft *d, uint32_t v) {
    const ebb_traced_value *value = &d->r->values.at[v];
    char name[EBB_TRACE_NAME];
    if (d->at[v] != EBB_NONE) return d->at[v];
    const bool stays = value->source == EBB_SOURCE_CAPTURED || d->updated[v] ||
                       (value->source == EBB_SOURCE_ARGUMENT && d->r->arguments_stay);
    const bool constant = d->constants && value->source == EBB_SOURCE_ENTRY;
    const ebb_role role = stays || constant ? EBB_ROLE_PARAM : EBB_ROLE_INPUT;
    return d->at[v] = ebb_builder_given(d->b, ebb_traced_name(d->r, v, name), role, &value->type,
                                        EBB_INIT_ZERO, 0);
}

/* Of the latest operand; an update behind a backward is the update phase's. */
static ebb_phase phase_of(const draft *d, const ebb_entry *entry) {
    uint8_t phase = EBB_FORWARD;
    for (uint32_t i = 0; i < entry->n_in; i++) {
        const uint32_t v = d->r->operands.at[entry->in + i];
        if (v != EBB_NONE && d->phase[v] > phase) phase = d->phase[v];
    }
    return (ebb_phase)(phase == EBB_BACKWARD && entry->op && entry->op->n_update ? EBB_UPDATE : phase);
}

/* An update of a copy: of what is computed. maximum(x, x) is x, of any number and shape. */
static void targets_copy(draft *d, const ebb_entry *entry, ebb_phase phase, const char *const *results,
                         ebb_id *in) {
    for (uint32_t u = 0; u < entry->op->n_update; u++) {
        ebb_id *at = &in[entry->op->update[u].in];
        char text[EBB_TRACE_NAME + 8];
        const char *name = text;
        (void)snprintf(text, sizeof text, "%s.copy", results[entry->op->update[u].out]);
        *at = ebb_builder_node(d->b, &ebb_op_maximum, (ebb_id[]){*at, *at}, 2, NULL, &name, phase, 0)[0];
    }
}

static void op_add(draft *d, const ebb_entry *entry) {
    ebb_id in[EBB_MAX_OPERANDS];
    char text[EBB_MAX_RESULTS][EBB_TRACE_NAME];
    const char *names[EBB_MAX_RESULTS];
    const ebb_phase phase = phase_of(d, entry);
    for (uint32_t i = 0; i < entry->n_in; i++) in[i] = operand(d, d->r->operands.at[entry->in + i]);
    for (uint32_t i = 0; i < entry->n_out; i++) names[i] = ebb_traced_name(d->r, entry->out + i, text[i]);
    if (d->apart[entry - d->r->entries.at - d->begin]) targets_copy(d, entry, phase, names, in);
    const ebb_id *out = ebb_builder_node(d->b, entry->op, in, entry->n_in, entry->attr, names, phase,
                                         EBB_DRAW_KEY(entry->draw));
    for (uint32_t i = 0; i < entry->n_out; i++) {
        d->at[entry->out + i] = out[i];
        d->phase[entry->out + i] = (uint8_t)phase;
    }
}

/* ---- passes on the way ---------------------------------------------------------------------- */

/* Where the values are in a graph that a pass has renumbered. */
static void find_again(draft *d, const ebb_graph *graph) {
    for (uint32_t v = 0; v < d->r->values.n; v++) d->at[v] = EBB_NONE;
    for (ebb_id id = 0; id < graph->n_values; id++) {
        const uint32_t v = ebb_traced_find(d->r, graph->values[id].name);
        if (v != EBB_NONE) d->at[v] = id;
    }
}

/* Names that fusing must leave: what is read from outside of the forward part. */
static ebb_status names_kept(draft *d, const char ***names, uint32_t *n) {
    *names = EBB_NEW(&d->arena, const char *, d->r->values.n);
    *n = 0;
    if (!*names) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < d->r->values.n; v++) {
        char name[EBB_TRACE_NAME];
        const ebb_traced_value *value = &d->r->values.at[v];
        if (d->at[v] == EBB_NONE || !is_made(d, v) || !(value->output || d->read_after[v])) continue;
        (*names)[*n] = ebb_arena_text(&d->arena, ebb_traced_name(d->r, v, name));
        if (!(*names)[(*n)++]) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

static ebb_status lower_and_fuse(draft *d, ebb_graph **graph) {
    ebb_graph *lowered = NULL, *fused = NULL;
    const char **names;
    uint32_t n;
    ebb_status status = names_kept(d, &names, &n);
    if (!status) status = ebb_lower(d->env, *graph, EBB_TRAIN, &lowered);
    if (!status) status = ebb_fuse(d->env, lowered, names, n, &fused);
    ebb_graph_destroy(lowered);
    if (status) return status;
    ebb_graph_destroy(*graph);
    *graph = fused;
    return EBB_OK;
}

/* What is done once: before the first backward, or at the end. */
static ebb_status forward_finish(draft *d, ebb_graph **graph) {
    ebb_graph *exact = *graph;
    ebb_status status = EBB_OK;
    if (!d->algebra && !d->fuse) return EBB_OK;
    if (d->algebra) status = ebb_algebra(d->env, exact, graph);
    if (!status && d->algebra) ebb_graph_destroy(exact);
    if (status) *graph = exact;
    if (!status && d->fuse) status = lower_and_fuse(d, graph);
    d->algebra = d->fuse = false;
    if (!status) find_again(d, *graph);
    return status;
}

/* ---- backward ------------------------------------------------------------------------------- */

/* An output must have its name; a gradient is a view of what the pass named. */
static void gradient_name(draft *d, uint32_t v, ebb_id grad) {
    const ebb_traced_value *value = &d->r->values.at[v];
    char name[EBB_TRACE_NAME];
    const char *names[] = {ebb_traced_name(d->r, v, name)};
    ebb_attr shape[EBB_MAX_ATTRS] = {{.i = {0}}};
    d->at[v] = grad;
    if (!value->output) return;
    for (uint32_t k = 0; k < value->type.rank; k++) shape[0].i[k] = value->type.dim[k];
    d->at[v] =
        ebb_builder_node(d->b, &ebb_op_reshape, &grad, 1, shape, names, (ebb_phase)d->phase[v], 0)[0];
}

/* The backward of a sealed graph, and a builder that goes on behind it. */
static ebb_status differentiate(draft *d, const ebb_entry *entry, const ebb_graph *graph) {
    const uint32_t n_of = entry->n_out, n_y = entry->n_y, *in = d->r->operands.at + entry->in;
    ebb_id *ids = EBB_NEW(&d->arena, ebb_id, 2 * (size_t)n_y + 2 * (size_t)n_of);
    ebb_graph *whole = NULL;
    if (!ids) return EBB_NO_MEMORY;
    const uint32_t *of = in + 2 * (size_t)n_y;
    ebb_id *wrt = ids + 2 * (size_t)n_y, *grads = wrt + n_of;
    uint32_t n_wrt = 0;
    for (uint32_t i = 0; i < 2 * n_y; i++) ids[i] = in[i] == EBB_NONE ? EBB_NONE : d->at[in[i]];
    for (uint32_t i = 0; i < n_of; i++)
        if (of[i] != EBB_NONE) wrt[n_wrt++] = d->at[of[i]];
    ebb_status status = ebb_grad_of(d->env, graph, ids, ids + n_y, n_y, wrt, n_wrt, grads, &whole);
    if (!status) status = ebb_builder_reopen(d->env, whole, &d->b);
    for (uint32_t i = 0, k = 0; !status && i < n_of; i++) {
        const uint32_t v = entry->out + i;
        const ebb_id grad = of[i] == EBB_NONE ? EBB_NONE : grads[k++];
        if (d->r->values.at[v].missing) continue;
        if (grad == EBB_NONE)
            status =
                ebb_fail(d->env, EBB_BAD_INPUT, "a gradient that came when it was recorded comes no more");
        const ebb_phase made = status || whole->values[grad].producer == EBB_NONE
                                   ? EBB_BACKWARD
                                   : whole->nodes[whole->values[grad].producer].phase;
        d->phase[v] = (uint8_t)made;
        if (!status) gradient_name(d, v, grad);
    }
    ebb_graph_destroy(whole);
    return status;
}

static ebb_status backward_add(draft *d, const ebb_entry *entry) {
    ebb_graph *graph = NULL;
    for (uint32_t i = 0; i < entry->n_in; i++) {
        const uint32_t v = d->r->operands.at[entry->in + i];
        if (v != EBB_NONE) operand(d, v);
    }
    ebb_status status = ebb_builder_seal(d->b, &graph);
    d->b = NULL;
    if (!status) status = forward_finish(d, &graph);
    if (!status) status = differentiate(d, entry, graph);
    ebb_graph_destroy(graph);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static ebb_status tables_make(draft *d) {
    const size_t n = d->r->values.n;
    d->at = EBB_NEW(&d->arena, ebb_id, n);
    d->phase = EBB_NEW(&d->arena, uint8_t, n);
    d->read_after = EBB_NEW(&d->arena, bool, n);
    d->updated = EBB_NEW(&d->arena, bool, n);
    d->assigned = EBB_NEW(&d->arena, bool, n);
    if (!d->at || !d->phase || !d->read_after || !d->updated || !d->assigned) return EBB_NO_MEMORY;
    for (size_t v = 0; v < n; v++) d->at[v] = EBB_NONE;
    const ebb_status status = ebb_updates_apart(&d->arena, d->r, d->begin, d->end, &d->apart, &d->viewed);
    if (status) return status;
    bool behind = false;
    for (uint32_t e = d->begin; e < d->end; e++) {
        const ebb_entry *entry = &d->r->entries.at[e];
        for (uint32_t u = 0; entry->op && !d->apart[e - d->begin] && u < entry->op->n_update; u++)
            d->updated[d->r->operands.at[entry->in + entry->op->update[u].in]] = true;
        behind = behind || entry->kind == EBB_ENTRY_BACKWARD;
        for (uint32_t i = 0; behind && i < entry->n_in; i++) {
            const uint32_t v = d->r->operands.at[entry->in + i];
            if (v != EBB_NONE) d->read_after[v] = true;
        }
    }
    return EBB_OK;
}

/* What a captured tensor is in the end is written over what it was, where an op of the graph has not done
 * so: its place stays. The result is named after the value, which then need not be an output. */
static ebb_status assignments_add(draft *d) {
    const ebb_recorded *r = d->r;
    uint32_t *last = EBB_NEW(&d->arena, uint32_t, r->captured.n);
    if (!last) return EBB_NO_MEMORY;
    for (uint32_t c = 0; c < r->captured.n; c++) last[c] = EBB_NONE;
    for (uint32_t e = d->begin; e < d->end; e++) {
        const ebb_entry *entry = &r->entries.at[e];
        if (entry->kind == EBB_ENTRY_ASSIGN) last[entry->captured] = r->operands.at[entry->in];
    }
    for (uint32_t c = 0; c < r->captured.n; c++) {
        const uint32_t was = r->captured.at[c].value, is = last[c];
        if (is == EBB_NONE || was == EBB_NONE || d->viewed[was] || d->at[was] == EBB_NONE ||
            d->updated[was] || !is_made(d, is) || d->assigned[is])
            continue;
        char name[EBB_TRACE_NAME];
        const char *names[] = {name};
        (void)snprintf(name, sizeof name, "v%u.assigned", is);
        ebb_builder_node(d->b, &ebb_op_assign, (ebb_id[]){d->at[was], d->at[is]}, 2, NULL, names,
                         (ebb_phase)d->phase[is], 0);
        d->assigned[is] = d->updated[was] = true;
    }
    return EBB_OK;
}

/* Given values and what updates them are read as they are. */
static void outputs_mark(draft *d) {
    for (uint32_t v = 0; v < d->r->values.n; v++) {
        const ebb_traced_value *value = &d->r->values.at[v];
        if (!value->output || d->at[v] == EBB_NONE || !is_made(d, v) || d->assigned[v]) continue;
        const ebb_entry *entry = &d->r->entries.at[value->at];
        bool updates = false;
        for (uint32_t u = 0; entry->op && u < entry->op->n_update; u++)
            updates =
                updates || (!d->apart[value->at - d->begin] && entry->out + entry->op->update[u].out == v &&
                            !is_made(d, d->r->operands.at[entry->in + entry->op->update[u].in]));
        if (!updates) ebb_builder_output(d->b, d->at[v]);
    }
}

static ebb_status entries_add(draft *d) {
    ebb_status status = ebb_builder_create(d->env, "trace", &d->b);
    for (uint32_t e = d->begin; !status && e < d->end; e++) {
        const ebb_entry *entry = &d->r->entries.at[e];
        if (entry->kind == EBB_ENTRY_OP) op_add(d, entry);
        if (entry->kind == EBB_ENTRY_BACKWARD) status = backward_add(d, entry);
    }
    return status;
}

ebb_status ebb_segment_graph(ebb_env *env, const ebb_recorded *recorded, const ebb_segment *segment,
                             uint32_t form, bool constants, ebb_graph **out) {
    const bool fused = form & EBB_SEGMENT_FUSED;
    draft d = {.env = env,
               .r = recorded,
               .begin = segment->begin,
               .end = segment->end,
               .constants = constants,
               .algebra = form & EBB_SEGMENT_ALGEBRA,
               .fuse = fused};
    *out = NULL;
    ebb_arena_init(&d.arena, env);
    ebb_status status = tables_make(&d);
    if (!status) status = entries_add(&d);
    if (!status && fused) status = assignments_add(&d);
    if (!status) {
        outputs_mark(&d);
        status = ebb_builder_seal(d.b, out);
        d.b = NULL;
    }
    if (!status) status = forward_finish(&d, out);
    if (status) ebb_graph_destroy(*out), *out = NULL;
    ebb_builder_destroy(d.b);
    ebb_arena_deinit(&d.arena);
    return status;
}
