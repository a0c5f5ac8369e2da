/* One batch: does it fit, how, and what else could be done. */
#include "engine/sweep/fit.h"

/* The op whose results depend on which items are in the batch together. */
#define BATCH_STATISTICS "bn_stats"

/* What misses the budget by more than one part of the arena in so many is hardly found by another draw. A
 * plan by itself draws again up to twice that: here a person also waits for what could be done instead. */
#define DRAW_AGAIN_PART  16

/* The batch in one mode. like: a plan of another size whose very steps it takes, or NULL. */
static ebb_status try_way(ebb_fitter *f, int64_t batch, ebb_memory_mode mode, const ebb_compiled *like,
                          ebb_fit_way *way) {
    *way = (ebb_fit_way){.mode = mode, .total_bytes = -1, .time_ns = -1, .baseline_time_ns = -1};
    f->options.memory = mode;
    f->options.budget_bytes = mode == EBB_MEMORY_BUDGET ? f->budget_bytes : -1;
    f->dims[f->n_dims - 1].size = batch;
    ebb_compiled compiled;
    ebb_hint hint = {.warm = like,
                     .no_search = like != NULL,
                     .near_part = DRAW_AGAIN_PART,
                     .smallest_bytes = &way->total_bytes,
                     .smallest = like || mode != EBB_MEMORY_BUDGET ? NULL : &f->refused,
                     .deadline_ns = f->deadline_ns};
    ebb_status status =
        ebb_compile_model(f->env, f->model, f->dims, f->n_dims, &f->options, f->backend, &hint, &compiled);
    if (status == EBB_OVER_BUDGET) return EBB_OK;
    if (status != EBB_OK && status != EBB_INTERRUPTED) return status;
    if (compiled.plan) {
        ebb_plan_summary s;
        way->fits = ebb_fit_acceptable(f, compiled.plan, &way->total_bytes);
        ebb_plan_summarize(compiled.plan, &s);
        way->time_ns = s.time_ns;
        way->baseline_time_ns = s.baseline_time_ns;
        way->plan = compiled.plan;
        compiled.plan = NULL;
        ebb_status held = ebb_plan_audit(f->env, way->plan);
        if (held != EBB_OK) status = held == EBB_VIOLATION ? EBB_INTERNAL : held;
    }
    ebb_compiled_deinit(f->env, &compiled);
    return status;
}

/* ---- accumulation ---------------------------------------------------------------------------- */

/* Bytes of the sums: one for each param that an op updates. */
static int64_t sums_bytes(const ebb_pgraph *graph, int64_t alignment) {
    int64_t sum = 0; /* they are persistent bytes of a plan, so the sum fits */
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const ebb_pop *op = &graph->ops[i];
        for (uint32_t k = 0; k < op->n_update; k++) {
            const ebb_pvalue *value = &graph->values[op->in[op->update[k].in]];
            if (value->role == EBB_ROLE_PARAM) sum += ebb_align_up(value->bytes, alignment);
        }
    }
    return sum;
}

static uint32_t count_batch_norms(const ebb_pgraph *graph) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->n_ops; i++) n += strcmp(graph->ops[i].kind, BATCH_STATISTICS) == 0;
    return n;
}

static int64_t parts(int64_t whole, int64_t part) {
    return (whole - 1) / part + 1;
}

/* The fewest micro-batches of even sizes, at least two, that fit in place. whole: the batch's plan in
 * place. */
static ebb_status accumulate(ebb_fitter *f, const ebb_plan *whole, int64_t batch,
                             ebb_fit_accumulation *out) {
    ebb_fit_row largest;
    ebb_fit_way micro;
    int64_t budget_bytes = f->budget_bytes, sums = sums_bytes(whole->graph, whole->alignment);
    *out = (ebb_fit_accumulation){.n_batch_norms = count_batch_norms(whole->graph)};
    if (batch < 2 || sums >= budget_bytes) return EBB_OK;
    f->budget_bytes -= sums;
    ebb_status status = ebb_fit_mode(f, EBB_MEMORY_IN_PLACE, 0, &largest);
    f->budget_bytes = budget_bytes;
    ebb_plan_destroy(largest.plan);
    if (status != EBB_OK || largest.batch == 0) return status;
    int64_t n = ebb_max_i64(2, parts(batch, largest.batch)), size = parts(batch, n);
    status = try_way(f, size, EBB_MEMORY_IN_PLACE, NULL, &micro);
    if (status == EBB_OK) {
        out->micro_batch = size;
        out->n_micro = parts(batch, size);
        out->total_bytes = micro.total_bytes + sums;
        if (!ebb_mul_i64(micro.time_ns, out->n_micro, &out->time_ns))
            status = ebb_fail(f->env, EBB_BAD_INPUT, "the time of %lld micro-batches is beyond 63 bits",
                              (long long)out->n_micro);
    }
    ebb_plan_destroy(micro.plan);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Is a search over sizes to be waited for? */
static bool is_costly(const ebb_fitter *f) {
    int64_t work;
    return !ebb_mul_i64(f->refused.n_candidates, f->refused.plan->graph->n_ops, &work) ||
           work > EBB_FIT_CHEAP_WORK;
}

/* The largest batch: by a search over sizes, or, where that takes its time, by the steps of the batch's own
 * smallest plan. */
static ebb_status largest_within(ebb_fitter *f, const ebb_fit_batch_result *r, int64_t start,
                                 ebb_fit_row *row) {
    const bool by_steps = f->refused.n_genes > 0 && is_costly(f);
    f->refused_size = by_steps ? r->batch : 0;
    ebb_status status = ebb_fit_mode(f, EBB_MEMORY_BUDGET, start, row);
    f->refused_size = 0;
    /* Nothing beyond it by those steps, which may take too long; where not even one item fits, it is said.
     */
    if (status != EBB_OK || !by_steps || row->batch > start || row->batch == 0) return status;
    ebb_plan_destroy(row->plan);
    return ebb_fit_mode(f, EBB_MEMORY_BUDGET, start, row);
}

/* The smallest budget: of the plan with the fewest bytes that was found, or, where that takes too much
 * time, in place. */
static ebb_status suggest(ebb_fitter *f, ebb_fit_batch_result *r) {
    const ebb_fit_way *in_place = &r->ways[1], *within = &r->ways[3];
    r->smallest_budget_bytes = in_place->total_bytes;
    for (uint32_t i = 0; i < r->n_ways && !within->plan;
         i++) /* MegEngine's search may find a smaller one */
        if (r->ways[i].total_bytes >= 0)
            r->smallest_budget_bytes = ebb_min_i64(r->smallest_budget_bytes, r->ways[i].total_bytes);
    ebb_fit_row plain, row = {0};
    ebb_status status = ebb_fit_mode(f, EBB_MEMORY_IN_PLACE, 0, &plain);
    ebb_plan_destroy(plain.plan);
    if (status != EBB_OK) return status;
    r->largest_batch = plain.batch;
    status = largest_within(f, r, plain.batch, &row);
    r->largest_batch = ebb_max_i64(r->largest_batch, row.batch);
    if (status == EBB_OK && row.batch >= r->batch) { /* then so does this one */
        const ebb_compiled larger = {.plan = row.plan};
        ebb_plan_destroy(r->ways[3].plan);
        status = try_way(f, r->batch, EBB_MEMORY_BUDGET, &larger, &r->ways[3]);
        r->fits = r->fits || r->ways[3].fits;
    }
    ebb_plan_destroy(row.plan);
    return status;
}

static ebb_status fit_batch(ebb_fitter *f, ebb_fit_batch_result *r) {
    static const ebb_memory_mode modes[] = {EBB_MEMORY_NONE, EBB_MEMORY_IN_PLACE, EBB_MEMORY_MEGENGINE,
                                            EBB_MEMORY_BUDGET};
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < EBB_COUNT(modes) && status == EBB_OK; i++) {
        status = try_way(f, r->batch, modes[i], NULL, &r->ways[i]);
        if (status == EBB_OK || r->ways[i].plan) r->n_ways++;
        r->fits = r->fits || r->ways[i].fits;
        if (status == EBB_OK && modes[i] == EBB_MEMORY_IN_PLACE)
            status = accumulate(f, r->ways[i].plan, r->batch, &r->accumulation);
    }
    return status == EBB_OK && !r->ways[3].fits ? suggest(f, r) : status;
}

ebb_status ebb_fit_batch(ebb_env *env, const ebb_model *model, const char *dim, const ebb_dim_binding *dims,
                         uint32_t n_dims, const ebb_options *options, int64_t budget_bytes,
                         double max_added, int64_t batch, ebb_fit_batch_result **out) {
    *out = NULL;
    if (batch < 1)
        return ebb_fail(env, EBB_USAGE, "the batch is %lld; it must be at least 1", (long long)batch);
    ebb_fitter f;
    ebb_fit_batch_result *result = NULL;
    ebb_status status =
        ebb_fitter_open(&f, env, model, dim, dims, n_dims, options, budget_bytes, max_added);
    if (status == EBB_OK && !(result = ebb_calloc(env, 1, sizeof *result))) status = EBB_NO_MEMORY;
    if (status == EBB_OK) {
        result->budget_bytes = budget_bytes;
        result->batch = batch;
        status = fit_batch(&f, result);
    }
    ebb_fitter_close(&f);
    if (status == EBB_OK || status == EBB_INTERRUPTED)
        *out = result;
    else
        ebb_fit_batch_result_destroy(env, result);
    return status;
}

void ebb_fit_batch_result_destroy(ebb_env *env, ebb_fit_batch_result *result) {
    if (!result) return;
    for (uint32_t i = 0; i < EBB_COUNT(result->ways); i++) ebb_plan_destroy(result->ways[i].plan);
    ebb_cfree(env, result, 1, sizeof *result);
}
