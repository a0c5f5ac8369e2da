/* cpu/sums.c: see sums.h. */
#include "exec/cpu/sums.h"

/* Chunks are many enough to share among threads and have rows enough that their partials are small beside
 * what they sum. */
enum { MOST_CHUNKS = 64, LEAST_ROWS = 32 };

cpu_sums cpu_sums_of(const ebb_type *type, int64_t n_sums) {
    cpu_sums s = {.lanes = cpu_lanes_of(type), .n_sums = n_sums};
    s.n_chunks = ebb_min_i64(ebb_max_i64(s.lanes.rows / LEAST_ROWS, 1), MOST_CHUNKS);
    return s;
}

ebb_status cpu_sums_check(ebb_backend *backend, const ebb_call *call, const cpu_sums *sums,
                          int64_t more_each) {
    const int64_t each = sums->n_chunks * sums->n_sums * (int64_t)sizeof(double) + more_each;
    return cpu_scratch_check(backend, call, sums->lanes.lanes, each);
}

int64_t cpu_sums_bytes(const cpu_sums *sums) {
    const int64_t numbers = sums->n_chunks * sums->n_sums * sums->lanes.lanes;
    return ebb_align_up(numbers * (int64_t)sizeof(double), CPU_ALIGNMENT);
}

typedef struct sums_run {
    const cpu_sums *sums;
    cpu_sum_rows *add;
    const void *ctx;
} sums_run;

/* begin and end in chunks. */
static void chunks_span(const void *ctx, int64_t begin, int64_t end) {
    const sums_run *run = ctx;
    const cpu_sums *s = run->sums;
    const cpu_lanes *l = &s->lanes;
    const int64_t numbers = s->n_sums * l->lanes;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = cpu_cut(l->rows, s->n_chunks, i), next = cpu_cut(l->rows, s->n_chunks, i + 1);
        double *partial = s->partial + i * numbers;
        memset(partial, 0, (size_t)numbers * sizeof *partial);
        run->add(run->ctx, first * l->lanes, next - first, l->lanes, partial);
        if (i == s->n_chunks - 1 && l->tail) run->add(run->ctx, l->rows * l->lanes, 1, l->tail, partial);
    }
}

void cpu_sums_run(cpu_backend *cpu, const cpu_sums *sums, int64_t element_bytes, cpu_sum_rows *add,
                  const void *ctx) {
    const sums_run run = {sums, add, ctx};
    cpu_spans(cpu, sums->n_chunks, 1, sums->lanes.count * element_bytes, chunks_span, &run);
}

double cpu_sums_total(const cpu_sums *sums, int64_t k, int64_t channel) {
    const cpu_lanes *l = &sums->lanes;
    const double *partial = sums->partial + k * l->lanes;
    double total = partial[channel];
    for (int64_t lane = channel + l->channels; lane < l->lanes; lane += l->channels) total += partial[lane];
    return total;
}

/* Adds the chunks' partials to the first one's; begin and end in numbers of a chunk. */
CPU_VECTOR static void fold_span(const void *ctx, int64_t begin, int64_t end) {
    const cpu_sums *s = ctx;
    const int64_t numbers = s->n_sums * s->lanes.lanes;
    double *to = s->partial;
    for (int64_t chunk = 1; chunk < s->n_chunks; chunk++) {
        const double *partial = s->partial + chunk * numbers;
#pragma omp simd
        for (int64_t i = begin; i < end; i++) to[i] += partial[i];
    }
}

void cpu_sums_finish(cpu_backend *cpu, const cpu_sums *sums, cpu_span *finish, const void *ctx) {
    enum { LINE = CPU_ALIGNMENT / (int64_t)sizeof(double) };
    cpu_spans(cpu, sums->n_sums * sums->lanes.lanes, LINE, cpu_sums_bytes(sums), fold_span, sums);
    finish(ctx, 0, sums->lanes.channels);
}
