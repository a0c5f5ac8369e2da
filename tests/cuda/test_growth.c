/* An engine on a device whose memory holds one block and not two: programs of several sizes share it all
 * the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ebb/engine.h"

static const char model[] = "ebb 1\n"
                            "graph growth\n"
                            "dim N = 8\n"
                            "%x = input f32[N,64]\n"
                            "%w = param f32[64,64] init=kaiming\n"
                            "%h = linear %x, %w\n"
                            "%y = relu %h\n"
                            "output %y\n";

typedef struct setting {
    ebb_env *env;
    ebb_model *text;
    ebb_engine *engine;
} setting;

#define OK(s, call) cr_assert_eq((call), EBB_OK, "%s", ebb_env_error((s)->env))

static void begin(setting *s, int64_t memory_bytes) {
    char text[32];
    ebb_options options;
    (void)snprintf(text, sizeof text, "%lld", (long long)memory_bytes);
    cr_assert_eq(setenv("EBB_CUDA_MODULE", EBB_TWIN, 1), 0);
    cr_assert_eq(setenv("EBB_TWIN_MEMORY", text, 1), 0);
    cr_assert_eq(ebb_env_create(NULL, &s->env), EBB_OK);
    OK(s, ebb_model_parse(s->env, "growth", model, strlen(model), &s->text));
    ebb_options_init(&options);
    options.device = "cuda";
    options.evaluate = true;
    OK(s, ebb_engine_create(s->env, s->text, &options, &s->engine));
}

static void end(setting *s) {
    ebb_engine_destroy(s->engine);
    ebb_model_destroy(s->text);
    cr_assert_eq(ebb_env_allocated_bytes(s->env), 0);
    ebb_env_destroy(s->env);
}

static ebb_status compile(setting *s, int64_t n, ebb_program **out) {
    return ebb_compile(s->engine, &(ebb_dim_binding){"N", n}, 1, out);
}

/* y of the program, three runs long, so that it is recorded and replayed. Freed by the caller. */
static float *run(setting *s, ebb_program *program, int64_t n) {
    const size_t bytes = (size_t)n * 64 * sizeof(float);
    float *x = malloc(bytes), *y = malloc(bytes);
    cr_assert(x && y);
    for (int64_t i = 0; i < n * 64; i++) x[i] = (float)(i % 13 - 6) / 13;
    for (int k = 0; k < 3; k++) {
        OK(s, ebb_feed(program, "x", x, bytes));
        OK(s, ebb_step(program));
    }
    OK(s, ebb_fetch(program, "y", y, bytes));
    free(x);
    return y;
}

static int64_t bytes_of(int64_t n) {
    setting s;
    ebb_program *program;
    begin(&s, 1 << 30);
    OK(&s, compile(&s, n, &program));
    const int64_t bytes = ebb_engine_block_bytes(s.engine);
    end(&s);
    return bytes;
}

Test(growth, the_larger_program_takes_the_place_of_the_smaller_one_and_parameters_stay) {
    setting s;
    ebb_program *small, *large;
    float w[64 * 64], after[64 * 64];
    const int64_t bytes = bytes_of(64);
    begin(&s, bytes);
    OK(&s, compile(&s, 8, &small));
    float *first = run(&s, small, 8);
    OK(&s, ebb_fetch(small, "w", w, sizeof w));
    OK(&s, compile(&s, 64, &large));
    cr_assert_eq(ebb_engine_block_bytes(s.engine), bytes);
    OK(&s, ebb_fetch(large, "w", after, sizeof after));
    cr_assert_eq(memcmp(w, after, sizeof w), 0, "parameters");
    float *again = run(&s, small, 8), *all = run(&s, large, 64);
    cr_assert_eq(memcmp(first, again, 8 * 64 * sizeof *first), 0, "the small program where it lies now");
    cr_assert_eq(memcmp(first, all, 8 * 64 * sizeof *first), 0, "the same rows of the large one");
    free(first);
    free(again);
    free(all);
    end(&s);
}

Test(growth, what_does_not_fit_is_refused_and_the_smaller_program_runs_on) {
    setting s;
    ebb_program *small, *large = NULL;
    const int64_t bytes = bytes_of(64);
    begin(&s, bytes - 1);
    OK(&s, compile(&s, 8, &small));
    float *first = run(&s, small, 8);
    const int64_t held = ebb_engine_block_bytes(s.engine);
    cr_assert_eq(compile(&s, 64, &large), EBB_NO_MEMORY);
    char number[32];
    (void)snprintf(number, sizeof number, "takes %lld bytes", (long long)bytes);
    cr_assert(strstr(ebb_env_error(s.env), number), "%s", ebb_env_error(s.env));
    cr_assert_eq(ebb_engine_block_bytes(s.engine), held);
    float *again = run(&s, small, 8);
    cr_assert_eq(memcmp(first, again, 8 * 64 * sizeof *first), 0);
    free(first);
    free(again);
    end(&s);
}
