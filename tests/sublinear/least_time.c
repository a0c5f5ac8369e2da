/* Shortest paths over the states (ops that ran, values that are in memory). */
#include "least_time.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define MAX_VALUES 12 /* of those that take transient bytes */
#define MAX_OPS    8
#define MAX_SPANS  64
#define MAX_WAYS   48 /* combinations of alternatives */

typedef struct span {
    uint32_t values; /* that cover these bytes */
    int64_t units;
} span;

typedef struct world {
    const ebb_pgraph *graph;
    int64_t alignment, budget_units;
    uint32_t alternative[MAX_OPS];
    /* per value of the graph */
    ebb_id *root;
    int64_t *offset;
    int32_t *bit; /* -1: takes no transient bytes */
    span spans[MAX_SPANS];
    uint32_t n_spans, n_values, n_states;
    uint32_t asked; /* ops that must run */
    uint32_t lasting;
    /* per state: ran << n_values | values */
    int64_t *time;
    uint32_t *queue;
    bool *queued;
} world;

static int64_t units(const world *w, int64_t bytes) {
    return (bytes + w->alignment - 1) / w->alignment;
}

/* ---- bytes ------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The stretches of one storage between all ends of its views. */
static bool add_spans(world *w, ebb_id root) {
    int64_t ends[2 * MAX_VALUES];
    uint32_t n = 0;
    for (ebb_id v = 0; v < w->graph->n_values; v++) {
        if (w->root[v] != root || w->bit[v] < 0) continue;
        ends[n++] = w->offset[v];
        ends[n++] = w->offset[v] + w->graph->values[v].bytes;
    }
    if (n > 0) qsort(ends, n, sizeof *ends, by_size);
    for (uint32_t k = 0; k + 1 < n; k++) {
        if (ends[k] == ends[k + 1]) continue;
        if (w->n_spans == MAX_SPANS) return false;
        span *s = &w->spans[w->n_spans++];
        *s = (span){0, units(w, ends[k + 1]) - units(w, ends[k])};
        for (ebb_id v = 0; v < w->graph->n_values; v++)
            if (w->root[v] == root && w->bit[v] >= 0 && w->offset[v] <= ends[k] &&
                w->offset[v] + w->graph->values[v].bytes >= ends[k + 1])
                s->values |= 1u << w->bit[v];
    }
    return true;
}

static int64_t taken(const world *w, uint32_t values) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < w->n_spans; k++)
        if (w->spans[k].values & values) sum += w->spans[k].units;
    return sum;
}

/* Those that have a byte in common with v. */
static uint32_t sharing(const world *w, ebb_id v) {
    uint32_t all = 0;
    for (uint32_t k = 0; k < w->n_spans; k++)
        if (w->spans[k].values & 1u << w->bit[v]) all |= w->spans[k].values;
    return all;
}

/* ---- steps ---- */

static void reach(world *w, uint32_t state, int64_t time, uint32_t *tail) {
    if (time >= w->time[state]) return;
    w->time[state] = time;
    if (w->queued[state]) return;
    w->queued[state] = true;
    w->queue[*tail] = state;
    *tail = (*tail + 1) % w->n_states;
}

static bool may_run(const world *w, ebb_id op, uint32_t ran, uint32_t values) {
    const ebb_pop *o = &w->graph->ops[op];
    ebb_pop_way way = ebb_pop_under(o, w->alternative[op]);
    bool again = ran >> op & 1;
    if (again && !ebb_pop_repeatable(o)) return false;
    for (uint32_t k = 0; k < o->n_after && !again; k++)
        if (!(ran >> o->after[k] & 1)) return false;
    for (ebb_id later = op + 1; o->ordered && later < w->graph->n_ops; later++)
        if (w->graph->ops[later].ordered && (ran >> later & 1)) return false;
    for (uint32_t k = 0; k < way.n_in; k++) {
        ebb_id v = way.in[k], producer = w->graph->values[v].producer;
        if (producer != EBB_NONE && !(ran >> producer & 1)) return false;
        if (w->bit[v] >= 0 && !(values >> w->bit[v] & 1)) return false;
    }
    return true;
}

typedef struct step {
    ebb_id op;
    uint32_t ran, values; /* before it */
    ebb_pop_way way;
    int64_t time;
} step;

static bool is_own(const world *w, ebb_id out) {
    return w->bit[out] >= 0 && w->root[out] == out;
}

/* Output j on: each with bytes of its own or over an input that is then gone. live: units so far; gone:
 * values that were overwritten, of which no two outputs take the same bytes. */
static void place(world *w, const step *s, uint32_t j, int64_t live, uint32_t gone, uint32_t *tail) {
    const ebb_pop *o = &w->graph->ops[s->op];
    while (j < o->n_out && !is_own(w, o->out[j])) j++;
    if (j == o->n_out) {
        if (live > w->budget_units) return;
        uint32_t values = s->values & ~gone;
        for (uint32_t k = 0; k < o->n_out; k++)
            if (w->bit[o->out[k]] >= 0) values |= 1u << w->bit[o->out[k]];
        reach(w, (s->ran | 1u << s->op) << w->n_values | values, s->time, tail);
        return;
    }
    int64_t own = units(w, w->graph->values[o->out[j]].bytes);
    place(w, s, j + 1, live + own, gone, tail);
    for (uint32_t k = 0; k < s->way.n_in_place; k++) {
        ebb_id in = s->way.in[s->way.in_place[k].in];
        if (s->way.in_place[k].out != j || w->bit[in] < 0 || w->offset[in] % w->alignment != 0) continue;
        uint32_t over = sharing(w, in);
        if (over & gone) continue;
        int64_t saved = ebb_min_i64(own, units(w, w->graph->values[in].bytes));
        place(w, s, j + 1, live + own - saved, gone | over, tail);
    }
}

static int64_t shortest(world *w) {
    uint32_t head = 0, tail = 0, given = 0, mask = (1u << w->n_values) - 1;
    for (uint32_t k = 0; k < w->n_states; k++) w->time[k] = LEAST_TIME_NONE;
    for (ebb_id v = 0; v < w->graph->n_values; v++)
        if (w->bit[v] >= 0 && w->graph->values[v].producer == EBB_NONE) given |= 1u << w->bit[v];
    reach(w, given, 0, &tail);
    int64_t least = LEAST_TIME_NONE;
    while (head != tail) {
        uint32_t state = w->queue[head], ran = state >> w->n_values, values = state & mask;
        head = (head + 1) % w->n_states;
        w->queued[state] = false;
        if ((ran & w->asked) == w->asked && (values & w->lasting) == w->lasting)
            least = ebb_min_i64(least, w->time[state]);
        for (uint32_t k = 0; k < w->n_values; k++)
            if (values >> k & 1) reach(w, state & ~(1u << k), w->time[state], &tail);
        for (ebb_id op = 0; op < w->graph->n_ops; op++) {
            if (!may_run(w, op, ran, values)) continue;
            step s = {op, ran, values, ebb_pop_under(&w->graph->ops[op], w->alternative[op]), 0};
            s.time = w->time[state] + s.way.time_ns;
            place(w, &s, 0, taken(w, values) + units(w, s.way.scratch_bytes), 0, &tail);
        }
    }
    return least;
}

/* ---- the graph --------------------------------------------------------------------------------- */

static bool read_values(world *w) {
    const ebb_pgraph *g = w->graph;
    for (ebb_id v = 0; v < g->n_values; v++) {
        w->root[v] = v;
        w->offset[v] = 0;
    }
    for (ebb_id i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_views; k++) {
            ebb_id out = g->ops[i].out[g->ops[i].views[k].out], base = g->ops[i].in[g->ops[i].views[k].in];
            w->root[out] = w->root[base];
            w->offset[out] = w->offset[base] + g->ops[i].views[k].offset_bytes;
        }
    for (ebb_id v = 0; v < g->n_values; v++) {
        bool counts = g->values[v].bytes > 0 && !ebb_role_persistent(g->values[w->root[v]].role);
        w->bit[v] = counts ? (int32_t)w->n_values++ : -1;
        if (w->n_values > MAX_VALUES) return false;
        if (counts && g->values[v].role == EBB_ROLE_OUTPUT) w->lasting |= 1u << w->bit[v];
    }
    for (ebb_id v = 0; v < g->n_values; v++)
        if (w->root[v] == v && !add_spans(w, v)) return false;
    return true;
}

static void read_ops(world *w) {
    const ebb_pgraph *g = w->graph;
    for (ebb_id i = 0; i < g->n_ops; i++) {
        bool asked = !g->ops[i].optional || g->ops[i].n_update > 0;
        for (uint32_t k = 0; k < g->ops[i].n_out; k++)
            asked = asked || g->values[g->ops[i].out[k]].role == EBB_ROLE_OUTPUT;
        if (asked) w->asked |= 1u << i;
    }
}

/* The next combination of alternatives; false after the last. */
static bool next_ways(world *w) {
    for (ebb_id i = 0; i < w->graph->n_ops; i++) {
        if (++w->alternative[i] < w->graph->ops[i].n_alternatives) return true; /* EBB_NONE + 1 is 0 */
        w->alternative[i] = EBB_NONE;
    }
    return false;
}

static int64_t try_all_ways(world *w) {
    int64_t least = LEAST_TIME_NONE, n_ways = 1;
    for (ebb_id i = 0; i < w->graph->n_ops; i++) {
        n_ways *= 1 + w->graph->ops[i].n_alternatives;
        w->alternative[i] = EBB_NONE;
    }
    if (n_ways > MAX_WAYS) return LEAST_TIME_TOO_LARGE;
    do least = ebb_min_i64(least, shortest(w));
    while (next_ways(w));
    return least;
}

int64_t least_time(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, int64_t alignment) {
    world w = {.graph = graph, .alignment = alignment};
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    w.budget_units = (budget_bytes + alignment - 1) / alignment;
    w.root = EBB_NEW(&arena, ebb_id, graph->n_values);
    w.offset = EBB_NEW(&arena, int64_t, graph->n_values);
    w.bit = EBB_NEW(&arena, int32_t, graph->n_values);
    cr_assert(w.root && w.offset && w.bit);
    int64_t least = LEAST_TIME_TOO_LARGE;
    if (graph->n_ops <= MAX_OPS && read_values(&w)) {
        read_ops(&w);
        w.n_states = 1u << (graph->n_ops + w.n_values);
        w.time = EBB_NEW(&arena, int64_t, w.n_states);
        w.queue = EBB_NEW(&arena, uint32_t, w.n_states);
        w.queued = EBB_NEW(&arena, bool, w.n_states);
        cr_assert(w.time && w.queue && w.queued);
        least = try_all_ways(&w);
    }
    ebb_arena_deinit(&arena);
    return least;
}
