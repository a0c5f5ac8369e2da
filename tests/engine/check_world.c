#include "check_world.h"

const char check_model[] =
    "ebb 1\ngraph check\ndim N = 3\n%x = input f32[N,3,7,7]\n%labels = input i32[N]\n"
    "%w = param f32[5,3,3,3] init=kaiming\n%g = param f32[5] init=one\n%b = param f32[5]\n"
    "%m = state f32[5]\n%v = state f32[5] init=one\n%c = conv2d %x, %w pad=1\n"
    "%n = batch_norm %c, %g, %b, %m, %v\n%r = relu %n\n%p = max_pool %r kernel=3 stride=2\n"
    "%f = flatten %p\n%d = dropout %f p=0.25\n%u = param f32[4,45] init=uniform\n%t = param f32[4]\n"
    "%l = linear %d, %u\n%k = bias %l, %t\n%loss = softmax_xent %k, %labels\nloss %loss\n";

check_side check_side_open(ebb_env *env, ebb_model *model, ebb_options *o, const ebb_backend_api *api) {
    check_side s;
    o->device = "ref";
    o->n_threads = 1;
    cr_assert_eq(ebb_engine_create(env, model, o, &s.engine), EBB_OK, "%s", ebb_env_error(env));
    if (api) s.engine->backend->api = api;
    ebb_finite_close(s.engine); /* what it opened was for the memory that it had */
    cr_assert_eq(ebb_finite_open(s.engine), EBB_OK);
    cr_assert_eq(ebb_compile(s.engine, NULL, 0, &s.program), EBB_OK, "%s", ebb_env_error(env));
    return s;
}

void check_world_open(check_world *w, const char *text) {
    cr_assert_eq(ebb_env_create(NULL, &w->env), EBB_OK);
    cr_assert_eq(ebb_model_parse(w->env, "check", text, strlen(text), &w->model), EBB_OK, "%s",
                 ebb_env_error(w->env));
    away_fill_api(&w->away, "away");
}

void check_world_close(check_world *w) {
    ebb_model_destroy(w->model);
    cr_assert_eq(ebb_env_allocated_bytes(w->env), 0);
    ebb_env_destroy(w->env);
}
