/* cpu/fused.c: the kernel of fused: what it supports, its rate, its tiles shared out to a team. */
#include "exec/cpu/emit/emit.h"
#include "exec/cpu/low.h"
#include "exec/cpu/sums.h"

/* ---- before a run ----------------------------------------------------------------------------------- */

/* Every step's op by itself must have a kernel here. */
static ebb_status fused_supports(ebb_backend *backend, const ebb_call *call) {
    ebb_fused_body body;
    ebb_status status = ebb_fused_read(backend->env, call, &body);
    for (uint32_t k = 0; !status && k < body.n_steps; k++) {
        ebb_type in[EBB_FUSED_ARGS];
        const ebb_kernel_info *info;
        const ebb_call step = ebb_fused_call(call, &body, k, in);
        status = cpu_kernel_find(backend, &step, &info);
    }
    return status;
}

/* Flops take the time that they take by their steps' kernels; bytes stream. */
static void fused_rate(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                       const char **kind) {
    ebb_fused_body body;
    double flops = 0, us = 0;
    (void)kind;
    if (ebb_fused_read(NULL, call, &body)) return; /* never: it is supported */
    for (uint32_t k = 0; k < body.n_steps; k++) {
        ebb_type in[EBB_FUSED_ARGS];
        ebb_cost cost;
        const char *name;
        const ebb_call step = ebb_fused_call(call, &body, k, in);
        const ebb_kernel_rate own = ebb_kernel_rate_of(backend, cpu_kernel_of(step.op->code), &step, &name);
        step.op->cost(&step, &cost);
        flops += (double)cost.flops;
        us += (double)cost.flops / (double)own.flops;
    }
    for (uint32_t s = 0; s < body.n_sums; s++) {
        ebb_type in;
        const char *name;
        const ebb_call sum = ebb_fused_sum(&body, s, &in);
        const double n = (double)ebb_type_count(&in);
        flops += n;
        us += n / (double)ebb_kernel_rate_of(backend, cpu_kernel_of(sum.op->code), &sum, &name).flops;
    }
    if (us > 0) rate->flops = (int64_t)(flops / us);
}

/* Of sums: all of one shape. */
static cpu_sums fused_sums(const ebb_fused_body *body) {
    return cpu_sums_of(&body->step[body->out[0]].type, body->n_sums);
}

static ebb_status fused_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    ebb_fused_body body;
    ebb_status status = ebb_fused_read(backend->env, call, &body);
    if (status || body.n_sums == 0) return status;
    const cpu_sums sums = fused_sums(&body);
    status = cpu_sums_check(backend, call, &sums, 0);
    if (!status) *bytes = cpu_sums_bytes(&sums);
    return status;
}

static void fused_release(ebb_backend *backend, void *state) {
    if (state) ebb_cfree(backend->env, state, 1, sizeof(cpu_fused));
}

/* A body, read, with how its operands lie. */
static ebb_status fused_of(ebb_env *env, const ebb_call *call, cpu_fused *f) {
    const ebb_status status = ebb_fused_read(env, call, &f->body);
    if (status) return status;
    f->n_in = call->n_in;
    for (uint32_t i = 0; i < call->n_in; i++) {
        f->in_dtype[i] = call->in[i].dtype;
        f->load[i] = ebb_fused_load_of(call, &f->body, i);
        ebb_fused_walk(call, &f->body, i, &f->walk[i]);
    }
    cpu_fused_slots(f);
    return EBB_OK;
}

static ebb_status fused_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    cpu_fused *f = *state = ebb_calloc(backend->env, 1, sizeof *f);
    if (!f) return EBB_NO_MEMORY;
    ebb_status status = fused_of(backend->env, call, f);
    if (!status) status = cpu_jit_code(cpu_of(backend)->jit, call, f);
    if (!status) return EBB_OK;
    fused_release(backend, f);
    *state = NULL;
    return status;
}

/* ---- a run ------------------------------------------------------------------------------------------ */

typedef struct fused_run {
    const cpu_fused *f;
    const char *in[EBB_FUSED_OPERANDS];
    char *out[EBB_FUSED_RESULTS];
    bool spread; /* an operand is gathered, tile by tile */
    const float *summed[EBB_FUSED_RESULTS];
    int64_t lanes; /* of the sums */
} fused_run;

#define GATHER(T)                                                             \
    static void gather_##T(const T *from, int64_t stride, T *to, int64_t n) { \
        for (int64_t i = 0; i < n; i++) to[i] = from[i * stride];             \
    }
GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)

/* n elements of a spread operand, those of the places from `begin` on. */
static void spread(const ebb_walk *w, const char *from, int64_t bytes, int64_t begin, int64_t n,
                   void *tile) {
    const uint32_t last = w->n_dims - 1;
    ebb_walk_place at = ebb_walk_place_of(w, begin);
    for (char *to = tile; n > 0;) {
        const int64_t run = ebb_min_i64(n, w->size[last] - at.at[last]), stride = w->stride[0][last];
        const void *source = from + at.element[0] * bytes;
        if (stride == 1)
            memcpy(to, source, (size_t)(run * bytes));
        else if (bytes == 1)
            gather_uint8_t(source, stride, (uint8_t *)to, run);
        else if (bytes == 2)
            gather_uint16_t(source, stride, (uint16_t *)(void *)to, run);
        else
            gather_uint32_t(source, stride, (uint32_t *)(void *)to, run);
        ebb_walk_on(w, &at, run);
        to += run * bytes;
        n -= run;
    }
}

/* Of a tile: where each operand's elements are. */
static void tile_operands(const fused_run *r, int64_t begin, int64_t n, float gathered[][CPU_FUSED_TILE],
                          const void **in) {
    for (uint32_t i = 0; i < r->f->n_in; i++) {
        const int64_t bytes = ebb_dtype_bytes(r->f->in_dtype[i]);
        in[i] = r->in[i] + (r->f->load[i] == EBB_FUSED_FULL ? begin * bytes : 0);
        if (r->f->load[i] != EBB_FUSED_SPREAD) continue;
        spread(&r->f->walk[i], r->in[i], bytes, begin, n, gathered[i]);
        in[i] = gathered[i];
    }
}

static void fused_span(const void *ctx, int64_t begin, int64_t end) {
    const fused_run *r = ctx;
    const ebb_fused_body *b = &r->f->body;
    cpu_fused_tiles tiles;
    float gathered[EBB_FUSED_OPERANDS][CPU_FUSED_TILE];
    const int64_t tile =
        r->f->code && !r->spread ? ebb_min_i64(end - begin, CPU_FUSED_MOST) : CPU_FUSED_TILE;
    for (int64_t at = begin, n; at < end; at += n) {
        n = ebb_min_i64(end - at, tile);
        const void *in[EBB_FUSED_OPERANDS];
        void *out[EBB_FUSED_RESULTS];
        tile_operands(r, at, n, gathered, in);
        for (uint32_t o = 0; o < b->n_out; o++)
            out[o] = r->out[o] + at * ebb_dtype_bytes(b->step[b->out[o]].type.dtype);
        if (r->f->code)
            r->f->code(in, out, n, cpu_fused_functions);
        else
            cpu_fused_interpret(r->f, in, out, n, at == begin, &tiles);
    }
}

/* Rows of a chunk, some at a time, added while they are cached. */
static void fused_rows(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) {
    enum { ELEMENTS = 8 * CPU_FUSED_TILE, FOUR = 4 };
    const fused_run *r = ctx;
    const ebb_fused_body *b = &r->f->body;
    const int64_t most = ebb_max_i64(ELEMENTS / width / FOUR * FOUR, FOUR);
    for (int64_t row = 0, n; row < rows; row += n) {
        n = ebb_min_i64(rows - row, most);
        const int64_t begin = at + row * width;
        fused_span(r, begin, begin + n * width);
        for (uint32_t s = 0; s < b->n_sums; s++)
            cpu_sums_plain(r->summed[s], begin, n, width, sums + s * r->lanes);
    }
}

typedef struct fused_totals {
    const cpu_sums *sums;
    void *const *to;
} fused_totals;

static void totals_span(const void *ctx, int64_t begin, int64_t end) {
    const fused_totals *t = ctx;
    for (int64_t s = 0; s < t->sums->n_sums; s++) {
        float *db = t->to[s];
        for (int64_t c = begin; c < end; c++) db[c] = (float)cpu_sums_total(t->sums, s, c);
    }
}

/* The elements in the order of their sums' chunks (sums.h). */
static void sums_launch(const ebb_kernel_run *run, fused_run *r, int64_t each) {
    const ebb_fused_body *b = &r->f->body;
    cpu_sums sums = fused_sums(b);
    sums.partial = run->launch->scratch;
    r->lanes = sums.lanes.lanes;
    for (uint32_t s = 0; s < b->n_sums; s++) {
        uint32_t o = 0;
        while (b->out[o] != b->sum[s]) o++;
        r->summed[s] = run->launch->out[o];
    }
    cpu_sums_run(cpu_of(run->backend), &sums, each, fused_rows, r);
    const fused_totals totals = {&sums, run->launch->out + b->n_out};
    cpu_sums_finish(cpu_of(run->backend), &sums, totals_span, &totals);
}

static ebb_status fused_launch(const ebb_kernel_run *run) {
    const cpu_fused *f = run->state;
    fused_run r = {.f = f};
    int64_t each = 0;
    for (uint32_t i = 0; i < f->n_in; i++) {
        r.in[i] = run->launch->in[i];
        r.spread = r.spread || f->load[i] == EBB_FUSED_SPREAD;
        each += ebb_dtype_bytes(f->in_dtype[i]);
    }
    for (uint32_t o = 0; o < f->body.n_out; o++) {
        r.out[o] = run->launch->out[o];
        each += ebb_dtype_bytes(run->call->out[o].dtype);
    }
    const int64_t n = ebb_type_count(&run->call->out[0]);
    each = ebb_max_i64(each, 8 * (int64_t)f->body.n_steps);
    if (f->body.n_sums > 0)
        sums_launch(run, &r, each);
    else
        cpu_spans(cpu_of(run->backend), n, CPU_FUSED_TILE, each * n, fused_span, &r);
    return EBB_OK;
}

CPU_KERNEL(fused, EBB_TAKES(F32, I32, BOOL, F16, BF16), CPU_STREAM, .rate_of = fused_rate,
           .supports = fused_supports, .scratch = fused_scratch, .prepare = fused_prepare,
           .release = fused_release, .launch = fused_launch);
