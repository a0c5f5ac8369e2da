/* places: an offset for every storage and every scratch.
 *
 * takes: lives. gives: places. The persistent region is the given params, states and constants in the order
 * of the graph that was asked for, so that two schedules of one graph find them at the same place. The
 * transient region is packed: a row for each storage and each scratch, sizes rounded up to the alignment.
 * cost: ebb_pack_within, which checks its answer. */
#include "pack/pack.h"
#include "planner/build.h"

static ebb_status too_large(ebb_env *env, const ebb_plan_request *request, const char *what) {
    return ebb_fail(env, EBB_BAD_INPUT,
                    "graph %s: the %s rounded up to %lld bytes each sum to more than int64 holds",
                    request->graph->name, what, (long long)request->alignment);
}

static ebb_status place_persistent(ebb_arena *arena, const ebb_plan_request *request,
                                   const ebb_lives *lives, ebb_places *out) {
    const ebb_pgraph *graph = request->graph, *scheduled = request->scheduled;
    uint32_t *storages = EBB_NEW(arena, uint32_t, graph->n_values); /* of the given values, by origin */
    if (!storages) return EBB_NO_MEMORY;
    memset(storages, 0xff, graph->n_values * sizeof *storages); /* EBB_NONE */
    for (uint32_t v = 0; v < scheduled->n_values; v++)
        if (scheduled->values[v].producer == EBB_NONE)
            storages[scheduled->value_origin[v]] = lives->lives[v].storage;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        const ebb_pvalue *value = &graph->values[v];
        if (value->producer != EBB_NONE || !ebb_role_persistent(value->role)) continue;
        if (storages[v] != EBB_NONE) out->storage[storages[v]] = out->persistent_bytes;
        if (value->bytes > INT64_MAX - request->alignment ||
            !ebb_add_i64(out->persistent_bytes, ebb_align_up(value->bytes, request->alignment),
                         &out->persistent_bytes))
            return too_large(arena->env, request, "params, states and constants");
    }
    return EBB_OK;
}

typedef struct ebb_place_list {
    ebb_row *rows;
    int64_t **places; /* where the row's offset goes */
    int64_t *offsets;
    uint32_t n;
} ebb_place_list;

static void add_row(ebb_place_list *list, const ebb_plan_request *request, uint32_t lower, uint32_t upper,
                    int64_t bytes, int64_t *place) {
    ebb_row row = {lower, upper, ebb_align_up(bytes, request->alignment), request->alignment};
    if (request->reuse == EBB_REUSE_NONE) {
        row.lower = 0;
        row.upper = ebb_max_i64(1, request->scheduled->n_ops);
    }
    list->rows[list->n] = row;
    list->places[list->n++] = place;
}

/* Sums that do not fit were refused by ebb_max_live, so that rounding up is safe here. */
static ebb_status list_rows(ebb_arena *arena, const ebb_plan_request *request, const ebb_lives *lives,
                            ebb_places *out, ebb_place_list *list) {
    size_t most = (size_t)lives->n_storages + lives->n_steps;
    if (most > UINT32_MAX)
        return ebb_fail(arena->env, EBB_BAD_INPUT,
                        "graph %s: %zu storages and steps; at most %u can be planned", request->graph->name,
                        most, UINT32_MAX);
    list->rows = EBB_NEW(arena, ebb_row, most);
    list->places = EBB_NEW(arena, int64_t *, most);
    list->offsets = EBB_NEW(arena, int64_t, most);
    if (!list->rows || !list->places || !list->offsets) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < lives->n_storages; s++) {
        const ebb_storage *storage = &lives->storages[s];
        if (!storage->persistent)
            add_row(list, request, storage->lower, storage->upper, storage->bytes, &out->storage[s]);
    }
    for (uint32_t step = 0; step < lives->n_steps; step++) {
        int64_t bytes = request->scheduled->ops[step].scratch_bytes;
        if (bytes > 0) add_row(list, request, step, step + 1, bytes, &out->scratch[step]);
    }
    return EBB_OK;
}

/* What a budget leaves for the arena; -1: there is none. */
static int64_t arena_capacity(const ebb_plan_request *request, const ebb_places *places) {
    if (request->budget_bytes < 0) return -1;
    const int64_t left = request->budget_bytes - places->persistent_bytes; /* both >= 0 */
    return ebb_max_i64(left - request->graph->fixed_bytes, 0);
}

static ebb_status pack_rows(ebb_env *env, const ebb_plan_request *request, ebb_place_list *list,
                            int64_t capacity, int64_t *height) {
    ebb_status status = ebb_pack_within(env, list->rows, list->n, request->n_workers, capacity,
                                        request->quick, request->deadline_ns, list->offsets, height);
    for (uint32_t i = 0; i < list->n && status == EBB_OK; i++) *list->places[i] = list->offsets[i];
    return status;
}

ebb_status ebb_places_find(ebb_arena *arena, const ebb_plan_request *request, const ebb_lives *lives,
                           ebb_places *out) {
    ebb_place_list list = {0};
    memset(out, 0, sizeof *out);
    out->storage = EBB_NEW(arena, int64_t, lives->n_storages);
    out->scratch = EBB_NEW(arena, int64_t, lives->n_steps);
    if (!out->storage || !out->scratch) return EBB_NO_MEMORY;
    ebb_status status = place_persistent(arena, request, lives, out);
    if (status == EBB_OK) status = list_rows(arena, request, lives, out, &list);
    if (status == EBB_OK)
        status = pack_rows(arena->env, request, &list, arena_capacity(request, out), &out->arena_bytes);
    return status;
}
