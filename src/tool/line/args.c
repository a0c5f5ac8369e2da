/* args: from argv to tool_args, by the table of flags. */
#include "tool/line/line.h"

#include <string.h>

const tool_command *tool_command_find(const char *name) {
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        if (strcmp(tool_commands[i].name, name) == 0) return &tool_commands[i];
    }
    return NULL;
}

static const char *flag_name(const void *ctx, size_t i) {
    for (size_t k = 0; k < tool_n_flags; k++) {
        if (tool_command_takes(ctx, &tool_flags[k]) && i-- == 0) return tool_flags[k].name;
    }
    return NULL;
}

static ebb_status unknown_flag(tool *t, const tool_command *command, const char *typed, size_t n) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), typed);
    const char *nearest = ebb_word_nearest(name, strlen(name), flag_name, command);
    if (nearest)
        return tool_fail(t, EBB_USAGE, "%s: unknown flag --%s: did you mean --%s?", command->name, name,
                         nearest);
    return tool_fail(t, EBB_USAGE, "%s: unknown flag --%s: `ebb help %s` lists them", command->name, name,
                     command->name);
}

/* The flag named by the first n bytes of `name`, if the command takes it. */
static ebb_status find_flag(tool *t, const tool_command *command, const char *name, size_t n,
                            const tool_flag **out) {
    *out = NULL;
    for (size_t i = 0; i < tool_n_flags; i++) {
        const tool_flag *flag = &tool_flags[i];
        if (strlen(flag->name) != n || memcmp(flag->name, name, n) != 0) continue;
        if (!tool_command_takes(command, flag))
            return tool_fail(t, EBB_USAGE, "%s takes no --%s: `ebb help %s` lists its flags", command->name,
                             flag->name, command->name);
        *out = flag;
        return EBB_OK;
    }
    return unknown_flag(t, command, name, n);
}

static ebb_status bad_value(tool *t, const tool_flag *flag, const char *value, const char *expected) {
    return tool_fail(t, EBB_USAGE, "--%s: \"%.60s\" is not %s", flag->name, value, expected);
}

static ebb_status set_integer(tool *t, const tool_flag *flag, const char *value, int64_t *field) {
    char expected[96];
    if (ebb_parse_i64(value, flag->min, flag->max, field)) return EBB_OK;
    snprintf(expected, sizeof expected, "an integer in [%lld, %lld]", (long long)flag->min,
             (long long)flag->max);
    return bad_value(t, flag, value, expected);
}

static ebb_status set_bytes(tool *t, const tool_flag *flag, const char *value, int64_t *field) {
    if (ebb_parse_bytes(value, field) && *field >= flag->min) return EBB_OK;
    return bad_value(t, flag, value,
                     flag->min > 0 ? "a positive size in bytes: write 500MB or 11GiB"
                                   : "a size in bytes: write 500MB or 11GiB");
}

static ebb_status set_real(tool *t, const tool_flag *flag, const char *value, double *field) {
    if (tool_parse_real(value, field) && (*field > 0 || (flag->min == 0 && *field == 0))) return EBB_OK;
    return bad_value(t, flag, value, flag->min > 0 ? "a number above 0" : "a number of at least 0");
}

static const char *choice_at(const void *ctx, size_t i) {
    const char *const *words = ctx;
    return words[i];
}

static ebb_status set_choice(tool *t, const tool_flag *flag, const char *value, const char **field) {
    char copy[256];
    const char *words[32] = {NULL};
    size_t n = 0;
    const int length = snprintf(copy, sizeof copy, "%s", flag->choices);
    char *word = strtok(copy, " ");
    for (; word && n + 1 < TOOL_COUNT(words); word = strtok(NULL, " ")) words[n++] = word;
    if (word || length < 0 || (size_t)length >= sizeof copy)
        return tool_fail(t, EBB_INTERNAL, "--%s: its choices are longer than %zu, or more than %zu",
                         flag->name, sizeof copy, n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], value) == 0) {
            *field = value;
            return EBB_OK;
        }
    }
    const char *nearest = ebb_word_nearest(value, strlen(value), choice_at, words);
    if (nearest)
        return tool_fail(t, EBB_USAGE, "--%s: unknown value \"%.60s\": did you mean %s?", flag->name, value,
                         nearest);
    return tool_fail(t, EBB_USAGE, "--%s: unknown value \"%.60s\": one of %s", flag->name, value,
                     flag->choices);
}

static ebb_status add_dim(tool *t, const tool_flag *flag, char *value) {
    tool_args *args = &t->args;
    char *equals = strchr(value, '=');
    int64_t size = 0;
    if (!equals || equals == value) return bad_value(t, flag, value, "NAME=SIZE: write --dim N=32");
    *equals = '\0';
    if (!ebb_parse_i64(equals + 1, flag->min, flag->max, &size))
        return tool_fail(t, EBB_USAGE, "--dim %.60s: \"%.60s\" is not an integer in [%lld, %lld]", value,
                         equals + 1, (long long)flag->min, (long long)flag->max);
    for (uint32_t i = 0; i < args->n_dims; i++) {
        if (strcmp(args->dims[i].name, value) != 0) continue;
        return tool_fail(t, EBB_USAGE, "--dim %.60s is given twice: %lld and %lld", value,
                         (long long)args->dims[i].size, (long long)size);
    }
    if (args->n_dims == TOOL_MAX_LIST)
        return tool_fail(t, EBB_USAGE, "--dim is given more than %d times", TOOL_MAX_LIST);
    args->dims[args->n_dims++] = (ebb_dim_binding){value, size};
    return EBB_OK;
}

static ebb_status add_name(tool *t, const tool_flag *flag, const char *value, tool_list *list) {
    if (list->n == TOOL_MAX_LIST)
        return tool_fail(t, EBB_USAGE, "--%s is given more than %d times", flag->name, TOOL_MAX_LIST);
    list->at[list->n++] = value;
    return EBB_OK;
}

static ebb_status set_budgets(tool *t, const tool_flag *flag, char *value) {
    tool_args *args = &t->args;
    args->n_budgets = 0;
    for (char *word = value, *next; word; word = next) {
        next = strchr(word, ',');
        if (next) *next++ = '\0';
        if (args->n_budgets == EBB_FRONTIER_MAX_BUDGETS)
            return tool_fail(t, EBB_USAGE, "--%s has more than %d sizes", flag->name,
                             EBB_FRONTIER_MAX_BUDGETS);
        if (!tool_parse_budget(word, &args->budgets[args->n_budgets++]))
            return bad_value(t, flag, word, "a size or a share in (0%, 1000%]: write 10GiB,8GiB,60%");
    }
    return EBB_OK;
}

static ebb_status set_budget(tool *t, const tool_flag *flag, char *value) {
    tool_args *args = &t->args;
    ebb_frontier_budget budget;
    const size_t n = strlen(value);
    args->budget_share = 0;
    args->budget_text = value;
    if (value[n - 1] != '%') return set_bytes(t, flag, value, &args->budget_bytes);
    if (!tool_takes_share(t))
        return bad_value(t, flag, value, "a size: write 11GiB (plan, run and tune take a share, too)");
    if (!tool_parse_budget(value, &budget) || budget.share > 1)
        return bad_value(t, flag, value, "a size or a share in (0%, 100%]: write 11GiB or 60%");
    args->budget_share = budget.share;
    args->budget_bytes = 0;
    args->budget_text = NULL;
    return EBB_OK;
}

static ebb_status set_value(tool *t, const tool_flag *flag, char *value) {
    void *field = (char *)&t->args + flag->offset;
    if (*value == '\0')
        return tool_fail(t, EBB_USAGE, "--%s needs a value (%s)", flag->name, flag->metavar);
    switch (flag->kind) {
    case TOOL_INTEGER:
        return set_integer(t, flag, value, field);
    case TOOL_BYTES:
        return field == &t->args.budget_bytes ? set_budget(t, flag, value)
                                              : set_bytes(t, flag, value, field);
    case TOOL_REAL:
        return set_real(t, flag, value, field);
    case TOOL_SHARE:
        return tool_parse_share(value, field) ? EBB_OK
                                              : bad_value(t, flag, value, "a share: write 30% or 0.3");
    case TOOL_TEXT:
        *(const char **)field = value;
        return EBB_OK;
    case TOOL_CHOICE:
    case TOOL_MAYBE:
        return set_choice(t, flag, value, field);
    case TOOL_DIM:
        return add_dim(t, flag, value);
    case TOOL_LIST:
        return add_name(t, flag, value, field);
    case TOOL_BUDGETS:
        return set_budgets(t, flag, value);
    case TOOL_SWITCH:
        break;
    }
    return tool_fail(t, EBB_INTERNAL, "--%s has no kind", flag->name);
}

/* --name, --name=value, -x: *at is moved past a value that is an argument of its own. */
static ebb_status parse_flag(tool *t, const tool_command *command, int argc, char **argv, int *at) {
    char *text = argv[*at], *value = NULL;
    const tool_flag *flag = NULL;
    if (text[1] == '-') {
        size_t n = strcspn(text + 2, "=");
        ebb_status status = find_flag(t, command, text + 2, n, &flag);
        if (status != EBB_OK || !flag) return status;
        if (text[2 + n] == '=') value = text + 2 + n + 1;
    } else {
        for (size_t i = 0; i < tool_n_flags && !flag; i++) {
            if (tool_flags[i].letter == text[1] && text[2] == '\0' &&
                tool_command_takes(command, &tool_flags[i]))
                flag = &tool_flags[i];
        }
        if (!flag)
            return tool_fail(t, EBB_USAGE, "%s: unknown flag %.60s: `ebb help %s` lists them",
                             command->name, text, command->name);
    }
    if (flag->commands & TOOL_OF_COMPILED) t->args.of_compiled = flag->name;
    if (flag->kind == TOOL_SWITCH) {
        if (value)
            return tool_fail(t, EBB_USAGE, "--%s takes no value, but has \"%.60s\"", flag->name, value);
        *(bool *)((char *)&t->args + flag->offset) = true;
        return EBB_OK;
    }
    if (flag->kind == TOOL_MAYBE && !value) {
        *(const char **)((char *)&t->args + flag->offset) = "";
        return EBB_OK;
    }
    if (!value && *at + 1 == argc)
        return tool_fail(t, EBB_USAGE, "--%s needs a value (%s)", flag->name, flag->metavar);
    return set_value(t, flag, value ? value : argv[++*at]);
}

static void args_init(tool_args *args) {
    *args = (tool_args){.budget_bytes = -1,
                        .threads = -1,
                        .seed = -1,
                        .search_seed = -1,
                        .effort = -1,
                        .steps = -1,
                        .points = -1};
    args->reserve_bytes = args->batch = args->cap_bytes = -1;
    args->thresh_nr_try = args->genetic_nr_iter = args->genetic_pool_size = -1;
    args->capacity_bytes = args->lb_memory_bytes = args->lb_memory_mb = args->num_worker = -1;
    args->time_limit_s = args->momentum = args->weight_decay = args->max_added = -1;
    args->beta1 = args->beta2 = args->clip_norm = args->label_smoothing = -1;
    args->every = args->keep_saves = args->warmup = args->lr_every = -1;
    args->held_out = args->crop = -1;
    args->data_threads = args->keep_decoded_bytes = args->evaluate_every = args->accumulate = -1;
    args->lr = args->lr_least = args->lr_factor = -1;
}

/* An argument for which there is no place. */
static ebb_status surplus(tool *t, const tool_command *command, const char *before, const char *argument) {
    for (size_t i = 0; i < tool_n_flags; i++) {
        const tool_flag *flag = &tool_flags[i];
        if (flag->kind == TOOL_MAYBE && strncmp(before, "--", 2) == 0 &&
            strcmp(before + 2, flag->name) == 0)
            return tool_fail(t, EBB_USAGE, "%s: \"%.60s\" is one argument too many: did you mean %s=%.60s?",
                             command->name, argument, before, argument);
    }
    return tool_fail(t, EBB_USAGE, "%s: \"%.60s\" is one argument too many", command->name, argument);
}

ebb_status tool_args_parse(tool *t, const tool_command *command, int argc, char **argv) {
    bool flags_end = false;
    args_init(&t->args);
    for (int i = 0; i < argc; i++) {
        if (!flags_end && strcmp(argv[i], "--") == 0) {
            flags_end = true;
        } else if (!flags_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            ebb_status status = parse_flag(t, command, argc, argv, &i);
            if (status != EBB_OK) return status;
        } else if (t->args.operand && command->second && !t->args.second) {
            t->args.second = argv[i];
        } else if (!command->operand || t->args.operand) {
            return surplus(t, command, i > 0 ? argv[i - 1] : "", argv[i]);
        } else if (argv[i][0] == '\0') {
            return tool_fail(t, EBB_USAGE, "%s: %s is empty", command->name, command->operand);
        } else {
            t->args.operand = argv[i];
        }
    }
    /* "-" is standard output, where --json puts the same document: one of them is enough. A view that was
     * asked for goes there anyway. */
    if (t->args.output && strcmp(t->args.output, "-") == 0) {
        t->args.output = NULL;
        bool other = t->args.format || t->args.text || t->args.markdown || t->args.html || t->args.trace;
        t->args.json = t->args.json || !other;
    }
    const char *missing = !t->args.operand ? command->operand : command->second;
    bool whole = !missing || (t->args.operand && t->args.second);
    bool optional = command == &tool_commands[TOOL_HELP] || t->args.calibrate;
    if (t->args.help || t->args.print_config || whole || optional) return EBB_OK;
    return tool_fail(t, EBB_USAGE, "%s needs a %s: `ebb help %s` shows how", command->name, missing,
                     command->name);
}
