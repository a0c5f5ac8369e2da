/* Dynamic programming over a chain of blocks (Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal
 * checkpointing for heterogeneous chains", 2019), with several options a block (Zhao et al., "Rockmate",
 * 2023), within what genes can say: a gap has one state, so a value is a checkpoint of the first run
 * (KEEP), of the second (HOLD), or of none (RELEASE). So there are three levels, not any number of them:
 *
 *     kept[s][m]     blocks s.. to the end: block s by an option, or s..t as a section of which only the x
 *                    at both ends stay
 *     held[t][s][m]  blocks s..t of a section that runs for the second time: block s by an option whose
 *                    kept values are held, or s..e released
 *     released[s][e] blocks s..e run again from x of s each time when something of them is read
 */
#include "sublinear/chain/chain.h"

#define SLOTS EBB_CHAIN_SLOTS
#define NEVER 1e300

typedef struct run { /* blocks s..e, released */
    double time_ns;  /* added after their second run */
    int64_t need_bytes;
} run;

struct ebb_chain_solver {
    const ebb_chain *chain;
    double unit_bytes;
    run *runs;    /* [pair_of(s, e)] */
    double *held; /* [pair_of(s, t)][SLOTS + 1] */
    double *kept; /* [n_blocks + 1][SLOTS + 1] */
    double *zero; /* [SLOTS + 1] */
};

/* One way to begin blocks s.., and what is left to do after it. */
typedef struct choice {
    double time_ns;
    uint32_t need, take;            /* slots: needed for it, and gone for what follows */
    uint32_t next;                  /* block that follows */
    const double *rest;             /* [SLOTS + 1] of what follows */
    const double *first;            /* [SLOTS + 1] more time, by slots; or NULL */
    const ebb_chain_option *option; /* of block s; or NULL: all blocks before next are a section */
} choice;

static size_t pair_of(uint32_t first, uint32_t last) {
    return (size_t)last * (last + 1) / 2 + first;
}

/* To the nearest: what is over or under evens out, and the exact score has the last word. */
static uint32_t slots_of(const ebb_chain_solver *s, int64_t bytes) {
    double slots = (double)bytes / s->unit_bytes + 0.5;
    return slots < 0 ? 0 : slots > SLOTS ? SLOTS + 1 : (uint32_t)slots;
}

static int64_t in_bytes(const ebb_chain *c, uint32_t block) {
    return block < c->n_blocks ? c->blocks[block].in_bytes : 0;
}

/* What blocks first..last hold even if all is released that can be; not their x. */
static int64_t stuck_bytes(const ebb_chain *c, uint32_t first, uint32_t last) {
    int64_t sum = 0;
    for (uint32_t j = first; j <= last; j++)
        if (c->blocks[j].may_release) sum += c->blocks[j].released.held_bytes - in_bytes(c, j + 1);
    return sum;
}

/* Of block j in a run from x of the first block that leaves nothing; without that x. */
static int64_t forward_bytes(const ebb_chain *c, uint32_t first, uint32_t j) {
    return j == first ? c->blocks[j].released.forward_bytes : c->blocks[j].swept_bytes;
}

static run run_of(const ebb_chain *c, uint32_t first, uint32_t last) {
    run sum = {0};
    double from_first_ns = 0;
    int64_t forward = 0, stuck = 0;
    for (uint32_t j = first; j <= last; j++) {
        const ebb_chain_block *b = &c->blocks[j];
        int64_t own = stuck + (j > first ? b->in_bytes : 0);
        if (!b->may_release) return (run){NEVER, 0};
        int64_t bytes = ebb_max_i64(b->released.late_bytes + own, forward + b->gradient_bytes);
        bytes = ebb_max_i64(bytes, b->released.early_bytes + stuck);
        sum.need_bytes = ebb_max_i64(sum.need_bytes, bytes);
        sum.time_ns += (double)b->released.time_ns + b->released.n_rounds * from_first_ns;
        from_first_ns += (double)b->again_ns;
        forward = ebb_max_i64(forward, stuck + forward_bytes(c, first, j));
        stuck += stuck_bytes(c, j, j);
    }
    return sum;
}

/* ---- a section's second run ------------------------------------------------------------------------- */

/* The k-th way to begin blocks first..last; false: there are fewer. */
static bool held_choice(const ebb_chain_solver *s, uint32_t first, uint32_t last, uint32_t k, choice *out) {
    const ebb_chain *c = s->chain;
    const ebb_chain_block *b = &c->blocks[first];
    ebb_chain_kind kind = first == last ? EBB_CHAIN_AGAIN : EBB_CHAIN_HELD;
    if (k < b->n_options[kind]) {
        const ebb_chain_option *o = &b->options[kind][k];
        /* Of the last block, all that is before its x is read is before the second run. */
        int64_t need = o->is.late_bytes;
        if (first < last) {
            int64_t more = c->blocks[last].gradient_bytes + stuck_bytes(c, first + 1, last);
            need = ebb_max_i64(o->is.forward_bytes + more, ebb_max_i64(need, o->is.early_bytes));
        }
        *out = (choice){.time_ns = (double)o->is.time_ns + (first < last ? (double)o->again_ns : 0),
                        .need = slots_of(s, need),
                        .take = first < last ? slots_of(s, o->is.held_bytes) : 0,
                        .next = first + 1,
                        .rest = first < last ? s->held + pair_of(first + 1, last) * (SLOTS + 1) : s->zero,
                        .option = o};
        return true;
    }
    uint32_t end = first + 1 + (k - b->n_options[kind]);
    if (end > last) return false;
    const run *r = &s->runs[pair_of(first, end)];
    *out = (choice){
        .time_ns = r->time_ns, .need = slots_of(s, r->need_bytes), .next = end + 1, .rest = s->zero};
    if (end == last) return true;
    for (uint32_t j = first; j <= end; j++) out->time_ns += (double)c->blocks[j].again_ns;
    out->take = slots_of(s, in_bytes(c, end + 1) + stuck_bytes(c, first, end));
    out->rest = s->held + pair_of(end + 1, last) * (SLOTS + 1);
    return true;
}

/* ---- the first run ---------------------------------------------------------------------------------- */

static bool kept_choice(const ebb_chain_solver *s, uint32_t first, uint32_t k, choice *out) {
    const ebb_chain *c = s->chain;
    const ebb_chain_block *b = &c->blocks[first];
    for (int kind = 0; kind < EBB_CHAIN_KINDS; k -= b->n_options[kind], kind++) {
        if (k >= b->n_options[kind]) continue;
        const ebb_chain_option *o = &b->options[kind][k];
        *out = (choice){.time_ns = (double)o->is.time_ns,
                        .need = slots_of(s, ebb_chain_most_bytes(&o->is)),
                        .take = slots_of(s, o->is.held_bytes),
                        .next = first + 1,
                        .rest = s->kept + (size_t)(first + 1) * (SLOTS + 1),
                        .option = o};
        return true;
    }
    uint32_t last = first + 1 + k;
    if (last >= c->n_blocks) return false;
    int64_t need = 0, stuck = 0;
    for (uint32_t j = first; j <= last; j++) {
        need = ebb_max_i64(need, stuck + forward_bytes(c, first, j));
        if (j == last) need = ebb_max_i64(need, stuck + c->blocks[j].released.early_bytes);
        stuck += stuck_bytes(c, j, j);
    }
    *out = (choice){.need = slots_of(s, need),
                    .take = slots_of(s, in_bytes(c, last + 1) + stuck),
                    .next = last + 1,
                    .rest = s->kept + (size_t)(last + 1) * (SLOTS + 1),
                    .first = s->held + pair_of(first, last) * (SLOTS + 1)};
    return true;
}

/* ---- both ------------------------------------------------------------------------------------------- */

static uint32_t least_slots(const choice *x) {
    return x->need > x->take ? x->need : x->take;
}

static double time_at(const choice *x, uint32_t m) {
    return x->time_ns + x->rest[m - x->take] + (x->first ? x->first[m] : 0);
}

static void take_choice(const choice *x, double *best) {
    for (uint32_t m = least_slots(x); m <= SLOTS; m++) {
        double time_ns = time_at(x, m);
        if (time_ns < best[m]) best[m] = time_ns;
    }
}

/* No choice was found yet. */
static double *no_choice(double *best) {
    for (uint32_t m = 0; m <= SLOTS; m++) best[m] = NEVER;
    return best;
}

static void fill(ebb_chain_solver *s, ebb_search *search) {
    uint32_t n = s->chain->n_blocks;
    choice x;
    for (uint32_t m = 0; m <= SLOTS; m++) s->zero[m] = s->kept[(size_t)n * (SLOTS + 1) + m] = 0;
    no_choice(s->kept);
    for (uint32_t last = 0; last < n; last++)
        for (uint32_t first = 0; first <= last; first++)
            s->runs[pair_of(first, last)] = run_of(s->chain, first, last);
    for (uint32_t last = 0; last < n; last++)
        for (uint32_t first = last + 1; first-- > 0;) {
            double *best = no_choice(s->held + pair_of(first, last) * (SLOTS + 1));
            if (ebb_search_may_end(search)) return;
            for (uint32_t k = 0; held_choice(s, first, last, k, &x); k++) take_choice(&x, best);
        }
    for (uint32_t first = n; first-- > 0;) {
        double *best = no_choice(s->kept + (size_t)first * (SLOTS + 1));
        if (ebb_search_may_end(search)) return;
        for (uint32_t k = 0; kept_choice(s, first, k, &x); k++) take_choice(&x, best);
    }
}

ebb_chain_solver *ebb_chain_solve(ebb_arena *arena, ebb_search *search, const ebb_chain *chain,
                                  int64_t most_bytes) {
    size_t n = chain->n_blocks, pairs = n * (n + 1) / 2;
    ebb_chain_solver *s = EBB_NEW(arena, ebb_chain_solver, 1);
    if (!s) return NULL;
    *s = (ebb_chain_solver){.chain = chain, .unit_bytes = (double)ebb_max_i64(most_bytes, 1) / SLOTS};
    s->runs = EBB_NEW(arena, run, pairs);
    s->held = EBB_NEW(arena, double, pairs *(SLOTS + 1));
    s->kept = EBB_NEW(arena, double, (n + 1) * (SLOTS + 1));
    s->zero = EBB_NEW(arena, double, SLOTS + 1);
    if (!s->runs || !s->held || !s->kept || !s->zero) return NULL;
    fill(s, search);
    return s;
}

double ebb_chain_added_ns(const ebb_chain_solver *s, uint32_t slots) {
    return s->kept[slots] < NEVER ? s->kept[slots] : -1;
}

/* ---- the genes of an answer ------------------------------------------------------------------------- */

static void set_x(const ebb_chain *c, uint32_t block, uint8_t state, uint8_t *genes) {
    if (block < c->n_blocks) ebb_chain_set(c, c->blocks[block].in, state, genes);
}

/* The best of choices at so many slots: what take_choice has found. */
static bool better(const choice *x, uint32_t m, double *best) {
    if (least_slots(x) > m || time_at(x, m) >= *best) return false;
    *best = time_at(x, m);
    return true;
}

static void write_held(const ebb_chain_solver *s, uint32_t first, uint32_t last, uint32_t m,
                       uint8_t *genes) {
    const ebb_chain *c = s->chain;
    while (first <= last) {
        choice x, at = {.next = last + 1};
        double best = NEVER;
        for (uint32_t k = 0; held_choice(s, first, last, k, &x); k++)
            if (better(&x, m, &best)) at = x;
        for (uint32_t b = first; b < at.next; b++) {
            const ebb_chain_option all = {.kind = EBB_CHAIN_HELD, .n_dropped = c->blocks[b].n_values};
            if (b > first) set_x(c, b, EBB_RELEASE, genes);
            ebb_chain_set_block(c, &c->blocks[b], at.option ? at.option : &all, false, genes);
        }
        if (at.next <= last) set_x(c, at.next, EBB_HOLD, genes);
        first = at.next;
        m -= at.take;
    }
}

void ebb_chain_genes(const ebb_chain_solver *s, uint32_t m, uint8_t *genes) {
    const ebb_chain *c = s->chain;
    memcpy(genes, c->space->base_genes, c->space->n_genes);
    for (uint32_t first = 0; first < c->n_blocks;) {
        choice x, at = {.next = c->n_blocks};
        double best = NEVER;
        for (uint32_t k = 0; kept_choice(s, first, k, &x); k++)
            if (better(&x, m, &best)) at = x;
        if (at.option) /* of kind HELD: what stays does so from the first run on */
            ebb_chain_set_block(c, &c->blocks[first], at.option, true, genes);
        else
            write_held(s, first, at.next - 1, m, genes);
        first = at.next;
        m -= at.take;
    }
}
