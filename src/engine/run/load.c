/* Loading: every difference is found before a byte is changed. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/run/run.h"

enum {
    LISTED_BYTES = 640, /* of the differences that an error's one line has room for */
    NAME_BYTES = 512    /* of a param: the states of one with a longer name are told one by one */
};

typedef struct loading {
    ebb_engine *engine;
    ebb_program *program;
    ebb_tensors *file;
    const char *path;
    const ebb_load_options *options;
    ebb_tensor_row *rows;         /* the model's */
    const ebb_tensor_row **found; /* in the file, or NULL */
    uint32_t n_found, n_differences;
    uint64_t step, seed;
    char listed[LISTED_BYTES];
    size_t n_listed;
} loading;

EBB_PRINTF(2, 3) static void differ(loading *l, const char *format, ...) {
    char line[LISTED_BYTES];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    l->n_differences++;
    if (l->options->on_difference) l->options->on_difference(l->options->ctx, line);
    if (n < 0 || l->n_listed + (size_t)n + 3 > sizeof l->listed) {
        l->n_listed = sizeof l->listed; /* none after the first that has no room */
        return;
    }
    (void)snprintf(l->listed + l->n_listed, sizeof l->listed - l->n_listed, "%s%s",
                   l->n_listed > 0 ? "; " : "", line);
    l->n_listed += (size_t)n + (l->n_listed > 0 ? 2 : 0);
}

static bool same(const ebb_tensor_row *a, const ebb_tensor_row *b) {
    if (strcmp(a->dtype, b->dtype) != 0 || a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

/* An optimizer's state is called after its param, which the file has: w.momentum. */
static bool is_state_of_a_tensor(const loading *l, const char *name) {
    char param[NAME_BYTES];
    const char *dot = strrchr(name, '.');
    const int n = dot ? (int)(dot - name) : 0;
    bool known = false;
    for (size_t i = 0; dot && i < EBB_N_STATES; i++)
        known = known || strcmp(dot, ebb_state_suffixes[i]) == 0;
    if (!known || n == 0 || (size_t)n >= sizeof param) return false;
    (void)snprintf(param, sizeof param, "%.*s", n, name);
    return ebb_tensors_find(l->file, param) != NULL;
}

/* States of params that one side lacks: the first, and how many. */
typedef struct states {
    const ebb_tensor_row *first;
    uint32_t n;
} states;

/* Is told with others like it, in one line. */
static bool waits(const loading *l, states *s, const ebb_tensor_row *row) {
    if (!l->options->partial || !is_state_of_a_tensor(l, row->name)) return false;
    if (s->n++ == 0) s->first = row;
    return true;
}

static void tell_states(loading *l, const states *s, const char *where) {
    char text[EBB_TENSOR_ROW_TEXT];
    if (s->n == 0) return;
    ebb_tensor_row_text(s->first, text);
    if (s->n == 1)
        differ(l, "%.100s %s is not in %s", s->first->name, text, where);
    else
        differ(l, "%.100s %s and %u other state%s of params are not in %s", s->first->name, text, s->n - 1,
               s->n == 2 ? "" : "s", where);
}

/* Of the model's tensors. */
static void find_rows(loading *l) {
    char ours[EBB_TENSOR_ROW_TEXT], theirs[EBB_TENSOR_ROW_TEXT];
    states lacking = {NULL, 0};
    for (uint32_t i = 0; i < l->program->n_params; i++) {
        const ebb_tensor_row *row = &l->rows[i], *there = ebb_tensors_find(l->file, row->name);
        ebb_tensor_row_text(row, ours);
        if (there) ebb_tensor_row_text(there, theirs);
        if (!there && waits(l, &lacking, row)) continue;
        if (!there)
            differ(l, "%.100s %s is not in it", row->name, ours);
        else if (!same(row, there))
            differ(l, "%.100s is %s, but %s in it", row->name, ours, theirs);
        else
            l->found[i] = there, l->n_found++;
    }
    tell_states(l, &lacking, "it");
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const ebb_tensor_row *)a)->name, ((const ebb_tensor_row *)b)->name);
}

/* Of the file's: both lists in the order of names. */
static ebb_status find_strangers(loading *l, ebb_arena *arena) {
    const uint32_t n = l->program->n_params;
    char theirs[EBB_TENSOR_ROW_TEXT];
    states strange = {NULL, 0};
    ebb_tensor_row *sorted = ebb_arena_copy(arena, l->rows, n, sizeof *l->rows);
    if (!sorted) return EBB_NO_MEMORY;
    if (n > 1) qsort(sorted, n, sizeof *sorted, by_name);
    for (uint32_t i = 0, k = 0; i < ebb_tensors_count(l->file); i++) {
        const ebb_tensor_row *row = ebb_tensors_at(l->file, i);
        while (k < n && strcmp(sorted[k].name, row->name) < 0) k++;
        if ((k < n && strcmp(sorted[k].name, row->name) == 0) || waits(l, &strange, row)) continue;
        ebb_tensor_row_text(row, theirs);
        differ(l, "%.100s %s is not in the model", row->name, theirs);
    }
    tell_states(l, &strange, "the model");
    return EBB_OK;
}

/* Digits alone: a seed may have all 64 bits. */
static bool parse_u64(const char *text, uint64_t *out) {
    uint64_t value = 0;
    if (*text == '\0') return false;
    for (const char *c = text; *c != '\0'; c++) {
        const uint64_t digit = (uint64_t)*c - '0';
        if (*c < '0' || *c > '9' || value > (UINT64_MAX - digit) / 10) return false;
        value = 10 * value + digit;
    }
    *out = value;
    return true;
}

static ebb_status read_number(loading *l, const char *key, uint64_t *out) {
    const char *text = ebb_tensors_fact_find(l->file, key);
    if (!text || !parse_u64(text, out))
        return ebb_fail(
            l->engine->env, EBB_BAD_INPUT,
            "%s: its fact %s is \"%.40s\", not a number: no run can go on from it; its weights can be "
            "loaded in part",
            l->path, key, text ? text : "");
    return EBB_OK;
}

static ebb_status check_facts(loading *l) {
    const char *format = ebb_tensors_fact_find(l->file, EBB_FACT_FORMAT);
    if (format && strcmp(format, "1") != 0)
        return ebb_fail(l->engine->env, EBB_BAD_INPUT,
                        "%s: format %.40s of saved runs; this version reads 1", l->path, format);
    const ebb_status status = read_number(l, EBB_FACT_STEP, &l->step);
    return status == EBB_OK ? read_number(l, EBB_FACT_SEED, &l->seed) : status;
}

static ebb_status compare(loading *l, ebb_arena *arena) {
    find_rows(l);
    const ebb_status status = find_strangers(l, arena);
    if (status != EBB_OK) return status;
    if (l->options->partial && l->n_found > 0) return EBB_OK;
    if (!l->options->partial && l->n_differences == 0) return check_facts(l);
    return ebb_fail(l->engine->env, EBB_BAD_INPUT, "%s does not fit %s%s, %u %s: %s%s", l->path,
                    l->engine->model->name, l->options->partial ? " anywhere" : "", l->n_differences,
                    l->n_differences == 1 ? "difference" : "differences", l->listed,
                    l->n_listed == sizeof l->listed ? "; ..." : "");
}

/* ---- the bytes ---- */

static bool is_bools(const char *bytes, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if ((unsigned char)bytes[i] > 1) return false;
    return true;
}

/* Checks the row's bytes, or feeds them: all are checked before the first is fed. */
static ebb_status load_row(loading *l, uint32_t i, bool feeds) {
    const ebb_tensor_row *row = l->found[i];
    const bool bools = row && strcmp(row->dtype, "BOOL") == 0;
    ebb_env *env = l->engine->env;
    if (!row || (!feeds && !bools)) return EBB_OK;
    char *room = ebb_calloc(env, (size_t)row->bytes, 1);
    if (!room) return EBB_NO_MEMORY;
    ebb_status status = ebb_tensors_read(l->file, row, 0, row->bytes, room);
    if (status == EBB_OK && bools && !is_bools(room, row->bytes))
        status = ebb_fail(env, EBB_BAD_INPUT, "%s: %.100s has a byte that is neither 0 nor 1", l->path,
                          row->name);
    if (status == EBB_OK && feeds) status = ebb_feed(l->program, row->name, room, (size_t)row->bytes);
    ebb_cfree(env, room, (size_t)row->bytes, 1);
    return status;
}

/* A failure on the way leaves params of two files: they are stale then. */
static ebb_status load_rows(loading *l) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < l->program->n_params && status == EBB_OK; i++) status = load_row(l, i, false);
    for (uint32_t i = 0, n_fed = 0; i < l->program->n_params && status == EBB_OK; i++) {
        status = load_row(l, i, true);
        if (status != EBB_OK && n_fed > 0) return ebb_stale_mark(l->program, status);
        n_fed += l->found[i] != NULL;
    }
    return status;
}

static ebb_status load(loading *l, ebb_arena *arena) {
    l->rows = ebb_engine_rows(arena, l->program);
    l->found = EBB_NEW(arena, const ebb_tensor_row *, l->program->n_params);
    ebb_status status =
        l->rows && l->found ? ebb_tensors_open(l->engine->env, l->path, &l->file) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = compare(l, arena);
    if (status == EBB_OK) status = load_rows(l);
    if (status == EBB_OK) l->engine->part = 0; /* its parts were of other params */
    if (status == EBB_OK && !l->options->partial) {
        l->engine->step = l->step;
        l->engine->options.seed = l->seed;
    }
    ebb_tensors_close(l->file);
    return status;
}

ebb_status ebb_engine_load(ebb_engine *engine, const char *path, const ebb_load_options *options,
                           ebb_load_result *out) {
    static const ebb_load_options whole = {.partial = false};
    *out = (ebb_load_result){0};
    if (engine->programs.n == 0)
        return ebb_fail(engine->env, EBB_USAGE, "cannot load %s: no program is compiled", path);
    loading l = {.engine = engine,
                 .program = engine->programs.at[0],
                 .path = path,
                 .options = options ? options : &whole};
    ebb_arena arena;
    ebb_arena_init(&arena, engine->env);
    const ebb_status status = load(&l, &arena);
    if (status == EBB_OK)
        *out = (ebb_load_result){l.n_found, l.program->n_params - l.n_found, engine->step};
    ebb_arena_deinit(&arena);
    return status;
}
