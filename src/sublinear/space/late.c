/* Where a gap becomes late. Forward blocks end at joints; the backward pass of a block begins where a value
 * that is made and read inside it is first read again:
 *
 *     forward | block 0 | block 1 | .. | block n | backward of n | .. | of 1 | of 0 |
 *
 * What block b reads is made again in two seasons: when backward of later blocks need it to get at their
 * own values, and in backward of b, where nearly every op needs it or what is made of it. HOLD would keep
 * it from the first of these on and RELEASE makes it again for each op of the last, so LATE begins with the
 * backward pass of b. */
#include "sublinear/space/maker.h"

typedef struct late_finder {
    const ebb_space_maker *maker;
    uint32_t turn;          /* base position of the first op that is not forward */
    uint32_t *last_forward; /* per value that a forward op makes: the last one that reads it, or its own */
    uint32_t *block_of;     /* per forward op */
    uint32_t *backward;     /* per block: where its backward pass begins; n_ops: nowhere */
} late_finder;

static bool open_finder(late_finder *f, ebb_arena *work) {
    const ebb_space *s = f->maker->space;
    uint32_t n_joints;
    const uint32_t *joints = ebb_space_joints(work, s, &n_joints);
    f->last_forward = EBB_NEW(work, uint32_t, s->n_values);
    f->block_of = EBB_NEW(work, uint32_t, (size_t)s->n_ops + 1);
    f->backward = EBB_NEW(work, uint32_t, (size_t)s->n_ops + 1); /* no more blocks than ops */
    if (!joints || !f->last_forward || !f->block_of || !f->backward) return false;
    while (f->turn < s->n_ops && f->maker->graph->ops[f->turn].phase == EBB_FORWARD) f->turn++;
    for (uint32_t p = 0, at = 0; p < f->turn; p++) {
        while (at + 1 < n_joints && joints[at + 1] <= p) at++;
        f->block_of[p] = at;
        f->backward[p] = s->n_ops;
    }
    return true;
}

static void find_backward(late_finder *f) {
    const ebb_space_maker *m = f->maker;
    for (uint32_t v = 0; v < m->space->n_values; v++) {
        const uint32_t maker = m->space->values[v].producer;
        if (maker >= f->turn) continue; /* a given one, too */
        uint32_t last = maker, k = 0;
        for (; k < m->n_readers[v] && m->readers[v][k] < f->turn; k++) last = m->readers[v][k];
        f->last_forward[v] = last;
        if (f->block_of[last] != f->block_of[maker] || k == m->n_readers[v]) continue;
        uint32_t *begin = &f->backward[f->block_of[maker]];
        if (m->readers[v][k] < *begin) *begin = m->readers[v][k];
    }
}

/* Only gaps that a value spends between forward and its own reader have seasons. */
static void give_late(const late_finder *f, ebb_gene *gap) {
    const uint32_t n_ops = f->maker->space->n_ops;
    if (gap->kind != EBB_GENE_GAP || gap->n_states <= EBB_RELEASE) return;
    if (gap->begin >= f->turn || gap->end < f->turn || gap->end == n_ops) return;
    const uint32_t late = f->backward[f->block_of[f->last_forward[gap->subject]]];
    if (late <= f->turn || late >= gap->end) return; /* HOLD or RELEASE all along */
    gap->late = late;
    gap->n_states = EBB_LATE + 1;
}

bool ebb_space_find_late(ebb_space_maker *m) {
    ebb_arena work;
    ebb_arena_init(&work, m->env);
    late_finder f = {.maker = m};
    const bool ok = open_finder(&f, &work);
    if (ok) find_backward(&f);
    for (uint32_t k = 0; ok && k < m->space->n_genes; k++) give_late(&f, &m->space->genes[k]);
    ebb_arena_deinit(&work);
    return ok;
}
