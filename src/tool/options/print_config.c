/* print_config: the settings, and who set each. */
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <string.h>

typedef struct line {
    const char *key;
    out_word value; /* for people */
    int64_t number; /* in the document, unless there is a share or a text; -1: null */
    double share;   /* 0: there is none */
    const char *text;
    tool_origin from;
    const char *flag, *variable;
} line;

enum { N_LINES = TOOL_N_SETTINGS + 3 };

static line setting_line(const tool_settings *settings, size_t i) {
    const tool_setting *s = &settings->at[i];
    line l = {.key = tool_setting_rows[i].key,
              .value = out_count(s->value),
              .number = s->value,
              .from = s->from,
              .flag = tool_setting_rows[i].flag,
              .variable = tool_setting_rows[i].variable};
    if (strcmp(l.key, "search_seed") == 0 && s->value < 0)
        snprintf(l.value.text, sizeof l.value.text, "as seed");
    if (strcmp(l.key, "effort") == 0 && s->value == 0)
        snprintf(l.value.text, sizeof l.value.text, "by the size of the graph");
    return l;
}

/* memory: how it is saved, after flags and file; budget: in bytes or a share; time_limit: in milliseconds.
 */
static void list(const tool *t, const ebb_options *options, const tool_settings *settings,
                 line lines[N_LINES]) {
    const tool_args *args = &t->args;
    bool by_flag = args->budget_bytes >= 0 || args->method || args->no_reuse || tool_asks_sublinear(t);
    const char *flag = args->no_reuse            ? "no-reuse"
                       : args->method            ? "method"
                       : args->budget_bytes >= 0 ? "budget"
                                                 : tool_asks_sublinear(t);
    const char *mode = tool_mode_name(options->memory);
    lines[0] = (line){.key = "memory",
                      .text = mode,
                      .flag = flag,
                      .from = by_flag                                  ? TOOL_FROM_FLAG
                              : options->memory != EBB_MEMORY_IN_PLACE ? TOOL_FROM_FILE
                                                                       : TOOL_FROM_DEFAULT};
    snprintf(lines[0].value.text, sizeof lines[0].value.text, "%s", mode);
    const bool budget = args->budget_bytes >= 0, shared = args->budget_share > 0;
    lines[1] = (line){.key = shared ? "budget_share" : "budget_bytes",
                      .number = budget ? args->budget_bytes : -1,
                      .share = args->budget_share,
                      .flag = "budget",
                      .from = budget ? TOOL_FROM_FLAG : TOOL_FROM_DEFAULT};
    lines[1].value = budget ? out_count(args->budget_bytes) : (out_word){"none"};
    if (shared)
        snprintf(lines[1].value.text, sizeof lines[1].value.text, "%g %%", 100 * args->budget_share);
    int64_t limit_ms = (int64_t)(options->time_limit_s * 1000 + 0.5);
    lines[2] = (line){.key = "time_limit_ms",
                      .number = limit_ms > 0 ? limit_ms : -1,
                      .flag = "time-limit",
                      .from = args->time_limit_s >= 0             ? TOOL_FROM_FLAG
                              : settings->file.time_limit_ms >= 0 ? TOOL_FROM_FILE
                                                                  : TOOL_FROM_DEFAULT};
    lines[2].value = limit_ms > 0 ? out_count(limit_ms) : (out_word){"none"};
    for (size_t i = 0; i < TOOL_N_SETTINGS; i++) lines[3 + i] = setting_line(settings, i);
}

static out_word origin_of(const tool *t, const line *l) {
    out_word word = {"default"};
    if (l->from == TOOL_FROM_FLAG) snprintf(word.text, sizeof word.text, "--%s", l->flag);
    if (l->from == TOOL_FROM_VARIABLE) snprintf(word.text, sizeof word.text, "%s", l->variable);
    if (l->from == TOOL_FROM_FILE) snprintf(word.text, sizeof word.text, "%.40s", t->args.config);
    return word;
}

/* A command that does every mode has none to show. */
static size_t first_line(const tool *t) {
    return tool_chooses_mode(t) ? 0 : 1;
}

static ebb_status print_json(tool *t, const line lines[N_LINES]) {
    static const char *const kinds[] = {"default", "file", "variable", "flag"};
    out_json json;
    out_json_begin(&json, "ebb.settings/1");
    out_text(&json, "config", t->args.config);
    out_open(&json, "rows", '[');
    for (size_t i = first_line(t); i < N_LINES; i++) {
        const line *l = &lines[i];
        const char *name = l->from == TOOL_FROM_FLAG       ? l->flag
                           : l->from == TOOL_FROM_VARIABLE ? l->variable
                           : l->from == TOOL_FROM_FILE     ? t->args.config
                                                           : NULL;
        out_open(&json, NULL, '{');
        out_text(&json, "key", l->key);
        if (l->share > 0)
            out_real(&json, "value", l->share);
        else if (l->text || l->number < 0)
            out_text(&json, "value", l->text);
        else
            out_integer(&json, "value", l->number);
        out_text(&json, "from", kinds[l->from]);
        out_text(&json, "name", name);
        out_close(&json, '}');
    }
    out_close(&json, ']');
    return out_json_end(t, &json);
}

ebb_status tool_print_config(tool *t) {
    ebb_options options;
    tool_settings settings;
    line lines[N_LINES];
    ebb_status status = tool_options_and_settings(t, &options, &settings);
    if (status != EBB_OK) return status;
    list(t, &options, &settings, lines);
    if (t->args.json || t->args.output) status = print_json(t, lines);
    if (status != EBB_OK || t->args.json) return status;
    out_table table = {0};
    out_row(&table, (const char *const[OUT_COLUMNS]){"key", "value", "from"});
    for (size_t i = first_line(t); i < N_LINES; i++)
        out_row(&table, (const char *const[OUT_COLUMNS]){lines[i].key, lines[i].value.text,
                                                         origin_of(t, &lines[i]).text});
    out_table_print(&table, stdout);
    return EBB_OK;
}
