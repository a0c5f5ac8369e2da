/* A moment as a network. Takes the facts and the moment; gives what is held and needed
 * then, and the cheapest mix of keeping and running again at a price per unit. O(edges) to look and to lay.
 */
#include "sublinear/bound/bound.h"

ebb_status ebb_cut_init(ebb_cut *cut, ebb_arena *arena, const ebb_cut_facts *f) {
    uint32_t n_ops = f->graph->n_ops, n_nodes = n_ops + f->n_pieces + EBB_FLOW_FIRST;
    uint32_t n_arcs = 2 * f->n_pieces + n_ops + f->first_read[n_ops];
    *cut = (ebb_cut){.facts = f,
                     .op = EBB_NONE,
                     .when = EBB_NEW(arena, uint8_t, n_ops),
                     .read_by = EBB_NEW(arena, uint32_t, f->n_pieces),
                     .held = EBB_NEW(arena, bool, f->n_pieces),
                     .piece_node = EBB_NEW(arena, uint32_t, f->n_pieces),
                     .op_node = EBB_NEW(arena, uint32_t, n_ops),
                     .node_op = EBB_NEW(arena, uint32_t, n_nodes),
                     .node_piece = EBB_NEW(arena, uint32_t, n_nodes),
                     .arc_kind = EBB_NEW(arena, uint8_t, n_arcs),
                     .arc_amount = EBB_NEW(arena, int64_t, n_arcs)};
    return cut->when && cut->read_by && cut->held && cut->piece_node && cut->op_node && cut->node_op &&
                   cut->node_piece && cut->arc_kind && cut->arc_amount &&
                   ebb_flow_reserve(&cut->net, arena, n_nodes, n_arcs)
               ? EBB_OK
               : EBB_NO_MEMORY;
}

/* ---- who runs when ---------------------------------------------------------------------------------- */

static inline bool from_now_on(const ebb_cut *cut, ebb_id op) {
    return op == cut->next || (op != EBB_NONE && cut->when[op] == EBB_AFTER);
}

/* A way that reads nothing that is made from now on could run before. */
static bool every_way_waits(const ebb_cut *cut, const ebb_pop *op) {
    for (uint32_t k = 0; k <= op->n_alternatives; k++) {
        if (k < op->n_alternatives && !op->alternatives[k].has_inputs) continue;
        ebb_pop_way way = ebb_pop_under(op, k < op->n_alternatives ? k : EBB_NONE);
        bool waits = false;
        for (uint32_t i = 0; i < way.n_in && !waits; i++)
            waits = from_now_on(cut, cut->facts->graph->values[way.in[i]].producer);
        if (!waits) return false;
    }
    return true;
}

/* What has run before op does, in whichever run. */
static void mark_before(ebb_cut *cut, ebb_id op) {
    const ebb_cut_facts *f = cut->facts;
    for (uint32_t k = f->first_maker[op]; k < f->first_maker[op + 1]; k++)
        cut->when[f->makers[k]] = EBB_BEFORE;
    if (f->ordered_before[op] != EBB_NONE) cut->when[f->ordered_before[op]] = EBB_BEFORE;
}

static void tell_times(ebb_cut *cut, const ebb_cut_moment *moment) {
    const ebb_cut_facts *f = cut->facts;
    memset(cut->when, EBB_ANY_TIME, f->graph->n_ops);
    mark_before(cut, cut->op);
    if (cut->again) cut->when[moment->since] = EBB_BEFORE;
    for (ebb_id p = f->graph->n_ops; p-- > 0;)
        if (cut->when[p] == EBB_BEFORE) mark_before(cut, p);
    for (ebb_id p = cut->next + 1; p < f->graph->n_ops; p++) {
        const ebb_pop *op = &f->graph->ops[p];
        bool waits = from_now_on(cut, f->ordered_before[p]);
        for (uint32_t k = f->first_maker[p]; k < f->first_maker[p + 1] && !waits; k++)
            waits = from_now_on(cut, f->makers[k]);
        if (waits || (op->n_alternatives > 0 && every_way_waits(cut, op))) cut->when[p] = EBB_AFTER;
    }
}

/* ---- what is in memory ------------------------------------------------------------------------------ */

static int64_t units(const ebb_cut *cut, int64_t bytes) {
    return (bytes + cut->facts->alignment - 1) / cut->facts->alignment;
}

/* Outputs with bytes of their own; those that may lie over an input only as far as they are larger. Looser
 * than the in-place rule (pgraph.h) on purpose: whether an input dies, or another operand shares its
 * storage, depends on the schedule, and a bound must hold for all of them. */
static int64_t written_units(const ebb_cut *cut, const ebb_pop *op, ebb_pop_way way) {
    const ebb_cut_facts *f = cut->facts;
    const ebb_pvalue *values = f->graph->values;
    int64_t sum = 0;
    for (uint32_t j = 0; j < op->n_out; j++) {
        ebb_id out = op->out[j];
        int64_t over = 0, own = units(cut, values[out].bytes);
        if (f->root[out] != out || ebb_role_persistent(values[out].role)) continue;
        for (uint32_t k = 0; k < way.n_in_place; k++)
            if (way.in_place[k].out == j)
                over = ebb_max_i64(over, units(cut, values[way.in[way.in_place[k].in]].bytes));
        sum += ebb_max_i64(0, own - over);
    }
    return sum + units(cut, way.scratch_bytes);
}

static void hold(ebb_cut *cut, uint32_t kept) {
    const ebb_cut_facts *f = cut->facts;
    const ebb_pop *op = &f->graph->ops[cut->op];
    memset(cut->held, 0, f->n_pieces * sizeof *cut->held);
    cut->held_units = written_units(cut, op, ebb_pop_under(op, EBB_NONE));
    for (uint32_t k = 0; k < op->n_alternatives; k++)
        cut->held_units = ebb_min_i64(cut->held_units, written_units(cut, op, ebb_pop_under(op, k)));
    for (uint32_t k = f->first_read[cut->op]; k < f->first_read[cut->op + 1]; k++) {
        cut->held[f->reads[k]] = true;
        cut->held_units += f->pieces[f->reads[k]].n_units;
    }
    if (kept == EBB_NONE || cut->held[kept]) return;
    cut->held[kept] = true;
    cut->held_units += f->pieces[kept].n_units;
}

static ebb_id producer_of(const ebb_cut *cut, uint32_t piece) {
    return cut->facts->graph->values[cut->facts->pieces[piece].value].producer;
}

/* Reading it asks for nothing: it is held anyway, made at the moment, or made from now on anyway. */
static bool is_free(const ebb_cut *cut, uint32_t piece) {
    ebb_id producer = producer_of(cut, piece);
    return cut->held[piece] || (cut->again && producer == cut->op) ||
           (from_now_on(cut, producer) && cut->facts->must[producer]);
}

/* Made before the moment, or given, for good. */
static bool can_only_be_kept(const ebb_cut *cut, ebb_id producer) {
    return producer == EBB_NONE ||
           (cut->when[producer] == EBB_BEFORE && !ebb_pop_repeatable(&cut->facts->graph->ops[producer]));
}

static void need(ebb_cut *cut, const uint32_t *pieces, uint32_t n, uint32_t reader) {
    for (uint32_t k = 0; k < n; k++) {
        if (cut->read_by[pieces[k]] != EBB_NONE || is_free(cut, pieces[k])) continue;
        cut->read_by[pieces[k]] = reader;
        int64_t n_units = cut->facts->pieces[pieces[k]].n_units;
        cut->need_units += n_units;
        if (can_only_be_kept(cut, producer_of(cut, pieces[k]))) cut->kept_units += n_units;
    }
}

void ebb_cut_look_at(ebb_cut *cut, const ebb_cut_moment *moment) {
    const ebb_cut_facts *f = cut->facts;
    cut->op = moment->op;
    cut->again = moment->since != EBB_NONE;
    cut->next = cut->again ? moment->until : cut->op;
    tell_times(cut, moment);
    hold(cut, moment->kept);
    cut->need_units = cut->kept_units = 0;
    memset(cut->read_by, 0xFF, f->n_pieces * sizeof *cut->read_by);
    for (ebb_id p = cut->next; p < f->graph->n_ops; p++)
        if (from_now_on(cut, p) && f->must[p])
            need(cut, f->reads + f->first_read[p], f->first_read[p + 1] - f->first_read[p], p);
    need(cut, f->lasting, f->n_lasting, f->graph->n_ops);
}

void ebb_cut_look(ebb_cut *cut, ebb_id op) {
    ebb_cut_look_at(cut, &(ebb_cut_moment){op, EBB_NONE, EBB_NONE, EBB_NONE});
}

/* ---- the network ------------------------------------------------------------------------------------- */

static void add_arc(ebb_cut *cut, uint32_t from, uint32_t to, ebb_arc_kind kind, int64_t amount) {
    uint32_t a = cut->net.n_arcs++;
    cut->net.from[a] = from;
    cut->net.to[a] = to;
    cut->arc_kind[a] = (uint8_t)kind;
    cut->arc_amount[a] = amount;
}

static uint32_t node_of_piece(ebb_cut *cut, uint32_t piece) {
    if (cut->piece_node[piece] == EBB_NONE) {
        uint32_t v = cut->piece_node[piece] = cut->net.n_nodes++;
        cut->node_piece[v] = piece;
        cut->node_op[v] = EBB_NONE;
    }
    return cut->piece_node[piece];
}

static uint32_t node_of_op(ebb_cut *cut, ebb_id op) {
    if (cut->op_node[op] == EBB_NONE) {
        uint32_t v = cut->op_node[op] = cut->net.n_nodes++;
        cut->node_piece[v] = EBB_NONE;
        cut->node_op[v] = op;
    }
    return cut->op_node[op];
}

static void leave_piece(ebb_cut *cut, uint32_t node) {
    uint32_t piece = cut->node_piece[node];
    ebb_id op = producer_of(cut, piece);
    int64_t n_units = cut->facts->pieces[piece].n_units;
    if (can_only_be_kept(cut, op))
        add_arc(cut, node, EBB_FLOW_SINK, EBB_ARC_KEEP, n_units);
    else if (cut->when[op] == EBB_AFTER) /* an optional op's: not there yet, so it cannot be kept */
        add_arc(cut, node, node_of_op(cut, op), EBB_ARC_READ, 0);
    else
        add_arc(cut, node, node_of_op(cut, op), EBB_ARC_KEEP, n_units);
}

static void leave_op(ebb_cut *cut, uint32_t node, const int64_t *scaled_ns) {
    const ebb_cut_facts *f = cut->facts;
    ebb_id op = cut->node_op[node];
    /* The run that every schedule pays for may be the one from now on, unless the op had to run before. */
    if (cut->when[op] == EBB_BEFORE || !f->must[op])
        add_arc(cut, node, EBB_FLOW_SINK, EBB_ARC_AGAIN, scaled_ns[op]);
    for (uint32_t k = f->first_read[op]; k < f->first_read[op + 1]; k++)
        if (!is_free(cut, f->reads[k]))
            add_arc(cut, node, node_of_piece(cut, f->reads[k]), EBB_ARC_READ, 0);
}

void ebb_cut_lay(ebb_cut *cut, const int64_t *scaled_ns) {
    const ebb_cut_facts *f = cut->facts;
    memset(cut->piece_node, 0xFF, f->n_pieces * sizeof *cut->piece_node);
    memset(cut->op_node, 0xFF, f->graph->n_ops * sizeof *cut->op_node);
    cut->net.n_nodes = EBB_FLOW_FIRST;
    cut->net.n_arcs = 0;
    for (uint32_t i = 0; i < f->n_pieces; i++)
        if (cut->read_by[i] != EBB_NONE)
            add_arc(cut, EBB_FLOW_SOURCE, node_of_piece(cut, i), EBB_ARC_READ, 0);
    for (uint32_t v = EBB_FLOW_FIRST; v < cut->net.n_nodes; v++)
        if (cut->node_op[v] == EBB_NONE)
            leave_piece(cut, v);
        else
            leave_op(cut, v, scaled_ns);
    ebb_flow_join(&cut->net);
}

bool ebb_cut_solve(ebb_cut *cut, int64_t price, int64_t work_limit, ebb_cut_line *line) {
    ebb_flow_net *net = &cut->net;
    for (uint32_t a = 0; a < net->n_arcs; a++)
        net->room[a] = cut->arc_kind[a] == EBB_ARC_READ   ? EBB_FLOW_ENDLESS
                       : cut->arc_kind[a] == EBB_ARC_KEEP ? cut->arc_amount[a] * price
                                                          : cut->arc_amount[a];
    if (!ebb_flow_max(net, work_limit)) return false;
    *line = (ebb_cut_line){0, 0};
    for (uint32_t a = 0; a < net->n_arcs; a++) {
        if (net->level[net->from[a]] == EBB_NONE || net->level[net->to[a]] != EBB_NONE) continue;
        if (cut->arc_kind[a] == EBB_ARC_KEEP) line->n_units += cut->arc_amount[a];
        if (cut->arc_kind[a] == EBB_ARC_AGAIN) line->scaled_ns += cut->arc_amount[a];
    }
    return true;
}

int64_t ebb_cut_flow(const ebb_cut *cut) {
    int64_t sum = 0;
    for (uint32_t a = 0; a < cut->net.n_arcs; a++)
        if (cut->net.from[a] == EBB_FLOW_SOURCE) sum += cut->net.flow[a];
    return sum;
}
