/* cpu/strip.c: products of 16 bits with large weights, some channels at a time, so that it is not all of
 * the weights that lie in scratch as f32, and again as oneDNN wants them. A strip is a call of the same op
 * with fewer channels; what has channels innermost is gathered for it, or scattered. Scratch, each piece
 * aligned:
 *
 *     | the strip of an operand | of the result | the strip's kernel's |
 */
#include "exec/cpu/low.h"

/* STRIP_BYTES: of weights in f32, and at most so many where activations are that large, too. */
enum { STRIP_BYTES = 4 << 20, MOST_STRIP_BYTES = 16 << 20, UNIT = 32, N_SIZES = 2 };

/* Which tensor is what: operand 1 and the result are cut, by rows or by channels, into as many pieces. */
typedef struct strip_row {
    bool cuts, in_channels, out_channels;
} strip_row;
static const strip_row rows_of[EBB_N_OPS] = {
    [EBB_OP_conv2d] = {true, false, true},       [EBB_OP_linear] = {true, false, true},
    [EBB_OP_conv2d_dgrad] = {true, true, true},  [EBB_OP_linear_dgrad] = {true, true, true},
    [EBB_OP_conv2d_wgrad] = {true, true, false}, [EBB_OP_linear_wgrad] = {true, true, false},
};

typedef struct strips {
    int64_t channels, width; /* in all, and of a strip but for the last one */
    int64_t in_at, out_at, inner_at;
    ebb_kernel *kernel[N_SIZES]; /* NULL: there is no such strip */
} strips;

/* A strip as a call; its tables are here. */
typedef struct strip_call {
    ebb_call call;
    ebb_type in[2], out;
} strip_call;

static int64_t widened(const ebb_type *type) {
    int64_t bytes;
    return ebb_mul_i64(ebb_type_count(type), sizeof(float), &bytes) ? bytes : INT64_MAX;
}

static strips strips_of(const ebb_call *call) {
    const strip_row *row = &rows_of[call->op->code];
    strips s = {.channels = 1, .width = 1};
    const bool conv = row->cuts && call->op->family == EBB_FAMILY_CONVOLUTION;
    if (!row->cuts || !ebb_dtype_low(call->in[0].dtype) || (conv && call->attr[EBB_CONV_GROUPS].i[0] != 1))
        return s;
    const ebb_type *weights = row->out_channels ? &call->in[1] : &call->out[0];
    const ebb_type *other = row->out_channels ? &call->out[0] : &call->in[1];
    const int64_t most = ebb_min_i64(ebb_max_i64(widened(&call->in[0]), widened(other)), MOST_STRIP_BYTES);
    s.channels = call->out[0].dim[row->out_channels];
    const int64_t n = cpu_ceil_div(widened(weights), ebb_max_i64(STRIP_BYTES, most));
    s.width = ebb_min_i64(s.channels, ebb_align_up(cpu_ceil_div(s.channels, n), UNIT));
    return s;
}

bool cpu_has_strips(const ebb_call *call) {
    const strips s = strips_of(call);
    return s.width < s.channels;
}

static int64_t width_of(const strips *s, uint32_t size) {
    return size == 0 ? s->width : s->channels % s->width;
}

static void strip_call_set(const ebb_call *call, int64_t width, strip_call *out) {
    const strip_row *row = &rows_of[call->op->code];
    out->call = *call;
    out->call.in = out->in;
    out->call.out = &out->out;
    out->in[0] = call->in[0];
    out->in[1] = call->in[1];
    out->out = call->out[0];
    out->in[1].dim[row->in_channels] = width;
    out->out.dim[row->out_channels] = width;
}

/* ---- before a run ----------------------------------------------------------------------------------- */

/* All but the kernels, and the scratch of the larger one. */
static ebb_status strips_init(ebb_backend *backend, const ebb_call *call, strips *s, int64_t *bytes) {
    const strip_row *row = &rows_of[call->op->code];
    ebb_status status = EBB_OK;
    int64_t most = 0;
    *s = strips_of(call);
    for (uint32_t size = 0; size < N_SIZES && width_of(s, size) > 0 && status == EBB_OK; size++) {
        strip_call strip;
        int64_t inner = 0;
        strip_call_set(call, width_of(s, size), &strip);
        if (size == 0) { /* tensors that are there in 16 bits: their bytes can be counted */
            s->out_at = row->in_channels ? ebb_align_up(ebb_type_bytes(&strip.in[1]), CPU_ALIGNMENT) : 0;
            s->inner_at = s->out_at +
                          (row->out_channels ? ebb_align_up(ebb_type_bytes(&strip.out), CPU_ALIGNMENT) : 0);
        }
        status = cpu_low_kernel.scratch(backend, &strip.call, &inner);
        most = ebb_max_i64(most, inner);
    }
    if (status != EBB_OK || ebb_add_i64(s->inner_at, most, bytes)) return status;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cpu: %s: the bytes of its scratch do not fit in 63 bits", call->op->name);
}

static ebb_status strip_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    strips s;
    return strips_init(backend, call, &s, bytes);
}

static void strip_release(ebb_backend *backend, void *state) {
    strips *s = state;
    for (uint32_t size = 0; s && size < N_SIZES; size++) ebb_kernel_release(backend, s->kernel[size]);
    if (s) ebb_cfree(backend->env, s, 1, sizeof *s);
}

static ebb_status strip_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    strips *s = ebb_calloc(backend->env, 1, sizeof *s);
    int64_t bytes;
    *state = NULL;
    if (!s) return EBB_NO_MEMORY;
    ebb_status status = strips_init(backend, call, s, &bytes);
    for (uint32_t size = 0; size < N_SIZES && width_of(s, size) > 0 && status == EBB_OK; size++) {
        strip_call strip;
        strip_call_set(call, width_of(s, size), &strip);
        status = ebb_kernel_make(backend, &cpu_low_kernel, &strip.call, 0, &s->kernel[size]);
    }
    if (status == EBB_OK)
        *state = s;
    else
        strip_release(backend, s);
    return status;
}

/* ---- a run ------------------------------------------------------------------------------------------ */

typedef struct copies {
    const char *from;
    char *to;
    int64_t bytes, from_step, to_step; /* of a row, and from one to the next */
} copies;

/* begin and end in rows. */
static void copies_span(const void *ctx, int64_t begin, int64_t end) {
    const copies *c = ctx;
    for (int64_t row = begin; row < end; row++)
        memcpy(c->to + row * c->to_step, c->from + row * c->from_step, (size_t)c->bytes);
}

/* Channels [at, at + width) of a whole tensor to a strip's, or back. */
static void channels_copy(ebb_backend *backend, const ebb_type *type, void *whole, void *strip, int64_t at,
                          int64_t width, bool back) {
    const int64_t each = ebb_dtype_bytes(type->dtype), rows = ebb_type_count(type) / type->dim[1];
    char *place = (char *)whole + at * each;
    const int64_t step = type->dim[1] * each, bytes = width * each;
    const copies c = {back ? strip : place, back ? place : strip, bytes, back ? bytes : step,
                      back ? step : bytes};
    cpu_spans(cpu_of(backend), rows, 1, 2 * rows * bytes, copies_span, &c);
}

/* Rows from `at` on. */
static void *rows_at(const ebb_type *type, void *whole, int64_t at) {
    return (char *)whole + ebb_type_count(type) / type->dim[0] * at * ebb_dtype_bytes(type->dtype);
}

static ebb_status strip_launch(const ebb_kernel_run *run) {
    const strips *s = run->state;
    const strip_row *row = &rows_of[run->call->op->code];
    const ebb_type *in = &run->call->in[1], *out = &run->call->out[0];
    char *scratch = run->launch->scratch;
    void *whole_in = run->launch->in[1], *whole_out = run->launch->out[0];
    ebb_status status = EBB_OK;
    for (int64_t at = 0, width; at < s->channels && status == EBB_OK; at += width) {
        width = ebb_min_i64(s->width, s->channels - at);
        if (row->in_channels)
            channels_copy(run->backend, in, whole_in, scratch + s->in_at, at, width, false);
        void *ins[] = {run->launch->in[0],
                       row->in_channels ? scratch + s->in_at : rows_at(in, whole_in, at)};
        void *outs[] = {row->out_channels ? scratch + s->out_at : rows_at(out, whole_out, at)};
        ebb_launch launch = *run->launch;
        launch.in = ins;
        launch.out = outs;
        launch.scratch = scratch + s->inner_at;
        launch.scratch_bytes -= s->inner_at;
        status = ebb_kernel_launch(run->backend, s->kernel[width != s->width], &launch);
        if (row->out_channels)
            channels_copy(run->backend, out, whole_out, scratch + s->out_at, at, width, true);
    }
    return status;
}

const ebb_kernel_info cpu_strip_kernel = {
    .scratch = strip_scratch, .prepare = strip_prepare, .release = strip_release, .launch = strip_launch};
