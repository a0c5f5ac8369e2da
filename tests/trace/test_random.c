/* Traced and eager runs of random functions give the same bits. */
#include "trace/random_program.h"

#include "support/count.h"
#include "support/skip.h"
#include "exec/backend.h"

enum { CALLS = 6 };

static uint64_t digest_of(uint64_t seed, const char *device, uint32_t n_threads,
                          const ebb_trace_options *trace, ebb_trace_facts *facts) {
    ebb_env *env = test_env_open();
    program p;
    program_open(&p, env, seed, device, n_threads, trace);
    for (uint32_t call = 0; call < CALLS; call++) {
        program_call(&p, call, -1);
        program_look(&p);
    }
    if (trace) ebb_trace_facts_now(p.trace, facts);
    const uint64_t digest = p.digest;
    program_close(&p);
    test_env_close(env);
    return digest;
}

/* Of each seed: eager and traced, each with the threads and the memory mode that the seed says. */
static void equal_on(uint64_t first, uint64_t n, const char *device) {
    static const ebb_memory_mode modes[] = {EBB_MEMORY_IN_PLACE, EBB_MEMORY_MEGENGINE, EBB_MEMORY_NONE,
                                            EBB_MEMORY_BUDGET};
    uint64_t compared = 0, runs = 0;
    for (uint64_t seed = first; seed < first + n; seed++) {
        const uint32_t n_threads = 1 + (uint32_t)(seed % 3);
        const uint64_t want = digest_of(seed, device, n_threads, NULL, NULL);
        for (int symbolic = 0; symbolic < 2; symbolic++) {
            ebb_trace_options options;
            ebb_trace_facts facts;
            ebb_trace_options_init(&options);
            options.symbolic = symbolic;
            options.plan.verify = true;
            options.plan.memory = modes[seed / 3 % EBB_COUNT(modes)];
            options.plan.budget_bytes = 1 << 20;
            options.plan.sublinear.num_worker = 1;
            options.plan.poison = seed % 2;
            const uint64_t got = digest_of(seed, device, n_threads, &options, &facts);
            cr_expect_eq(got, want, "seed %llu, symbolic %d, memory %d, %u threads",
                         (unsigned long long)seed, symbolic, (int)options.plan.memory, n_threads);
            compared += facts.n_compared;
            runs += facts.n_runs;
        }
    }
    cr_expect_gt(compared, n, "only %llu calls of %llu programs were compared",
                 (unsigned long long)compared, (unsigned long long)n);
    cr_expect_gt(runs, n);
}

Test(random, traced_bits_are_eager_bits_on_ref) {
    equal_on(1, count_from_env("EBB_TEST_TRACES", 60), "ref");
}

Test(random, traced_bits_are_eager_bits_on_cpu) {
    if (!ebb_backend_find("cpu")) TEST_SKIP("this build has no cpu backend");
    equal_on(10001, count_from_env("EBB_TEST_TRACES", 60), "cpu");
}

/* A call that fails leaves everything as it was: the calls after it give what they would have given. */
Test(random, a_failed_call_changes_nothing) {
    for (uint64_t seed = 1; seed <= count_from_env("EBB_TEST_TRACES", 60); seed++) {
        uint64_t digests[2];
        for (int fails = 0; fails < 2; fails++) {
            ebb_env *env = test_env_open();
            ebb_trace_options options;
            program p;
            ebb_trace_options_init(&options);
            options.symbolic = seed % 2;
            program_open(&p, env, seed, "ref", 1, &options);
            for (uint32_t call = 0; call < 4; call++) {
                const uint64_t before = p.digest;
                if (fails) program_call(&p, call, (int)(seed + call) % 4);
                p.digest = before;
                ebb_eager_seed(p.eager, seed + call);
                program_call(&p, call, -1);
                program_look(&p);
            }
            digests[fails] = p.digest;
            program_close(&p);
            test_env_close(env);
        }
        cr_expect_eq(digests[0], digests[1], "seed %llu", (unsigned long long)seed);
    }
}
