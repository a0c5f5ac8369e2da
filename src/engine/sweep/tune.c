/* One plan after the other, by configs that differ in one parameter each, and which of them to take.
 *
 * takes: a planning graph and a budget. gives: rows and the one that is recommended. cost: a search and
 * a half, and a dozen of a sixteenth.
 */
#include "engine/sweep/tune.h"

#include <stdio.h>

#define MEGENGINE_ITERATIONS 50 /* of its own benchmark scripts */
#define MEGENGINE_MANY       500
/* Times that differ by less than one part in so many of the baseline's are worth no further candidates. */
#define TIME_PART            1000

static ebb_config default_config(const ebb_tuner *t) {
    ebb_config c = {.method = EBB_CONFIG_BUDGET,
                    .seed = t->given.seed,
                    .search_seed = t->given.search_seed,
                    .time_limit_ms = -1};
    ebb_sublinear_config_init(&c.sublinear);
    c.sublinear.num_worker = t->given.sublinear.num_worker;
    return c;
}

bool ebb_tune_same_plan(const ebb_config *a, const ebb_config *b) {
    return a->method == b->method && a->sublinear.thresh_nr_try == b->sublinear.thresh_nr_try &&
           a->sublinear.genetic_nr_iter == b->sublinear.genetic_nr_iter &&
           a->sublinear.genetic_pool_size == b->sublinear.genetic_pool_size &&
           a->sublinear.lb_memory_bytes == b->sublinear.lb_memory_bytes &&
           a->search_seed == b->search_seed && a->effort == b->effort;
}

/* ---- one row --------------------------------------------------------------------------------- */

static void set_options(ebb_tuner *t, const ebb_config *config) {
    ebb_options *o = &t->options;
    bool budget = config->method == EBB_CONFIG_BUDGET;
    o->memory = budget ? EBB_MEMORY_BUDGET : EBB_MEMORY_MEGENGINE;
    o->budget_bytes = budget ? t->result->budget_bytes : -1;
    o->sublinear = config->sublinear;
    o->search_seed = config->search_seed;
    o->effort = config->effort;
}

static void note_plan(ebb_tuner *t, ebb_tune_row *row, const ebb_compiled *compiled) {
    ebb_plan_summary s;
    ebb_plan_summarize(compiled->plan, &s);
    row->found = true;
    row->fits = s.total_bytes <= t->result->budget_bytes;
    row->total_bytes = s.total_bytes;
    row->time_ns = s.time_ns;
    row->n_candidates = compiled->n_scored;
    t->result->baseline_total_bytes = s.baseline_total_bytes;
    t->result->baseline_time_ns = s.baseline_time_ns;
    if (row->config.method == EBB_CONFIG_BUDGET)
        t->result->bound_time_ns = ebb_max_i64(t->result->bound_time_ns, s.bound_time_ns);
}

bool ebb_tune_has_time(const ebb_tuner *t, int64_t needed_ns) {
    if (t->deadline_ns == 0) return true;
    uint64_t now_ns = ebb_clock_ns(t->env);
    return now_ns < t->deadline_ns && (uint64_t)needed_ns <= t->deadline_ns - now_ns;
}

/* A row that the time limit cuts short is not one that another run would repeat: it is left out, but for a
 * default, which all others are compared with. */
static ebb_status take_row(ebb_tuner *t, ebb_tune_row *row, const ebb_compiled *compiled,
                           ebb_status status) {
    ebb_tune_result *r = t->result;
    t->over =
        t->over || compiled->hurried || (t->deadline_ns > 0 && ebb_clock_ns(t->env) >= t->deadline_ns);
    r->cut_short = r->cut_short || compiled->hurried;
    row->cut_short = compiled->hurried;
    if (status == EBB_OK) note_plan(t, row, compiled);
    if (status == EBB_OK && row->is_default && row->config.method == EBB_CONFIG_BUDGET)
        t->effort = compiled->effort;
    if (status == EBB_OK && (row->is_default || !compiled->hurried)) r->n_rows++;
    if (status == EBB_OVER_BUDGET && row->is_default && compiled->hurried)
        return ebb_fail(t->env, status, "%s; the time limit ended that search", ebb_env_error(t->env));
    if (status != EBB_OVER_BUDGET || row->is_default) return status;
    if (!compiled->hurried) r->n_rows++;
    return EBB_OK;
}

ebb_status ebb_tune_add_row(ebb_tuner *t, const char *what, const ebb_config *config, bool is_default) {
    ebb_tune_result *r = t->result;
    if (t->over && !is_default) r->cut_short = true;
    if ((t->over && !is_default) || r->n_rows == EBB_TUNE_MAX_ROWS) return EBB_OK;
    ebb_tune_row *row = &r->rows[r->n_rows];
    *row = (ebb_tune_row){
        .config = *config, .is_default = is_default, .total_bytes = -1, .time_ns = -1, .n_candidates = -1};
    (void)snprintf(row->what, sizeof row->what, "%s", what);
    ebb_compiled compiled = {0};
    /* All rows within the budget have one bound: it is proved once. A default has an answer, however late.
     */
    ebb_hint hint = {.deadline_ns = t->deadline_ns,
                     .grace_ns = is_default ? EBB_UNTIL_ONE_FITS : 0,
                     .bound_time_ns = r->bound_time_ns};
    set_options(t, config);
    uint64_t began_ns = ebb_clock_ns(t->env);
    ebb_status status = ebb_compile_plan(t->env, t->facts, t->backend, &t->options, &hint, &compiled);
    row->planning_ns = (int64_t)(ebb_clock_ns(t->env) - began_ns);
    status = take_row(t, row, &compiled, status);
    ebb_compiled_deinit(t->env, &compiled);
    return status;
}

/* ---- the defaults ---------------------------------------------------------------------------- */

/* What a budget leaves beside what is there in every plan; 0 or less: nothing. */
static int64_t room_bytes(const ebb_tuner *t) {
    int64_t standing = t->facts->fixed_bytes; /* the baseline's sum fits */
    for (uint32_t v = 0; v < t->facts->n_values; v++)
        if (t->facts->values[v].producer == EBB_NONE && ebb_role_persistent(t->facts->values[v].role))
            standing += ebb_align_up(t->facts->values[v].bytes,
                                     t->backend ? t->backend->api->alignment : EBB_ALIGNMENT);
    return t->result->budget_bytes - standing;
}

/* MegEngine's search, off and on; then with memory given back up to what the budget leaves. It knows no
 * values to keep or to drop. */
static ebb_status add_megengine(ebb_tuner *t) {
    static const int64_t iterations[] = {0, MEGENGINE_ITERATIONS, MEGENGINE_MANY};
    char what[64];
    ebb_config c = default_config(t);
    if (t->options.n_keep + t->options.n_drop > 0) return EBB_OK;
    c.method = EBB_CONFIG_MEGENGINE;
    ebb_status status = ebb_tune_add_row(t, "default, genetic search off", &c, true);
    c.sublinear.genetic_nr_iter = MEGENGINE_ITERATIONS;
    (void)snprintf(what, sizeof what, "default, MegEngine's genetic search on (%d)", MEGENGINE_ITERATIONS);
    if (status == EBB_OK) status = ebb_tune_add_row(t, what, &c, true);
    c.sublinear.lb_memory_bytes = room_bytes(t);
    for (size_t i = 0; i < EBB_COUNT(iterations) && status == EBB_OK && c.sublinear.lb_memory_bytes > 0;
         i++) {
        c.sublinear.genetic_nr_iter = iterations[i];
        (void)snprintf(what, sizeof what, "MegEngine's, lb_memory to the budget (%lld)",
                       (long long)iterations[i]);
        status = ebb_tune_add_row(t, what, &c, false);
    }
    return status;
}

static ebb_status add_defaults(ebb_tuner *t) {
    ebb_config c = default_config(t);
    ebb_status status = add_megengine(t);
    if (status == EBB_OK) status = ebb_tune_add_row(t, "default", &c, true);
    t->given.method = EBB_CONFIG_BUDGET;
    if (status == EBB_OK && !ebb_tune_same_plan(&t->given, &c))
        status = ebb_tune_add_row(t, "as given", &t->given, true);
    return status;
}

bool ebb_tune_faster(const ebb_tune_row *a, const ebb_tune_row *b) {
    if (a->fits != b->fits) return a->fits;
    return a->fits &&
           (a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->total_bytes < b->total_bytes));
}

bool ebb_tune_near(const ebb_tune_result *r, int64_t time_ns, int64_t than_ns) {
    return time_ns - than_ns <= r->baseline_time_ns / TIME_PART;
}

/* ---- which of them --------------------------------------------------------------------------- */

/* Within the budget, and before every default that is there: by time, then bytes, then candidates. What a
 * default would have found that the time limit cut short nobody knows: then only a default will do. */
static bool allowed(const ebb_tune_result *r, const ebb_tune_row *row) {
    if (!row->fits) return false;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const ebb_tune_row *d = &r->rows[i];
        if (d->cut_short && d->config.method == EBB_CONFIG_BUDGET && !row->is_default) return false;
        if (!d->is_default || !d->fits || d == row) continue;
        if (row->time_ns != d->time_ns ? row->time_ns > d->time_ns : row->total_bytes > d->total_bytes)
            return false;
        if (row->time_ns == d->time_ns && row->total_bytes == d->total_bytes &&
            row->n_candidates > d->n_candidates)
            return false;
    }
    return true;
}

uint32_t ebb_tune_recommend(const ebb_tune_result *r) {
    int64_t best_ns = INT64_MAX, least = INT64_MAX;
    uint32_t best = r->n_rows;
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (allowed(r, &r->rows[i])) best_ns = ebb_min_i64(best_ns, r->rows[i].time_ns);
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (allowed(r, &r->rows[i]) && ebb_tune_near(r, r->rows[i].time_ns, best_ns))
            least = ebb_min_i64(least, r->rows[i].n_candidates);
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const ebb_tune_row *row = &r->rows[i];
        if (!allowed(r, row) || !ebb_tune_near(r, row->time_ns, best_ns)) continue;
        if (row->n_candidates - least > least / 10) continue; /* seeds differ by a few candidates */
        if (best == r->n_rows || ebb_tune_faster(row, &r->rows[best])) best = i;
    }
    return best;
}

static ebb_status tune(ebb_tuner *t, const ebb_model *model, const ebb_dim_binding *dims, uint32_t n_dims) {
    ebb_compiled compiled = {0};
    ebb_status status = model->planning ? EBB_OK : ebb_open_backend(t->env, &t->options, &t->backend);
    if (status == EBB_OK)
        status =
            ebb_compile_facts(t->env, model, dims, n_dims, &t->options, t->backend, &compiled, &t->facts);
    if (status == EBB_OK) status = add_defaults(t);
    if (status == EBB_OK) status = ebb_tune_sweep(t);
    if (status == EBB_OK || status == EBB_INTERRUPTED)
        t->result->recommended = ebb_tune_recommend(t->result);
    ebb_compiled_deinit(t->env, &compiled);
    if (t->backend) t->backend->api->destroy(t->backend);
    return status;
}

ebb_status ebb_tune(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims, uint32_t n_dims,
                    const ebb_options *options, int64_t budget_bytes, ebb_tune_result **out) {
    *out = NULL;
    if (budget_bytes <= 0)
        return ebb_fail(env, EBB_USAGE, "the budget is %lld bytes; it must be at least 1",
                        (long long)budget_bytes);
    ebb_status status = ebb_options_check_but_mode(env, options);
    if (status != EBB_OK) return status;
    ebb_tune_result *result = ebb_calloc(env, 1, sizeof *result);
    if (!result) return EBB_NO_MEMORY;
    result->budget_bytes = budget_bytes;
    result->num_worker = options->sublinear.num_worker;
    ebb_tuner t = {.env = env,
                   .options = *options,
                   .result = result,
                   .deadline_ns = ebb_options_deadline_ns(env, options),
                   .given = {.sublinear = options->sublinear,
                             .seed = (int64_t)(options->seed & INT64_MAX),
                             .search_seed = (int64_t)(ebb_options_search_seed(options) & INT64_MAX),
                             .effort = options->effort,
                             .time_limit_ms = -1}};
    t.options.time_limit_s = 0; /* it is the sweep's, not a row's */
    t.options.cache = NULL;     /* a row's planning is measured */
    status = tune(&t, model, dims, n_dims);
    if (status == EBB_OK || (status == EBB_INTERRUPTED && result->n_rows > 0))
        *out = result;
    else
        ebb_tune_result_destroy(env, result);
    return status;
}

void ebb_tune_result_destroy(ebb_env *env, ebb_tune_result *result) {
    ebb_cfree(env, result, 1, sizeof *result);
}
