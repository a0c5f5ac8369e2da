/* Runs a plan on tokens: slow, plain, and without a table in common with the planner or the audit. */
#include "graphs.h"

#define DIRT UINT64_MAX

typedef struct token_run {
    const ebb_plan *plan;
    uint64_t *memory[2]; /* transient, persistent: a token a byte; 0: never written */
    ebb_id *content;     /* [n_buffers] the buffer whose bytes it shows: itself, or a view's base */
    int64_t *shift;      /* [n_buffers] from which byte of them on */
    bool *exists;        /* [n_buffers] given or written */
} token_run;

static const ebb_buffer *buffer_of(const token_run *run, ebb_id b) {
    return &run->plan->buffers[b];
}

/* Byte k of what buffer b must hold. */
static uint64_t token(const token_run *run, ebb_id b, int64_t k) {
    return ((uint64_t)run->content[b] + 1) << 32 | (uint64_t)(run->shift[b] + k);
}

static void put(token_run *run, ebb_id b) {
    const ebb_buffer *buffer = buffer_of(run, b);
    run->content[b] = b;
    run->shift[b] = 0;
    run->exists[b] = true;
    for (int64_t k = 0; k < buffer->bytes; k++)
        run->memory[buffer->persistent][buffer->offset + k] = token(run, b, k);
}

static void want_intact(const token_run *run, ebb_id b, uint32_t step, const char *when) {
    const ebb_buffer *buffer = buffer_of(run, b);
    cr_assert(run->exists[b], "step %u, %s: buffer %u was never written", step, when, b);
    for (int64_t k = 0; k < buffer->bytes; k++) {
        uint64_t found = run->memory[buffer->persistent][buffer->offset + k];
        cr_assert_eq(found, token(run, b, k), "step %u, %s: byte %lld of buffer %u (offset %lld) is %llx",
                     step, when, (long long)k, b, (long long)buffer->offset, (unsigned long long)found);
    }
}

static void want_reads(const token_run *run, uint32_t step, const char *when) {
    const ebb_plan_step *s = &run->plan->steps[step];
    for (uint32_t i = 0; i < s->n_reads; i++) want_intact(run, s->reads[i], step, when);
}

static const ebb_view *view_of(const ebb_pop *op, uint32_t out) {
    for (uint32_t i = 0; i < op->n_views; i++)
        if (op->views[i].out == out) return &op->views[i];
    return NULL;
}

static bool shares_bytes(const ebb_buffer *a, const ebb_buffer *b) {
    return a->persistent == b->persistent && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

/* An output lies over operands only with leave: the one it updates, or one of its pairs. */
static void want_leave(const token_run *run, uint32_t step, uint32_t out) {
    const ebb_plan_step *s = &run->plan->steps[step];
    const ebb_pop *op = &run->plan->graph->ops[s->op];
    ebb_pop_way way = ebb_pop_under(op, s->alternative);
    const ebb_buffer *mine = buffer_of(run, s->writes[out]);
    ebb_id replaced = EBB_NONE;
    for (uint32_t i = 0; i < op->n_update; i++)
        if (op->update[i].out == out) replaced = s->reads[op->update[i].in];
    if (replaced != EBB_NONE) cr_assert_eq(mine->offset, buffer_of(run, replaced)->offset);
    uint32_t n_over = 0;
    for (uint32_t i = 0; i < s->n_reads; i++) {
        if (!shares_bytes(mine, buffer_of(run, s->reads[i]))) continue;
        if (replaced != EBB_NONE && run->content[s->reads[i]] == run->content[replaced]) continue;
        bool listed = false;
        for (uint32_t p = 0; p < way.n_in_place; p++)
            listed = listed || (way.in_place[p].out == out && way.in_place[p].in == i);
        cr_assert(listed && mine->offset == buffer_of(run, s->reads[i])->offset && ++n_over == 1,
                  "step %u: output %u lies over input %u without leave", step, out, i);
    }
}

static void want_place(const token_run *run, int64_t offset, int64_t bytes, bool persistent,
                       int64_t alignment) {
    int64_t region = persistent ? run->plan->persistent_bytes : run->plan->arena_bytes;
    if (bytes > 0)
        cr_assert(offset >= 0 && offset + bytes <= region && offset % alignment == 0,
                  "[%lld, +%lld) of %lld", (long long)offset, (long long)bytes, (long long)region);
}

static void write_outputs(token_run *run, uint32_t step) {
    const ebb_plan_step *s = &run->plan->steps[step];
    const ebb_pop *op = &run->plan->graph->ops[s->op];
    for (uint32_t o = 0; o < s->n_writes; o++) {
        ebb_id b = s->writes[o];
        const ebb_view *view = view_of(op, o);
        cr_assert_not(run->exists[b], "step %u writes buffer %u again", step, b);
        cr_assert_eq(buffer_of(run, b)->value, op->out[o]);
        want_place(run, buffer_of(run, b)->offset, buffer_of(run, b)->bytes, buffer_of(run, b)->persistent,
                   view == NULL ? run->plan->alignment : 1);
        if (view == NULL) {
            want_leave(run, step, o);
            put(run, b);
        } else {
            ebb_id base = s->reads[view->in];
            run->content[b] = run->content[base];
            run->shift[b] = run->shift[base] + view->offset_bytes;
            run->exists[b] = true;
        }
    }
}

static void run_step(token_run *run, uint32_t step) {
    const ebb_plan_step *s = &run->plan->steps[step];
    uint64_t *scratch = run->memory[0] + s->scratch_offset;
    want_place(run, s->scratch_offset, s->scratch_bytes, false, run->plan->alignment);
    want_reads(run, step, "before");
    for (int64_t k = 0; k < s->scratch_bytes; k++) scratch[k] = DIRT;
    want_reads(run, step, "with scratch in use");
    write_outputs(run, step);
    for (int64_t k = 0; k < s->scratch_bytes; k++)
        cr_assert_eq(scratch[k], DIRT, "step %u: an output lies over byte %lld of the scratch", step,
                     (long long)k);
    for (uint32_t o = 0; o < s->n_writes; o++) want_intact(run, s->writes[o], step, "after");
}

static void want_ends(const token_run *run) {
    const ebb_pgraph *graph = run->plan->graph;
    for (ebb_id b = 0; b < run->plan->n_buffers; b++) {
        ebb_id v = buffer_of(run, b)->value;
        bool last = graph->values[v].role == EBB_ROLE_OUTPUT || ebb_role_persistent(graph->values[v].role);
        for (ebb_id i = 0; i < graph->n_ops; i++)
            for (uint32_t k = 0; k < graph->ops[i].n_update; k++)
                if (graph->ops[i].in[graph->ops[i].update[k].in] == v) last = false;
        if (last) want_intact(run, b, run->plan->n_steps, "at the end");
    }
}

void run_on_tokens(const ebb_plan *plan) {
    token_run run = {.plan = plan};
    run.memory[0] = calloc((size_t)plan->arena_bytes + 1, sizeof(uint64_t));
    run.memory[1] = calloc((size_t)plan->persistent_bytes + 1, sizeof(uint64_t));
    run.content = calloc((size_t)plan->n_buffers + 1, sizeof *run.content);
    run.shift = calloc((size_t)plan->n_buffers + 1, sizeof *run.shift);
    run.exists = calloc((size_t)plan->n_buffers + 1, sizeof *run.exists);
    cr_assert(run.memory[0] && run.memory[1] && run.content && run.shift && run.exists);
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        const ebb_buffer *buffer = &plan->buffers[b];
        if (plan->graph->values[buffer->value].producer != EBB_NONE) continue;
        want_place(&run, buffer->offset, buffer->bytes, buffer->persistent, plan->alignment);
        put(&run, b);
    }
    for (uint32_t step = 0; step < plan->n_steps; step++) run_step(&run, step);
    want_ends(&run);
    for (uint32_t r = 0; r < 2; r++) free(run.memory[r]);
    free(run.content);
    free(run.shift);
    free(run.exists);
}
