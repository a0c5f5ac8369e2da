/* shadow/step.c: one step, held to its rights.
 *
 *   - every byte of every read is owned by exactly that buffer, or by the buffer that it is a view of;
 *   - a written output shares bytes with no operand of the step, except with one input where an in_place
 *     pair says so, at the same address;
 *   - an update lies on its target and on nothing else; a view lies where it says inside its base;
 *   - scratch shares bytes with no operand.
 *
 * Then outputs and scratch own their bytes. EBB_VIOLATION names the operand, the buffers, the bytes and the
 * step that took them. O(operands^2 + operands * log n).
 */
#include "exec/shadow/shadow.h"

#include <stdio.h>

typedef struct range {
    uint64_t from, end;
} range;

static range range_of(const void *at, int64_t bytes) {
    return (range){(uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)at + (uint64_t)bytes};
}
static range in_range(const ebb_launch *l, uint32_t i) {
    return range_of(l->in[i], l->in_bytes[i]);
}
static range out_range(const ebb_launch *l, uint32_t o) {
    return range_of(l->out[o], l->out_bytes[o]);
}
static range scratch_range(const ebb_launch *l) {
    return range_of(l->scratch, l->scratch_bytes);
}

/* Empty ranges overlap nothing. */
static bool overlap(range a, range b) {
    return a.from < a.end && b.from < b.end && a.from < b.end && b.from < a.end;
}

ebb_status ebb_shadow_take(ebb_shadow *shadow, const void *at, int64_t bytes, ebb_id buffer,
                           uint32_t step) {
    const range r = range_of(at, bytes);
    if (r.from >= r.end) return EBB_OK;
    return ebb_owners_set(&shadow->owners, r.from, r.end, (ebb_owner){buffer, step});
}

ebb_status ebb_shadow_set_root(ebb_shadow *shadow, ebb_id buffer, ebb_id root) {
    ebb_env *env = shadow->base.env;
    while (shadow->roots.n <= buffer) {
        const ebb_id self = (ebb_id)shadow->roots.n;
        if (!EBB_PUSH(env, &shadow->roots, self)) return EBB_NO_MEMORY;
    }
    shadow->roots.at[buffer] = root;
    return EBB_OK;
}

static ebb_id root_of(const ebb_shadow *shadow, ebb_id buffer) {
    return buffer < shadow->roots.n ? shadow->roots.at[buffer] : buffer;
}

/* ---- reads ---------------------------------------------------------------------------------------- */

/* Who has the bytes instead, as the second half of a sentence. */
static void describe_owner(const ebb_launch_check *check, ebb_owner owner, char *text, size_t n) {
    if (owner.buffer == EBB_OWNER_NOBODY) {
        (void)snprintf(text, n, "hold nothing: they were never written or their buffer is dead");
    } else if (owner.step == EBB_NONE) {
        (void)snprintf(text, n, "hold buffer %u (%.60s), given before the first step", owner.buffer,
                       check->buffer_names[owner.buffer]);
    } else if (owner.buffer == EBB_OWNER_SCRATCH) {
        (void)snprintf(text, n, "were scratch of step %u (%.60s)", owner.step,
                       check->step_names[owner.step]);
    } else {
        (void)snprintf(text, n, "hold buffer %u (%.60s), written by step %u (%.60s)", owner.buffer,
                       check->buffer_names[owner.buffer], owner.step, check->step_names[owner.step]);
    }
}

static ebb_status check_read(const ebb_shadow *shadow, const ebb_launch *l, uint32_t i) {
    const range r = in_range(l, i);
    uint64_t from = 0, end = 0;
    ebb_owner other;
    if (r.from >= r.end) return EBB_OK;
    if (ebb_owners_hold(&shadow->owners, r.from, r.end, root_of(shadow, l->in_buffer[i]), &from, &end,
                        &other))
        return EBB_OK;
    char who[256];
    describe_owner(l->check, other, who, sizeof(who));
    return ebb_fail(shadow->base.env, EBB_VIOLATION,
                    "reads buffer %u (%.60s) as input %u, whose bytes [%llu, %llu) %s", l->in_buffer[i],
                    l->check->buffer_names[l->in_buffer[i]], i, (unsigned long long)(from - r.from),
                    (unsigned long long)(end - r.from), who);
}

/* ---- rights of outputs ------------------------------------------------------------------------------ */

static const ebb_view *view_of(const ebb_launch *l, uint32_t o) {
    for (uint32_t i = 0; i < l->check->n_views; i++) {
        if (l->check->views[i].out == o) return &l->check->views[i];
    }
    return NULL;
}

static bool listed(const ebb_pair *pairs, uint32_t n, uint32_t out, uint32_t in) {
    for (uint32_t i = 0; i < n; i++) {
        if (pairs[i].out == out && pairs[i].in == in) return true;
    }
    return false;
}

static ebb_status fail_output(const ebb_shadow *shadow, const ebb_launch *l, uint32_t o, const char *fault,
                              uint32_t i, ebb_id other) {
    return ebb_fail(shadow->base.env, EBB_VIOLATION,
                    "output %u, buffer %u (%.60s), %s %u, buffer %u (%.60s)", o, l->out_buffer[o],
                    l->check->buffer_names[l->out_buffer[o]], fault, i, other,
                    l->check->buffer_names[other]);
}

/* The input whose bytes output o takes, or EBB_NONE. */
static uint32_t target_of(const ebb_launch *l, uint32_t o) {
    for (uint32_t k = 0; k < l->check->n_update; k++) {
        if (l->check->update[k].out == o) return l->check->update[k].in;
    }
    return EBB_NONE;
}

/* An update may lie on its target, however often the step reads that, and on nothing else. */
static ebb_status check_update_over(const ebb_shadow *shadow, const ebb_launch *l, uint32_t o,
                                    uint32_t target) {
    const ebb_id root = root_of(shadow, l->in_buffer[target]);
    for (uint32_t i = 0; i < l->check->n_in; i++) {
        if (!overlap(out_range(l, o), in_range(l, i)) || root_of(shadow, l->in_buffer[i]) == root) continue;
        return fail_output(shadow, l, o, "is an update and overwrites input", i, l->in_buffer[i]);
    }
    if (l->out_bytes[o] == 0 || (l->out[o] == l->in[target] && l->out_bytes[o] == l->in_bytes[target]))
        return EBB_OK;
    return fail_output(shadow, l, o, "is an update and does not lie on its target, input", target,
                       l->in_buffer[target]);
}

/* Another output may lie on one input only, where a pair allows it and both begin at one address. */
static ebb_status check_over(const ebb_shadow *shadow, const ebb_launch *l, uint32_t o) {
    const ebb_launch_check *c = l->check;
    uint32_t n_shared = 0;
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!overlap(out_range(l, o), in_range(l, i))) continue;
        if (!listed(c->in_place, c->n_in_place, o, i) || l->out[o] != l->in[i]) {
            return fail_output(shadow, l, o, "overwrites without leave input", i, l->in_buffer[i]);
        }
        if (++n_shared > 1) {
            return fail_output(shadow, l, o, "overwrites a second operand, input", i, l->in_buffer[i]);
        }
    }
    return EBB_OK;
}

static ebb_status check_output(const ebb_shadow *shadow, const ebb_launch *l, uint32_t o) {
    const ebb_view *view = view_of(l, o);
    if (view) {
        const uint64_t at = in_range(l, view->in).from + (uint64_t)view->offset_bytes;
        if (l->out_bytes[o] == 0 || out_range(l, o).from == at) return EBB_OK;
        return fail_output(shadow, l, o, "is a view and does not lie inside input", view->in,
                           l->in_buffer[view->in]);
    }
    for (uint32_t other = 0; other < l->check->n_out; other++) {
        if (other != o && overlap(out_range(l, o), out_range(l, other))) {
            return fail_output(shadow, l, o, "shares bytes with output", other, l->out_buffer[other]);
        }
    }
    if (overlap(out_range(l, o), scratch_range(l))) {
        return fail_output(shadow, l, o, "shares bytes with the step's scratch; output", o,
                           l->out_buffer[o]);
    }
    const uint32_t target = target_of(l, o);
    return target == EBB_NONE ? check_over(shadow, l, o) : check_update_over(shadow, l, o, target);
}

static ebb_status check_scratch(const ebb_shadow *shadow, const ebb_launch *l) {
    for (uint32_t i = 0; i < l->check->n_in; i++) {
        if (!overlap(scratch_range(l), in_range(l, i))) continue;
        return ebb_fail(shadow->base.env, EBB_VIOLATION,
                        "scratch shares bytes with input %u, buffer %u (%.60s)", i, l->in_buffer[i],
                        l->check->buffer_names[l->in_buffer[i]]);
    }
    return EBB_OK;
}

/* ---- the step ------------------------------------------------------------------------------------ */

static ebb_status take_output(ebb_shadow *shadow, const ebb_launch *l, uint32_t o) {
    const ebb_view *view = view_of(l, o);
    const ebb_id buffer = l->out_buffer[o];
    const ebb_id root = view ? root_of(shadow, l->in_buffer[view->in]) : buffer;
    const ebb_status status = ebb_shadow_set_root(shadow, buffer, root);
    if (status != EBB_OK || view) return status;
    return ebb_shadow_take(shadow, l->out[o], l->out_bytes[o], buffer, l->check->step);
}

ebb_status ebb_shadow_step(ebb_shadow *shadow, const ebb_launch *l) {
    const ebb_launch_check *c = l->check;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; status == EBB_OK && i < c->n_in; i++) status = check_read(shadow, l, i);
    for (uint32_t o = 0; status == EBB_OK && o < c->n_out; o++) status = check_output(shadow, l, o);
    if (status == EBB_OK) status = check_scratch(shadow, l);
    for (uint32_t o = 0; status == EBB_OK && o < c->n_out; o++) status = take_output(shadow, l, o);
    if (status == EBB_OK)
        status = ebb_shadow_take(shadow, l->scratch, l->scratch_bytes, EBB_OWNER_SCRATCH, c->step);
    return status;
}
