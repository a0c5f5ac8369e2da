/* format: which view of a report or diff is asked for. */
#include "tool/out/out.h"

#include <string.h>

/* What each format is called, and which flag or suffix asks for it. */
static const struct format {
    const char *name, *suffix;
    ebb_report_format format;
} formats[] = {
    {"text", ".txt", EBB_REPORT_TEXT},         {"json", ".json", EBB_REPORT_JSON},
    {"markdown", ".md", EBB_REPORT_MARKDOWN},  {"html", ".html", EBB_REPORT_HTML},
    {"html", ".htm", EBB_REPORT_HTML},         {"trace", NULL, EBB_REPORT_TRACE},
    {"megengine", NULL, EBB_REPORT_MEGENGINE},
};

static bool ends_in(const char *path, const char *suffix) {
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

static bool has_suffix(const char *path) {
    const char *name = strrchr(path, '/'), *dot;
    name = name ? name + 1 : path;
    dot = strrchr(name, '.');
    return dot && dot > name;
}

ebb_status tool_format(tool *t, ebb_report_format *out) {
    const tool_args *args = &t->args;
    const char *asked[] = {args->format,
                           args->text ? "text" : NULL,
                           args->json ? "json" : NULL,
                           args->markdown ? "markdown" : NULL,
                           args->html ? "html" : NULL,
                           args->trace ? "trace" : NULL};
    const char *name = NULL;
    for (size_t i = 0; i < TOOL_COUNT(asked); i++) {
        if (!asked[i] || (name && strcmp(name, asked[i]) == 0)) continue;
        if (name)
            return tool_fail(t, EBB_USAGE, "%s and %s are both asked for: leave out one of the two", name,
                             asked[i]);
        name = asked[i];
    }
    *out = args->output != NULL ? EBB_REPORT_JSON : EBB_REPORT_TEXT;
    bool known = name || !args->output || !has_suffix(args->output);
    for (size_t i = 0; i < TOOL_COUNT(formats); i++) {
        bool by_suffix =
            !name && args->output && formats[i].suffix && ends_in(args->output, formats[i].suffix);
        if (by_suffix || (name && strcmp(name, formats[i].name) == 0)) *out = formats[i].format;
        known = known || by_suffix;
    }
    if (known) return EBB_OK;
    return tool_fail(
        t, EBB_USAGE,
        "%.200s: its ending names no format: .txt, .json, .md and .html do, or --format for any "
        "name",
        args->output);
}
