/* Members that ebb.graph/1 does not know are ignored, as another program's notes; the first is told, for it
 * may be a slip of the pen that changes the plan. Those that begin with "_" are notes for certain. */
#include "graph/planning/read.h"

#include <stdio.h>

#define WORDS(...) \
    { (const char *const[]){__VA_ARGS__}, EBB_COUNT(((const char *const[]){__VA_ARGS__})) }
static const struct words {
    const char *const *at;
    size_t n;
} known[EBB_N_MEMBERS] = {
    [EBB_MEMBERS_GRAPH] = WORDS("schema", "name", "fixed_bytes", "costs", "values", "ops"),
    [EBB_MEMBERS_VALUE] = WORDS("id", "name", "bytes", "role", "shape"),
    [EBB_MEMBERS_OP] = WORDS("id", "name", "kind", "listed", "phase", "inputs", "outputs", "time_ns",
                             "scratch_bytes", "recomputable", "optional", "ordered", "after", "in_place",
                             "update", "views", "alternatives"),
    [EBB_MEMBERS_ALTERNATIVE] = WORDS("name", "inputs", "time_ns", "scratch_bytes", "in_place"),
};

typedef struct look {
    ebb_pgraph_reader *r;
    const struct words *words;
} look;

static const char *word_at(const void *ctx, size_t i) {
    const struct words *words = ctx;
    return i < words->n ? words->at[i] : NULL;
}

static ebb_status look_at(void *ctx, const char *key) {
    const look *l = ctx;
    ebb_pgraph_reader *r = l->r;
    for (size_t i = 0; i < l->words->n; i++)
        if (strcmp(key, l->words->at[i]) == 0) return EBB_OK;
    if (key[0] == '_' || r->n_unknown++ > 0) return EBB_OK;
    const char *nearest = ebb_word_nearest(key, strlen(key), word_at, l->words);
    (void)snprintf(r->unknown, sizeof r->unknown, "%s: member \"%.60s\" is not known and is ignored%s%s%s",
                   r->place, key, nearest ? ": did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
    return EBB_OK;
}

void ebb_read_members(ebb_pgraph_reader *r, const ebb_json *object, ebb_members of) {
    look l = {r, &known[of]};
    const ebb_status status = ebb_json_each_key(object, look_at, &l); /* which never fails */
    (void)status;
}

void ebb_read_tell_unknown(const ebb_pgraph_reader *r) {
    if (r->n_unknown == 1) ebb_log(r->env, EBB_LOG_WARN, "%s", r->unknown);
    if (r->n_unknown > 1)
        ebb_log(r->env, EBB_LOG_WARN, "%s (and %zu more like it)", r->unknown, r->n_unknown - 1);
}
