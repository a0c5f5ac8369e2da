/* Programs of one engine: what they share is the same tensors at the same place, and no program depends on
 * the ones before it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"
#include "ebb/ebb.h"
#include "support/options.h"
#include "support/scarce.h"

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_engine *engine;
} bench;

static bench open_bench(const ebb_env_options *env_options, const char *text, const ebb_options *options) {
    bench b;
    cr_assert_eq(ebb_env_create(env_options, &b.env), EBB_OK);
    cr_assert_eq(ebb_model_parse(b.env, "t.ebb", text, strlen(text), &b.model), EBB_OK, "%s",
                 ebb_env_error(b.env));
    cr_assert_eq(ebb_engine_create(b.env, b.model, options, &b.engine), EBB_OK, "%s", ebb_env_error(b.env));
    return b;
}

static void close_bench(bench *b) {
    ebb_engine_destroy(b->engine);
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

static ebb_options on_ref(void) {
    ebb_options o;
    test_options_init(&o);
    o.device = "ref";
    return o;
}

/* All of them take as many rounded bytes at the second dims as at the first. */
Test(programs, dims_that_change_a_param_state_or_constant_are_refused) {
    static const struct {
        const char *what, *text, *words;
    } rows[] = {
        {"a constant that grows within its unit",
         "ebb 1\ngraph t\ndim A = 4\ndim B = 2\n%x = input f32[A,1]\n%c = constant f32[A,1] fill=3\n"
         "%y = add %x, %c\noutput %y\n",
         "c is f32[2,1] at these dimensions but f32[4,1]"},
        {"a param of as many elements",
         "ebb 1\ngraph t\ndim A = 4\ndim B = 2\n%x = input f32[1,A]\n%w = param f32[B,A] init=uniform\n"
         "%y = linear %x, %w\noutput %y\n",
         "w is f32[4,2] at these dimensions but f32[2,4]"},
        {"two that change places",
         "ebb 1\ngraph t\ndim A = 4\ndim B = 2\n%x = input f32[1,3]\n%v = param f32[A,3] init=uniform\n"
         "%w = param f32[B,3] init=uniform\n%p = linear %x, %v\n%q = linear %x, %w\noutput %p, %q\n",
         "v is f32[2,3] at these dimensions but f32[4,3]"},
    };
    ebb_options o = on_ref();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        bench b = open_bench(NULL, rows[i].text, &o);
        ebb_dim_binding dims[] = {{"A", 4}, {"B", 2}}, swapped[] = {{"A", 2}, {"B", 4}};
        ebb_program *p, *q;
        cr_assert_eq(ebb_compile(b.engine, dims, 2, &p), EBB_OK, "%s: %s", rows[i].what,
                     ebb_env_error(b.env));
        cr_assert_eq(ebb_compile(b.engine, swapped, 2, &q), EBB_BAD_INPUT, "%s", rows[i].what);
        cr_assert_null(q);
        cr_assert_not_null(strstr(ebb_env_error(b.env), rows[i].words), "%s: %s", rows[i].what,
                           ebb_env_error(b.env));
        cr_assert_eq(ebb_compile(b.engine, dims, 2, &q), EBB_OK);
        cr_assert_eq(p, q, "the first program is there still");
        close_bench(&b);
    }
}

/* The first one has few params and a large arena, the second many params: no bytes of the first's layout
 * may stay. */
Test(programs, after_a_failed_first_compile_the_next_one_lays_out_anew) {
    static const char text[] = "ebb 1\ngraph t\ndim N = 1\ndim K = 2\n%x = input f32[N,4]\n"
                               "%w = param f32[K,4] init=one\n%y = linear %x, %w\noutput %y\n";
    ebb_options o = on_ref();
    ebb_status status = EBB_NO_MEMORY;
    for (uint64_t n = 0; status != EBB_OK; n++) {
        scarce_memory memory = {.fail_at = UINT64_MAX, .once = true};
        const ebb_env_options scarce = {.alloc = scarce_alloc, .free = scarce_free, .alloc_ctx = &memory};
        bench b = open_bench(&scarce, text, &o);
        ebb_dim_binding large[] = {{"N", 1000}, {"K", 2}}, wide[] = {{"N", 1}, {"K", 40}};
        ebb_program *p;
        memory.fail_at = memory.n_calls + n;
        status = ebb_compile(b.engine, large, 2, &p);
        memory.fail_at = UINT64_MAX;
        if (status == EBB_NO_MEMORY) {
            float x[4] = {5, 5, 5, 5}, w[160];
            cr_assert_eq(ebb_compile(b.engine, wide, 2, &p), EBB_OK, "%s", ebb_env_error(b.env));
            cr_assert_eq(ebb_feed(p, "x", x, sizeof(x)), EBB_OK);
            cr_assert_eq(ebb_fetch(p, "w", w, sizeof(w)), EBB_OK);
            for (int i = 0; i < 160; i++)
                cr_assert_eq(w[i], 1.0f, "allocation %llu: weight %d", (unsigned long long)n, i);
            ebb_plan_summary s;
            ebb_plan_summarize(ebb_program_plan(p), &s);
            cr_assert_eq(ebb_engine_block_bytes(b.engine), s.arena_bytes + s.persistent_bytes);
        }
        close_bench(&b);
    }
}

static char *plan_text(bench *b, int64_t n) {
    ebb_program *p;
    ebb_text text;
    ebb_json_out json;
    cr_assert_eq(ebb_compile(b->engine, &(ebb_dim_binding){"N", n}, 1, &p), EBB_OK, "%s",
                 ebb_env_error(b->env));
    ebb_text_init(&text, b->env);
    ebb_json_out_init(&json, &text);
    ebb_plan_print(&json, ebb_program_plan(p));
    cr_assert_eq(ebb_text_status(&text), EBB_OK);
    char *copy = strdup(text.at);
    ebb_text_deinit(&text);
    return copy;
}

/* As deep as a search with little effort does not get to the end of. */
static void write_deep_model(char *text, size_t room) {
    size_t n = (size_t)snprintf(
        text, room, "ebb 1\ngraph deep\ndim N = 8\n%%x0 = input f32[N,16]\n%%labels = input i32[N]\n");
    for (int i = 0; i < 24; i++)
        n += (size_t)snprintf(text + n, room - n,
                              "%%w%d = param f32[16,16] init=kaiming\n%%h%d = linear %%x%d, %%w%d\n"
                              "%%x%d = relu %%h%d\n",
                              i, i, i, i, i + 1, i);
    (void)snprintf(text + n, room - n,
                   "%%loss = softmax_xent %%x24, %%labels\noutput %%x24\nloss %%loss\n");
}

Test(programs, a_plan_does_not_depend_on_what_was_compiled_before_it) {
    static char text[8192];
    write_deep_model(text, sizeof(text));
    ebb_options o = on_ref();
    o.memory = EBB_MEMORY_BUDGET;
    o.effort = 300;
    for (int64_t n = 64; n <= 640; n += 64) {
        o.budget_bytes = 110000 + n * 800;
        bench alone = open_bench(NULL, text, &o), after = open_bench(NULL, text, &o);
        char *a = plan_text(&alone, n);
        free(plan_text(&after, n / 2));
        char *b = plan_text(&after, n);
        cr_assert_str_eq(a, b, "N=%lld", (long long)n);
        free(a);
        free(b);
        close_bench(&alone);
        close_bench(&after);
    }
}

/* ---- growing ---- */

/* An allocator that looks at large memory when it is handed back. */
typedef struct watched {
    int64_t n_large, resident_bytes; /* blocks freed, and what of the last one was in memory */
} watched;
enum { LARGE_BYTES = 8 << 20 };

static void *watched_alloc(void *ctx, size_t bytes, size_t alignment) {
    (void)ctx;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void watched_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    watched *w = ctx;
    (void)alignment;
    if (bytes >= LARGE_BYTES) {
        const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
                        begin = ((uintptr_t)ptr + page - 1) / page * page;
        const size_t n = ((uintptr_t)ptr + bytes - begin) / page;
        unsigned char *in_memory = calloc(n, 1);
        cr_assert_eq(mincore((void *)begin, n * page, in_memory), 0);
        w->n_large++;
        w->resident_bytes = 0;
        for (size_t i = 0; i < n; i++) w->resident_bytes += (in_memory[i] & 1) * (int64_t)page;
        free(in_memory);
    }
    free(ptr);
}

/* 9 MiB of parameters: when a larger program's block takes them over, the old one's pages are gone. */
Test(programs, a_block_that_grows_holds_no_parameter_twice) {
    enum { WIDTH = 1536, PAGES_LEFT = 256 << 10 };
    static const char text[] =
        "ebb 1\ngraph t\ndim N = 1\n%x = input f32[N,1536]\n%w = param f32[1536,1536] "
        "init=uniform\n%y = linear %x, %w\noutput %y\n";
    watched w = {0};
    const ebb_env_options env_options = {.alloc = watched_alloc, .free = watched_free, .alloc_ctx = &w};
    ebb_options o = on_ref();
    bench b = open_bench(&env_options, text, &o);
    ebb_program *small, *large;
    float *before = malloc(sizeof(float) * WIDTH * WIDTH), *after = malloc(sizeof(float) * WIDTH * WIDTH);
    ebb_dim_binding one = {"N", 1}, many = {"N", 33};
    cr_assert_eq(ebb_compile(b.engine, &one, 1, &small), EBB_OK, "%s", ebb_env_error(b.env));
    cr_assert_eq(ebb_fetch(small, "w", before, sizeof(float) * WIDTH * WIDTH), EBB_OK, "%s",
                 ebb_env_error(b.env));
    const int64_t bytes = ebb_engine_block_bytes(b.engine);
    w.n_large = 0;
    cr_assert_eq(ebb_compile(b.engine, &many, 1, &large), EBB_OK, "%s", ebb_env_error(b.env));
    cr_assert_gt(ebb_engine_block_bytes(b.engine), bytes, "it grew");
    cr_assert_eq(w.n_large, 1);
    cr_assert_leq(w.resident_bytes, PAGES_LEFT, "of %lld bytes", (long long)bytes);
    cr_assert_eq(ebb_fetch(large, "w", after, sizeof(float) * WIDTH * WIDTH), EBB_OK);
    cr_assert_arr_eq(before, after, sizeof(float) * WIDTH * WIDTH);
    free(before);
    free(after);
    close_bench(&b);
}

/* What made-up labels and ids are drawn from: whatever reads them can use them. */
Test(programs, integers_of_an_input_are_below_what_all_its_readers_take) {
    static const char text[] =
        "ebb 1\ngraph t\ndim N = 32\n%x = input f32[N,4]\n%ids = input i32[N]\n"
        "%both = input i32[N]\n%idle = input i32[N]\n%table = param f32[9,4] init=uniform\n"
        "%small = param f32[5,4] init=uniform\n%w = param f32[7,4] init=uniform\n"
        "%a = embedding %table, %ids\n%b = embedding %small, %both\n%s = add %a, %x\n"
        "%t = add %s, %b\n%logits = linear %t, %w\n%loss = softmax_xent %logits, %both\n"
        "loss %loss\n";
    static const struct {
        const char *name;
        int64_t below;
    } rows[] = {{"x", 0}, {"ids", 9}, {"both", 5}, {"idle", 1}, {"table", 0}};
    ebb_options o = on_ref();
    bench b = open_bench(NULL, text, &o);
    ebb_program *p;
    cr_assert_eq(ebb_compile(b.engine, NULL, 0, &p), EBB_OK, "%s", ebb_env_error(b.env));
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_tensor_info info;
        cr_assert_eq(ebb_program_tensor(p, rows[i].name, &info), EBB_OK, "%s", ebb_env_error(b.env));
        cr_expect_eq(info.below, rows[i].below, "%s: %lld", rows[i].name, (long long)info.below);
    }
    const ebb_graph *graph = p->compiled.graph;
    int32_t drawn[32], most = 0;
    ebb_rng rng;
    ebb_rng_init(&rng, 1, 0);
    ebb_make_up(graph, ebb_graph_find(graph, "both"), drawn, &rng);
    for (int i = 0; i < 32; i++) {
        cr_expect(drawn[i] >= 0 && drawn[i] < 5, "%d", drawn[i]);
        most = drawn[i] > most ? drawn[i] : most;
    }
    cr_expect_eq(most, 4);
    close_bench(&b);
}
