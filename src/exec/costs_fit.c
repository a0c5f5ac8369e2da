/* exec/costs_fit.c: a roofline for each kind of op, from measured times. In doubles: its result is written
 * to a file as integers, and plans are made from that file. */
#include "exec/costs.h"

#include <math.h>

enum { MOST_ROUNDS = 32 };

/* Work and time of the rows that one side of the roof binds. */
typedef struct side {
    double work, time_ns;
} side;

/* Rows of this kind with something to do; *least_ns is the shortest one's time. */
static int64_t count_rows(const ebb_costs *costs, const char *kind, int64_t *least_ns) {
    int64_t n = 0;
    *least_ns = INT64_MAX;
    for (size_t i = 0; i < costs->rows.n; i++) {
        const ebb_cost_row *row = &costs->rows.at[i];
        if (strcmp(row->kind, kind) != 0) continue;
        *least_ns = ebb_min_i64(*least_ns, row->time_ns);
        n++;
    }
    return n;
}

/* Gives each row to the side that binds it at these rates (units a microsecond). */
static void share_rows(const ebb_costs *costs, const char *kind, double start_ns, double flops_per_us,
                       double bytes_per_us, side *flops, side *bytes) {
    *flops = *bytes = (side){0};
    for (size_t i = 0; i < costs->rows.n; i++) {
        const ebb_cost_row *row = &costs->rows.at[i];
        if (strcmp(row->kind, kind) != 0) continue;
        const double f = (double)row->cost.flops, b = (double)row->cost.bytes, n = (double)row->n_uses;
        side *to = f / flops_per_us >= b / bytes_per_us ? flops : bytes;
        to->work += n * (to == flops ? f : b);
        to->time_ns += n * fmax((double)row->time_ns - start_ns, 1);
    }
}

static int64_t rate(double per_us) {
    return per_us < 1 ? 1 : per_us > 1e15 ? (int64_t)1e15 : (int64_t)llround(per_us);
}

ebb_cost_line ebb_costs_fit(const ebb_costs *costs, const char *kind, const ebb_roofline *from) {
    int64_t least_ns;
    ebb_cost_line out = {.kind = kind, .line = *from, .n_ops = count_rows(costs, kind, &least_ns)};
    if (out.n_ops == 0) return out;
    /* An op cannot take less than its start. */
    out.line.start_ns = ebb_min_i64(from->start_ns, least_ns / 2);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const ebb_roofline before = out.line;
        side flops, bytes;
        share_rows(costs, kind, (double)before.start_ns, (double)before.flops_per_us,
                   (double)before.bytes_per_us, &flops, &bytes);
        const double proportion = (double)from->flops_per_us / (double)from->bytes_per_us;
        double flops_rate = flops.work > 0 ? flops.work * 1e3 / flops.time_ns : 0;
        double bytes_rate = bytes.work > 0 ? bytes.work * 1e3 / bytes.time_ns : 0;
        if (flops_rate == 0 && bytes_rate == 0) break; /* nothing to do at all: the start is all */
        if (flops_rate == 0) flops_rate = bytes_rate * proportion;
        if (bytes_rate == 0) bytes_rate = flops_rate / proportion;
        out.line.flops_per_us = rate(flops_rate);
        out.line.bytes_per_us = rate(bytes_rate);
        if (out.line.flops_per_us == before.flops_per_us && out.line.bytes_per_us == before.bytes_per_us)
            break;
    }
    return out;
}
