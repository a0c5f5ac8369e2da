/* exec/costs.c: see costs.h. */
#include "exec/costs.h"

#include <stdio.h>
#include <stdlib.h>

ebb_status ebb_costs_create(ebb_env *env, const char *backend, uint32_t n_threads, const char *machine,
                            ebb_costs **out) {
    *out = NULL;
    ebb_costs *costs = ebb_calloc(env, 1, sizeof *costs);
    if (!costs) return EBB_NO_MEMORY;
    costs->env = env;
    costs->n_threads = n_threads;
    ebb_arena_init(&costs->arena, env);
    costs->backend = ebb_arena_text(&costs->arena, backend);
    costs->machine = ebb_arena_text(&costs->arena, machine);
    if (!costs->backend || !costs->machine) {
        ebb_costs_destroy(costs);
        return EBB_NO_MEMORY;
    }
    *out = costs;
    return EBB_OK;
}

void ebb_costs_destroy(ebb_costs *costs) {
    if (!costs) return;
    ebb_env *env = costs->env;
    EBB_ARRAY_FREE(env, &costs->rows);
    EBB_ARRAY_FREE(env, &costs->lines);
    ebb_arena_deinit(&costs->arena);
    ebb_cfree(env, costs, 1, sizeof *costs);
}

ebb_status ebb_costs_add_row(ebb_costs *costs, const ebb_cost_row *row) {
    ebb_cost_row copy = *row;
    copy.op = ebb_arena_text(&costs->arena, row->op);
    copy.kind = ebb_arena_text(&costs->arena, row->kind);
    if (!copy.op || !copy.kind) return EBB_NO_MEMORY;
    return EBB_PUSH(costs->env, &costs->rows, copy) ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_costs_add_line(ebb_costs *costs, const ebb_cost_line *line) {
    ebb_cost_line copy = *line;
    if (!(copy.kind = ebb_arena_text(&costs->arena, line->kind))) return EBB_NO_MEMORY;
    return EBB_PUSH(costs->env, &costs->lines, copy) ? EBB_OK : EBB_NO_MEMORY;
}

/* ---- seal ------------------------------------------------------------------------------------------ */

/* One more to sort: its key and where it stood. */
typedef struct keyed {
    const char *key;
    size_t at;
} keyed;

static int by_key(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    const int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* Sorts n elements by their first member, a text, and keeps the last of equal ones. Returns how many stay.
 */
static ebb_status sort_last(ebb_env *env, void *elements, size_t n, size_t size, size_t *n_left) {
    char *at = elements;
    *n_left = n;
    if (n == 0) return EBB_OK;
    keyed *order = ebb_calloc(env, n, sizeof *order);
    char *copy = ebb_calloc(env, n, size);
    for (size_t i = 0; order && copy && i < n; i++) {
        order[i].at = i;
        memcpy(&order[i].key, at + i * size, sizeof order[i].key);
    }
    if (order && copy) {
        memcpy(copy, at, n * size);
        qsort(order, n, sizeof *order, by_key);
        *n_left = 0;
        for (size_t i = 0; i < n; i++) {
            if (i + 1 < n && strcmp(order[i].key, order[i + 1].key) == 0) continue;
            memcpy(at + (*n_left)++ * size, copy + order[i].at * size, size);
        }
    }
    const bool done = order && copy;
    if (order) ebb_cfree(env, order, n, sizeof *order);
    if (copy) ebb_cfree(env, copy, n, size);
    return done ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status name_content(ebb_costs *costs) {
    ebb_text text;
    ebb_json_out json;
    ebb_hash hash;
    ebb_text_init(&text, costs->env);
    ebb_json_out_init(&json, &text);
    ebb_costs_print(&json, costs);
    ebb_status status = ebb_text_status(&text);
    ebb_hash_init(&hash);
    if (status == EBB_OK) ebb_hash_add(&hash, text.at, text.n);
    (void)ebb_hash_text(&hash, costs->id);
    ebb_text_deinit(&text);
    return status;
}

ebb_status ebb_costs_seal(ebb_costs *costs, size_t *n_dropped) {
    const size_t n = costs->rows.n + costs->lines.n;
    ebb_status status =
        sort_last(costs->env, costs->rows.at, costs->rows.n, sizeof *costs->rows.at, &costs->rows.n);
    if (status == EBB_OK)
        status = sort_last(costs->env, costs->lines.at, costs->lines.n, sizeof *costs->lines.at,
                           &costs->lines.n);
    if (n_dropped) *n_dropped = n - costs->rows.n - costs->lines.n;
    return status == EBB_OK ? name_content(costs) : status;
}

/* ---- ask ------------------------------------------------------------------------------------------- */

void ebb_costs_machine(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]) {
    if (backend->api->machine)
        backend->api->machine(backend, text);
    else
        ebb_machine_text(text);
}

/* Costs of another host are taken: its processors differ in rates. Devices differ in more, and say who they
 * are. */
ebb_status ebb_costs_check(ebb_env *env, const ebb_costs *costs, const ebb_backend *backend) {
    char machine[EBB_MACHINE_TEXT];
    const char *name = backend->api->name;
    if (strcmp(costs->backend, name) != 0 || costs->n_threads != backend->n_threads)
        return ebb_fail(
            env, EBB_USAGE,
            "the costs are of device %.40s with %u threads, but the plan is for %s with %u: measure "
            "them for these (`ebb bench`) or plan for those",
            costs->backend, costs->n_threads, name, backend->n_threads);
    ebb_costs_machine(backend, machine);
    if (!backend->api->machine || strcmp(costs->machine, machine) == 0) return EBB_OK;
    return ebb_fail(env, EBB_USAGE,
                    "the costs are of \"%.60s\", but the plan is for \"%.60s\": measure them there "
                    "(`ebb bench`) or leave them out",
                    costs->machine, machine);
}

static int to_row(const void *key, const void *row) {
    return strcmp(key, ((const ebb_cost_row *)row)->op);
}

static int to_line(const void *key, const void *line) {
    return strcmp(key, ((const ebb_cost_line *)line)->kind);
}

void ebb_costs_print_call(ebb_text *text, const ebb_call *call, const ebb_op_facts *facts) {
    ebb_call_print(text, call);
    if (facts->choice[0]) ebb_text_add(text, " by %s", facts->choice);
}

/* ns * of / to, saturating; the quotient is taken first so that the products fit longer. */
static int64_t in_proportion(int64_t ns, int64_t of, int64_t to) {
    int64_t whole, part;
    if (to <= 0) return ns;
    if (!ebb_mul_i64(ns / to, of, &whole) || !ebb_mul_i64(ns % to, of, &part)) return INT64_MAX;
    return ebb_add_i64(whole, part / to, &whole) ? whole : INT64_MAX;
}

static int64_t scaled(int64_t rate, int64_t permille) {
    return ebb_max_i64(1, in_proportion(rate, permille, 1000));
}

/* By the built-in line at another machine's rates. */
static int64_t other_ns(const ebb_costs *costs, const ebb_call *call, const ebb_op_facts *facts) {
    const ebb_cost_others *others = &costs->others;
    const ebb_roofline line = {.flops_per_us = scaled(facts->line.flops_per_us, others->flops_permille),
                               .bytes_per_us = scaled(facts->line.bytes_per_us, others->bytes_permille),
                               .start_ns = facts->line.start_ns};
    ebb_cost cost = {0};
    call->op->cost(call, &cost);
    return in_proportion(ebb_roofline_ns(&line, &cost), facts->time_ns,
                         ebb_roofline_ns(&facts->line, &cost));
}

ebb_status ebb_costs_ask(const ebb_costs *costs, const ebb_call *call, const ebb_op_facts *facts,
                         ebb_text *name, int64_t *time_ns, ebb_cost_source *source) {
    name->n = 0;
    ebb_costs_print_call(name, call, facts);
    const ebb_status status = ebb_text_status(name);
    if (status != EBB_OK) return status;
    const ebb_cost_row *row = NULL;
    const ebb_cost_line *line = NULL;
    if (costs->rows.n) row = bsearch(name->at, costs->rows.at, costs->rows.n, sizeof *row, to_row);
    if (!row && costs->lines.n)
        line = bsearch(facts->kind, costs->lines.at, costs->lines.n, sizeof *line, to_line);
    const bool others = costs->others.flops_permille > 0;
    *source = row ? EBB_COST_MEASURED : line || others ? EBB_COST_CALIBRATED : EBB_COST_BUILT_IN;
    *time_ns = row ? row->time_ns : !line && others ? other_ns(costs, call, facts) : facts->time_ns;
    if (row || !line) return EBB_OK;
    ebb_cost cost = {0};
    call->op->cost(call, &cost);
    *time_ns = ebb_roofline_ns(&line->line, &cost);
    if (facts->n_choices > 1)
        *time_ns = in_proportion(*time_ns, facts->time_ns, ebb_roofline_ns(&facts->line, &cost));
    return EBB_OK;
}

static void add(int64_t n, int64_t each, int64_t *sum) {
    int64_t product;
    if (!ebb_mul_i64(n, each, &product) || !ebb_add_i64(*sum, product, sum)) *sum = INT64_MAX;
}

void ebb_costs_summarize(const ebb_costs *costs, ebb_costs_summary *out) {
    char machine[EBB_MACHINE_TEXT];
    ebb_machine_text(machine);
    *out = (ebb_costs_summary){.backend = costs->backend,
                               .machine = costs->machine,
                               .n_threads = costs->n_threads,
                               .this_machine = strcmp(machine, costs->machine) == 0,
                               .id = costs->id,
                               .n_ops = (uint32_t)costs->rows.n,
                               .n_kinds = (uint32_t)costs->lines.n,
                               .median_ns = costs->others.median_ns,
                               .least_ns = costs->others.least_ns};
    for (size_t i = 0; i < costs->rows.n; i++) {
        const ebb_cost_row *row = &costs->rows.at[i];
        add(row->n_uses, row->time_ns, &out->median_ns);
        add(row->n_uses, row->least_ns, &out->least_ns);
    }
}

ebb_status ebb_costs_kind_at(ebb_env *env, const ebb_costs *costs, uint32_t i, ebb_costs_kind *out) {
    *out = (ebb_costs_kind){0};
    if (i >= costs->lines.n) return ebb_fail(env, EBB_USAGE, "kind %u of %zu", i, costs->lines.n);
    const ebb_cost_line *line = &costs->lines.at[i];
    *out = (ebb_costs_kind){.kind = line->kind,
                            .flops_per_us = line->line.flops_per_us,
                            .bytes_per_us = line->line.bytes_per_us,
                            .start_ns = line->line.start_ns};
    for (size_t r = 0; r < costs->rows.n; r++) {
        const ebb_cost_row *row = &costs->rows.at[r];
        if (strcmp(row->kind, line->kind) != 0) continue;
        out->n_ops++;
        add(1, row->n_uses, &out->n_uses);
        add(row->n_uses, row->cost.flops, &out->flops);
        add(row->n_uses, row->cost.bytes, &out->bytes);
        add(row->n_uses, row->time_ns, &out->measured_ns);
        const int64_t off_ns = ebb_roofline_ns(&line->line, &row->cost) - row->time_ns;
        add(row->n_uses, off_ns < 0 ? -off_ns : off_ns, &out->off_ns);
    }
    return EBB_OK;
}

ebb_status ebb_costs_path(ebb_env *env, const char *folder, const char *backend, uint32_t n_threads,
                          char *path, size_t size) {
    char machine[EBB_MACHINE_TEXT], text[EBB_HASH_TEXT];
    ebb_hash hash;
    if (n_threads == 0) n_threads = ebb_cpu_count();
    ebb_machine_text(machine);
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, backend, strlen(backend) + 1);
    ebb_hash_add(&hash, &n_threads, sizeof n_threads);
    ebb_hash_add(&hash, machine, strlen(machine));
    const int n = snprintf(path, size, "%s/costs-%s.json", folder, ebb_hash_text(&hash, text));
    if (n > 0 && (size_t)n < size) return EBB_OK;
    return ebb_fail(env, EBB_IO, "cannot use folder %.60s...: its path is longer than %zu bytes", folder,
                    size);
}
