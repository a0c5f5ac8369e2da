/* The cuts of a certificate, and the cases that say why a value is kept. Takes the certificate's members;
 * gives what all of it proves. The cuts of one list add up, since none charges what another does. The
 * certificate as a whole proves the least of what the cuts prove and what each case does: a schedule faster
 * than that is in none of the cases, so the cuts may take for granted what the cases exclude. */
#include "audit/bound.h"

#define WHERE EBB_BOUND_WHERE

/* ---- a cut's members --------------------------------------------------------------------------- */

/* An id below n that may be absent: EBB_NONE. */
static ebb_status read_id(const ebb_bound_check *c, const ebb_json *json, const char *key, uint32_t n,
                          uint32_t *out) {
    int64_t id = 0;
    bool present = false;
    ebb_status status = ebb_json_i64(c->a->env, json, WHERE, key, 0, (int64_t)n - 1, &present, &id);
    *out = present ? (uint32_t)id : EBB_NONE;
    return status;
}

static ebb_status read_flow(ebb_bound_check *c, const ebb_json *json, ebb_bound_cut *out) {
    const ebb_json *list = NULL;
    size_t n = 0;
    ebb_status status = ebb_bound_list(c, json, "flow", 3, &list, &n);
    if (status != EBB_OK) return status;
    ebb_bound_flow *flow = EBB_NEW(&c->a->arena, ebb_bound_flow, n);
    if (!flow) return EBB_NO_MEMORY;
    for (size_t k = 0; status == EBB_OK && k < n; k++) {
        int64_t reader = 0, piece = 0;
        status = ebb_json_at_i64(c->a->env, list, WHERE ": flow", 3 * k, 0, c->a->graph->n_ops, &reader);
        if (status == EBB_OK)
            status = ebb_json_at_i64(c->a->env, list, WHERE ": flow", 3 * k + 1, 0,
                                     (int64_t)c->n_pieces - 1, &piece);
        if (status == EBB_OK)
            status =
                ebb_json_at_i64(c->a->env, list, WHERE ": flow", 3 * k + 2, 1, INT64_MAX, &flow[k].amount);
        flow[k].reader = (ebb_id)reader;
        flow[k].piece = (uint32_t)piece;
    }
    out->flow = flow;
    out->n_flow = n;
    return status;
}

static ebb_status read_cut(ebb_bound_check *c, const ebb_json *json, ebb_bound_cut *out) {
    int64_t op = 0;
    uint32_t n_ops = c->a->graph->n_ops;
    ebb_status status = ebb_json_i64(c->a->env, json, WHERE, "op", 0, (int64_t)n_ops - 1, NULL, &op);
    if (status == EBB_OK)
        status = ebb_json_i64(c->a->env, json, WHERE, "price", 0, INT64_MAX, NULL, &out->price);
    if (status == EBB_OK) status = read_id(c, json, "since", n_ops, &out->since);
    if (status == EBB_OK) status = read_id(c, json, "until", n_ops, &out->until);
    if (status == EBB_OK) status = read_id(c, json, "kept", c->n_pieces, &out->kept);
    if (status == EBB_OK) status = read_id(c, json, "reader", n_ops, &out->reader);
    if (status == EBB_OK) status = read_flow(c, json, out);
    out->op = (ebb_id)op;
    return status;
}

/* ---- cuts that add up -------------------------------------------------------------------------- */

/* No run is charged more than it takes, by all cuts together. */
static ebb_status check_charges(const ebb_bound_check *c) {
    for (ebb_id op = 0; op < c->a->graph->n_ops; op++) {
        int64_t most = INT64_MAX;
        if (ebb_mul_i64(c->least_ns[op], c->scale, &most) && c->charged[op] > most)
            return ebb_fail(c->a->env, EBB_VIOLATION,
                            WHERE " charges " AUDIT_OP
                                  " %lld for running again, but that takes %lld x %lld ns",
                            AUDIT_OP_ARGS(c->a, op), (long long)c->charged[op], (long long)c->scale,
                            (long long)c->least_ns[op]);
    }
    return EBB_OK;
}

/* The run at the moment takes what the cuts left of its time. */
static ebb_status add_extra(ebb_bound_check *c, ebb_id op) {
    int64_t whole = 0;
    if (ebb_mul_i64(c->least_ns[op], c->scale, &whole) &&
        ebb_add_i64(c->proved, whole - c->charged[op], &c->proved))
        return EBB_OK;
    return ebb_fail(c->a->env, EBB_VIOLATION, WHERE ": the sums of a case do not fit in 63 bits");
}

/* By the cases, op does not run between the first runs of `from` and `to`: they lead from one to the other.
 */
static bool is_excluded(const ebb_bound_check *c, ebb_id op, ebb_id from, ebb_id to) {
    for (size_t n_steps = 0; from != to && n_steps < c->n_cases; n_steps++)
        for (size_t k = 0; k < c->n_cases; k++)
            if (c->cases[k].op == op && c->cases[k].since == from) {
                from = c->cases[k].until;
                break;
            }
    return from == to;
}

/* What a cut may be: the first of a case is of a run that the case is about, others are of first runs; only
 * outside cases a piece may be kept. */
static const char *misplaced(const ebb_bound_check *c, const ebb_bound_cut *cut, bool of_case, bool first) {
    bool again = cut->since != EBB_NONE;
    if (again != (cut->until != EBB_NONE) || again != (of_case && first))
        return "\"since\" and \"until\" belong to the first cut of a case";
    if ((cut->kept != EBB_NONE) != (cut->reader != EBB_NONE)) return "\"kept\" goes with a \"reader\"";
    if (cut->kept == EBB_NONE) return NULL;
    if (of_case) return "a case keeps nothing";
    ebb_id maker = c->a->graph->values[c->pieces[cut->kept].value].producer;
    if (maker == EBB_NONE || cut->reader == cut->op || !is_excluded(c, maker, cut->op, cut->reader))
        return "no cases say that what it keeps is not made again";
    return NULL;
}

/* All cuts of the list; *first is the first of them. Sets `proved` to what they prove together. */
static ebb_status check_list(ebb_bound_check *c, const ebb_json *json, bool of_case, ebb_bound_cut *first) {
    const ebb_json *cuts = NULL;
    size_t n = 0;
    bool extra = false;
    ebb_status status = ebb_json_array(c->a->env, json, WHERE, "cuts", NULL, &cuts, &n);
    if (status == EBB_OK && n > EBB_BOUND_MOST_CUTS)
        status = ebb_fail(c->a->env, EBB_VIOLATION, WHERE " has %zu cuts; at most %d are checked", n,
                          EBB_BOUND_MOST_CUTS);
    if (status == EBB_OK && of_case && n == 0)
        status = ebb_fail(c->a->env, EBB_VIOLATION, WHERE ": a case has no cut");
    c->proved = 0;
    memset(c->charged, 0, c->a->graph->n_ops * sizeof *c->charged);
    for (size_t k = 0; status == EBB_OK && k < n; k++) {
        ebb_bound_cut cut = {0};
        bool more = false;
        status = read_cut(c, ebb_json_at(cuts, k), &cut);
        if (status != EBB_OK) break;
        const char *fault = misplaced(c, &cut, of_case, k == 0);
        status = fault ? ebb_fail(c->a->env, EBB_VIOLATION, WHERE "'s cut at " AUDIT_OP ": %s",
                                  AUDIT_OP_ARGS(c->a, cut.op), fault)
                       : ebb_bound_check_cut(c, &cut, &more);
        if (k == 0) *first = cut, extra = more;
    }
    if (status == EBB_OK) status = check_charges(c);
    return status == EBB_OK && extra ? add_extra(c, first->op) : status;
}

/* ---- cases ------------------------------------------------------------------------------------- */

ebb_status ebb_bound_check_cases(ebb_bound_check *c, const ebb_json *json, bool by_cases, int64_t *proved) {
    const ebb_json *cases = NULL;
    size_t n = 0;
    int64_t least = INT64_MAX;
    ebb_bound_cut first = {0};
    ebb_status status =
        by_cases ? ebb_json_array(c->a->env, json, WHERE, "cases", NULL, &cases, &n) : EBB_OK;
    if (status == EBB_OK && n > EBB_BOUND_MOST_CASES)
        status = ebb_fail(c->a->env, EBB_VIOLATION, WHERE " has %zu cases; at most %d are checked", n,
                          EBB_BOUND_MOST_CASES);
    for (size_t k = 0; status == EBB_OK && k < n; k++) {
        status = check_list(c, ebb_json_at(cases, k), true, &first);
        if (status != EBB_OK) break;
        c->cases[c->n_cases++] = first;
        least = ebb_min_i64(least, c->proved);
    }
    if (status == EBB_OK) status = check_list(c, json, false, &first);
    *proved = ebb_min_i64(least, c->proved);
    return status;
}
