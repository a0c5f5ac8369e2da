/* Steps that fail, at every launch: each leaves params and states as they were or says that they are of no
 * step. Labels are looked at before anything changes, and what a block loses when it moves is told. */
#include "check_world.h"

enum { W_FLOATS = 135, N_LABELS = 3, X_FLOATS = 3 * 3 * 49 };

/* Of the backend under test, whose functions have no other place for it. */
static struct fault {
    int64_t launches, fail_launch; /* the one of this number fails; 0: none */
    int64_t copies_in, fail_copy_in;
    int64_t n_blocks, most_bytes;
} fault;

static ebb_status faulty_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    if (++fault.launches == fault.fail_launch) return ebb_fail(backend->env, EBB_DEVICE, "planted");
    return away_launch(backend, kernel, launch);
}

static ebb_status faulty_copy_in(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    if (++fault.copies_in == fault.fail_copy_in) return ebb_fail(backend->env, EBB_DEVICE, "planted");
    return away_copy_in(backend, to, from, bytes);
}

static ebb_status one_block(ebb_backend *backend, int64_t bytes, void **out) {
    if (fault.n_blocks > 0 || bytes > fault.most_bytes)
        return ebb_fail(backend->env, EBB_NO_MEMORY, "planted: no room");
    const ebb_status status = away_alloc(backend, bytes, out);
    if (status == EBB_OK) fault.n_blocks++;
    return status;
}

static void free_one(ebb_backend *backend, void *block, int64_t bytes) {
    fault.n_blocks--;
    away_free(backend, block, bytes);
}

static ebb_status memory(ebb_backend *backend, ebb_memory_facts *out) {
    (void)backend;
    *out = (ebb_memory_facts){0};
    return EBB_OK;
}

static check_side open_faulty(check_world *w, bool phased) {
    ebb_options o;
    ebb_options_init(&o);
    o.phased = phased;
    check_world_open(w, check_model);
    w->away.launch = faulty_launch;
    w->away.copy_in = faulty_copy_in;
    fault = (struct fault){0};
    return check_side_open(w->env, w->model, &o, &w->away);
}

static void close_faulty(check_world *w, check_side *s) {
    ebb_engine_destroy(s->engine);
    check_world_close(w);
}

static void feed(check_world *w, const check_side *s) {
    float x[X_FLOATS];
    const float lr = 0.1F;
    const int32_t labels[N_LABELS] = {0, 1, 3};
    for (size_t i = 0; i < EBB_COUNT(x); i++) x[i] = (float)(i * 37 % 101) / 50 - 1;
    cr_assert_eq(ebb_feed(s->program, "x", x, sizeof x), EBB_OK, "%s", ebb_env_error(w->env));
    cr_assert_eq(ebb_feed(s->program, "labels", labels, sizeof labels), EBB_OK);
    cr_assert_eq(ebb_feed(s->program, "lr", &lr, sizeof lr), EBB_OK);
}

/* Of all params and states: its bytes one after the other. */
typedef struct snapshot {
    char bytes[16384];
    size_t at[32], n;
} snapshot;

static void take(check_world *w, const check_side *s, snapshot *out) {
    size_t at = 0;
    out->n = ebb_program_n_params(s->program);
    cr_assert_lt(out->n, EBB_COUNT(out->at));
    for (uint32_t i = 0; i < out->n; i++) {
        ebb_tensor_info info;
        cr_assert_eq(ebb_program_param(s->program, i, &info), EBB_OK);
        out->at[i] = at;
        cr_assert_leq(at + (size_t)info.bytes, sizeof out->bytes);
        cr_assert_eq(ebb_fetch(s->program, info.name, out->bytes + at, (size_t)info.bytes), EBB_OK, "%s",
                     ebb_env_error(w->env));
        at += (size_t)info.bytes;
    }
    out->at[out->n] = at;
}

static bool same(const snapshot *a, const snapshot *b) {
    return a->n == b->n && a->at[a->n] == b->at[b->n] && memcmp(a->bytes, b->bytes, a->at[a->n]) == 0;
}

/* As a checkpoint is loaded; steps and fetches are refused until the last one. */
static void restore(check_world *w, const check_side *s, const snapshot *from) {
    for (uint32_t i = 0; i < from->n; i++) {
        ebb_tensor_info info;
        char room[4096];
        cr_assert_eq(ebb_program_param(s->program, i, &info), EBB_OK);
        cr_assert_eq(ebb_fetch(s->program, info.name, room, (size_t)info.bytes), EBB_STALE);
        cr_assert(strstr(ebb_env_error(w->env), info.name), "%s", ebb_env_error(w->env));
        cr_assert_eq(ebb_step(s->program), EBB_STALE);
        cr_assert_eq(ebb_feed(s->program, info.name, from->bytes + from->at[i], (size_t)info.bytes),
                     EBB_OK);
        cr_assert_eq(ebb_fetch(s->program, info.name, room, (size_t)info.bytes),
                     EBB_OK); /* fed: defined again */
    }
}

/* One step in phases, up to the first that fails. */
static ebb_status step(const check_side *s, bool phased) {
    ebb_status status = phased ? EBB_OK : ebb_step(s->program);
    for (uint32_t p = EBB_FORWARD; phased && status == EBB_OK && p <= EBB_UPDATE; p++)
        status = ebb_run_phase(s->program, (ebb_phase)p);
    return status;
}

static void fail_everywhere(bool phased) {
    static snapshot before, after, now;
    check_world w;
    check_side s = open_faulty(&w, phased);
    uint32_t n_stale = 0, n_whole = 0;
    take(&w, &s, &before);
    feed(&w, &s);
    cr_assert_eq(step(&s, phased), EBB_OK, "%s", ebb_env_error(w.env));
    take(&w, &s, &after);
    cr_assert(!same(&before, &after));
    close_faulty(&w, &s);
    const int64_t n = fault.launches;
    for (int64_t k = 1; k <= n; k++) {
        s = open_faulty(&w, phased);
        feed(&w, &s);
        fault.fail_launch = k;
        cr_assert_eq(step(&s, phased), EBB_DEVICE, "launch %lld", (long long)k);
        fault.fail_launch = 0;
        if (strstr(ebb_env_error(w.env), "undefined")) {
            n_stale++;
            restore(&w, &s, &before);
        } else {
            n_whole++;
        }
        take(&w, &s, &now);
        cr_assert(same(&before, &now), "launch %lld: half a step", (long long)k);
        feed(&w, &s);
        cr_assert_eq(step(&s, phased), EBB_OK, "%s", ebb_env_error(w.env));
        take(&w, &s, &now);
        cr_assert(same(&after, &now), "launch %lld: other bits after it", (long long)k);
        close_faulty(&w, &s);
    }
    cr_assert(n_stale > 0 && n_whole > 0, "%u and %u of %lld", n_stale, n_whole, (long long)n);
}

Test(stale, a_step_that_fails_at_any_launch_changes_nothing_or_says_so) {
    fail_everywhere(false);
}

Test(stale, so_does_one_by_phases) {
    fail_everywhere(true);
}

Test(stale, a_label_out_of_range_is_refused_when_it_is_fed) {
    static snapshot before, now;
    const int32_t bad[][N_LABELS] = {{0, 4, 1}, {0, 1, -1}};
    const char *const texts[] = {"labels: 4 at [1] is outside [0, 4)", "labels: -1 at [2]"};
    check_world w;
    check_side s = open_faulty(&w, false);
    take(&w, &s, &before);
    for (size_t i = 0; i < EBB_COUNT(bad); i++) {
        feed(&w, &s);
        cr_assert_eq(ebb_feed(s.program, "labels", bad[i], sizeof bad[i]), EBB_BAD_INPUT);
        cr_assert(strstr(ebb_env_error(w.env), texts[i]), "%s", ebb_env_error(w.env));
    }
    take(&w, &s, &now);
    cr_assert(same(&before, &now));
    close_faulty(&w, &s);
}

Test(stale, a_label_that_is_written_in_place_is_refused_before_running_statistics_change) {
    static snapshot before, now;
    check_world w;
    ebb_options o;
    ebb_options_init(&o);
    check_world_open(&w, check_model);
    check_side s = check_side_open(w.env, w.model, &o, NULL);
    void *labels;
    size_t bytes;
    take(&w, &s, &before);
    feed(&w, &s);
    cr_assert_eq(ebb_input_bytes(s.program, "labels", &labels, &bytes), EBB_OK);
    ((int32_t *)labels)[2] = 7;
    cr_assert_eq(ebb_step(s.program), EBB_BAD_INPUT);
    cr_assert(strstr(ebb_env_error(w.env), "labels: 7 at [2]"), "%s", ebb_env_error(w.env));
    take(&w, &s, &now);
    cr_assert(same(&before, &now));
    feed(&w, &s);
    cr_assert_eq(ebb_step(s.program), EBB_OK, "%s", ebb_env_error(w.env));
    close_faulty(&w, &s);
}

/* In storage order, where a step reads and writes them; nothing else has such bytes. */
Test(stale, a_param_s_bytes_are_what_steps_read_and_write) {
    check_world w;
    ebb_options o;
    ebb_options_init(&o);
    check_world_open(&w, check_model);
    check_side s = check_side_open(w.env, w.model, &o, NULL);
    ebb_tensor_info info;
    void *at;
    size_t bytes;
    float fetched[W_FLOATS];
    for (uint32_t i = 0; i < ebb_program_n_params(s.program); i++) {
        cr_assert_eq(ebb_program_param(s.program, i, &info), EBB_OK);
        cr_assert_eq(ebb_param_bytes(s.program, info.name, &at, &bytes), EBB_OK, "%s",
                     ebb_env_error(w.env));
        cr_assert_eq(bytes, (size_t)info.bytes);
    }
    feed(&w, &s);
    cr_assert_eq(ebb_step(s.program), EBB_OK, "%s", ebb_env_error(w.env));
    for (int written = 0; written < 2; written++) { /* the first param: a convolution's weights */
        cr_assert_eq(ebb_program_param(s.program, 0, &info), EBB_OK);
        cr_assert_eq(ebb_param_bytes(s.program, info.name, &at, &bytes), EBB_OK);
        cr_assert(info.rank == 4 && bytes <= sizeof fetched);
        if (written) ((float *)at)[1] = 42;
        cr_assert_eq(ebb_fetch(s.program, info.name, fetched, bytes), EBB_OK);
        const int64_t c = info.dim[1], places = info.dim[2] * info.dim[3];
        for (int64_t i = 0; i < (int64_t)(bytes / sizeof(float)); i++) {
            const int64_t out = i / (c * places), place = i % places, channel = i / places % c;
            cr_assert_eq(fetched[i], ((float *)at)[(out * places + place) * c + channel]);
        }
    }
    cr_assert_eq(ebb_param_bytes(s.program, "labels", &at, &bytes), EBB_USAGE);
    cr_assert(at == NULL && bytes == 0);
    cr_assert(strstr(ebb_env_error(w.env), "labels is no param or state"), "%s", ebb_env_error(w.env));
    cr_assert_eq(ebb_param_bytes(s.program, "loss", &at, &bytes), EBB_USAGE);
    cr_assert_eq(ebb_param_bytes(s.program, "nothing", &at, &bytes), EBB_BAD_INPUT);
    close_faulty(&w, &s);
}

/* The larger program's block takes the place of the smaller one's and the parameters cannot be copied into
 * it; or there is no room for it, and they cannot be copied into the old one, made again. */
Test(stale, parameters_that_are_lost_with_their_block_are_never_used) {
    for (int room = 0; room < 2; room++) {
        check_world w;
        check_side s;
        ebb_program *large;
        char text[W_FLOATS * sizeof(float)];
        ebb_options o;
        ebb_options_init(&o);
        check_world_open(&w, check_model);
        w.away.copy_in = faulty_copy_in;
        w.away.block_alloc = one_block;
        w.away.block_free = free_one;
        w.away.memory = memory;
        fault = (struct fault){.most_bytes = (int64_t)1 << 30};
        s = check_side_open(w.env, w.model, &o, &w.away);
        if (!room) fault.most_bytes = ebb_engine_block_bytes(s.engine);
        fault.fail_copy_in = fault.copies_in + 1;
        const ebb_status status = ebb_compile(s.engine, &(ebb_dim_binding){"N", 64}, 1, &large);
        cr_assert_eq(status, room ? EBB_DEVICE : EBB_NO_MEMORY, "%s", ebb_env_error(w.env));
        cr_assert(strstr(ebb_env_error(w.env), "the parameters are lost"), "%s", ebb_env_error(w.env));
        cr_assert_eq(fault.n_blocks, 0);
        cr_assert_eq(ebb_fetch(s.program, "w", text, sizeof text), EBB_STALE);
        cr_assert_eq(ebb_feed(s.program, "w", text, sizeof text), EBB_STALE);
        cr_assert_eq(ebb_step(s.program), EBB_STALE);
        cr_assert_eq(ebb_compile(s.engine, &(ebb_dim_binding){"N", 2}, 1, &large), EBB_STALE);
        cr_assert(strstr(ebb_env_error(w.env), "make the engine anew"), "%s", ebb_env_error(w.env));
        close_faulty(&w, &s);
    }
}
