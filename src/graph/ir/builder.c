/* Builder: values and nodes are checked as they come, so that an error can be told where it was made. The
 * first error latches. Nodes are in builder_node.c. Made names wait for the seal (seal.c): a pass may find
 * a better one until then. */
#include "graph/ir/ir.h"

#include <math.h>
#include <stdio.h>

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
        ebb_builder_fail(b, EBB_BAD_INPUT,
                         "graph name \"%.60s\" must be letters, digits and any of _ . - /", name);
        return EBB_OK;
    }
    b->name = ebb_arena_text(&b->arena, name);
    if (!b->name) ebb_builder_fail(b, EBB_NO_MEMORY, "%s", ebb_env_error(env));
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

void ebb_builder_fail(ebb_builder *b, ebb_status status, const char *format, ...) {
    if (b->status) return;
    va_list list;
    va_start(list, format);
    vsnprintf(b->error, sizeof b->error, format, list);
    va_end(list);
    b->status = ebb_fail(b->env, status, "%s", b->error);
}

void ebb_builder_latch(ebb_builder *b, ebb_status status, const char *name) {
    char text[sizeof b->error];
    snprintf(text, sizeof text, "%s", ebb_env_error(b->env));
    if (name && status == EBB_BAD_INPUT) {
        ebb_builder_fail(b, status, "%%%.200s: %s", name, text);
    } else {
        ebb_builder_fail(b, status, "%s", text);
    }
}

ebb_status ebb_builder_status(const ebb_builder *b) {
    return b->status;
}

/* ---- values ---------------------------------------------------------------------------------------- */

ebb_id ebb_builder_find(const ebb_builder *b, const char *name, size_t n) {
    return ebb_names_find(&b->names, name, n);
}

ebb_id ebb_builder_count(const ebb_builder *b) {
    return (ebb_id)b->values.n;
}

bool ebb_builder_named(const ebb_builder *b, ebb_id value) {
    return b->values.at[value]->value.name;
}

bool ebb_builder_known(const ebb_builder *b, ebb_id value) {
    return value < b->values.n;
}

bool ebb_builder_rename(ebb_builder *b, ebb_id id, const char *name) {
    if (b->status || !ebb_builder_known(b, id) || ebb_builder_named(b, id)) return false;
    if (ebb_builder_find(b, name, strlen(name)) != EBB_NONE) return false;
    const char *copy = ebb_arena_text(&b->arena, name);
    if (!copy || ebb_names_add(b->env, &b->names, copy, id)) {
        ebb_builder_latch(b, EBB_NO_MEMORY, NULL);
        return false;
    }
    b->values.at[id]->value.name = copy;
    return true;
}

void ebb_builder_stem(ebb_builder *b, ebb_id id, const char *stem) {
    if (ebb_builder_known(b, id)) b->values.at[id]->stem = stem;
}

const ebb_type *ebb_builder_type(const ebb_builder *b, ebb_id value) {
    static const ebb_type scalar = {.dtype = EBB_F32};
    return b->status || !ebb_builder_known(b, value) ? &scalar : &b->values.at[value]->value.type;
}

bool ebb_builder_name_check(ebb_builder *b, const char *name) {
    if (!name) return true;
    if (!ebb_name_valid(name)) {
        ebb_builder_fail(b, EBB_BAD_INPUT,
                         "value name \"%.60s\" must be letters, digits and any of _ . - /", name);
        return false;
    }
    if (ebb_builder_find(b, name, strlen(name)) == EBB_NONE) return true;
    ebb_builder_fail(b, EBB_BAD_INPUT, "%%%.200s is already defined: choose another name", name);
    return false;
}

ebb_id ebb_builder_push(ebb_builder *b, const char *name, const ebb_value *value) {
    ebb_id id = (ebb_id)b->values.n;
    if (b->values.n >= EBB_MAX_VALUES) {
        ebb_builder_fail(b, EBB_BAD_INPUT, "more than %d values", EBB_MAX_VALUES);
        return EBB_NONE;
    }
    ebb_draft_value *draft = EBB_NEW(&b->scratch, ebb_draft_value, 1);
    if (!draft || !EBB_PUSH(b->env, &b->values, draft)) {
        ebb_builder_latch(b, EBB_NO_MEMORY, NULL);
        return EBB_NONE;
    }
    *draft = (ebb_draft_value){.value = *value, .root = id, .updater = EBB_NONE};
    if (!name || ebb_builder_rename(b, id, name)) return id;
    ebb_builder_fail(b, EBB_BAD_INPUT, "%%%.200s names two results: choose another name", name);
    return EBB_NONE;
}

/* As an element of the dtype, which may hold less than a double. */
static bool fill_is_finite(ebb_dtype dtype, double fill) {
    double element; /* as wide as any dtype's */
    if (!isfinite(fill) || !ebb_dtype_real(dtype)) return isfinite(fill);
    ebb_dtypes[dtype].store(&element, 0, fill);
    return isfinite(ebb_dtypes[dtype].load(&element, 0));
}

/* ---- given values ---------------------------------------------------------------------------- */

static bool given_check(ebb_builder *b, const char *name, ebb_role role, const ebb_type *type,
                        ebb_init init, double fill) {
    char text[EBB_TYPE_TEXT];
    const char *shown = name ? name : "";
    bool real = ebb_dtype_real(type->dtype), trained = role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE;
    const bool filled = role == EBB_ROLE_CONSTANT || (trained && init == EBB_INIT_FILL);
    uint32_t rank = init == EBB_INIT_KAIMING ? 2 : init == EBB_INIT_UNIFORM ? 1 : 0;
    if (role != EBB_ROLE_INPUT && role != EBB_ROLE_CONSTANT && !trained) {
        ebb_builder_fail(b, EBB_INTERNAL, "%%%.200s: role %d is not given", shown, (int)role);
    } else if (!ebb_type_valid(type)) {
        ebb_builder_fail(
            b, EBB_BAD_INPUT,
            "%%%.200s: rank is at most %d, sizes at least 1, and all bytes together below 2^63", shown,
            EBB_MAX_RANK);
    } else if (trained && rank && (!real || type->rank < rank)) {
        ebb_builder_fail(b, EBB_BAD_INPUT,
                         "%%%.200s: %s init needs f32, f64, f16 or bf16 of rank %u or more, not %s", shown,
                         rank == 2 ? "kaiming" : "uniform", rank, ebb_type_text(type, text));
    } else if (filled && !fill_is_finite(type->dtype, fill)) {
        ebb_builder_fail(b, EBB_BAD_INPUT, "%%%.200s: fill must be finite as %s", shown,
                         ebb_dtype_name(type->dtype));
    } else if (filled && !real && !(fill >= INT32_MIN && fill <= INT32_MAX && fill == floor(fill))) {
        ebb_builder_fail(b, EBB_BAD_INPUT, "%%%.200s: fill of an i32 must be a whole number of 32 bits",
                         shown);
    }
    return !b->status;
}

ebb_id ebb_builder_given(ebb_builder *b, const char *name, ebb_role role, const ebb_type *type,
                         ebb_init init, double fill) {
    if (b->status || !ebb_builder_name_check(b, name) || !given_check(b, name, role, type, init, fill))
        return EBB_NONE;
    ebb_value value = {.type = {.dtype = type->dtype, .rank = type->rank},
                       .role = role,
                       .producer = EBB_NONE,
                       .begins_as = EBB_NONE};
    for (uint32_t i = 0; i < type->rank; i++) value.type.dim[i] = type->dim[i];
    if (role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE) value.init = init;
    if (role == EBB_ROLE_CONSTANT || value.init == EBB_INIT_FILL) value.fill = fill;
    return ebb_builder_push(b, name, &value);
}

void ebb_builder_within_step(ebb_builder *b, ebb_id value, ebb_id begins_as) {
    if (b->status || !ebb_builder_known(b, value)) return;
    if (begins_as != EBB_NONE &&
        !ebb_type_equal(ebb_builder_type(b, value), ebb_builder_type(b, begins_as)))
        ebb_builder_fail(b, EBB_INTERNAL, "%%%.200s begins as a value of another type",
                         b->values.at[value]->value.name);
    b->values.at[value]->value.within_step = true;
    b->values.at[value]->value.begins_as = begins_as;
}

/* ---- what the graph is for -------------------------------------------------------------------------- */

void ebb_builder_output(ebb_builder *b, ebb_id id) {
    if (b->status) return;
    if (!ebb_builder_known(b, id)) {
        ebb_builder_fail(b, EBB_INTERNAL, "output %u is no value", id);
        return;
    }
    ebb_value *value = &b->values.at[id]->value;
    if (value->role == EBB_ROLE_ACTIVATION || value->role == EBB_ROLE_GRADIENT)
        value->role = EBB_ROLE_OUTPUT;
    if (value->role == EBB_ROLE_OUTPUT) return;
    ebb_builder_fail(b, EBB_BAD_INPUT,
                     "%%%.200s cannot be an output: it is %s %s, which can be read as it is",
                     value->name ? value->name : "?", value->role == EBB_ROLE_INPUT ? "an" : "a",
                     ebb_role_name(value->role));
}

void ebb_builder_loss(ebb_builder *b, ebb_id id) {
    if (b->status) return;
    if (!ebb_builder_known(b, id)) {
        ebb_builder_fail(b, EBB_INTERNAL, "loss %u is no value", id);
        return;
    }
    const ebb_value *value = &b->values.at[id]->value;
    const char *name = value->name ? value->name : "?";
    char text[EBB_TYPE_TEXT];
    if (b->loss != EBB_NONE) {
        ebb_builder_fail(b, EBB_BAD_INPUT, "a second loss, %%%.200s: add the two and name the sum", name);
    } else if (value->producer == EBB_NONE || value->type.rank != 0 || !ebb_dtype_real(value->type.dtype)) {
        ebb_builder_fail(b, EBB_BAD_INPUT, "loss %%%.200s must be a computed f32[] or f64[], not %s %s",
                         name, value->producer == EBB_NONE ? "a given" : "a computed",
                         ebb_type_text(&value->type, text));
    } else {
        b->loss = id;
    }
}
