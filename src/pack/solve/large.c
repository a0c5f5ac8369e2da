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
 * room around the large. Where that leads nowhere, and there is a capacity, small are only those that fit
 * above the large rows even if these are as high as the bound: for the 2,700 rows of DenseNet-121 within a
 * budget that leaves 0.1 % above the bound, the search over the 1,200 that remain takes a fifth of a
 * second, over all of them minutes. cost: the effort at most, and half of it. */
#include "pack/solve/solve.h"

#define SMALL_PART  256 /* a row below one part in so many of the height is small */
#define EFFORT_PART 2   /* of the effort for the rows above it */

typedef struct ebb_large {
    ebb_arena arena;
    ebb_row *rows; /* the large ones, then the small ones */
    uint32_t *row; /* of the job */
    int64_t *offsets, *fixed;
    uint32_t n_large, n;
} ebb_large;

/* least: the bytes of the smallest large row. */
static bool part_rows(ebb_large *x, const ebb_packing *p, int64_t least) {
    const ebb_pack_job *job = p->job;
    x->n = job->n;
    x->n_large = 0;
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
    ebb_status status = ebb_pack_apart(p->env, &job, &options, &x->offsets[first], &answer);
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

/* The large rows by themselves, below the small ones if there is room, and the small ones around them. */
static ebb_status pack_both(ebb_packing *p, ebb_large *x, int64_t effort) {
    int64_t small_bytes = 0, height = 0;
    p->large_first = true;
    ebb_status status = pack_part(p, x, x->n_large, x->n, -1, 0, &small_bytes);
    const int64_t wanted = ebb_max_i64(ebb_packing_enough(p) - small_bytes, 0);
    if (status == EBB_OK) status = pack_part(p, x, 0, x->n_large, wanted, effort, &height);
    return status == EBB_OK && height < p->answer->height ? place_small(p, x) : status;
}

/* Sets *few to rows of which the small ones together are at no step more than the capacity leaves above the
 * bound; n_large 0: that is nothing, or all but a quarter of the rows would be large. */
static ebb_status part_by_room(ebb_packing *p, ebb_large *few) {
    const int64_t room = p->options->capacity - p->answer->lower_bound;
    int64_t least = room > 0 ? p->answer->height / SMALL_PART / 2 : 0, live;
    for (; least > 0 && !ebb_packing_is_done(p); least /= 2) {
        ebb_arena_deinit(&few->arena);
        ebb_arena_init(&few->arena, p->env);
        if (!part_rows(few, p, least)) return EBB_NO_MEMORY;
        if (few->n_large >= few->n - few->n / 4) break;
        ebb_status status =
            ebb_rows_max_live(p->env, &few->rows[few->n_large], few->n - few->n_large, &live);
        if (status != EBB_OK || live <= room) return status;
    }
    few->n_large = 0;
    return EBB_OK;
}

ebb_status ebb_packing_large_first(ebb_packing *p) {
    ebb_large x = {0};
    if (p->job->fixed || p->job->gaps_from || p->parted || p->options->effort == 0 ||
        ebb_packing_is_done(p))
        return EBB_OK;
    ebb_arena_init(&x.arena, p->env);
    ebb_status status = part_rows(&x, p, p->answer->height / SMALL_PART) ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK && x.n_large > 0 && x.n_large <= x.n / 2)
        status = pack_both(p, &x, p->options->effort / EFFORT_PART);
    if (status == EBB_OK && !ebb_packing_is_done(p)) status = part_by_room(p, &x);
    if (status == EBB_OK && x.n_large > 0 && !ebb_packing_is_done(p))
        status = pack_both(p, &x, p->options->effort);
    ebb_arena_deinit(&x.arena);
    return status;
}
