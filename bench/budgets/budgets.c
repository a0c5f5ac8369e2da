/* bench/budgets/budgets.c: what a budget adds to a step, predicted and measured.
 *
 *     bench_budgets MODEL.ebb [NAME=SIZE ...] [threads=N] [rounds=N] [runs=N] [effort=N] [shares=50,40,30]
 *                   [costs=FILE|host] [cache=DIR] [cputime] [profile] [json=FILE]
 *
 * Measures the model's ops (or reads costs=FILE), plans the step in place and at each share of the in-place
 * arena (parameters and states come on top), then runs a step of each plan in turn, `rounds` times after
 * one to warm up, so that whatever else the machine does falls on all of them. Prints medians. `cputime`
 * counts processor time instead of the clock's: with threads=1 its figures hold on a busy machine.
 * `profile` adds a row: the step in place, with each op timed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ebb/ebb.h"

enum { MOST_DIMS = 16, MOST_SHARES = 8, MOST_PLANS = MOST_SHARES + 2, MOST_ROUNDS = 1000 };

typedef struct row {
    double share; /* of the in-place arena; 1: in place */
    ebb_engine *engine;
    ebb_program *program;
    ebb_plan_summary plan;
    bool profile; /* its ops are timed */
    int64_t ns[MOST_ROUNDS];
    int64_t median_ns;
    double ratio; /* median over the rounds of this plan's time over the in-place one's of that round */
    long minor_faults, major_faults, switches;
} row;

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
    ebb_costs *costs;
    const char *costs_file, *json;
    ebb_dim_binding dims[MOST_DIMS];
    uint32_t n_dims, n_rows, runs, rounds;
    row rows[MOST_PLANS];
    bool cputime, profile;
} bench;

static uint64_t own_time_ns(void *ctx) {
    const bool *cputime = ctx;
    struct timespec now = {0};
    if (clock_gettime(*cputime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- inputs: noise, class 0, a small learning rate ---- */

typedef struct text_inputs {
    bench *b;
    row *r;
    ebb_status status;
} text_inputs;

static void fill(const ebb_tensor_info *info, void *data, size_t bytes) {
    uint32_t state = 1;
    float *f32 = data;
    if (info->element != EBB_FLOAT32) {
        memset(data, 0, bytes);
        return;
    }
    for (size_t i = 0; i < bytes / sizeof *f32; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        f32[i] = info->rank == 0 ? 1e-3F : (float)(state >> 8) / 8388608.0F - 1;
    }
}

/* Feeds every "%x = input TYPE" of the text. */
static void feed_text(void *ctx, const char *pass, const char *text) {
    text_inputs *in = ctx;
    (void)pass;
    for (const char *line = text; *line && in->status == EBB_OK; line += strcspn(line, "\n") + 1) {
        char name[256];
        ebb_tensor_info info;
        void *data;
        size_t bytes;
        const char *is = strstr(line, " = input ");
        if (*line != '%' || !is || (size_t)(is - line) > strcspn(line, "\n")) continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(is - line - 1), line + 1);
        in->status = ebb_program_tensor(in->r->program, name, &info);
        if (in->status == EBB_OK) in->status = ebb_input_bytes(in->r->program, name, &data, &bytes);
        if (in->status == EBB_OK) fill(&info, data, bytes);
        if (!strchr(line, '\n')) break;
    }
}

static ebb_status feed(bench *b, row *r) {
    text_inputs in = {b, r, EBB_OK};
    ebb_options watch = b->options;
    ebb_model_facts facts;
    watch.dump = "optimizer";
    watch.on_dump = feed_text;
    watch.dump_ctx = &in;
    ebb_status status = ebb_model_inspect(b->env, b->model, b->dims, b->n_dims, &watch, &facts);
    return status == EBB_OK ? in.status : status;
}

/* ---- plans and steps ---- */

static ebb_status measure_costs(bench *b) {
    const ebb_measure_request request = {.n_runs = b->runs};
    ebb_status status = b->costs_file && strcmp(b->costs_file, "host") == 0
                            ? ebb_measure_host(b->env, &b->options, NULL, &b->costs)
                        : b->costs_file ? ebb_costs_read(b->env, b->costs_file, &b->costs)
                                        : ebb_measure(b->env, b->model, b->dims, b->n_dims, &b->options,
                                                      &request, &b->costs);
    b->options.costs = b->costs;
    return status;
}

static ebb_status make_plan(bench *b, row *r) {
    ebb_options o = b->options;
    const ebb_plan_summary *base = &b->rows[0].plan;
    if (r->share < 1) {
        o.memory = EBB_MEMORY_BUDGET;
        o.budget_bytes = base->persistent_bytes + (int64_t)(r->share * (double)base->arena_bytes);
    }
    ebb_status status = ebb_engine_create(b->env, b->model, &o, &r->engine);
    if (status == EBB_OK) status = ebb_compile(r->engine, b->dims, b->n_dims, &r->program);
    if (status != EBB_OK) return status;
    ebb_plan_summarize(ebb_program_plan(r->program), &r->plan);
    return r->profile ? ebb_program_profile(r->program, b->rounds) : EBB_OK;
}

static ebb_status one_step(bench *b, row *r, int64_t *ns) {
    struct rusage before, after;
    ebb_status status = feed(b, r);
    if (status != EBB_OK) return status;
    (void)getrusage(RUSAGE_SELF, &before);
    const uint64_t begin = own_time_ns(&b->cputime);
    status = ebb_step(r->program);
    *ns = (int64_t)(own_time_ns(&b->cputime) - begin);
    (void)getrusage(RUSAGE_SELF, &after);
    r->minor_faults += after.ru_minflt - before.ru_minflt;
    r->major_faults += after.ru_majflt - before.ru_majflt;
    r->switches += after.ru_nvcsw - before.ru_nvcsw;
    return status;
}

static ebb_status run_all(bench *b) {
    int64_t warm_ns;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < b->n_rows && status == EBB_OK; i++) {
        status = one_step(b, &b->rows[i], &warm_ns);
        b->rows[i].minor_faults = b->rows[i].major_faults = b->rows[i].switches = 0;
    }
    for (uint32_t k = 0; k < b->rounds && status == EBB_OK; k++)
        for (uint32_t i = 0; i < b->n_rows && status == EBB_OK; i++)
            status = one_step(b, &b->rows[i], &b->rows[i].ns[k]);
    return status;
}

/* ---- the answer ---- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, uint32_t n) {
    qsort(x, n, sizeof *x, by_size);
    return x[n / 2];
}

static void summarize(bench *b) {
    double x[MOST_ROUNDS];
    for (uint32_t i = 0; i < b->n_rows; i++) {
        row *r = &b->rows[i];
        for (uint32_t k = 0; k < b->rounds; k++) x[k] = (double)r->ns[k];
        r->median_ns = (int64_t)median(x, b->rounds);
        for (uint32_t k = 0; k < b->rounds; k++) x[k] = (double)r->ns[k] / (double)b->rows[0].ns[k];
        r->ratio = median(x, b->rounds);
    }
}

static void print_table(const bench *b) {
    const ebb_plan_summary *base = &b->rows[0].plan;
    printf("%s, %u threads, %u rounds, %s; costs: %lld of %lld ops measured\n\n", base->graph_name,
           base->n_threads, b->rounds, b->cputime ? "processor time" : "time", (long long)base->n_measured,
           (long long)(base->n_measured + base->n_calibrated + base->n_built_in));
    printf("%6s %11s %11s %11s %7s %9s %9s %6s %7s %8s\n", "arena", "total MB", "predicted", "measured",
           "off", "added p.", "added m.", "apart", "faults", "switches");
    for (uint32_t i = 0; i < b->n_rows; i++) {
        const row *r = &b->rows[i];
        const double predicted = (double)r->plan.time_ns / (double)base->time_ns - 1;
        printf("%5.0f%%%s%11.1f %8.1f ms %8.1f ms %+6.1f%% %+8.1f%% %+8.1f%% %+6.1f %7.1f %8.1f\n",
               100 * r->share, r->profile ? "p" : " ", (double)r->plan.total_bytes / 1e6,
               (double)r->plan.time_ns / 1e6, (double)r->median_ns / 1e6,
               100 * ((double)r->median_ns / (double)r->plan.time_ns - 1), 100 * predicted,
               100 * (r->ratio - 1), 100 * (r->ratio - 1 - predicted), (double)r->minor_faults / b->rounds,
               (double)r->switches / b->rounds);
    }
    printf("\np: each op timed; apart: measured less predicted added time, in points of the in-place step "
           "(its rounds' median "
           "ratio);\nfaults, switches: page faults and waits of one step\n");
}

static int write_json(const bench *b) {
    FILE *file = fopen(b->json, "we");
    if (!file) return 7;
    fprintf(file,
            "{\"schema\": \"ebb.bench-budgets/1\", \"graph\": \"%s\", \"n_threads\": %u, \"rounds\": %u, "
            "\"clock\": \"%s\", \"machine\": \"%s\", \"rows\": [",
            b->rows[0].plan.graph_name, b->rows[0].plan.n_threads, b->rounds,
            b->cputime ? "processor" : "monotonic", b->rows[0].plan.costs_machine);
    for (uint32_t i = 0; i < b->n_rows; i++) {
        const row *r = &b->rows[i];
        fprintf(file,
                "%s\n  {\"arena_percent\": %.0f, \"profile\": %s, \"total_bytes\": %lld, \"arena_bytes\": "
                "%lld, "
                "\"predicted_ns\": %lld, \"median_ns\": %lld, \"ratio_ppm\": %.0f, \"minor_faults\": %ld, "
                "\"major_faults\": %ld}",
                i ? "," : "", 100 * r->share, r->profile ? "true" : "false", (long long)r->plan.total_bytes,
                (long long)r->plan.arena_bytes, (long long)r->plan.time_ns, (long long)r->median_ns,
                1e6 * r->ratio, r->minor_faults, r->major_faults);
    }
    fprintf(file, "\n]}\n");
    return fclose(file) == 0 ? 0 : 7;
}

/* ---- main ---- */

static bool read_shares(bench *b, char *text) {
    b->n_rows = 1;
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        const double share = strtod(word, NULL) / 100;
        if (!(share > 0 && share < 1) || b->n_rows > MOST_SHARES) return false;
        b->rows[b->n_rows++].share = share;
    }
    return true;
}

static bool read_argument(bench *b, char *text) {
    char *value = strchr(text, '=');
    if (strcmp(text, "cputime") == 0) return b->cputime = true;
    if (strcmp(text, "profile") == 0) return b->profile = true;
    if (!value) return false;
    *value++ = '\0';
    const long long n = strtoll(value, NULL, 10);
    if (strcmp(text, "shares") == 0) return read_shares(b, value);
    if (strcmp(text, "costs") == 0) return (b->costs_file = value) != NULL;
    if (strcmp(text, "cache") == 0) return (b->options.cache = value) != NULL;
    if (strcmp(text, "json") == 0) return (b->json = value) != NULL;
    if (n < 1) return false;
    if (strcmp(text, "threads") == 0) return (b->options.n_threads = (uint32_t)n) > 0;
    if (strcmp(text, "rounds") == 0) return (b->rounds = (uint32_t)n) <= MOST_ROUNDS;
    if (strcmp(text, "runs") == 0) return (b->runs = (uint32_t)n) > 0;
    if (strcmp(text, "effort") == 0) return (b->options.effort = n) > 0;
    if (b->n_dims == MOST_DIMS) return false;
    b->dims[b->n_dims++] = (ebb_dim_binding){text, n};
    return true;
}

int main(int argc, char **argv) {
    static bench b; /* its rows are large */
    char shares[] = "50,40,30";
    const ebb_env_options options = {.clock_ns = own_time_ns, .clock_ctx = &b.cputime};
    ebb_options_init(&b.options);
    b.rounds = b.runs = 11;
    b.rows[0].share = 1;
    bool good = argc > 1 && read_shares(&b, shares);
    for (int i = 2; i < argc && good; i++) good = read_argument(&b, argv[i]);
    if (b.profile) b.rows[b.n_rows++] = (row){.share = 1, .profile = true};
    if (!good) {
        fprintf(stderr,
                "usage: %s MODEL.ebb [NAME=SIZE ...] [threads=N] [rounds=N] [runs=N] [effort=N] "
                "[shares=50,40,30] [costs=FILE] [cache=DIR] [cputime] [profile] [json=FILE]\n",
                argv[0]);
        return 2;
    }
    if (ebb_env_create(&options, &b.env) != EBB_OK) return 4;
    ebb_status status = ebb_model_open(b.env, argv[1], &b.model);
    if (status == EBB_OK) status = measure_costs(&b);
    for (uint32_t i = 0; i < b.n_rows && status == EBB_OK; i++) status = make_plan(&b, &b.rows[i]);
    if (status == EBB_OK) status = run_all(&b);
    int code = ebb_status_exit_code(status);
    if (status != EBB_OK) fprintf(stderr, "%s\n", ebb_env_error(b.env));
    if (status == EBB_OK) {
        summarize(&b);
        print_table(&b);
        if (b.json) code = write_json(&b);
    }
    for (uint32_t i = 0; i < b.n_rows; i++) ebb_engine_destroy(b.rows[i].engine);
    ebb_costs_destroy(b.costs);
    ebb_model_destroy(b.model);
    ebb_env_destroy(b.env);
    return code;
}
