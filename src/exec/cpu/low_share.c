/* cpu/low_share.c: how large the parts of a call are (low.h). */
#include "exec/cpu/low.h"

/* Widened bytes of a part, at most: of what streams through a cache of each thread, with all of its
 * operands; of products. And at least, of a thread: enough to run well. */
enum {
    STREAM_BYTES = 256 << 10,
    NORM_BYTES = 96 << 10,
    PRODUCT_BYTES = 16 << 20,
    STREAM_LEAST = 16 << 10,
    PRODUCT_LEAST = 64 << 10
};
/* Between these a part, of all threads together, is such a share of the whole: in 16 bits a small model
 * would otherwise be whole again in f32 beside itself. Sums are added up as often. */
enum { PARTS = 8, SUM_PARTS = 4 };

bool cpu_low_is_product(const ebb_call *call) {
    const ebb_family family = call->op->family;
    return family == EBB_FAMILY_CONVOLUTION || family == EBB_FAMILY_MATRIX_PRODUCT ||
           family == EBB_FAMILY_ATTENTION;
}

/* Bytes of so many elements in f32, and those so far; saturated. */
static int64_t widened(int64_t so_far, int64_t elements) {
    int64_t bytes;
    return ebb_mul_i64(elements, sizeof(float), &bytes) && ebb_add_i64(so_far, bytes, &bytes) ? bytes
                                                                                              : INT64_MAX;
}

/* Widened bytes of a row; all that is cut. Batch norm's are the same for each of its ops, so that what is
 * fused of several adds the same parts. */
static int64_t row_bytes(const ebb_call *call, const cpu_low_cut *c) {
    int64_t bytes = 0;
    if (call->op->family == EBB_FAMILY_BATCH_NORM)
        return widened(0, ebb_type_count(&call->in[0]) / c->rows);
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++) {
        const uint32_t o = i - call->n_in;
        const ebb_type *type = i < call->n_in ? &call->in[i] : &call->out[o];
        const bool cut = i < call->n_in ? i < 32 && c->in >> i & 1 : c->out >> o & 1;
        if (cut && ebb_dtype_low(type->dtype)) bytes = widened(bytes, ebb_type_count(type) / c->rows);
    }
    return bytes;
}

/* Widened bytes of what every part has whole: a part need not be smaller. */
static int64_t whole_bytes(const ebb_call *call, const cpu_low_cut *c) {
    int64_t most = 0;
    for (uint32_t i = 0; i < call->n_in; i++)
        if (!(c->in >> i & 1)) most = ebb_max_i64(most, widened(0, ebb_type_count(&call->in[i])));
    for (uint32_t o = 0; o < call->n_out; o++)
        if (!(c->out >> o & 1)) most = ebb_max_i64(most, widened(0, ebb_type_count(&call->out[o])));
    return most;
}

/* Widened bytes of all that is cut. */
static int64_t all_bytes(const ebb_call *call, const cpu_low_cut *c) {
    int64_t all;
    return ebb_mul_i64(row_bytes(call, c), c->rows, &all) ? all : INT64_MAX;
}

/* What is summed has its result twice in scratch, where there are parts: only where that is less than all
 * at once. */
static int64_t product_bytes(const ebb_backend *backend, const ebb_call *call, const cpu_low_cut *c) {
    const int64_t all = all_bytes(call, c), whole = whole_bytes(call, c);
    const int64_t share = ebb_min_i64(PRODUCT_BYTES, all / (c->summed ? SUM_PARTS : PARTS));
    const int64_t least = ebb_min_i64(PRODUCT_BYTES, (int64_t)PRODUCT_LEAST * backend->n_threads);
    const int64_t part = ebb_max_i64(whole, ebb_max_i64(share, least));
    return c->summed && whole >= all - ebb_min_i64(all, part) ? all : part;
}

static int64_t stream_bytes(const ebb_backend *backend, const ebb_call *call, const cpu_low_cut *c) {
    const int64_t share = all_bytes(call, c) / PARTS / backend->n_threads;
    return ebb_min_i64(call->op->family == EBB_FAMILY_BATCH_NORM ? NORM_BYTES : STREAM_BYTES,
                       ebb_max_i64(STREAM_LEAST, share));
}

int64_t cpu_low_part_rows(const ebb_backend *backend, const ebb_call *call, const cpu_low_cut *c) {
    const int64_t most =
        cpu_low_is_product(call) ? product_bytes(backend, call, c) : stream_bytes(backend, call, c);
    return ebb_min_i64(c->rows, ebb_max_i64(1, most / ebb_max_i64(1, row_bytes(call, c))));
}
