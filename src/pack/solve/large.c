/* large: the large rows first, then the small ones around them.
 *
 *     capacity |-------------------|  room that the small rows need by themselves
 *              |  large rows, by   |
 *              |  all stages       |
 *            0 |-------------------|
 *
 * takes: a job whose lists miss the height that is wanted, most of its rows small. gives: offsets, lower
 * than before or none. Of a network's training the few rows that hold a picture of every layer decide; the
 * complete search over them alone looks at a fraction of the rows. The small ones go where the lists find
 * room around the large. cost: a part of the effort. */
#include "pack/solve/solve.h"

#define SMALL_PART  256 /* a row below one part in so many of the height is small */
#define EFFORT_PART 2   /* of the effort for the large rows */

typedef struct ebb_large {
    ebb_arena arena;
    ebb_row *rows; /* the large ones, then the small ones */
    uint32_t *row; /* of the job */
    int64_t *offsets, *fixed;
    uint32_t n_large, n;
} ebb_large;

static bool part_rows(ebb_large *x, const ebb_packing *p) {
    const ebb_pack_job *job = p->job;
    const int64_t least = p->answer->height / SMALL_PART;
    x->n = job->n;
    x->rows = EBB_NEW(&x->arena, ebb_row, job->n);
    x->row = EBB_NEW(&x->arena, uint32_t, job->n);
    x->offsets = EBB_NEW(&x->arena, int64_t, job->n);
    x->fixed = EBB_NEW(&x->arena, int64_t, job->n);
    if (!x->rows || !x->row || !x->offsets || !x->fixed) return false;
    uint32_t n_small = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t to = job->rows[i].size >= least ? x->n_large++ : job->n - ++n_small;
        x->row[to] = i;
        x->rows[to] = job->rows[i];
    }
    return true;
}

/* Packs rows [first, end) by themselves. */
static ebb_status pack_part(ebb_packing *p, ebb_large *x, uint32_t first, uint32_t end, int64_t capacity,
                            int64_t effort, int64_t *height) {
    ebb_pack_job job = {.rows = &x->rows[first], .n = end - first};
    ebb_pack_options options = ebb_pack_options_left(p->env, p->options, p->started_ns, effort);
    ebb_pack_answer answer;
    options.capacity = capacity;
    ebb_status status = ebb_pack_one(p->env, &job, &options, &x->offsets[first], &answer);
    *height = answer.height;
    return status;
}

/* The small rows around the large ones, which stay. */
static ebb_status place_small(ebb_packing *p, ebb_large *x) {
    ebb_pack_answer answer;
    ebb_pack_job job = {.rows = p->job->rows, .n = p->job->n, .fixed = x->fixed};
    ebb_pack_options options = ebb_pack_options_left(p->env, p->options, p->started_ns, 0);
    for (uint32_t k = 0; k < x->n; k++) x->fixed[x->row[k]] = k < x->n_large ? x->offsets[k] : -1;
    ebb_status status = ebb_pack_one(p->env, &job, &options, p->trial, &answer);
    if (status == EBB_OK && answer.height < p->answer->height) ebb_packing_keep(p, answer.height, "large");
    return status;
}

ebb_status ebb_packing_large_first(ebb_packing *p) {
    ebb_large x = {0};
    int64_t small_bytes = 0, height = 0;
    if (p->job->fixed || p->job->gaps_from || p->options->effort == 0 || ebb_packing_is_done(p))
        return EBB_OK;
    ebb_arena_init(&x.arena, p->env);
    ebb_status status = part_rows(&x, p) ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK && x.n_large > 0 && x.n_large <= x.n / 2) {
        p->large_first = true;
        status = pack_part(p, &x, x.n_large, x.n, -1, 0, &small_bytes);
        int64_t wanted = ebb_max_i64(ebb_packing_enough(p) - small_bytes, 0);
        if (status == EBB_OK)
            status = pack_part(p, &x, 0, x.n_large, wanted, p->options->effort / EFFORT_PART, &height);
        if (status == EBB_OK && height < p->answer->height) status = place_small(p, &x);
    }
    ebb_arena_deinit(&x.arena);
    return status;
}
