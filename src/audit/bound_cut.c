/* One cut of a certificate: a moment when an op runs, a price for memory then, and a flow. Checks
 * that the flow is carried by what must be in memory at the moment or must run again after it. O(edges +
 * flow). */
#include "audit/bound.h"

enum { ANY_TIME, BEFORE, AFTER }; /* when an op's runs are, to the moment */

static ebb_status refuse(const ebb_bound_check *c, ebb_id op, const char *why) {
    return ebb_fail(c->a->env, EBB_VIOLATION, "the certificate's cut at " AUDIT_OP ": %s",
                    AUDIT_OP_ARGS(c->a, op), why);
}

static ebb_status too_large(const ebb_bound_check *c, ebb_id op) {
    return refuse(c, op, "its sums do not fit in 63 bits");
}

/* ---- ways of an op ----------------------------------------------------------------------------- */

/* The next way that reads something of its own; n_alternatives when there is none. Start with EBB_NONE. */
static uint32_t next_way(const ebb_pop *op, uint32_t k) {
    for (k++; k < op->n_alternatives && !op->alternatives[k].has_inputs;) k++;
    return k;
}

void ebb_bound_mark_makers(ebb_bound_check *c, ebb_id id, uint8_t *mark, uint8_t value) {
    const ebb_pgraph *graph = c->a->graph;
    const ebb_pop *op = &graph->ops[id];
    uint32_t n_ways = 0, k = EBB_NONE;
    do {
        ebb_pop_way way = ebb_pop_under(op, k);
        for (uint32_t i = 0; i < way.n_in; i++) {
            ebb_id maker = graph->values[way.in[i]].producer;
            if (maker != EBB_NONE && c->n_ways_made[maker] == n_ways) c->n_ways_made[maker]++;
        }
        n_ways++;
        k = next_way(op, k);
    } while (k < op->n_alternatives);
    for (uint32_t i = 0; i < op->n_in; i++) {
        ebb_id maker = graph->values[op->in[i]].producer;
        if (maker == EBB_NONE) continue;
        if (c->n_ways_made[maker] == n_ways) mark[maker] = value;
        c->n_ways_made[maker] = 0;
    }
    for (uint32_t k2 = 0; k2 < op->n_after; k2++) mark[op->after[k2]] = value;
}

/* All of the piece lies in v's bytes; it is one of v's storage. */
static bool within(const ebb_bound_check *c, ebb_id v, uint32_t piece) {
    return c->pieces[piece].start >= c->offset[v] &&
           c->pieces[piece].end <= c->offset[v] + c->a->graph->values[v].bytes;
}

/* Counts, per piece, the ways under which op reads all of it, as long as those are all so far; returns how
 * many ways there are. clear: puts the counts back to 0. */
static uint32_t count_reads(ebb_bound_check *c, ebb_id id, bool clear) {
    const ebb_pop *op = &c->a->graph->ops[id];
    uint32_t n_ways = 0, k = EBB_NONE;
    do {
        ebb_pop_way way = ebb_pop_under(op, k);
        for (uint32_t i = 0; i < way.n_in; i++) {
            ebb_id v = way.in[i], root = c->root[v];
            for (uint32_t p = c->first_piece[root]; p < c->first_piece[root + 1]; p++)
                if (clear)
                    c->n_ways_seen[p] = 0;
                else if (c->n_ways_seen[p] == n_ways && within(c, v, p))
                    c->n_ways_seen[p]++;
        }
        n_ways++;
        k = next_way(op, k);
    } while (k < op->n_alternatives);
    return n_ways;
}

/* ---- who runs when --------------------------------------------------------------------------------- */

static bool from_now_on(const ebb_bound_check *c, ebb_id op) {
    return op != EBB_NONE && (op == c->next || c->when[op] == AFTER);
}

static bool waits(const ebb_bound_check *c, const ebb_pop *op) {
    for (uint32_t k = 0; k < op->n_after; k++)
        if (from_now_on(c, op->after[k])) return true;
    uint32_t k = EBB_NONE;
    do {
        ebb_pop_way way = ebb_pop_under(op, k);
        bool found = false;
        for (uint32_t i = 0; i < way.n_in && !found; i++)
            found = from_now_on(c, c->a->graph->values[way.in[i]].producer);
        if (!found) return false;
        k = next_way(op, k);
    } while (k < op->n_alternatives);
    return true;
}

/* What any run of the cut's op needs has run before, and so has `since` with what its first run needs. */
static void tell_before(ebb_bound_check *c, const ebb_bound_cut *cut) {
    const ebb_pgraph *graph = c->a->graph;
    bool ordered = false; /* an ordered op that stands later has run before or runs now */
    memset(c->when, ANY_TIME, graph->n_ops);
    for (ebb_id p = graph->n_ops; p-- > 0;) {
        const ebb_pop *op = &graph->ops[p];
        if (p == cut->since || (ordered && op->ordered && c->must[p])) c->when[p] = BEFORE;
        if (p != cut->op && c->when[p] != BEFORE) continue;
        ordered = ordered || op->ordered;
        ebb_bound_mark_makers(c, p, c->when, BEFORE);
    }
}

static void tell_times(ebb_bound_check *c, const ebb_bound_cut *cut) {
    const ebb_pgraph *graph = c->a->graph;
    tell_before(c, cut);
    c->next = cut->since == EBB_NONE ? cut->op : cut->until;
    bool ordered = graph->ops[c->next].ordered; /* an ordered op that must run has not done so before */
    for (ebb_id p = c->next + 1; p < graph->n_ops; p++) {
        const ebb_pop *op = &graph->ops[p];
        if ((ordered && op->ordered) || waits(c, op)) c->when[p] = AFTER;
        ordered = ordered || (op->ordered && c->must[p] && c->when[p] == AFTER);
    }
}

/* ---- what is in memory ----------------------------------------------------------------------------- */

static int64_t units(const ebb_bound_check *c, int64_t bytes) {
    int64_t alignment = c->a->plan->alignment;
    return bytes / alignment + (bytes % alignment > 0);
}

/* What op writes besides its inputs' bytes, and its scratch. */
static int64_t written(const ebb_bound_check *c, const ebb_pop *op, ebb_pop_way way) {
    const ebb_pvalue *values = c->a->graph->values;
    int64_t sum = units(c, way.scratch_bytes);
    for (uint32_t j = 0; j < op->n_out; j++) {
        ebb_id out = op->out[j];
        int64_t own = units(c, values[out].bytes), shared = 0;
        if (c->a->persistent[out] || c->a->view_in[out] != EBB_NONE) continue;
        for (uint32_t k = 0; k < way.n_in_place; k++)
            if (way.in_place[k].out == j)
                shared = ebb_max_i64(shared, units(c, values[way.in[way.in_place[k].in]].bytes));
        if (own > shared) sum += own - shared; /* no more than the graph's sum of sizes */
    }
    return sum;
}

/* Marks the pieces that the cut's op reads; gives the units that are held at the moment whatever is kept.
 */
static int64_t hold(ebb_bound_check *c, const ebb_bound_cut *cut) {
    const ebb_pop *op = &c->a->graph->ops[cut->op];
    int64_t sum = written(c, op, ebb_pop_under(op, EBB_NONE));
    for (uint32_t k = 0; k < op->n_alternatives; k++)
        sum = ebb_min_i64(sum, written(c, op, ebb_pop_under(op, k)));
    uint32_t n_ways = count_reads(c, cut->op, false);
    for (uint32_t p = 0; p < c->n_pieces; p++) {
        c->held[p] = c->n_ways_seen[p] == n_ways || p == cut->kept;
        if (c->held[p]) sum += c->pieces[p].n_units;
    }
    (void)count_reads(c, cut->op, true);
    return sum;
}

/* The piece was made before the moment, and its reader reads all of it after. That its op does not run
 * meanwhile is for the cases to say. */
static bool may_be_kept(ebb_bound_check *c, const ebb_bound_cut *cut) {
    ebb_id maker = c->a->graph->values[c->pieces[cut->kept].value].producer;
    if (maker == EBB_NONE || c->when[maker] != BEFORE) return false;
    if (!c->must[cut->reader] || c->when[cut->reader] != AFTER) return false;
    uint32_t n_ways = count_reads(c, cut->reader, false);
    bool reads = c->n_ways_seen[cut->kept] == n_ways;
    (void)count_reads(c, cut->reader, true);
    return reads;
}

/* ---- the flow ---------------------------------------------------------------------------------- */

static bool add(int64_t *sum, int64_t amount) {
    return ebb_add_i64(*sum, amount, sum);
}

/* The entries of one reader. from_source: what is asked for by steps that come from now on for certain. */
static ebb_status take_reader(ebb_bound_check *c, ebb_id cut, const ebb_bound_flow *flow, size_t n,
                              int64_t *from_source) {
    ebb_id reader = flow[0].reader;
    bool end = reader == c->a->graph->n_ops, reads = true, fits = true;
    bool certain = end || (from_now_on(c, reader) && c->must[reader]);
    uint32_t n_ways = end ? 0 : count_reads(c, reader, false);
    for (size_t k = 0; k < n; k++) {
        uint32_t p = flow[k].piece;
        reads = reads && (end ? c->lasts[p] : c->n_ways_seen[p] == n_ways);
        fits = fits && add(&c->asked[p], flow[k].amount) &&
               add(certain ? from_source : &c->passed[reader], flow[k].amount);
    }
    if (!end) (void)count_reads(c, reader, true);
    if (!reads) return refuse(c, cut, "its flow asks for a piece that the reader does not read");
    return fits ? EBB_OK : too_large(c, cut);
}

static ebb_status take_flow(ebb_bound_check *c, ebb_id cut, const ebb_bound_flow *flow, size_t n,
                            int64_t *from_source) {
    memset(c->asked, 0, c->n_pieces * sizeof *c->asked);
    memset(c->carried, 0, c->a->graph->n_ops * sizeof *c->carried);
    memset(c->passed, 0, c->a->graph->n_ops * sizeof *c->passed);
    for (size_t first = 0, end = 0; first < n; first = end) {
        while (end < n && flow[end].reader == flow[first].reader) end++;
        if (end < n && flow[end].reader < flow[first].reader)
            return refuse(c, cut, "its flow is not in the order of the readers");
        ebb_status status = take_reader(c, cut, flow + first, end - first, from_source);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

/* A piece carries what keeping it costs at most; beyond that, only what is not there yet. */
static ebb_status check_piece(ebb_bound_check *c, const ebb_bound_cut *at, uint32_t p) {
    ebb_id cut = at->op;
    ebb_id maker = c->a->graph->values[c->pieces[p].value].producer;
    bool now = from_now_on(c, maker);
    int64_t keeping = 0;
    if (c->asked[p] == 0) return EBB_OK;
    if (c->held[p] || maker == cut || (now && c->must[maker]))
        return refuse(c, cut, "its flow asks for a piece that is there in any case");
    if (!ebb_mul_i64(at->price, c->pieces[p].n_units, &keeping)) return too_large(c, cut);
    if (!now && c->asked[p] > keeping)
        return refuse(c, cut, "its flow asks more of a piece than keeping it costs");
    if (maker == EBB_NONE || (c->when[maker] == BEFORE && !ebb_pop_repeatable(&c->a->graph->ops[maker])))
        return EBB_OK; /* it can only be kept */
    return add(&c->carried[maker], c->asked[p]) ? EBB_OK : too_large(c, cut);
}

/* What an op carries beyond what it passes on is charged to its running again. */
static ebb_status charge(ebb_bound_check *c, ebb_id cut) {
    for (ebb_id op = 0; op < c->a->graph->n_ops; op++) {
        int64_t more = c->carried[op] - c->passed[op];
        if (c->carried[op] == 0 || more <= 0) continue;
        if (c->when[op] == ANY_TIME && c->must[op])
            return refuse(c, cut, "its flow charges an op whose first run may come after the cut");
        if (!add(&c->charged[op], more)) return too_large(c, cut);
    }
    return EBB_OK;
}

/* The moment is one that every schedule has, or every one that the case is about. */
static ebb_status check_moment(ebb_bound_check *c, const ebb_bound_cut *cut) {
    if (cut->since == EBB_NONE && !c->must[cut->op]) return refuse(c, cut->op, "the op may never run");
    if (cut->since != EBB_NONE && (!c->must[cut->since] || !c->must[cut->until]))
        return refuse(c, cut->op, "an op that bounds its case may never run");
    if (cut->since == cut->op || cut->until == cut->op)
        return refuse(c, cut->op, "its case is bounded by the op itself");
    tell_times(c, cut);
    if (cut->kept != EBB_NONE && !may_be_kept(c, cut))
        return refuse(c, cut->op, "what it keeps is not made before and read after");
    return EBB_OK;
}

ebb_status ebb_bound_check_cut(ebb_bound_check *c, const ebb_bound_cut *cut, bool *extra) {
    ebb_id op = cut->op;
    ebb_status status = check_moment(c, cut);
    if (status != EBB_OK) return status;
    *extra = cut->since != EBB_NONE && (c->when[op] == BEFORE || !c->must[op]);
    int64_t room = c->budget_units - hold(c, cut), paid = 0, from_source = 0;
    status = take_flow(c, op, cut->flow, cut->n_flow, &from_source);
    for (uint32_t p = 0; status == EBB_OK && p < c->n_pieces; p++) status = check_piece(c, cut, p);
    if (status == EBB_OK) status = charge(c, op);
    if (status != EBB_OK) return status;
    if (!ebb_mul_i64(cut->price, room < 0 ? -room : room, &paid)) return too_large(c, op);
    if (room < 0) return add(&c->proved, from_source) && add(&c->proved, paid) ? EBB_OK : too_large(c, op);
    int64_t more = ebb_max_i64(0, from_source - paid); /* a cut that proves nothing takes nothing away */
    return add(&c->proved, more) ? EBB_OK : too_large(c, op);
}
