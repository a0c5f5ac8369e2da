/* Convolutions whose batch is cut in pieces, one after the other in the same scratch: what is executed,
 * where, and by which plans, as cuDNN's own print of them has it. */
#include <stdio.h>
#include <stdlib.h>

#include "conv_calls.h"
#include "exec/cuda/cudnn/graph.h"
#include "libraries.h"

enum { MOST_TEXT = 1 << 14, MOST_SCRATCH = 256 << 20, X = 0, W, Y, N_OPERANDS };

typedef struct row {
    const ebb_op_info *op;
    test_geometry geometry;
    const char *file;
    bool tf32;
    int64_t least_pieces; /* 1: its scratch may be what it will */
} row;

#define STEM(n) \
    { {n, 3, 224, 224}, {64, 3, 7, 7}, {2, 2}, 3 }
#define EVEN(n) \
    { {n, 64, 56, 56}, {64, 64, 3, 3}, {1, 1}, 1 }

static const row rows[] = {
    {&ebb_op_conv2d, EVEN(256), "h200.json", false, 2},
    {&ebb_op_conv2d, EVEN(257), "h200.json", false, 2}, /* larger ones first */
    {&ebb_op_conv2d, EVEN(1027), "h200.json", false, 8},
    {&ebb_op_conv2d_dgrad, EVEN(256), "h200.json", false, 2},
    {&ebb_op_conv2d_dgrad, EVEN(257), "h200.json", false, 2},
    {&ebb_op_conv2d_dgrad, EVEN(1021), "rtx2080ti.json", false, 4},
    {&ebb_op_conv2d_wgrad, STEM(256), "h200.json", true, 2},
    {&ebb_op_conv2d_wgrad, STEM(257), "h200.json", true, 2},
    {&ebb_op_conv2d_wgrad, STEM(1027), "h200.json", true, 8},
};

/* ---- plans ------------------------------------------------------------------------------------------- */

/* What a plan says of itself. */
typedef struct plan_facts {
    int64_t dim[N_OPERANDS][4], alignment[N_OPERANDS];
    bool adds;
} plan_facts;

static const char *after(const char *text, const char *part) {
    const char *at = strstr(text, part);
    cr_assert_not_null(at, "%s is not in %s", part, text);
    return at + strlen(part);
}

static plan_facts facts_of(cudnnBackendDescriptor_t plan) {
    static char text[MOST_TEXT];
    static const char *const names[N_OPERANDS] = {"{\"name\":\"1\"", "{\"name\":\"2\"", "{\"name\":\"3\""};
    plan_facts facts;
    memset(text, 0, sizeof text);
    cr_assert_gt(
        dnn_get(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, MOST_TEXT - 1, text),
        0);
    for (int k = 0; k < N_OPERANDS; k++) {
        const char *at = after(after(text, names[k]), "\"dim\":[");
        for (int d = 0; d < 4; d++) {
            char *end;
            facts.dim[k][d] = strtoll(at, &end, 10);
            at = end + 1;
        }
        facts.alignment[k] = strtoll(after(at, "\"ptrAlignment\":"), NULL, 10);
    }
    const char *beta = after(text, "\"beta\":");
    facts.adds = strtod(beta, NULL) == 1;
    cr_assert(facts.adds || strtod(beta, NULL) == 0);
    return facts;
}

/* ---- launches ---------------------------------------------------------------------------------------- */

/* x, w and y of a call, and where its launch has them: far apart, nothing is read. */
typedef struct operands {
    const ebb_type *type[N_OPERANDS];
    char *at[N_OPERANDS];
    void *in[2], *out[1], *scratch;
} operands;

static char *place(int i) {
    return (char *)((uintptr_t)(i + 1) << 36);
}

static void place_operands(const ebb_call *call, operands *o) {
    const ebb_opcode code = call->op->code;
    const int in0 = code == EBB_OP_conv2d_dgrad ? Y : X, in1 = code == EBB_OP_conv2d_wgrad ? Y : W;
    const int out = N_OPERANDS - in0 - in1;
    for (int k = 0; k < N_OPERANDS; k++) o->at[k] = place(k);
    o->type[in0] = &call->in[0];
    o->type[in1] = &call->in[1];
    o->type[out] = &call->out[0];
    o->in[0] = o->at[in0];
    o->in[1] = o->at[in1];
    o->out[0] = o->at[out];
    o->scratch = place(N_OPERANDS);
}

/* Execution i of the launch: of which images, from where, by what plan. Returns how many images. */
static int64_t check_piece(const operands *o, const ebb_call *call, int i, int64_t images_before,
                           int64_t scratch_bytes) {
    const test_executed *e = &test_fake.executed[i];
    const plan_facts plan = facts_of(e->plan);
    const int64_t n_images = plan.dim[X][0];
    cr_expect_eq(plan.dim[Y][0], n_images);
    for (int k = 0; k < N_OPERANDS; k++) {
        const int64_t all = o->type[k]->dim[0], image_bytes = ebb_type_bytes(o->type[k]) / all;
        const int64_t first = k == W ? all : n_images, offset = k == W ? 0 : images_before * image_bytes;
        cr_expect_eq(e->ids[k], k + 1);
        cr_expect_eq((char *)e->at[k] - o->at[k], offset, "piece %d: %td, not %lld", i,
                     (char *)e->at[k] - o->at[k], (long long)offset);
        cr_assert(plan.alignment[k] > 0 && (uintptr_t)e->at[k] % (uintptr_t)plan.alignment[k] == 0,
                  "piece %d: %c at %p, not by %lld", i, "xwy"[k], e -> at[k], (long long)plan.alignment[k]);
        cr_expect_eq(plan.dim[k][0], first);
        cr_expect_arr_eq(&plan.dim[k][1], &o->type[k]->dim[1], 3 * sizeof plan.dim[k][1]);
    }
    cr_expect_eq(plan.adds, call->op->code == EBB_OP_conv2d_wgrad && i > 0, "piece %d", i);
    cr_expect_eq(e->scratch, o->scratch);
    const int64_t bytes = dnn_plan_scratch(e->plan);
    cr_expect(bytes >= 0 && bytes <= scratch_bytes, "piece %d: %lld of %lld bytes", i, (long long)bytes,
              (long long)scratch_bytes);
    return n_images;
}

/* The N of a choice named ...xN; 1 where it is not. */
static int64_t pieces_of(const char *choice) {
    const char *at = strchr(choice, 'x');
    return at ? strtoll(at + 1, NULL, 10) : 1;
}

static void launch(test_machine *m, void *object, const operands *o) {
    void *in[] = {o->in[0], o->in[1]}, *out[] = {o->out[0]};
    const ebb_launch at = {.in = in, .out = out, .scratch = o->scratch};
    const uint64_t before = ebb_env_allocation_count(m->env);
    test_fake.n_executed = 0;
    TEST_OK(m->env, m->products->api->launch(m->products, object, &at));
    cr_expect_eq(ebb_env_allocation_count(m->env), before, "a launch allocates");
}

/* At other addresses, then at the first ones again: nothing is made anew for them. */
static void check_again(test_machine *m, void *object, const operands *o, int n_pieces) {
    test_executed first[TEST_MOST_EXECUTED];
    operands other = *o;
    memcpy(first, test_fake.executed, sizeof first);
    for (int k = 0; k < 2; k++) other.in[k] = (char *)other.in[k] + 4096;
    launch(m, object, &other);
    cr_expect_eq(test_fake.n_executed, n_pieces);
    for (int i = 0; i < n_pieces; i++) {
        const test_executed *e = &test_fake.executed[i];
        cr_expect_eq(e->plan, first[i].plan);
        cr_expect_neq(e->pack, first[i].pack);
        int n_moved = 0;
        for (int k = 0; k < N_OPERANDS; k++) n_moved += (char *)e->at[k] - (char *)first[i].at[k] == 4096;
        cr_expect_eq(n_moved, 2);
    }
    launch(m, object, o);
    for (int i = 0; i < n_pieces; i++) cr_expect_eq(test_fake.executed[i].pack, first[i].pack);
}

static void check_row(ebb_env *env, const row *r) {
    test_machine m;
    test_conv conv;
    operands o;
    ebb_op_facts facts;
    void *object;
    int64_t images = 0, most = 0, least = INT64_MAX;
    test_machine_open(env, r->file, r->tf32, false, NULL, &m);
    test_conv_make(env, r->op, &r->geometry, &conv);
    place_operands(&conv.call, &o);
    test_fake.on = true;
    TEST_OK(env, m.products->api->facts(m.products, &conv.call, &facts));
    const int64_t n_pieces = pieces_of(facts.choice);
    (void)fprintf(stderr, "%s %s batch %lld: %s, %lld MB of scratch\n", r->file, r->op->name,
                  (long long)r->geometry.x[0], facts.choice, (long long)(facts.scratch_bytes / 1000000));
    cr_assert(n_pieces >= r->least_pieces && n_pieces <= TEST_MOST_EXECUTED, "%s", facts.choice);
    cr_expect(facts.scratch_bytes > 0 && (r->least_pieces == 1 || facts.scratch_bytes <= MOST_SCRATCH));
    TEST_OK(env, m.products->api->prepare(m.products, &conv.call, &object));
    launch(&m, object, &o);
    cr_assert_eq(test_fake.n_executed, n_pieces);
    for (int i = 0; i < n_pieces; i++) {
        const int64_t n = check_piece(&o, &conv.call, i, images, facts.scratch_bytes);
        images += n;
        most = ebb_max_i64(most, n);
        least = ebb_min_i64(least, n);
    }
    cr_expect_eq(images, r->geometry.x[0]);
    cr_expect_leq(most - least, 4); /* nearly equal */
    check_again(&m, object, &o, (int)n_pieces);
    m.products->api->release(m.products, object);
    test_machine_close(&m);
}

Test(pieces, are_executed_one_after_the_other_in_the_same_scratch) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) check_row(env, &rows[i]);
    test_env_close(env);
}

/* Images of an odd number of elements: pieces, if any, must still begin where their plans may read. */
Test(pieces, of_odd_images_begin_where_plans_were_told_that_they_do) {
    static const row odd[] = {
        {&ebb_op_conv2d_wgrad, {{257, 3, 225, 225}, {64, 3, 7, 7}, {2, 2}, 3}, "h200.json", true, 1},
        {&ebb_op_conv2d, {{250, 65, 57, 57}, {67, 65, 3, 3}, {1, 1}, 1}, "h200.json", false, 1},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(odd); i++) check_row(env, &odd[i]);
    test_env_close(env);
}
