/* The complete search: questions one after the other, and what they cost. */
#include <time.h>

#include "pack/fit/fit.h"
#include "pack/pack.h"
#include "support/env.h"

typedef struct question_log {
    uint64_t ruled_out[8]; /* sum over all that the ways remember for the next question */
    uint64_t work[8];
    ebb_fit_verdict verdict[8];
} question_log;

static uint64_t remembered(const ebb_fit_runner *runner) {
    uint64_t sum = 0;
    for (uint32_t way = 0; way < EBB_FIT_WAYS; way++)
        for (uint32_t i = 0; i < runner->dead[way].n; i++)
            sum += (runner->dead[way].at[i].high ^ runner->dead[way].at[i].low) * (2 * way + 1);
    return sum;
}

/* Asks for eight falling capacities. What an earlier question ruled out helps the later ones. */
static question_log ask_down(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers,
                             int64_t most) {
    ebb_pack_job job = {.rows = rows, .n = n};
    ebb_pack_problem p;
    ebb_fit_problem f;
    ebb_pack_workers workers;
    ebb_fit_runner runner;
    question_log log = {.work = {0}};
    bool fits;
    int64_t *offsets = ebb_calloc(env, n, sizeof *offsets);
    TEST_OK(env, ebb_pack_problem_init(&p, env, &job));
    TEST_OK(env, ebb_fit_problem_init(&f, env, &p, &fits));
    TEST_OK(env, ebb_pack_workers_init(&workers, env, n_workers));
    TEST_OK(env, ebb_fit_runner_init(&runner, &workers, &f));
    for (uint32_t k = 0; k < 8; k++) {
        ebb_fit_effort effort = {.most_work = 6000000, .seed = 1 + k};
        TEST_STATUS(env,
                    ebb_fit_run(&runner, &effort, most + most * (9 - k) / 100, &log.work[k],
                                &log.verdict[k], offsets),
                    EBB_OK);
        log.ruled_out[k] = remembered(&runner);
    }
    ebb_fit_runner_deinit(&runner);
    ebb_pack_workers_deinit(&workers);
    ebb_fit_problem_deinit(&f);
    ebb_pack_problem_deinit(&p);
    ebb_cfree(env, offsets, n, sizeof *offsets);
    return log;
}

Test(pack_solve, later_questions_cost_the_same_with_any_workers, .timeout = 300) {
    enum { N = 200 };
    static ebb_row rows[N];
    ebb_env *env = test_env_open();
    uint32_t n_told = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        ebb_rng rng;
        ebb_rng_init(&rng, seed, 7);
        for (uint32_t i = 0; i < N; i++) {
            uint32_t lower = ebb_rng_below(&rng, 60);
            uint32_t length = 1 + ebb_rng_below(&rng, ebb_rng_below(&rng, 4) ? 10 : 30);
            rows[i] = (ebb_row){.lower = lower,
                                .upper = lower + length,
                                .size = 1 + ebb_rng_below(&rng, ebb_rng_below(&rng, 3) ? 30 : 300),
                                .alignment = INT64_C(1) << ebb_rng_below(&rng, 4)};
        }
        int64_t most;
        TEST_OK(env, ebb_rows_max_live(env, rows, N, &most));
        question_log one = ask_down(env, rows, N, 1, most), many = ask_down(env, rows, N, 8, most);
        cr_assert_arr_eq(one.ruled_out, many.ruled_out, sizeof one.ruled_out, "seed %u", (unsigned)seed);
        cr_assert_arr_eq(one.work, many.work, sizeof one.work, "seed %u", (unsigned)seed);
        cr_assert_arr_eq(one.verdict, many.verdict, sizeof one.verdict, "seed %u", (unsigned)seed);
        for (uint32_t k = 0; k < 8; k++) n_told += one.verdict[k] != EBB_FIT_LIMIT;
    }
    cr_assert_gt(n_told, 8, "%u", n_told);
    test_env_close(env);
}

/* Thousands of rows in one section are looked at no more often than the effort says. */
Test(pack_solve, effort_bounds_work_on_wide_sections, .timeout = 60) {
    enum { N = 4000 };
    static ebb_row rows[N + 130];
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 5, 5);
    for (uint32_t i = 0; i < N; i++)
        rows[i] = (ebb_row){.lower = 0, .upper = 10, .size = 1 + i % 7, .alignment = 1};
    for (uint32_t i = N; i < N + 130; i++) {
        uint32_t lower = 20 + ebb_rng_below(&rng, 40);
        rows[i] = (ebb_row){.lower = lower,
                            .upper = lower + 1 + ebb_rng_below(&rng, 8),
                            .size = 1000 * (1 + ebb_rng_below(&rng, 299)),
                            .alignment = INT64_C(1) << ebb_rng_below(&rng, 12)};
    }
    ebb_pack_job job = {.rows = rows, .n = N + 130};
    ebb_pack_problem p;
    ebb_fit_problem f;
    ebb_pack_workers workers;
    ebb_fit_runner runner;
    bool fits;
    static int64_t offsets[N + 130];
    int64_t most;
    uint64_t work = 0;
    ebb_fit_verdict verdict;
    TEST_OK(env, ebb_rows_max_live(env, rows, job.n, &most));
    TEST_OK(env, ebb_pack_problem_init(&p, env, &job));
    TEST_OK(env, ebb_fit_problem_init(&f, env, &p, &fits));
    TEST_OK(env, ebb_pack_workers_init(&workers, env, 1));
    TEST_OK(env, ebb_fit_runner_init(&runner, &workers, &f));
    ebb_fit_effort effort = {.most_work = 20000000, .seed = 1};
    struct timespec from, to;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    TEST_OK(env, ebb_fit_run(&runner, &effort, most, &work, &verdict, offsets));
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double s = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    cr_assert_lt(s, 5.0, "%g s of processor time for %llu units of work", s, (unsigned long long)work);
    ebb_fit_runner_deinit(&runner);
    ebb_pack_workers_deinit(&workers);
    ebb_fit_problem_deinit(&f);
    ebb_pack_problem_deinit(&p);
    test_env_close(env);
}
