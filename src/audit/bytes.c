/* The audit's fourth stage: the steps in order, with the last writer of every byte. Each write gets a
 * token, larger than all before it; a buffer is intact when its bytes still carry the token of what was
 * written there. A view carries its base's token and writes nothing.
 *
 *     step 3 reads x   [0, 64) carries x's token: intact
 *     step 3 writes y  [0, 64) over x: allowed when the op lists the pair, x lies at the same offset, and
 * no other operand has bytes there step 4 reads x   [0, 64) carries y's token: violation
 *
 * Requires the stages before it. Gives the joins of buffers into storages. O(n log n). */
#include "audit/auditor.h"

#include "audit/map.h"

#include <stdio.h>

/* Who wrote under a token. */
typedef struct write {
    uint32_t step;   /* EBB_NONE: given */
    ebb_id buffer;   /* EBB_NONE: scratch */
    uint32_t result; /* position among the step's writes */
} write;

typedef struct keeper {
    ebb_auditor *a;
    ebb_byte_map maps[2]; /* transient, persistent */
    write *writes;        /* [tokens]; 0 is nobody */
    uint32_t n_writes;
    uint32_t *token; /* per buffer: what its bytes must carry; 0: not written yet, or no bytes */
    uint32_t
        *over;    /* per output of the step in hand: position of the input that it lies over, or EBB_NONE */
    bool *listed; /* per output of the step in hand: that pair is one of the op's */
} keeper;

static const ebb_buffer *buffer_at(const keeper *k, ebb_id b) {
    return &k->a->plan->buffers[b];
}

static const char *region_name(bool persistent) {
    return persistent ? "persistent" : "transient";
}

/* "step 5 "conv" writes buffer 6 "y" there" into text. */
#define WHO_BYTES 224
static const char *who_text(const keeper *k, uint32_t token, char text[WHO_BYTES]) {
    const ebb_auditor *a = k->a;
    write w = k->writes[token];
    if (token == 0)
        (void)snprintf(text, WHO_BYTES, "nobody wrote there");
    else if (w.step == EBB_NONE)
        (void)snprintf(text, WHO_BYTES, AUDIT_BUFFER " is given there", AUDIT_BUFFER_ARGS(a, w.buffer));
    else if (w.buffer == EBB_NONE)
        (void)snprintf(text, WHO_BYTES, AUDIT_STEP " has its scratch there", AUDIT_STEP_ARGS(a, w.step));
    else
        (void)snprintf(text, WHO_BYTES, AUDIT_STEP " writes " AUDIT_BUFFER " there",
                       AUDIT_STEP_ARGS(a, w.step), AUDIT_BUFFER_ARGS(a, w.buffer));
    return text;
}

/* The newest token on a range of bytes. */
static uint32_t newest(const keeper *k, bool persistent, int64_t start, int64_t end) {
    uint32_t least, most;
    ebb_byte_map_look(&k->maps[persistent], start, end, &least, &most);
    return most;
}

/* Whether a buffer's bytes are what was written there; *who gets a token that is not its own. */
static bool is_intact(const keeper *k, ebb_id b, uint32_t *who) {
    const ebb_buffer *buffer = buffer_at(k, b);
    uint32_t least, most;
    if (buffer->bytes == 0) return true;
    ebb_byte_map_look(&k->maps[buffer->persistent], buffer->offset, buffer->offset + buffer->bytes, &least,
                      &most);
    *who = most != k->token[b] ? most : least;
    return least == k->token[b] && most == k->token[b];
}

static uint32_t put(keeper *k, bool persistent, int64_t offset, int64_t bytes, write w) {
    uint32_t token = k->n_writes++;
    k->writes[token] = w;
    ebb_byte_map_write(&k->maps[persistent], offset, offset + bytes, token);
    return token;
}

static ebb_status put_given(keeper *k) {
    const ebb_auditor *a = k->a;
    for (ebb_id b = 0; b < a->plan->n_buffers; b++) {
        const ebb_buffer *buffer = buffer_at(k, b);
        char who[WHO_BYTES];
        if (a->writer[b] != EBB_NONE || buffer->bytes == 0) continue;
        uint32_t other = newest(k, buffer->persistent, buffer->offset, buffer->offset + buffer->bytes);
        if (other != 0)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_BUFFER " is given at " AUDIT_RANGE " of the %s region, but %s",
                            AUDIT_BUFFER_ARGS(a, b), AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes),
                            region_name(buffer->persistent), who_text(k, other, who));
        k->token[b] = put(k, buffer->persistent, buffer->offset, buffer->bytes, (write){EBB_NONE, b, 0});
    }
    return EBB_OK;
}

/* ---- one step ------------------------------------------------------------------------------------ */

static ebb_status check_reads(const keeper *k, uint32_t s) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    for (uint32_t i = 0; i < step->n_reads; i++) {
        const ebb_buffer *buffer = buffer_at(k, step->reads[i]);
        uint32_t other = 0;
        char who[WHO_BYTES];
        if (!is_intact(k, step->reads[i], &other))
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " reads " AUDIT_BUFFER " at " AUDIT_RANGE
                                       " of the %s region, but %s",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, step->reads[i]),
                            AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes),
                            region_name(buffer->persistent), who_text(k, other, who));
    }
    return EBB_OK;
}

/* An output whose place the graph dictates: `what` it is, and where it must be. */
static ebb_status check_bound(const keeper *k, uint32_t s, ebb_id b, ebb_id base, int64_t offset,
                              const char *what) {
    const ebb_auditor *a = k->a;
    const ebb_buffer *buffer = buffer_at(k, b);
    int64_t wanted = buffer_at(k, base)->offset + offset;
    if (buffer->bytes == 0 || buffer->offset == wanted) return EBB_OK;
    return ebb_fail(a->env, EBB_VIOLATION,
                    AUDIT_STEP ": " AUDIT_BUFFER " is %s " AUDIT_BUFFER
                               ", so it must lie at %lld and not at %lld",
                    AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b), what, AUDIT_BUFFER_ARGS(a, base),
                    (long long)wanted, (long long)buffer->offset);
}

/* Views take their base's token; all else is written. first: the step's first token. */
static ebb_status put_outputs(keeper *k, uint32_t s, uint32_t first) {
    ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    for (uint32_t j = 0; j < step->n_writes; j++) {
        ebb_id b = step->writes[j];
        const ebb_buffer *buffer = buffer_at(k, b);
        uint32_t view_in = a->view_in[buffer->value], update_in = a->update_in[buffer->value];
        ebb_status status = EBB_OK;
        k->over[j] = EBB_NONE;
        k->listed[j] = false;
        if (view_in != EBB_NONE) {
            k->token[b] = k->token[step->reads[view_in]];
            a->joined[b] = step->reads[view_in];
            status = check_bound(k, s, b, a->joined[b], a->view_offset[buffer->value], "a view of");
        } else if (update_in != EBB_NONE) {
            status = check_bound(k, s, b, step->reads[update_in], 0, "the update of");
        }
        if (status != EBB_OK) return status;
        if (view_in != EBB_NONE || buffer->bytes == 0) continue;
        uint32_t other = newest(k, buffer->persistent, buffer->offset, buffer->offset + buffer->bytes);
        char who[WHO_BYTES];
        if (other >= first)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " writes " AUDIT_BUFFER " at " AUDIT_RANGE ", but also %s",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b),
                            AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes), who_text(k, other, who));
        k->token[b] = put(k, buffer->persistent, buffer->offset, buffer->bytes, (write){s, b, j});
    }
    return EBB_OK;
}

static ebb_status put_scratch(keeper *k, uint32_t s, uint32_t first) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    int64_t bytes = ebb_pop_under(&a->graph->ops[step->op], step->alternative).scratch_bytes;
    if (step->scratch_bytes != bytes)
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_STEP " has %lld bytes of scratch, but its op needs %lld",
                        AUDIT_STEP_ARGS(a, s), (long long)step->scratch_bytes, (long long)bytes);
    if (bytes == 0) return EBB_OK;
    uint32_t other = newest(k, false, step->scratch_offset, step->scratch_offset + bytes);
    char who[WHO_BYTES];
    if (other >= first)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_STEP " has its scratch at " AUDIT_RANGE ", but %s",
                        AUDIT_STEP_ARGS(a, s), AUDIT_RANGE_ARGS(step->scratch_offset, bytes),
                        who_text(k, other, who));
    (void)put(k, false, step->scratch_offset, bytes, (write){s, EBB_NONE, 0});
    return EBB_OK;
}

static ebb_status over_operand(const keeper *k, uint32_t s, uint32_t i, uint32_t token, const char *why) {
    const ebb_auditor *a = k->a;
    ebb_id b = a->plan->steps[s].reads[i];
    char who[WHO_BYTES];
    return ebb_fail(a->env, EBB_VIOLATION,
                    AUDIT_STEP " reads " AUDIT_BUFFER " at " AUDIT_RANGE " as input %u, but %s: %s",
                    AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b),
                    AUDIT_RANGE_ARGS(buffer_at(k, b)->offset, buffer_at(k, b)->bytes), i,
                    who_text(k, token, who), why);
}

/* What the step wrote over its own input i. */
static ebb_status check_operand(keeper *k, uint32_t s, uint32_t i, uint32_t first) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    const ebb_buffer *in = buffer_at(k, step->reads[i]);
    if (in->bytes == 0) return EBB_OK;
    uint32_t token = newest(k, in->persistent, in->offset, in->offset + in->bytes);
    if (token < first) return EBB_OK;
    write w = k->writes[token];
    if (w.buffer == EBB_NONE) return over_operand(k, s, i, token, "scratch may not lie over an input");
    const ebb_buffer *out = buffer_at(k, w.buffer);
    uint32_t update_in = a->update_in[out->value];
    if (update_in != EBB_NONE) {
        if (k->token[step->reads[i]] == k->token[step->reads[update_in]]) return EBB_OK;
        return over_operand(k, s, i, token, "an update may lie over what it replaces only");
    }
    if (in->offset != out->offset || k->over[w.result] != EBB_NONE)
        return over_operand(
            k, s, i, token,
            "in place means at the same offset, over one input whose bytes no other operand shares");
    k->over[w.result] = i;
    if (in->bytes <= out->bytes) return EBB_OK;
    token = newest(k, in->persistent, out->offset + out->bytes, in->offset + in->bytes);
    return token < first ? EBB_OK : over_operand(k, s, i, token, "a second output lies over it");
}

/* Every output that lies over an input is allowed to; the buffers are then one storage. */
static ebb_status check_pairs(keeper *k, uint32_t s) {
    ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    ebb_pop_way way = ebb_pop_under(&a->graph->ops[step->op], step->alternative);
    for (uint32_t p = 0; p < way.n_in_place; p++)
        if (k->over[way.in_place[p].out] == way.in_place[p].in) k->listed[way.in_place[p].out] = true;
    for (uint32_t j = 0; j < step->n_writes; j++) {
        if (k->over[j] == EBB_NONE) continue;
        if (!k->listed[j])
            return over_operand(k, s, k->over[j], k->token[step->writes[j]],
                                "the op does not list that in_place");
        a->joined[step->writes[j]] = step->reads[k->over[j]];
    }
    return EBB_OK;
}

static ebb_status check_views_last(const keeper *k, uint32_t s) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    for (uint32_t j = 0; j < step->n_writes; j++) {
        ebb_id b = step->writes[j];
        uint32_t other = 0;
        char who[WHO_BYTES];
        if (a->view_in[buffer_at(k, b)->value] != EBB_NONE && !is_intact(k, b, &other))
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " makes the view " AUDIT_BUFFER " at " AUDIT_RANGE ", but %s",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b),
                            AUDIT_RANGE_ARGS(buffer_at(k, b)->offset, buffer_at(k, b)->bytes),
                            who_text(k, other, who));
    }
    return EBB_OK;
}

static ebb_status run_step(keeper *k, uint32_t s) {
    uint32_t first = k->n_writes;
    ebb_status status = check_reads(k, s);
    if (status == EBB_OK) status = put_outputs(k, s, first);
    if (status == EBB_OK) status = put_scratch(k, s, first);
    for (uint32_t i = 0; status == EBB_OK && i < k->a->plan->steps[s].n_reads; i++)
        status = check_operand(k, s, i, first);
    if (status == EBB_OK) status = check_pairs(k, s);
    return status == EBB_OK ? check_views_last(k, s) : status;
}

/* After the last step: outputs, constants and the last lives of params and states. */
static ebb_status check_end(const keeper *k) {
    const ebb_auditor *a = k->a;
    for (ebb_id b = 0; b < a->plan->n_buffers; b++) {
        const ebb_buffer *buffer = buffer_at(k, b);
        bool lasts = a->lasting[buffer->value] && buffer->upper >= a->plan->n_steps;
        uint32_t other = 0;
        char who[WHO_BYTES];
        if ((lasts || a->graph->values[buffer->value].role == EBB_ROLE_CONSTANT) &&
            !is_intact(k, b, &other))
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_BUFFER " at " AUDIT_RANGE
                                         " of the %s region must be intact after the last step, but %s",
                            AUDIT_BUFFER_ARGS(a, b), AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes),
                            region_name(buffer->persistent), who_text(k, other, who));
    }
    return EBB_OK;
}

/* ---- tables --------------------------------------------------------------------------------------- */

static ebb_status check_scratch_place(const ebb_auditor *a, uint32_t s) {
    const ebb_plan_step *step = &a->plan->steps[s];
    int64_t arena_bytes = a->plan->arena_bytes;
    if (step->scratch_bytes < 0 || step->scratch_offset < 0)
        return ebb_fail(
            a->env, EBB_VIOLATION, AUDIT_STEP ": %lld bytes of scratch at offset %lld: negative",
            AUDIT_STEP_ARGS(a, s), (long long)step->scratch_bytes, (long long)step->scratch_offset);
    if (step->scratch_bytes == 0) return EBB_OK;
    if (step->scratch_bytes > arena_bytes || step->scratch_offset > arena_bytes - step->scratch_bytes)
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_STEP ": %lld bytes of scratch at offset %lld end past the arena's %lld",
                        AUDIT_STEP_ARGS(a, s), (long long)step->scratch_bytes,
                        (long long)step->scratch_offset, (long long)arena_bytes);
    if ((step->scratch_offset & (a->plan->alignment - 1)) != 0)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_STEP ": scratch offset %lld is not a multiple of %lld",
                        AUDIT_STEP_ARGS(a, s), (long long)step->scratch_offset,
                        (long long)a->plan->alignment);
    return EBB_OK;
}

static ebb_status make_map(keeper *k, bool persistent) {
    const ebb_plan *plan = k->a->plan;
    size_t n = 0, most = 2 * ((size_t)plan->n_buffers + (persistent ? 0 : plan->n_steps));
    int64_t *ends = EBB_NEW(&k->a->arena, int64_t, most);
    if (ends == NULL) return EBB_NO_MEMORY;
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        const ebb_buffer *buffer = &plan->buffers[b];
        if (buffer->persistent != persistent || buffer->bytes == 0) continue;
        ends[n++] = buffer->offset;
        ends[n++] = buffer->offset + buffer->bytes;
    }
    for (uint32_t s = 0; !persistent && s < plan->n_steps; s++) {
        if (plan->steps[s].scratch_bytes == 0) continue;
        ends[n++] = plan->steps[s].scratch_offset;
        ends[n++] = plan->steps[s].scratch_offset + plan->steps[s].scratch_bytes;
    }
    return ebb_byte_map_init(&k->maps[persistent], &k->a->arena, ends, n);
}

static ebb_status make_keeper(keeper *k) {
    ebb_auditor *a = k->a;
    const ebb_plan *plan = a->plan;
    uint32_t most_outputs = 0;
    ebb_status status = EBB_OK;
    for (uint32_t s = 0; status == EBB_OK && s < plan->n_steps; s++) {
        status = check_scratch_place(a, s);
        if (plan->steps[s].n_writes > most_outputs) most_outputs = plan->steps[s].n_writes;
    }
    if (status == EBB_OK) status = make_map(k, false);
    if (status == EBB_OK) status = make_map(k, true);
    if (status != EBB_OK) return status;
    /* A buffer is written at most once and a step has one scratch; token 0 is nobody's. */
    k->writes = EBB_NEW(&a->arena, write, 1 + (size_t)plan->n_buffers + plan->n_steps);
    k->n_writes = 1;
    k->token = EBB_NEW(&a->arena, uint32_t, plan->n_buffers);
    k->over = EBB_NEW(&a->arena, uint32_t, most_outputs);
    k->listed = EBB_NEW(&a->arena, bool, most_outputs);
    if (!k->writes || !k->token || !k->over || !k->listed) return EBB_NO_MEMORY;
    for (ebb_id b = 0; b < plan->n_buffers; b++) a->joined[b] = EBB_NONE;
    return EBB_OK;
}

ebb_status ebb_audit_bytes(ebb_auditor *a) {
    keeper k = {.a = a};
    ebb_status status = make_keeper(&k);
    if (status == EBB_OK) status = put_given(&k);
    for (uint32_t s = 0; status == EBB_OK && s < a->plan->n_steps; s++) status = run_step(&k, s);
    return status == EBB_OK ? check_end(&k) : status;
}
