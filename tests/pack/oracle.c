#include "oracle.h"

/* Rows put one on top of another in every order, each at the lowest offset above the fixed ones and what
 * was put before: some order gives the optimum, as the rows of an optimal packing in order of offset only
 * sink. */
typedef struct exhaustive {
    const ebb_pack_job *job;
    int64_t offsets[PACK_SMALL], best;
    int64_t above[PACK_SMALL][PACK_SMALL]; /* least_above */
    bool placed[PACK_SMALL];
} exhaustive;

/* The bytes that a row has in a step. */
ebb_window pack_bytes_in(const ebb_pack_job *job, uint32_t i, int64_t step) {
    if (step < job->rows[i].lower || step >= job->rows[i].upper) return (ebb_window){0, 0};
    for (uint32_t g = job->gaps_from[i]; g < job->gaps_from[i + 1]; g++)
        if (step >= job->gaps[g].lower && step < job->gaps[g].upper) return job->windows[g];
    return (ebb_window){0, job->rows[i].size};
}

static bool is_empty(ebb_window bytes) {
    return bytes.lower == bytes.upper;
}

/* How far above k's offset i must lie when it lies above k: the most that k has in a step in which both
 * have bytes; 0: there is none. */
static int64_t least_above(const ebb_pack_job *job, uint32_t i, uint32_t k) {
    int64_t most = 0;
    for (int64_t step = 0; step < 16; step++) {
        ebb_window below = pack_bytes_in(job, k, step);
        if (!is_empty(pack_bytes_in(job, i, step)) && !is_empty(below))
            most = ebb_max_i64(most, below.upper);
    }
    return most;
}

bool pack_collide(const ebb_pack_job *job, uint32_t i, int64_t offset, uint32_t k, int64_t other) {
    for (int64_t step = 0; step < 16; step++) {
        ebb_window a = pack_bytes_in(job, i, step), b = pack_bytes_in(job, k, step);
        if (!is_empty(a) && !is_empty(b) && offset + a.lower < other + b.upper &&
            other + b.lower < offset + a.upper)
            return true;
    }
    return false;
}

static int64_t lowest(const exhaustive *x, uint32_t i) {
    const ebb_row *rows = x->job->rows;
    int64_t offset = 0;
    for (uint32_t k = 0; k < x->job->n; k++) /* what was put before is below; fixed ones may be above */
        if (x->placed[k] && x->job->fixed[k] < 0 && x->above[i][k] > 0)
            offset = ebb_max_i64(offset, x->offsets[k] + x->above[i][k]);
    for (uint32_t again = 1; again != 0;) {
        again = 0;
        offset = ebb_align_up(offset, rows[i].alignment);
        for (uint32_t k = 0; k < x->job->n; k++) {
            int64_t at = x->job->fixed[k];
            if (at < 0 || !pack_collide(x->job, i, offset, k, at)) continue;
            offset = at + x->above[i][k];
            again = 1;
        }
    }
    return offset;
}

static void search(exhaustive *x, uint32_t n_placed, int64_t height) {
    if (height >= x->best) return;
    if (n_placed == x->job->n) x->best = height;
    for (uint32_t i = 0; i < x->job->n; i++) {
        if (x->placed[i]) continue;
        x->offsets[i] = lowest(x, i);
        x->placed[i] = true;
        search(x, n_placed + 1, ebb_max_i64(height, x->offsets[i] + x->job->rows[i].size));
        x->placed[i] = false;
    }
}

int64_t pack_optimum(const ebb_pack_job *job) {
    exhaustive x = {.job = job, .best = INT64_MAX};
    uint32_t n_placed = 0;
    int64_t height = 0;
    for (uint32_t i = 0; i < job->n; i++)
        for (uint32_t k = 0; k < job->n; k++) x.above[i][k] = least_above(job, i, k);
    for (uint32_t i = 0; i < job->n; i++)
        if (job->fixed[i] >= 0) {
            x.placed[i] = true;
            n_placed++;
            height = ebb_max_i64(height, job->fixed[i] + job->rows[i].size);
        }
    search(&x, n_placed, height);
    return x.best;
}

void pack_draw(pack_drawn *d, ebb_rng *rng) {
    uint32_t n = 1 + ebb_rng_below(rng, PACK_SMALL), n_gaps = 0, n_alignments = 1 + ebb_rng_below(rng, 3);
    bool gaps = ebb_rng_below(rng, 2) == 0, fixed = ebb_rng_below(rng, 3) == 0;
    uint32_t most = ebb_rng_below(rng, 2) == 0 ? 4 : 33;
    uint32_t windows = ebb_rng_below(rng, 3); /* none, from the bottom, from anywhere */
    d->exact = true;
    d->job = (ebb_pack_job){.rows = d->rows,
                            .n = n,
                            .fixed = d->fixed,
                            .gaps_from = d->gaps_from,
                            .gaps = d->gaps,
                            .windows = d->windows};
    for (uint32_t i = 0; i < n; i++) {
        ebb_row *row = &d->rows[i];
        row->lower = ebb_rng_below(rng, 9);
        row->upper = row->lower + 1 + ebb_rng_below(rng, 7);
        row->size = ebb_rng_below(rng, most);
        row->alignment = INT64_C(1) << ebb_rng_below(rng, n_alignments);
        d->fixed[i] = fixed && ebb_rng_below(rng, 4) == 0 ? row->alignment * ebb_rng_below(rng, 9) : -1;
        d->gaps_from[i] = n_gaps;
        int64_t from = row->lower + 1;
        while (gaps && from + 1 < row->upper && ebb_rng_below(rng, 2) == 0 && n_gaps < 2 * PACK_SMALL) {
            ebb_window *window = &d->windows[n_gaps];
            d->gaps[n_gaps++] = (ebb_steps){from, from + 1};
            *window = (ebb_window){0, 0};
            if (windows > 0) window->upper = ebb_rng_below(rng, (uint32_t)row->size + 1);
            if (windows > 1) window->lower = ebb_rng_below(rng, (uint32_t)window->upper + 1);
            if (window->lower > 0 && window->lower < window->upper) d->exact = false;
            from += 1 + ebb_rng_below(rng, 2);
        }
    }
    d->gaps_from[n] = n_gaps;
}

void pack_join(const ebb_pack_job *job, const uint32_t *chain, uint32_t n, pack_joined *out) {
    uint32_t n_gaps = 0;
    for (uint32_t c = 0; c < n; c++) {
        ebb_row *row = &out->rows[c];
        *row = (ebb_row){INT64_MAX, 0, 0, 1};
        out->fixed[c] = -1;
        out->gaps_from[c] = n_gaps;
        for (uint32_t i = 0; i < job->n; i++) {
            if (chain[i] != c) continue;
            row->lower = ebb_min_i64(row->lower, job->rows[i].lower);
            row->upper = ebb_max_i64(row->upper, job->rows[i].upper);
            row->size = ebb_max_i64(row->size, job->rows[i].size);
            row->alignment = ebb_max_i64(row->alignment, job->rows[i].alignment);
            out->fixed[c] = ebb_max_i64(out->fixed[c], job->fixed[i]);
        }
        for (int64_t step = row->lower; step < row->upper; step++) {
            ebb_window bytes = {0, 0};
            for (uint32_t i = 0; i < job->n; i++) {
                ebb_window own = pack_bytes_in(job, i, step);
                if (chain[i] == c && own.lower < own.upper)
                    bytes.upper = ebb_max_i64(bytes.upper, own.upper);
            }
            if (bytes.upper == row->size) continue;
            out->windows[n_gaps] = bytes;
            out->gaps[n_gaps++] = (ebb_steps){step, step + 1};
        }
    }
    out->gaps_from[n] = n_gaps;
    out->job = (ebb_pack_job){.rows = out->rows,
                              .n = n,
                              .fixed = out->fixed,
                              .gaps_from = out->gaps_from,
                              .gaps = out->gaps,
                              .windows = out->windows};
}

static bool is_listed(const ebb_pack_job *job, uint32_t later, uint32_t earlier) {
    for (uint32_t k = job->over_from[later]; k < job->over_from[later + 1]; k++)
        if (job->over[k] == earlier) return true;
    return false;
}

int64_t pack_check(const ebb_pack_job *job, const int64_t *offsets, uint32_t c) {
    int64_t top = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        cr_assert(offsets[i] >= 0 && offsets[i] % job->rows[i].alignment == 0, "case %u", c);
        cr_assert(job->fixed[i] < 0 || offsets[i] == job->fixed[i], "case %u: row %u was fixed", c, i);
        top = ebb_max_i64(top, offsets[i] + job->rows[i].size);
        for (uint32_t k = 0; k < i; k++)
            if ((job->pools == NULL || job->pools->given[i] == job->pools->given[k]) &&
                pack_collide(job, i, offsets[i], k, offsets[k]))
                cr_assert(offsets[i] == offsets[k] && job->over_from != NULL &&
                              (is_listed(job, i, k) || is_listed(job, k, i)),
                          "case %u: rows %u and %u", c, k, i);
    }
    return top;
}
