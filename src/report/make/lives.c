/* lives: storages, their owners, categories and fates.
 *
 * takes: an audited plan; steps with their phases. gives: report.lives. requires: the audit, which proves
 * that buffers share bytes only where they may. cost: O(buffers + edges). */
#include "report/make/make.h"
#include "report/words/words.h"

static bool overlap(const ebb_buffer *a, const ebb_buffer *b) {
    return a->persistent == b->persistent && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

/* Output j of a step: whose bytes it takes over, EBB_NONE when it has its own. */
static ebb_id find_joined(const ebb_plan *plan, const ebb_plan_step *step, uint32_t j, ebb_join *join) {
    const ebb_pop *op = &plan->graph->ops[step->op];
    ebb_pop_way way = ebb_pop_under(op, step->alternative);
    const ebb_buffer *out = &plan->buffers[step->writes[j]];
    for (uint32_t k = 0; k < op->n_views; k++) {
        if (op->views[k].out != j) continue;
        *join = EBB_JOIN_VIEW;
        return step->reads[op->views[k].in];
    }
    for (uint32_t k = 0; k < op->n_update; k++) {
        if (op->update[k].out != j) continue;
        *join = EBB_JOIN_UPDATE;
        return step->reads[op->update[k].in];
    }
    for (uint32_t k = 0; k < way.n_in_place; k++) {
        const ebb_buffer *in = &plan->buffers[step->reads[way.in_place[k].in]];
        if (way.in_place[k].out != j || in->bytes == 0 || !overlap(out, in)) continue;
        *join = EBB_JOIN_IN_PLACE;
        return step->reads[way.in_place[k].in];
    }
    *join = EBB_JOIN_NONE;
    return EBB_NONE;
}

/* Gives buffer b its storage: a new one, or the one of what it joined. ends: of first members. */
static void enter_storage(ebb_report_maker *m, int64_t *ends, ebb_id b) {
    const ebb_buffer *buffer = &m->plan->buffers[b];
    ebb_report_life *life = &m->lives[b];
    if (buffer->bytes == 0) return;
    ebb_id first = life->joined == EBB_NONE ? EBB_NONE : m->storage_of[life->joined];
    if (first == EBB_NONE) first = b;
    m->storage_of[b] = first;
    ends[first] = ebb_max_i64(ends[first], buffer->offset + buffer->bytes);
    if (buffer->upper > m->storage_upper[first]) m->storage_upper[first] = buffer->upper;
    life->owner = life->join == EBB_JOIN_VIEW ? m->lives[life->joined].owner : b;
}

/* Owners in order of writing: each ends where the next one in its storage begins. */
static void end_previous(ebb_report_maker *m, ebb_id *newest, ebb_id b) {
    ebb_id first = m->storage_of[b];
    if (first == EBB_NONE || m->lives[b].owner != b) return;
    if (newest[first] != EBB_NONE) m->lives[newest[first]].until = m->lives[b].lower;
    newest[first] = b;
}

static void hold(ebb_report_maker *m, const int64_t *ends, ebb_id b) {
    ebb_report_life *life = &m->lives[b];
    ebb_id first = m->storage_of[b];
    if (first == EBB_NONE) return;
    m->storage_bytes[first] =
        ebb_align_up(ends[first] - m->plan->buffers[first].offset, m->plan->alignment);
    if (life->owner != b) return;
    if (life->until == EBB_NONE) {
        life->until = m->storage_upper[first];
        if (life->until <= life->lower)
            life->until = life->lower + 1; /* a plan without steps has one point */
    }
    if (life->until > life->lower) life->held_bytes = m->storage_bytes[first];
}

static ebb_category category_of(const ebb_report_maker *m, const ebb_report_life *life) {
    bool forward = life->writer != EBB_NONE && m->steps[life->writer].phase == EBB_FORWARD;
    switch (life->role) {
    case EBB_ROLE_PARAM:
    case EBB_ROLE_CONSTANT:
        return EBB_CATEGORY_PARAMS;
    case EBB_ROLE_STATE:
        return EBB_CATEGORY_STATE;
    case EBB_ROLE_INPUT:
    case EBB_ROLE_OUTPUT:
        return EBB_CATEGORY_IO;
    case EBB_ROLE_ACTIVATION:
    case EBB_ROLE_GRADIENT:
        break;
    }
    if (life->recomputed) return EBB_CATEGORY_RECOMPUTED;
    if (life->role == EBB_ROLE_GRADIENT || !forward) return EBB_CATEGORY_GRADIENTS;
    uint32_t until = life->until != EBB_NONE ? life->until : life->upper; /* views own nothing */
    bool kept = m->backward != EBB_NONE && life->lower < m->backward && until > m->backward;
    return kept ? EBB_CATEGORY_KEPT : EBB_CATEGORY_TRANSIENT;
}

static ebb_fate fate_of(const ebb_report_life *life) {
    if (life->bytes == 0) return EBB_FATE_EMPTY;
    if (life->pinned) return EBB_FATE_LASTS;
    if (life->writer == EBB_NONE) return EBB_FATE_GIVEN;
    if (life->next != EBB_NONE) return EBB_FATE_DROPPED;
    return life->category == EBB_CATEGORY_KEPT ? EBB_FATE_KEPT : EBB_FATE_USED_UP;
}

/* Of each value, as views show them. */
typedef struct texts {
    const char **names, **shapes;
} texts;

/* From the plan's tables; newest: per value its life so far. */
static void begin_life(ebb_report_maker *m, const texts *words, ebb_id b) {
    const ebb_buffer *buffer = &m->plan->buffers[b];
    const ebb_pvalue *value = &m->plan->graph->values[buffer->value];
    ebb_report_life *life = &m->lives[b];
    *life = (ebb_report_life){.value = buffer->value,
                              .name = words->names[buffer->value],
                              .shape = words->shapes[buffer->value],
                              .role = value->role,
                              .persistent = buffer->persistent,
                              .repeatable = value->producer != EBB_NONE &&
                                            ebb_pop_repeatable(&m->plan->graph->ops[value->producer]),
                              .offset = buffer->offset,
                              .bytes = buffer->bytes,
                              .lower = buffer->lower,
                              .upper = buffer->upper,
                              .writer = EBB_NONE,
                              .joined = EBB_NONE,
                              .owner = EBB_NONE,
                              .until = EBB_NONE,
                              .next = EBB_NONE};
    life->pinned = buffer->upper >= m->plan->n_steps && m->plan->n_steps > 0 &&
                   (value->role == EBB_ROLE_OUTPUT ||
                    (ebb_role_persistent(value->role) && value->role != EBB_ROLE_CONSTANT));
    m->storage_of[b] = EBB_NONE;
}

static void link_step(ebb_report_maker *m, ebb_id *newest, uint32_t s) {
    const ebb_plan_step *step = &m->plan->steps[s];
    for (uint32_t j = 0; j < step->n_writes; j++) {
        ebb_report_life *life = &m->lives[step->writes[j]];
        life->writer = s;
        life->recomputed = step->recompute;
        life->joined = find_joined(m->plan, step, j, &life->join);
        if (newest[life->value] != EBB_NONE) m->lives[newest[life->value]].next = step->writes[j];
        newest[life->value] = step->writes[j];
    }
}

static bool clean_texts(ebb_report_maker *m, texts *out) {
    const ebb_pgraph *graph = m->plan->graph;
    ebb_arena *arena = &m->report->arena;
    out->names = EBB_NEW(&m->scratch, const char *, graph->n_values);
    out->shapes = EBB_NEW(&m->scratch, const char *, graph->n_values);
    bool good = out->names && out->shapes;
    for (ebb_id v = 0; good && v < graph->n_values; v++) {
        const ebb_pvalue *value = &graph->values[v];
        out->names[v] = ebb_report_called(m, value->name);
        out->shapes[v] = value->shape ? ebb_report_name(arena, value->shape) : "";
        good = out->names[v] && out->shapes[v];
    }
    return good;
}

ebb_status ebb_report_lives(ebb_report_maker *m) {
    const ebb_plan *plan = m->plan;
    size_t n = plan->n_buffers, n_values = plan->graph->n_values;
    texts words;
    bool cleaned = clean_texts(m, &words);
    int64_t *ends = EBB_NEW(&m->scratch, int64_t, n);
    ebb_id *newest = EBB_NEW(&m->scratch, ebb_id, n > n_values ? n : n_values);
    m->lives = EBB_NEW(&m->report->arena, ebb_report_life, n);
    m->storage_of = EBB_NEW(&m->scratch, ebb_id, n);
    m->storage_bytes = EBB_NEW(&m->scratch, int64_t, n);
    m->storage_upper = EBB_NEW(&m->scratch, uint32_t, n);
    if (!cleaned || !ends || !newest || !m->lives || !m->storage_of || !m->storage_bytes ||
        !m->storage_upper)
        return EBB_NO_MEMORY;
    for (ebb_id v = 0; v < n_values; v++) newest[v] = EBB_NONE;
    for (ebb_id b = 0; b < n; b++) begin_life(m, &words, b);
    for (uint32_t s = 0; s < plan->n_steps; s++) link_step(m, newest, s);
    /* Given ones first, then in order of writing: a joined buffer comes after what it joined. */
    for (ebb_id b = 0; b < n; b++) newest[b] = EBB_NONE;
    for (ebb_id b = 0; b < n; b++)
        if (m->lives[b].writer == EBB_NONE) {
            enter_storage(m, ends, b);
            end_previous(m, newest, b);
        }
    for (uint32_t s = 0; s < plan->n_steps; s++)
        for (uint32_t j = 0; j < plan->steps[s].n_writes; j++) {
            enter_storage(m, ends, plan->steps[s].writes[j]);
            end_previous(m, newest, plan->steps[s].writes[j]);
        }
    for (ebb_id b = 0; b < n; b++) hold(m, ends, b);
    for (ebb_id b = 0; b < n; b++) m->lives[b].category = category_of(m, &m->lives[b]);
    for (ebb_id b = 0; b < n; b++) m->lives[b].fate = fate_of(&m->lives[b]);
    m->report->lives = m->lives;
    m->report->n_lives = plan->n_buffers;
    return EBB_OK;
}
