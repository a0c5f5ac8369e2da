/* What a call did, as a value: entries on numbered values, and the key by which it is found again. */
#include "trace/trace.h"

#include <stdio.h>

/* ---- life ----------------------------------------------------------------------------------- */

void ebb_captured_hold(ebb_tensor *handle) {
    if (!handle) return;
    ebb_tensor_hold(handle);
    handle->n_recorded++;
}

static void captured_drop(ebb_tensor *handle) {
    if (handle) handle->n_recorded--;
    ebb_tensor_destroy(handle);
}

ebb_status ebb_recorded_create(ebb_trace *trace, ebb_recording_key *key, ebb_recorded **out) {
    ebb_recorded *r = *out = ebb_calloc(trace->env, 1, sizeof *r);
    if (!r) {
        ebb_key_free(trace->env, key);
        return EBB_NO_MEMORY;
    }
    r->env = trace->env;
    r->arguments_stay = trace->options.arguments_stay;
    r->key = *key;
    *key = (ebb_recording_key){0};
    ebb_arena_init(&r->arena, trace->env);
    if (EBB_PUSH(trace->env, &r->segments, (ebb_segment){.begin = 0})) return EBB_OK;
    ebb_recorded_destroy(r);
    *out = NULL;
    return EBB_NO_MEMORY;
}

void ebb_recorded_destroy(ebb_recorded *r) {
    if (!r) return;
    ebb_env *env = r->env;
    for (size_t i = 0; i < r->segments.n; i++) ebb_traced_program_destroy(env, r->segments.at[i].program);
    for (size_t i = 0; i < r->captured.n; i++) captured_drop(r->captured.at[i].handle);
    ebb_kept_free(r);
    EBB_ARRAY_FREE(env, &r->segments);
    EBB_ARRAY_FREE(env, &r->captured);
    EBB_ARRAY_FREE(env, &r->values);
    EBB_ARRAY_FREE(env, &r->operands);
    EBB_ARRAY_FREE(env, &r->entries);
    ebb_arena_deinit(&r->arena);
    ebb_key_free(env, &r->key);
    ebb_cfree(env, r, 1, sizeof *r);
}

/* ---- forks ---------------------------------------------------------------------------------- */

static ebb_status key_copy(ebb_env *env, const ebb_recording_key *from, ebb_recording_key *out) {
    *out = *from;
    out->bytes = ebb_calloc(env, from->n, 1);
    if (!out->bytes) return EBB_NO_MEMORY;
    if (from->n) memcpy(out->bytes, from->bytes, from->n);
    return EBB_OK;
}

static bool entry_copy(ebb_recorded *to, const ebb_recorded *from, const ebb_entry *entry) {
    ebb_entry copy = *entry;
    if (entry->op)
        copy.attr = ebb_arena_copy(&to->arena, entry->attr, entry->op->n_attrs, sizeof *entry->attr);
    copy.place = ebb_arena_text(&to->arena, entry->place);
    copy.in = (uint32_t)to->operands.n;
    if ((entry->op && !copy.attr) || !copy.place || !EBB_PUSH(to->env, &to->entries, copy)) return false;
    for (uint32_t i = 0; i < entry->n_in; i++) {
        if (!EBB_PUSH(to->env, &to->operands, from->operands.at[entry->in + i])) return false;
    }
    return true;
}

uint32_t ebb_recorded_values(const ebb_recorded *from, uint32_t n_entries) {
    uint32_t most = from->n_arguments;
    for (uint32_t i = 0; i < n_entries; i++) {
        const ebb_entry *entry = &from->entries.at[i];
        if (entry->n_out && entry->out + entry->n_out > most) most = entry->out + entry->n_out;
        for (uint32_t k = 0; k < entry->n_in; k++) {
            const uint32_t v = from->operands.at[entry->in + k];
            if (v != EBB_NONE && v + 1 > most) most = v + 1;
        }
    }
    return most;
}

static bool values_copy(ebb_recorded *to, const ebb_recorded *from, uint32_t n) {
    for (uint32_t v = 0; v < n; v++) {
        ebb_traced_value value = from->values.at[v];
        value.output = false;
        if (!EBB_PUSH(to->env, &to->values, value)) return false;
    }
    for (uint32_t c = 0; c < from->captured.n; c++) {
        ebb_captured captured = from->captured.at[c];
        if (captured.value != EBB_NONE && captured.value >= n) captured.value = EBB_NONE;
        ebb_captured_hold(captured.handle);
        if (!EBB_PUSH(to->env, &to->captured, captured)) return false;
    }
    return true;
}

/* Segments that lie before entry n, and the one that it begins or is in. */
static bool segments_copy(ebb_recorded *to, const ebb_recorded *from, uint32_t n) {
    to->segments.n = 0;
    for (uint32_t s = 0; s < from->segments.n && (s == 0 || from->segments.at[s].begin <= n); s++) {
        const ebb_segment segment = {.begin = from->segments.at[s].begin, .end = from->segments.at[s].end};
        if (!EBB_PUSH(to->env, &to->segments, segment)) return false;
    }
    return true;
}

ebb_status ebb_recorded_fork(ebb_trace *trace, const ebb_recorded *from, uint32_t n, ebb_recorded **out) {
    ebb_recording_key key;
    *out = NULL;
    ebb_status status = key_copy(trace->env, &from->key, &key);
    if (!status) status = ebb_recorded_create(trace, &key, out);
    if (status) return status;
    ebb_recorded *to = *out;
    to->n_arguments = from->n_arguments;
    bool copied = values_copy(to, from, ebb_recorded_values(from, n)) && segments_copy(to, from, n);
    for (uint32_t i = 0; copied && i < n; i++) copied = entry_copy(to, from, &from->entries.at[i]);
    if (copied) return EBB_OK;
    ebb_recorded_destroy(to);
    *out = NULL;
    return EBB_NO_MEMORY;
}

/* ---- sameness ------------------------------------------------------------------------------- */

static bool entry_same(const ebb_recorded *a, const ebb_entry *x, const ebb_recorded *b,
                       const ebb_entry *y) {
    if (x->kind != y->kind || x->op != y->op || x->n_in != y->n_in || x->n_out != y->n_out ||
        (x->n_out && x->out != y->out) || x->draw != y->draw || x->n_y != y->n_y ||
        x->captured != y->captured)
        return false;
    if (x->n_in && memcmp(a->operands.at + x->in, b->operands.at + y->in, x->n_in * sizeof(uint32_t)) != 0)
        return false;
    for (uint32_t i = 0; i < x->n_out; i++) {
        if (!ebb_type_equal(&a->values.at[x->out + i].type, &b->values.at[y->out + i].type)) return false;
    }
    return !x->op || x->op->n_attrs == 0 || memcmp(x->attr, y->attr, x->op->n_attrs * sizeof *x->attr) == 0;
}

static bool captured_same(const ebb_recorded *a, const ebb_recorded *b, uint32_t c) {
    const ebb_captured *x = &a->captured.at[c], *y = &b->captured.at[c];
    return x->handle == y->handle && x->argument == y->argument && x->beside == y->beside;
}

/* Of what was captured, that which the entries read or assign to: each may capture more behind them. */
bool ebb_recorded_same(const ebb_recorded *a, const ebb_recorded *b, uint32_t n) {
    if (n > a->entries.n || n > b->entries.n) return false;
    for (uint32_t i = 0; i < n; i++) {
        const ebb_entry *entry = &a->entries.at[i];
        if (!entry_same(a, entry, b, &b->entries.at[i])) return false;
        if (entry->kind == EBB_ENTRY_ASSIGN && !captured_same(a, b, entry->captured)) return false;
    }
    const uint32_t n_values = ebb_recorded_values(a, n);
    for (uint32_t v = 0; v < n_values; v++) {
        const ebb_traced_value *x = &a->values.at[v], *y = &b->values.at[v];
        if (x->source != y->source) return false;
        if (x->source == EBB_SOURCE_CAPTURED && (x->at != y->at || !captured_same(a, b, x->at)))
            return false;
    }
    return true;
}

const char *ebb_entry_text(const ebb_recorded *r, const ebb_entry *entry, char text[256]) {
    static const char *const kinds[] = {"",
                                        "a number",
                                        "a new tensor",
                                        "gradients",
                                        "an assignment",
                                        "a read of a value",
                                        "an excluded region"};
    if (entry->kind != EBB_ENTRY_OP) {
        (void)snprintf(text, 256, "%s", kinds[entry->kind]);
        return text;
    }
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < entry->n_in; i++) in[i] = r->values.at[r->operands.at[entry->in + i]].type;
    for (uint32_t i = 0; i < entry->n_out; i++) out[i] = r->values.at[entry->out + i].type;
    const ebb_call call = {.op = entry->op,
                           .in = in,
                           .out = out,
                           .n_in = entry->n_in,
                           .n_out = entry->n_out,
                           .attr = entry->attr};
    ebb_text whole;
    ebb_text_init(&whole, r->env);
    ebb_call_print(&whole, &call);
    (void)snprintf(text, 256, "%s", whole.at ? whole.at : entry->op->name);
    ebb_text_deinit(&whole);
    return text;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static void put(uint8_t **at, const void *bytes, size_t n) {
    memcpy(*at, bytes, n);
    *at += n;
}

static void key_hash(ebb_recording_key *key) {
    key->hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < key->n; i++) key->hash = (key->hash ^ key->bytes[i]) * UINT64_C(1099511628211);
}

/* The caller's bytes, the mode, and of each argument its type and the first argument of the same value. */
ebb_status ebb_key_make(ebb_trace *trace, const void *key, size_t n_key, ebb_tensor *const *arguments,
                        uint32_t n, ebb_recording_key *out) {
    const size_t each = 3 * sizeof(uint32_t) + EBB_MAX_RANK * sizeof(int64_t);
    const uint64_t lengths[2] = {n_key, n};
    *out = (ebb_recording_key){.n = sizeof lengths + n_key + 1 + n * each};
    out->bytes = ebb_calloc(trace->env, out->n, 1);
    if (!out->bytes) return EBB_NO_MEMORY;
    uint8_t *at = out->bytes;
    put(&at, lengths, sizeof lengths);
    if (n_key) put(&at, key, n_key);
    *at++ = trace->eager->evaluate;
    for (uint32_t i = 0; i < n; i++) {
        const ebb_type *type = &arguments[i]->datum->type;
        uint32_t first = 0;
        while (arguments[first]->datum != arguments[i]->datum) first++;
        const uint32_t head[3] = {(uint32_t)type->dtype, type->rank, first};
        int64_t dim[EBB_MAX_RANK] = {0};
        for (uint32_t d = 0; d < type->rank; d++) dim[d] = type->dim[d];
        put(&at, head, sizeof head);
        put(&at, dim, sizeof dim);
    }
    key_hash(out);
    return EBB_OK;
}

ebb_status ebb_key_replace(ebb_env *env, ebb_recording_key *made, const void *key, size_t n_key) {
    uint64_t lengths[2];
    memcpy(lengths, made->bytes, sizeof lengths);
    const size_t tail = sizeof lengths + (size_t)lengths[0];
    ebb_recording_key again = {.n = made->n - (size_t)lengths[0] + n_key};
    again.bytes = ebb_calloc(env, again.n, 1);
    if (!again.bytes) return EBB_NO_MEMORY;
    uint8_t *at = again.bytes;
    lengths[0] = n_key;
    put(&at, lengths, sizeof lengths);
    if (n_key) put(&at, key, n_key);
    put(&at, made->bytes + tail, made->n - tail);
    key_hash(&again);
    ebb_key_free(env, made);
    *made = again;
    return EBB_OK;
}

void ebb_key_free(ebb_env *env, ebb_recording_key *key) {
    ebb_cfree(env, key->bytes, key->n, 1);
    *key = (ebb_recording_key){0};
}

bool ebb_key_same(const ebb_recording_key *a, const ebb_recording_key *b) {
    return a->hash == b->hash && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}
