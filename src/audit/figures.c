/* The audit's last stage: the plan's sums. Requires the joins. O(steps + buffers + edges). */
#include "audit/auditor.h"

/* Buffers that share bytes on purpose, from the first one's offset. */
typedef struct storage {
    int64_t start, end;
    uint32_t lower, upper;
} storage;

static ebb_status overflow(const ebb_auditor *a, const char *what) {
    return ebb_fail(a->env, EBB_VIOLATION, "the sum of %s does not fit in 63 bits", what);
}

/* A region is as large as its highest end, or that rounded up. */
static ebb_status check_region(const ebb_auditor *a, bool persistent) {
    const ebb_plan *plan = a->plan;
    int64_t top = 0, bytes = persistent ? plan->persistent_bytes : plan->arena_bytes;
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        const ebb_buffer *buffer = &plan->buffers[b];
        if (buffer->persistent == persistent && buffer->bytes > 0)
            top = ebb_max_i64(top, buffer->offset + buffer->bytes);
    }
    for (uint32_t s = 0; !persistent && s < plan->n_steps; s++)
        if (plan->steps[s].scratch_bytes > 0)
            top = ebb_max_i64(top, plan->steps[s].scratch_offset + plan->steps[s].scratch_bytes);
    if (bytes == top || bytes == ebb_align_up(top, plan->alignment)) return EBB_OK;
    return ebb_fail(a->env, EBB_VIOLATION, "%s is %lld, but the highest end is %lld",
                    persistent ? "persistent_bytes" : "arena_bytes", (long long)bytes, (long long)top);
}

static ebb_status check_total(const ebb_auditor *a) {
    const ebb_plan *plan = a->plan;
    int64_t total = plan->arena_bytes + plan->persistent_bytes;
    if (!ebb_add_i64(total, a->graph->fixed_bytes, &total)) return overflow(a, "all bytes");
    if (plan->total_bytes != total)
        return ebb_fail(a->env, EBB_VIOLATION, "total_bytes is %lld, but %lld + %lld + fixed %lld = %lld",
                        (long long)plan->total_bytes, (long long)plan->arena_bytes,
                        (long long)plan->persistent_bytes, (long long)a->graph->fixed_bytes,
                        (long long)total);
    if (plan->budget_bytes >= 0 && plan->budget_bytes < total)
        return ebb_fail(a->env, EBB_VIOLATION, "budget_bytes is %lld, but total_bytes %lld",
                        (long long)plan->budget_bytes, (long long)total);
    return EBB_OK;
}

/* ---- max live ---------------------------------------------------------------------------------------- */

/* Buffers are joined to ones that were written before them, so in order of writing each finds its storage.
 */
static void grow_storage(const ebb_auditor *a, storage *storages, ebb_id *storage_of, ebb_id b) {
    const ebb_buffer *buffer = &a->plan->buffers[b];
    if (buffer->bytes == 0 || buffer->persistent) return;
    ebb_id root = a->joined[b] == EBB_NONE ? b : storage_of[a->joined[b]];
    storage_of[b] = root;
    storage *s = &storages[root];
    if (root == b) *s = (storage){buffer->offset, buffer->offset, buffer->lower, buffer->upper};
    s->end = ebb_max_i64(s->end, buffer->offset + buffer->bytes);
    s->upper = s->upper > buffer->upper ? s->upper : buffer->upper;
}

static storage *find_storages(ebb_auditor *a) {
    const ebb_plan *plan = a->plan;
    storage *storages = EBB_NEW(&a->arena, storage, plan->n_buffers);
    ebb_id *storage_of = EBB_NEW(&a->arena, ebb_id, plan->n_buffers);
    if (!storages || !storage_of) return NULL;
    for (ebb_id b = 0; b < plan->n_buffers; b++)
        if (a->writer[b] == EBB_NONE) grow_storage(a, storages, storage_of, b);
    for (uint32_t s = 0; s < plan->n_steps; s++)
        for (uint32_t j = 0; j < plan->steps[s].n_writes; j++)
            grow_storage(a, storages, storage_of, plan->steps[s].writes[j]);
    return storages;
}

static ebb_status check_max_live(ebb_auditor *a) {
    const ebb_plan *plan = a->plan;
    const storage *storages = find_storages(a);
    int64_t *change = EBB_NEW(&a->arena, int64_t, (size_t)plan->n_steps + 2); /* at the start of a step */
    if (!storages || !change) return EBB_NO_MEMORY;
    int64_t sum = 0, live = 0, most = 0;
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        int64_t bytes = ebb_align_up(storages[b].end - storages[b].start, plan->alignment);
        if (bytes == 0) continue;
        if (!ebb_add_i64(sum, bytes, &sum)) return overflow(a, "all buffers");
        change[storages[b].lower] += bytes;
        change[storages[b].upper] -= bytes;
    }
    for (uint32_t s = 0; s < plan->n_steps || s == 0; s++) {
        int64_t scratch =
            s < plan->n_steps ? ebb_align_up(plan->steps[s].scratch_bytes, plan->alignment) : 0;
        int64_t with_scratch;
        live += change[s];
        if (!ebb_add_i64(live, scratch, &with_scratch)) return overflow(a, "what is live");
        most = ebb_max_i64(most, with_scratch);
    }
    if (plan->max_live_bytes == most) return EBB_OK;
    return ebb_fail(a->env, EBB_VIOLATION,
                    "max_live_bytes is %lld, but the most that is live in a step is %lld",
                    (long long)plan->max_live_bytes, (long long)most);
}

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t least_time(const ebb_pop *op) {
    int64_t least = op->time_ns;
    for (uint32_t k = 0; k < op->n_alternatives; k++)
        least = ebb_min_i64(least, op->alternatives[k].time_ns);
    return least;
}

static ebb_status check_time(const ebb_auditor *a) {
    const ebb_plan *plan = a->plan;
    int64_t time = 0, least = 0;
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        const ebb_pop *op = &a->graph->ops[plan->steps[s].op];
        if (!ebb_add_i64(time, ebb_pop_under(op, plan->steps[s].alternative).time_ns, &time))
            return overflow(a, "all times");
    }
    if (plan->time_ns != time)
        return ebb_fail(a->env, EBB_VIOLATION, "time_ns is %lld, but the steps take %lld",
                        (long long)plan->time_ns, (long long)time);
    if (plan->bound_time_ns < 0 || plan->bound_time_ns > time)
        return ebb_fail(a->env, EBB_VIOLATION,
                        "the certificate's bound is %lld ns, but this plan takes %lld",
                        (long long)plan->bound_time_ns, (long long)time);
    for (ebb_id i = 0; i < a->graph->n_ops; i++)
        if (!a->graph->ops[i].optional) least += least_time(&a->graph->ops[i]); /* the graph's sums fit */
    if (plan->baseline_time_ns < least)
        return ebb_fail(a->env, EBB_VIOLATION,
                        "the baseline's time_ns is %lld, but its ops take at least %lld",
                        (long long)plan->baseline_time_ns, (long long)least);
    return EBB_OK;
}

/* The baseline's plan is not here: only what must hold of any. */
static ebb_status check_baseline(const ebb_auditor *a) {
    const ebb_plan *plan = a->plan;
    int64_t fixed = a->graph->fixed_bytes;
    if (plan->baseline_arena_bytes >= 0 && plan->baseline_total_bytes >= fixed &&
        plan->baseline_total_bytes - fixed >= plan->baseline_arena_bytes)
        return EBB_OK;
    return ebb_fail(
        a->env, EBB_VIOLATION, "the baseline's total_bytes is %lld, below its arena's %lld + fixed %lld",
        (long long)plan->baseline_total_bytes, (long long)plan->baseline_arena_bytes, (long long)fixed);
}

ebb_status ebb_audit_figures(ebb_auditor *a) {
    ebb_status status = check_region(a, false);
    if (status == EBB_OK) status = check_region(a, true);
    if (status == EBB_OK) status = check_total(a);
    if (status == EBB_OK) status = check_max_live(a);
    if (status == EBB_OK) status = check_time(a);
    return status == EBB_OK ? check_baseline(a) : status;
}
