/* bench/cpu/kernels.c: how fast the cpu backend's kernels are on the ops of a model's training step.
 *
 *     kernels MODEL.ebb [NAME=SIZE ...] [threads=N] [repeats=N] [each] [cputime] [rotate] [unfused]
 *     kernels peak [cputime]
 *
 * Every distinct call of the step (op, types, attributes) is run alone, `repeats` times after one to warm
 * up, and its shortest time counted as often as the step has it. One line per op: how often, milliseconds
 * of the whole step, arithmetic and traffic reached, and what the cost model says. `each` prints every
 * call. `rotate`: each run takes the next one of as many copies of its operands as no cache holds together.
 * `unfused` leaves every op of the model by itself. `peak`: what one thread can do at most.
 */
#include <stdio.h>
#include <time.h>

#include "exec/backend.h"
#include "peak.h"
#include "step.h"

enum { MOST_DIMS = 16 };

typedef struct bench {
    ebb_env *env;
    ebb_backend *backend;
    ebb_graph *graph;
    int64_t repeats;
    bool each, rotate;
} bench;

enum { BEYOND_CACHES = 1 << 28, MOST_COPIES = 64 };

typedef struct line {
    int64_t n, flops, bytes, model_ns, best_ns;
} line;

/* ---- one call ---- */

static void fill(const ebb_type *type, void *at) {
    const int64_t n = ebb_type_count(type);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t mixed = (uint32_t)i * UINT32_C(2654435761);
        if (type->dtype == EBB_F32) ((float *)at)[i] = 0.1F + (float)(mixed >> 8) / 33554432.0F;
        if (type->dtype == EBB_I32) ((int32_t *)at)[i] = 0;
    }
}

/* One copy of a call's operands and scratch. */
typedef struct copy {
    void *block;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS];
    ebb_launch launch;
} copy;

/* Shortest of the repeats; the run before them touches every copy. */
static ebb_status time_call(const bench *b, ebb_kernel *kernel, const copy *copies, int64_t n_copies,
                            int64_t *best_ns) {
    const ebb_backend_api *api = b->backend->api;
    ebb_status status = api->begin(b->backend, &(ebb_run){.n_threads = b->backend->n_threads});
    if (status != EBB_OK) return status;
    *best_ns = INT64_MAX;
    for (int64_t i = -n_copies; status == EBB_OK && i < b->repeats; i++) {
        const uint64_t before = ebb_clock_ns(b->env);
        status = api->launch(b->backend, kernel, &copies[(i + n_copies) % n_copies].launch);
        if (i >= 0) *best_ns = ebb_min_i64(*best_ns, (int64_t)(ebb_clock_ns(b->env) - before));
    }
    api->end(b->backend);
    return status;
}

static ebb_status make_copy(const bench *b, const ebb_call *call, int64_t bytes, int64_t scratch_bytes,
                            copy *to) {
    ebb_status status = b->backend->api->block_alloc(b->backend, bytes, &to->block);
    if (status != EBB_OK) return status;
    char *at = (char *)to->block + ebb_align_up(scratch_bytes, 64);
    for (uint32_t i = 0; i < call->n_in; i++) {
        to->in[i] = at;
        fill(&call->in[i], at);
        at += ebb_align_up(ebb_type_bytes(&call->in[i]), 64);
    }
    for (uint32_t i = 0; i < call->n_out; i++) {
        to->out[i] = at;
        at += ebb_align_up(ebb_type_bytes(&call->out[i]), 64);
    }
    to->launch = (ebb_launch){.in = to->in,
                              .out = to->out,
                              .scratch = scratch_bytes ? to->block : NULL,
                              .scratch_bytes = scratch_bytes};
    return EBB_OK;
}

static ebb_status run_copies(const bench *b, const ebb_call *call, const copy *copies, int64_t n_copies,
                             int64_t *best_ns) {
    ebb_kernel *kernel;
    ebb_status status = b->backend->api->prepare(b->backend, call, 0, &kernel);
    if (status != EBB_OK) return status;
    status = time_call(b, kernel, copies, n_copies, best_ns);
    b->backend->api->release(b->backend, kernel);
    return status;
}

static ebb_status run_call(const bench *b, const ebb_call *call, line *l) {
    const ebb_backend_api *api = b->backend->api;
    ebb_op_facts facts;
    ebb_cost cost = {0};
    copy copies[MOST_COPIES];
    ebb_status status = api->facts(b->backend, call, &facts);
    if (status != EBB_OK) return status;
    int64_t bytes = ebb_align_up(facts.scratch_bytes, 64), n = 0;
    for (uint32_t i = 0; i < call->n_in; i++) bytes += ebb_align_up(ebb_type_bytes(&call->in[i]), 64);
    for (uint32_t i = 0; i < call->n_out; i++) bytes += ebb_align_up(ebb_type_bytes(&call->out[i]), 64);
    const int64_t n_copies = b->rotate ? ebb_min_i64(MOST_COPIES, 2 + BEYOND_CACHES / bytes) : 1;
    call->op->cost(call, &cost);
    *l = (line){.flops = cost.flops, .bytes = cost.bytes, .model_ns = facts.time_ns};
    for (; n < n_copies && status == EBB_OK; n += status == EBB_OK)
        status = make_copy(b, call, bytes, facts.scratch_bytes, &copies[n]);
    if (status == EBB_OK) status = run_copies(b, call, copies, n_copies, &l->best_ns);
    for (int64_t i = 0; i < n; i++) api->block_free(b->backend, copies[i].block, bytes);
    return status;
}

/* ---- the table ---- */

static void print_line(const char *name, const line *l) {
    const double ns = (double)ebb_max_i64(l->best_ns, 1);
    printf("%-22s %5lld %9.3f ms %8.1f GFLOP/s %7.2f GB/s   model %9.3f ms\n", name, (long long)l->n,
           ns / 1e6, (double)l->flops / ns, (double)l->bytes / ns, (double)l->model_ns / 1e6);
}

static void print_call(const use *u, const line *l) {
    char text[EBB_TYPE_TEXT], name[EBB_TYPE_TEXT * 2];
    (void)snprintf(name, sizeof name, "  %s %s", u->call.op->name,
                   ebb_type_text(u->call.n_in ? &u->in[0] : &u->out[0], text));
    print_line(name, l);
}

static void line_add(line *to, const line *l) {
    to->n += l->n;
    to->flops += l->n * l->flops;
    to->bytes += l->n * l->bytes;
    to->model_ns += l->n * l->model_ns;
    to->best_ns += l->n * l->best_ns;
}

/* The first node with its call runs it, for all of them. */
static ebb_status run_node(const bench *b, uint32_t k, line *out) {
    use mine, other;
    use_of(b->graph, &b->graph->nodes[k], &mine);
    for (uint32_t j = 0; j < k; j++) {
        use_of(b->graph, &b->graph->nodes[j], &other);
        if (same_call(&mine, &other)) return EBB_OK;
    }
    line l;
    const ebb_status status = run_call(b, &mine.call, &l);
    if (status != EBB_OK) return status;
    for (uint32_t j = k; j < b->graph->n_nodes; j++) {
        use_of(b->graph, &b->graph->nodes[j], &other);
        l.n += same_call(&mine, &other);
    }
    if (b->each) print_call(&mine, &l);
    line_add(out, &l);
    return EBB_OK;
}

static ebb_status run_all(const bench *b) {
    line ops[EBB_N_OPS] = {0}, products = {0}, rest = {0};
    for (uint32_t k = 0; k < b->graph->n_nodes; k++) {
        ebb_id in[EBB_MAX_OPERANDS];
        uint32_t n_in;
        const ebb_op_info *op = ebb_node_way(&b->graph->nodes[k], 0, in, &n_in);
        if (op->view) continue;
        const ebb_status status = run_node(b, k, &ops[op->code]);
        if (status != EBB_OK) return status;
    }
    for (uint32_t code = 0; code < EBB_N_OPS; code++) {
        if (!ops[code].n) continue;
        print_line(ebb_ops[code]->name, &ops[code]);
        line *sum = strncmp(ebb_ops[code]->name, "conv2d", 6) == 0 ? &products : &rest;
        line one = ops[code];
        one.n = 1;
        line_add(sum, &one);
        sum->n += ops[code].n - 1;
    }
    print_line("convolutions", &products);
    print_line("all else", &rest);
    printf("%-22s %5lld %9.3f ms\n", "step", (long long)(products.n + rest.n),
           (double)(products.best_ns + rest.best_ns) / 1e6);
    return EBB_OK;
}

/* ---- main ---- */

/* "NAME=SIZE" split in place; false for other text. */
static bool setting(char *text, int64_t *size) {
    char *equals = strchr(text, '=');
    if (!equals || !ebb_parse_i64(equals + 1, 1, 1 << 20, size)) return false;
    *equals = '\0';
    return true;
}

static ebb_status bench_open(bench *b, int argc, char **argv) {
    ebb_dim dims[MOST_DIMS];
    ebb_parse_options options = {.dims = dims};
    ebb_backend_options width = {.n_threads = ebb_cpu_count()};
    bool unfused = false;
    b->repeats = 5;
    for (int i = 2; i < argc; i++) {
        int64_t size;
        if (strcmp(argv[i], "each") == 0) {
            b->each = true;
        } else if (strcmp(argv[i], "rotate") == 0) {
            b->rotate = true;
        } else if (strcmp(argv[i], "unfused") == 0) {
            unfused = true;
        } else if (strcmp(argv[i], "cputime") == 0) {
            continue; /* seen by main */
        } else if (!setting(argv[i], &size)) {
            return ebb_fail(b->env, EBB_USAGE, "%s: not NAME=SIZE", argv[i]);
        } else if (strcmp(argv[i], "threads") == 0) {
            width.n_threads = (uint32_t)size;
        } else if (strcmp(argv[i], "repeats") == 0) {
            b->repeats = size;
        } else if (options.n_dims < MOST_DIMS) {
            dims[options.n_dims++] = (ebb_dim){argv[i], size};
        }
    }
    ebb_status status = step_of(b->env, argv[1], &options, unfused, &b->graph);
    if (status == EBB_OK) status = ebb_backend_find("cpu")->create(b->env, &width, &b->backend);
    return status;
}

static uint64_t own_time_ns(void *ctx) {
    (void)ctx;
    struct timespec now = {0};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv) {
    bench b = {0};
    if (argc < 2) {
        (void)fprintf(stderr,
                      "usage: %s MODEL.ebb [NAME=SIZE ...] [threads=N] [repeats=N] [each] [cputime] "
                      "[rotate] [unfused]\n",
                      argv[0]);
        return 2;
    }
    ebb_env_options options = {0};
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "cputime") == 0) options.clock_ns = own_time_ns;
    }
    if (ebb_env_create(&options, &b.env) != EBB_OK) return 4;
    if (strcmp(argv[1], "peak") == 0) {
        printf("peak %.1f GFLOP/s in vectors of 32 bytes, %.1f in 64; %.2f GB/s\n", peak_gflops(b.env, 32),
               peak_gflops(b.env, 64), peak_gb_per_s(b.env));
        ebb_env_destroy(b.env);
        return 0;
    }
    ebb_status status = bench_open(&b, argc, argv);
    if (status == EBB_OK) status = run_all(&b);
    if (status != EBB_OK) (void)fprintf(stderr, "%s\n", ebb_env_error(b.env));
    if (b.backend) b.backend->api->destroy(b.backend);
    ebb_graph_destroy(b.graph);
    ebb_env_destroy(b.env);
    return ebb_status_exit_code(status);
}
