/* skyline: fills the lowest flat stretch of the skyline, for sets that are too large for the search.
 *
 * takes: a problem without fixed offsets; gaps stay unused. gives: offsets.
 * The skyline is the highest end of what is placed, over time: a list of flat stretches, the lowest on top
 * of a heap. Of the rows that live within the lowest stretch the one that begins first is placed on it, of
 * several the longest that fits; when none is left, the stretch is raised to the lower of its neighbours.
 * In time that goes backward the same is another packing, and the lower of the two is taken. As rows only
 * ever go on top, nothing below the skyline has to be remembered (best-fit skylines: Burke, Kendall and
 * Whitwell, "A new placement heuristic for the orthogonal stock-cutting problem", 2004; here the place in
 * time is given).
 *
 * cost: O((rows + spans) log spans), no table of conflicts. */
#include <stdlib.h>

#include "pack/heuristics/heuristics.h"

typedef struct stretch {
    int64_t height;
    uint32_t end, previous; /* spans; previous: where the one before it begins */
    bool is;
} stretch;

typedef struct heap_entry {
    int64_t height;
    uint32_t first;
} heap_entry;

typedef struct sorted_row {
    uint32_t first, end, row;
} sorted_row;

typedef struct skyline {
    const ebb_pack_problem *problem;
    ebb_env *env;
    bool backward;
    sorted_row *rows; /* [n] by first, then end */
    uint32_t *lower; /* [n + 1] of i + 1: itself while rows[i] is left, else on the way to the next below */
    uint32_t *start_at;  /* [n_spans + 1] */
    uint32_t *head;      /* [n_spans] the first row that begins there and may be left */
    uint32_t *least_end; /* [2 * leaves] of the rows not placed that begin below a node; EBB_NONE: none */
    uint32_t n_leaves;
    stretch *stretches; /* [n_spans] by their first span */
    EBB_ARRAY(heap_entry) heap;
} skyline;

/* ---- the heap of stretches ------------------------------------------------------------------- */

static bool is_lower(const heap_entry *a, const heap_entry *b) {
    return a->height != b->height ? a->height < b->height : a->first < b->first;
}

static bool heap_push(skyline *s, uint32_t first) {
    if (!EBB_PUSH(s->env, &s->heap, ((heap_entry){s->stretches[first].height, first}))) return false;
    heap_entry *at = s->heap.at;
    for (size_t i = s->heap.n - 1; i > 0 && is_lower(&at[i], &at[(i - 1) / 2]); i = (i - 1) / 2) {
        heap_entry entry = at[i];
        at[i] = at[(i - 1) / 2];
        at[(i - 1) / 2] = entry;
    }
    return true;
}

static heap_entry heap_pop(skyline *s) {
    heap_entry *at = s->heap.at, top = at[0];
    size_t n = --s->heap.n;
    at[0] = at[n];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (is_lower(&at[child], &at[least])) least = child;
        if (least == i) return top;
        heap_entry entry = at[i];
        at[i] = at[least];
        at[least] = entry;
        i = least;
    }
}

/* ---- rows that are left, by where they begin ----------------------------------------------------- */

static int by_first(const void *a, const void *b) {
    const sorted_row *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The last of the sorted rows below i that is not placed, plus 1; 0: none. Paths are halved on the way. */
static uint32_t find_free(skyline *s, uint32_t i) {
    while (s->lower[i] != i) {
        s->lower[i] = s->lower[s->lower[i]];
        i = s->lower[i];
    }
    return i;
}

/* The least end of the rows that begin in this span and are left. */
static uint32_t least_end_of(skyline *s, uint32_t span) {
    uint32_t *head = &s->head[span];
    while (*head < s->start_at[span + 1] && s->lower[*head + 1] != *head + 1) (*head)++;
    return *head < s->start_at[span + 1] ? s->rows[*head].end : EBB_NONE;
}

static void set_least_end(skyline *s, uint32_t span, uint32_t end) {
    uint32_t node = s->n_leaves + span;
    s->least_end[node] = end;
    for (node /= 2; node >= 1; node /= 2) {
        uint32_t a = s->least_end[2 * node], b = s->least_end[2 * node + 1];
        s->least_end[node] = a < b ? a : b;
    }
}

/* The first span from `first` on in which a row begins that is left and ends by `end`; EBB_NONE: none. */
static uint32_t find_span(const skyline *s, uint32_t first, uint32_t end) {
    uint32_t node = s->n_leaves + first;
    while (s->least_end[node] > end) {
        while (node % 2 == 1) node /= 2; /* up from right children; from the root to 0 */
        if (node == 0) return EBB_NONE;
        node++;
    }
    while (node < s->n_leaves) node = s->least_end[2 * node] <= end ? 2 * node : 2 * node + 1;
    return node - s->n_leaves;
}

/* ---- the skyline ----------------------------------------------------------------------------- */

/* Joins the stretch with the next one while that is as high; then with the one before. */
static uint32_t join(skyline *s, uint32_t first) {
    uint32_t n = s->problem->n_spans;
    stretch *at = s->stretches;
    if (at[first].end < n && at[at[first].end].height == at[first].height) {
        uint32_t next = at[first].end;
        at[next].is = false;
        at[first].end = at[next].end;
        if (at[first].end < n) at[at[first].end].previous = first;
    }
    if (first > 0 && at[at[first].previous].height == at[first].height) {
        uint32_t before = at[first].previous;
        at[first].is = false;
        at[before].end = at[first].end;
        if (at[before].end < n) at[at[before].end].previous = before;
        first = before;
    }
    return first;
}

/* Cuts a stretch in two at a span within it. */
static void cut(skyline *s, uint32_t first, uint32_t span) {
    stretch *at = s->stretches;
    if (span == first || span == at[first].end) return;
    at[span] = (stretch){at[first].height, at[first].end, first, true};
    if (at[first].end < s->problem->n_spans) at[at[first].end].previous = span;
    at[first].end = span;
}

/* The row onto the stretch; the rest of the stretch stays as it is. */
static bool place(skyline *s, uint32_t first, uint32_t i, int64_t *offsets, int64_t *height) {
    const sorted_row *sorted = &s->rows[i];
    const ebb_row *row = &s->problem->rows[sorted->row];
    stretch *at = s->stretches;
    uint32_t end = at[first].end;
    cut(s, first, sorted->first);
    cut(s, sorted->first, sorted->end);
    offsets[sorted->row] = ebb_align_up(at[first].height, row->alignment);
    at[sorted->first].height = ebb_align_up(offsets[sorted->row] + row->size, s->problem->granule);
    *height = ebb_max_i64(*height, offsets[sorted->row] + row->size);
    s->lower[i + 1] = i;
    set_least_end(s, sorted->first, least_end_of(s, sorted->first));
    return (sorted->first == first || heap_push(s, first)) &&
           (sorted->end == end || heap_push(s, sorted->end)) && heap_push(s, join(s, sorted->first));
}

static bool raise_stretch(skyline *s, uint32_t first) {
    stretch *at = s->stretches;
    int64_t left = first > 0 ? at[at[first].previous].height : INT64_MAX;
    int64_t right = at[first].end < s->problem->n_spans ? at[at[first].end].height : INT64_MAX;
    if (left == INT64_MAX && right == INT64_MAX) return true; /* nothing is left: it ends */
    at[first].height = ebb_min_i64(left, right);
    return heap_push(s, join(s, first));
}

static ebb_status fill(skyline *s, int64_t *offsets, int64_t *height) {
    s->stretches[0] = (stretch){0, s->problem->n_spans, 0, true};
    *height = 0;
    if (!heap_push(s, 0)) return EBB_NO_MEMORY;
    while (s->heap.n > 0) {
        heap_entry lowest = heap_pop(s);
        const stretch *at = &s->stretches[lowest.first];
        if (!at->is || at->height != lowest.height) continue; /* it has changed since */
        uint32_t span = find_span(s, lowest.first, at->end);
        if (span == EBB_NONE) {
            if (!raise_stretch(s, lowest.first)) return EBB_NO_MEMORY;
            continue;
        }
        uint32_t i = s->start_at[span],
                 hi = s->start_at[span + 1]; /* to behind the longest that ends in time */
        while (i < hi) {
            uint32_t middle = i + (hi - i) / 2;
            if (s->rows[middle].end <= at->end)
                i = middle + 1;
            else
                hi = middle;
        }
        if (!place(s, lowest.first, find_free(s, i) - 1, offsets, height)) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void list_rows(skyline *s) {
    const ebb_pack_problem *p = s->problem;
    uint32_t n = 0;
    memset(s->start_at, 0, ((size_t)p->n_spans + 1) * sizeof *s->start_at);
    for (uint32_t r = 0; r < p->n; r++) {
        ebb_pack_part part = p->parts[p->part_at[r]];
        part.end = p->parts[p->part_at[r + 1] - 1].end; /* gaps stay unused */
        if (p->rows[r].size == 0) continue;
        s->rows[n++] = s->backward ? (sorted_row){p->n_spans - part.end, p->n_spans - part.first, r}
                                   : (sorted_row){part.first, part.end, r};
    }
    qsort(s->rows, n, sizeof *s->rows, by_first);
    for (uint32_t i = 0; i < n; i++) s->start_at[s->rows[i].first + 1]++;
    for (uint32_t k = 0; k < p->n_spans; k++) s->start_at[k + 1] += s->start_at[k];
    for (uint32_t i = 0; i <= n; i++) s->lower[i] = i;
    memset(s->least_end, 0xff, 2 * (size_t)s->n_leaves * sizeof *s->least_end); /* EBB_NONE */
    for (uint32_t k = 0; k < p->n_spans; k++) {
        s->head[k] = s->start_at[k];
        s->least_end[s->n_leaves + k] = least_end_of(s, k);
    }
    for (uint32_t node = s->n_leaves; node-- > 1;) {
        uint32_t a = s->least_end[2 * node], b = s->least_end[2 * node + 1];
        s->least_end[node] = a < b ? a : b;
    }
}

ebb_status ebb_pack_skyline(ebb_env *env, const ebb_pack_problem *problem, bool backward, int64_t *offsets,
                            int64_t *height) {
    ebb_arena arena;
    skyline s = {.problem = problem, .env = env, .backward = backward, .n_leaves = 2};
    while (s.n_leaves < problem->n_spans) s.n_leaves *= 2;
    ebb_arena_init(&arena, env);
    s.rows = EBB_NEW(&arena, sorted_row, problem->n);
    s.lower = EBB_NEW(&arena, uint32_t, (size_t)problem->n + 1);
    s.start_at = EBB_NEW(&arena, uint32_t, (size_t)problem->n_spans + 1);
    s.head = EBB_NEW(&arena, uint32_t, problem->n_spans);
    s.least_end = EBB_NEW(&arena, uint32_t, 2 * (size_t)s.n_leaves);
    s.stretches = EBB_NEW(&arena, stretch, (size_t)problem->n_spans + 1);
    ebb_status status = EBB_NO_MEMORY;
    if (s.rows && s.lower && s.start_at && s.head && s.least_end && s.stretches) {
        memset(offsets, 0, problem->n * sizeof *offsets);
        list_rows(&s);
        status = fill(&s, offsets, height);
    }
    EBB_ARRAY_FREE(env, &s.heap);
    ebb_arena_deinit(&arena);
    return status;
}
