/* bench/score/score.c: how many candidates a second the search scores, and what a search of a budget costs.
 *
 *     score GRAPH.json [seconds=N] [alignment=N] [seed=N] [workers=N] [effort=N] [budget=BYTES ...]
 *
 * GRAPH.json is a planning graph (ebb.graph/1). Three kinds of candidates are scored whole for `seconds`
 * each:
 * the base, the base with one gene in twenty changed, and every gene drawn at random; then single changes
 * of a gene (processor time, so that a busy machine does little harm). Then each budget of the live bytes
 * is searched ("45 MB" for instance).
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "sublinear/select.h"

enum { MOST_BUDGETS = 32, N_DRAWN = 64 };
#define MOST_BYTES ((size_t)1 << 30)

typedef struct bench {
    ebb_env *env;
    ebb_pgraph *graph;
    ebb_space *space;
    ebb_scorer *scorer;
    int64_t seconds, alignment, seed, workers;
    int64_t effort; /* 0: the default */
    int64_t budgets[MOST_BUDGETS];
    uint32_t n_budgets;
} bench;

/* ---- scoring ---- */

static void draw(const bench *b, ebb_rng *rng, uint32_t per_mille, uint8_t *genes) {
    for (uint32_t k = 0; k < b->space->n_genes; k++) {
        bool change = ebb_rng_below(rng, 1000) < per_mille;
        genes[k] =
            change ? (uint8_t)ebb_rng_below(rng, b->space->genes[k].n_states) : b->space->base_genes[k];
    }
}

static uint64_t cpu_ns(void) {
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec
               : 0;
}

static void measure(bench *b, const char *name, uint32_t per_mille, uint8_t *genes) {
    uint32_t n_genes = b->space->n_genes;
    uint64_t n = 0, n_steps = 0, n_valid = 0, begin_ns, now_ns;
    ebb_rng rng;
    ebb_rng_init(&rng, (uint64_t)b->seed, per_mille);
    for (uint32_t k = 0; k < N_DRAWN; k++) draw(b, &rng, per_mille, genes + (size_t)k * n_genes);
    begin_ns = now_ns = cpu_ns();
    while (now_ns - begin_ns < (uint64_t)b->seconds * 1000000000u) {
        for (uint32_t k = 0; k < N_DRAWN; k++, n++) {
            ebb_score score = ebb_score_genes(b->scorer, genes + (size_t)k * n_genes, 0);
            n_steps += score.n_steps;
            n_valid += score.valid;
        }
        now_ns = cpu_ns();
    }
    double ns = (double)(now_ns - begin_ns);
    printf("%-12s %10.0f a second %8.2f us each %8.2f ns a step %6.0f steps %5.1f %% valid\n", name,
           (double)n / ns * 1e9, ns / 1e3 / (double)n, ns / (double)n_steps, (double)n_steps / (double)n,
           100.0 * (double)n_valid / (double)n);
}

/* One gene of the base changed, scored, changed back, scored again. */
static ebb_status measure_changes(bench *b) {
    ebb_rescorer *rescorer;
    if (!ebb_rescore_applies(b->space)) return EBB_OK;
    ebb_status status = ebb_rescorer_create(b->env, b->space, &rescorer);
    if (status != EBB_OK) return status;
    ebb_rescorer_load(rescorer, b->space->base_genes);
    (void)ebb_rescorer_score(rescorer, 0);
    uint64_t n = 0, begin_ns = cpu_ns(), now_ns = begin_ns;
    ebb_rng rng;
    ebb_rng_init(&rng, (uint64_t)b->seed, 1);
    for (; now_ns - begin_ns < (uint64_t)b->seconds * 1000000000u; now_ns = cpu_ns())
        for (uint32_t k = 0; k < N_DRAWN; k++, n += 2) {
            uint32_t gene = ebb_rng_below(&rng, b->space->n_genes);
            uint8_t old = ebb_rescorer_genes(rescorer)[gene], states = b->space->genes[gene].n_states;
            ebb_rescorer_set(rescorer, gene, (uint8_t)ebb_rng_below(&rng, states));
            (void)ebb_rescorer_score(rescorer, 0);
            ebb_rescorer_set(rescorer, gene, old);
            (void)ebb_rescorer_score(rescorer, 0);
        }
    double ns = (double)(now_ns - begin_ns);
    printf("%-12s %10.0f a second %8.2f us each\n", "one changed", (double)n / ns * 1e9,
           ns / 1e3 / (double)n);
    ebb_rescorer_destroy(rescorer);
    return EBB_OK;
}

static ebb_status score_all(bench *b) {
    size_t n = (size_t)N_DRAWN * b->space->n_genes;
    uint8_t *genes = ebb_calloc(b->env, n, 1);
    if (!genes) return EBB_NO_MEMORY;
    measure(b, "base", 0, genes);
    measure(b, "one in 20", 50, genes);
    measure(b, "random", 1000, genes);
    ebb_cfree(b->env, genes, n, 1);
    return measure_changes(b);
}

/* ---- searching ---- */

static ebb_status search_one(const bench *b, int64_t budget_bytes) {
    ebb_select_request request = {.graph = b->graph,
                                  .method = EBB_METHOD_BUDGET,
                                  .alignment = b->alignment,
                                  .peak_budget_bytes = budget_bytes,
                                  .effort = b->effort,
                                  .seed = (uint64_t)b->seed};
    ebb_sublinear_config_init(&request.config);
    request.config.num_worker = b->workers;
    ebb_selection *found = NULL;
    uint64_t begin_ns = ebb_clock_ns(b->env);
    ebb_status status = ebb_select(b->env, &request, &found);
    double seconds = (double)(ebb_clock_ns(b->env) - begin_ns) / 1e9;
    printf("budget %12" PRId64 "  ", budget_bytes);
    if (found)
        printf("time %.4f  peak %12" PRId64 "  %5u steps",
               (double)found->time_ns / (double)b->space->base_time_ns, found->peak_bytes, found->n_steps);
    else
        printf("%s: %s", ebb_status_name(status), ebb_env_error(b->env));
    printf("  %.2f s\n", seconds);
    ebb_selection_destroy(found);
    return status == EBB_OVER_BUDGET ? EBB_OK : status;
}

/* ---- arguments ---- */

static bool number_of(const char *text, const char *name, int64_t most, int64_t *out) {
    size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && text[n] == '=' && ebb_parse_i64(text + n + 1, 1, most, out);
}

static bool read_option(bench *b, const char *text) {
    if (number_of(text, "seconds", 3600, &b->seconds) ||
        number_of(text, "alignment", INT64_C(1) << 30, &b->alignment) ||
        number_of(text, "seed", INT64_MAX, &b->seed) || number_of(text, "workers", 4096, &b->workers) ||
        number_of(text, "effort", INT64_MAX, &b->effort))
        return true;
    return strncmp(text, "budget=", 7) == 0 && b->n_budgets < MOST_BUDGETS &&
           ebb_parse_bytes(text + 7, &b->budgets[b->n_budgets++]);
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

static ebb_status run(bench *b, const char *path) {
    ebb_status status = read_graph(b, path);
    if (status == EBB_OK) status = ebb_space_create(b->env, b->graph, b->alignment, &b->space);
    if (status == EBB_OK) status = ebb_scorer_create(b->env, b->space, &b->scorer);
    if (status != EBB_OK) return status;
    printf("%s: %u ops, %u values, %u genes\n", b->graph->name, b->graph->n_ops, b->graph->n_values,
           b->space->n_genes);
    status = score_all(b);
    for (uint32_t k = 0; k < b->n_budgets && status == EBB_OK; k++) status = search_one(b, b->budgets[k]);
    return status;
}

int main(int argc, char **argv) {
    bench b = {.seconds = 2, .alignment = 64, .workers = 1};
    if (argc < 2) {
        (void)fprintf(stderr,
                      "usage: score GRAPH.json [seconds=N] [alignment=N] [seed=N] [workers=N] [effort=N] "
                      "[budget=BYTES ...]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        if (!read_option(&b, argv[i])) {
            (void)fprintf(stderr, "score: \"%s\" is not an option\n", argv[i]);
            return 2;
        }
    ebb_status status = ebb_env_create(NULL, &b.env);
    if (status != EBB_OK) return ebb_status_exit_code(status);
    status = run(&b, argv[1]);
    if (status != EBB_OK) (void)fprintf(stderr, "score: %s\n", ebb_env_error(b.env));
    ebb_scorer_destroy(b.scorer);
    ebb_space_destroy(b.space);
    ebb_pgraph_destroy(b.graph);
    ebb_env_destroy(b.env);
    return ebb_status_exit_code(status);
}
