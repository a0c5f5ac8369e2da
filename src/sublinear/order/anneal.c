/* Annealing over orders. A move takes one op to another place; what it changes lies between the two places,
 * so that only these positions are looked at again. */
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
        int64_t peak = ebb_order_lane_peak(l);
        if (peak >= l->best_peak) continue;
        l->best_peak = peak;
        memcpy(l->best_order, l->o.order, l->o.facts->n_ops * sizeof(*l->o.order));
        if (peak <= l->request->target_bytes) return false;
        aim(l);
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
    for (uint32_t stage = 0; stage < TEST_STAGES; stage++)
        if (!run_stage(l, COLD, n)) return;
    double temperature = HOT;
    for (uint32_t stage = 0; stage < STAGES && gained(l); stage++, temperature *= COOLING)
        if (!run_stage(l, temperature, n)) return;
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
    ebb_status status = ebb_parallel_for(arena->env, request->n_workers, LANES, run_lane, lanes);
    if (status != EBB_OK) return status;
    const ebb_order_lane *best = &lanes[0];
    for (uint32_t k = 1; k < LANES; k++)
        if (lanes[k].best_peak < best->best_peak) best = &lanes[k];
    if (gained(best)) *order = best->best_order;
    return EBB_OK;
}
