/* settings: what the search is told, and by whom: a flag, an environment variable, the config file, or
 * nobody. */
#include "out.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    const char *key, *flag, *variable; /* variable NULL: none */
    size_t arg, config;                /* int64_t in tool_args and in ebb_config; -1 there: not given */
} rows[TOOL_N_SETTINGS] = {
#define ARG(name)    offsetof(tool_args, name)
#define CONFIG(name) offsetof(ebb_config, name)
    {"thresh_nr_try", "thresh-nr-try", "MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY", ARG(thresh_nr_try),
     CONFIG(sublinear.thresh_nr_try)},
    {"genetic_nr_iter", "genetic-nr-iter", "MGB_SUBLINEAR_MEMORY_GENETIC_NR_ITER", ARG(genetic_nr_iter),
     CONFIG(sublinear.genetic_nr_iter)},
    {"genetic_pool_size", "genetic-pool-size", "MGB_SUBLINEAR_MEMORY_GENETIC_POOL_SIZE",
     ARG(genetic_pool_size), CONFIG(sublinear.genetic_pool_size)},
    {"lb_memory", "lb-memory", "MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB", ARG(lb_memory_bytes),
     CONFIG(sublinear.lb_memory_bytes)},
    {"num_worker", "num-worker", "MGB_SUBLINEAR_MEMORY_WORKERS", ARG(num_worker),
     CONFIG(sublinear.num_worker)},
    {"seed", "seed", NULL, ARG(seed), CONFIG(seed)},
    {"search_seed", "search-seed", NULL, ARG(search_seed), CONFIG(search_seed)},
    {"effort", "effort", NULL, ARG(effort), CONFIG(effort)},
};

static int64_t *config_field(ebb_config *config, const struct row *row) {
    return (int64_t *)((char *)config + row->config);
}

static int64_t argument(const tool_args *args, const struct row *row) {
    return *(const int64_t *)((const char *)args + row->arg);
}

static const char *get_variable(const char *name) {
    return getenv(name);
}

/* An empty variable is none, as for the library. */
static bool has_variable(const struct row *row) {
    const char *text = row->variable != NULL ? getenv(row->variable) : NULL;
    return text != NULL && *text != '\0';
}

static ebb_status read_file(tool *t, tool_settings *out) {
    out->file = (ebb_config){.time_limit_ms = -1};
    for (size_t i = 0; i < TOOL_N_SETTINGS; i++) *config_field(&out->file, &rows[i]) = -1;
    return t->args.config != NULL ? ebb_config_read(t->env, t->args.config, &out->file) : EBB_OK;
}

/* lb_memory has two flags. */
static ebb_status join_lb_memory(tool *t) {
    tool_args *args = &t->args;
    if (args->lb_memory_bytes >= 0 && args->lb_memory_mb >= 0)
        return tool_fail(t, EBB_USAGE,
                         "--lb-memory and --lb-memory-mb are both given: leave out one of the two");
    if (args->lb_memory_mb >= 0) args->lb_memory_bytes = args->lb_memory_mb << 20;
    args->lb_memory_mb = -1;
    return EBB_OK;
}

ebb_status tool_settings_find(tool *t, const ebb_options *defaults, tool_settings *out) {
    ebb_config value = {.sublinear = defaults->sublinear,
                        .seed = (int64_t)defaults->seed,
                        .search_seed = defaults->search_seed,
                        .effort = defaults->effort};
    ebb_config variables = value;
    ebb_status status = read_file(t, out);
    if (status == EBB_OK) status = join_lb_memory(t);
    if (status == EBB_OK)
        status = ebb_sublinear_config_from_env(t->env, get_variable, &variables.sublinear);
    for (size_t i = 0; i < TOOL_N_SETTINGS && status == EBB_OK; i++) {
        const struct row *row = &rows[i];
        tool_setting *to = &out->at[i];
        *to = (tool_setting){*config_field(&value, row), TOOL_FROM_DEFAULT};
        if (*config_field(&out->file, row) >= 0)
            *to = (tool_setting){*config_field(&out->file, row), TOOL_FROM_FILE};
        if (has_variable(row)) *to = (tool_setting){*config_field(&variables, row), TOOL_FROM_VARIABLE};
        if (argument(&t->args, row) >= 0) *to = (tool_setting){argument(&t->args, row), TOOL_FROM_FLAG};
    }
    return status;
}

void tool_settings_apply(const tool *t, const tool_settings *settings, ebb_options *out) {
    ebb_config config;
    for (size_t i = 0; i < TOOL_N_SETTINGS; i++) *config_field(&config, &rows[i]) = settings->at[i].value;
    out->sublinear = config.sublinear;
    out->seed = (uint64_t)config.seed;
    out->search_seed = config.search_seed;
    out->effort = config.effort;
    if (settings->file.time_limit_ms > 0) out->time_limit_s = (double)settings->file.time_limit_ms / 1000;
    if (t->args.time_limit_s >= 0) out->time_limit_s = t->args.time_limit_s;
}

/* ---- --print-config --------------------------------------------------------------------------------- */

typedef struct line {
    const char *key;
    out_word value; /* for people */
    int64_t number; /* in the document, unless there is a text; -1: null */
    const char *text;
    tool_origin from;
    const char *flag, *variable;
} line;

enum { N_LINES = TOOL_N_SETTINGS + 3 };

static line setting_line(const tool_settings *settings, size_t i) {
    const tool_setting *s = &settings->at[i];
    line l = {.key = rows[i].key,
              .value = out_count(s->value),
              .number = s->value,
              .from = s->from,
              .flag = rows[i].flag,
              .variable = rows[i].variable};
    if (strcmp(l.key, "search_seed") == 0 && s->value < 0)
        snprintf(l.value.text, sizeof l.value.text, "as seed");
    if (strcmp(l.key, "effort") == 0 && s->value == 0)
        snprintf(l.value.text, sizeof l.value.text, "by the size of the graph");
    return l;
}

/* memory: how it is saved, after flags and file; budget: in bytes; time_limit: in milliseconds. */
static void list(const tool *t, const ebb_options *options, const tool_settings *settings,
                 line lines[N_LINES]) {
    const tool_args *args = &t->args;
    bool by_flag =
        args->budget_bytes >= 0 || args->method != NULL || args->no_reuse || tool_asks_sublinear(t);
    const char *flag = args->no_reuse            ? "no-reuse"
                       : args->method != NULL    ? "method"
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
    bool budget = args->budget_bytes >= 0;
    lines[1] = (line){.key = "budget_bytes",
                      .number = budget ? args->budget_bytes : -1,
                      .flag = "budget",
                      .from = budget ? TOOL_FROM_FLAG : TOOL_FROM_DEFAULT};
    lines[1].value = budget ? out_count(args->budget_bytes) : (out_word){"none"};
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
        if (l->text != NULL || l->number < 0)
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
    if (t->args.json || t->args.output != NULL) status = print_json(t, lines);
    if (status != EBB_OK || t->args.json) return status;
    out_table table = {0};
    out_row(&table, (const char *const[OUT_COLUMNS]){"key", "value", "from"});
    for (size_t i = first_line(t); i < N_LINES; i++)
        out_row(&table, (const char *const[OUT_COLUMNS]){lines[i].key, lines[i].value.text,
                                                         origin_of(t, &lines[i]).text});
    out_table_print(&table, stdout);
    return EBB_OK;
}
