/* Rows of ops_rows.h as calls. */
#include "ops.h"

#include <stdlib.h>

#include "graph/ir/ir.h"
#include "graph/ops/rule.h"

static ebb_type type_read(const char **at) {
    ebb_type type = {0};
    cr_assert(ebb_dtype_find(*at, strcspn(*at, "["), &type.dtype), "no dtype: %s", *at);
    *at = strchr(*at, '[') + 1;
    while (**at != ']') {
        char *end;
        type.dim[type.rank++] = strtoll(*at, &end, 10);
        *at = *end == ',' ? end + 1 : end;
    }
    (*at)++;
    if (**at == ' ') (*at)++;
    return type;
}

uint32_t types_read(const char *text, ebb_type types[EBB_MAX_OPERANDS]) {
    uint32_t n = 0;
    while (*text) types[n++] = type_read(&text);
    return n;
}

static ebb_attr attr_read(const ebb_attr_info *info, const char *text) {
    ebb_attr attr = {.i = {0}};
    if (info->kind == EBB_ATTR_TEXT) return (ebb_attr){.text = text}; /* a row's last one */
    if (info->kind == EBB_ATTR_REAL) {
        attr.f = strtod(text, NULL);
        return attr;
    }
    if (info->kind == EBB_ATTR_BOOL) {
        attr.i[0] = *text == 't';
        return attr;
    }
    if (info->kind == EBB_ATTR_DTYPE) {
        ebb_dtype dtype;
        cr_assert(ebb_dtype_find(text, strcspn(text, " "), &dtype), "no dtype: %s", text);
        attr.i[0] = dtype;
        return attr;
    }
    uint32_t n = 0;
    for (bool more = true; more; n++) {
        char *end;
        attr.i[n] = strtoll(text, &end, 10);
        more = *end == ',';
        text = end + 1;
    }
    for (; n < EBB_MAX_RANK; n++) attr.i[n] = n < info->count ? attr.i[0] : info->pad;
    return attr;
}

/* "stride=2 pad=1,0" by the op's schema; what is not named has its default. */
static void attrs_read(const ebb_op_info *op, const char *text, ebb_attr attrs[8]) {
    for (uint32_t a = 0; a < op->n_attrs; a++) attrs[a] = ebb_attr_default(&op->attrs[a]);
    while (*text) {
        size_t n_name = strcspn(text, "="), n = strcspn(text, " ");
        uint32_t a = 0;
        while (a < op->n_attrs &&
               (strlen(op->attrs[a].name) != n_name || strncmp(op->attrs[a].name, text, n_name)))
            a++;
        cr_assert_lt(a, op->n_attrs, "%s has no attribute %s", op->name, text);
        attrs[a] = attr_read(&op->attrs[a], text + n_name + 1);
        text += n + (text[n] == ' ');
    }
}

void row_read(const row *r, read_row *out) {
    const ebb_op_info *op = ebb_op_find(r->op, strlen(r->op));
    cr_assert_not_null(op, "%s", r->op);
    uint32_t n_in = types_read(r->in, out->in);
    attrs_read(op, r->attrs, out->attrs);
    memset(out->out, 0, sizeof out->out);
    out->call = (ebb_call){
        .op = op, .in = out->in, .out = out->out, .n_in = n_in, .n_out = op->n_out, .attr = out->attrs};
    if (op->results && out->attrs[0].text) out->call.n_out = op->results(out->attrs);
}

ebb_status row_infer(ebb_env *env, read_row *r) {
    const ebb_call *call = &r->call;
    if (call->n_in < call->op->min_in || call->n_in > call->op->max_in)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %u operands", call->op->name, call->n_in);
    for (uint32_t a = 0; a < call->op->n_attrs; a++) {
        ebb_status status = ebb_attr_check(env, call->op, &call->op->attrs[a], &call->attr[a]);
        if (status) return status;
    }
    return call->op->infer(env, call, r->out);
}
