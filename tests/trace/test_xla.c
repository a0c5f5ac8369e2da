/* Programs of traces that XLA runs: beside our kernels, and where a plugin is none or fails. */
#include <math.h>
#include <stdlib.h>

#include "eager/eager.h"
#include "support/skip.h"
#include "trace/calls.h"

enum { N = 5 };
static const float rate = 0.125F;

static ebb_status open_xla(bench *b, bool symbolic) {
    ebb_trace_options options;
    ebb_trace_options_init(&options);
    options.symbolic = symbolic;
    options.plan.xla = true;
    return ebb_trace_create(b->eager, &options, &b->trace);
}

static ebb_tensor *rate_tensor(bench *b) {
    ebb_tensor *lr;
    TEST_OK(b->env, ebb_tensor_create(b->eager, &(ebb_tensor_type){.element = EBB_FLOAT32}, &rate, &lr));
    return lr;
}

static void update(bench *b, ebb_tensor *w, ebb_tensor *g, ebb_tensor *lr) {
    ebb_tensor *out[1];
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named("sgd"), (ebb_tensor *[]){w, g, lr}, 3, NULL, 0, out));
    TEST_OK(b->env, ebb_tensor_assign(w, out[0]));
    ebb_tensor_destroy(out[0]);
}

/* Three results: *z, and two weights that are updated by what they are multiplied with. */
static ebb_status step(bench *b, ebb_tensor *x, ebb_tensor *const *w, ebb_tensor *lr, ebb_tensor **z) {
    begin(b, &x, 1);
    ebb_tensor *y = op2(b, "mul", x, w[0]), *g = op2(b, "mul", x, w[1]);
    *z = op2(b, "mul", y, w[1]);
    update(b, w[1], y, lr);
    update(b, w[0], g, lr);
    ebb_tensor_destroy(y);
    ebb_tensor_destroy(g);
    return ebb_trace_end(b->trace, z, 1);
}

typedef struct tensors {
    ebb_tensor *x, *w[2], *lr, *z;
} tensors;

static tensors make_tensors(bench *b, uint32_t n) {
    return (tensors){.x = vector(b, n, 1), .w = {vector(b, n, 2), vector(b, n, -3)}, .lr = rate_tensor(b)};
}

static void drop_tensors(tensors *t) {
    ebb_tensor_destroy(t->x);
    ebb_tensor_destroy(t->lr);
    for (int i = 0; i < 2; i++) ebb_tensor_destroy(t->w[i]);
}

/* ---- where there is none -------------------------------------------------------------------- */

typedef struct refused_row {
    const char *plugin, *target;
    uint32_t n_profiled;
    ebb_status status;
    const char *words;
} refused_row;

static const refused_row refused_rows[] = {
    {EBB_FAKES_DIR "/nowhere.so", NULL, 0, EBB_UNAVAILABLE, "nowhere.so, which cannot be read"},
    {EBB_FAKES_DIR "/libplugin1.so", NULL, 0, EBB_UNAVAILABLE, "version 0.40 of the PJRT C API"},
    {EBB_FAKES_DIR "/libplugin4.so", NULL, 0, EBB_UNAVAILABLE, "it is no PJRT plugin"},
    {EBB_FAKES_DIR "/libplugin6.so", NULL, 0, EBB_DEVICE, "cannot make a client: the dog ate it"},
    {EBB_FAKES_DIR "/libplugin9.so", "h100.txtpb", 0, EBB_UNAVAILABLE, "describes a device"},
    {EBB_FAKES_DIR "/libplugin9.so", NULL, 3, EBB_USAGE, "leave profiling out"},
    {EBB_FAKES_DIR "/libplugin9.so", NULL, 0, EBB_OK, ""},
    {EBB_FAKES_DIR "/libplugin10.so", NULL, 0, EBB_UNAVAILABLE, "one plugin serves all traces"},
    {EBB_FAKES_DIR "/libplugin9.so", NULL, 0, EBB_OK, ""},
};

Test(xla, a_trace_without_a_plugin_that_serves_it_is_refused_in_one_line) {
    bench b;
    open_eager(&b);
    for (size_t i = 0; i < EBB_COUNT(refused_rows); i++) {
        const refused_row *row = &refused_rows[i];
        ebb_trace_options options;
        ebb_trace *trace;
        ebb_trace_options_init(&options);
        options.plan.xla = true;
        options.n_profiled = row->n_profiled;
        cr_assert_eq(setenv("EBB_PJRT_PLUGIN", row->plugin, 1), 0);
        cr_assert_eq(setenv("EBB_PJRT_TARGET", row->target ? row->target : "", 1), 0);
        TEST_STATUS(b.env, ebb_trace_create(b.eager, &options, &trace), row->status);
        const char *error = row->status ? ebb_env_error(b.env) : "";
        cr_expect(strstr(error, row->words) && !strchr(error, '\n'), "row %zu: %s", i, error);
        cr_expect_eq(row->status == EBB_OK, trace != NULL);
        ebb_trace_destroy(trace);
    }
    close_all(&b);
}

/* A run that fails has changed nothing; one whose results cannot all be read says what is lost. */
Test(xla, a_step_that_the_plugin_fails_leaves_no_half_updated_tensor) {
    static const char *const plugins[] = {"/libplugin9.so", "/libplugin10.so"};
    for (int k = 0; k < 2; k++) {
        bench b;
        char path[600];
        float was[N], now[N];
        (void)snprintf(path, sizeof path, "%s%s", EBB_FAKES_DIR, plugins[k]);
        cr_assert_eq(setenv("EBB_PJRT_PLUGIN", path, 1), 0);
        open_eager(&b);
        TEST_OK(b.env, open_xla(&b, true));
        tensors t = make_tensors(&b, N);
        TEST_OK(b.env, ebb_tensor_read(t.w[0], was, sizeof was));
        TEST_STATUS(b.env, step(&b, t.x, t.w, t.lr, &t.z), EBB_DEVICE);
        cr_expect(strstr(ebb_env_error(b.env), "the dog ate it"), "%s", ebb_env_error(b.env));
        cr_expect_eq(!k, !strstr(ebb_env_error(b.env), "2 tensors that the step updates have no value"));
        TEST_STATUS(b.env, ebb_tensor_read(t.z, now, sizeof now), EBB_USAGE);
        TEST_STATUS(b.env, ebb_tensor_read(t.w[0], now, sizeof now), k ? EBB_USAGE : EBB_OK);
        if (!k) cr_expect_arr_eq(now, was, sizeof was);
        ebb_tensor_destroy(t.z);
        drop_tensors(&t);
        close_all(&b);
    }
}

/* ---- where there is one --------------------------------------------------------------------- */

static void near(const ebb_tensor *a, const ebb_tensor *c, bench *of_a, bench *of_c, const char *what) {
    float x[128], y[128];
    const size_t bytes = (size_t)ebb_tensor_size_bytes(a);
    TEST_OK(of_a->env, ebb_tensor_read(a, x, bytes));
    TEST_OK(of_c->env, ebb_tensor_read(c, y, bytes));
    for (size_t i = 0; i < bytes / sizeof *x; i++)
        cr_expect_leq(fabsf(x[i] - y[i]), 1e-6F * fabsf(y[i]), "%s[%zu]: %g, not %g", what, i, (double)x[i],
                      (double)y[i]);
}

/* Steps of one size and of another by both, on tensors of their own. */
static void both(bench *xla, bench *own) {
    ebb_xla_memory memory;
    for (uint32_t n = 1; n <= N; n += N - 1) {
        tensors t = make_tensors(xla, n), o = make_tensors(own, n);
        for (int i = 0; i < 3; i++) {
            TEST_OK(xla->env, step(xla, t.x, t.w, t.lr, &t.z));
            TEST_OK(own->env, step(own, o.x, o.w, o.lr, &o.z));
            near(t.z, o.z, xla, own, "z");
            for (int k = 0; k < 2; k++) near(t.w[k], o.w[k], xla, own, "a weight");
            ebb_tensor_destroy(t.z);
            ebb_tensor_destroy(o.z);
        }
        drop_tensors(&t);
        drop_tensors(&o);
    }
    TEST_OK(xla->env, ebb_trace_xla_memory(xla->trace, 0, &memory));
    cr_expect_eq(memory.arguments_bytes, (3 * N + 1) * (int64_t)sizeof(float));
    TEST_STATUS(xla->env, ebb_trace_xla_memory(xla->trace, 1, &memory), EBB_USAGE);
    TEST_STATUS(own->env, ebb_trace_xla_memory(own->trace, 0, &memory), EBB_USAGE);
}

Test(xla, steps_have_the_results_of_our_kernels_within_rounding) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        bench xla, own;
        ebb_trace_facts facts;
        open_eager(&xla);
        const ebb_status status = open_xla(&xla, symbolic != 0);
        if (status == EBB_UNAVAILABLE) {
            ebb_eager_destroy(xla.eager);
            test_env_close(xla.env);
            TEST_SKIP("no PJRT plugin is here: no trace runs on XLA");
        }
        TEST_OK(xla.env, status);
        open_with(&own, symbolic != 0, true, 0);
        both(&xla, &own);
        ebb_trace_facts_now(xla.trace, &facts);
        cr_expect_eq(facts.n_runs, symbolic ? 6 : 4);
        close_all(&own);
        close_all(&xla);
    }
}
