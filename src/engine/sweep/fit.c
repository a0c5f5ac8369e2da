/* The largest size of a dimension for which a plan is found that fits, for each memory mode. Without a
 * search (none, in place) that is the largest there is as far as bytes grow with the size; with one, a plan
 * for a larger size may exist that was not found. */
#include "engine/sweep/fit.h"

bool ebb_fit_acceptable(const ebb_fitter *f, const ebb_plan *plan, int64_t *total_bytes) {
    ebb_plan_summary s;
    ebb_plan_summarize(plan, &s);
    *total_bytes = s.total_bytes;
    if (s.total_bytes > f->budget_bytes) return false;
    return f->options.memory != EBB_MEMORY_BUDGET ||
           (double)s.time_ns <= (1 + f->max_added) * (double)s.baseline_time_ns;
}

bool ebb_fit_is_late(const ebb_fitter *f) {
    const bool searches =
        f->options.memory == EBB_MEMORY_MEGENGINE || f->options.memory == EBB_MEMORY_BUDGET;
    return searches && f->deadline_ns > 0 && ebb_clock_ns(f->env) >= f->deadline_ns;
}

static void note_failure(ebb_fitter *f, int64_t size, int64_t bytes) {
    if (size > f->best_size && (size <= f->failed_size || f->failed_size <= f->best_size)) {
        f->failed_size = size;
        f->failed_bytes = bytes;
    }
}

static char *copy_text(ebb_env *env, const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = ebb_calloc(env, n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

static void free_text(ebb_env *env, char *text) {
    if (text) ebb_cfree(env, text, strlen(text) + 1, 1);
}

static ebb_status note_try(ebb_fitter *f, int64_t size, const ebb_plan *plan) {
    ebb_plan_summary s;
    ebb_plan_summarize(plan, &s);
    if (!f->graph && !(f->graph = copy_text(f->env, s.graph_name))) return EBB_NO_MEMORY;
    ebb_fit_point row = {f->options.memory, size, s.total_bytes, s.time_ns, s.baseline_time_ns};
    f->last_added = (double)s.time_ns / (double)s.baseline_time_ns - 1;
    return EBB_PUSH(f->env, &f->tried, row) ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_fit_least(ebb_fitter *f, int64_t size) {
    ebb_hint hint = {.least = true,
                     .most_times = 1 + f->max_added,
                     .bound_time_ns = 1, /* none is asked for */
                     .deadline_ns = f->deadline_ns};
    ebb_compiled compiled;
    f->dims[f->n_dims - 1].size = size;
    ebb_status status =
        ebb_compile_model(f->env, f->model, f->dims, f->n_dims, &f->options, f->backend, &hint, &compiled);
    if (status != EBB_OK && status != EBB_INTERRUPTED) return status;
    if (!compiled.plan) {
        ebb_compiled_deinit(f->env, &compiled);
        return status;
    }
    if (!ebb_mul_i64(compiled.n_candidates, compiled.facts->n_ops, &f->search_work))
        f->search_work = INT64_MAX;
    ebb_compiled_deinit(f->env, &f->least);
    f->least = compiled;
    f->least_size = size;
    return status;
}

ebb_status ebb_fit_try(ebb_fitter *f, int64_t size, bool *fits, int64_t *total_bytes) {
    *fits = false;
    *total_bytes = INT64_MAX;
    f->dims[f->n_dims - 1].size = size;
    int64_t smallest_bytes = -1;
    ebb_compiled compiled;
    const ebb_compiled *warm = f->no_search ? &f->least : &f->best;
    ebb_hint hint = {.warm = f->warm && warm->n_genes > 0 ? warm : NULL,
                     .no_search = f->no_search,
                     .effort_part = f->effort_part,
                     .fits_or_not = f->fits_or_not,
                     .enough_times = f->climbs ? 1 + f->max_added : 0,
                     .smallest_bytes = &smallest_bytes,
                     .deadline_ns = f->deadline_ns};
    ebb_status status =
        ebb_compile_model(f->env, f->model, f->dims, f->n_dims, &f->options, f->backend, &hint, &compiled);
    if (status == EBB_OVER_BUDGET) {
        *total_bytes = smallest_bytes >= 0 ? smallest_bytes : INT64_MAX;
        note_failure(f, size, smallest_bytes);
        return EBB_OK;
    }
    /* One item is possible, so many are not: beyond what tensors or kernels can be. */
    if (status == EBB_BAD_INPUT && size > 1 && f->best_size > 0) {
        note_failure(f, size, -1);
        return EBB_OK;
    }
    if (status != EBB_OK && status != EBB_INTERRUPTED) return status;
    *fits = compiled.plan && ebb_fit_acceptable(f, compiled.plan, total_bytes);
    if (compiled.plan && status == EBB_OK) status = note_try(f, size, compiled.plan);
    if (!*fits) {
        if (compiled.plan) note_failure(f, size, *total_bytes);
        ebb_compiled_deinit(f->env, &compiled);
        return status;
    }
    ebb_compiled_deinit(f->env, &f->best);
    f->best = compiled;
    f->best_size = size;
    return status;
}

ebb_status ebb_fit_probe(ebb_fitter *f, int64_t size, int64_t *low, int64_t *high, int64_t *total_bytes) {
    bool fits;
    ebb_status status = ebb_fit_try(f, size, &fits, total_bytes);
    if (status == EBB_OK && fits)
        *low = size;
    else if (status == EBB_OK)
        *high = size;
    return status;
}

ebb_status ebb_fit_bisect(ebb_fitter *f, int64_t low, int64_t high, int64_t resolution) {
    ebb_status status = EBB_OK;
    int64_t bytes;
    while (status == EBB_OK && high - low > resolution && !ebb_fit_is_late(f))
        status = ebb_fit_probe(f, low + (high - low) / 2, &low, &high, &bytes);
    return status;
}

/* Bytes are nearly linear in the size: guess from two sizes, bracket the guess by growing steps, bisect. */
static ebb_status fit_plain(ebb_fitter *f) {
    bool fits;
    int64_t at_1, at_9, bytes, low = 0, high = EBB_FIT_MAX_SIZE;
    ebb_status status = ebb_fit_try(f, 1, &fits, &at_1);
    if (status != EBB_OK || !fits) return status;
    status = ebb_fit_try(f, 9, &fits, &at_9);
    if (status != EBB_OK) return status;
    if (!fits) return ebb_fit_bisect(f, 1, 9, 1);
    low = 9;
    double each = (double)ebb_max_i64(1, at_9 - at_1) / 8,
           guess = 9 + (double)(f->budget_bytes - at_9) / each;
    int64_t size = guess < (double)(EBB_FIT_MAX_SIZE - 1) ? (int64_t)guess : EBB_FIT_MAX_SIZE - 1,
            step = 1 + size / 256;
    while (status == EBB_OK && size > low && size < high && !ebb_fit_is_late(f)) {
        bool up = high == EBB_FIT_MAX_SIZE; /* until one size does not fit, then down until one does */
        int64_t before = low;
        status = ebb_fit_probe(f, size, &low, &high, &bytes);
        if (!up && low > before) break;
        size = high == EBB_FIT_MAX_SIZE ? size + step : high - step;
        step *= 4;
    }
    return status == EBB_OK ? ebb_fit_bisect(f, low, high, 1) : status;
}

ebb_status ebb_fit_mode(ebb_fitter *f, ebb_memory_mode mode, int64_t start, ebb_fit_row *row) {
    f->options.memory = mode;
    f->options.budget_bytes = mode == EBB_MEMORY_BUDGET ? f->budget_bytes : -1;
    f->best_size = f->failed_size = 0;
    f->effort_part = 0;
    f->warm = f->fits_or_not = false;
    f->n_fresh_failed = 0;
    *row = (ebb_fit_row){.mode = mode, .next_total_bytes = -1};
    ebb_status status = mode == EBB_MEMORY_BUDGET ? ebb_fit_budget(f, start) : fit_plain(f);
    if (f->failed_size == f->best_size + 1) row->next_total_bytes = f->failed_bytes;
    if ((status == EBB_OK || status == EBB_INTERRUPTED) && f->best_size > 0) {
        ebb_plan_summary s;
        ebb_plan_summarize(f->best.plan, &s);
        row->batch = f->best_size;
        row->total_bytes = s.total_bytes;
        row->time_ns = s.time_ns;
        row->baseline_time_ns = s.baseline_time_ns;
        row->plan = f->best.plan;
        f->best.plan = NULL;
        /* Nothing here made the plan's proof: it is checked as a plan from elsewhere would be. */
        ebb_status held = ebb_plan_audit(f->env, row->plan);
        if (held != EBB_OK) status = held == EBB_VIOLATION ? EBB_INTERNAL : held;
    }
    ebb_compiled_deinit(f->env, &f->best);
    ebb_compiled_deinit(f->env, &f->least);
    return status;
}

static ebb_status fit_all(ebb_fitter *f, ebb_fit_result *result) {
    static const ebb_memory_mode modes[] = {EBB_MEMORY_NONE, EBB_MEMORY_IN_PLACE, EBB_MEMORY_MEGENGINE,
                                            EBB_MEMORY_BUDGET};
    for (uint32_t i = 0; i < EBB_COUNT(modes); i++) {
        int64_t start = i > 0 ? result->rows[1].batch : 0;
        ebb_status status = ebb_fit_mode(f, modes[i], start, &result->rows[i]);
        if (status == EBB_OK || result->rows[i].batch > 0) result->n_rows++;
        if (status != EBB_OK) return status; /* interrupted: the rows so far are the answer */
    }
    return EBB_OK;
}

ebb_status ebb_fitter_open(ebb_fitter *f, ebb_env *env, const ebb_model *model, const char *dim,
                           const ebb_dim_binding *dims, uint32_t n_dims, const ebb_options *options,
                           int64_t budget_bytes, double max_added) {
    *f = (ebb_fitter){.env = env,
                      .model = model,
                      .options = *options,
                      .budget_bytes = budget_bytes,
                      .max_added = max_added};
    ebb_arena_init(&f->arena, env);
    if (model->planning)
        return ebb_fail(env, EBB_USAGE,
                        "%s is a planning graph: its bytes are fixed, so there is no size to fit",
                        model->name);
    if (budget_bytes <= 0)
        return ebb_fail(env, EBB_USAGE, "the budget is %lld bytes; it must be at least 1",
                        (long long)budget_bytes);
    if (!(max_added >= 0 && max_added <= 1e6))
        return ebb_fail(env, EBB_USAGE, "the most added time is %g; it must be in [0, 1e6]", max_added);
    ebb_status status = ebb_options_check_but_mode(env, options);
    if (status != EBB_OK) return status;
    f->deadline_ns = ebb_options_deadline_ns(env, options);
    f->options.cache = NULL; /* its plans depend on the sizes that were tried before */
    f->dims = EBB_NEW(&f->arena, ebb_dim_binding, n_dims + 1);
    if (!f->dims) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n_dims; i++)
        if (strcmp(dims[i].name, dim) != 0) f->dims[f->n_dims++] = dims[i];
    f->dims[f->n_dims++] = (ebb_dim_binding){dim, 1};
    return ebb_open_backend(env, options, &f->backend);
}

void ebb_fitter_close(ebb_fitter *f) {
    if (f->backend) f->backend->api->destroy(f->backend);
    ebb_compiled_deinit(f->env, &f->best);
    ebb_compiled_deinit(f->env, &f->least);
    ebb_compiled_deinit(f->env, &f->refused);
    EBB_ARRAY_FREE(f->env, &f->tried);
    free_text(f->env, f->graph);
    ebb_arena_deinit(&f->arena);
}

ebb_status ebb_fit(ebb_env *env, const ebb_model *model, const char *dim, const ebb_dim_binding *dims,
                   uint32_t n_dims, const ebb_options *options, int64_t budget_bytes, double max_added,
                   ebb_fit_result **out) {
    *out = NULL;
    ebb_fitter f;
    ebb_status status =
        ebb_fitter_open(&f, env, model, dim, dims, n_dims, options, budget_bytes, max_added);
    ebb_fit_result *result = status == EBB_OK ? ebb_calloc(env, 1, sizeof *result) : NULL;
    if (status == EBB_OK) status = result ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK) {
        result->budget_bytes = budget_bytes;
        result->n_threads = f.backend->n_threads;
        result->backend = copy_text(env, f.backend->api->name);
        status = result->backend ? fit_all(&f, result) : EBB_NO_MEMORY;
    }
    if (result) {
        result->tried = f.tried.at;
        result->n_tried = (uint32_t)f.tried.n;
        result->max_tried = (uint32_t)f.tried.cap;
        memset(&f.tried, 0, sizeof f.tried);
        result->graph = f.graph;
        f.graph = NULL;
    }
    ebb_fitter_close(&f);
    if (status == EBB_OK || status == EBB_INTERRUPTED)
        *out = result;
    else
        ebb_fit_result_destroy(env, result);
    return status;
}

void ebb_fit_result_destroy(ebb_env *env, ebb_fit_result *result) {
    if (!result) return;
    for (uint32_t i = 0; i < EBB_COUNT(result->rows); i++) ebb_plan_destroy(result->rows[i].plan);
    ebb_cfree(env, result->tried, result->max_tried, sizeof *result->tried);
    free_text(env, result->graph);
    free_text(env, result->backend);
    ebb_cfree(env, result, 1, sizeof *result);
}
