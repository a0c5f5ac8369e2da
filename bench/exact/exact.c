/* bench/exact/exact.c: how much of a space the exact search looks at before its answer is proved.
 *
 *     exact [effort=N] BLOCKS ...
 *
 * For each count of blocks, a training chain: that many forward ops, each reading what the one before made,
 * and as many backward ones that read the gradient and what their forward op read; bytes of 1 to 100 KiB
 * and times of 1 to 10 us are drawn by a fixed seed. Prints rows in Markdown for budgets of 80, 65 and 50 %
 * of the live bytes without recomputation: the nodes (seeds among them), the seconds, and whether the
 * answer is proved ("-": the effort did not do). The last two columns are the candidates, and what counting
 * through them takes, by the speed at which the first 200,000 are scored.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sublinear/select.h"

static double seconds_since(ebb_env *env, uint64_t start_ns) {
    return (double)(ebb_clock_ns(env) - start_ns) / 1e9;
}

static bool add(ebb_env *env, ebb_pdraft *d, const ebb_id *in, uint32_t n_in, ebb_role role, int64_t bytes,
                ebb_phase phase, int64_t time_ns) {
    ebb_id *out = EBB_NEW(&d->arena, ebb_id, 1);
    ebb_id *ins = ebb_arena_copy(&d->arena, in, n_in, sizeof *in);
    if (!out || !ins) return false;
    out[0] = (ebb_id)d->values.n;
    ebb_pop op = {.kind = "op",
                  .phase = phase,
                  .in = ins,
                  .n_in = n_in,
                  .out = out,
                  .n_out = 1,
                  .time_ns = time_ns,
                  .recomputable = true};
    return EBB_PUSH(env, &d->values, ((ebb_pvalue){.bytes = bytes, .role = role})) &&
           EBB_PUSH(env, &d->ops, op);
}

static ebb_status draw_chain(ebb_env *env, uint32_t n, ebb_pgraph **out) {
    ebb_pdraft d;
    ebb_rng rng;
    ebb_rng_init(&rng, n, 1);
    ebb_pdraft_init(&d, env);
    d.name = "chain";
    bool ok = EBB_PUSH(env, &d.values, ((ebb_pvalue){.bytes = 51200, .role = EBB_ROLE_INPUT}));
    for (ebb_id k = 0; ok && k < n; k++)
        ok = add(env, &d, &k, 1, EBB_ROLE_ACTIVATION, 1024 * (1 + (int64_t)ebb_rng_below(&rng, 100)),
                 EBB_FORWARD, 1000 + ebb_rng_below(&rng, 9000));
    for (ebb_id k = n; ok && k-- > 0;) {
        const ebb_id in[] = {2 * n - k - 1, k};
        ok = add(env, &d, in, 2, k ? EBB_ROLE_GRADIENT : EBB_ROLE_OUTPUT, d.values.at[k].bytes,
                 EBB_BACKWARD, 2000 + ebb_rng_below(&rng, 9000));
    }
    if (ok) return ebb_pdraft_seal(&d, "chain", out);
    ebb_pdraft_deinit(&d);
    return EBB_NO_MEMORY;
}

/* Seconds for each candidate of counting through. */
static ebb_status count_speed(ebb_env *env, const ebb_space *space, double *each_s) {
    ebb_scorer *scorer;
    ebb_status status = ebb_scorer_create(env, space, &scorer);
    uint8_t *genes = ebb_calloc(env, space->n_genes, 1);
    if (status != EBB_OK || !genes) return EBB_NO_MEMORY;
    uint64_t start_ns = ebb_clock_ns(env);
    int64_t sum = 0;
    for (uint32_t n = 0; n < 200000; n++) {
        sum += ebb_score_genes(scorer, genes, 0).peak_bytes;
        for (uint32_t k = 0; k < space->n_genes; k++) {
            if (++genes[k] < space->genes[k].n_states) break;
            genes[k] = 0;
        }
    }
    *each_s = seconds_since(env, start_ns) / 200000;
    ebb_cfree(env, genes, space->n_genes, 1);
    ebb_scorer_destroy(scorer);
    return sum >= 0 ? EBB_OK : EBB_INTERNAL;
}

static ebb_status print_search(ebb_env *env, const ebb_pgraph *graph, int64_t effort,
                               int64_t budget_bytes) {
    ebb_select_log log = {0};
    ebb_selection *found = NULL;
    ebb_select_request request = {.graph = graph,
                                  .method = EBB_METHOD_BUDGET,
                                  .alignment = 64,
                                  .peak_budget_bytes = budget_bytes,
                                  .effort = effort,
                                  .without = EBB_WITHOUT_ORDER,
                                  .log = &log};
    ebb_sublinear_config_init(&request.config);
    uint64_t start_ns = ebb_clock_ns(env);
    ebb_status status = ebb_select(env, &request, &found);
    double seconds = seconds_since(env, start_ns);
    bool proved = log.searches.n > 0 && log.searches.at[0].how == EBB_HOW_EVERY;
    int64_t nodes = log.searches.n > 0 ? log.searches.at[0].n_scored : 0;
    if (proved)
        printf(" %" PRId64 ", %.3f%s |", nodes, seconds,
               status == EBB_OVER_BUDGET ? " (nothing fits)" : "");
    else
        printf(" - |");
    ebb_selection_destroy(found);
    ebb_select_log_deinit(env, &log);
    return status == EBB_OVER_BUDGET ? EBB_OK : status;
}

static ebb_status print_row(ebb_env *env, uint32_t n_blocks, int64_t effort) {
    static const int percents[] = {80, 65, 50};
    ebb_pgraph *graph = NULL;
    ebb_space *space = NULL;
    ebb_scorer *scorer = NULL;
    ebb_status status = draw_chain(env, n_blocks, &graph);
    if (status == EBB_OK) status = ebb_space_create(env, graph, 64, &space);
    if (status == EBB_OK) status = ebb_scorer_create(env, space, &scorer);
    if (status == EBB_OK) {
        int64_t base = ebb_score_genes(scorer, space->base_genes, 0).peak_bytes;
        double n_candidates = 1, each_s = 0;
        uint32_t n_free = 0;
        for (uint32_t k = 0; k < space->n_genes; k++) n_free += space->genes[k].n_states > 1;
        for (uint32_t k = 0; k < space->n_genes; k++) n_candidates *= space->genes[k].n_states;
        printf("| %u | %u | %u |", n_blocks, space->n_ops, n_free);
        for (size_t k = 0; k < EBB_COUNT(percents) && status == EBB_OK; k++)
            status = print_search(env, graph, effort, base * percents[k] / 100);
        if (status == EBB_OK) status = count_speed(env, space, &each_s);
        printf(" %.3g | %.3g |\n", n_candidates, n_candidates * each_s);
        (void)fflush(stdout);
    }
    ebb_scorer_destroy(scorer);
    ebb_space_destroy(space);
    ebb_pgraph_destroy(graph);
    return status;
}

int main(int n_args, char **args) {
    ebb_env *env;
    if (ebb_env_create(NULL, &env) != EBB_OK) return 2;
    int64_t effort = 0;
    ebb_status status = EBB_OK;
    printf("| blocks | ops | free genes | 80 %%: nodes, s | 65 %% | 50 %% | candidates | counting, s |\n");
    printf("|---|---|---|---|---|---|---|---|\n");
    for (int k = 1; k < n_args && status == EBB_OK; k++) {
        long long n = 0;
        if (sscanf(args[k], "effort=%lld", &n) == 1)
            effort = n;
        else if (sscanf(args[k], "%lld", &n) == 1 && n > 0 && n < 10000)
            status = print_row(env, (uint32_t)n, effort);
        else
            status = EBB_USAGE;
    }
    if (status != EBB_OK) fprintf(stderr, "exact: %s\n", ebb_env_error(env));
    ebb_env_destroy(env);
    return status == EBB_OK ? 0 : 1;
}
