/* What the graph tests share. */
#include "passes.h"

#include <stdio.h>

#include "graph/ir/ir.h"

ebb_env *graph_env(void) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    return env;
}

void graph_env_end(ebb_env *env) {
    /* The env counts itself. */
    ebb_env *empty = graph_env();
    size_t own = ebb_env_allocated_bytes(empty);
    ebb_env_destroy(empty);
    cr_expect_eq(ebb_env_allocated_bytes(env), own, "%zu bytes are left",
                 ebb_env_allocated_bytes(env) - own);
    ebb_env_destroy(env);
}

ebb_graph *graph_read(ebb_env *env, const char *text) {
    ebb_graph *graph = NULL;
    ebb_status status = ebb_graph_parse(env, "test", text, strlen(text), NULL, &graph);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    return graph;
}

ebb_text graph_text(ebb_env *env, const ebb_graph *graph) {
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_graph_print(&text, graph);
    cr_assert_eq(ebb_text_status(&text), EBB_OK);
    return text;
}

/* ---- equality ----------------------------------------------------------------------------------- */

static bool same_values(const ebb_value *a, const ebb_value *b) {
    return strcmp(a->name, b->name) == 0 && ebb_type_equal(&a->type, &b->type) && a->role == b->role &&
           a->producer == b->producer && a->result == b->result && a->init == b->init &&
           memcmp(&a->fill, &b->fill, sizeof a->fill) == 0;
}

static bool same_ids(const ebb_id *a, uint32_t n_a, const ebb_id *b, uint32_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static bool same_nodes(const ebb_node *a, const ebb_node *b) {
    if (a->op != b->op || a->phase != b->phase || a->seed_key != b->seed_key) return false;
    for (uint32_t i = 0; i < a->op->n_attrs; i++) {
        if (!ebb_attr_equal(&a->op->attrs[i], &a->attr[i], &b->attr[i])) return false;
    }
    return same_ids(a->in, a->n_in, b->in, b->n_in) && same_ids(a->out, a->n_out, b->out, b->n_out);
}

const char *graph_difference(const ebb_graph *a, const ebb_graph *b) {
    if (strcmp(a->name, b->name) != 0) return "names";
    if (a->n_values != b->n_values) return "numbers of values";
    if (a->n_nodes != b->n_nodes) return "numbers of nodes";
    if (a->loss != b->loss) return "losses";
    for (ebb_id v = 0; v < a->n_values; v++) {
        if (!same_values(&a->values[v], &b->values[v])) return a->values[v].name;
    }
    for (ebb_id n = 0; n < a->n_nodes; n++) {
        if (!same_nodes(&a->nodes[n], &b->nodes[n])) return a->values[a->nodes[n].out[0]].name;
    }
    return NULL;
}

/* ---- passes ---- */

static ebb_status mark(ebb_env *env, const char *list, const ebb_graph *graph, ebb_graph **out) {
    char text[256];
    const char *names[16];
    uint32_t n = 0;
    snprintf(text, sizeof text, "%s", list);
    for (char *at = text; at && n < EBB_COUNT(names);) {
        names[n++] = at;
        at = strchr(at, ',');
        if (at) *at++ = 0;
    }
    return ebb_mark_outputs(env, graph, names, n, out);
}

static ebb_status sgd(ebb_env *env, const char *pass, const ebb_graph *graph, ebb_graph **out) {
    ebb_sgd options = {0};
    if (strncmp(pass, "sgd", 3) != 0) options = (ebb_sgd){.momentum = 0.9, .weight_decay = 0.0001};
    options.nesterov = strncmp(pass, "nesterov", 8) == 0;
    return ebb_add_sgd(env, graph, &options, strstr(pass, "-phased") != NULL, out);
}

static ebb_status adamw(ebb_env *env, const char *pass, const ebb_graph *graph, ebb_graph **out) {
    const ebb_adamw options = {.beta1 = 0.75, .beta2 = 0.875, .eps = 0.5, .weight_decay = 0.25};
    return ebb_add_adamw(env, graph, &options, strstr(pass, "-phased") != NULL, out);
}

ebb_status graph_pass(ebb_env *env, const char *pass, ebb_graph **graph) {
    ebb_graph *next = NULL;
    ebb_status status = EBB_INTERNAL;
    if (strcmp(pass, "lower-train") == 0) {
        status = ebb_lower(env, *graph, EBB_TRAIN, &next);
    } else if (strcmp(pass, "lower-eval") == 0) {
        status = ebb_lower(env, *graph, EBB_EVAL, &next);
    } else if (strcmp(pass, "bf16") == 0 || strcmp(pass, "f16") == 0) {
        status = ebb_lower_precision(env, *graph, pass[0] == 'b' ? EBB_BF16 : EBB_F16, &next);
    } else if (strcmp(pass, "fuse") == 0) {
        status = ebb_fuse(env, *graph, NULL, 0, &next);
    } else if (strcmp(pass, "grad") == 0) {
        status = ebb_grad(env, *graph, &next);
    } else if (strcmp(pass, "grad-scaled") == 0) {
        status = ebb_grad_scaled(env, *graph, 1024, &next);
    } else if (strcmp(pass, "recast") == 0) {
        status = ebb_recast_params(env, *graph, &next);
    } else if (strcmp(pass, "scale") == 0 || strcmp(pass, "scale-clip") == 0) {
        status = ebb_scale_gradients(env, *graph, pass[5] ? 0.5 : 0, &next);
    } else if (strcmp(pass, "algebra") == 0) {
        status = ebb_algebra(env, *graph, &next);
    } else if (strcmp(pass, "simplify") == 0) {
        status = ebb_simplify(env, *graph, &next);
    } else if (strcmp(pass, "pointwise") == 0) {
        status = ebb_fuse_pointwise(env, *graph, &next);
    } else if (strcmp(pass, "narrow") == 0) {
        status = ebb_narrow_updates(env, *graph, &next);
    } else if (strcmp(pass, "bits") == 0) {
        status = ebb_keep_bits(env, *graph, &next);
    } else if (strcmp(pass, "loss") == 0) {
        status = ebb_join_loss(env, *graph, &next);
    } else if (strcmp(pass, "norm") == 0) {
        status = ebb_join_norms(env, *graph, false, &next);
    } else if (strcmp(pass, "norm-bias") == 0) {
        status = ebb_join_norms(env, *graph, true, &next);
    } else if (strcmp(pass, "qkv") == 0) {
        status = ebb_join_qkv(env, *graph, false, &next);
    } else if (strcmp(pass, "qkv-bias") == 0) {
        status = ebb_join_qkv(env, *graph, true, &next);
    } else if (strncmp(pass, "mark=", 5) == 0) {
        status = mark(env, pass + 5, *graph, &next);
    } else if (strncmp(pass, "adamw", 5) == 0) {
        status = adamw(env, pass, *graph, &next);
    } else if (strcmp(pass, "accumulate") == 0) {
        status = ebb_accumulate_gradients(env, *graph, 2, &next);
    } else if (strcmp(pass, "clip") == 0) {
        status = ebb_clip_gradients(env, *graph, 0.5, &next);
    } else if (strncmp(pass, "sgd", 3) == 0 || strncmp(pass, "momentum", 8) == 0 ||
               strncmp(pass, "nesterov", 8) == 0) {
        status = sgd(env, pass, *graph, &next);
    } else {
        cr_assert_fail("no pass %s", pass);
    }
    cr_expect_eq(status != EBB_OK, next == NULL, "a failed pass gives nothing");
    if (status) return status;
    ebb_graph_destroy(*graph);
    *graph = next;
    return EBB_OK;
}
