/* The look for numbers that are none, and poison in dead bytes: on host memory and on a device's. */
#include "check_world.h"

/* 3e38 and more, by a product. */
static const char INFINITE[] = "ebb 1\ngraph infinite\n%x = input f32[2,3]\n%labels = input i32[2]\n"
                               "%w = param f32[5,3] init=uniform\n%large = constant f32[2,5] fill=3e38\n"
                               "%h1 = linear %x, %w\n%h2 = mul %h1, %large\n%h3 = mul %h2, %large\n"
                               "%h4 = relu %h3\n%loss = softmax_xent %h4, %labels\nloss %loss\n";

static ebb_status step_of(check_world *w, bool check, const ebb_backend_api *api) {
    ebb_options o;
    ebb_options_init(&o);
    o.check_finite = check;
    o.poison = true;
    check_side s = check_side_open(w->env, w->model, &o, api);
    const float x[6] = {0.1F, -0.2F, 0.3F, -0.1F, 0.2F, -0.3F}, lr = 0.1F;
    const int32_t labels[2] = {0, 1};
    cr_assert_eq(ebb_feed(s.program, "x", x, sizeof x), EBB_OK);
    cr_assert_eq(ebb_feed(s.program, "labels", labels, sizeof labels), EBB_OK);
    cr_assert_eq(ebb_feed(s.program, "lr", &lr, sizeof lr), EBB_OK);
    const ebb_status status = ebb_step(s.program);
    ebb_engine_destroy(s.engine);
    return status;
}

Test(check, the_first_op_that_gives_a_number_that_is_none_is_named) {
    check_world w;
    check_world_open(&w, INFINITE);
    const ebb_backend_api *const memories[] = {NULL, &w.away};
    for (size_t k = 0; k < EBB_COUNT(memories); k++) {
        cr_assert_eq(step_of(&w, false, memories[k]), EBB_OK);
        cr_assert_eq(step_of(&w, true, memories[k]), EBB_VIOLATION);
        const char *error = ebb_env_error(w.env);
        cr_assert(strstr(error, "(h3)") && strstr(error, "inf at [") && strstr(error, "%h3, f32[2,5]"),
                  "%s", error);
    }
    check_world_close(&w);
}

/* More bytes than are copied from a device at once. */
Test(check, a_late_element_of_a_large_tensor_is_named) {
    static const char LARGE[] =
        "ebb 1\ngraph large\n%x = input f32[600,600]\n%k = constant f32[600,600] fill=3e38\n"
        "%y = mul %x, %k\noutput %y\n";
    static float x[600 * 600];
    check_world w;
    check_world_open(&w, LARGE);
    const ebb_backend_api *const memories[] = {NULL, &w.away};
    x[599 * 600 + 7] = -2;
    for (size_t k = 0; k < EBB_COUNT(memories); k++) {
        ebb_options o;
        ebb_options_init(&o);
        o.check_finite = true;
        check_side s = check_side_open(w.env, w.model, &o, memories[k]);
        cr_assert_eq(ebb_feed(s.program, "x", x, sizeof x), EBB_OK);
        cr_assert_eq(ebb_step(s.program), EBB_VIOLATION);
        cr_assert(strstr(ebb_env_error(w.env), "-inf at [599,7] of %y"), "%s", ebb_env_error(w.env));
        ebb_engine_destroy(s.engine);
    }
    check_world_close(&w);
}

Test(check, an_element_is_named_by_its_logical_index) {
    const ebb_type picture = {.dtype = EBB_F32, .rank = 4, .dim = {2, 3, 5, 7}},
                   scalar = {.dtype = EBB_F32};
    const ebb_type matrix = {.dtype = EBB_F32, .rank = 2, .dim = {3, 7}};
    char text[EBB_ELEMENT_TEXT];
    ebb_element_text(&picture, ((1 * 5 + 4) * 7 + 6) * 3 + 2, text); /* n, h, w, c as stored */
    cr_assert_str_eq(text, "[1,2,4,6]");
    ebb_element_text(&matrix, 2 * 7 + 5, text);
    cr_assert_str_eq(text, "[2,5]");
    ebb_element_text(&scalar, 0, text);
    cr_assert_str_eq(text, "[]");
}

/* The params after two steps, dead bytes overwritten or not. */
static void train(check_world *w, bool poison, const ebb_backend_api *api, float out[135]) {
    ebb_options o;
    ebb_options_init(&o);
    o.poison = poison;
    check_side s = check_side_open(w->env, w->model, &o, api);
    float x[3 * 3 * 49];
    const float lr = 0.1F;
    const int32_t labels[3] = {0, 1, 3};
    for (size_t i = 0; i < EBB_COUNT(x); i++) x[i] = (float)(i * 37 % 101) / 50 - 1;
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(ebb_feed(s.program, "x", x, sizeof x), EBB_OK);
        cr_assert_eq(ebb_feed(s.program, "labels", labels, sizeof labels), EBB_OK);
        cr_assert_eq(ebb_feed(s.program, "lr", &lr, sizeof lr), EBB_OK);
        cr_assert_eq(ebb_step(s.program), EBB_OK, "%s", ebb_env_error(w->env));
    }
    cr_assert_eq(ebb_fetch(s.program, "w", out, 135 * sizeof *out), EBB_OK);
    ebb_engine_destroy(s.engine);
}

Test(check, poison_of_a_devices_dead_bytes_changes_no_bit) {
    check_world w;
    float plain[135], poisoned[135];
    check_world_open(&w, check_model);
    train(&w, false, NULL, plain);
    train(&w, true, &w.away, poisoned);
    cr_assert_eq(memcmp(plain, poisoned, sizeof plain), 0);
    check_world_close(&w);
}
