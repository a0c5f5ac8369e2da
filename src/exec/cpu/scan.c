/* cpu/scan.c: sums up to each place of an axis. A line along the axis is one thread's, from its first place
 * to its last, in double; vectors run over neighbouring lines. In place, a line is read as it is written.
 */
#include "exec/cpu/cpu.h"

enum { TILE = 64 };

typedef struct scan {
    ebb_axis axis;
    const void *x;
    void *y;
    bool reverse;
} scan;

/* begin and end in lines; a tile's cut changes no bit. */
#define CUMSUM_SPAN(name, T, SUM)                                                         \
    CPU_VECTOR static void name##_tile(const scan *s, int64_t first, int64_t width) {     \
        SUM sum[TILE] = {0};                                                              \
        const int64_t n = s->axis.size, inner = s->axis.inner;                            \
        for (int64_t k = 0; k < n; k++) {                                                 \
            const int64_t at = first + (s->reverse ? n - 1 - k : k) * inner;              \
            const T *x = (const T *)s->x + at;                                            \
            for (int64_t i = 0; i < width; i++) {                                         \
                sum[i] += x[i];                                                           \
                ((T *)s->y)[at + i] = (T)sum[i];                                          \
            }                                                                             \
        }                                                                                 \
    }                                                                                     \
    static void name##_span(const void *ctx, int64_t begin, int64_t end) {                \
        const scan *s = ctx;                                                              \
        const int64_t inner = s->axis.inner;                                              \
        while (begin < end) {                                                             \
            const int64_t outer = begin / inner, k = begin % inner;                       \
            const int64_t width = ebb_min_i64(ebb_min_i64(TILE, inner - k), end - begin); \
            name##_tile(s, outer * s->axis.size * inner + k, width);                      \
            begin += width;                                                               \
        }                                                                                 \
    }
CUMSUM_SPAN(cumsum_f32, float, double)
CUMSUM_SPAN(cumsum_i32, uint32_t, uint32_t)

static ebb_status cumsum_launch(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const scan s = {.axis = ebb_axis_of(x, run->call->attr[EBB_CUMSUM_AXIS].i[0]),
                    .x = run->launch->in[0],
                    .y = run->launch->out[0],
                    .reverse = run->call->attr[EBB_CUMSUM_REVERSE].i[0] != 0};
    cpu_spans(cpu_of(run->backend), s.axis.outer * s.axis.inner,
              s.axis.inner == 1 ? 1 : CPU_ALIGNMENT / (int64_t)sizeof(float), 2 * ebb_type_bytes(x),
              x->dtype == EBB_I32 ? cumsum_i32_span : cumsum_f32_span, &s);
    return EBB_OK;
}
CPU_KERNEL(cumsum, EBB_TAKES(F32, I32), CPU_RATE(10000, 15000), .launch = cumsum_launch);
