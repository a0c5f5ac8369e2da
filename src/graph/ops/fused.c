/* fused: a body of pointwise steps (ops/fused.h), read and checked. */
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

/* What follows "sum(". */
static ebb_status sum_read(reader *r) {
    ebb_fused_body *b = r->body;
    ebb_fused_arg of;
    ebb_type in, out;
    ebb_status status = name_read(r, &of);
    if (status) return status;
    if (!take(r, ')')) return wrong(r, "a ) belongs here");
    bool is_result = false;
    for (uint32_t o = 0; o < b->n_out; o++) is_result = is_result || (of.is_step && b->out[o] == of.at);
    const ebb_dtype dtype = b->step[of.at].type.dtype;
    if (!is_result || !ebb_dtype_real(dtype) || ebb_dtype_low(dtype))
        return wrong(r, "a sum is of a result of f32 or f64 before it");
    for (uint32_t s = 0; s < b->n_sums; s++) {
        if (b->sum[s] == of.at) return wrong(r, "t%u is summed twice", of.at);
    }
    b->sum[b->n_sums] = of.at;
    ebb_call call = ebb_fused_sum(b, b->n_sums++, &in);
    call.out = &out;
    return call.op->infer(r->env, &call, &out);
}

static ebb_status results_read(reader *r) {
    ebb_fused_body *b = r->body;
    if (!take(r, '-') || !take(r, '>')) return wrong(r, "a ; or -> belongs here");
    do {
        ebb_fused_arg out;
        ebb_status status;
        if (b->n_out + b->n_sums == EBB_FUSED_RESULTS)
            return wrong(r, "more than %d results", EBB_FUSED_RESULTS);
        if (strncmp(r->at, "sum(", 4) == 0) {
            r->at += 4;
            status = sum_read(r);
            if (status) return status;
            continue;
        }
        if (b->n_sums > 0) return wrong(r, "sums stand behind all other results");
        status = name_read(r, &out);
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
        if (ebb_dtypes[type->dtype].kind == EBB_DTYPE_NARROW)
            return wrong(r, "t%u is of %s", k, ebb_dtype_name(type->dtype));
    }
    for (uint32_t i = 0; i < r->call->n_in; i++) {
        if (!(r->read >> i & 1)) return wrong(r, "nothing reads i%u", i);
        if (ebb_dtypes[r->call->in[i].dtype].kind == EBB_DTYPE_NARROW)
            return wrong(r, "i%u is of %s", i, ebb_dtype_name(r->call->in[i].dtype));
    }
    return EBB_OK;
}

ebb_status ebb_fused_read(ebb_env *env, const ebb_call *call, ebb_fused_body *out) {
    const char *text = call->attr[EBB_FUSED_BODY].text;
    reader r = {.env = env, .call = call, .text = text, .at = text, .body = out};
    out->n_steps = out->n_out = out->n_sums = out->by_channel = 0;
    ebb_status status;
    do status = step_read(&r);
    while (!status && take(&r, ';'));
    if (!status) status = results_read(&r);
    return status ? status : whole_check(&r);
}
