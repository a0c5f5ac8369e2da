/* Small spaces: branch and bound. When it comes to its end the answer is the best of the gene space, and
 * "over budget" is then certain within it.
 *
 * Depth first, over the questions that plays ask (tree.h), cut where the bound of a node's candidates
 * (bound.c) is no better than the best found: A. H. Land and A. G. Doig, "An automatic method of
 * solving discrete programming problems", Econometrica 28, 1960. Nothing is undone on the way back: the
 * next path is played again from the start, which costs no more than the bound does. The order of the nodes
 * and the answer depend on the space and the pool alone. cost: nodes x (steps + edges). */
#include "sublinear/exact/exact.h"
#include "sublinear/exact/tree.h"

/* Of a space whose candidates are more than the effort: */
#define MAX_FREE   200                /* genes */
#define EFFORT     4                  /* one part in so many of the effort */
#define WHOLE_WORK INT64_C(100000000) /* nodes x ops: a second or two */

bool ebb_select_exact_is_sure(const ebb_search *search, const ebb_select_request *request) {
    int64_t n = 1, most = search->effort;
    if (request->effort_part > 1 && !ebb_mul_i64(most, request->effort_part, &most)) most = INT64_MAX;
    for (uint32_t k = 0; k < search->n_free; k++) {
        const ebb_gene *gene = &search->space->genes[search->free_genes[k]];
        if (!ebb_mul_i64(n, gene->n_states - gene->first_state, &n) || n > most) return false;
    }
    return true;
}

/* Nodes to be looked at. There are fewer than twice as many as candidates. */
static int64_t most_nodes(const ebb_search *search, const ebb_select_request *request) {
    if (ebb_select_exact_is_sure(search, request)) return INT64_MAX;
    if (search->n_free > MAX_FREE) return 0;
    return ebb_min_i64((search->effort - search->n_scored) / EFFORT,
                       WHOLE_WORK / ((int64_t)search->space->n_ops + 1));
}

/* The next path in depth-first order; false after the last. */
static bool next_path(ebb_tree *tree) {
    while (tree->n_path > 0) {
        ebb_question *last = &tree->path[tree->n_path - 1];
        if (++last->answer < last->n_answers) return true;
        tree->n_path--;
    }
    return false;
}

static ebb_status search_tree(ebb_tree *tree, const ebb_select_request *request, int64_t most,
                              bool *go_on) {
    ebb_search *search = tree->search;
    const int64_t before = search->n_scored;
    const uint32_t round = ebb_search_round(search, false);
    for (bool more = true; more && search->n_scored - before < most;) {
        ebb_status status = ebb_search_goes_on(search, request, go_on);
        search->proved = ebb_search_is_over(search);
        if (status != EBB_OK || !*go_on) return status;
        const int64_t end = search->n_scored + round;
        while (more && search->n_scored < end && search->n_scored - before < most) {
            if (ebb_tree_play(tree)) {
                search->n_scored--; /* the leaf was counted when it was bounded */
                (void)ebb_search_offer_genes(search, tree->genes);
            }
            more = next_path(tree);
        }
        search->proved = !more;
    }
    *go_on = !search->proved;
    return EBB_OK;
}

ebb_status ebb_select_exact(ebb_search *search, const ebb_select_request *request, bool *go_on) {
    ebb_tree tree;
    const int64_t most = most_nodes(search, request), before = search->n_scored;
    *go_on = true;
    if (most < 1) return EBB_OK;
    ebb_status status = ebb_tree_open(&tree, search);
    if (status == EBB_OK) status = search_tree(&tree, request, most, go_on);
    ebb_tree_close(&tree);
    if (*go_on) search->effort -= search->n_scored - before;
    return status;
}
