/* ebb pack: offsets for the rows of a CSV file. */
#include "tool/commands/commands.h"
#include "tool/out/out.h"

#include <string.h>

static const char *const verdict_names[] = {
    [EBB_PACK_FITS] = "fits", [EBB_PACK_IMPOSSIBLE] = "impossible", [EBB_PACK_UNKNOWN] = "unknown"};

static double gap_of(const ebb_pack_answer *a) {
    return a->lower_bound > 0 ? (double)(a->height - a->lower_bound) / (double)a->lower_bound : 0;
}

static void print_table(const ebb_rows *packed, const ebb_pack_answer *a) {
    uint32_t n_rows = ebb_rows_count(packed);
    char gap[32], height[32], bound[32];
    snprintf(gap, sizeof gap, "%.3f %%", 100 * gap_of(a));
    snprintf(height, sizeof height, "%lld", (long long)a->height);
    snprintf(bound, sizeof bound, "%lld", (long long)a->lower_bound);
    out_table table = {0};
    const char *const rows[][2] = {
        {"verdict", verdict_names[a->verdict]},
        {"rows", out_count(n_rows).text},
        {"height", height},
        {"lower bound", bound},
        {"gap", gap},
        {"proven", a->proven ? "yes" : "no"},
        {"found by", a->found_by},
        {"time", out_time((int64_t)a->time_ns).text},
    };
    for (size_t i = 0; i < TOOL_COUNT(rows); i++)
        out_row(&table, (const char *const[OUT_COLUMNS]){rows[i][0], rows[i][1]});
    const ebb_rows_pool *pools;
    uint32_t n_pools = ebb_rows_pools(packed, &pools);
    for (uint32_t k = 0; k < n_pools; k++) {
        char name[64], figures[64];
        snprintf(name, sizeof name, "pool %.40s", pools[k].name);
        snprintf(figures, sizeof figures, pools[k].capacity < 0 ? "%lld" : "%lld of %lld",
                 (long long)pools[k].height, (long long)pools[k].capacity);
        out_row(&table, (const char *const[OUT_COLUMNS]){name, figures});
    }
    out_table_print(&table, stdout);
}

static void print_pools(out_json *json, const ebb_rows *rows) {
    const ebb_rows_pool *pools;
    uint32_t n_pools = ebb_rows_pools(rows, &pools);
    if (n_pools == 0) return;
    out_open(json, "pools", '[');
    for (uint32_t k = 0; k < n_pools; k++) {
        out_open(json, NULL, '{');
        out_text(json, "name", pools[k].name);
        if (pools[k].capacity >= 0) out_integer(json, "capacity", pools[k].capacity);
        out_integer(json, "height", pools[k].height);
        out_close(json, '}');
    }
    out_close(json, ']');
}

/* To standard output: -o takes the rows. */
static ebb_status print_json(tool *t, const ebb_rows *rows, const ebb_pack_answer *a) {
    out_json json;
    const char *output = t->args.output;
    out_json_begin(&json, "ebb.pack/1");
    out_text(&json, "verdict", verdict_names[a->verdict]);
    out_integer(&json, "height", a->height);
    out_integer(&json, "lower_bound", a->lower_bound);
    out_real(&json, "gap", gap_of(a));
    out_bool(&json, "proven", a->proven);
    out_text(&json, "found_by", a->found_by);
    out_real(&json, "seconds", (double)a->time_ns / 1e9);
    print_pools(&json, rows);
    t->args.output = NULL;
    ebb_status status = out_json_end(t, &json);
    t->args.output = output;
    return status;
}

static ebb_status judge_pools(tool *t, const ebb_pack_answer *a) {
    if (a->verdict == EBB_PACK_IMPOSSIBLE)
        return tool_fail(t, EBB_OVER_BUDGET,
                         "%.300s: impossible: no packing is within the pools' capacities", t->args.operand);
    if (a->verdict == EBB_PACK_UNKNOWN)
        return tool_fail(
            t, EBB_OVER_BUDGET,
            "%.300s: unknown: no packing within the pools' capacities was found or ruled out: raise "
            "--effort or --time-limit",
            t->args.operand);
    return EBB_OK;
}

static ebb_status judge(tool *t, const ebb_pack_answer *a) {
    long long capacity = t->args.capacity_bytes;
    if (capacity < 0) return judge_pools(t, a);
    if (a->verdict == EBB_PACK_IMPOSSIBLE)
        return tool_fail(t, EBB_OVER_BUDGET,
                         "%.300s: impossible: no packing is below %lld bytes, %lld above the "
                         "capacity of %lld",
                         t->args.operand, (long long)a->lower_bound, (long long)a->lower_bound - capacity,
                         capacity);
    if (a->verdict == EBB_PACK_UNKNOWN)
        return tool_fail(t, EBB_OVER_BUDGET,
                         "%.300s: unknown: none within %lld bytes was found (the lowest is "
                         "%lld) or ruled out: raise --effort or --time-limit",
                         t->args.operand, capacity, (long long)a->height);
    return EBB_OK;
}

/* `-o -` has become --json before. */
static bool draws_to_stdout(const tool *t) {
    return t->args.svg && strcmp(t->args.svg, "-") == 0;
}

static ebb_status check_outputs(tool *t) {
    const char *output = t->args.output, *svg = t->args.svg;
    if (t->args.json && draws_to_stdout(t))
        return tool_fail(t, EBB_USAGE, "pack: standard output takes --json or --svg -, not both");
    if (t->args.pools.n > 0 && t->args.capacity_bytes >= 0)
        return tool_fail(t, EBB_USAGE, "pack: --capacity is of one space: give each --pool its own");
    if (output && svg && strcmp(output, svg) == 0)
        return tool_fail(t, EBB_USAGE, "pack: -o and --svg name the same file \"%.200s\"", svg);
    return EBB_OK;
}

static ebb_status write_answers(tool *t, const ebb_rows *rows, const ebb_pack_answer *a) {
    ebb_status status = t->args.output ? ebb_rows_write(t->env, rows, t->args.output) : EBB_OK;
    if (status == EBB_OK && t->args.svg) status = ebb_rows_draw(t->env, rows, t->args.svg);
    if (status == EBB_OK && t->args.json) status = print_json(t, rows, a);
    if (status == EBB_OK && !t->args.json && !draws_to_stdout(t)) print_table(rows, a);
    return status;
}

static ebb_pack_options options_of(const tool *t) {
    const tool_args *args = &t->args;
    ebb_pack_options options = {
        .capacity = args->capacity_bytes, .effort = EBB_PACK_EFFORT, .seed = 1, .n_workers = 1};
    if (args->time_limit_s > 0) {
        options.time_limit_ns = args->time_limit_s < 1e9 ? (uint64_t)(args->time_limit_s * 1e9) + 1 : 0;
        options.effort = INT64_MAX / 1000; /* until then */
    }
    if (args->effort >= 0)
        options.effort = args->effort < INT64_MAX / 1000 ? args->effort : INT64_MAX / 1000;
    if (args->seed >= 0) options.seed = (uint64_t)args->seed;
    if (args->num_worker > 0) options.n_workers = args->num_worker < 64 ? (uint32_t)args->num_worker : 64;
    return options;
}

/* NAME=BYTES, or NAME. */
static ebb_status add_pools(tool *t, ebb_rows *rows) {
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < t->args.pools.n && status == EBB_OK; k++) {
        char name[256];
        int64_t capacity = -1;
        const char *text = t->args.pools.at[k];
        size_t n = strcspn(text, "=");
        if (n == 0 || n >= sizeof name || (text[n] == '=' && !ebb_parse_bytes(text + n + 1, &capacity)))
            return tool_fail(t, EBB_USAGE, "--pool: \"%.60s\" is no NAME=BYTES: write --pool sram=2MiB",
                             text);
        memcpy(name, text, n);
        name[n] = '\0';
        status = ebb_rows_add_pool(t->env, rows, name, capacity);
        if (status == EBB_BAD_INPUT) status = EBB_USAGE; /* its text is in the env */
    }
    return status;
}

ebb_status tool_pack(tool *t) {
    ebb_rows *rows = NULL;
    ebb_pack_answer answer;
    ebb_pack_options options = options_of(t);
    ebb_status status = check_outputs(t);
    if (status == EBB_OK) status = ebb_rows_read(t->env, t->args.operand, &rows);
    if (status == EBB_OK) status = add_pools(t, rows);
    if (status == EBB_OK) status = ebb_rows_pack(t->env, rows, &options, &answer);
    if (status == EBB_OK) status = write_answers(t, rows, &answer);
    ebb_rows_destroy(rows);
    if (status != EBB_OK) return status;
    if (*t->stop != 0 && !answer.proven && !(options.capacity >= 0 && answer.verdict == EBB_PACK_FITS))
        return tool_fail(t, EBB_INTERRUPTED, "interrupted: the answer is the best until then");
    return judge(t, &answer);
}
