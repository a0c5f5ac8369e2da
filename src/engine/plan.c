/* select, rewrite, plan, certify: a planning graph becomes a plan within a budget. */
#include "engine/engine.h"

/* The search sees live bytes; a packing may need a little more. So often is the search's limit tightened.
 */
#define MAX_TIGHTENINGS 6

typedef struct planner {
    ebb_env *env;
    const ebb_pgraph *facts;
    const ebb_options *options;
    const char *backend;
    uint32_t n_threads;
    int64_t alignment;
    int64_t standing_bytes; /* persistent + fixed: there in every plan */
    ebb_plan *baseline;     /* no recomputation, in place */
    ebb_hint hint;
} planner;

static ebb_status make_plan(planner *p, const ebb_selection *selection, ebb_reuse reuse, ebb_plan **out) {
    *out = NULL;
    ebb_pgraph *scheduled;
    ebb_status status = ebb_rewrite(p->env, p->facts, selection->steps, selection->n_steps, &scheduled);
    if (status != EBB_OK) return status;
    const ebb_options *o = p->options;
    ebb_plan_request request = {.graph = p->facts,
                                .scheduled = scheduled,
                                .alternative = selection->alternative,
                                .backend = p->backend,
                                .n_threads = p->n_threads,
                                .alignment = p->alignment,
                                .reuse = reuse,
                                .n_workers = (uint32_t)o->sublinear.num_worker,
                                .budget_bytes = o->memory == EBB_MEMORY_BUDGET ? o->budget_bytes : -1};
    status = ebb_plan_make(p->env, &request, out);
    ebb_pgraph_destroy(scheduled);
    return status;
}

static void report(void *ctx, int64_t done, int64_t total, int64_t best_ns) {
    const planner *p = ctx;
    double base = (double)ebb_max_i64(1, p->baseline->time_ns);
    p->options->on_progress(p->options->progress_ctx, done, total,
                            best_ns < 0 ? -1 : (double)best_ns / base - 1);
}

static ebb_status search(planner *p, ebb_method method, int64_t limit_bytes, const uint8_t *genes,
                         uint32_t n_genes, ebb_selection **out) {
    const ebb_options *o = p->options;
    ebb_select_request request = {.graph = p->facts,
                                  .method = method,
                                  .alignment = p->alignment,
                                  .peak_budget_bytes = limit_bytes,
                                  .config = o->sublinear,
                                  .effort = o->effort,
                                  .effort_part = p->hint.effort_part,
                                  .time_limit_ns = (uint64_t)(o->time_limit_s * 1e9),
                                  .seed = o->seed,
                                  .warm_genes = genes,
                                  .n_warm_genes = n_genes};
    if (o->on_progress && p->baseline) {
        request.on_progress = report;
        request.progress_ctx = p;
    }
    return ebb_select(p->env, &request, out);
}

static ebb_status plan_baseline(planner *p, ebb_selection **selection) {
    ebb_status status = search(p, EBB_METHOD_NONE, 0, NULL, 0, selection);
    if (status == EBB_OK) status = make_plan(p, *selection, EBB_REUSE_IN_PLACE, &p->baseline);
    if (status == EBB_OK) p->standing_bytes = p->baseline->total_bytes - p->baseline->arena_bytes;
    return status;
}

/* Searches under ever tighter limits until the packed plan is within the budget. *out NULL with
 * EBB_OVER_BUDGET. */
static ebb_status plan_within(planner *p, const uint8_t *genes, uint32_t n_genes, ebb_selection **selection,
                              ebb_plan **out) {
    int64_t budget = p->options->budget_bytes, limit = budget - p->standing_bytes;
    *out = NULL;
    for (uint32_t k = 0; k < MAX_TIGHTENINGS && limit >= 0; k++) {
        ebb_selection *found;
        ebb_status status = search(p, EBB_METHOD_BUDGET, limit, genes, n_genes, &found);
        if (!found) return status;
        ebb_selection_destroy(*selection);
        *selection = found;
        genes = found->genes;
        n_genes = found->n_genes;
        bool stopped = status == EBB_INTERRUPTED;
        ebb_plan *plan;
        status = make_plan(p, found, EBB_REUSE_IN_PLACE, &plan);
        if (status != EBB_OK) return status;
        if (plan->total_bytes <= budget) {
            *out = plan;
            return stopped ? EBB_INTERRUPTED : EBB_OK;
        }
        limit -= plan->total_bytes - budget;
        ebb_plan_destroy(plan);
        if (stopped) return EBB_INTERRUPTED;
    }
    return ebb_fail(p->env, EBB_OVER_BUDGET, "no plan found within %lld bytes", (long long)budget);
}

/* The smallest plan that can be had, with its selection: the least peak, or the baseline when that packs
 * better. */
static ebb_status plan_smallest(planner *p, ebb_selection **selection, ebb_plan **out) {
    ebb_status status = search(p, EBB_METHOD_LEAST, 0, NULL, 0, selection);
    if (status == EBB_OK) status = make_plan(p, *selection, EBB_REUSE_IN_PLACE, out);
    if (status != EBB_OK || (*out)->total_bytes <= p->baseline->total_bytes) return status;
    ebb_selection_destroy(*selection);
    ebb_plan_destroy(*out);
    *out = NULL;
    status = search(p, EBB_METHOD_NONE, 0, NULL, 0, selection);
    return status == EBB_OK ? make_plan(p, *selection, EBB_REUSE_IN_PLACE, out) : status;
}

/* Nothing was found within the budget: if the smallest plan fits after all, the search goes on from there.
 */
static ebb_status plan_from_smallest(planner *p, ebb_selection **selection, ebb_plan **out) {
    ebb_selection *smallest = NULL;
    ebb_plan *plan = NULL;
    ebb_status status = plan_smallest(p, &smallest, &plan);
    if (status == EBB_OK && plan->total_bytes > p->options->budget_bytes)
        status = ebb_fail(
            p->env, EBB_OVER_BUDGET,
            "%s: no plan within the budget of %lld bytes; the smallest found needs %lld bytes (%lld of "
            "them persistent or fixed); raise the budget or lower the batch",
            p->facts->name, (long long)p->options->budget_bytes, (long long)plan->total_bytes,
            (long long)p->standing_bytes);
    if (status == EBB_OK) {
        ebb_status better = plan_within(p, smallest->genes, smallest->n_genes, selection, out);
        if (better == EBB_OVER_BUDGET) { /* its own packing stands */
            ebb_selection_destroy(*selection);
            *selection = smallest;
            *out = plan;
            return EBB_OK;
        }
        status = better;
    }
    ebb_plan_destroy(plan);
    ebb_selection_destroy(smallest);
    return status;
}

static ebb_status plan_by_mode(planner *p, ebb_selection **selection, ebb_plan **out) {
    switch (p->options->memory) {
    case EBB_MEMORY_NONE:
        return make_plan(p, *selection, EBB_REUSE_NONE, out);
    case EBB_MEMORY_IN_PLACE:
        return make_plan(p, *selection, EBB_REUSE_IN_PLACE, out);
    case EBB_MEMORY_MEGENGINE: {
        ebb_selection *found;
        ebb_status status = search(p, EBB_METHOD_MEGENGINE, 0, NULL, 0, &found);
        if (!found) return status;
        ebb_selection_destroy(*selection);
        *selection = found;
        ebb_status made = make_plan(p, found, EBB_REUSE_IN_PLACE, out);
        return made != EBB_OK ? made : status;
    }
    case EBB_MEMORY_BUDGET:
        break;
    }
    if (p->baseline->total_bytes <= p->options->budget_bytes) {
        bool choice = false; /* alternatives and optional ops may still be faster */
        for (uint32_t i = 0; i < p->facts->n_ops; i++)
            choice = choice || p->facts->ops[i].n_alternatives > 0 || p->facts->ops[i].optional;
        if (!choice) return make_plan(p, *selection, EBB_REUSE_IN_PLACE, out);
    }
    const ebb_compiled *warm = p->hint.warm;
    ebb_status status = plan_within(p, warm ? warm->genes : NULL, warm ? warm->n_genes : 0, selection, out);
    return status == EBB_OVER_BUDGET ? plan_from_smallest(p, selection, out) : status;
}

static ebb_status certify(planner *p, ebb_plan *plan) {
    ebb_arena arena;
    ebb_arena_init(&arena, p->env);
    ebb_bound bound;
    const ebb_plan *b = p->baseline;
    int64_t budget =
        p->options->memory == EBB_MEMORY_BUDGET ? p->options->budget_bytes - p->standing_bytes : -1;
    ebb_status status = ebb_certify(&arena, p->facts, budget, p->alignment, &bound);
    if (status == EBB_OK)
        status = ebb_plan_certify(plan, b->arena_bytes, b->total_bytes, b->time_ns, bound.time_ns,
                                  bound.kind, bound.json);
    ebb_arena_deinit(&arena);
    return status;
}

static ebb_status dump_schedule(const planner *p, const ebb_selection *selection) {
    if (!p->options->dump || strcmp(p->options->dump, "schedule") != 0) return EBB_OK;
    ebb_pgraph *scheduled;
    ebb_status status = ebb_rewrite(p->env, p->facts, selection->steps, selection->n_steps, &scheduled);
    if (status == EBB_OK) status = ebb_dump_pgraph(p->env, p->options, "schedule", scheduled);
    if (status == EBB_OK) ebb_pgraph_destroy(scheduled);
    return status;
}

static ebb_status keep_genes(ebb_env *env, const ebb_selection *selection, ebb_compiled *out) {
    out->genes = ebb_calloc(env, selection->n_genes, 1);
    if (!out->genes) return EBB_NO_MEMORY;
    memcpy(out->genes, selection->genes, selection->n_genes);
    out->n_genes = selection->n_genes;
    return EBB_OK;
}

ebb_status ebb_chapter_plan(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                            const ebb_options *options, const ebb_hint *hint, ebb_compiled *out) {
    planner p = {.env = env,
                 .facts = facts,
                 .options = options,
                 .backend = backend ? backend->api->name : "none",
                 .n_threads = backend ? backend->n_threads : 1,
                 .alignment = backend ? backend->api->alignment : EBB_ALIGNMENT,
                 .hint = hint ? *hint : (ebb_hint){0}};
    ebb_selection *selection = NULL;
    ebb_plan *plan = NULL;
    ebb_status stopped = EBB_OK, status = plan_baseline(&p, &selection);
    if (status == EBB_OK) status = plan_by_mode(&p, &selection, &plan);
    if (status == EBB_INTERRUPTED && plan) stopped = status, status = EBB_OK;
    if (status == EBB_OK) status = certify(&p, plan);
    if (status == EBB_OK) status = dump_schedule(&p, selection);
    if (status == EBB_OK) status = keep_genes(env, selection, out);
    ebb_selection_destroy(selection);
    ebb_plan_destroy(p.baseline);
    if (status == EBB_OK)
        out->plan = plan;
    else
        ebb_plan_destroy(plan);
    return status == EBB_OK ? stopped : status;
}
