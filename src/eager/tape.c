/* Tapes: which ops ran, on which data. Gradients are in gradients.c. */
#include "eager/tape.h"

/* ---- the data that it has seen -------------------------------------------------------------- */

static size_t slot_of(const ebb_tape *tape, uint64_t serial) {
    size_t at = (size_t)(serial * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (tape->cap - 1);
    while (tape->slots[at].serial && tape->slots[at].serial != serial) at = (at + 1) & (tape->cap - 1);
    return at;
}

ebb_id ebb_tape_find(const ebb_tape *tape, uint64_t serial) {
    if (!tape->cap) return EBB_NONE;
    const size_t at = slot_of(tape, serial);
    return tape->slots[at].serial ? tape->slots[at].value : EBB_NONE;
}

static bool slots_grow(ebb_tape *tape) {
    const size_t before = tape->cap, cap = before ? 2 * before : 256;
    struct ebb_tape_slot *old = tape->slots, *slots = ebb_calloc(tape->eager->env, cap, sizeof *slots);
    if (!slots) return false;
    tape->slots = slots;
    tape->cap = cap;
    for (size_t i = 0; i < before; i++) {
        if (old[i].serial) slots[slot_of(tape, old[i].serial)] = old[i];
    }
    ebb_cfree(tape->eager->env, old, before, sizeof *old);
    return true;
}

/* EBB_NONE: memory is out. */
static ebb_id value_add(ebb_tape *tape, const ebb_datum *datum, ebb_id maker) {
    const ebb_taped_value value = {.type = datum->type, .maker = maker, .serial = datum->serial};
    if (2 * (tape->n_slots + 1) > tape->cap && !slots_grow(tape)) return EBB_NONE;
    if (!EBB_PUSH(tape->eager->env, &tape->values, value)) return EBB_NONE;
    const ebb_id id = (ebb_id)(tape->values.n - 1);
    const size_t at = slot_of(tape, datum->serial);
    tape->n_slots += !tape->slots[at].serial;
    tape->slots[at] = (struct ebb_tape_slot){datum->serial, id};
    return id;
}

/* The tape as it was with n values and so many operands: an op could not be recorded. O(values). */
static void take_back(ebb_tape *tape, size_t n, size_t n_operands) {
    tape->values.n = n;
    tape->operands.n = n_operands;
    tape->n_slots = 0;
    if (tape->slots) memset(tape->slots, 0, tape->cap * sizeof *tape->slots);
    for (ebb_id v = 0; v < n; v++) {
        const uint64_t serial = tape->values.at[v].serial;
        const size_t at = slot_of(tape, serial);
        tape->n_slots += !tape->slots[at].serial;
        tape->slots[at] = (struct ebb_tape_slot){serial, v};
    }
}

static ebb_id value_of(ebb_tape *tape, const ebb_datum *datum) {
    const ebb_id id = ebb_tape_find(tape, datum->serial);
    return id == EBB_NONE ? value_add(tape, datum, EBB_NONE) : id;
}

/* ---- life ----------------------------------------------------------------------------------- */

ebb_status ebb_tape_create(ebb_eager *eager, ebb_tape **out) {
    ebb_tape *tape = *out = ebb_calloc(eager->env, 1, sizeof *tape);
    if (!tape) return EBB_NO_MEMORY;
    tape->eager = eager;
    tape->draws = eager->draws;
    tape->older = eager->tapes;
    ebb_arena_init(&tape->arena, eager->env);
    eager->tapes = tape;
    return EBB_OK;
}

void ebb_tape_clear(ebb_tape *tape) {
    ebb_env *env = tape->eager->env;
    for (size_t i = 0; i < tape->values.n; i++) ebb_datum_drop(tape->eager, tape->values.at[i].datum);
    tape->values.n = tape->nodes.n = tape->operands.n = 0;
    tape->drew = tape->reseeded = false;
    ebb_cfree(env, tape->slots, tape->cap, sizeof *tape->slots);
    tape->slots = NULL;
    tape->n_slots = tape->cap = 0;
    ebb_arena_deinit(&tape->arena);
    ebb_arena_init(&tape->arena, env);
}

void ebb_tape_destroy(ebb_tape *tape) {
    if (!tape) return;
    ebb_eager *eager = tape->eager;
    ebb_tape **link = &eager->tapes;
    while (*link != tape) link = &(*link)->older;
    *link = tape->older;
    ebb_tape_clear(tape);
    EBB_ARRAY_FREE(eager->env, &tape->values);
    EBB_ARRAY_FREE(eager->env, &tape->nodes);
    EBB_ARRAY_FREE(eager->env, &tape->operands);
    ebb_cfree(eager->env, tape, 1, sizeof *tape);
}

ebb_status ebb_tape_watch(ebb_tape *tape, const ebb_tensor *tensor) {
    if (tensor->eager != tape->eager)
        return ebb_fail(tape->eager->env, EBB_USAGE,
                        "a tensor of another device's eager cannot be watched");
    if (!ebb_dtype_real(tensor->datum->type.dtype)) return EBB_OK; /* it has no gradient */
    return value_of(tape, tensor->datum) == EBB_NONE ? EBB_NO_MEMORY : EBB_OK;
}

uint32_t ebb_tape_length(const ebb_tape *tape) {
    return (uint32_t)tape->nodes.n;
}

bool ebb_tape_sees(const ebb_tape *tape, const ebb_tensor *tensor) {
    return ebb_tape_find(tape, tensor->datum->serial) != EBB_NONE;
}

void ebb_tape_pause(ebb_tape *tape, bool paused) {
    tape->paused = paused;
}

/* ---- recording ------------------------------------------------------------------------------ */

static ebb_status node_add(ebb_tape *tape, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                           ebb_datum *const *out, ebb_taped *node) {
    ebb_env *env = tape->eager->env;
    const ebb_op_info *op = call->call.op;
    const ebb_id id = (ebb_id)tape->nodes.n;
    *node = (ebb_taped){.op = op,
                        .in = (uint32_t)tape->operands.n,
                        .n_in = call->call.n_in,
                        .draw = draw - tape->draws,
                        .attr = ebb_arena_copy(&tape->arena, call->attr, op->n_attrs, sizeof *call->attr)};
    if (!node->attr || !EBB_RESERVE(env, &tape->operands, tape->operands.n + node->n_in))
        return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < node->n_in; i++) {
        const ebb_id value = value_of(tape, in[i]);
        if (value == EBB_NONE) return EBB_NO_MEMORY;
        tape->operands.at[tape->operands.n++] = value;
    }
    node->out = (ebb_id)tape->values.n;
    for (uint32_t i = 0; i < op->n_out; i++) {
        if (value_add(tape, out[i], id) == EBB_NONE) return EBB_NO_MEMORY;
    }
    if (!EBB_PUSH(env, &tape->nodes, *node)) return EBB_NO_MEMORY;
    if (op->effect != EBB_SEEDED) return EBB_OK;
    tape->reseeded = tape->reseeded || (tape->drew && tape->seed != tape->eager->seed);
    tape->seed = tape->eager->seed;
    tape->drew = true;
    return EBB_OK;
}

/* ---- drawing again -------------------------------------------------------------------------- */

ebb_status ebb_tape_seed(const ebb_tape *tape, uint64_t *seed) {
    if (tape->reseeded)
        return ebb_fail(tape->eager->env, EBB_USAGE,
                        "gradients draw again what was drawn, and the seed was changed in between: change "
                        "it before the forward pass or after the gradients");
    if (tape->drew) *seed = tape->seed;
    return EBB_OK;
}

ebb_status ebb_tape_play(ebb_tape *tape, const ebb_graph *graph, uint32_t first, ebb_datum **values,
                         const bool *kept) {
    ebb_eager *eager = tape->eager;
    const uint64_t seed = eager->seed, draws = tape->draws;
    const bool paused = tape->paused;
    bool draws_again = false;
    for (ebb_id n = first; tape->drew && !draws_again && n < graph->n_nodes; n++)
        draws_again = graph->nodes[n].op->effect == EBB_SEEDED;
    ebb_status status = draws_again ? ebb_tape_seed(tape, &eager->seed) : EBB_OK;
    tape->paused = true;
    if (!status) status = ebb_play(eager, graph, first, values, kept, draws);
    tape->paused = paused;
    eager->seed = seed;
    return status;
}

static void save(ebb_tape *tape, ebb_id value, ebb_datum *datum) {
    ebb_taped_value *v = &tape->values.at[value];
    if (!v->datum) v->datum = ebb_datum_hold(datum);
}

static ebb_status record(ebb_tape *tape, ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                         ebb_datum *const *out) {
    ebb_taped node;
    const size_t n_values = tape->values.n, n_operands = tape->operands.n;
    const ebb_status status = node_add(tape, call, in, draw, out, &node);
    if (status) take_back(tape, n_values, n_operands);
    if (status) return status;
    if (!call->saves_known) ebb_saves_find(tape, &node, call);
    for (uint32_t i = 0; i < node.n_in; i++) {
        if (call->saves_in >> i & 1) save(tape, tape->operands.at[node.in + i], in[i]);
    }
    for (uint32_t i = 0; i < call->call.n_out; i++) {
        if (call->saves_out >> i & 1) save(tape, node.out + i, out[i]);
    }
    return EBB_OK;
}

static bool sees_one(const ebb_tape *tape, ebb_datum *const *in, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (ebb_tape_find(tape, in[i]->serial) != EBB_NONE) return true;
    }
    return false;
}

/* Updates are no part of what is differentiated. */
ebb_status ebb_tapes_record(ebb_eager *eager, ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                            ebb_datum *const *out) {
    ebb_status status = EBB_OK;
    if (call->call.op->n_update) return EBB_OK;
    for (ebb_tape *tape = eager->tapes; tape && !status; tape = tape->older) {
        if (!tape->paused && sees_one(tape, in, call->call.n_in))
            status = record(tape, call, in, draw, out);
    }
    return status;
}
