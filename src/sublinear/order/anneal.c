/* Annealing over orders. A move takes one op to another place; what it changes lies between the two places,
 * so that only these positions are looked at again. Before it, pairs of ops are tried late; after it, what
 * does no harm goes back to the graph's own order. */
#include "sublinear/order/lane.h"

#define LANES       2 /* made side by side; the better one counts */
#define STAGES      64
#define HOT         0.02 /* temperature, relative to the first peak */
#define COOLING     0.92 /* a stage; to 0.0001 */
#define AIM         0.98 /* of the best peak so far: what is above slopes down to it */
#define SLOPE       2.0  /* weight of all that is above, averaged over positions */
#define COLD        0.0002
#define TEST_STAGES 4      /* cold ones, before: without any gain in them, there is none */
#define STAGE_WALK  500000 /* positions that the moves of a stage may count again: tens of milliseconds */
#define LOOK        1024   /* moves between looks at the clock and the stop flag */

static double energy(const ebb_order_lane *l) {
    double n = (double)l->o.facts->n_ops;
    return ((double)ebb_order_lane_peak(l) + SLOPE * (double)l->overflow / n) / (double)l->first_peak;
}

/* Aims below the best, but no lower than what will do. */
static void aim(ebb_order_lane *l) {
    int64_t below = (int64_t)(AIM * (double)l->best_peak);
    ebb_order_lane_aim(l, ebb_max_i64(below, l->request->target_bytes));
}

static bool goes_on(const ebb_order_lane *l) {
    return !ebb_stop_asked(l->env) &&
           (l->request->ends_ns == 0 || ebb_clock_ns(l->env) < l->request->ends_ns);
}

/* The order is the best so far. False: it will do. */
static bool note_best(ebb_order_lane *l) {
    l->best_peak = ebb_order_lane_peak(l);
    memcpy(l->best_order, l->o.order, l->o.facts->n_ops * sizeof *l->o.order);
    if (l->best_peak <= l->request->target_bytes) return false;
    aim(l);
    return true;
}

/* ---- pairs --------------------------------------------------------------------------------------- */

/* The first of the ops that must come after; its position, or EBB_NONE. */
static uint32_t first_follower(const ebb_ordering *o, uint32_t op) {
    uint32_t first = EBB_NONE;
    for (uint32_t k = o->facts->after.first[op]; k < o->facts->after.first[op + 1]; k++) {
        uint32_t at = o->position[o->facts->after.at[k]];
        first = at < first ? at : first;
    }
    return first;
}

/* The op's follower goes as late as it can and the op after it, if that gains. *now is the energy. */
static void try_late(ebb_order_lane *l, ebb_id op, double *now) {
    uint32_t from = l->o.position[op], follower = first_follower(&l->o, op);
    if (follower == EBB_NONE) return;
    uint32_t follower_to = ebb_ordering_range(&l->o, follower).last;
    if (follower_to == follower) return;
    ebb_order_lane_move(l, follower, follower_to);
    uint32_t to = ebb_ordering_range(&l->o, from).last;
    ebb_order_lane_move(l, from, to);
    double next = energy(l);
    if (next < *now) {
        *now = next;
        return;
    }
    ebb_order_lane_move(l, to, from);
    ebb_order_lane_move(l, follower_to, follower);
}

/* A weight's gradient and its update, say: either alone would only make the large value between them live
 * longer, but both late, where the activations are gone, cost nothing. False: enough. */
static bool sweep_pairs(ebb_order_lane *l) {
    double now = energy(l);
    const int64_t most_walked = l->n_walked + STAGE_WALK;
    for (ebb_id op = l->o.facts->n_ops; op-- > 0 && l->n_walked < most_walked;) {
        if (op % LOOK == LOOK - 1 && !goes_on(l)) return false;
        try_late(l, op, &now);
        if (ebb_order_lane_peak(l) >= l->best_peak) continue;
        if (!note_best(l)) return false;
        now = energy(l);
    }
    return true;
}

/* ---- stages -------------------------------------------------------------------------------------- */

/* One stage at a temperature. False: enough. */
static bool run_stage(ebb_order_lane *l, double temperature, int64_t n_moves) {
    double now = energy(l);
    const int64_t most_walked = l->n_walked + STAGE_WALK;
    for (int64_t i = 0; i < n_moves && l->n_walked < most_walked; i++) {
        if (i % LOOK == 0 && !goes_on(l)) return false;
        uint32_t from = ebb_rng_below(&l->rng, l->o.facts->n_ops),
                 to = ebb_ordering_draw(&l->o, &l->rng, from);
        if (from == to) continue;
        ebb_order_lane_move(l, from, to);
        double next = energy(l);
        if (!ebb_metropolis(&l->rng, next - now, temperature)) {
            ebb_order_lane_move(l, to, from);
            continue;
        }
        now = next;
        if (ebb_order_lane_peak(l) >= l->best_peak) continue;
        if (!note_best(l)) return false;
        now = energy(l);
    }
    return true;
}

static bool gained(const ebb_order_lane *l) {
    return l->best_peak <= l->first_peak - l->first_peak / 100 && l->best_peak < l->first_peak;
}

static void run_lane(void *ctx, uint32_t i, uint32_t worker) {
    (void)worker;
    ebb_order_lane *l = &((ebb_order_lane *)ctx)[i];
    int64_t n = l->request->n_moves / STAGES + 1;
    if (!sweep_pairs(l)) return;
    for (uint32_t stage = 0; stage < TEST_STAGES; stage++)
        if (!run_stage(l, COLD, n)) return;
    double temperature = HOT;
    for (uint32_t stage = 0; stage < STAGES && gained(l); stage++, temperature *= COOLING)
        if (!run_stage(l, temperature, n)) return;
}

/* ---- back to the graph's own order --------------------------------------------------------------- */

#define HOME_WORK INT64_C(20000000) /* positions and blocks that it may look at: tenths of a second */
#define SWAP_WORK 8                 /* of one swap, beside a block for 64 ops */

/* Annealing looks at peaks alone, so ops that have no part in them stand anywhere. A graph's own order is
 * seldom without sense: what makes something small of something large comes right after it. Neighbours
 * change places until none can without more being live at either place, for with recomputation other
 * positions become the peak. */
static void come_home(ebb_order_lane *l) {
    uint32_t n = l->o.facts->n_ops;
    int64_t n_swaps = HOME_WORK / (SWAP_WORK + n / 64);
    ebb_order_lane_restore(l);
    for (bool swapped = true; swapped;) {
        swapped = false;
        for (uint32_t p = 0; p + 1 < n; p++) {
            if (l->o.order[p] < l->o.order[p + 1] || ebb_ordering_range(&l->o, p).last == p) continue;
            if (n_swaps-- == 0 || (n_swaps % LOOK == 0 && !goes_on(l))) return;
            int64_t most = ebb_max_i64(l->use[p], l->use[p + 1]);
            ebb_order_lane_move(l, p, p + 1);
            if (ebb_max_i64(l->use[p], l->use[p + 1]) > most)
                ebb_order_lane_move(l, p + 1, p);
            else
                swapped = true;
        }
    }
}

ebb_status ebb_order_find(ebb_arena *arena, const ebb_order_facts *facts, const ebb_order_request *request,
                          const ebb_id **order) {
    *order = NULL;
    ebb_order_lane *lanes = EBB_NEW(arena, ebb_order_lane, LANES);
    if (!lanes) return EBB_NO_MEMORY;
    if (facts->n_ops == 0) return EBB_OK;
    for (uint32_t k = 0; k < LANES; k++) {
        if (!ebb_order_lane_open(&lanes[k], arena, facts)) return EBB_NO_MEMORY;
        lanes[k].request = request;
        ebb_rng_init(&lanes[k].rng, request->seed, UINT64_MAX - k);
        aim(&lanes[k]);
    }
    ebb_parallel_for(request->n_workers, LANES, run_lane, lanes);
    ebb_order_lane *best = &lanes[0];
    for (uint32_t k = 1; k < LANES; k++)
        if (lanes[k].best_peak < best->best_peak) best = &lanes[k];
    if (!gained(best)) return EBB_OK;
    *order = best->best_order;
    if (best->best_peak <= request->target_bytes) return EBB_OK; /* nothing is recomputed then */
    come_home(best);
    *order = best->o.order;
    return EBB_OK;
}
