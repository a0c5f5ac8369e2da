/* solve: the portfolio: each stage goes on from what those before it have reached.
 *
 *     skyline -> join -> lists -> large -> fit ... fit -> order -> check
 *
 * takes: a job. gives: offsets, and what is known of the least height.
 * With a capacity each stage stops when it is met. cost: ten list packings, two skylines, the local search,
 * the effort of the search, and a row check. */
#include "pack/solve/solve.h"

int64_t ebb_packing_enough(const ebb_packing *p) {
    const uint32_t part = p->options->enough_part;
    const int64_t bound = p->answer->lower_bound, above = part > 0 ? bound / part : 0;
    if (p->options->capacity >= bound) return p->options->capacity;
    return bound > INT64_MAX - above ? bound : bound + above;
}

bool ebb_packing_is_done(const ebb_packing *p) {
    return p->answer->height <= ebb_packing_enough(p) || ebb_stop_asked(p->env) ||
           (p->deadline_ns != 0 && ebb_clock_ns(p->env) >= p->deadline_ns);
}

/* ---- stages ---------------------------------------------------------------------------------- */

void ebb_packing_keep(ebb_packing *p, int64_t height, const char *found_by) {
    if (p->job->n > 0) memcpy(p->offsets, p->trial, p->job->n * sizeof *p->offsets);
    p->answer->height = height;
    p->answer->found_by = found_by;
}

/* Above so many rows a list packing takes half a second and more: one is made, and only where the skyline
 * is far from the bound. */
#define MANY_ROWS 30000

static ebb_status place_lists(ebb_packing *p) {
    int64_t height = 0, near = p->answer->lower_bound + p->answer->lower_bound / 10;
    bool many = p->job->n > MANY_ROWS;
    if (p->answer->height > 0 && (ebb_packing_is_done(p) || (many && p->answer->height <= near)))
        return EBB_OK;
    ebb_status status = ebb_pack_race(&p->workers, &p->problem, many ? 1 : UINT32_MAX,
                                      ebb_packing_enough(p), p->trial, &height);
    if (status == EBB_OK && (p->answer->height == 0 || height < p->answer->height))
        ebb_packing_keep(p, height, "list");
    return status;
}

static ebb_status fill_skyline(ebb_packing *p) {
    int64_t height = 0;
    ebb_status status = EBB_OK;
    if (p->job->fixed || p->job->n == 0) return EBB_OK;
    for (int backward = 0; backward < 2 && status == EBB_OK; backward++) {
        if (p->answer->height > 0 && ebb_packing_is_done(p)) break;
        status = ebb_pack_skyline(p->env, &p->problem, backward != 0, p->trial, &height);
        if (status == EBB_OK && (p->answer->height == 0 || height < p->answer->height))
            ebb_packing_keep(p, height, "skyline");
    }
    return status;
}

#define JOIN_EFFORT 1000 /* of packing the pieces */

/* The pieces of joined rows are packed as rows are. */
static ebb_status join_rows(ebb_packing *p) {
    ebb_pack_join join;
    ebb_pack_answer answer;
    if (p->job->n == 0 || (p->answer->height > 0 && ebb_packing_is_done(p))) return EBB_OK;
    ebb_status status = ebb_pack_join_init(&join, p->env, &p->problem);
    if (status == EBB_OK && join.n_pieces > 0 && join.n_pieces <= p->job->n - p->job->n / 4) {
        int64_t alignment = 1;
        for (uint32_t i = 0; i < p->job->n; i++)
            alignment = ebb_max_i64(alignment, p->job->rows[i].alignment);
        ebb_row *rows = EBB_NEW(&join.arena, ebb_row, join.n_pieces);
        int64_t *offsets = EBB_NEW(&join.arena, int64_t, join.n_pieces);
        if (!rows || !offsets) status = EBB_NO_MEMORY;
        for (uint32_t i = 0; status == EBB_OK && i < join.n_pieces; i++) {
            const ebb_join_node *node = &join.nodes[join.pieces[i]];
            rows[i] = (ebb_row){node->first, node->end, node->size, alignment};
        }
        ebb_pack_job job = {.rows = rows, .n = join.n_pieces};
        ebb_pack_options options = ebb_pack_options_left(p->env, p->options, p->started_ns, JOIN_EFFORT);
        if (status == EBB_OK) status = ebb_pack_one(p->env, &job, &options, offsets, &answer);
        if (status == EBB_OK && (p->answer->height == 0 || answer.height < p->answer->height)) {
            status = ebb_pack_join_spread(&join, offsets, p->trial);
            if (status == EBB_OK) ebb_packing_keep(p, answer.height, "join");
        }
    }
    ebb_pack_join_deinit(&join);
    return status;
}

/* The complete search looks at every row. Of more rows than this most are small, and with less effort for
 * each it finds nothing once the large ones were searched by themselves. */
#define FEW_ROWS     1000
#define EFFORT_A_ROW 150

static ebb_status search_all(ebb_packing *p) {
    const bool in_vain = p->large_first && p->job->n > FEW_ROWS &&
                         p->options->effort < INT64_C(1) * p->job->n * EFFORT_A_ROW;
    return in_vain ? EBB_OK : ebb_packing_search(p);
}

static ebb_status improve_order(ebb_packing *p) {
    int64_t height = p->answer->height;
    if (ebb_packing_is_done(p) || p->options->effort == 0) return EBB_OK;
    memcpy(p->trial, p->offsets, p->job->n * sizeof *p->trial);
    ebb_status status = ebb_pack_improve(p->env, &p->problem, ebb_packing_enough(p), p->trial, &height);
    if (status == EBB_OK && height < p->answer->height) ebb_packing_keep(p, height, "order");
    return status;
}

static void judge(ebb_packing *p) {
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

static ebb_status run_stages(ebb_packing *p) {
    ebb_status status = ebb_packing_bound(p);
    if (status == EBB_OK) status = fill_skyline(p);
    if (status == EBB_OK) status = join_rows(p);
    if (status == EBB_OK) status = place_lists(p);
    if (status == EBB_OK) status = ebb_packing_large_first(p);
    if (status == EBB_OK) status = search_all(p);
    if (status == EBB_OK) status = improve_order(p);
    if (status == EBB_OK) status = ebb_packing_check(p);
    if (status == EBB_OK) judge(p);
    if (status == EBB_NO_MEMORY)
        return ebb_fail(p->env, EBB_NO_MEMORY, "pack: no memory to pack %u rows", p->job->n);
    return status;
}

static ebb_status pack_rows(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                            bool parted, int64_t *offsets, ebb_pack_answer *answer) {
    ebb_packing p = {
        .env = env, .job = job, .options = options, .offsets = offsets, .answer = answer, .parted = parted};
    *answer = (ebb_pack_answer){.found_by = "list"};
    p.started_ns = ebb_clock_ns(env);
    p.deadline_ns = options->time_limit_ns == 0 ? 0 : p.started_ns + options->time_limit_ns;
    ebb_status status = ebb_pack_problem_init(&p.problem, env, job);
    if (status == EBB_OK) {
        p.trial = EBB_NEW(&p.problem.arena, int64_t, job->n);
        status = p.trial ? EBB_OK : EBB_NO_MEMORY;
    }
    if (status == EBB_OK)
        status =
            ebb_pack_workers_init(&p.workers, env, job->n < MIN_ROWS_FOR_THREADS ? 1 : options->n_workers);
    if (status == EBB_OK) status = run_stages(&p);
    ebb_pack_workers_deinit(&p.workers);
    ebb_pack_problem_deinit(&p.problem);
    return status;
}

ebb_status ebb_pack_one(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                        int64_t *offsets, ebb_pack_answer *answer) {
    return pack_rows(env, job, options, false, offsets, answer);
}

ebb_status ebb_pack_apart(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                          int64_t *offsets, ebb_pack_answer *answer) {
    return pack_rows(env, job, options, true, offsets, answer);
}

ebb_pack_options ebb_pack_options_left(ebb_env *env, const ebb_pack_options *options, uint64_t started_ns,
                                       int64_t effort) {
    ebb_pack_options left = *options;
    left.effort = ebb_min_i64(options->effort, effort);
    if (options->time_limit_ns > 0) {
        const uint64_t used_ns = ebb_clock_ns(env) - started_ns;
        left.time_limit_ns = options->time_limit_ns > used_ns ? options->time_limit_ns - used_ns : 1;
    }
    return left;
}

ebb_status ebb_pack_solve(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                          int64_t *offsets, ebb_pack_answer *answer) {
    *answer = (ebb_pack_answer){.found_by = "list"};
    if (job->over_from) return ebb_pack_merged(env, job, options, offsets, answer);
    if (job->pools) return ebb_pack_pooled(env, job, options, offsets, answer);
    return ebb_pack_one(env, job, options, offsets, answer);
}

#define PLAN_EFFORT 50000 /* of the planner's stage */
/* Near enough to the bound, one part in so many of it: the last kilobytes of gigabytes take a second. */
#define PLAN_ENOUGH (1 << 20)

static ebb_status pack_plainly(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers,
                               uint32_t enough_part, int64_t *offsets, int64_t *height) {
    const ebb_pack_job job = {.rows = rows, .n = n};
    const ebb_pack_options options = {.capacity = -1,
                                      .effort = PLAN_EFFORT,
                                      .seed = 1,
                                      .n_workers = n_workers,
                                      .enough_part = enough_part};
    ebb_pack_answer answer;
    *height = 0;
    ebb_status status = ebb_pack_solve(env, &job, &options, offsets, &answer);
    if (status == EBB_OK) *height = answer.height;
    return status;
}

ebb_status ebb_pack(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers, int64_t *offsets,
                    int64_t *height) {
    return pack_plainly(env, rows, n, n_workers, PLAN_ENOUGH, offsets, height);
}

/* Of asking for a capacity: a row's share, and all rows together; for a quick answer one part in so many.
 */
#define WITHIN_EFFORT_A_ROW 300
#define MAX_WITHIN_EFFORT   150000
#define QUICK_PART          2

ebb_status ebb_pack_within(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers,
                           int64_t capacity, bool quick, uint64_t deadline_ns, int64_t *offsets,
                           int64_t *height) {
    ebb_status status = EBB_OK;
    *height = INT64_MAX;
    if (capacity < 0) return ebb_pack(env, rows, n, n_workers, offsets, height);
    if (!quick) status = pack_plainly(env, rows, n, n_workers, 0, offsets, height);
    if (status != EBB_OK || *height <= capacity) return status;
    const uint64_t now_ns = deadline_ns > 0 ? ebb_clock_ns(env) : 0;
    const bool late = deadline_ns > 0 && now_ns >= deadline_ns;
    if (late && !quick) return EBB_OK;
    const ebb_pack_job job = {.rows = rows, .n = n};
    const ebb_pack_options options = {
        .capacity = capacity,
        .effort = late ? 0
                       : ebb_min_i64(INT64_C(1) * n * WITHIN_EFFORT_A_ROW, MAX_WITHIN_EFFORT) /
                             (quick ? QUICK_PART : 1),
        .seed = 1,
        .time_limit_ns = deadline_ns > 0 && !late ? deadline_ns - now_ns : 0,
        .n_workers = n_workers,
        .enough_part = PLAN_ENOUGH};
    ebb_pack_answer answer;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    int64_t *trial = EBB_NEW(&arena, int64_t, n);
    status = trial ? ebb_pack_solve(env, &job, &options, trial, &answer) : EBB_NO_MEMORY;
    if (status == EBB_OK && answer.height < *height) {
        if (n > 0) memcpy(offsets, trial, n * sizeof *offsets);
        *height = answer.height;
    }
    ebb_arena_deinit(&arena);
    return status;
}
