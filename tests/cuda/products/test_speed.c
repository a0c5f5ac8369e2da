/* Which engine comes first: by measured speed where cuDNN's own order does not tell, else cuDNN's own. And
 * what the measured speeds depend on. */
#include <stdio.h>

#include "conv_calls.h"
#include "exec/cuda/cudnn/choices.h"
#include "exec/cuda/products_parts.h"

/* Engines of forward convolutions from the fastest on, by number and the knobs TILE_SIZE and IDX_MODE. */
enum { ANY = -1 };
static const struct {
    int64_t engine, tile, index;
} by_speed[] = {{70, 4, 0}, {70, 2, 0}, {1, ANY, ANY}, {70, 12, 0}};

typedef struct order {
    ebb_env *env;
    test_device device;
    dnn_set set;
    cudnnBackendDescriptor_t described;
    bool tf32;
} order;

static void order_open(ebb_env *env, const char *file, bool tf32, order *out) {
    *out = (order){.env = env, .tf32 = tf32};
    test_device_open(env, file, tf32, &out->device);
    dnn_set_init(&out->set, env);
    out->described = dnn_device(&out->set, out->device.description.properties);
    TEST_OK(env, dnn_set_status(&out->set, EBB_UNAVAILABLE, file));
}

static void order_close(order *o) {
    dnn_set_deinit(&o->set);
    test_device_close(o->env, &o->device);
}

static int64_t knob_of(const dnn_config *config, cudnnBackendKnobType_t knob) {
    for (uint32_t i = 0; i < config->n_knobs; i++) {
        if (config->knob[i] == (int32_t)knob) return config->value[i];
    }
    return ANY;
}

/* Place in the order above; after it, all are one. */
static size_t place_of(const dnn_config *c) {
    size_t i = 0;
    for (; i < EBB_COUNT(by_speed); i++) {
        if (c->engine == by_speed[i].engine && !c->generic &&
            (by_speed[i].tile == ANY || by_speed[i].tile == knob_of(c, CUDNN_KNOB_TYPE_TILE_SIZE)) &&
            (by_speed[i].index == ANY || by_speed[i].index == knob_of(c, CUDNN_KNOB_TYPE_IDX_MODE)))
            break;
    }
    return i;
}

static bool same_config(const dnn_config *a, const dnn_config *b) {
    return a->engine == b->engine && a->n_knobs == b->n_knobs &&
           memcmp(a->knob, b->knob, a->n_knobs * sizeof *a->knob) == 0 &&
           memcmp(a->value, b->value, a->n_knobs * sizeof *a->value) == 0;
}

/* The configuration that products take first, which must be the one that they tell. */
static dnn_choice first_choice(order *o, const ebb_call *call) {
    const dnn_entry *entry;
    dnn_memo memo;
    ebb_op_facts facts;
    dnn_memo_init(&memo, o->env);
    TEST_OK(o->env, dnn_choices_find(&memo, &o->device.description, o->described, NULL,
                                     &(cuda_products_options){.tf32 = o->tf32, .free_engines = true}, call,
                                     &entry));
    cr_assert_gt(entry->n, 0);
    const dnn_choice choice = entry->at[0];
    TEST_OK(o->env, o->device.products->api->facts(o->device.products, call, &facts));
    cr_expect_str_eq(facts.choice, choice.facts.choice);
    dnn_memo_deinit(&memo);
    return choice;
}

/* What cuDNN offers in a mode for the choice's pieces. */
static void offered(order *o, const ebb_call *call, const dnn_choice *choice, cudnnBackendHeurMode_t mode,
                    dnn_configs *out) {
    dnn_piece piece;
    dnn_piece_make(call, cuda_piece_images(dnn_images(call), choice->n_pieces, 0), &piece);
    cudnnBackendDescriptor_t graph = dnn_conv_graph(&o->set, &piece.call, false, NULL);
    TEST_OK(o->env, dnn_set_status(&o->set, EBB_BAD_INPUT, call->op->name));
    TEST_OK(o->env,
            dnn_configs_find(o->env, graph, o->described, mode,
                             &(dnn_allowed){.tensor_cores = o->tf32, .winograd = true, .uncompared = true},
                             out));
}

static size_t least_place(const dnn_configs *configs) {
    size_t least = EBB_COUNT(by_speed);
    for (uint32_t i = 0; i < configs->n; i++) {
        const size_t place = place_of(&configs->at[i]);
        if (place < least) least = place;
    }
    return least;
}

/* Forward, 3x3, each pixel, on an H200 in f32. */
Test(speed, of_wide_filters_in_strict_f32_the_fastest_measured_engine_is_taken) {
    static const test_geometry rows[] = {
        {{64, 16, 28, 28}, {16, 16, 3, 3}, {1, 1}, 1},    {{256, 64, 56, 56}, {64, 64, 3, 3}, {1, 1}, 1},
        {{64, 128, 28, 28}, {128, 128, 3, 3}, {1, 1}, 1}, {{64, 256, 14, 14}, {256, 256, 3, 3}, {1, 1}, 1},
        {{64, 512, 7, 7}, {512, 512, 3, 3}, {1, 1}, 1},
    };
    static dnn_configs a, fallback;
    ebb_env *env = test_env_open();
    order o;
    int n_not_first = 0;
    order_open(env, "h200.json", false, &o);
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        test_conv conv;
        test_conv_make(env, &ebb_op_conv2d, &rows[i], &conv);
        const dnn_choice choice = first_choice(&o, &conv.call);
        offered(&o, &conv.call, &choice, CUDNN_HEUR_MODE_A, &a);
        offered(&o, &conv.call, &choice, CUDNN_HEUR_MODE_FALLBACK, &fallback);
        const size_t place = place_of(&choice.config), in_a = least_place(&a),
                     in_fallback = least_place(&fallback);
        cr_expect_eq(place, in_a < in_fallback ? in_a : in_fallback, "row %zu: %s", i, choice.facts.choice);
        cr_expect_lt(place, EBB_COUNT(by_speed), "row %zu: %s", i, choice.facts.choice);
        n_not_first += !same_config(&choice.config, &a.at[0]);
    }
    cr_expect_gt(n_not_first, 0, "cuDNN's own order says the same");
    order_close(&o);
    test_env_close(env);
}

typedef struct row {
    const char *file;
    bool tf32;
    test_geometry geometry;
} row;

Test(speed, where_nothing_was_measured_cudnns_own_first_is_taken) {
    static const row rows[] = {
        {"h200.json", true, {{64, 64, 56, 56}, {64, 64, 3, 3}, {1, 1}, 1}},
        {"h200.json", true, {{256, 256, 14, 14}, {256, 256, 3, 3}, {1, 1}, 1}},
        {"h200.json", false, {{64, 3, 224, 224}, {64, 3, 7, 7}, {2, 2}, 3}},
        {"h200.json", false, {{64, 15, 56, 56}, {64, 15, 3, 3}, {1, 1}, 1}},
        {"rtx2080ti.json", false, {{64, 64, 56, 56}, {64, 64, 3, 3}, {1, 1}, 1}},
        {"rtx2080ti.json", false, {{64, 256, 14, 14}, {256, 256, 3, 3}, {1, 1}, 1}},
    };
    static const ebb_op_info *const ops[] = {&ebb_op_conv2d, &ebb_op_conv2d_dgrad, &ebb_op_conv2d_wgrad};
    static dnn_configs a;
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows) * EBB_COUNT(ops); i++) {
        const row *r = &rows[i / EBB_COUNT(ops)];
        order o;
        test_conv conv;
        order_open(env, r->file, r->tf32, &o);
        test_conv_make(env, ops[i % EBB_COUNT(ops)], &r->geometry, &conv);
        const dnn_choice choice = first_choice(&o, &conv.call);
        offered(&o, &conv.call, &choice, CUDNN_HEUR_MODE_A, &a);
        cr_assert_gt(a.n, 0);
        cr_expect(same_config(&choice.config, &a.at[0]), "%s %s row %zu: %s, not e%lld", r->file,
                  conv.call.op->name, i, choice.facts.choice, (long long)a.at[0].engine);
        order_close(&o);
    }
    test_env_close(env);
}

/* ---- percents of made-up configurations -------------------------------------------------------------- */

/* tile, index: ANY without the knob. Another knob stands before them. */
static dnn_config made_up(int64_t engine, int64_t tile, int64_t index) {
    dnn_config c = {.engine = engine, .n_knobs = 1, .knob = {CUDNN_KNOB_TYPE_SPLIT_K}, .value = {4}};
    const struct {
        cudnnBackendKnobType_t knob;
        int64_t value;
    } knobs[] = {{CUDNN_KNOB_TYPE_IDX_MODE, index}, {CUDNN_KNOB_TYPE_TILE_SIZE, tile}};
    for (size_t i = 0; i < EBB_COUNT(knobs); i++) {
        if (knobs[i].value == ANY) continue;
        c.knob[c.n_knobs] = (int32_t)knobs[i].knob;
        c.value[c.n_knobs++] = knobs[i].value;
    }
    return c;
}

/* Of x[8,32,h,w], 3x3 filters and these strides. */
typedef struct picture {
    int64_t h, w, stride[2];
} picture;

static int32_t percent(const ebb_op_info *op, picture p, const dnn_config *config) {
    ebb_env *env = test_env_open();
    const test_geometry g = {{8, 32, p.h, p.w}, {32, 32, 3, 3}, {p.stride[0], p.stride[1]}, 1};
    test_conv conv;
    test_conv_make(env, op, &g, &conv);
    const int32_t result = dnn_speed_percent(&conv.call, config);
    test_env_close(env);
    return result;
}

static const ebb_op_info *const three_ops[] = {&ebb_op_conv2d, &ebb_op_conv2d_dgrad, &ebb_op_conv2d_wgrad};
static const picture plain = {56, 56, {1, 1}}, strided = {56, 56, {2, 2}}, by_rows = {56, 56, {2, 1}},
                     by_columns = {56, 56, {1, 2}};

static int32_t of(const ebb_op_info *op, picture p, int64_t engine, int64_t tile) {
    const dnn_config config = made_up(engine, tile, ANY);
    return percent(op, p, &config);
}

/* Engines 1, 74, and 2 by its knob, in their order; a stride of either side is one. */
Test(speed, of_gradients_by_data_depends_on_strides) {
    const ebb_op_info *op = &ebb_op_conv2d_dgrad;
    const picture with_strides[] = {strided, by_rows, by_columns};
    cr_expect_gt(of(op, plain, 1, ANY), of(op, plain, 74, ANY));
    cr_expect_gt(of(op, plain, 74, ANY), of(op, plain, 2, 2));
    cr_expect_gt(of(op, plain, 2, 2), of(op, plain, 2, ANY));
    cr_expect_eq(of(op, plain, 2, 3), of(op, plain, 2, ANY));
    for (size_t i = 0; i < EBB_COUNT(with_strides); i++) {
        const picture p = with_strides[i];
        cr_expect_gt(of(op, p, 2, 2), of(op, p, 2, ANY));
        cr_expect_gt(of(op, p, 2, ANY), of(op, p, 74, ANY));
        cr_expect_gt(of(op, p, 74, ANY), of(op, p, 1, ANY));
        for (int64_t engine = 1; engine <= 2; engine++)
            cr_expect_lt(of(op, p, engine, ANY), of(op, plain, engine, ANY), "engine %d", (int)engine);
        cr_expect_lt(of(op, p, 2, 2), of(op, plain, 2, 2));
        cr_expect_lt(of(op, p, 74, ANY), of(op, plain, 74, ANY));
    }
    for (int64_t engine = 1; engine <= 2; engine++) { /* not on the size of pictures */
        cr_expect_eq(of(op, (picture){7, 7, {1, 1}}, engine, ANY), of(op, plain, engine, ANY));
        cr_expect_eq(of(op, (picture){7, 7, {2, 2}}, engine, ANY), of(op, strided, engine, ANY));
    }
}

/* Engine 67 is fast with pictures (y's) of at most 14*14 pixels, of any form; 17 is faster than what is
 * counted, 1 depends on its knob alone. */
Test(speed, of_gradients_by_filters_depends_on_the_size_of_pictures) {
    const ebb_op_info *op = &ebb_op_conv2d_wgrad;
    const picture small[] = {
        {14, 14, {1, 1}}, {7, 28, {1, 1}}, {1, 196, {1, 1}}, {28, 28, {2, 2}}, {14, 28, {1, 2}}};
    const picture larger[] = {{14, 15, {1, 1}}, {1, 197, {1, 1}}, {28, 28, {1, 2}}, {29, 28, {2, 2}}};
    const int32_t fast = of(op, small[0], 67, ANY), slow = of(op, larger[0], 67, ANY);
    cr_expect_gt(fast, of(op, small[0], 1, ANY));
    cr_expect_lt(slow, of(op, larger[0], 1, 6));
    for (size_t i = 0; i < EBB_COUNT(small); i++) cr_expect_eq(of(op, small[i], 67, ANY), fast, "%zu", i);
    for (size_t i = 0; i < EBB_COUNT(larger); i++) cr_expect_eq(of(op, larger[i], 67, ANY), slow, "%zu", i);
    const picture all[] = {plain, strided, small[0], larger[0]};
    for (size_t i = 0; i < EBB_COUNT(all); i++) {
        cr_expect_gt(of(op, all[i], 17, ANY), 100);
        cr_expect_gt(of(op, all[i], 1, ANY), of(op, all[i], 1, 6));
        cr_expect_eq(of(op, all[i], 1, 5), of(op, plain, 1, ANY));
        cr_expect_eq(of(op, all[i], 1, 6), of(op, plain, 1, 6));
    }
}

Test(speed, of_forward_convolutions_depends_on_two_knobs) {
    const ebb_op_info *op = &ebb_op_conv2d;
    const dnn_config in_order[] = {made_up(70, 4, 0),  made_up(70, 2, 0), made_up(1, ANY, ANY),
                                   made_up(70, 12, 0), made_up(28, 5, 0), made_up(70, 4, 1),
                                   made_up(28, 4, 0)};
    const dnn_config others[] = {made_up(70, 2, 1), made_up(70, 12, 1), made_up(70, 3, 0),
                                 made_up(70, ANY, 0), made_up(70, 4, ANY)};
    for (size_t i = 1; i < EBB_COUNT(in_order); i++)
        cr_expect_gt(percent(op, plain, &in_order[i - 1]), percent(op, plain, &in_order[i]), "%zu", i);
    for (size_t i = 0; i < EBB_COUNT(others); i++)
        cr_expect_eq(percent(op, plain, &others[i]), percent(op, plain, &in_order[5]), "%zu", i);
}

/* One speed for those that nobody measured, of whatever op, also where another op's engine of the number
 * was; and the generic engine is slower than any, whatever its number. */
Test(speed, of_unknown_engines_is_one_and_the_generic_one_is_the_slowest) {
    static const struct {
        const ebb_op_info *op;
        int64_t engine;
    } elsewhere[] = {{&ebb_op_conv2d, 17},       {&ebb_op_conv2d, 67},       {&ebb_op_conv2d, 74},
                     {&ebb_op_conv2d_dgrad, 70}, {&ebb_op_conv2d_dgrad, 67}, {&ebb_op_conv2d_wgrad, 2},
                     {&ebb_op_conv2d_wgrad, 74}};
    const int32_t unknown = of(&ebb_op_conv2d, plain, 9999, ANY);
    cr_expect(unknown > 1 && unknown < of(&ebb_op_conv2d_wgrad, plain, 1, 6));
    for (size_t i = 0; i < EBB_COUNT(elsewhere); i++)
        cr_expect_eq(of(elsewhere[i].op, plain, elsewhere[i].engine, 4), unknown, "%zu", i);
    for (size_t i = 0; i < EBB_COUNT(three_ops); i++) {
        cr_expect_eq(of(three_ops[i], strided, 9999, 2), unknown);
        for (int64_t engine = 0; engine < 80; engine++) {
            dnn_config config = made_up(engine, 4, 0);
            config.generic = true;
            const int32_t generic = percent(three_ops[i], strided, &config);
            cr_expect(generic > 0 && generic < of(three_ops[i], strided, engine, 4), "engine %d",
                      (int)engine);
        }
    }
}
