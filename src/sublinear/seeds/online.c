/* Seeds by an online rule: Kirisame et al., "Dynamic Tensor Rematerialization", ICLR 2021. Base ops run one
 * after the other; when more bytes are live than the limit, the resident value is dropped that has the
 * least
 *
 *     h = cost / (bytes x staleness)
 *
 * cost: time to make it and the dropped values that it is made from (NEIGHBOURS of them at most);
 * staleness: time since an op touched it. What an op reads and misses is made again before it, and is
 * resident again. A value that no base op reads any more is dropped at once.
 *
 * Live bytes are those of the base candidate, less what is dropped, plus what is there beyond it: near
 * enough for a rule. The search scores the genes exactly, and limits are swept. cost: O(ops x resident) a
 * walk; in all WORK_LIMIT looks at values, after which the sweep ends. */
#include "sublinear/seeds/seeds.h"

enum { NEIGHBOURS = 16, SWEEPS = 24, BISECTED = 32 };
#define WORK_LIMIT INT64_C(60000000) /* some tenths of a second */

typedef struct walk {
    const ebb_space *space;
    const int64_t *base_live; /* per base position */
    uint8_t *genes;
    uint32_t *gap;               /* per value: which of its gaps it is in */
    bool *here;                  /* per value with genes: in memory */
    double *cost;                /* per resident value */
    double clock_ns, *used_ns;   /* sums of times may be beyond int64 */
    uint32_t *locked;            /* per value: position + 1 of the last op that touched it */
    uint32_t *resident, *at;     /* values that may be dropped; per value: where it stands there */
    uint32_t *missing, *next_in; /* a path of values to be made; per value: inputs seen */
    uint32_t *extras;            /* made again for this op only: the base has no use for them */
    uint32_t n_resident, n_extras;
    uint8_t tail_state; /* of values after their last reader */
    int64_t away_bytes; /* live in the base candidate but not here, less those the other way */
    int64_t limit_bytes, work;
} walk;

static bool open_walk(walk *w, ebb_arena *arena, const ebb_space *space, const int64_t *base_live) {
    uint32_t n = space->n_values;
    *w = (walk){.space = space, .base_live = base_live};
    w->genes = EBB_NEW(arena, uint8_t, space->n_genes);
    w->gap = EBB_NEW(arena, uint32_t, n);
    w->here = EBB_NEW(arena, bool, n);
    w->cost = EBB_NEW(arena, double, n);
    w->used_ns = EBB_NEW(arena, double, n);
    w->locked = EBB_NEW(arena, uint32_t, n);
    w->resident = EBB_NEW(arena, uint32_t, n);
    w->at = EBB_NEW(arena, uint32_t, n);
    w->missing = EBB_NEW(arena, uint32_t, n);
    w->next_in = EBB_NEW(arena, uint32_t, n);
    w->extras = EBB_NEW(arena, uint32_t, n);
    return w->genes && w->gap && w->here && w->cost && w->used_ns && w->locked && w->resident && w->at &&
           w->missing && w->next_in && w->extras;
}

static const ebb_space_way *way_of(const ebb_space *space, uint32_t op) {
    return &space->ways[space->ops[op].first_way];
}

/* The value whose genes decide on an input; EBB_NONE: it is always there. */
static ebb_id subject_of(const ebb_space *space, ebb_id value) {
    if (space->values[value].follows) value = space->values[value].leader;
    return space->values[value].first_gap == EBB_NONE ? EBB_NONE : value;
}

static bool is_missing(const walk *w, ebb_id value) {
    return value != EBB_NONE && !w->here[value];
}

/* Time to make the value, from what is there. */
static double cost_of(walk *w, ebb_id value) {
    const ebb_space *space = w->space;
    ebb_id list[NEIGHBOURS] = {value};
    double cost = 0;
    for (uint32_t k = 0, n = 1; k < n; k++) {
        const ebb_space_way *way = way_of(space, space->values[list[k]].producer);
        cost += (double)way->time_ns;
        for (uint32_t i = 0; i < way->n_in && n < NEIGHBOURS; i++) {
            ebb_id in = subject_of(space, space->ins[way->first_in + i]);
            bool is_new = is_missing(w, in);
            for (uint32_t j = 0; is_new && j < n; j++) is_new = list[j] != in;
            if (is_new) list[n++] = in;
        }
        w->work += way->n_in + 1;
    }
    return cost;
}

/* What is made from the value costs more now, or less. */
static void tell_readers(walk *w, ebb_id value) {
    const ebb_space *space = w->space;
    const ebb_space_value *v = &space->values[value];
    for (uint32_t k = 0; k + 1 < v->n_gaps; k++) {
        const ebb_space_op *op = &space->ops[space->genes[v->first_gap + k].end];
        for (uint32_t i = 0; i < op->n_out; i++) {
            ebb_id out = space->outs[op->first_out + i];
            if (space->values[out].first_gap != EBB_NONE && w->here[out]) w->cost[out] = cost_of(w, out);
        }
    }
}

static void arrive(walk *w, ebb_id value) {
    w->here[value] = true;
    w->cost[value] = cost_of(w, value);
    w->at[value] = w->n_resident;
    w->resident[w->n_resident++] = value;
}

static void leave(walk *w, ebb_id value) {
    uint32_t last = w->resident[--w->n_resident];
    w->here[value] = false;
    w->resident[w->at[value]] = last;
    w->at[last] = w->at[value];
}

static void touch(walk *w, ebb_id value, uint32_t position) {
    w->used_ns[value] = w->clock_ns;
    w->locked[value] = position + 1;
}

/* Makes a value again, and first what is missing for it; the path is no longer than there are values. */
static void make_again(walk *w, ebb_id value) {
    const ebb_space *space = w->space;
    uint32_t n = 0;
    w->missing[n++] = value;
    w->next_in[value] = 0;
    while (n > 0) {
        ebb_id top = w->missing[n - 1];
        const ebb_space_way *way = way_of(space, space->values[top].producer);
        ebb_id in = EBB_NONE;
        while (w->next_in[top] < way->n_in && !is_missing(w, in))
            in = subject_of(space, space->ins[way->first_in + w->next_in[top]++]);
        w->work++;
        if (is_missing(w, in)) {
            w->next_in[in] = 0;
            w->missing[n++] = in;
            continue;
        }
        for (uint32_t k = 0; k < way->n_in; k++) {
            ebb_id read = subject_of(space, space->ins[way->first_in + k]);
            if (read != EBB_NONE) w->used_ns[read] = w->clock_ns;
        }
        w->clock_ns += (double)way->time_ns;
        w->used_ns[top] = w->clock_ns;
        w->away_bytes -= space->values[top].bytes;
        arrive(w, top);
        if (w->gap[top] + 1 == space->values[top].n_gaps) w->extras[w->n_extras++] = top;
        tell_readers(w, top);
        n--;
    }
}

/* The first time in a gap it is dropped at the gap's start; the second time it must go after each use. */
static void drop(walk *w, ebb_id value) {
    uint8_t *gene = &w->genes[w->space->values[value].first_gap + w->gap[value]];
    *gene = *gene == EBB_KEEP ? EBB_HOLD : EBB_RELEASE;
    leave(w, value);
    w->away_bytes += w->space->values[value].bytes;
    tell_readers(w, value);
}

static void drop_until_it_fits(walk *w, uint32_t position) {
    const ebb_space *space = w->space;
    while (w->base_live[position] - w->away_bytes > w->limit_bytes && w->work < WORK_LIMIT) {
        ebb_id best = EBB_NONE;
        double least = 0;
        for (uint32_t k = 0; k < w->n_resident; k++) {
            ebb_id value = w->resident[k];
            const ebb_space_value *v = &space->values[value];
            if (w->locked[value] == position + 1 ||
                space->genes[v->first_gap + w->gap[value]].n_states == 1)
                continue;
            double h = w->cost[value] / ((double)v->bytes * (w->clock_ns - w->used_ns[value] + 1));
            if (best == EBB_NONE || h < least || (h == least && value < best)) least = h, best = value;
        }
        w->work += w->n_resident + 1;
        if (best == EBB_NONE) return;
        drop(w, best);
    }
}

static void drop_extras(walk *w) {
    while (w->n_extras > 0) {
        ebb_id value = w->extras[--w->n_extras];
        if (!w->here[value]) continue;
        leave(w, value);
        w->away_bytes += w->space->values[value].bytes;
    }
}

/* Values whose gap ends here are in the next one; after the last reader, the base has no use for them. */
static void pass_readers(walk *w, const ebb_space_op *op) {
    const ebb_space *space = w->space;
    for (uint32_t k = 0; k < op->n_touched; k++) {
        ebb_id value = space->touched[op->first_touched + k];
        const ebb_space_value *v = &space->values[value];
        if (++w->gap[value] + 1 < v->n_gaps) continue;
        uint32_t tail = v->first_gap + v->n_gaps - 1;
        if (space->genes[tail].n_states > 1) w->genes[tail] = w->tail_state;
        if (w->here[value])
            leave(w, value);
        else if (w->genes[tail - 1] != EBB_KEEP) /* dropped, not left out with an optional op */
            w->away_bytes -= v->bytes;
    }
}

static void run_op(walk *w, uint32_t position) {
    const ebb_space *space = w->space;
    const ebb_space_op *op = &space->ops[position];
    const ebb_space_way *way = way_of(space, position);
    for (uint32_t k = 0; k < way->n_in; k++) {
        ebb_id in = subject_of(space, space->ins[way->first_in + k]);
        if (is_missing(w, in)) make_again(w, in);
        if (in != EBB_NONE) touch(w, in, position);
    }
    w->clock_ns += (double)way->time_ns;
    for (uint32_t k = 0; k < op->n_out; k++) {
        ebb_id out = space->outs[op->first_out + k];
        if (space->values[out].first_gap == EBB_NONE) continue;
        arrive(w, out);
        touch(w, out, position);
    }
    drop_extras(w);
    drop_until_it_fits(w, position);
}

static bool walk_all(walk *w, int64_t limit_bytes, uint8_t tail_state) {
    const ebb_space *space = w->space;
    memcpy(w->genes, space->base_genes, space->n_genes);
    memset(w->gap, 0, space->n_values * sizeof *w->gap);
    memset(w->here, 0, space->n_values * sizeof *w->here);
    memset(w->locked, 0, space->n_values * sizeof *w->locked);
    w->n_resident = w->n_extras = 0;
    w->clock_ns = 0;
    w->away_bytes = 0;
    w->limit_bytes = limit_bytes;
    w->tail_state = tail_state;
    for (uint32_t i = 0; i < space->n_ops && w->work < WORK_LIMIT; i++) {
        const ebb_space_op *op = &space->ops[i];
        bool runs = op->lazy_gene == EBB_NONE || space->base_genes[op->lazy_gene] == 0;
        if (runs) run_op(w, i);
        pass_readers(w, op);
    }
    return w->work < WORK_LIMIT;
}

static int64_t *live_by_position(ebb_search *s, ebb_arena *arena, int64_t *peak_bytes) {
    ebb_score base = ebb_score_genes(s->scorers[0], s->space->base_genes, 0);
    const uint32_t *positions = ebb_scorer_positions(s->scorers[0]);
    int64_t *live = EBB_NEW(arena, int64_t, s->space->n_ops);
    if (!live) return NULL;
    memset(live, 0, s->space->n_ops * sizeof *live);
    for (uint32_t k = 0; base.valid && k < base.n_steps; k++)
        live[positions[k]] = ebb_max_i64(live[positions[k]], ebb_scorer_live(s->scorers[0])[k]);
    *peak_bytes = base.valid ? base.peak_bytes : 0;
    return live;
}

static bool offer_walk(ebb_search *s, walk *w, int64_t limit_bytes, uint8_t tail, bool *fits) {
    if (ebb_search_may_end(s) || !walk_all(w, limit_bytes, tail)) return false;
    *fits = ebb_search_offer_genes(s, w->genes).excess_bytes == 0;
    return true;
}

/* Limits over the whole range, for a tighter one may need more; then, by bisection, the largest that fits
 * between the largest of them that did and the next. */
static void sweep_limits(ebb_search *s, walk *w, int64_t peak_bytes, uint8_t tail) {
    int64_t low = 0, step = peak_bytes / SWEEPS;
    bool fits;
    for (int64_t k = SWEEPS - 1; k > 0; k--) { /* the cheap walks first */
        if (!offer_walk(s, w, step * k, tail, &fits)) return;
        if (fits && low == 0) low = step * k;
    }
    for (int64_t high = low + step; low > 0 && high - low > step / BISECTED + 1;) {
        int64_t limit = low + (high - low) / 2;
        if (!offer_walk(s, w, limit, tail, &fits)) return;
        if (fits)
            low = limit;
        else
            high = limit;
    }
}

ebb_status ebb_seed_online(ebb_search *s) {
    ebb_arena arena;
    walk w;
    int64_t peak_bytes = 0;
    ebb_arena_init(&arena, s->env);
    const int64_t *live = live_by_position(s, &arena, &peak_bytes);
    bool ok = live && open_walk(&w, &arena, s->space, live);
    for (int tail = EBB_HOLD; ok && tail <= EBB_RELEASE; tail++)
        sweep_limits(s, &w, peak_bytes, (uint8_t)tail);
    ebb_arena_deinit(&arena);
    return ok ? EBB_OK : EBB_NO_MEMORY;
}
