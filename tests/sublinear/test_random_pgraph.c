/* The generator itself: valid, repeatable, and full of everything that the format knows. */
#include "support.h"

#include <stdlib.h>

static ebb_text print_graph(ebb_env *env, const ebb_pgraph *graph) {
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_pgraph_print(&json, NULL, graph);
    want_status(env, ebb_text_status(&text), EBB_OK);
    return text;
}

Test(random_pgraph, the_same_seed_gives_the_same_graph) {
    ebb_env *env = start_env();
    uint32_t n_same = 0;
    ebb_text before = {0};
    for (uint64_t seed = 0; seed < 30; seed++) {
        ebb_pgraph *a = draw_pgraph(env, seed, NULL), *b = draw_pgraph(env, seed, NULL);
        ebb_text one = print_graph(env, a), two = print_graph(env, b);
        cr_assert_str_eq(one.at, two.at);
        if (seed > 0) n_same += strcmp(one.at, before.at) == 0;
        ebb_text_deinit(&before);
        ebb_text_deinit(&two);
        before = one;
        ebb_pgraph_destroy(a);
        ebb_pgraph_destroy(b);
    }
    ebb_text_deinit(&before);
    cr_assert_eq(n_same, 0);
    end_env(env);
}

Test(random_pgraph, sizes_and_limits_are_kept) {
    static const uint32_t sizes[] = {1, 3, 7, 33, 200};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 100; seed++) {
        random_pgraph_options options = {
            .n_ops = sizes[seed % 5], .max_bytes = 77, .max_choices = 3, .no_choices = seed % 2 == 0};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        uint32_t n_choices = 0;
        cr_assert_eq(graph->n_ops, options.n_ops);
        for (uint32_t v = 0; v < graph->n_values; v++) cr_assert_leq(graph->values[v].bytes, 77);
        for (uint32_t i = 0; i < graph->n_ops; i++) {
            const ebb_pop *op = &graph->ops[i];
            n_choices += op->recomputable || op->optional || op->n_alternatives > 0;
            if (options.no_choices) cr_assert(!op->optional && op->n_alternatives == 0);
        }
        cr_assert_leq(n_choices, 3);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* A name for each thing that must turn up. */
/* clang-format off */
#define FEATURES(X) \
    X(sinks) X(no_inputs) X(two_outputs) X(zero_bytes) X(same_input_twice) X(unread_inputs) \
    X(unread_values) X(outputs) X(gradients) X(in_place) X(scratch) X(free_views) \
    X(views_at_offsets) X(views_beside_outputs) X(views_of_views) X(views_of_params) \
    X(param_updates) X(state_updates) X(updates_of_updates) X(optional) X(optional_outputs) \
    X(alternatives) X(other_inputs) X(other_pairs) X(ordered) X(after) X(not_recomputable) \
    X(no_time) X(backward) X(updates)
/* clang-format on */

#define AS_FIELD(name) uint32_t name;
typedef struct features {
    FEATURES(AS_FIELD)
} features;

static void note_view(const ebb_pgraph *graph, const ebb_pop *op, ebb_view view, features *f) {
    const ebb_pvalue *base = &graph->values[op->in[view.in]];
    f->free_views += op->n_out == 1 && op->time_ns == 0;
    f->views_at_offsets += view.offset_bytes > 0;
    f->views_beside_outputs += op->n_out > op->n_views;
    f->views_of_params += base->role == EBB_ROLE_PARAM || base->role == EBB_ROLE_STATE;
    for (uint32_t k = 0; base->producer != EBB_NONE && k < graph->ops[base->producer].n_views; k++)
        f->views_of_views += graph->ops[base->producer].views[k].out == base->result;
}

static void note_op(const ebb_pgraph *graph, const ebb_pop *op, features *f) {
    f->sinks += op->n_out == 0;
    f->no_inputs += op->n_in == 0;
    f->two_outputs += op->n_out > 1;
    f->in_place += op->n_in_place > 0;
    f->scratch += op->scratch_bytes > 0;
    f->optional += op->optional;
    f->alternatives += op->n_alternatives > 0;
    f->ordered += op->ordered;
    f->after += op->n_after > 0;
    f->not_recomputable += !op->recomputable;
    f->no_time += op->time_ns == 0;
    f->backward += op->phase == EBB_BACKWARD;
    f->updates += op->phase == EBB_UPDATE;
    for (uint32_t k = 0; k + 1 < op->n_in; k++) f->same_input_twice += op->in[k] == op->in[k + 1];
    for (uint32_t k = 0; k < op->n_views; k++) note_view(graph, op, op->views[k], f);
    for (uint32_t k = 0; k < op->n_update; k++) {
        const ebb_pvalue *old = &graph->values[op->in[op->update[k].in]];
        f->param_updates += old->role == EBB_ROLE_PARAM;
        f->state_updates += old->role == EBB_ROLE_STATE;
        f->updates_of_updates += old->producer != EBB_NONE;
    }
    for (uint32_t k = 0; k < op->n_alternatives; k++) {
        f->other_inputs += op->alternatives[k].has_inputs;
        f->other_pairs += op->alternatives[k].n_in_place > 0;
    }
    for (uint32_t k = 0; k < op->n_out; k++)
        f->optional_outputs += op->optional && graph->values[op->out[k]].role == EBB_ROLE_OUTPUT;
}

static void note_values(const ebb_pgraph *graph, bool *read, features *f) {
    for (uint32_t i = 0; i < graph->n_ops; i++)
        for (uint32_t k = 0; k < graph->ops[i].n_in; k++) read[graph->ops[i].in[k]] = true;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        const ebb_pvalue *value = &graph->values[v];
        f->zero_bytes += value->bytes == 0;
        f->outputs += value->role == EBB_ROLE_OUTPUT;
        f->gradients += value->role == EBB_ROLE_GRADIENT;
        f->unread_inputs += !read[v] && value->role == EBB_ROLE_INPUT;
        f->unread_values += !read[v] && value->producer != EBB_NONE;
        read[v] = false;
    }
}

Test(random_pgraph, everything_turns_up) {
    features f = {0};
    bool *read = calloc(100000, 1);
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 300; seed++) {
        ebb_pgraph *graph = draw_pgraph(env, seed, NULL);
        cr_assert(graph->n_ops >= 3 && graph->n_ops <= 60 && graph->n_values < 100000);
        for (uint32_t i = 0; i < graph->n_ops; i++) note_op(graph, &graph->ops[i], &f);
        note_values(graph, read, &f);
        ebb_pgraph_destroy(graph);
    }
#define AS_CHECK(name) cr_expect_gt(f.name, 20, #name ": %u", f.name);
    FEATURES(AS_CHECK)
    free(read);
    end_env(env);
}
