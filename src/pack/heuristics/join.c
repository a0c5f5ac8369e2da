/* join: rows that fit one another without a byte lost become one.
 *
 * takes: a problem without gaps and fixed offsets, whose sizes are multiples of all alignments. gives:
 * pieces, fewer rows that stand for all, and from offsets of pieces those of the rows.
 *
 * Two joins leave the bytes that live in each step as they are: rows with the same time become a stack, and
 * of two rows of one size of which one begins where the other ends, a chain. A rectangle that was cut
 * through and through, again and again, is put together so as it was cut, if at no step two cuts meet: the
 * last two pieces that were cut apart in time are alone on both sides of their step, once what was cut
 * apart in space is stacked.
 *
 *     +-----+---+       a and b are stacked; then at step x only they end and only c begins, of one size
 *     |  a  |   |
 *     +-----+ c |       where several rows meet at a step, those that have a size for themselves are joined
 *     |  b  |   |       when nothing else is left, and at last any of one size: that is a guess
 *     +-----+---+
 *           x
 *
 * cost: O(n log n) a round; the rounds are as many as cuts lie within one another, and what is left of the
 * rows shrinks from round to round. */
#include <stdlib.h>

#include "pack/heuristics/join.h"

typedef enum join_care { JOIN_ALONE, JOIN_SPLIT, JOIN_SIZE_ALONE, JOIN_ANY } join_care;

static int by_entry(const void *a, const void *b) {
    const ebb_join_entry *x = a, *y = b;
    if (x->x != y->x) return x->x < y->x ? -1 : 1;
    if (x->other != y->other) return x->other < y->other ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

uint32_t ebb_join_make(ebb_joiner *j, uint32_t a, uint32_t b, bool stack) {
    ebb_pack_join *join = j->join;
    const ebb_join_node *x = &join->nodes[a], *y = &join->nodes[b];
    j->gone[a] = j->gone[b] = true;
    join->nodes[join->n_nodes] =
        (ebb_join_node){x->first, y->end, stack ? x->size + y->size : x->size, a, b, stack, false};
    return join->n_nodes++;
}

/* Only those that are part of no other stay. */
static void sweep(ebb_joiner *j, uint32_t from) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->n_alive; i++)
        if (!j->gone[j->alive[i]]) j->alive[n++] = j->alive[i];
    for (uint32_t node = from; node < j->join->n_nodes; node++)
        if (!j->gone[node]) j->alive[n++] = node;
    j->n_alive = n;
}

static bool stack_rows(ebb_joiner *j) {
    uint32_t from = j->join->n_nodes;
    for (uint32_t i = 0; i < j->n_alive; i++) {
        const ebb_join_node *node = &j->join->nodes[j->alive[i]];
        j->ends[i] = (ebb_join_entry){node->first, node->end, 0, j->alive[i]};
    }
    qsort(j->ends, j->n_alive, sizeof *j->ends, by_entry);
    for (uint32_t i = 0, k; i < j->n_alive; i = k) {
        uint32_t node = j->ends[i].node;
        for (k = i + 1;
             k < j->n_alive && j->ends[k].x == j->ends[i].x && j->ends[k].other == j->ends[i].other; k++)
            node = ebb_join_make(j, node, j->ends[k].node, true);
    }
    sweep(j, from);
    return j->join->n_nodes > from;
}

/* Entries of one step, and within, of one size where sizes count. */
static uint32_t group_end(const ebb_join_entry *at, uint32_t i, uint32_t n, bool sizes) {
    uint32_t k = i;
    while (k < n && at[k].x == at[i].x && (!sizes || at[k].size == at[i].size)) k++;
    return k;
}

/* ---- chains ------------------------------------------------------------------------------------ */

static bool chain_rows(ebb_joiner *j, join_care care, uint32_t *heir) {
    ebb_pack_join *join = j->join;
    uint32_t n = j->n_alive, from = join->n_nodes;
    for (uint32_t i = 0; i < n; i++) {
        const ebb_join_node *node = &join->nodes[j->alive[i]];
        heir[j->alive[i]] = EBB_NONE;
        j->ends[i] = (ebb_join_entry){node->end, 0, node->size, j->alive[i]};
        j->begins[i] = (ebb_join_entry){node->first, 0, node->size, j->alive[i]};
    }
    qsort(j->ends, n, sizeof *j->ends, by_entry);
    qsort(j->begins, n, sizeof *j->begins, by_entry);
    bool sizes = care >= JOIN_SIZE_ALONE;
    for (uint32_t e = 0, b = 0; e < n && b < n;) {
        const ebb_join_entry *end = &j->ends[e], *begin = &j->begins[b];
        if (end->x < begin->x || (end->x == begin->x && sizes && end->size < begin->size)) {
            e = group_end(j->ends, e, n, sizes);
            continue;
        }
        if (begin->x < end->x || (sizes && begin->size < end->size)) {
            b = group_end(j->begins, b, n, sizes);
            continue;
        }
        uint32_t e_end = group_end(j->ends, e, n, sizes), b_end = group_end(j->begins, b, n, sizes);
        bool alone = e_end - e == 1 && b_end - b == 1;
        if (care == JOIN_SPLIT) ebb_join_try_split(j, heir, end, e_end - e, begin, b_end - b);
        for (; e < e_end && b < b_end && (alone || care == JOIN_ANY); e++, b++) {
            if (j->ends[e].size != j->begins[b].size) continue;
            uint32_t before = ebb_join_newest(heir, j->ends[e].node), after = j->begins[b].node;
            if (j->gone[before] || j->gone[after]) continue; /* taken apart */
            heir[join->n_nodes] = EBB_NONE;
            heir[before] = heir[after] = join->n_nodes;
            (void)ebb_join_make(j, before, after, false);
        }
        e = e_end;
        b = b_end;
    }
    sweep(j, from);
    return join->n_nodes > from;
}

/* The careful joins as long as there are any, then one round of the next careless kind. */
static void join_all(ebb_joiner *j, uint32_t *heir) {
    for (;;) {
        bool any = stack_rows(j);
        any = chain_rows(j, JOIN_ALONE, heir) || any;
        if (!any && !chain_rows(j, JOIN_SPLIT, heir) && !chain_rows(j, JOIN_SIZE_ALONE, heir) &&
            !chain_rows(j, JOIN_ANY, heir))
            return;
    }
}

static bool is_suited(const ebb_pack_problem *p) {
    int64_t alignment = 1;
    if (p->fixed || p->n < 3 || p->part_at[p->n] != p->n) return false;
    for (uint32_t i = 0; i < p->n; i++) alignment = ebb_max_i64(alignment, p->rows[i].alignment);
    for (uint32_t i = 0; i < p->n; i++)
        if (p->rows[i].size % alignment != 0) return false;
    return true;
}

ebb_status ebb_pack_join_init(ebb_pack_join *join, ebb_env *env, const ebb_pack_problem *p) {
    ebb_arena arena;
    memset(join, 0, sizeof *join);
    ebb_arena_init(&join->arena, env);
    if (!is_suited(p)) return EBB_OK;
    ebb_arena_init(&arena, env);
    ebb_joiner j = {.join = join, .most_nodes = 2 * p->n + p->n / 4 + 4 * EBB_JOIN_MOST_PARTS};
    uint32_t *heir = EBB_NEW(&arena, uint32_t, j.most_nodes);
    join->nodes = EBB_NEW(&join->arena, ebb_join_node, j.most_nodes);
    join->pieces = j.alive = EBB_NEW(&join->arena, uint32_t, p->n);
    j.ends = EBB_NEW(&arena, ebb_join_entry, p->n);
    j.begins = EBB_NEW(&arena, ebb_join_entry, p->n);
    j.gone = EBB_NEW(&arena, bool, j.most_nodes);
    ebb_status status = EBB_NO_MEMORY;
    if (heir && join->nodes && j.alive && j.ends && j.begins && j.gone) {
        for (uint32_t i = 0; i < p->n; i++) {
            ebb_pack_part part = p->parts[p->part_at[i]];
            join->nodes[i] =
                (ebb_join_node){part.first, part.end, p->rows[i].size, EBB_NONE, EBB_NONE, false, false};
            if (p->rows[i].size > 0) j.alive[j.n_alive++] = i;
        }
        join->n_rows = join->n_nodes = p->n;
        join_all(&j, heir);
        join->n_pieces = j.n_alive;
        status = EBB_OK;
    }
    ebb_arena_deinit(&arena);
    return status;
}

void ebb_pack_join_deinit(ebb_pack_join *join) {
    ebb_arena_deinit(&join->arena);
}

/* Parts come before what is made of them. */
ebb_status ebb_pack_join_spread(ebb_pack_join *join, const int64_t *of_pieces, int64_t *offsets) {
    int64_t *at = EBB_NEW(&join->arena, int64_t, join->n_nodes);
    if (!at) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < join->n_pieces; i++) at[join->pieces[i]] = of_pieces[i];
    for (uint32_t k = join->n_nodes; k-- > join->n_rows;) {
        const ebb_join_node *node = &join->nodes[k];
        if (node->undone) continue;
        at[node->a] = at[k];
        at[node->b] = node->stack ? at[k] + join->nodes[node->a].size : at[k];
    }
    for (uint32_t i = 0; i < join->n_rows; i++) offsets[i] = at[i];
    return EBB_OK;
}
