/* cpu/sort.c: lines along an axis in their order. Places of short ones are merged by the numbers that they
 * name, in runs of 1, 2, 4, ...; those of long ones are dealt out by the digits of a key, from the last
 * digit to the first, which jumps nowhere by chance. Scratch: for each line two tables of its places, whole
 * numbers of 4 bytes. */
#include "exec/cpu/functions.h"
#include "exec/cpu/cpu.h"

enum { DEALT_FROM = 600, DIGITS = 3, DIGIT_BITS = 11, DIGIT = 1 << DIGIT_BITS };

typedef struct sorting {
    ebb_axis axis;
    const void *x;
    void *y;
    int32_t *places, *tables;
    bool descending;
} sorting;

/* Of T a and b, of which a NaN is the largest. */
#define IS_BEFORE(a, b, descending)                             \
    ((descending) ? ((a) > (b)) | (((a) != (a)) & ((b) == (b))) \
                  : ((a) < (b)) | (((a) == (a)) & ((b) != (b))))

/* Numbers whose order is that of whole ones: equal numbers have one key, and a NaN the largest. */
static inline uint32_t sort_f32_key(float x) {
    const uint32_t sign = UINT32_C(1) << 31, bits = cpu_bits(x);
    return x != x ? UINT32_MAX : x == 0 ? sign : bits & sign ? ~bits : bits | sign;
}
static inline uint32_t sort_i32_key(int32_t x) {
    return (uint32_t)x ^ UINT32_C(1) << 31;
}

/* From how many numbers of each digit to where the first of them goes; false: all have the same. */
static bool begins(int32_t *counts, int64_t n) {
    int32_t next = 0;
    for (int32_t d = 0; d < DIGIT; d++) {
        const int32_t count = counts[d];
        if (count == n) return false;
        counts[d] = next;
        next += count;
    }
    return true;
}

/* begin and end in lines. deal and merge return the table that has the places in their order. */
#define SORT_DEAL(name, T)                                                                     \
    static int32_t *name##_deal(const sorting *s, const T *x, int32_t *from, int32_t *to) {    \
        const int64_t n = s->axis.size, inner = s->axis.inner;                                 \
        const uint32_t turn = s->descending ? UINT32_MAX : 0;                                  \
        int32_t counts[DIGITS][DIGIT] = {{0}};                                                 \
        for (int64_t k = 0; k < n; k++) {                                                      \
            const uint32_t key = name##_key(x[k * inner]) ^ turn;                              \
            for (int d = 0; d < DIGITS; d++) counts[d][key >> d * DIGIT_BITS & (DIGIT - 1)]++; \
        }                                                                                      \
        for (int d = 0; d < DIGITS; d++) {                                                     \
            if (!begins(counts[d], n)) continue;                                               \
            for (int64_t k = 0; k < n; k++) {                                                  \
                const uint32_t key = name##_key(x[from[k] * inner]) ^ turn;                    \
                to[counts[d][key >> d * DIGIT_BITS & (DIGIT - 1)]++] = from[k];                \
            }                                                                                  \
            int32_t *dealt = to;                                                               \
            to = from;                                                                         \
            from = dealt;                                                                      \
        }                                                                                      \
        return from;                                                                           \
    }

#define SORT_MERGE(name, T)                                                                                \
    static void name##_join(const sorting *s, const T *x, const int32_t *from, int32_t *to, int64_t begin, \
                            int64_t width) {                                                               \
        const int64_t n = s->axis.size, inner = s->axis.inner;                                             \
        const int64_t middle = ebb_min_i64(begin + width, n), end = ebb_min_i64(middle + width, n);        \
        int64_t i = begin, j = middle;                                                                     \
        for (int64_t k = begin; k < end; k++) {                                                            \
            bool second = i == middle;                                                                     \
            if (!second && j < end) {                                                                      \
                const T a = x[from[i] * inner], b = x[from[j] * inner];                                    \
                second = IS_BEFORE(b, a, s->descending);                                                   \
            }                                                                                              \
            to[k] = second ? from[j++] : from[i++];                                                        \
        }                                                                                                  \
    }                                                                                                      \
    static int32_t *name##_merge(const sorting *s, const T *x, int32_t *from, int32_t *to) {               \
        const int64_t n = s->axis.size;                                                                    \
        for (int64_t width = 1; width < n; width *= 2) {                                                   \
            for (int64_t at = 0; at < n; at += 2 * width) name##_join(s, x, from, to, at, width);          \
            int32_t *merged = to;                                                                          \
            to = from;                                                                                     \
            from = merged;                                                                                 \
        }                                                                                                  \
        return from;                                                                                       \
    }

#define SORT_SPAN(name, T)                                                                               \
    static void name##_span(const void *ctx, int64_t begin, int64_t end) {                               \
        const sorting *s = ctx;                                                                          \
        const int64_t n = s->axis.size, inner = s->axis.inner;                                           \
        for (int64_t line = begin; line < end; line++) {                                                 \
            const int64_t first = line / inner * n * inner + line % inner;                               \
            const T *x = (const T *)s->x + first;                                                        \
            int32_t *from = s->tables + 2 * line * n;                                                    \
            for (int64_t k = 0; k < n; k++) from[k] = (int32_t)k;                                        \
            from =                                                                                       \
                n < DEALT_FROM ? name##_merge(s, x, from, from + n) : name##_deal(s, x, from, from + n); \
            for (int64_t k = 0; k < n; k++) {                                                            \
                ((T *)s->y)[first + k * inner] = x[from[k] * inner];                                     \
                s->places[first + k * inner] = from[k];                                                  \
            }                                                                                            \
        }                                                                                                \
    }

SORT_DEAL(sort_f32, float)
SORT_MERGE(sort_f32, float)
SORT_SPAN(sort_f32, float)
SORT_DEAL(sort_i32, int32_t)
SORT_MERGE(sort_i32, int32_t)
SORT_SPAN(sort_i32, int32_t)

static ebb_status sort_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const int64_t count = ebb_type_count(&call->in[0]), each = 2 * sizeof(int32_t);
    const ebb_status status = cpu_scratch_check(backend, call, count, each);
    if (status == EBB_OK) *bytes = count * each;
    return status;
}

static ebb_status sort_launch(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const sorting s = {.axis = ebb_axis_of(x, run->call->attr[EBB_SORT_AXIS].i[0]),
                       .x = run->launch->in[0],
                       .y = run->launch->out[0],
                       .places = run->launch->out[1],
                       .tables = run->launch->scratch,
                       .descending = run->call->attr[EBB_SORT_DESCENDING].i[0] != 0};
    cpu_spans(cpu_of(run->backend), s.axis.outer * s.axis.inner, 1, 16 * ebb_type_count(x),
              x->dtype == EBB_I32 ? sort_i32_span : sort_f32_span, &s);
    return EBB_OK;
}
CPU_KERNEL(sort, EBB_TAKES(F32, I32), CPU_RATE(800, 25000), .scratch = sort_scratch, .launch = sort_launch);
