/* cpu/shape.c: ops that move elements: tensors joined and cut along an axis, logical order. */
#include "exec/cpu/cpu.h"

/* Tensors as rows: for each place before the axis, in storage order, all that is stored along it and after
 * it. */
typedef struct move {
    const ebb_call *call;
    const ebb_launch *launch;
    int64_t axis, inner, first; /* elements of one place along the axis; the first place of a slice */
} move;

static ebb_status run_moves(const ebb_kernel_run *run, const ebb_type *whole, int64_t axis, int64_t first,
                            cpu_span *span) {
    const ebb_axis a = ebb_axis_of(whole, axis);
    const move m = {run->call, run->launch, axis, a.inner, first};
    cpu_spans(cpu_of(run->backend), a.outer, 1, 2 * ebb_type_bytes(whole), span, &m);
    return EBB_OK;
}

static size_t places_bytes(const move *m, const ebb_type *type, int64_t n_places) {
    return (size_t)(n_places * m->inner) * ebb_dtype_bytes(type->dtype);
}

static size_t row_bytes(const move *m, const ebb_type *type) {
    return places_bytes(m, type, type->dim[m->axis]);
}

/* ---- concat, slice, slice_grad: begin and end in rows -------------------------------------------- */

static void concat_span(const void *ctx, int64_t begin, int64_t end) {
    const move *m = ctx;
    const ebb_call *call = m->call;
    char *to = (char *)m->launch->out[0] + (size_t)begin * row_bytes(m, &call->out[0]);
    for (int64_t row = begin; row < end; row++) {
        for (uint32_t k = 0; k < call->n_in; k++) {
            const size_t bytes = row_bytes(m, &call->in[k]);
            memcpy(to, (const char *)m->launch->in[k] + (size_t)row * bytes, bytes);
            to += bytes;
        }
    }
}

static ebb_status concat_launch(const ebb_kernel_run *run) {
    return run_moves(run, &run->call->out[0], run->call->attr[EBB_CONCAT_AXIS].i[0], 0, concat_span);
}

CPU_KERNEL(concat, EBB_TAKES_ALL, CPU_STREAM, .launch = concat_launch);

static void slice_span(const void *ctx, int64_t begin, int64_t end) {
    const move *m = ctx;
    const size_t from_bytes = row_bytes(m, &m->call->in[0]), bytes = row_bytes(m, &m->call->out[0]);
    const char *from = (const char *)m->launch->in[0] + places_bytes(m, &m->call->in[0], m->first);
    char *to = m->launch->out[0];
    for (int64_t row = begin; row < end; row++) {
        memcpy(to + (size_t)row * bytes, from + (size_t)row * from_bytes, bytes);
    }
}

static ebb_status slice_launch(const ebb_kernel_run *run) {
    const ebb_attr *attr = run->call->attr;
    return run_moves(run, &run->call->in[0], attr[EBB_SLICE_AXIS].i[0], attr[EBB_SLICE_BEGIN].i[0],
                     slice_span);
}

CPU_KERNEL(slice, EBB_TAKES_ALL, CPU_STREAM, .launch = slice_launch);

static void slice_grad_span(const void *ctx, int64_t begin, int64_t end) {
    const move *m = ctx;
    const size_t to_bytes = row_bytes(m, &m->call->out[0]), bytes = row_bytes(m, &m->call->in[0]);
    const size_t before = places_bytes(m, &m->call->in[0], m->first);
    const char *from = m->launch->in[0];
    for (int64_t row = begin; row < end; row++) {
        char *to = (char *)m->launch->out[0] + (size_t)row * to_bytes;
        memset(to, 0, before);
        memcpy(to + before, from + (size_t)row * bytes, bytes);
        memset(to + before + bytes, 0, to_bytes - before - bytes);
    }
}

static ebb_status slice_grad_launch(const ebb_kernel_run *run) {
    const ebb_attr *attr = run->call->attr;
    return run_moves(run, &run->call->out[0], attr[EBB_SLICE_GRAD_AXIS].i[0],
                     attr[EBB_SLICE_GRAD_BEGIN].i[0], slice_grad_span);
}

CPU_KERNEL(slice_grad, EBB_TAKES_ALL, CPU_STREAM, .launch = slice_grad_launch);

/* ---- to_planes, from_planes: transposes ---------------------------------------------------------- */

enum { TILE = 32 }; /* elements: a tile of both sides fits in the first-level cache */

typedef struct transpose {
    const void *from; /* [n][rows][columns] */
    void *to;         /* [n][columns][rows] */
    int64_t rows, columns;
} transpose;

/* begin and end in tiles of columns, over all images. */
#define TRANSPOSE(T)                                                                             \
    static void transpose_##T(const void *ctx, int64_t begin, int64_t end) {                     \
        const transpose *t = ctx;                                                                \
        const int64_t rows = t->rows, columns = t->columns, tiles = cpu_ceil_div(columns, TILE); \
        for (int64_t i = begin; i < end; i++) {                                                  \
            const T *from = (const T *)t->from + i / tiles * rows * columns;                     \
            T *to = (T *)t->to + i / tiles * rows * columns;                                     \
            const int64_t c0 = i % tiles * TILE, c1 = ebb_min_i64(c0 + TILE, columns);           \
            for (int64_t r0 = 0; r0 < rows; r0 += TILE) {                                        \
                const int64_t r1 = ebb_min_i64(r0 + TILE, rows);                                 \
                for (int64_t c = c0; c < c1; c++)                                                \
                    for (int64_t r = r0; r < r1; r++) to[c * rows + r] = from[r * columns + c];  \
            }                                                                                    \
        }                                                                                        \
    }
CPU_BY_BYTES(TRANSPOSE)

static ebb_status run_transpose(const ebb_kernel_run *run, const ebb_type *image, bool to_planes) {
    const int64_t *d = image->dim, places = d[2] * d[3];
    const transpose t = {run->launch->in[0], run->launch->out[0], to_planes ? places : d[1],
                         to_planes ? d[1] : places};
    cpu_spans(cpu_of(run->backend), d[0] * cpu_ceil_div(t.columns, TILE), 1, 2 * ebb_type_bytes(image),
              CPU_OF_BYTES(transpose, image->dtype), &t);
    return EBB_OK;
}

static ebb_status to_planes_launch(const ebb_kernel_run *run) {
    return run_transpose(run, &run->call->in[0], true);
}

static ebb_status from_planes_launch(const ebb_kernel_run *run) {
    return run_transpose(run, &run->call->out[0], false);
}

CPU_KERNEL(to_planes, EBB_TAKES_ALL, CPU_RATE(20000, 17000), .launch = to_planes_launch);
CPU_KERNEL(from_planes, EBB_TAKES_ALL, CPU_RATE(20000, 17000), .launch = from_planes_launch);
