#include "costs_bench.h"

#include "support/options.h"

const char costs_model[] = "ebb 1\ngraph small\ndim N = 8\n%x = input f32[N,30]\n%labels = input i32[N]\n"
                           "%w1 = param f32[96,30] init=kaiming\n%w2 = param f32[10,96] init=uniform\n"
                           "%a = linear %x, %w1\n%b = clip %a min=0 max=6\n%v = reshape %b "
                           "shape=[N,2,48]\n%c = reshape %v shape=[N,96]\n"
                           "%logits = linear %c, %w2\n%loss = softmax_xent %logits, %labels\nloss %loss\n";

void costs_bench_open(costs_bench *b, const char *text) {
    *b = (costs_bench){.w = {.tick_ns = 1000}};
    const ebb_env_options options = {.clock_ns = world_clock_ns, .clock_ctx = &b->w, .stop = &b->w.stop};
    cr_assert_eq(ebb_env_create(&options, &b->env), EBB_OK);
    TEST_OK(b->env, ebb_model_parse(b->env, "t", text, strlen(text), &b->model));
    test_options_init(&b->options);
    b->options.device = "ref";
    b->options.n_threads = 1;
}

void costs_bench_close(costs_bench *b) {
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0, "%zu bytes left", ebb_env_allocated_bytes(b->env));
    ebb_env_destroy(b->env);
}
