/* Compares what one step gave on two devices. */
#include "engine/check/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/conformance.h"

/* What element i may be off by. A unit is one rounding of a number of its type, two where both sides round.
 */
static double allowed_at(const ebb_compared *c, int64_t i) {
    const double unit = ebb_dtype_unit(c->type->dtype);
    return c->allowed > 0 ? c->allowed : unit * fabs(ebb_element_get(c->type, c->want, i));
}

/* How much element i is off, as a part of what is allowed: above 1 it is too much. */
static double part_of(const ebb_compared *c, int64_t i) {
    const double x = ebb_element_get(c->type, c->got, i), y = ebb_element_get(c->type, c->want, i);
    if (x == y || (isnan(x) && isnan(y))) return 0;
    const double off = fabs(x - y), allowed = allowed_at(c, i);
    return allowed > 0 && isfinite(off) ? off / allowed : (double)INFINITY;
}

/* Of the largest magnitude; integers (places, bits) agree to the bit. */
static double allowed_of(const ebb_comparer *c, const ebb_op_info *op, double tile_tolerance,
                         const ebb_type *type, const void *want) {
    double most = 0;
    if (!ebb_dtype_real(type->dtype)) return 0;
    for (int64_t i = 0; i < ebb_type_count(type); i++) {
        const double x = fabs(ebb_element_get(type, want, i));
        if (isfinite(x)) most = fmax(most, x);
    }
    return c->rounding * fmax(ebb_conformance_tolerance(op, c->product_tolerance), tile_tolerance) * most;
}

/* The same, beside what shaken inputs make of the element. spread: an infinite number may have met a 0, and
 * some multiply the two, some leave them out. */
static double part_shaken(const ebb_compared *c, const void *noise, bool spread, int64_t i) {
    const double x = ebb_element_get(c->type, c->got, i), y = ebb_element_get(c->type, c->want, i);
    if (spread && isnan(x)) return 0;
    const double off = fabs(x - y), allowed = allowed_at(c, i) + ebb_element_get(c->type, noise, i);
    return isfinite(off) && allowed > 0 ? off / allowed : part_of(c, i);
}

static void fill_row(const ebb_comparer *c, uint32_t step, const ebb_value *v, const ebb_compared *at,
                     int64_t i, ebb_compare_row *row) {
    const ebb_plan *plan = c->other->compiled.plan;
    const ebb_pop *op = &plan->graph->ops[plan->steps[step].op];
    (void)snprintf(row->op, sizeof row->op, "%s", op->name);
    (void)snprintf(row->kind, sizeof row->kind, "%s", op->kind);
    (void)snprintf(row->value, sizeof row->value, "%s", v->name);
    ebb_element_text(&v->type, i, row->element);
    row->phase = op->phase;
    row->step = step;
    row->got = ebb_element_get(at->type, at->got, i);
    row->want = ebb_element_get(at->type, at->want, i);
    if (!row->shaken) row->allowed = allowed_at(at, i);
}

static void add_row(ebb_compare_result *r, const ebb_compare_row *row) {
    uint32_t at = r->n_worst < EBB_COMPARE_ROWS ? r->n_worst++ : EBB_COMPARE_ROWS - 1;
    if (at == EBB_COMPARE_ROWS - 1 && r->worst[at].part >= row->part && r->worst[at].op[0]) return;
    for (; at > 0 && r->worst[at - 1].part < row->part; at--) r->worst[at] = r->worst[at - 1];
    r->worst[at] = *row;
}

/* May an operand's infinity become NaN in an element that does not see it, as 0 times infinity? Padding is
 * 0, and so is what a gradient of a convolution (it has a size) reads beside and between dy's elements; in
 * transformed tiles neighbours are mixed. */
static bool spreads(const ebb_op_info *op, const ebb_attr *attr, bool in_tiles) {
    bool may = in_tiles;
    if (op->family != EBB_FAMILY_CONVOLUTION) return false;
    for (uint32_t k = 0; k < op->n_attrs; k++) {
        if (strcmp(op->attrs[k].name, "size") == 0) may = true;
        if (strcmp(op->attrs[k].name, "pad") == 0) may |= attr[k].i[0] > 0 || attr[k].i[1] > 0;
    }
    return may;
}

/* The device's fact of a convolution; XLA has its own. */
static ebb_status tile_tolerance_of(const ebb_comparer *c, ebb_id node, double *tolerance) {
    const ebb_graph *graph = c->other->compiled.graph;
    ebb_alternative_call call;
    *tolerance = 0;
    if (c->by_xla || graph->nodes[node].op->family != EBB_FAMILY_CONVOLUTION) return EBB_OK;
    const ebb_status status = ebb_alternative_first(c->device->engine->backend, graph, node, &call);
    if (status == EBB_OK) *tolerance = call.facts.tile_tolerance;
    return status;
}

/* Elements that are off, looked at again beside what shaken inputs make of them. */
static ebb_status look_twice(ebb_comparer *c, uint32_t step, uint32_t output, bool may_spread,
                             const ebb_compared *at, int64_t *worst, ebb_compare_row *row) {
    const size_t bytes = (size_t)ebb_type_bytes(at->type);
    char *noise = ebb_calloc(c->env, bytes, 1);
    bool finite = true;
    ebb_status status =
        noise ? ebb_compare_shake(c->other, step, output, at->want, noise, &finite) : EBB_NO_MEMORY;
    const bool spread = !finite && may_spread;
    if (status == EBB_OK) {
        row->shaken = true;
        row->part = 0;
        for (int64_t i = 0; i < ebb_type_count(at->type); i++) {
            const double part = part_shaken(at, noise, spread, i);
            if (part <= row->part) continue;
            row->part = part;
            *worst = i;
        }
        row->allowed = allowed_at(at, *worst) + ebb_element_get(at->type, noise, *worst);
    }
    ebb_cfree(c->env, noise, bytes, 1);
    return status;
}

static ebb_status compare_result(ebb_comparer *c, uint32_t step, uint32_t output, const ebb_value *v,
                                 const void *got, const void *want, ebb_compare_row *row) {
    const ebb_plan *plan = c->other->compiled.plan;
    const ebb_plan_step *s = &plan->steps[step];
    ebb_id in[EBB_MAX_OPERANDS];
    uint32_t n_in;
    const uint32_t way = s->alternative == EBB_NONE ? 0 : s->alternative + 1;
    const ebb_node *node = &c->other->compiled.graph->nodes[s->op];
    const ebb_op_info *op = ebb_node_way(node, node->op->n_ways ? way : 0, in, &n_in);
    double tiles;
    int64_t worst = 0;
    *row = (ebb_compare_row){.part = 0};
    ebb_status status = tile_tolerance_of(c, s->op, &tiles);
    if (status != EBB_OK) return status;
    const ebb_compared at = {&v->type, got, want, allowed_of(c, op, tiles, &v->type, want)};
    for (int64_t i = 0; i < ebb_type_count(&v->type); i++) {
        const double part = part_of(&at, i);
        if (part <= row->part) continue;
        row->part = part;
        worst = i;
    }
    if (row->part > 1 && at.allowed > 0 && op->n_update == 0)
        status = look_twice(c, step, output, spreads(op, node->attr, tiles > 0), &at, &worst, row);
    if (status == EBB_OK) fill_row(c, step, v, &at, worst, row);
    return status;
}

/* Where a result lies on both sides; false: the device had no use for it. */
typedef struct places {
    void *device, *other;
    int64_t bytes;
    const ebb_value *value;
} places;

static bool find_places(const ebb_comparer *c, uint32_t step, uint32_t output, places *out) {
    const ebb_plan *plan = c->other->compiled.plan;
    const ebb_id buffer = plan->steps[step].writes[output], value = plan->buffers[buffer].value;
    if (c->buffers[value] == EBB_NONE) return false;
    out->value = &c->other->compiled.graph->values[value];
    out->device = ebb_exec_buffer(c->device->exec, c->buffers[value], &out->bytes);
    out->other = ebb_exec_buffer(c->other->exec, buffer, &out->bytes);
    return true;
}

static ebb_status look_at(ebb_comparer *c, uint32_t step, uint32_t output, ebb_compare_row *row) {
    ebb_backend *mine = c->device->engine->backend, *its = c->other->engine->backend;
    places at;
    *row = (ebb_compare_row){.part = -1};
    if (!find_places(c, step, output, &at)) return EBB_OK;
    const size_t n = (size_t)at.bytes;
    char *got = ebb_calloc(c->env, n, 1), *want = ebb_calloc(c->env, n, 1);
    ebb_status status = got && want ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK) status = mine->api->copy_out(mine, got, at.device, at.bytes);
    if (status == EBB_OK) status = its->api->copy_out(its, want, at.other, at.bytes);
    if (status == EBB_OK) status = compare_result(c, step, output, at.value, got, want, row);
    ebb_cfree(c->env, got, n, 1);
    ebb_cfree(c->env, want, n, 1);
    return status;
}

/* The other's result becomes the device's. */
static ebb_status take_over(ebb_comparer *c, uint32_t step, uint32_t output) {
    ebb_backend *mine = c->device->engine->backend, *its = c->other->engine->backend;
    places at;
    if (!find_places(c, step, output, &at)) return EBB_OK;
    char *room = ebb_calloc(c->env, (size_t)at.bytes, 1);
    ebb_status status = room ? mine->api->copy_out(mine, room, at.device, at.bytes) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = its->api->copy_in(its, at.other, room, at.bytes);
    ebb_cfree(c->env, room, (size_t)at.bytes, 1);
    return status;
}

ebb_status ebb_compare_look(void *ctx, uint32_t step) {
    ebb_comparer *c = ctx;
    const uint32_t n_writes = c->other->compiled.plan->steps[step].n_writes;
    ebb_compare_row worst = {.part = -1}, row;
    ebb_status status = EBB_OK;
    if (ebb_stop_asked(c->env))
        return ebb_fail(c->env, EBB_INTERRUPTED, "interrupted: not all is compared");
    for (uint32_t o = 0; o < n_writes && status == EBB_OK; o++) {
        status = look_at(c, step, o, &row);
        if (row.part > worst.part) worst = row;
    }
    for (uint32_t o = 0; o < n_writes && status == EBB_OK; o++) status = take_over(c, step, o);
    if (status != EBB_OK || worst.part < 0) return status;
    c->result->n_ops++;
    add_row(c->result, &worst);
    if (worst.part > 1 && c->result->n_over++ == 0) c->result->first = worst;
    c->result->any_over = c->result->n_over > 0;
    return EBB_OK;
}
