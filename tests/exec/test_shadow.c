/* The shadow backend on a plan made by hand: it accepts the plan, at any size, and names what is wrong with
 * each variation of it.
 *
 *     step        0 f        1 v        2 g        3 h       4 u
 *     x  input  [0,128) -------------------------- d = h(x, c) over x
 *     a         [128,256) -- b is its second half; c = g(b, w) over b
 *     e         [320,384)    (a second output of f)
 *     scratch   [256,320)
 *     w  param  persistent [0,64) ----------------------------- w2 = u(w, c) takes its bytes
 */
#include <criterion/criterion.h>

#include "exec/exec.h"

enum { X, W, A, B, C, D, W2, E, N_VALUES };
enum { F, V, G, H, U, N_OPS };

typedef struct fixture {
    int64_t unit; /* bytes that stand for one in the drawing above */
    ebb_pvalue values[N_VALUES];
    ebb_pop ops[N_OPS];
    ebb_id in[N_OPS][2], out[N_OPS][2];
    ebb_pair in_place[N_OPS], update;
    ebb_view view;
    ebb_pgraph graph;
    ebb_buffer buffers[N_VALUES];
    ebb_plan_step steps[N_OPS];
    ebb_plan plan;
} fixture;

static void set_value(fixture *f, ebb_id v, const char *name, int64_t bytes, ebb_role role, int64_t offset,
                      uint32_t lower, uint32_t upper) {
    f->values[v] = (ebb_pvalue){.name = name, .bytes = bytes * f->unit, .role = role, .producer = EBB_NONE};
    f->buffers[v] = (ebb_buffer){.value = v,
                                 .persistent = ebb_role_persistent(role),
                                 .offset = offset * f->unit,
                                 .bytes = bytes * f->unit,
                                 .lower = lower,
                                 .upper = upper};
}

static void set_op(fixture *f, ebb_id op, const char *name, uint32_t n_in, ebb_id in0, ebb_id in1,
                   uint32_t n_out, ebb_id out0, ebb_id out1) {
    f->in[op][0] = in0;
    f->in[op][1] = in1;
    f->out[op][0] = out0;
    f->out[op][1] = out1;
    f->ops[op] = (ebb_pop){.name = name,
                           .kind = name,
                           .in = f->in[op],
                           .out = f->out[op],
                           .n_in = n_in,
                           .n_out = n_out,
                           .origin = op};
    for (uint32_t i = 0; i < n_out; i++) f->values[f->out[op][i]].producer = op;
    f->steps[op] = (ebb_plan_step){.op = op,
                                   .alternative = EBB_NONE,
                                   .reads = f->in[op],
                                   .writes = f->out[op],
                                   .n_reads = n_in,
                                   .n_writes = n_out};
}

static void fixture_init(fixture *f, int64_t unit) {
    *f = (fixture){.unit = unit};
    set_value(f, X, "x", 128, EBB_ROLE_INPUT, 0, 0, 4);
    set_value(f, W, "w", 64, EBB_ROLE_PARAM, 0, 0, 5);
    set_value(f, A, "a", 128, EBB_ROLE_ACTIVATION, 128, 0, 2);
    set_value(f, B, "b", 64, EBB_ROLE_ACTIVATION, 192, 1, 3);
    set_value(f, C, "c", 64, EBB_ROLE_ACTIVATION, 192, 2, 5);
    set_value(f, D, "d", 128, EBB_ROLE_OUTPUT, 0, 3, 5);
    set_value(f, W2, "w2", 64, EBB_ROLE_PARAM, 0, 4, 5);
    set_value(f, E, "e", 64, EBB_ROLE_ACTIVATION, 320, 0, 1);
    set_op(f, F, "f", 1, X, X, 2, A, E);
    set_op(f, V, "v", 1, A, A, 1, B, B);
    set_op(f, G, "g", 2, B, W, 1, C, C);
    set_op(f, H, "h", 2, X, C, 1, D, D);
    set_op(f, U, "u", 2, W, C, 1, W2, W2);
    f->steps[F].scratch_offset = 256 * unit;
    f->steps[F].scratch_bytes = 64 * unit;
    f->view = (ebb_view){0, 0, 64 * unit};
    f->ops[V].views = &f->view;
    f->ops[V].n_views = 1;
    f->ops[G].in_place = f->in_place; /* {0, 0} */
    f->ops[G].n_in_place = 1;
    f->ops[H].in_place = f->in_place;
    f->ops[H].n_in_place = 1;
    f->ops[U].update = &f->update;
    f->ops[U].n_update = 1;
    f->graph = (ebb_pgraph){
        .name = "hand", .values = f->values, .n_values = N_VALUES, .ops = f->ops, .n_ops = N_OPS};
    f->plan = (ebb_plan){.graph = &f->graph,
                         .backend = "none",
                         .n_threads = 1,
                         .alignment = 1,
                         .steps = f->steps,
                         .n_steps = N_OPS,
                         .buffers = f->buffers,
                         .n_buffers = N_VALUES,
                         .arena_bytes = 384 * unit,
                         .persistent_bytes = 128 * unit};
}

/* Walks the plan three times; the error's text goes to text. */
static ebb_status walk(fixture *f, bool poison, char text[1024]) {
    ebb_env *env = NULL;
    ebb_backend *backend = NULL;
    ebb_exec *exec = NULL;
    const ebb_backend_api *api = &ebb_backend_shadow;
    const ebb_backend_options options = {.n_threads = 1};
    const ebb_exec_options program = {.plan = &f->plan, .poison = poison};
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(api->create(env, &options, &backend), EBB_OK);
    ebb_exec_options with_backend = program;
    with_backend.backend = backend;
    cr_assert_eq(ebb_exec_create(env, &with_backend, &exec), EBB_OK, "%s", ebb_env_error(env));
    void *persistent = NULL, *transient = NULL;
    cr_assert_eq(api->block_alloc(backend, f->plan.persistent_bytes, &persistent), EBB_OK, "%s",
                 ebb_env_error(env));
    cr_assert_eq(api->block_alloc(backend, f->plan.arena_bytes, &transient), EBB_OK, "%s",
                 ebb_env_error(env));
    ebb_exec_bind(exec, persistent, transient);
    ebb_status status = EBB_OK;
    for (uint64_t step = 0; step < 3 && status == EBB_OK; step++) {
        const ebb_run_options run = {.seed = 1, .step = step};
        status = ebb_exec_run(exec, &run);
    }
    (void)strncpy(text, ebb_env_error(env), 1023);
    text[1023] = 0;
    api->block_free(backend, persistent, f->plan.persistent_bytes);
    api->block_free(backend, transient, f->plan.arena_bytes);
    ebb_exec_destroy(exec);
    api->destroy(backend);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
    return status;
}

Test(shadow, accepts_a_right_plan_of_any_size) {
    static const int64_t units[] = {1, 3, INT64_C(1) << 30, INT64_C(1) << 50};
    for (size_t k = 0; k < EBB_COUNT(units); k++) {
        for (int poison = 0; poison < 2; poison++) {
            fixture f;
            char text[1024];
            fixture_init(&f, units[k]);
            cr_assert_eq(walk(&f, poison, text), EBB_OK, "%s", text);
        }
    }
}

/* ---- one fault at a time ------------------------------------------------------------------------- */

static void c_over_x(fixture *f) {
    f->buffers[C].offset = 0;
}
static void a_over_x(fixture *f) {
    f->buffers[A].offset = 0;
}
static void e_over_a(fixture *f) {
    f->buffers[E].offset = 128;
}
static void scratch_over_x(fixture *f) {
    f->steps[F].scratch_offset = 64;
}
static void scratch_over_a(fixture *f) {
    f->steps[F].scratch_offset = 192;
}
static void late_scratch_over_x(fixture *f) {
    f->steps[G].scratch_offset = 96;
    f->steps[G].scratch_bytes = 4;
}
static void view_elsewhere(fixture *f) {
    f->buffers[B].offset = 128;
}
static void update_elsewhere(fixture *f) {
    f->buffers[W2].offset = 64;
}
static void read_before_write(fixture *f) {
    const ebb_plan_step first = f->steps[F];
    f->steps[F] = f->steps[V];
    f->steps[V] = first;
}
static void output_lost(fixture *f) {
    f->steps[U].scratch_offset = 127;
    f->steps[U].scratch_bytes = 1;
}
static void in_place_shifted(fixture *f) {
    f->buffers[D].offset = 64;
}
static void in_place_twice_read(fixture *f) {
    f->in[H][1] = X;
    f->in_place[1] = (ebb_pair){0, 1};
    f->ops[H].n_in_place = 2;
}
static void not_in_place(fixture *f) {
    f->ops[H].n_in_place = 0;
}
static void base_read_after_its_view_died(fixture *f) {
    f->in[U][1] = A;
}

static const struct fault {
    const char *name;
    void (*make)(fixture *f);
    const char *text;
} faults[] = {
    {"a value written over one that is read later", c_over_x,
     "step 3 (h): reads buffer 0 (x) as input 0, whose bytes [0, 64) hold buffer 4 (c), written by step 2 "
     "(g)"},
    {"an output over an input without leave", a_over_x,
     "step 0 (f): output 0, buffer 2 (a), overwrites without leave input 0, buffer 0 (x)"},
    {"two outputs in the same bytes", e_over_a,
     "step 0 (f): output 0, buffer 2 (a), shares bytes with output 1"},
    {"scratch over an input", scratch_over_x,
     "step 0 (f): scratch shares bytes with input 0, buffer 0 (x)"},
    {"scratch over an output", scratch_over_a,
     "step 0 (f): output 0, buffer 2 (a), shares bytes with the step's scratch"},
    {"scratch over what is read later", late_scratch_over_x,
     "step 3 (h): reads buffer 0 (x) as input 0, whose bytes [96, 100) were scratch of step 2 (g)"},
    {"a view that is not inside its base", view_elsewhere, "step 1 (v): output 0, buffer 3 (b), is a view"},
    {"an update that is not on its target", update_elsewhere,
     "step 4 (u): output 0, buffer 6 (w2), is an update"},
    {"a read before the write", read_before_write,
     "step 0 (v): reads buffer 2 (a) as input 0, whose bytes [0, 128) hold nothing"},
    {"an output that does not last", output_lost,
     "step 5 (the end): reads buffer 5 (d) as input 0, whose bytes [127, 128) were scratch of step 4 (u)"},
    {"in place, but not at the same address", in_place_shifted,
     "step 3 (h): output 0, buffer 5 (d), overwrites without leave input 0, buffer 0 (x)"},
    {"in place over what the step reads twice", in_place_twice_read,
     "step 3 (h): output 0, buffer 5 (d), overwrites a second operand, input 1, buffer 0 (x)"},
    {"over an input that the op may not overwrite", not_in_place,
     "step 3 (h): output 0, buffer 5 (d), overwrites without leave input 0, buffer 0 (x)"},
    {"a base of which a view was overwritten", base_read_after_its_view_died,
     "step 4 (u): reads buffer 2 (a) as input 1, whose bytes [64, 128) hold buffer 4 (c), written by step "
     "2 (g)"},
};

Test(shadow, names_the_step_the_buffer_and_who_took_its_bytes) {
    for (size_t k = 0; k < EBB_COUNT(faults); k++) {
        fixture f;
        char text[1024];
        fixture_init(&f, 1);
        faults[k].make(&f);
        const ebb_status status = walk(&f, false, text);
        cr_assert_eq(status, EBB_VIOLATION, "%s: %s", faults[k].name, ebb_status_name(status));
        cr_assert_not_null(strstr(text, faults[k].text), "%s: %s", faults[k].name, text);
    }
}

Test(shadow, with_poison_refuses_to_read_a_buffer_after_its_life) {
    fixture f;
    char text[1024];
    fixture_init(&f, 1);
    f.buffers[X].upper = 1;
    cr_assert_eq(walk(&f, false, text), EBB_OK);
    cr_assert_eq(walk(&f, true, text), EBB_VIOLATION);
    cr_assert_not_null(
        strstr(text, "step 3 (h): reads buffer 0 (x) as input 0, whose bytes [0, 128) hold nothing"), "%s",
        text);
}
