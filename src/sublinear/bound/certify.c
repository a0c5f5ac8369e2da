/* A lower bound on the time of every schedule within a budget, and its proof as JSON. Takes a sealed graph.
 * docs/records/certificate-proof.md says why it holds; planner/audit_bound.c checks it again. */
#include "sublinear/bound/bound.h"

#define MOST_BYTES (INT64_C(1) << 58) /* of all values, so that sums of units fit */

/* Sizes that sums can be made of. */
bool ebb_cut_countable(const ebb_pgraph *graph, int64_t alignment) {
    int64_t sum = 0; /* the seal has checked that it fits */
    for (uint32_t v = 0; v < graph->n_values; v++) sum += graph->values[v].bytes;
    for (uint32_t i = 0; i < graph->n_ops; i++)
        for (uint32_t k = 0; k <= graph->ops[i].n_alternatives; k++)
            sum = ebb_max_i64(sum, ebb_pop_under(&graph->ops[i], k ? k - 1 : EBB_NONE).scratch_bytes);
    return sum <= MOST_BYTES && alignment <= MOST_BYTES;
}

static void note_pieces(const ebb_cut_facts *f, const ebb_cut_proofs *proofs, uint32_t *number) {
    for (uint32_t c = 0; c < proofs->n; c++) {
        const ebb_cut_proof *p = &proofs->at[c];
        ebb_id op = p->moment.op;
        for (uint32_t k = 0; k < p->n_entries; k++) number[p->entries[k].piece] = 0;
        for (uint32_t k = f->first_read[op]; k < f->first_read[op + 1]; k++) number[f->reads[k]] = 0;
        if (p->moment.kept != EBB_NONE) number[p->moment.kept] = 0;
    }
}

/* The pieces that the proofs speak of, numbered in order; EBB_NONE for the others. */
static void number_pieces(const ebb_cut_facts *f, const ebb_cut_proofs *proofs, uint32_t *number) {
    uint32_t n = 0;
    memset(number, 0xFF, f->n_pieces * sizeof *number);
    note_pieces(f, proofs, number);
    for (uint32_t k = 0; k < proofs->n_cases; k++) note_pieces(f, &proofs->cases[k], number);
    for (uint32_t i = 0; i < f->n_pieces; i++)
        if (number[i] != EBB_NONE) number[i] = n++;
}

static void print_proof(ebb_json_out *json, const ebb_cut_proof *proof, const uint32_t *number) {
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "op", proof->moment.op);
    if (proof->moment.since != EBB_NONE) {
        ebb_json_put_i64(json, "since", proof->moment.since);
        ebb_json_put_i64(json, "until", proof->moment.until);
    }
    if (proof->moment.kept != EBB_NONE) {
        ebb_json_put_i64(json, "kept", number[proof->moment.kept]);
        ebb_json_put_i64(json, "reader", proof->reader);
    }
    ebb_json_put_i64(json, "price", proof->price);
    ebb_json_begin(json, "flow", '[', false);
    for (uint32_t k = 0; k < proof->n_entries; k++) {
        ebb_json_put_i64(json, NULL, proof->entries[k].reader);
        ebb_json_put_i64(json, NULL, number[proof->entries[k].piece]);
        ebb_json_put_i64(json, NULL, proof->entries[k].amount);
    }
    ebb_json_end(json, ']');
    ebb_json_end(json, '}');
}

static void print_cuts(ebb_json_out *json, const ebb_cut_proofs *proofs, const uint32_t *number) {
    ebb_json_begin(json, "cuts", '[', false);
    for (uint32_t c = 0; c < proofs->n; c++) print_proof(json, &proofs->at[c], number);
    ebb_json_end(json, ']');
}

static void print_proofs(ebb_json_out *json, const ebb_cut_facts *f, const ebb_cut_proofs *proofs,
                         const uint32_t *number) {
    ebb_json_begin(json, NULL, '{', false);
    ebb_json_put_i64(json, "scale", proofs->scale);
    ebb_json_begin(json, "pieces", '[', false);
    for (uint32_t i = 0; i < f->n_pieces; i++) {
        if (number[i] == EBB_NONE) continue;
        ebb_json_put_i64(json, NULL, f->pieces[i].value);
        ebb_json_put_i64(json, NULL, f->pieces[i].start);
        ebb_json_put_i64(json, NULL, f->pieces[i].end);
    }
    ebb_json_end(json, ']');
    print_cuts(json, proofs, number);
    if (proofs->n_cases > 0) {
        ebb_json_begin(json, "cases", '[', false);
        for (uint32_t k = 0; k < proofs->n_cases; k++) {
            ebb_json_begin(json, NULL, '{', false);
            print_cuts(json, &proofs->cases[k], number);
            ebb_json_end(json, '}');
        }
        ebb_json_end(json, ']');
    }
    ebb_json_end(json, '}');
}

static ebb_status keep_proofs(ebb_arena *arena, ebb_arena *work, const ebb_cut_facts *f,
                              const ebb_cut_proofs *proofs, ebb_bound *out) {
    int64_t scaled_ns = proofs->scaled_ns;
    for (uint32_t k = 0; k < proofs->n_cases; k++)
        scaled_ns = ebb_min_i64(scaled_ns, proofs->cases[k].scaled_ns);
    uint32_t *number = EBB_NEW(work, uint32_t, f->n_pieces);
    if (!number) return EBB_NO_MEMORY;
    number_pieces(f, proofs, number);
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, arena->env);
    ebb_json_out_init(&json, &text);
    print_proofs(&json, f, proofs, number);
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK && !(out->json = ebb_arena_text(arena, text.at))) status = EBB_NO_MEMORY;
    ebb_text_deinit(&text);
    if (status != EBB_OK) return status;
    out->time_ns = f->time_ns + (scaled_ns + proofs->scale - 1) / proofs->scale;
    out->kind = proofs->n_cases > 0 ? "cut_by_cases" : "cut";
    return EBB_OK;
}

ebb_status ebb_certify(ebb_arena *arena, const ebb_pgraph *graph, int64_t budget_bytes, int64_t alignment,
                       ebb_bound *out) {
    ebb_arena work;
    ebb_cut_facts facts;
    ebb_cut_proofs proofs = {.n = 0};
    bool countable = ebb_cut_countable(graph, alignment);
    ebb_arena_init(&work, arena->env);
    *out = (ebb_bound){0, "none", NULL, 0};
    ebb_status status = countable ? ebb_cut_facts_make(&work, graph, alignment, &facts) : EBB_OK;
    if (status == EBB_OK && countable) *out = (ebb_bound){facts.time_ns, "each_op_once", NULL, 0};
    if (status == EBB_OK && countable && budget_bytes >= 0 &&
        budget_bytes <= MOST_BYTES) /* more never binds */
        status = ebb_cut_search(&work, &facts, budget_bytes, &proofs);
    if (proofs.least_units > 0) out->least_bytes = (proofs.least_units - 1) * alignment + 1;
    if (status == EBB_OK && proofs.n > 0) status = keep_proofs(arena, &work, &facts, &proofs, out);
    ebb_arena_deinit(&work);
    return status;
}
