/* Who allocates in a steady step. This program's malloc and its kin count calls by the library that makes
 * them: ours must make none. What oneDNN takes for itself is bounded and told in docs/cpu.md. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ebb/ebb.h"
#include "support/env.h"
#include "support/options.h"
#include "support/vectors.h"

/* ---- the C library's allocator, with a count before it --------------------------------------------- */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *at, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

/* Inlined into this file's own calls they would see its callers. */
#define COUNTED __attribute__((noinline))

static atomic_bool counting;
static atomic_llong n_ours, n_theirs, n_their_bytes;
static char whose[256]; /* the last of ours: where it was called */

/* `from` lies in this program (the library's code is linked into it) or in another library. */
static void count(void *from, size_t bytes) {
    static const char here;
    Dl_info caller, own;
    if (!atomic_load(&counting)) return;
    const bool ours = dladdr(from, &caller) && dladdr(&here, &own) && caller.dli_fbase == own.dli_fbase;
    if (!ours) {
        atomic_fetch_add(&n_theirs, 1);
        atomic_fetch_add(&n_their_bytes, (long long)bytes);
        return;
    }
    atomic_fetch_add(&n_ours, 1);
    strncpy(whose, caller.dli_sname ? caller.dli_sname : "a function without a name", sizeof whose - 1);
}

COUNTED void *malloc(size_t bytes) {
    count(__builtin_return_address(0), bytes);
    return __libc_malloc(bytes);
}

COUNTED void *calloc(size_t n, size_t bytes) {
    count(__builtin_return_address(0), n * bytes);
    return __libc_calloc(n, bytes);
}

COUNTED void *realloc(void *at, size_t bytes) {
    count(__builtin_return_address(0), bytes);
    return __libc_realloc(at, bytes);
}

COUNTED void *aligned_alloc(size_t alignment, size_t bytes) {
    count(__builtin_return_address(0), bytes);
    return __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes) {
    count(__builtin_return_address(0), bytes);
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
    count(__builtin_return_address(0), bytes);
    *out = __libc_memalign(alignment, bytes);
    return *out ? 0 : ENOMEM;
}

/* ---- steps ----------------------------------------------------------------------------------------- */

/* Kernels of oneDNN's and of our own, large enough for a team. */
static const char PRODUCTS[] =
    "ebb 1\ngraph products\ndim N = 16\n%x = input f32[N,16,28,28]\n%labels = input i32[N]\n"
    "%w1 = param f32[32,16,3,3] init=kaiming\n%g1 = param f32[32] init=one\n%b1 = param f32[32]\n"
    "%m1 = state f32[32]\n%v1 = state f32[32] init=one\n%w2 = param f32[10,32] init=uniform\n"
    "%a = conv2d %x, %w1 pad=1\n%n = batch_norm %a, %g1, %b1, %m1, %v1\n%r = relu %n\n"
    "%q = max_pool %r kernel=2\n%d = dropout %q p=0.2\n%p = global_avg_pool %d\n%logits = linear %p, %w2\n"
    "%loss = softmax_xent %logits, %labels\nloss %loss\n";
/* Our own alone. */
static const char OWN[] =
    "ebb 1\ngraph own\ndim N = 16\n%x = input f32[N,16,28,28]\n%labels = input i32[N]\n"
    "%g1 = param f32[16] init=one\n%b1 = param f32[16]\n%m1 = state f32[16]\n%v1 = state f32[16] init=one\n"
    "%n = batch_norm %x, %g1, %b1, %m1, %v1\n%r = relu %n\n%q = max_pool %r kernel=2\n%d = dropout %q "
    "p=0.2\n"
    "%p = global_avg_pool %d\n%loss = softmax_xent %p, %labels\nloss %loss\n";

typedef struct counts {
    long long ours, theirs, their_bytes;
    long faults;
} counts;

static void feed(ebb_env *env, ebb_program *program) {
    static float x[16 * 16 * 28 * 28];
    static const int32_t labels[16] = {0};
    const float lr = 1e-3F;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)(i * 7919 % 101) / 50.0F - 1.0F;
    TEST_OK(env, ebb_feed(program, "x", x, sizeof x));
    TEST_OK(env, ebb_feed(program, "labels", labels, sizeof labels));
    TEST_OK(env, ebb_feed(program, "lr", &lr, sizeof lr));
}

/* Of steps after the third one, all together. */
static counts count_steps(const char *text, const char *device, bool recompute, bool profile) {
    enum { WARM = 3, N = 5 };
    ebb_env *env;
    ebb_model *model;
    ebb_options o;
    ebb_engine *engine;
    ebb_program *program;
    ebb_plan_summary s;
    counts c = {0};
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    TEST_OK(env, ebb_model_parse(env, "t", text, strlen(text), &model));
    test_options_init(&o);
    o.device = device;
    o.n_threads = 2;
    /* In tiles the one convolution's scratch would be too much of so few bytes for another run of it. */
    o.direct_conv = recompute && strcmp(device, "cpu") == 0;
    for (int pass = 0; pass <= recompute; pass++) {
        TEST_OK(env, ebb_engine_create(env, model, &o, &engine));
        TEST_OK(env, ebb_compile(engine, NULL, 0, &program));
        ebb_plan_summarize(ebb_program_plan(program), &s);
        if (pass == recompute) break;
        ebb_engine_destroy(engine);
        o.memory = EBB_MEMORY_BUDGET;
        o.budget_bytes = s.persistent_bytes + s.arena_bytes * 23 / 25;
        o.effort = 2000;
    }
    cr_assert(!recompute || s.n_recomputed > 0, "nothing is run again");
    if (profile) TEST_OK(env, ebb_program_profile(program, 4));
    for (int i = 0; i < WARM + N; i++) {
        struct rusage before, after;
        feed(env, program);
        atomic_store(&n_ours, 0);
        atomic_store(&n_theirs, 0);
        atomic_store(&n_their_bytes, 0);
        (void)getrusage(RUSAGE_SELF, &before);
        atomic_store(&counting, true);
        const ebb_status status = ebb_step(program);
        atomic_store(&counting, false);
        (void)getrusage(RUSAGE_SELF, &after);
        TEST_OK(env, status);
        if (i < WARM) continue;
        c.ours += atomic_load(&n_ours);
        c.theirs += atomic_load(&n_theirs);
        c.their_bytes += atomic_load(&n_their_bytes);
        c.faults += after.ru_minflt - before.ru_minflt;
    }
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    ebb_env_destroy(env);
    return c;
}

/* Nobody would notice a count that is always 0. */
Test(allocations, the_counter_counts) {
    atomic_store(&counting, true);
    void *volatile block = malloc(7); /* volatile: the compiler may leave out what nobody looks at */
    free(block);
    char *volatile copy = strdup("by the C library");
    atomic_store(&counting, false);
    free(copy);
    cr_expect_geq(atomic_load(&n_ours), 1);
    cr_expect_geq(atomic_load(&n_theirs), 1);
}

Test(allocations, a_steady_step_makes_none_of_ours_and_ours_alone_makes_none_at_all, .timeout = 60) {
    static const char *const devices[] = {"cpu", "ref"};
    for (size_t d = 0; d < 2; d++) {
        for (int way = 0; way < 3; way++) { /* in place, run again, profiled */
            const counts c = count_steps(PRODUCTS, devices[d], way == 1, way == 2);
            cr_expect_eq(c.ours, 0, "%s, way %d: %lld, the last by %s", devices[d], way, c.ours, whose);
            const counts own = count_steps(OWN, devices[d], false, way == 2);
            cr_expect_eq(own.ours + own.theirs, 0, "%s, way %d: %lld and %lld", devices[d], way, own.ours,
                         own.theirs);
            /* oneDNN's argument tables, of the linear's three products and of one for each chunk of tiles
             * of both convolutions: small blocks, given back at once. And a workspace of 16,640 bytes for
             * each of the linear's two products that its kernels for AVX2 leave to its general one. */
            enum { PRODUCTS_A_STEP = 3 + 2 * 19, BLOCKS = 12 };
            const bool general = d == 0 && !test_has_avx512();
            const long long most = c.theirs * 512 + (general ? 5 * 2 * 16640 : 0);
            cr_expect(c.theirs <= 5 * PRODUCTS_A_STEP * BLOCKS && c.their_bytes <= most,
                      "%s: %lld blocks of %lld bytes", devices[d], c.theirs, c.their_bytes);
            /* 5 steps: a page here and there, no storm. */
            cr_expect_lt(c.faults, 64, "%s: %ld page faults", devices[d], c.faults);
        }
    }
}
