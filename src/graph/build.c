/* Builder: values and nodes are checked as they come, so that an error can be told where it was made. The
 * first error latches. Made names wait for the seal (seal.c): a pass may find a better one until then. */
#include "graph/build.h"

#include <math.h>
#include <stdio.h>

static const ebb_id none[EBB_MAX_RESULTS] = {EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE};

/* ---- life and errors --------------------------------------------------------------------------- */

ebb_status ebb_builder_create(ebb_env *env, const char *name, ebb_builder **out) {
    *out = NULL;
    ebb_builder *b = ebb_calloc(env, 1, sizeof *b);
    if (!b) return EBB_NO_MEMORY;
    b->env = env;
    b->loss = EBB_NONE;
    ebb_arena_init(&b->arena, env);
    ebb_arena_init(&b->scratch, env);
    *out = b;
    if (!ebb_name_valid(name)) {
        ebb_build_fail(b, EBB_BAD_INPUT, "graph name \"%.60s\" must be letters, digits and any of _ . - /", name);
        return EBB_OK;
    }
    b->name = ebb_arena_text(&b->arena, name);
    if (!b->name) ebb_build_fail(b, EBB_NO_MEMORY, "%s", ebb_env_error(env));
    return EBB_OK;
}

void ebb_builder_destroy(ebb_builder *b) {
    if (!b) return;
    ebb_env *env = b->env;
    EBB_ARRAY_FREE(env, &b->values);
    EBB_ARRAY_FREE(env, &b->nodes);
    ebb_names_deinit(env, &b->names);
    ebb_arena_deinit(&b->arena);
    ebb_arena_deinit(&b->scratch);
    ebb_cfree(env, b, 1, sizeof *b);
}

void ebb_build_fail(ebb_builder *b, ebb_status status, const char *format, ...) {
    if (b->status) return;
    va_list list;
    va_start(list, format);
    vsnprintf(b->error, sizeof b->error, format, list);
    va_end(list);
    b->status = ebb_fail(b->env, status, "%s", b->error);
}

/* Latches what a callee has just put into the env, naming the value that was to be made. */
static void latch(ebb_builder *b, ebb_status status, const char *name) {
    char text[sizeof b->error];
    snprintf(text, sizeof text, "%s", ebb_env_error(b->env));
    if (name && status == EBB_BAD_INPUT) {
        ebb_build_fail(b, status, "%%%.200s: %s", name, text);
    } else {
        ebb_build_fail(b, status, "%s", text);
    }
}

ebb_status ebb_build_status(const ebb_builder *b) { return b->status; }

/* ---- values ---------------------------------------------------------------------------------------- */

ebb_id ebb_build_find(const ebb_builder *b, const char *name, size_t n) {
    return ebb_names_find(&b->names, name, n);
}

bool ebb_build_named(const ebb_builder *b, ebb_id value) { return b->values.at[value]->value.name != NULL; }

static bool value_known(const ebb_builder *b, ebb_id value) { return value < b->values.n; }

bool ebb_build_rename(ebb_builder *b, ebb_id id, const char *name) {
    if (b->status || !value_known(b, id) || ebb_build_named(b, id)) return false;
    if (ebb_build_find(b, name, strlen(name)) != EBB_NONE) return false;
    const char *copy = ebb_arena_text(&b->arena, name);
    if (!copy || ebb_names_add(b->env, &b->names, copy, id)) {
        latch(b, EBB_NO_MEMORY, NULL);
        return false;
    }
    b->values.at[id]->value.name = copy;
    return true;
}

void ebb_build_stem(ebb_builder *b, ebb_id id, const char *stem) {
    if (value_known(b, id)) b->values.at[id]->stem = stem;
}

const ebb_type *ebb_build_type(const ebb_builder *b, ebb_id value) {
    static const ebb_type scalar = {.dtype = EBB_F32};
    return b->status || !value_known(b, value) ? &scalar : &b->values.at[value]->value.type;
}

/* A given name must be legal and free. */
static bool name_check(ebb_builder *b, const char *name) {
    if (!name) return true;
    if (!ebb_name_valid(name)) {
        ebb_build_fail(b, EBB_BAD_INPUT, "value name \"%.60s\" must be letters, digits and any of _ . - /", name);
        return false;
    }
    if (ebb_build_find(b, name, strlen(name)) == EBB_NONE) return true;
    ebb_build_fail(b, EBB_BAD_INPUT, "%%%.200s is already defined: choose another name", name);
    return false;
}

static ebb_id value_push(ebb_builder *b, const char *name, const ebb_value *value) {
    ebb_id id = (ebb_id)b->values.n;
    if (b->values.n >= EBB_MAX_VALUES) {
        ebb_build_fail(b, EBB_BAD_INPUT, "more than %d values", EBB_MAX_VALUES);
        return EBB_NONE;
    }
    ebb_draft_value *draft = EBB_NEW(&b->scratch, ebb_draft_value, 1);
    if (!draft || !EBB_PUSH(b->env, &b->values, draft)) {
        latch(b, EBB_NO_MEMORY, NULL);
        return EBB_NONE;
    }
    *draft = (ebb_draft_value){.value = *value, .root = id, .updater = EBB_NONE};
    if (!name || ebb_build_rename(b, id, name)) return id;
    ebb_build_fail(b, EBB_BAD_INPUT, "%%%.200s names two results: choose another name", name);
    return EBB_NONE;
}

/* ---- given values ------------------------------------------------------------------------------------- */

static bool given_check(ebb_builder *b, const char *name, ebb_role role, const ebb_type *type, ebb_init init,
                        double fill) {
    char text[EBB_TYPE_TEXT];
    const char *shown = name ? name : "";
    bool real = type->dtype != EBB_I32, trained = role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE;
    uint32_t rank = init == EBB_INIT_KAIMING ? 2 : init == EBB_INIT_UNIFORM ? 1 : 0;
    if (role != EBB_ROLE_INPUT && role != EBB_ROLE_CONSTANT && !trained) {
        ebb_build_fail(b, EBB_INTERNAL, "%%%.200s: role %d is not given", shown, (int)role);
    } else if (!ebb_type_valid(type)) {
        ebb_build_fail(b, EBB_BAD_INPUT,
                       "%%%.200s: rank is at most %d, sizes at least 1, and all bytes together below 2^63", shown,
                       EBB_MAX_RANK);
    } else if (trained && rank && (!real || type->rank < rank)) {
        ebb_build_fail(b, EBB_BAD_INPUT, "%%%.200s: %s init needs f32 or f64 of rank %u or more, not %s", shown,
                       rank == 2 ? "kaiming" : "uniform", rank, ebb_type_text(type, text));
    } else if (role == EBB_ROLE_CONSTANT && !isfinite(fill)) {
        ebb_build_fail(b, EBB_BAD_INPUT, "%%%.200s: fill must be finite", shown);
    } else if (role == EBB_ROLE_CONSTANT && !real &&
               !(fill >= INT32_MIN && fill <= INT32_MAX && fill == floor(fill))) {
        ebb_build_fail(b, EBB_BAD_INPUT, "%%%.200s: fill of an i32 must be a whole number of 32 bits", shown);
    }
    return !b->status;
}

ebb_id ebb_build_given(ebb_builder *b, const char *name, ebb_role role, const ebb_type *type, ebb_init init,
                       double fill) {
    if (b->status || !name_check(b, name) || !given_check(b, name, role, type, init, fill)) return EBB_NONE;
    ebb_value value = {.type = {.dtype = type->dtype, .rank = type->rank}, .role = role, .producer = EBB_NONE};
    for (uint32_t i = 0; i < type->rank; i++) value.type.dim[i] = type->dim[i];
    if (role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE) value.init = init;
    if (role == EBB_ROLE_CONSTANT) value.fill = fill;
    return value_push(b, name, &value);
}

/* ---- nodes ------------------------------------------------------------------------------------------- */

uint32_t ebb_result_target(const ebb_op_info *op, uint32_t result) {
    for (uint32_t i = 0; i < op->n_update; i++) {
        if (op->update[i].out == result) return op->update[i].in;
    }
    return EBB_NONE;
}

ebb_role ebb_result_role(const ebb_op_info *op, ebb_phase phase, uint32_t result, ebb_role target) {
    if (ebb_result_target(op, result) != EBB_NONE) return target;
    return phase == EBB_FORWARD ? EBB_ROLE_ACTIVATION : EBB_ROLE_GRADIENT;
}

static bool operands_check(ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                           ebb_phase phase) {
    if (n_in < op->min_in || n_in > op->max_in || n_in > EBB_MAX_OPERANDS) {
        ebb_build_fail(b, EBB_BAD_INPUT, "%s takes %u%s%.0u operands, not %u", op->name, op->min_in,
                       op->min_in < op->max_in ? " to " : "", op->min_in < op->max_in ? op->max_in : 0, n_in);
        return false;
    }
    for (uint32_t i = 0; i < n_in; i++) {
        if (!value_known(b, in[i])) {
            ebb_build_fail(b, EBB_INTERNAL, "%s: operand %u is no value", op->name, i);
            return false;
        }
        const ebb_draft_value *v = b->values.at[in[i]];
        const char *name = v->value.name ? v->value.name : "?";
        if (b->values.at[v->root]->updater != EBB_NONE) {
            ebb_build_fail(b, EBB_BAD_INPUT, "%s reads %%%.200s after %s has updated it: use its new value", op->name,
                           name, b->nodes.at[b->values.at[v->root]->updater].op->name);
            return false;
        }
        if (v->value.producer == EBB_NONE || b->nodes.at[v->value.producer].phase <= phase) continue;
        ebb_build_fail(b, EBB_BAD_INPUT, "%s of the %s phase reads %%%.200s of the %s phase", op->name,
                       ebb_phase_name(phase), name, ebb_phase_name(b->nodes.at[v->value.producer].phase));
        return false;
    }
    return true;
}

/* Targets of updates must be given params or states, each updated once, by a node that reads each of them
 * through that operand alone: another view of the bytes would see them change. */
static bool updates_check(ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t n_in) {
    for (uint32_t i = 0; i < op->n_update; i++) {
        const ebb_draft_value *v = b->values.at[in[op->update[i].in]];
        const char *name = v->value.name ? v->value.name : "?";
        if (v->value.producer != EBB_NONE ||
            (v->value.role != EBB_ROLE_PARAM && v->value.role != EBB_ROLE_STATE)) {
            ebb_build_fail(b, EBB_BAD_INPUT, "%s updates %%%.200s, which is not a given param or state", op->name,
                           name);
            return false;
        }
        for (uint32_t j = 0; j < n_in; j++) {
            if (j == op->update[i].in || b->values.at[in[j]]->root != v->root) continue;
            ebb_build_fail(b, EBB_BAD_INPUT, "%s updates %%%.200s and reads its bytes as operand %u too", op->name,
                           name, j);
            return false;
        }
    }
    return true;
}

/* The node's attributes, checked: a copy of attr, or all defaults. NULL on a latched error. */
static const ebb_attr *attrs_make(ebb_builder *b, const ebb_op_info *op, const ebb_attr *attr) {
    ebb_attr *made = EBB_NEW(&b->arena, ebb_attr, op->n_attrs);
    if (!made) {
        latch(b, EBB_NO_MEMORY, NULL);
        return NULL;
    }
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const ebb_attr_info *info = &op->attrs[i];
        if (!attr && info->required) {
            ebb_build_fail(b, EBB_BAD_INPUT, "%s needs %s=", op->name, info->name);
            return NULL;
        }
        made[i] = attr ? ebb_attr_clean(info, &attr[i]) : ebb_attr_default(info);
        ebb_status status = ebb_attr_check(b->env, op, info, &made[i]);
        if (status) {
            latch(b, status, NULL);
            return NULL;
        }
    }
    return made;
}

/* Types of the results by the op's shape rule. */
static bool infer(ebb_builder *b, const ebb_node *node, const char *name, ebb_type *out) {
    ebb_type in[EBB_MAX_OPERANDS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = b->values.at[node->in[i]]->value.type;
    ebb_call call = {
        .op = node->op, .in = in, .out = out, .n_in = node->n_in, .n_out = node->n_out, .attr = node->attr};
    ebb_status status = node->op->infer(b->env, &call, out);
    if (status) {
        latch(b, status, name);
        return false;
    }
    for (uint32_t i = 0; i < node->n_out; i++) {
        if (ebb_type_valid(&out[i])) continue;
        ebb_build_fail(b, EBB_BAD_INPUT, "%s: result %u has sizes below 1 or too many bytes", node->op->name, i);
        return false;
    }
    return true;
}

static bool results_push(ebb_builder *b, const ebb_node *node, ebb_id *out, const ebb_type *types,
                         const char *const *names) {
    ebb_id id = (ebb_id)b->nodes.n;
    for (uint32_t i = 0; i < node->n_out; i++) {
        uint32_t target = ebb_result_target(node->op, i);
        ebb_role role = target == EBB_NONE ? EBB_ROLE_INPUT : b->values.at[node->in[target]]->value.role;
        ebb_value value = {.type = {.dtype = types[i].dtype, .rank = types[i].rank},
                           .role = ebb_result_role(node->op, node->phase, i, role),
                           .producer = id,
                           .result = i};
        for (uint32_t d = 0; d < types[i].rank; d++) value.type.dim[d] = types[i].dim[d];
        out[i] = value_push(b, names ? names[i] : NULL, &value);
        if (b->status) return false;
        if (target != EBB_NONE) b->values.at[b->values.at[node->in[target]]->root]->updater = id;
    }
    if (node->op->view) b->values.at[out[0]]->root = b->values.at[node->in[0]]->root;
    return true;
}

const ebb_id *ebb_build_node(ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                             const ebb_attr *attr, const char *const *names, ebb_phase phase, uint64_t seed_key) {
    if (b->status || !operands_check(b, op, in, n_in, phase) || !updates_check(b, op, in, n_in)) return none;
    for (uint32_t i = 0; names && i < op->n_out; i++) {
        if (!name_check(b, names[i])) return none;
    }
    ebb_node node = {.op = op, .phase = phase, .n_in = n_in, .n_out = op->n_out};
    if (op->effect == EBB_SEEDED) node.seed_key = seed_key;
    node.attr = attrs_make(b, op, attr);
    if (!node.attr) return none;
    ebb_id *out = EBB_NEW(&b->arena, ebb_id, op->n_out);
    node.in = ebb_arena_copy(&b->arena, in, n_in, sizeof *in);
    node.out = out;
    if (!node.in || !out) {
        latch(b, EBB_NO_MEMORY, NULL);
        return none;
    }
    ebb_type types[EBB_MAX_RESULTS] = {{0}};
    if (!infer(b, &node, names ? names[0] : NULL, types)) return none;
    if (!results_push(b, &node, out, types, names)) return none;
    if (!EBB_PUSH(b->env, &b->nodes, node)) {
        latch(b, EBB_NO_MEMORY, NULL);
        return none;
    }
    return out;
}

/* ---- what the graph is for -------------------------------------------------------------------------- */

void ebb_build_output(ebb_builder *b, ebb_id id) {
    if (b->status) return;
    if (!value_known(b, id)) {
        ebb_build_fail(b, EBB_INTERNAL, "output %u is no value", id);
        return;
    }
    ebb_value *value = &b->values.at[id]->value;
    if (value->role == EBB_ROLE_ACTIVATION || value->role == EBB_ROLE_GRADIENT) value->role = EBB_ROLE_OUTPUT;
    if (value->role == EBB_ROLE_OUTPUT) return;
    ebb_build_fail(b, EBB_BAD_INPUT, "%%%.200s cannot be an output: it is %s %s, which can be read as it is",
                   value->name ? value->name : "?", value->role == EBB_ROLE_INPUT ? "an" : "a",
                   ebb_role_name(value->role));
}

void ebb_build_loss(ebb_builder *b, ebb_id id) {
    if (b->status) return;
    if (!value_known(b, id)) {
        ebb_build_fail(b, EBB_INTERNAL, "loss %u is no value", id);
        return;
    }
    const ebb_value *value = &b->values.at[id]->value;
    const char *name = value->name ? value->name : "?";
    char text[EBB_TYPE_TEXT];
    if (b->loss != EBB_NONE) {
        ebb_build_fail(b, EBB_BAD_INPUT, "a second loss, %%%.200s: add the two and name the sum", name);
    } else if (value->producer == EBB_NONE || value->type.rank != 0 || value->type.dtype == EBB_I32) {
        ebb_build_fail(b, EBB_BAD_INPUT, "loss %%%.200s must be a computed f32[] or f64[], not %s %s", name,
                       value->producer == EBB_NONE ? "a given" : "a computed", ebb_type_text(&value->type, text));
    } else {
        b->loss = id;
    }
}
