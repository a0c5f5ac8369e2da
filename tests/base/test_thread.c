/* Workers. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { MAX_N = 1000 };

typedef struct tally {
    _Atomic uint32_t runs[MAX_N];
    _Atomic uint32_t n_bad_workers;
    uint32_t n_workers;
    pthread_t caller;
} tally;

static void count(void *ctx, uint32_t i, uint32_t worker) {
    tally *t = ctx;
    atomic_fetch_add(&t->runs[i], 1);
    bool is_caller = pthread_equal(pthread_self(), t->caller) != 0;
    if (worker >= t->n_workers || is_caller != (worker == 0)) atomic_fetch_add(&t->n_bad_workers, 1);
}

Test(parallel_for, runs_every_index_once_for_any_worker_count) {
    static const uint32_t counts[] = {0, 1, 3, 7, 33, MAX_N},
                          workers[] = {0, 1, 2, 3, 7, 33, 1000, UINT32_MAX};
    for (size_t i = 0; i < EBB_COUNT(counts); i++) {
        for (size_t j = 0; j < EBB_COUNT(workers); j++) {
            static tally t;
            t = (tally){.n_workers = workers[j] == 0 ? 1 : workers[j], .caller = pthread_self()};
            ebb_parallel_for(workers[j], counts[i], count, &t);
            for (uint32_t k = 0; k < MAX_N; k++)
                cr_assert_eq(t.runs[k], k < counts[i] ? 1 : 0, "index %u of %u", k, counts[i]);
            cr_expect_eq(t.n_bad_workers, 0);
        }
    }
}

typedef struct meeting {
    pthread_barrier_t barrier;
} meeting;

static void meet(void *ctx, uint32_t i, uint32_t worker) {
    (void)i, (void)worker;
    pthread_barrier_wait(&((meeting *)ctx)->barrier);
}

/* Three tasks that wait for one another end only when three threads run them. */
Test(parallel_for, runs_tasks_at_the_same_time, .timeout = 20) {
    meeting m;
    pthread_barrier_init(&m.barrier, NULL, 3);
    ebb_parallel_for(3, 3, meet, &m);
    pthread_barrier_destroy(&m.barrier);
}

typedef struct shared_env {
    ebb_env *env;
    void *held[MAX_N];
} shared_env;

static void take(void *ctx, uint32_t i, uint32_t worker) {
    (void)worker;
    shared_env *s = ctx;
    s->held[i] = ebb_alloc_aligned(s->env, i + 1, 16);
}

static void give(void *ctx, uint32_t i, uint32_t worker) {
    (void)worker;
    shared_env *s = ctx;
    ebb_free_aligned(s->env, s->held[i], i + 1, 16);
}

Test(env, counts_rightly_from_several_threads) {
    static shared_env s;
    s.env = test_env();
    size_t all = (size_t)MAX_N * (MAX_N + 1) / 2;
    for (int round = 0; round < 20; round++) {
        ebb_parallel_for(4, MAX_N, take, &s);
        cr_expect_eq(ebb_env_allocated_bytes(s.env), all);
        ebb_parallel_for(4, MAX_N, give, &s);
    }
    cr_expect_eq(ebb_env_peak_bytes(s.env), all);
    cr_expect_eq(ebb_env_allocation_count(s.env), 20 * MAX_N);
    test_env_end(s.env);
}

Test(cpu_count, is_at_least_one) {
    cr_expect_geq(ebb_cpu_count(), 1);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these take terabytes of addresses \
                                                                     */
Test(host, what_is_left_of_a_limited_address_space_is_what_is_available) {
    enum { TAKEN = 64 << 20 };
    const int64_t before = ebb_host_available();
    struct rlimit limit;
    cr_assert(before > 2 * TAKEN);
    cr_assert(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = (rlim_t)before / 2;
    if (setrlimit(RLIMIT_AS, &limit) != 0) cr_skip_test("the limit cannot be set");
    const int64_t left = ebb_host_available();
    cr_assert(left > 0 && left < before / 2, "%lld of %lld", (long long)left, (long long)before / 2);
    void *taken = mmap(NULL, TAKEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(taken != MAP_FAILED);
    cr_assert_eq(ebb_host_available(), left - TAKEN);
    cr_assert(munmap(taken, TAKEN) == 0);
}
#endif
