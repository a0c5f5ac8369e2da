/* Takes a draft, gives a sealed planning graph. Requires nothing: every rule of ebb.graph/1 is checked
 * here, for drafts of ours and of strangers alike. Cost: O(values + edges). */
#include "graph/planning/planning.h"

#include <stdarg.h>
#include <stdio.h>

enum { IS_VIEW = 1, IS_UPDATE };

typedef struct sealer {
    ebb_env *env;
    const char *where;
    ebb_pvalue *values;
    ebb_pop *ops;
    uint32_t n_values, n_ops;
    ebb_id *root;         /* per value: the end of its chain of views, itself when it is none */
    ebb_id *updated_by;   /* per value: the op that replaces its bytes, or EBB_NONE */
    uint32_t *view_stamp; /* per root: op + 1 when the op in hand has a view of its bytes */
    uint8_t *bound;       /* per value: IS_VIEW or IS_UPDATE when its bytes are not its own */
    uint32_t *base_stamp; /* per input position: op + 1 when the op in hand has a view or update of it */
    int64_t bytes, time_ns;
} sealer;

void ebb_pgraph_place(char place[EBB_PLACE_BYTES], const char *where, const char *list, size_t i,
                      const char *name) {
    (void)snprintf(place, EBB_PLACE_BYTES, "%.160s: %s[%zu] \"%.80s\"", where, list, i, name ? name : "");
}

ebb_status ebb_pgraph_id_fault(ebb_env *env, const char *place, const char *list, size_t i, int64_t id,
                               const char *what, size_t n) {
    if (n == 0)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s[%zu] = %lld is not %s (there is none)", place, list, i,
                        (long long)id, what);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s[%zu] = %lld is not %s (0..%zu)", place, list, i,
                    (long long)id, what, n - 1);
}

EBB_PRINTF(3, 4) static ebb_status op_fault(const sealer *s, ebb_id op, const char *format, ...) {
    char place[EBB_PLACE_BYTES], fault[512];
    ebb_pgraph_place(place, s->where, "ops", op, s->ops[op].name);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fault, sizeof fault, format, args);
    va_end(args);
    return ebb_fail(s->env, EBB_BAD_INPUT, "%s: %s", place, fault);
}

EBB_PRINTF(3, 4) static ebb_status value_fault(const sealer *s, ebb_id value, const char *format, ...) {
    char place[EBB_PLACE_BYTES], fault[512];
    ebb_pgraph_place(place, s->where, "values", value, s->values[value].name);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fault, sizeof fault, format, args);
    va_end(args);
    return ebb_fail(s->env, EBB_BAD_INPUT, "%s: %s", place, fault);
}

static ebb_status id_fault(const sealer *s, ebb_id op, const char *list, size_t i, ebb_id id,
                           const char *what, size_t n) {
    char place[EBB_PLACE_BYTES];
    ebb_pgraph_place(place, s->where, "ops", op, s->ops[op].name);
    return ebb_pgraph_id_fault(s->env, place, list, i, id, what, n);
}

static bool given_role(ebb_role role) {
    return role == EBB_ROLE_INPUT || ebb_role_persistent(role);
}

/* Names that the maker left out. */
static const char *name_or(ebb_arena *arena, const char *name, const char *stem, uint32_t id) {
    if (name != NULL) return name;
    char text[32];
    (void)snprintf(text, sizeof text, "%s%u", stem, id);
    return ebb_arena_text(arena, text);
}

static ebb_status check_values(sealer *s) {
    for (ebb_id v = 0; v < s->n_values; v++) {
        ebb_pvalue *value = &s->values[v];
        value->producer = EBB_NONE;
        value->result = 0;
        s->root[v] = v;
        s->updated_by[v] = EBB_NONE;
        if (ebb_role_name(value->role) == NULL)
            return value_fault(s, v, "role %d is unknown", (int)value->role);
        if (value->bytes < 0) return value_fault(s, v, "bytes = %lld is negative", (long long)value->bytes);
        if (!ebb_add_i64(s->bytes, value->bytes, &s->bytes))
            return value_fault(s, v, "bytes = %lld: the sum of all sizes does not fit in 63 bits",
                               (long long)value->bytes);
    }
    return EBB_OK;
}

static ebb_status note_producers(sealer *s) {
    for (ebb_id i = 0; i < s->n_ops; i++)
        for (uint32_t k = 0; k < s->ops[i].n_out; k++) {
            ebb_id v = s->ops[i].out[k];
            if (v >= s->n_values) return id_fault(s, i, "outputs", k, v, "a value", s->n_values);
            if (s->values[v].producer != EBB_NONE)
                return op_fault(s, i, "outputs[%u] = %u \"%.80s\" is already made by ops[%u] \"%.80s\"", k,
                                v, s->values[v].name, s->values[v].producer,
                                s->ops[s->values[v].producer].name);
            s->values[v].producer = i;
            s->values[v].result = k;
        }
    return EBB_OK;
}

/* A list of values that op reads, by itself or under an alternative. */
static ebb_status check_reads(const sealer *s, ebb_id op, const char *list, const ebb_id *in, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        ebb_id v = in[k];
        if (v >= s->n_values) return id_fault(s, op, list, k, v, "a value", s->n_values);
        const ebb_pvalue *value = &s->values[v];
        if (value->producer == EBB_NONE && !given_role(value->role))
            return op_fault(s, op, "%s[%u] = %u \"%.80s\" has role %s, but no op makes it", list, k, v,
                            value->name, ebb_role_name(value->role));
        if (value->producer != EBB_NONE && value->producer >= op)
            return op_fault(s, op, "%s[%u] = %u \"%.80s\" is read before ops[%u] \"%.80s\" makes it", list,
                            k, v, value->name, value->producer, s->ops[value->producer].name);
        ebb_id update = s->updated_by[s->root[v]];
        if (update < op) /* an op may read what it updates itself */
            return op_fault(s, op,
                            "%s[%u] = %u \"%.80s\" is read after ops[%u] \"%.80s\" updated its bytes", list,
                            k, v, value->name, update, s->ops[update].name);
    }
    return EBB_OK;
}

static ebb_status check_in_place(const sealer *s, ebb_id op, const char *list, const ebb_pair *pairs,
                                 uint32_t n, uint32_t n_in) {
    for (uint32_t k = 0; k < n; k++) {
        if (pairs[k].out >= s->ops[op].n_out)
            return op_fault(s, op, "%s[%u] = [%u, %u]: the op has %u outputs", list, k, pairs[k].out,
                            pairs[k].in, s->ops[op].n_out);
        if (pairs[k].in >= n_in)
            return op_fault(s, op, "%s[%u] = [%u, %u]: the op has %u inputs", list, k, pairs[k].out,
                            pairs[k].in, n_in);
    }
    return EBB_OK;
}

/* Positions of one view or update: in range, and the output not bound before. */
static ebb_status bind_output(sealer *s, ebb_id op, uint8_t what, uint32_t k, uint32_t out, uint32_t in) {
    const char *list = what == IS_VIEW ? "views" : "update";
    const ebb_pop *o = &s->ops[op];
    if (out >= o->n_out)
        return op_fault(s, op, "%s[%u]: output position %u, but the op has %u outputs", list, k, out,
                        o->n_out);
    if (in >= o->n_in)
        return op_fault(s, op, "%s[%u]: input position %u, but the op has %u inputs", list, k, in, o->n_in);
    if (s->bound[o->out[out]] != 0)
        return op_fault(s, op, "%s[%u]: output %u is a view or an update already", list, k, out);
    s->bound[o->out[out]] = what;
    s->base_stamp[in] = op + 1;
    return EBB_OK;
}

static ebb_status check_views(sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    for (uint32_t k = 0; k < o->n_views; k++) {
        ebb_view view = o->views[k];
        ebb_status status = bind_output(s, op, IS_VIEW, k, view.out, view.in);
        if (status != EBB_OK) return status;
        int64_t base_bytes = s->values[o->in[view.in]].bytes, bytes = s->values[o->out[view.out]].bytes;
        if (view.offset_bytes < 0 || bytes > base_bytes || view.offset_bytes > base_bytes - bytes)
            return op_fault(s, op,
                            "views[%u]: %lld bytes at offset %lld do not lie within the input's %lld", k,
                            (long long)bytes, (long long)view.offset_bytes, (long long)base_bytes);
        s->root[o->out[view.out]] = s->root[o->in[view.in]];
        s->view_stamp[s->root[o->in[view.in]]] = op + 1;
    }
    return EBB_OK;
}

/* Which view of the op shows these bytes: only asked when one does and must not. */
static uint32_t first_view(const sealer *s, ebb_id op, ebb_id root) {
    const ebb_pop *o = &s->ops[op];
    uint32_t k = 0;
    while (s->root[o->in[o->views[k].in]] != root) k++;
    return k;
}

static ebb_status check_updates(sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    for (uint32_t k = 0; k < o->n_update; k++) {
        ebb_status status = bind_output(s, op, IS_UPDATE, k, o->update[k].out, o->update[k].in);
        if (status != EBB_OK) return status;
        ebb_id old = o->in[o->update[k].in], now = o->out[o->update[k].out];
        const ebb_pvalue *a = &s->values[old], *b = &s->values[now];
        if (a->role != EBB_ROLE_PARAM && a->role != EBB_ROLE_STATE)
            return op_fault(s, op,
                            "update[%u]: \"%.80s\" has role %s; only a param or a state can be updated", k,
                            a->name, ebb_role_name(a->role));
        if (a->role != b->role || a->bytes != b->bytes)
            return op_fault(
                s, op, "update[%u]: \"%.80s\" (%s, %lld bytes) cannot replace \"%.80s\" (%s, %lld bytes)",
                k, b->name, ebb_role_name(b->role), (long long)b->bytes, a->name, ebb_role_name(a->role),
                (long long)a->bytes);
        if (s->updated_by[old] != EBB_NONE)
            return op_fault(s, op, "update[%u]: \"%.80s\" is updated by ops[%u] \"%.80s\" already", k,
                            a->name, s->updated_by[old], s->ops[s->updated_by[old]].name);
        if (s->view_stamp[s->root[old]] == op + 1)
            return op_fault(s, op, "views[%u] shows \"%.80s\", whose bytes update[%u] takes in the same op",
                            first_view(s, op, s->root[old]), a->name, k);
        s->updated_by[old] = op;
    }
    return EBB_OK;
}

/* Given roles come out of updates only. */
static ebb_status check_made_roles(const sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    for (uint32_t k = 0; k < o->n_out; k++) {
        const ebb_pvalue *value = &s->values[o->out[k]];
        if (given_role(value->role) && s->bound[o->out[k]] != IS_UPDATE)
            return op_fault(
                s, op, "outputs[%u] = %u \"%.80s\" has role %s, which is given; only an update makes one",
                k, o->out[k], value->name, ebb_role_name(value->role));
    }
    return EBB_OK;
}

static ebb_status check_alternative(sealer *s, ebb_id op, uint32_t k, uint32_t own_max_in, int64_t *most_ns,
                                    int64_t *most_scratch) {
    const ebb_pop *o = &s->ops[op];
    const ebb_alternative *a = &o->alternatives[k];
    uint32_t n_in = a->has_inputs ? a->n_in : o->n_in;
    if (a->time_ns < 0 || a->scratch_bytes < 0)
        return op_fault(s, op,
                        "alternatives[%u]: time_ns = %lld, scratch_bytes = %lld: neither may be negative",
                        k, (long long)a->time_ns, (long long)a->scratch_bytes);
    *most_ns = ebb_max_i64(*most_ns, a->time_ns);
    *most_scratch = ebb_max_i64(*most_scratch, a->scratch_bytes);
    char list[48];
    ebb_status status = EBB_OK;
    if (a->has_in_place) {
        (void)snprintf(list, sizeof list, "alternatives[%u].in_place", k);
        status = check_in_place(s, op, list, a->in_place, a->n_in_place, n_in);
    } else if (o->n_in_place > 0 && own_max_in >= n_in) {
        return op_fault(s, op,
                        "alternatives[%u] has %u inputs, but takes the op's in_place, which names input %u",
                        k, n_in, own_max_in);
    }
    if (status != EBB_OK || !a->has_inputs) return status;
    (void)snprintf(list, sizeof list, "alternatives[%u].inputs", k);
    status = check_reads(s, op, list, a->in, a->n_in);
    if (status != EBB_OK) return status;
    /* What a view or an update stands on is the op's, whichever way it is done. */
    for (uint32_t i = 0; i < o->n_in; i++)
        if (s->base_stamp[i] == op + 1 && (i >= n_in || a->in[i] != o->in[i]))
            return op_fault(s, op,
                            "%s: position %u must stay %u \"%.80s\", which a view or an update stands on",
                            list, i, o->in[i], s->values[o->in[i]].name);
    return EBB_OK;
}

static ebb_status check_alternatives(sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    uint32_t own_max_in = 0;
    for (uint32_t k = 0; k < o->n_in_place; k++)
        own_max_in = o->in_place[k].in > own_max_in ? o->in_place[k].in : own_max_in;
    int64_t most_ns = o->time_ns, most_scratch = o->scratch_bytes;
    for (uint32_t k = 0; k < o->n_alternatives; k++) {
        ebb_status status = check_alternative(s, op, k, own_max_in, &most_ns, &most_scratch);
        if (status != EBB_OK) return status;
    }
    if (!ebb_add_i64(s->time_ns, most_ns, &s->time_ns))
        return op_fault(s, op, "time_ns: the sum of all times does not fit in 63 bits");
    if (!ebb_add_i64(s->bytes, most_scratch, &s->bytes))
        return op_fault(s, op, "scratch_bytes: the sum of all sizes does not fit in 63 bits");
    return EBB_OK;
}

static ebb_status check_op(sealer *s, ebb_id op) {
    const ebb_pop *o = &s->ops[op];
    if (ebb_phase_name(o->phase) == NULL) return op_fault(s, op, "phase %d is unknown", (int)o->phase);
    if (o->time_ns < 0) return op_fault(s, op, "time_ns = %lld is negative", (long long)o->time_ns);
    if (o->scratch_bytes < 0)
        return op_fault(s, op, "scratch_bytes = %lld is negative", (long long)o->scratch_bytes);
    for (uint32_t k = 0; k < o->n_after; k++) {
        if (o->after[k] >= s->n_ops) return id_fault(s, op, "after", k, o->after[k], "an op", s->n_ops);
        if (o->after[k] >= op)
            return op_fault(s, op, "after[%u] = %u is not an earlier op", k, o->after[k]);
    }
    ebb_status status = check_reads(s, op, "inputs", o->in, o->n_in);
    if (status == EBB_OK) status = check_in_place(s, op, "in_place", o->in_place, o->n_in_place, o->n_in);
    if (status == EBB_OK) status = check_views(s, op);
    if (status == EBB_OK) status = check_updates(s, op);
    if (status == EBB_OK) status = check_alternatives(s, op);
    if (status == EBB_OK) status = check_made_roles(s, op);
    return status;
}

static ebb_status check_ends(const sealer *s) {
    for (ebb_id v = 0; v < s->n_values; v++) {
        const ebb_pvalue *value = &s->values[v];
        if (value->producer == EBB_NONE && !given_role(value->role))
            return value_fault(s, v, "role %s, but no op makes it", ebb_role_name(value->role));
        ebb_id update = s->updated_by[s->root[v]];
        if (value->role == EBB_ROLE_OUTPUT && update != EBB_NONE)
            return value_fault(
                s, v, "an output must last, but it is a view of bytes that ops[%u] \"%.80s\" updates",
                update, s->ops[update].name);
    }
    return EBB_OK;
}

static ebb_status check_origins(const sealer *s, const ebb_pdraft *draft) {
    if (draft->value_origin.n != 0 && draft->value_origin.n != s->n_values)
        return ebb_fail(s->env, EBB_BAD_INPUT, "%.160s: %zu origins for %u values", s->where,
                        draft->value_origin.n, s->n_values);
    return EBB_OK;
}

static ebb_status check_all(sealer *s, ebb_arena *scratch, const ebb_pdraft *draft) {
    uint32_t most_in = 0;
    for (ebb_id i = 0; i < s->n_ops; i++) most_in = s->ops[i].n_in > most_in ? s->ops[i].n_in : most_in;
    s->root = EBB_NEW(scratch, ebb_id, s->n_values);
    s->updated_by = EBB_NEW(scratch, ebb_id, s->n_values);
    s->view_stamp = EBB_NEW(scratch, uint32_t, s->n_values);
    s->bound = EBB_NEW(scratch, uint8_t, s->n_values);
    s->base_stamp = EBB_NEW(scratch, uint32_t, most_in);
    if (!s->root || !s->updated_by || !s->view_stamp || !s->bound || !s->base_stamp) return EBB_NO_MEMORY;
    if (draft->fixed_bytes < 0)
        return ebb_fail(s->env, EBB_BAD_INPUT, "%.160s: fixed_bytes = %lld is negative", s->where,
                        (long long)draft->fixed_bytes);
    s->bytes = draft->fixed_bytes;
    ebb_status status = check_values(s);
    if (status == EBB_OK) status = note_producers(s);
    for (ebb_id i = 0; status == EBB_OK && i < s->n_ops; i++) status = check_op(s, i);
    if (status == EBB_OK) status = check_ends(s);
    return status == EBB_OK ? check_origins(s, draft) : status;
}

/* Alternatives are copied only when one of them has no name. */
static bool name_alternatives(ebb_arena *arena, ebb_pop *op) {
    uint32_t n_named = 0;
    for (uint32_t k = 0; k < op->n_alternatives; k++) n_named += op->alternatives[k].name != NULL;
    if (n_named == op->n_alternatives) return true;
    ebb_alternative *copy = ebb_arena_copy(arena, op->alternatives, op->n_alternatives, sizeof *copy);
    op->alternatives = copy;
    for (uint32_t k = 0; copy != NULL && k < op->n_alternatives; k++)
        if ((copy[k].name = name_or(arena, copy[k].name, "alternative", k)) == NULL) return false;
    return copy != NULL;
}

/* Moves the draft's tables into its arena and fills what makers may leave out. */
static ebb_status settle(sealer *s, ebb_pdraft *draft) {
    ebb_arena *arena = &draft->arena;
    if (draft->values.n >= EBB_NONE || draft->ops.n >= EBB_NONE)
        return ebb_fail(s->env, EBB_BAD_INPUT, "%.160s: %zu values and %zu ops are more than ids can name",
                        s->where, draft->values.n, draft->ops.n);
    s->n_values = (uint32_t)draft->values.n;
    s->n_ops = (uint32_t)draft->ops.n;
    s->values = ebb_arena_copy(arena, draft->values.at, s->n_values, sizeof *s->values);
    s->ops = ebb_arena_copy(arena, draft->ops.at, s->n_ops, sizeof *s->ops);
    if (!s->values || !s->ops) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < s->n_values; v++)
        if ((s->values[v].name = name_or(arena, s->values[v].name, "v", v)) == NULL) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        ebb_pop *op = &s->ops[i];
        op->name = name_or(arena, op->name, "op", i);
        if (op->kind == NULL) op->kind = "op";
        if (draft->value_origin.n == 0) op->origin = i;
        if (!op->name || !name_alternatives(arena, op)) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

static ebb_status make_graph(const sealer *s, ebb_pdraft *draft, ebb_pgraph **out) {
    ebb_pgraph *graph = EBB_NEW(&draft->arena, ebb_pgraph, 1);
    ebb_id *origin = EBB_NEW(&draft->arena, ebb_id, s->n_values);
    if (!graph || !origin) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < s->n_values; v++)
        origin[v] = draft->value_origin.n > 0 ? draft->value_origin.at[v] : v;
    *graph = (ebb_pgraph){.arena = draft->arena,
                          .name = draft->name ? draft->name : "",
                          .fixed_bytes = draft->fixed_bytes,
                          .costs = draft->costs,
                          .values = s->values,
                          .n_values = s->n_values,
                          .ops = s->ops,
                          .n_ops = s->n_ops,
                          .value_origin = origin};
    ebb_arena_init(&draft->arena, s->env); /* it is the graph's now */
    *out = graph;
    return EBB_OK;
}

ebb_status ebb_pdraft_seal(ebb_pdraft *draft, const char *where, ebb_pgraph **out) {
    *out = NULL;
    sealer s = {.env = draft->arena.env, .where = where ? where : "graph"};
    ebb_arena scratch;
    ebb_arena_init(&scratch, s.env);
    ebb_status status = settle(&s, draft);
    if (status == EBB_OK) status = check_all(&s, &scratch, draft);
    if (status == EBB_OK) status = make_graph(&s, draft, out);
    ebb_arena_deinit(&scratch);
    ebb_pdraft_deinit(draft);
    return status;
}
