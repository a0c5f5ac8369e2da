/* max_live: the most transient bytes that are live in one step, scratch included. A graph without steps
 * counts as one step in which all that is given lives.
 *
 * takes: a scheduled graph and its lives. gives: bytes. cost: O(storages + steps). */
#include "planner/planner.h"

/* Adds bytes, rounded up, to *sum; false when it leaves int64. */
static bool add_rounded(int64_t bytes, int64_t alignment, int64_t *sum) {
    return bytes <= INT64_MAX - alignment && ebb_add_i64(*sum, ebb_align_up(bytes, alignment), sum);
}

/* Once the sum of everything fits, every partial sum does. */
static bool all_fit(const ebb_pgraph *scheduled, const ebb_lives *lives, int64_t alignment) {
    int64_t sum = 0;
    for (uint32_t s = 0; s < lives->n_storages; s++)
        if (!add_rounded(lives->storages[s].bytes, alignment, &sum)) return false;
    for (uint32_t i = 0; i < scheduled->n_ops; i++)
        if (!add_rounded(scheduled->ops[i].scratch_bytes, alignment, &sum)) return false;
    return true;
}

ebb_status ebb_max_live(ebb_env *env, const ebb_pgraph *scheduled, const ebb_lives *lives,
                        int64_t alignment, int64_t *out) {
    *out = 0;
    if (!all_fit(scheduled, lives, alignment))
        return ebb_fail(env, EBB_BAD_INPUT,
                        "graph %s: bytes rounded up to %lld sum to more than int64 holds over %u steps",
                        scheduled->name, (long long)alignment, lives->n_steps);
    size_t n = (size_t)lives->n_steps + 2;
    int64_t *change = ebb_calloc(env, n, sizeof *change);
    if (!change) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < lives->n_storages; s++) {
        const ebb_storage *storage = &lives->storages[s];
        if (storage->persistent) continue;
        change[storage->lower] += ebb_align_up(storage->bytes, alignment);
        change[storage->upper] -= ebb_align_up(storage->bytes, alignment);
    }
    int64_t live = 0, most = 0;
    for (uint32_t step = 0; step <= lives->n_steps; step++) {
        int64_t scratch = step < lives->n_steps ? scheduled->ops[step].scratch_bytes : 0;
        live += change[step];
        most = ebb_max_i64(most, live + ebb_align_up(scratch, alignment));
    }
    ebb_cfree(env, change, n, sizeof *change);
    *out = most;
    return EBB_OK;
}
