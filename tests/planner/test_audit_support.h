/* What the tests of plan files and of the audit share: plans written by hand, with ' for ", and edits of
 * them.
 *
 * STEP(n) and BUF(n) put a member that the reader does not know at the start of a line, so that an edit can
 * name it.
 */
#ifndef EBB_TESTS_PLANNER_AUDIT_SUPPORT_H
#define EBB_TESTS_PLANNER_AUDIT_SUPPORT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/planner.h"

/* The parts of a plan file. */
typedef struct plan_text {
    const char *name, *fixed_bytes, *values, *ops, *steps, *buffers, *figures;
} plan_text;

/* One run: op, alternative, recompute, reads, writes, scratch. */
#define STEP(n, op, alternative, recompute, reads, writes, offset, bytes)                                 \
    "{'step': " #n ", 'op': " #op ", 'alternative': " #alternative ", 'recompute': " #recompute           \
    ", 'reads': " reads ", 'writes': " writes ", 'scratch_offset': " #offset ", 'scratch_bytes': " #bytes \
    "}"
#define BUF(id, value, region, offset, bytes, lower, upper)                            \
    "{'id': " #id ", 'value': " #value ", 'region': '" #region "', 'offset': " #offset \
    ", 'bytes': " #bytes ", 'lower': " #lower ", 'upper': " #upper "}"

typedef struct edit {
    const char *find, *replace; /* find occurs exactly once */
} edit;
#define MAX_EDITS 8

/* Grown in place: the plan with its edits, ' turned into ". */
static inline ebb_text edit_plan(ebb_env *env, const plan_text *plan, const edit *edits, size_t n) {
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_text_add(
        &text,
        "{'schema': 'ebb.plan/1', 'graph': {'schema': 'ebb.graph/1', 'name': '%s', 'fixed_bytes': %s,\n"
        " 'values': [%s],\n 'ops': [%s]},\n'backend': 'none', 'n_threads': 1, 'alignment': 8,\n"
        "'steps': [\n%s],\n'buffers': [\n%s],\n%s}",
        plan->name, plan->fixed_bytes, plan->values, plan->ops, plan->steps, plan->buffers, plan->figures);
    for (size_t i = 0; i < n && edits[i].find != NULL; i++) {
        const char *at = strstr(text.at, edits[i].find);
        cr_assert_not_null(at, "the plan has no %s", edits[i].find);
        cr_assert_null(strstr(at + 1, edits[i].find), "the plan has two %s", edits[i].find);
        ebb_text next;
        ebb_text_init(&next, env);
        ebb_text_put(&next, text.at, (size_t)(at - text.at));
        ebb_text_add(&next, "%s%s", edits[i].replace, at + strlen(edits[i].find));
        ebb_text_deinit(&text);
        text = next;
    }
    cr_assert_eq(ebb_text_status(&text), EBB_OK);
    for (char *c = text.at; *c != '\0'; c++)
        if (*c == '\'') *c = '"';
    return text;
}

static inline ebb_plan *parse_edited(ebb_env *env, const plan_text *plan, const edit *edits, size_t n) {
    ebb_text text = edit_plan(env, plan, edits, n);
    ebb_plan *out = NULL;
    cr_assert_eq(ebb_plan_parse(env, "p.json", text.at, text.n, &out), EBB_OK, "%s", ebb_env_error(env));
    ebb_text_deinit(&text);
    return out;
}

static inline ebb_env *start_env(void) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    return env;
}

static inline void end_env(ebb_env *env) {
    cr_assert_eq(ebb_env_allocated_bytes(env), 0, "%zu bytes were left", ebb_env_allocated_bytes(env));
    ebb_env_destroy(env);
}

/* An allocator that refuses its fail_at-th call. */
typedef struct short_memory {
    uint64_t n_calls, fail_at;
} short_memory;

static inline void *short_alloc(void *ctx, size_t bytes, size_t alignment) {
    short_memory *memory = ctx;
    if (memory->n_calls++ == memory->fail_at) return NULL;
    return aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}

static inline void short_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)ctx, (void)bytes, (void)alignment;
    free(ptr);
}

static inline ebb_env *start_short_env(short_memory *memory, uint64_t fail_at) {
    *memory = (short_memory){.fail_at = fail_at};
    ebb_env_options options = {.alloc = short_alloc, .free = short_free, .alloc_ctx = memory};
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    return env;
}

#endif
