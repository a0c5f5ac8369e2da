/* Every input is fed before each step: a step that would read stale bytes is refused, and changes nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ebb/ebb.h"
#include "support/env.h"

static const char MODEL[] = "ebb 1\ngraph fed\ndim N = 4\n%x = input f32[N,3]\n%lr = input f32[]\n"
                            "%labels = input i32[N]\n%w = param f32[2,3] init=uniform\n"
                            "%y = linear %x, %w\n%z = mul %y, %lr\n%loss = softmax_xent %z, %labels\n"
                            "output %y\nloss %loss\n";

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *program;
} bench;

static void open_with(bench *b, ebb_options options) {
    *b = (bench){.env = test_env_open()};
    TEST_OK(b->env, ebb_model_parse(b->env, "fed.ebb", MODEL, sizeof MODEL - 1, &b->model));
    TEST_OK(b->env, ebb_engine_create(b->env, b->model, &options, &b->engine));
    TEST_OK(b->env, ebb_compile(b->engine, NULL, 0, &b->program));
}

static ebb_options plain(void) {
    ebb_options options;
    ebb_options_init(&options);
    options.device = "ref";
    return options;
}

static void close_all(bench *b) {
    ebb_engine_destroy(b->engine);
    ebb_model_destroy(b->model);
    test_env_close(b->env);
}

static void feed_numbers(bench *b, ebb_program *program, uint32_t n) {
    const float x[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, lr = 0.5F;
    const int32_t labels[8] = {0, 1};
    TEST_OK(b->env, ebb_feed(program, "x", x, n * 12));
    TEST_OK(b->env, ebb_feed(program, "labels", labels, n * 4));
    TEST_OK(b->env, ebb_feed(program, "lr", &lr, sizeof lr));
}

static void refused(bench *b, ebb_program *program, const char *name) {
    char text[64];
    const uint64_t step = ebb_engine_step(b->engine);
    (void)snprintf(text, sizeof text, "input %s was not fed", name);
    cr_expect_eq(ebb_step(program), EBB_USAGE);
    cr_expect(strstr(ebb_env_error(b->env), text), "%s", ebb_env_error(b->env));
    cr_expect_eq(ebb_engine_step(b->engine), step);
}

Test(feeds, a_step_without_them_is_refused_and_goes_on_when_they_come) {
    bench b;
    const float lr = 0.5F;
    open_with(&b, plain());
    refused(&b, b.program, "x");
    feed_numbers(&b, b.program, 4);
    TEST_OK(b.env, ebb_step(b.program));
    refused(&b, b.program, "x");
    TEST_OK(b.env, ebb_feed(b.program, "lr", &lr, sizeof lr)); /* that one is kept meanwhile */
    refused(&b, b.program, "x");
    TEST_OK(b.env, ebb_feed(b.program, "x", (float[12]){1}, 48));
    refused(&b, b.program, "labels");
    TEST_OK(b.env, ebb_feed(b.program, "labels", (int32_t[4]){1}, 16));
    TEST_OK(b.env, ebb_step(b.program));
    cr_expect_eq(ebb_engine_step(b.engine), 2);
    close_all(&b);
}

Test(feeds, another_program_of_the_engine_takes_the_bytes) {
    bench b;
    ebb_program *other;
    open_with(&b, plain());
    feed_numbers(&b, b.program, 4);
    TEST_OK(b.env, ebb_compile(b.engine, &(ebb_dim_binding){"N", 8}, 1, &other));
    refused(&b, b.program, "x");
    feed_numbers(&b, b.program, 4);
    feed_numbers(&b, other, 8);
    refused(&b, b.program, "x");
    TEST_OK(b.env, ebb_step(other));
    refused(&b, other, "x");
    close_all(&b);
}

Test(feeds, what_is_filled_in_place_is_the_callers_to_fill) {
    bench b;
    void *x, *lr;
    size_t bytes;
    open_with(&b, plain());
    TEST_OK(b.env, ebb_input_bytes(b.program, "x", &x, &bytes));
    TEST_OK(b.env, ebb_input_bytes(b.program, "lr", &lr, &bytes));
    for (int i = 0; i < 3; i++) {
        memcpy(x, (float[12]){1, 2, 3}, 48);
        memcpy(lr, &(float){0.5F}, sizeof(float));
        TEST_OK(b.env, ebb_feed(b.program, "labels", (int32_t[4]){1}, 16));
        TEST_OK(b.env, ebb_step(b.program));
        refused(&b, b.program, "labels");
    }
    close_all(&b);
}

Test(feeds, each_part_and_the_first_phase_of_a_step_has_its_own) {
    bench b;
    ebb_options options = plain();
    options.accumulate = 2;
    open_with(&b, options);
    for (int i = 0; i < 2; i++) {
        refused(&b, b.program, "x");
        feed_numbers(&b, b.program, 4);
        TEST_OK(b.env, ebb_step(b.program));
    }
    cr_expect_eq(ebb_engine_step(b.engine), 1);
    close_all(&b);
    options = plain();
    options.phased = true;
    open_with(&b, options);
    cr_expect_eq(ebb_run_phase(b.program, EBB_FORWARD), EBB_USAGE);
    feed_numbers(&b, b.program, 4);
    for (ebb_phase phase = EBB_FORWARD; phase <= EBB_UPDATE; phase++)
        TEST_OK(b.env, ebb_run_phase(b.program, phase));
    cr_expect_eq(ebb_run_phase(b.program, EBB_FORWARD), EBB_USAGE);
    close_all(&b);
}
