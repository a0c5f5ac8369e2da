/* join_split: a stack that is the end or the beginning of several. */
#include "pack/heuristics/join.h"

typedef struct split {
    uint32_t parts[EBB_JOIN_MOST_PARTS], n_parts; /* what the stack is made of */
    uint32_t group[EBB_JOIN_MOST_PARTS];          /* parts of each node beside it, as a set */
} split;

static bool list_parts(const ebb_pack_join *join, uint32_t stack, split *s) {
    uint32_t left[EBB_JOIN_MOST_PARTS + 1] = {stack}, n_left = 1;
    s->n_parts = 0;
    while (n_left > 0) {
        const ebb_join_node *node = &join->nodes[left[--n_left]];
        if (node->stack) {
            if (n_left + 2 > EBB_JOIN_MOST_PARTS || s->n_parts + n_left + 2 > EBB_JOIN_MOST_PARTS)
                return false;
            left[n_left++] = node->a;
            left[n_left++] = node->b;
        } else {
            s->parts[s->n_parts++] = left[n_left];
        }
    }
    return s->n_parts > 1;
}

/* Sets of parts with the sizes of the nodes beside the stack, one by one: what is wrong once stays so. */
static bool find_groups(const ebb_pack_join *join, const ebb_join_entry *beside, uint32_t n, split *s) {
    uint32_t used = 0, all = (UINT32_C(1) << s->n_parts) - 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t found = 0;
        for (uint32_t set = 1; set <= all && found == 0; set++) {
            int64_t sum = 0;
            for (uint32_t k = 0; k < s->n_parts; k++)
                if ((set >> k & 1) != 0) sum += join->nodes[s->parts[k]].size;
            if ((set & used) == 0 && sum == beside[i].size) found = set;
        }
        if (found == 0) return false;
        s->group[i] = found;
        used |= found;
    }
    return used == all;
}

static void undo(ebb_joiner *j, uint32_t stack) {
    uint32_t left[EBB_JOIN_MOST_PARTS + 1] = {stack}, n_left = 1;
    j->gone[stack] = true;
    while (n_left > 0) {
        ebb_join_node *node = &j->join->nodes[left[--n_left]];
        if (!node->stack) continue;
        node->undone = true;
        left[n_left++] = node->a;
        left[n_left++] = node->b;
    }
}

/* Two cuts at one step, where both leave pieces of one time on one side: those were stacked though they do
 * not belong together. Each of the nodes beside them gets its own part of the stack. */
static void split_stack(ebb_joiner *j, uint32_t *heir, uint32_t stack, const ebb_join_entry *beside,
                        uint32_t n, bool stack_ends) {
    split s;
    if (n > EBB_JOIN_MOST_PARTS || j->join->n_nodes + 2 * EBB_JOIN_MOST_PARTS > j->most_nodes ||
        j->gone[stack] || !list_parts(j->join, stack, &s) || !find_groups(j->join, beside, n, &s))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (j->gone[ebb_join_newest(heir, beside[i].node)]) return;
    undo(j, stack);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t group = EBB_NONE;
        for (uint32_t k = 0; k < s.n_parts; k++) {
            if ((s.group[i] >> k & 1) == 0) continue;
            heir[j->join->n_nodes] = EBB_NONE;
            group = group == EBB_NONE ? s.parts[k] : ebb_join_make(j, group, s.parts[k], true);
        }
        uint32_t other = ebb_join_newest(heir, beside[i].node);
        heir[j->join->n_nodes] = EBB_NONE;
        heir[other] = j->join->n_nodes;
        (void)(stack_ends ? ebb_join_make(j, group, other, false) : ebb_join_make(j, other, group, false));
    }
}

static int64_t sum_of(const ebb_join_entry *at, uint32_t n) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += at[i].size;
    return sum;
}

void ebb_join_try_split(ebb_joiner *j, uint32_t *heir, const ebb_join_entry *ends, uint32_t n_ends,
                        const ebb_join_entry *begins, uint32_t n_begins) {
    if (n_ends == n_begins || (n_ends > 1 && n_begins > 1) ||
        sum_of(ends, n_ends) != sum_of(begins, n_begins))
        return;
    if (n_begins == 1)
        split_stack(j, heir, begins->node, ends, n_ends, false);
    else
        split_stack(j, heir, ends->node, begins, n_begins, true);
}
