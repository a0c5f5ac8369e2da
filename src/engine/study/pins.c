/* Names of values to keep or drop become a pin for each value of the planning graph. Cost: O(values x
 * names). */
#include "engine/study/study.h"

/* Why this value cannot be dropped and made again, or NULL. */
static const char *why_not_droppable(const ebb_pgraph *graph, ebb_id id) {
    const ebb_pvalue *value = &graph->values[id];
    if (value->producer == EBB_NONE) return "it is given, not computed";
    if (value->role == EBB_ROLE_OUTPUT) return "it is an output";
    const ebb_pop *op = &graph->ops[value->producer];
    if (!ebb_pop_repeatable(op)) return "what makes it runs once";
    for (uint32_t k = 0; k < op->n_views; k++)
        if (op->out[op->views[k].out] == id) return "it is a view: name the value that it is a view of";
    for (uint32_t k = 0; k < op->n_out; k++)
        if (graph->values[op->out[k]].role == EBB_ROLE_OUTPUT) return "what makes it makes an output, too";
    return NULL;
}

static ebb_status pin_value(ebb_env *env, const ebb_pgraph *graph, ebb_id id, ebb_pin pin, uint8_t *pins) {
    if (pins[id] != EBB_PIN_NONE && pins[id] != pin)
        return ebb_fail(env, EBB_USAGE,
                        "graph %s: value %%%.200s is both kept and dropped: leave it out of one of the two",
                        graph->name, graph->values[id].name);
    pins[id] = (uint8_t)pin;
    return EBB_OK;
}

/* A pattern to drop passes over what cannot be dropped; a whole name says why not. */
static ebb_status pin_name(ebb_env *env, const ebb_pgraph *graph, const char *name, ebb_pin pin,
                           uint8_t *pins) {
    if (name[0] == '%') name++;
    bool pattern = strpbrk(name, "*?") != NULL, any = false, passed_over = false;
    ebb_status status = EBB_OK;
    for (ebb_id id = 0; id < graph->n_values && status == EBB_OK; id++) {
        const char *value = graph->values[id].name;
        if (pattern ? !ebb_glob(name, value) : strcmp(name, value) != 0) continue;
        const char *why = pin == EBB_PIN_DROP ? why_not_droppable(graph, id) : NULL;
        if (why && !pattern)
            return ebb_fail(env, EBB_USAGE, "graph %s: value %%%.200s cannot be dropped: %s", graph->name,
                            value, why);
        passed_over = passed_over || why;
        any = any || !why;
        if (!why) status = pin_value(env, graph, id, pin, pins);
    }
    if (status != EBB_OK || any) return status;
    return ebb_fail(
        env, EBB_USAGE, "graph %s has no value %s%.200s%s", graph->name, pattern ? "like " : "%", name,
        passed_over ? " that can be dropped and made again"
                    : " in the end: --dump=query shows those that it has; ops that were fused store "
                      "nothing between them (--no-fuse)");
}

/* The results of one op are kept together, and a view holds what it is a view of. */
static ebb_status contradictions(ebb_env *env, const ebb_pgraph *graph, const uint8_t *pins) {
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const ebb_pop *op = &graph->ops[i];
        ebb_id kept = EBB_NONE, dropped = EBB_NONE;
        for (uint32_t k = 0; k < op->n_out; k++) {
            if (pins[op->out[k]] == EBB_PIN_KEEP) kept = op->out[k];
            if (pins[op->out[k]] == EBB_PIN_DROP) dropped = op->out[k];
        }
        for (uint32_t k = 0; kept != EBB_NONE && k < op->n_views; k++)
            if (pins[op->in[op->views[k].in]] == EBB_PIN_DROP) dropped = op->in[op->views[k].in];
        if (kept != EBB_NONE && dropped != EBB_NONE)
            return ebb_fail(
                env, EBB_USAGE,
                "graph %s: value %%%.200s is kept, and %%%.200s, which goes with it, is dropped: "
                "leave one of them out",
                graph->name, graph->values[kept].name, graph->values[dropped].name);
    }
    return EBB_OK;
}

ebb_status ebb_pins_resolve(ebb_env *env, const ebb_pgraph *graph, const ebb_options *o, uint8_t *pins) {
    ebb_status status = EBB_OK;
    memset(pins, EBB_PIN_NONE, graph->n_values);
    for (uint32_t i = 0; i < o->n_keep && status == EBB_OK; i++)
        status = pin_name(env, graph, o->keep[i], EBB_PIN_KEEP, pins);
    for (uint32_t i = 0; i < o->n_drop && status == EBB_OK; i++)
        status = pin_name(env, graph, o->drop[i], EBB_PIN_DROP, pins);
    return status == EBB_OK ? contradictions(env, graph, pins) : status;
}
