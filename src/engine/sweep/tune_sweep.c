/* The sweep of ebb_tune. cost: a dozen plans with a sixteenth of the base's effort, and one with half of
 * it: of a search's, for a plan whose packing asks for several searches has more candidates. */
#include "engine/sweep/tune.h"

#include <stdio.h>

/* The parameters are tried with one part in so many of the default's effort, and at least so much. */
#define TRIAL_PART   16
#define LEAST_TRIAL  2000
/* So much less planning time makes another number of workers worth writing down. */
#define WORKERS_GAIN 0.8

/* ---- one parameter at a time ----------------------------------------------------------------- */

#define AT(name)     offsetof(ebb_config, name)
static const struct variation {
    const char *name;
    size_t offset;
    bool on_top; /* the values are added to the base's */
    int64_t values[2];
} variations[] = {
    {"thresh_nr_try", AT(sublinear.thresh_nr_try), false, {0, 40}},
    {"genetic_nr_iter", AT(sublinear.genetic_nr_iter), false, {8, 32}},
    {"genetic_pool_size", AT(sublinear.genetic_pool_size), false, {5, 40}},
    {"search_seed", AT(search_seed), true, {1, 2}},
};

static int64_t *field(ebb_config *config, const struct variation *v) {
    return (int64_t *)((char *)config + v->offset);
}

/* The search's seed counts from what it is when nobody says it; effort is not compared. */
static int64_t base_value(const ebb_tuner *t, ebb_config *base, const struct variation *v) {
    if (v->offset == AT(search_seed) && base->search_seed < 0)
        return (int64_t)(t->options.seed & (uint64_t)(INT64_MAX >> 1));
    return *field(base, v);
}

/* Rows with the variation's values in place of the trial's; *together takes the best of them. */
static ebb_status vary(ebb_tuner *t, const struct variation *v, const ebb_tune_row *trial,
                       ebb_config *together) {
    const ebb_tune_row *best = trial;
    ebb_status status = EBB_OK;
    for (size_t i = 0; i < EBB_COUNT(v->values) && status == EBB_OK && !t->over; i++) {
        char what[64];
        ebb_config c = trial->config;
        int64_t base = base_value(t, &c, v), value = v->values[i] + (v->on_top ? base : 0);
        uint32_t n = t->result->n_rows;
        if (value == base) continue;
        *field(&c, v) = value;
        (void)snprintf(what, sizeof what, "%s %lld", v->name, (long long)value);
        status = ebb_tune_add_row(t, what, &c, false);
        const ebb_tune_row *row = &t->result->rows[n];
        if (status != EBB_OK || t->result->n_rows == n || !ebb_tune_faster(row, best)) continue;
        best = row;
        *field(together, v) = value;
    }
    return status;
}

/* Workers change no plan: only what planning takes. */
static ebb_status vary_workers(ebb_tuner *t, const ebb_tune_row *trial) {
    const int64_t numbers[] = {1, ebb_cpu_count()};
    int64_t best_ns = (int64_t)(WORKERS_GAIN * (double)trial->planning_ns);
    ebb_status status = EBB_OK;
    for (size_t i = 0; i < EBB_COUNT(numbers) && status == EBB_OK && !t->over; i++) {
        char what[64];
        ebb_config c = trial->config;
        uint32_t n = t->result->n_rows;
        if (numbers[i] == c.sublinear.num_worker) continue;
        c.sublinear.num_worker = numbers[i];
        (void)snprintf(what, sizeof what, "num_worker %lld", (long long)numbers[i]);
        status = ebb_tune_add_row(t, what, &c, false);
        if (status != EBB_OK || t->result->n_rows == n || t->result->rows[n].planning_ns >= best_ns)
            continue;
        best_ns = t->result->rows[n].planning_ns;
        t->result->num_worker = numbers[i];
    }
    return status;
}

/* The best value of each, with half the base's effort; where none is better than the base's, another seed.
 */
static ebb_status add_together(ebb_tuner *t, const ebb_tune_row *base, ebb_config *together) {
    const struct variation *seed = &variations[EBB_COUNT(variations) - 1];
    char what[64] = "best of each, half the effort";
    if (ebb_tune_same_plan(&base->config, together)) {
        together->search_seed = base_value(t, together, seed) + 1;
        (void)snprintf(what, sizeof what, "search_seed %lld, half the effort",
                       (long long)together->search_seed);
    }
    together->effort = t->effort / 2;
    if (!ebb_tune_has_time(t, base->planning_ns / 2)) {
        t->result->cut_short = true;
        return EBB_OK;
    }
    return ebb_tune_add_row(t, what, together, false);
}

ebb_status ebb_tune_sweep(ebb_tuner *t) {
    ebb_tune_result *r = t->result;
    const ebb_tune_row *base = &r->rows[r->n_rows - 1];
    ebb_config c = base->config, together = base->config;
    if (base->n_candidates <= LEAST_TRIAL)
        return EBB_OK; /* every candidate was scored, or none was needed */
    char what[64];
    uint32_t n = r->n_rows;
    ebb_status status = EBB_OK;
    c.effort = ebb_max_i64(LEAST_TRIAL, t->effort / TRIAL_PART);
    for (int k = 0; k < 2 && status == EBB_OK; k++) {
        (void)snprintf(what, sizeof what, "effort %lld", (long long)c.effort);
        status = ebb_tune_add_row(t, what, &c, false);
        c.effort = c.effort / 4 + 1;
    }
    if (status != EBB_OK || r->n_rows == n) return status;
    for (size_t i = 0; i < EBB_COUNT(variations) && status == EBB_OK; i++)
        status = vary(t, &variations[i], &r->rows[n], &together);
    if (status == EBB_OK && !ebb_tune_near(r, base->time_ns, r->bound_time_ns))
        status = add_together(t, base, &together);
    return status == EBB_OK ? vary_workers(t, &r->rows[n]) : status;
}
