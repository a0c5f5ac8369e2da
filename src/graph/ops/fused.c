/* fused: a body of pointwise steps (ops/fused.h): read, checked, printed; its shape rule and its cost. */
#include "graph/ops/rule.h"

#include <stdio.h>

/* ---- reading -------------------------------------------------------------------------------------- */

typedef struct reader {
    ebb_env *env;
    const ebb_call *call;
    const char *text, *at;
    ebb_fused_body *body;
    uint32_t broadcast; /* operands that are broadcast as in NumPy */
    bool step_read[EBB_FUSED_STEPS];
    uint32_t read; /* operands */
    uint32_t set;  /* attributes of the step that is read */
} reader;

EBB_PRINTF(2, 3) static ebb_status wrong(const reader *r, const char *format, ...) {
    char what[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: byte %zu of body: %s", r->call->op->name,
                    (size_t)(r->at - r->text) + 1, what);
}

static bool take(reader *r, char mark) {
    if (*r->at != mark) return false;
    r->at++;
    return true;
}

static size_t word_length(const char *at) {
    size_t n = 0;
    while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= '0' && at[n] <= '9') || at[n] == '_') n++;
    return n;
}

/* i3 or t12: below the number of operands, or of steps so far. */
static ebb_status name_read(reader *r, ebb_fused_arg *out) {
    const uint32_t n_steps = r->body->n_steps;
    uint32_t n = 0, digits = 0;
    out->is_step = *r->at == 't';
    const uint32_t most = out->is_step ? n_steps : r->call->n_in;
    if (*r->at != 'i' && *r->at != 't')
        return wrong(r, "an operand like i0 or a step like t0 belongs here");
    const char *at = r->at + 1;
    for (; at[digits] >= '0' && at[digits] <= '9' && digits < 3; digits++)
        n = 10 * n + (uint32_t)(at[digits] - '0');
    if (digits == 0 || (digits > 1 && *at == '0') || n >= most)
        return wrong(r, "%.*s is not among %u %s", (int)(1 + digits), r->at, most,
                     out->is_step ? "steps before it" : "operands");
    out->at = n;
    r->at = at + digits;
    return EBB_OK;
}

static ebb_status attr_read(reader *r, ebb_fused_step *s) {
    const size_t n = word_length(r->at), n_value = strcspn(r->at + n + 1, ",)");
    uint32_t k = 0;
    while (k < s->op->n_attrs &&
           (strlen(s->op->attrs[k].name) != n || memcmp(s->op->attrs[k].name, r->at, n)))
        k++;
    const ebb_attr_info *info = &s->op->attrs[k];
    if (k == s->op->n_attrs) return wrong(r, "%s has no attribute %.*s", s->op->name, (int)n, r->at);
    const char *value = r->at + n + 1;
    ebb_dtype dtype = EBB_F32;
    if (info->kind == EBB_ATTR_REAL
            ? !ebb_real_parse(value, n_value, &s->attr[k].f)
            : info->kind != EBB_ATTR_DTYPE || !ebb_dtype_find(value, n_value, &dtype))
        return wrong(r, "%s: %.*s is not what %s takes in a body", s->op->name, (int)n_value, value,
                     info->name);
    if (info->kind == EBB_ATTR_DTYPE) s->attr[k] = (ebb_attr){.i = {dtype}};
    r->at = value + n_value;
    r->set |= UINT32_C(1) << k;
    return ebb_attr_check(r->env, s->op, info, &s->attr[k]);
}

/* Which way an operand lies that is argument k of the step. */
static ebb_status lies(reader *r, const ebb_fused_step *s, uint32_t k) {
    const uint32_t bit = UINT32_C(1) << s->arg[k].at;
    uint32_t *way = s->op->by_channel >> k & 1 ? &r->body->by_channel : &r->broadcast;
    if (s->arg[k].is_step) {
        if (s->op->by_channel >> k & 1) return wrong(r, "a step cannot lie along the channels");
        r->step_read[s->arg[k].at] = true;
        return EBB_OK;
    }
    *way |= bit;
    r->read |= bit;
    if (!(r->broadcast & r->body->by_channel)) return EBB_OK;
    return wrong(r, "i%u lies along the channels in one step and in another not: give it twice",
                 s->arg[k].at);
}

/* What is in the brackets of a step. */
static ebb_status args_read(reader *r, ebb_fused_step *s) {
    ebb_status status = EBB_OK;
    for (bool more = *r->at != ')'; more && !status; more = !status && take(r, ',')) {
        if (r->at[word_length(r->at)] == '=') {
            status = attr_read(r, s);
        } else if (s->n_arg == s->op->max_in) {
            return wrong(r, "%s takes at most %u operands", s->op->name, s->op->max_in);
        } else {
            status = name_read(r, &s->arg[s->n_arg]);
            if (!status) status = lies(r, s, s->n_arg++);
        }
    }
    if (status) return status;
    if (!take(r, ')')) return wrong(r, "a , or ) belongs here");
    return s->n_arg >= s->op->min_in ? EBB_OK
                                     : wrong(r, "%s takes %u operands", s->op->name, s->op->min_in);
}

static ebb_status step_read(reader *r) {
    ebb_fused_body *b = r->body;
    ebb_fused_step *s = &b->step[b->n_steps];
    const size_t n = word_length(r->at);
    if (b->n_steps == EBB_FUSED_STEPS) return wrong(r, "more than %d steps", EBB_FUSED_STEPS);
    *s = (ebb_fused_step){.op = ebb_op_find(r->at, n)};
    if (!s->op || !s->op->pointwise || r->at[n] != '(')
        return wrong(r, "%.*s( is no pointwise op", (int)(n < 40 ? n : 40), r->at);
    for (uint32_t k = 0; k < s->op->n_attrs; k++) s->attr[k] = ebb_attr_default(&s->op->attrs[k]);
    r->at += n + 1;
    r->set = 0;
    ebb_status status = args_read(r, s);
    if (status) return status;
    for (uint32_t k = 0; k < s->op->n_attrs; k++) {
        if (s->op->attrs[k].required && !(r->set >> k & 1))
            return wrong(r, "%s needs %s=", s->op->name, s->op->attrs[k].name);
    }
    ebb_type in[EBB_FUSED_ARGS];
    const ebb_call call = ebb_fused_call(r->call, b, b->n_steps, in);
    status = s->op->infer(r->env, &call, &s->type);
    b->n_steps += status == EBB_OK;
    return status;
}

static ebb_status results_read(reader *r) {
    ebb_fused_body *b = r->body;
    if (!take(r, '-') || !take(r, '>')) return wrong(r, "a ; or -> belongs here");
    do {
        ebb_fused_arg out;
        if (b->n_out == EBB_FUSED_RESULTS) return wrong(r, "more than %d results", EBB_FUSED_RESULTS);
        const ebb_status status = name_read(r, &out);
        if (status) return status;
        if (!out.is_step || b->step[out.at].n_arg == 0) return wrong(r, "a result is a step with operands");
        for (uint32_t o = 0; o < b->n_out; o++) {
            if (b->out[o] == out.at) return wrong(r, "t%u is a result twice", out.at);
        }
        b->out[b->n_out++] = out.at;
        r->step_read[out.at] = true;
    } while (take(r, ','));
    return *r->at ? wrong(r, "nothing belongs behind the results") : EBB_OK;
}

/* One shape; nothing of u8; nothing for nobody. */
static ebb_status whole_check(const reader *r) {
    const ebb_fused_body *b = r->body;
    const ebb_type *result = &b->step[b->out[0]].type;
    char text[EBB_TYPE_TEXT], other[EBB_TYPE_TEXT];
    for (uint32_t k = 0; k < b->n_steps; k++) {
        const ebb_type *type = &b->step[k].type;
        if (!r->step_read[k]) return wrong(r, "nothing reads t%u", k);
        if (b->step[k].n_arg > 0 && !ebb_type_same_shape(type, result))
            return wrong(r, "t%u is %s and a result %s: all have one shape", k, ebb_type_text(type, text),
                         ebb_type_text(result, other));
        if (ebb_dtypes[type->dtype].kind == EBB_DTYPE_BITS) return wrong(r, "t%u is of u8", k);
    }
    for (uint32_t i = 0; i < r->call->n_in; i++) {
        if (!(r->read >> i & 1)) return wrong(r, "nothing reads i%u", i);
        if (ebb_dtypes[r->call->in[i].dtype].kind == EBB_DTYPE_BITS) return wrong(r, "i%u is of u8", i);
    }
    return EBB_OK;
}

ebb_status ebb_fused_read(ebb_env *env, const ebb_call *call, ebb_fused_body *out) {
    const char *text = call->attr[EBB_FUSED_BODY].text;
    reader r = {.env = env, .call = call, .text = text, .at = text, .body = out};
    out->n_steps = out->n_out = out->by_channel = 0;
    ebb_status status;
    do status = step_read(&r);
    while (!status && take(&r, ';'));
    if (!status) status = results_read(&r);
    return status ? status : whole_check(&r);
}

/* ---- what is made of it --------------------------------------------------------------------------- */

ebb_call ebb_fused_call(const ebb_call *call, const ebb_fused_body *body, uint32_t k,
                        ebb_type in[EBB_FUSED_ARGS]) {
    const ebb_fused_step *s = &body->step[k];
    for (uint32_t i = 0; i < s->n_arg; i++)
        in[i] = s->arg[i].is_step ? body->step[s->arg[i].at].type : call->in[s->arg[i].at];
    return (ebb_call){
        .op = s->op, .in = in, .out = &s->type, .n_in = s->n_arg, .n_out = 1, .attr = s->attr};
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
}

void ebb_fused_walk(const ebb_call *call, const ebb_fused_body *body, uint32_t i, ebb_walk *walk) {
    static const uint32_t channels[EBB_MAX_RANK] = {EBB_NONE, 0, EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE};
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
    const ebb_status status = ebb_fused_read(env, call, &body);
    for (uint32_t o = 0; !status && o < body.n_out; o++) out[o] = body.step[body.out[o]].type;
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
