/* model: the operand MODEL, a text, a planning graph, or an ONNX file by its name's end. */
#include <stdio.h>
#include <string.h>

#include "tool/options/options.h"

bool tool_is_onnx(const char *path) {
    const size_t n = strlen(path), suffix = strlen(".onnx");
    return n > suffix && strcmp(path + n - suffix, ".onnx") == 0;
}

ebb_status tool_plan_read(tool *t, const char *path, ebb_plan **out) {
    const char *end = strrchr(path, '.');
    *out = NULL;
    if (!tool_is_onnx(path) && (!end || strcmp(end, ".ebb") != 0)) return ebb_plan_read(t->env, path, out);
    return tool_fail(t, EBB_BAD_INPUT,
                     "%.300s is a model: `ebb plan %.300s -o plan.json` makes what %s takes", path, path,
                     t->command->name);
}

/* Whether the JSON there says that it is a plan, by its schema, which stands at its start. */
static bool says_plan(const char *path) {
    static const char key[] = "\"schema\"", plan[] = "\"ebb.plan/";
    char head[4096];
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
    const size_t n = file ? fread(head, 1, sizeof head - 1, file) : 0;
    head[n] = '\0';
    if (file) (void)fclose(file);
    const char *at = strstr(head, key);
    if (!at) return false;
    at += strlen(key);
    at += strspn(at, " \t\r\n:");
    return strncmp(at, plan, strlen(plan)) == 0;
}

static ebb_status open_text(tool *t, ebb_model **out) {
    const ebb_status status = ebb_model_open(t->env, t->args.operand, out);
    if (status != EBB_BAD_INPUT || !says_plan(t->args.operand)) return status;
    return tool_fail(t, status,
                     "%.300s is a plan, which report, verify and diff read: give %s the model that was "
                     "planned, and the flags that it was planned with",
                     t->args.operand, t->command->name);
}

ebb_status tool_onnx_open(tool *t, ebb_onnx **out) {
    const ebb_onnx_options options = {.dims = t->args.dims, .n_dims = t->args.n_dims};
    return ebb_onnx_open(t->env, t->args.operand, &options, out);
}

ebb_status tool_model_open(tool *t, ebb_model **out) {
    *out = NULL;
    ebb_status status;
    if (!tool_is_onnx(t->args.operand)) {
        status = open_text(t, out);
        if (status != EBB_OK || !t->args.of_compiled || !ebb_model_is_planning_graph(*out)) return status;
        ebb_model_destroy(*out);
        *out = NULL;
        return tool_fail(t, EBB_USAGE,
                         "%.200s is a planning graph, whose ops, times and bytes are what they are: leave "
                         "out --%s",
                         t->args.operand, t->args.of_compiled);
    }
    status = t->onnx ? EBB_OK : tool_onnx_open(t, &t->onnx);
    return status == EBB_OK ? ebb_onnx_model(t->onnx, out) : status;
}
