/* refusals: all nodes that cannot be imported, in one answer. */
#include <stdio.h>

#include "onnx/stages.h"

enum { LINE_BYTES = 700, NAMES = 3 }; /* what an error has room for beside the path; names of alike ones */

static const char *name_of(const onnx_node *node) {
    if (node->name[0]) return node->name;
    for (uint32_t i = 0; i < node->n_out; i++)
        if (node->out[i][0]) return node->out[i];
    return "(no name)";
}

const char *onnx_why_not(const char *op) {
    static const struct {
        const char *part, *why; /* part: what the op's name has; of a whole name between blanks */
    } rows[] = {
        {"Sequence", "sequences of tensors are not read: export the model with tensors alone"},
        {"Optional", "optional values are not read: export the model with tensors alone"},
        {"uantizeLinear", "quantized ops are not read: export the model in floats"},
        {"QLinear", "quantized ops are not read: export the model in floats"},
        {" ConvInteger MatMulInteger ", "quantized ops are not read: export the model in floats"},
        {"String", "texts are not read"},
    };
    char whole[96];
    (void)snprintf(whole, sizeof whole, " %.80s ", op);
    for (size_t i = 0; i < EBB_COUNT(rows); i++)
        if (strstr(rows[i].part[0] == ' ' ? rows[i].part : op,
                   rows[i].part[0] == ' ' ? whole : rows[i].part))
            return rows[i].why;
    return NULL;
}

void onnx_note_refused(onnx_import *im) {
    if (im->n_refused++ >= ONNX_MAX_REFUSALS) return;
    const onnx_refusal last =
        im->refused.n > 0 ? im->refused.at[im->refused.n - 1] : (onnx_refusal){NULL, ""};
    const char *why = strcmp(last.why, im->why) == 0 ? last.why : ebb_arena_text(im->arena, im->why);
    const onnx_refusal refusal = {im->node, why};
    if (why && EBB_PUSH(im->env, &im->refused, refusal)) return;
    im->fatal = true;
    im->status = EBB_NO_MEMORY;
}

static bool alike(const onnx_refusal *a, const onnx_refusal *b) {
    return strcmp(a->node->op, b->node->op) == 0 && strcmp(a->why, b->why) == 0;
}

/* "a, b, c and 4 more (Op): why" of those like refusal i; 0: an earlier one is like it, else how many. */
static uint32_t add_group(const onnx_import *im, size_t i, ebb_text *to) {
    const onnx_refusal *first = &im->refused.at[i];
    uint32_t n = 0;
    for (size_t k = 0; k < i; k++)
        if (alike(&im->refused.at[k], first)) return 0;
    for (size_t k = i; k < im->refused.n; k++) {
        if (!alike(&im->refused.at[k], first)) continue;
        if (n < NAMES) ebb_text_add(to, "%s%.60s", n > 0 ? ", " : "; ", name_of(im->refused.at[k].node));
        n++;
    }
    if (n > NAMES) ebb_text_add(to, " and %u more", n - NAMES);
    ebb_text_add(to, " (%.40s): %.160s", first->node->op, first->why);
    return n;
}

ebb_status onnx_tell_refused(onnx_import *im) {
    ebb_text line;
    uint32_t n = 0;
    ebb_text_init(&line, im->env);
    for (size_t i = 0; i < im->refused.n && line.n < LINE_BYTES && !line.failed; i++)
        n += add_group(im, i, &line);
    if (n < im->n_refused) ebb_text_add(&line, "; and %u others", im->n_refused - n);
    ebb_status status = ebb_text_status(&line);
    if (status == EBB_OK)
        status = ebb_fail(im->env, EBB_BAD_INPUT, "%.200s: %u %s be imported%s", im->file->path,
                          im->n_refused, im->n_refused == 1 ? "node cannot" : "nodes cannot", line.at);
    ebb_text_deinit(&line);
    return status;
}

void onnx_each_refused(const onnx_import *im, const ebb_onnx_options *options) {
    char line[512];
    if (!options || !options->on_refused) return;
    for (size_t i = 0; i < im->refused.n; i++) {
        const onnx_refusal *r = &im->refused.at[i];
        (void)snprintf(line, sizeof line, "%.120s (%.40s): %s", name_of(r->node), r->node->op, r->why);
        options->on_refused(options->ctx, line);
    }
}
