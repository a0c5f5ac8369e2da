/* Ops with attributes by value: they are written as the text that ebb_build_op reads. */
#include "graph/text/declare.h"

#include "graph/ir/ir.h"

#include <inttypes.h>

static void attribute_write(ebb_text *text, const ebb_op_info *op, const ebb_build_attribute *a) {
    const ebb_attr_info *info = NULL;
    for (uint32_t k = 0; op && k < op->n_attrs; k++) {
        if (strcmp(op->attrs[k].name, a->name) == 0) info = &op->attrs[k];
    }
    const bool list = a->n > 1 || (info && info->count == 0);
    char real[EBB_REAL_TEXT];
    ebb_text_add(text, "%s=%s", a->name, list ? "[" : "");
    if (info && info->kind == EBB_ATTR_BOOL && a->n == 1 && (a->sizes[0] == 0 || a->sizes[0] == 1)) {
        ebb_text_add(text, "%s", a->sizes[0] ? "true" : "false");
    } else if (info && info->kind == EBB_ATTR_DTYPE && a->n == 1 && a->sizes[0] >= 0 &&
               a->sizes[0] < EBB_N_DTYPES) {
        ebb_text_add(text, "%s", ebb_dtype_name((ebb_dtype)a->sizes[0]));
    } else {
        for (uint32_t i = 0; i < a->n; i++) ebb_text_add(text, "%s%" PRId64, i ? "," : "", a->sizes[i]);
        if (a->n == 0) ebb_text_add(text, "%s", ebb_real_text(a->real, real));
    }
    ebb_text_add(text, "%s ", list ? "]" : "");
}

uint32_t ebb_build_op_with(ebb_build *b, const char *names, const char *op, const uint32_t *in,
                           uint32_t n_in, const ebb_build_attribute *attributes, uint32_t n_attributes) {
    ebb_text text;
    ebb_text_init(&text, b->env);
    uint32_t first = EBB_NONE;
    for (uint32_t i = 0; i < n_attributes; i++) {
        attribute_write(&text, ebb_op_find(op, strlen(op)), &attributes[i]);
        if (!b->parser.status && !ebb_name_valid(attributes[i].name)) {
            ebb_parse_fail(&b->parser, &b->parser.token, "%.60s: \"%.60s\" is no attribute's name", op,
                           attributes[i].name);
            ebb_build_latch(b);
        }
    }
    if (ebb_text_status(&text))
        ebb_build_out_of_memory(b);
    else
        first = ebb_build_op(b, names, op, in, n_in, text.at);
    ebb_text_deinit(&text);
    return first;
}
