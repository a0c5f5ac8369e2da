/* bench/ablation/ablation.c: what each part of the search is worth: seeds one by one, and the search
 * without a part of it.
 *
 *     ablation GRAPH.json [alignment=N] [seed=N] [workers=N] [effort=N] [iterations=N] BUDGET ...
 *
 * GRAPH.json is a planning graph (ebb.graph/1); a BUDGET ("45MB") is of the live bytes in a step, not of
 * the bytes after packing. Prints a table in Markdown: a row for each way to search; in it, the least time
 * within each budget over the time without recomputation, "-" where nothing was found, and the most
 * candidates that a search of the row scored. `iterations` are generations of MegEngine's mode, whose
 * lb_memory is the budget.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sublinear/select.h"

enum { MOST_BUDGETS = 32 };
#define MOST_BYTES ((size_t)1 << 30)

typedef struct bench {
    ebb_env *env;
    ebb_pgraph *graph;
    int64_t alignment, seed, workers, iterations;
    int64_t effort; /* 0: the default */
    int64_t budgets[MOST_BUDGETS];
    uint32_t n_budgets;
    int64_t base_time_ns;
} bench;

typedef struct row {
    const char *name;
    ebb_method method;
    uint32_t without;
    ebb_seeds seeds;
} row;

static const row rows[] = {
    {"no recomputation", EBB_METHOD_NONE, 0, EBB_SEEDS_ALL},
    {"seed: even cuts, to 2 sqrt n", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_EVEN_CUTS},
    {"seed: threshold cuts", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_THRESHOLD_CUTS},
    {"seed: per block", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_BLOCKS},
    {"seed: greedy by bytes x gap per time", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_GREEDY},
    {"seed: online, as DTR", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_ONLINE},
    {"seed: the certificate's cut", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_CERTIFICATE},
    {"seed: dynamic programming over blocks", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_CHAIN},
    {"MegEngine's mode", EBB_METHOD_MEGENGINE, 0, EBB_SEEDS_ALL},
    {"all seeds", EBB_METHOD_BUDGET, EBB_WITHOUT_SEARCH, EBB_SEEDS_ALL},
    {"search without annealing", EBB_METHOD_BUDGET, EBB_WITHOUT_ANNEALING, EBB_SEEDS_ALL},
    {"search without crossover", EBB_METHOD_BUDGET, EBB_WITHOUT_CROSSOVER, EBB_SEEDS_ALL},
    {"search without seeds", EBB_METHOD_BUDGET, EBB_WITHOUT_SEEDS, EBB_SEEDS_ALL},
    {"search in the graph's own order", EBB_METHOD_BUDGET, EBB_WITHOUT_ORDER, EBB_SEEDS_ALL},
    {"search, nothing trimmed", EBB_METHOD_BUDGET, EBB_WITHOUT_TRIM, EBB_SEEDS_ALL},
    {"whole search", EBB_METHOD_BUDGET, 0, EBB_SEEDS_ALL},
};

static ebb_select_request request_of(const bench *b, const row *r, int64_t budget_bytes) {
    ebb_select_request request = {.graph = b->graph,
                                  .method = r->method,
                                  .alignment = b->alignment,
                                  .peak_budget_bytes = budget_bytes,
                                  .effort = b->effort,
                                  .seed = (uint64_t)b->seed,
                                  .without = r->without,
                                  .only_seeds = r->seeds};
    ebb_sublinear_config_init(&request.config);
    request.config.num_worker = b->workers;
    if (r->method == EBB_METHOD_MEGENGINE) {
        request.config.genetic_nr_iter = b->iterations;
        request.config.lb_memory_bytes = budget_bytes;
    }
    return request;
}

/* One cell: *n_candidates grows to what the search scored; unknown where nothing was found. */
static ebb_status search_one(const bench *b, const row *r, int64_t budget_bytes, int64_t *n_candidates) {
    ebb_select_request request = request_of(b, r, budget_bytes);
    ebb_selection *found = NULL;
    ebb_status status = ebb_select(b->env, &request, &found);
    if (found) *n_candidates = ebb_max_i64(*n_candidates, found->n_candidates);
    if (found && found->peak_bytes <= budget_bytes)
        printf(" %.4f |", (double)found->time_ns / (double)b->base_time_ns);
    else
        printf(" - |");
    (void)fflush(stdout);
    ebb_selection_destroy(found);
    return status == EBB_OVER_BUDGET ? EBB_OK : status;
}

static ebb_status search_row(const bench *b, const row *r) {
    int64_t n_candidates = 0;
    ebb_status status = EBB_OK;
    printf("| %s |", r->name);
    for (uint32_t k = 0; k < b->n_budgets && status == EBB_OK; k++)
        status = search_one(b, r, b->budgets[k], &n_candidates);
    printf(" %" PRId64 " |\n", n_candidates);
    return status;
}

static ebb_status bound_row(const bench *b) {
    ebb_status status = EBB_OK;
    printf("| lower bound (certificate) |");
    for (uint32_t k = 0; k < b->n_budgets && status == EBB_OK; k++) {
        ebb_arena arena;
        ebb_bound bound;
        ebb_arena_init(&arena, b->env);
        status = ebb_certify(&arena, b->graph, b->budgets[k], b->alignment, &bound);
        if (status == EBB_OK) printf(" %.4f |", (double)bound.time_ns / (double)b->base_time_ns);
        ebb_arena_deinit(&arena);
    }
    printf(" |\n");
    return status;
}

static ebb_status measure_base(bench *b) {
    const row none = {"", EBB_METHOD_NONE, 0, EBB_SEEDS_ALL};
    ebb_select_request request = request_of(b, &none, 0);
    ebb_selection *base = NULL;
    ebb_status status = ebb_select(b->env, &request, &base);
    if (status != EBB_OK) return status;
    b->base_time_ns = ebb_max_i64(base->time_ns, 1);
    printf("%s: %u ops, alone %" PRId64 " ns and %" PRId64 " live bytes; effort ", b->graph->name,
           b->graph->n_ops, base->time_ns, base->peak_bytes);
    if (b->effort > 0)
        printf("%" PRId64, b->effort);
    else
        printf("by default");
    printf(", seed %" PRId64 ", MegEngine's mode %" PRId64 " iterations\n\n", b->seed, b->iterations);
    ebb_selection_destroy(base);
    return EBB_OK;
}

static ebb_status print_table(bench *b) {
    ebb_status status = measure_base(b);
    if (status != EBB_OK) return status;
    printf("| live bytes at most |");
    for (uint32_t k = 0; k < b->n_budgets; k++) printf(" %" PRId64 " |", b->budgets[k]);
    printf(" candidates |\n|---|");
    for (uint32_t k = 0; k <= b->n_budgets; k++) printf("---|");
    printf("\n");
    for (size_t k = 0; k < EBB_COUNT(rows) && status == EBB_OK; k++) status = search_row(b, &rows[k]);
    return status == EBB_OK ? bound_row(b) : status;
}

/* ---- arguments ---- */

static bool number_of(const char *text, const char *name, int64_t most, int64_t *out) {
    size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && text[n] == '=' && ebb_parse_i64(text + n + 1, 1, most, out);
}

static bool read_argument(bench *b, const char *text) {
    if (number_of(text, "alignment", INT64_C(1) << 30, &b->alignment) ||
        number_of(text, "seed", INT64_MAX, &b->seed) || number_of(text, "workers", 4096, &b->workers) ||
        number_of(text, "iterations", 100000, &b->iterations) ||
        number_of(text, "effort", INT64_MAX, &b->effort))
        return true;
    return b->n_budgets < MOST_BUDGETS && ebb_parse_bytes(text, &b->budgets[b->n_budgets++]);
}

static ebb_status read_graph(bench *b, const char *path) {
    char *text;
    size_t n;
    ebb_status status = ebb_file_read(b->env, path, MOST_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_pgraph_parse(b->env, path, text, n, &b->graph);
    ebb_file_free(b->env, text, n);
    return status;
}

int main(int argc, char **argv) {
    bench b = {.alignment = 64, .workers = 1, .iterations = 5000};
    for (int i = 2; i < argc; i++)
        if (!read_argument(&b, argv[i])) {
            (void)fprintf(stderr, "ablation: \"%s\" is neither an option nor a budget in bytes\n", argv[i]);
            return 2;
        }
    if (b.n_budgets == 0) {
        (void)fprintf(stderr, "usage: ablation GRAPH.json [alignment=N] [seed=N] [workers=N] [effort=N] "
                              "[iterations=N] BUDGET ...\n");
        return 2;
    }
    ebb_status status = ebb_env_create(NULL, &b.env);
    if (status != EBB_OK) return ebb_status_exit_code(status);
    status = read_graph(&b, argv[1]);
    if (status == EBB_OK) status = print_table(&b);
    if (status != EBB_OK) (void)fprintf(stderr, "ablation: %s\n", ebb_env_error(b.env));
    ebb_pgraph_destroy(b.graph);
    ebb_env_destroy(b.env);
    return ebb_status_exit_code(status);
}
