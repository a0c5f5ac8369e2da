/* fused: a body of pointwise steps (ops/fused.h): what is made of it, its shape rule and its cost. */
#include "graph/ops/rule.h"

/* ---- what is made of it --------------------------------------------------------------------------- */

ebb_call ebb_fused_call(const ebb_call *call, const ebb_fused_body *body, uint32_t k,
                        ebb_type in[EBB_FUSED_ARGS]) {
    const ebb_fused_step *s = &body->step[k];
    for (uint32_t i = 0; i < s->n_arg; i++)
        in[i] = s->arg[i].is_step ? body->step[s->arg[i].at].type : call->in[s->arg[i].at];
    return (ebb_call){
        .op = s->op, .in = in, .out = &s->type, .n_in = s->n_arg, .n_out = 1, .attr = s->attr};
}

ebb_call ebb_fused_sum(const ebb_fused_body *body, uint32_t s, ebb_type *in) {
    *in = body->step[body->sum[s]].type;
    return (ebb_call){.op = &ebb_op_bias_grad, .in = in, .n_in = 1, .n_out = 1};
}

void ebb_fused_print(ebb_text *text, const ebb_fused_body *body) {
    char real[EBB_REAL_TEXT];
    for (uint32_t k = 0; k < body->n_steps; k++) {
        const ebb_fused_step *s = &body->step[k];
        const char *comma = "";
        ebb_text_add(text, "%s%s(", k ? ";" : "", s->op->name);
        for (uint32_t i = 0; i < s->n_arg; i++, comma = ",")
            ebb_text_add(text, "%s%c%u", comma, s->arg[i].is_step ? 't' : 'i', s->arg[i].at);
        for (uint32_t a = 0; a < s->op->n_attrs; a++) {
            const ebb_attr_info *info = &s->op->attrs[a];
            const ebb_attr usual = ebb_attr_default(info);
            if (info->kind == EBB_ATTR_INT ||
                (!info->required && ebb_attr_equal(info, &s->attr[a], &usual)))
                continue;
            ebb_text_add(text, "%s%s=%s", comma, info->name,
                         info->kind == EBB_ATTR_DTYPE ? ebb_dtype_name((ebb_dtype)s->attr[a].i[0])
                                                      : ebb_real_text(s->attr[a].f, real));
            comma = ",";
        }
        ebb_text_add(text, ")");
    }
    for (uint32_t o = 0; o < body->n_out; o++) ebb_text_add(text, "%st%u", o ? "," : "->", body->out[o]);
    for (uint32_t s = 0; s < body->n_sums; s++) ebb_text_add(text, ",sum(t%u)", body->sum[s]);
}

void ebb_fused_walk(const ebb_call *call, const ebb_fused_body *body, uint32_t i, ebb_walk *walk) {
    uint32_t channels[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) channels[d] = d == 1 ? 0 : EBB_NONE;
    ebb_walk_begin(walk, &body->step[body->out[0]].type);
    if (body->by_channel >> i & 1)
        ebb_walk_operand(walk, &call->in[i], channels, NULL, NULL);
    else
        ebb_walk_broadcast(walk, &call->in[i]);
    ebb_walk_end(walk);
}

ebb_fused_load ebb_fused_load_of(const ebb_call *call, const ebb_fused_body *body, uint32_t i) {
    if (ebb_type_count(&call->in[i]) == 1) return EBB_FUSED_ONE;
    return ebb_type_same_shape(&call->in[i], &body->step[body->out[0]].type) ? EBB_FUSED_FULL
                                                                             : EBB_FUSED_SPREAD;
}

/* ---- the op --------------------------------------------------------------------------------------- */

/* By the commas behind the arrow: what is no body is told by infer. */
static uint32_t results_of(const ebb_attr *attr) {
    const char *at = strstr(attr[EBB_FUSED_BODY].text, "->");
    uint32_t n = 1;
    for (; at && *at; at++) n += *at == ',';
    return n < EBB_FUSED_RESULTS ? n : EBB_FUSED_RESULTS;
}

static ebb_status fused_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_fused_body body;
    ebb_status status = ebb_fused_read(env, call, &body);
    for (uint32_t o = 0; !status && o < body.n_out; o++) out[o] = body.step[body.out[o]].type;
    for (uint32_t s = 0; !status && s < body.n_sums; s++) {
        ebb_type in;
        ebb_call sum = ebb_fused_sum(&body, s, &in);
        sum.out = &out[body.n_out + s];
        status = sum.op->infer(env, &sum, &out[body.n_out + s]);
    }
    return status;
}

/* The steps' flops; every operand and result once. */
static void fused_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_fused_body body;
    ebb_env *env = NULL;
    int64_t flops = 0;
    ebb_cost_set(call, cost, 0, 0);
    if (ebb_fused_read(env, call, &body)) return; /* never: it was inferred */
    for (uint32_t k = 0; k < body.n_steps; k++) {
        ebb_type in[EBB_FUSED_ARGS];
        ebb_cost step;
        const ebb_call one = ebb_fused_call(call, &body, k, in);
        one.op->cost(&one, &step);
        if (!ebb_add_i64(flops, step.flops, &flops)) flops = INT64_MAX;
    }
    for (uint32_t s = 0; s < body.n_sums; s++) {
        if (!ebb_add_i64(flops, ebb_type_count(&call->out[0]), &flops)) flops = INT64_MAX;
    }
    cost->flops = flops;
}

#define OVER(o)                                                               \
    {o, 0}, {o, 1}, {o, 2}, {o, 3}, {o, 4}, {o, 5}, {o, 6}, {o, 7}, {o, 8}, { \
        o, 9                                                                  \
    }
static const ebb_attr_info fused_attrs[] = {[EBB_FUSED_BODY] = EBB_TEXT_NEEDED("body")};
EBB_DEFINE(fused, EBB_INFER(1, EBB_FUSED_OPERANDS, EBB_FUSED_RESULTS, fused_infer), .results = results_of,
           .fuses = true, EBB_LIST(attrs, fused_attrs), EBB_OVER(OVER(0), OVER(1), OVER(2)),
           .cost = fused_cost);
