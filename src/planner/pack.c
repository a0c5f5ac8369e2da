/* pack: the portfolio: each stage goes on from what those before it have reached.
 *
 *     skyline -> lists -> fit ... fit -> order -> check
 *
 * takes: a job. gives: offsets, and what is known of the least height.
 * With a capacity each stage stops when it is met, and the search is asked for it, at length also for less.
 * Without one, the search is asked for the lower bound first, which it often meets; then for heights
 * between what is ruled out or was too hard and what is found, half way, with an effort that grows when
 * none is left between. What an attempt proves impossible raises the lower bound. cost: ten list packings,
 * two skylines, the local search, the effort, and a row check. */
#include "planner/pack_fit.h"

typedef struct packing {
    ebb_env *env;
    const ebb_pack_job *job;
    const ebb_pack_options *options;
    ebb_pack_problem problem;
    ebb_pack_workers workers;
    uint64_t started_ns, deadline_ns;
    int64_t *offsets, *trial;
    ebb_pack_answer *answer;
} packing;

/* The height that ends it. */
static int64_t enough(const packing *p) {
    return ebb_max_i64(p->options->capacity, p->answer->lower_bound);
}

static bool is_done(const packing *p) {
    const ebb_pack_answer *a = p->answer;
    return a->height <= enough(p) || (p->options->capacity >= 0 && a->lower_bound > p->options->capacity) ||
           ebb_stop_asked(p->env) || (p->deadline_ns != 0 && ebb_clock_ns(p->env) >= p->deadline_ns);
}

/* ---- judges: gaps and fixed offsets in terms of plain rows --------------------------------------- */

typedef struct plain_rows {
    ebb_arena arena;
    ebb_row *rows;
    int64_t *offsets;
    uint32_t n;
} plain_rows;

/* A row with gaps becomes one for each part; offsets may be NULL. only_fixed: those of fixed rows. */
static ebb_status list_plain(ebb_env *env, const ebb_pack_job *job, const int64_t *offsets, bool only_fixed,
                             plain_rows *out) {
    uint32_t most = ebb_pack_job_most_parts(job), n = 0;
    out->rows = EBB_NEW(&out->arena, ebb_row, most);
    out->offsets = EBB_NEW(&out->arena, int64_t, most);
    ebb_steps *parts = EBB_NEW(&out->arena, ebb_steps, most);
    if (out->rows == NULL || out->offsets == NULL || parts == NULL) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < job->n; i++) {
        if (only_fixed && job->fixed[i] < 0) continue;
        ebb_status status = ebb_pack_row_parts(env, job, i, parts, &n);
        if (status != EBB_OK) return status;
        for (uint32_t k = 0; k < n; k++, out->n++) {
            out->rows[out->n] = job->rows[i];
            out->rows[out->n].lower = parts[k].lower;
            out->rows[out->n].upper = parts[k].upper;
            if (offsets != NULL) out->offsets[out->n] = offsets[i];
        }
    }
    return EBB_OK;
}

static int64_t height_of(const plain_rows *rows) {
    int64_t height = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        height = ebb_max_i64(height, rows->offsets[i] + rows->rows[i].size);
    return height;
}

static ebb_status check(packing *p, const int64_t *offsets, int64_t height) {
    plain_rows plain = {0};
    ebb_arena_init(&plain.arena, p->env);
    ebb_status status = list_plain(p->env, p->job, offsets, false, &plain);
    if (status == EBB_OK) status = ebb_rows_check(p->env, plain.rows, plain.n, plain.offsets, height);
    for (uint32_t i = 0; status == EBB_OK && p->job->fixed != NULL && i < p->job->n; i++)
        if (p->job->fixed[i] >= 0 && offsets[i] != p->job->fixed[i])
            status = ebb_fail(p->env, EBB_VIOLATION, "rows: row %u is at %lld and fixed at %lld", i,
                              (long long)offsets[i], (long long)p->job->fixed[i]);
    ebb_arena_deinit(&plain.arena);
    if (status != EBB_VIOLATION) return status;
    return ebb_fail(p->env, EBB_INTERNAL, "pack: the packing fails its own check: %s",
                    ebb_env_error(p->env));
}

static ebb_status find_bound(packing *p) {
    plain_rows plain = {0};
    ebb_arena_init(&plain.arena, p->env);
    ebb_status status = list_plain(p->env, p->job, NULL, false, &plain);
    if (status == EBB_OK) status = ebb_rows_max_live(p->env, plain.rows, plain.n, &p->answer->lower_bound);
    if (status == EBB_OK && p->job->fixed != NULL) {
        plain.n = 0;
        status = list_plain(p->env, p->job, p->job->fixed, true, &plain);
        int64_t height = status == EBB_OK ? height_of(&plain) : 0;
        if (status == EBB_OK) status = ebb_rows_check(p->env, plain.rows, plain.n, plain.offsets, height);
        if (status == EBB_VIOLATION)
            status = ebb_fail(p->env, EBB_BAD_INPUT, "among the rows with fixed offsets: %s",
                              ebb_env_error(p->env));
        p->answer->lower_bound = ebb_max_i64(p->answer->lower_bound, height);
    }
    ebb_arena_deinit(&plain.arena);
    return status;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void keep(packing *p, int64_t height, const char *found_by) {
    if (p->job->n > 0) memcpy(p->offsets, p->trial, p->job->n * sizeof *p->offsets);
    p->answer->height = height;
    p->answer->found_by = found_by;
}

/* Above so many rows a list packing takes half a second and more: one is made, and only where the skyline
 * is far from the bound. */
#define MANY_ROWS 30000

static ebb_status place_lists(packing *p) {
    int64_t height = 0, near = p->answer->lower_bound + p->answer->lower_bound / 10;
    bool many = p->job->n > MANY_ROWS;
    if (p->answer->height > 0 && (is_done(p) || (many && p->answer->height <= near))) return EBB_OK;
    ebb_status status =
        ebb_pack_race(&p->workers, &p->problem, many ? 1 : UINT32_MAX, enough(p), p->trial, &height);
    if (status == EBB_OK && (p->answer->height == 0 || height < p->answer->height)) keep(p, height, "list");
    return status;
}

static ebb_status fill_skyline(packing *p) {
    int64_t height = 0;
    ebb_status status = EBB_OK;
    if (p->job->fixed != NULL || p->job->gaps_from != NULL || p->job->n == 0) return EBB_OK;
    for (int backward = 0; backward < 2 && status == EBB_OK; backward++) {
        if (p->answer->height > 0 && is_done(p)) break;
        status = ebb_pack_skyline(p->env, &p->problem, backward != 0, p->trial, &height);
        if (status == EBB_OK && (p->answer->height == 0 || height < p->answer->height))
            keep(p, height, "skyline");
    }
    return status;
}

static ebb_status improve_order(packing *p) {
    int64_t height = p->answer->height;
    if (is_done(p) || p->options->effort == 0) return EBB_OK;
    memcpy(p->trial, p->offsets, p->job->n * sizeof *p->trial);
    ebb_status status = ebb_pack_improve(p->env, &p->problem, enough(p), p->trial, &height);
    if (status == EBB_OK && height < p->answer->height) keep(p, height, "order");
    return status;
}

/* One question to the search, the k-th: each draws other random numbers. */
static ebb_status ask(packing *p, ebb_fit_runner *runner, int64_t capacity, uint64_t most_work, uint32_t k,
                      uint64_t *work, ebb_fit_verdict *verdict) {
    ebb_fit_effort effort = {most_work, p->deadline_ns, p->options->seed + k};
    ebb_status status = ebb_fit_run(runner, &effort, capacity, work, verdict, p->trial);
    if (status != EBB_OK) return status;
    if (*verdict == EBB_FIT_NONE) { /* all ends are multiples of the unit */
        int64_t unit = runner->problem->unit;
        p->answer->lower_bound = ebb_max_i64(p->answer->lower_bound, (capacity / unit + 1) * unit);
    }
    if (*verdict != EBB_FIT_FOUND) return EBB_OK;
    int64_t height = 0;
    for (uint32_t i = 0; i < p->job->n; i++) {
        if (p->job->rows[i].size == 0)
            p->trial[i] = p->job->fixed == NULL ? 0 : ebb_max_i64(0, p->job->fixed[i]);
        height = ebb_max_i64(height, p->trial[i] + p->job->rows[i].size);
    }
    if (height < p->answer->height) keep(p, height, "search");
    return EBB_OK;
}

#define FIRST_SHARE 20000000 /* work for the first questions: some hundredths of a second */

/* Halves what lies between the heights that are too hard for this effort and the best. */
static ebb_status lower(packing *p, ebb_fit_runner *runner, uint64_t most_work) {
    int64_t hard = p->answer->lower_bound - 1, unit = runner->problem->unit;
    uint64_t work = 0, share = FIRST_SHARE < most_work ? FIRST_SHARE : most_work;
    uint32_t k = 0;
    bool first = true;
    ebb_status status = EBB_OK;
    while (status == EBB_OK && !is_done(p) && work < most_work) {
        ebb_fit_verdict verdict = EBB_FIT_LIMIT;
        int64_t capacity = first ? hard + 1 : hard + (p->answer->height - hard) / 2;
        capacity = capacity / unit * unit;
        if (capacity <= hard || capacity >= p->answer->height) {
            if (p->answer->height - unit <= hard) { /* nothing is left between: try harder */
                if (share >= most_work) break;
                hard = p->answer->lower_bound - 1;
                share *= 4;
                first = true;
                continue;
            }
            capacity = p->answer->height - unit;
        }
        first = false;
        status = ask(p, runner, capacity, share < most_work - work ? share : most_work - work, k++, &work,
                     &verdict);
        if (verdict != EBB_FIT_FOUND) hard = capacity;
    }
    return status;
}

#define CAPACITY_SHARE 400000000 /* work for the first question: what is not hard is told by then */

/* The capacity, and from time to time less: what has less room goes wrong sooner, and a packing that is
 * there is sometimes found sooner, too. */
static ebb_status fit_capacity(packing *p, ebb_fit_runner *runner, uint64_t most_work) {
    int64_t capacity = p->options->capacity, unit = runner->problem->unit;
    uint64_t work = 0, share = CAPACITY_SHARE;
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; status == EBB_OK && work < most_work && !is_done(p); k++) {
        ebb_fit_verdict verdict;
        int64_t room = ebb_max_i64(0, capacity - p->answer->lower_bound);
        int64_t target = (capacity - room * (k % 3) / 3) / unit * unit;
        status =
            ask(p, runner, target, share < most_work - work ? share : most_work - work, k, &work, &verdict);
        if (verdict == EBB_FIT_NONE && target < capacity) continue; /* the bound has risen */
        if (k % 3 == 2 && share < most_work) share *= 2;
    }
    return status;
}

static ebb_status search(packing *p) {
    ebb_fit_problem problem;
    ebb_fit_runner runner = {0};
    bool fits = false;
    uint64_t most_work = (uint64_t)ebb_min_i64(ebb_max_i64(p->options->effort, 0), INT64_MAX / 1000) * 1000;
    if (is_done(p) || most_work == 0) return EBB_OK;
    ebb_status status = ebb_fit_problem_init(&problem, p->env, &p->problem, &fits);
    if (status == EBB_OK && fits) {
        status = ebb_fit_runner_init(&runner, &p->workers, &problem);
        if (status == EBB_OK)
            status = p->options->capacity >= 0 ? fit_capacity(p, &runner, most_work)
                                               : lower(p, &runner, most_work);
        ebb_fit_runner_deinit(&runner);
    }
    ebb_fit_problem_deinit(&problem);
    return status;
}

static void judge(packing *p) {
    ebb_pack_answer *a = p->answer;
    int64_t capacity = p->options->capacity;
    a->verdict = capacity < 0 || a->height <= capacity ? EBB_PACK_FITS
                 : a->lower_bound > capacity           ? EBB_PACK_IMPOSSIBLE
                                                       : EBB_PACK_UNKNOWN;
    a->proven = a->height <= a->lower_bound || a->verdict == EBB_PACK_IMPOSSIBLE;
    a->time_ns = ebb_clock_ns(p->env) - p->started_ns;
}

/* Below this many rows all lists together take less time than starting a thread is worth. */
#define MIN_ROWS_FOR_THREADS 128

static ebb_status run_stages(packing *p) {
    ebb_status status = find_bound(p);
    if (status == EBB_OK) status = fill_skyline(p);
    if (status == EBB_OK) status = place_lists(p);
    if (status == EBB_OK) status = search(p);
    if (status == EBB_OK) status = improve_order(p);
    if (status == EBB_OK) status = check(p, p->offsets, p->answer->height);
    if (status == EBB_OK) judge(p);
    if (status == EBB_NO_MEMORY)
        return ebb_fail(p->env, EBB_NO_MEMORY, "pack: no memory to pack %u rows", p->job->n);
    return status;
}

ebb_status ebb_pack_solve(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                          int64_t *offsets, ebb_pack_answer *answer) {
    packing p = {.env = env, .job = job, .options = options, .offsets = offsets, .answer = answer};
    *answer = (ebb_pack_answer){.found_by = "list"};
    p.started_ns = ebb_clock_ns(env);
    p.deadline_ns = options->time_limit_ns == 0 ? 0 : p.started_ns + options->time_limit_ns;
    ebb_status status = ebb_pack_problem_init(&p.problem, env, job);
    if (status == EBB_OK) {
        p.trial = EBB_NEW(&p.problem.arena, int64_t, job->n);
        status = p.trial == NULL ? EBB_NO_MEMORY : EBB_OK;
    }
    if (status == EBB_OK)
        status =
            ebb_pack_workers_init(&p.workers, env, job->n < MIN_ROWS_FOR_THREADS ? 1 : options->n_workers);
    if (status == EBB_OK) status = run_stages(&p);
    ebb_pack_workers_deinit(&p.workers);
    ebb_pack_problem_deinit(&p.problem);
    return status;
}

#define PLAN_EFFORT 50000 /* of the planner's stage */

ebb_status ebb_pack(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers, int64_t *offsets,
                    int64_t *height) {
    ebb_pack_job job = {.rows = rows, .n = n};
    ebb_pack_options options = {.capacity = -1, .effort = PLAN_EFFORT, .seed = 1, .n_workers = n_workers};
    ebb_pack_answer answer;
    *height = 0;
    ebb_status status = ebb_pack_solve(env, &job, &options, offsets, &answer);
    if (status == EBB_OK) *height = answer.height;
    return status;
}

/* Of asking for a capacity: a row's share, and all rows together. */
#define WITHIN_EFFORT_A_ROW 3000
#define MAX_WITHIN_EFFORT   5000000

ebb_status ebb_pack_within(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers,
                           int64_t capacity, uint64_t deadline_ns, int64_t *offsets, int64_t *height) {
    ebb_status status = ebb_pack(env, rows, n, n_workers, offsets, height);
    if (status != EBB_OK || capacity < 0 || *height <= capacity) return status;
    const uint64_t now_ns = deadline_ns > 0 ? ebb_clock_ns(env) : 0;
    if (deadline_ns > 0 && now_ns >= deadline_ns) return EBB_OK;
    const ebb_pack_job job = {.rows = rows, .n = n};
    const ebb_pack_options options = {
        .capacity = capacity,
        .effort = ebb_min_i64(INT64_C(1) * n * WITHIN_EFFORT_A_ROW, MAX_WITHIN_EFFORT),
        .seed = 1,
        .time_limit_ns = deadline_ns > 0 ? deadline_ns - now_ns : 0,
        .n_workers = n_workers};
    ebb_pack_answer answer;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    int64_t *trial = EBB_NEW(&arena, int64_t, n);
    status = trial ? ebb_pack_solve(env, &job, &options, trial, &answer) : EBB_NO_MEMORY;
    if (status == EBB_OK && answer.height < *height) {
        memcpy(offsets, trial, n * sizeof *offsets);
        *height = answer.height;
    }
    ebb_arena_deinit(&arena);
    return status;
}
