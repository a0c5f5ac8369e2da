/* names: cells of a table of rows that name other rows, or pools.
 *
 * takes: a table that was read. gives: numbers in place of names; each id comes once. What is wrong is
 * named with its line. cost: O(n). */
#include "pack/pack.h"

/* ---- ids ------------------------------------------------------------------------------------- */

/* An open table of row numbers by their ids' hash, twice as large as it is full. */
typedef struct id_table {
    const ebb_rows *rows;
    uint32_t *slots; /* the row's number + 1 */
    size_t n;        /* a power of two */
} id_table;

/* The slot of the id, or the free one where it belongs. */
static uint32_t *find_slot(const id_table *table, const char *id, size_t n_bytes) {
    ebb_hash hash;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, id, n_bytes);
    size_t at = hash.low & (table->n - 1);
    for (; table->slots[at] != 0; at = (at + 1) & (table->n - 1)) {
        const char *other = table->rows->ids[table->slots[at] - 1];
        if (strncmp(other, id, n_bytes) == 0 && other[n_bytes] == '\0') break;
    }
    return &table->slots[at];
}

static ebb_status enter_ids(ebb_env *env, id_table *table) {
    const ebb_rows *rows = table->rows;
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t *slot = find_slot(table, rows->ids[i], strlen(rows->ids[i]));
        if (*slot != 0)
            return ebb_fail(env, EBB_BAD_INPUT, "%s: line %u: id \"%.60s\" is also that of line %u",
                            rows->where, rows->lines[i], rows->ids[i], rows->lines[*slot - 1]);
        *slot = i + 1;
    }
    return EBB_OK;
}

/* ---- may_overwrite --------------------------------------------------------------------------- */

static uint32_t count_words(const char *text) {
    uint32_t n = 0;
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        text += strcspn(text, " ");
        n++;
    }
    return n;
}

static ebb_status check_over(ebb_env *env, const ebb_rows *rows, uint32_t later, uint32_t earlier) {
    const ebb_row *a = &rows->rows[earlier], *b = &rows->rows[later];
    if (earlier != later && b->lower == a->upper - 1) return EBB_OK;
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "%s: line %u: may_overwrite names \"%.60s\", whose last step is %lld: the row must begin in it, "
        "and begins in %lld",
        rows->where, rows->lines[later], rows->ids[earlier], (long long)a->upper - 1, (long long)b->lower);
}

static ebb_status link_row(ebb_env *env, const id_table *table, ebb_rows *rows, uint32_t i) {
    uint32_t n = rows->over_from[i];
    for (const char *at = rows->over_text[i] + strspn(rows->over_text[i], " "); *at != '\0';
         at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        uint32_t *slot = find_slot(table, at, length);
        if (*slot == 0)
            return ebb_fail(env, EBB_BAD_INPUT,
                            "%s: line %u: may_overwrite names \"%.*s\", which is no row's id", rows->where,
                            rows->lines[i], (int)(length < 60 ? length : 60), at);
        ebb_status status = check_over(env, rows, i, *slot - 1);
        if (status != EBB_OK) return status;
        rows->over[n++] = *slot - 1;
        at += length;
    }
    rows->over_from[i + 1] = n;
    return EBB_OK;
}

static ebb_status link_over(ebb_env *env, const id_table *table, ebb_rows *rows) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        n += count_words(rows->over_text[i]);
        if (n > EBB_ROWS_MAX)
            return ebb_fail(env, EBB_BAD_INPUT, "%s: line %u: more than %u names in may_overwrite",
                            rows->where, rows->lines[i], EBB_ROWS_MAX);
    }
    if (n == 0) return EBB_OK;
    rows->over_from = EBB_NEW(&rows->arena, uint32_t, (size_t)rows->n + 1);
    rows->over = EBB_NEW(&rows->arena, uint32_t, n);
    ebb_status status = !rows->over_from || !rows->over ? EBB_NO_MEMORY : EBB_OK;
    for (uint32_t i = 0; i < rows->n && status == EBB_OK; i++) status = link_row(env, table, rows, i);
    return status;
}

ebb_status ebb_rows_link(ebb_env *env, ebb_rows *rows) {
    id_table table = {.rows = rows, .n = 2};
    while (table.n < 2 * (size_t)rows->n) table.n *= 2;
    table.slots = ebb_calloc(env, table.n, sizeof *table.slots);
    ebb_status status = table.slots ? enter_ids(env, &table) : EBB_NO_MEMORY;
    if (status == EBB_OK && rows->over_text) status = link_over(env, &table, rows);
    ebb_cfree(env, table.slots, table.n, sizeof *table.slots);
    return status;
}

/* ---- pools ----------------------------------------------------------------------------------- */

static uint32_t find_pool(const ebb_rows *rows, const char *name) {
    uint32_t k = 0;
    while (k < rows->n_pools && strcmp(rows->pools[k].name, name) != 0) k++;
    return k;
}

ebb_status ebb_rows_add_pool(ebb_env *env, ebb_rows *rows, const char *name, int64_t capacity) {
    if (find_pool(rows, name) < rows->n_pools)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: pool \"%.60s\" is given twice", rows->where, name);
    if (rows->n_pools == EBB_PACK_MAX_POOLS)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: pool \"%.60s\": there may be at most %d", rows->where,
                        name, EBB_PACK_MAX_POOLS);
    const char *copy = ebb_arena_text(&rows->arena, name);
    if (!copy) return EBB_NO_MEMORY;
    rows->pools[rows->n_pools++] = (ebb_rows_pool){copy, capacity, 0};
    return EBB_OK;
}

uint32_t ebb_rows_pools(const ebb_rows *rows, const ebb_rows_pool **pools) {
    *pools = rows->pools;
    return rows->n_pools;
}

static ebb_status check_room(ebb_env *env, const ebb_rows *rows, uint32_t row, uint32_t pool) {
    int64_t most = 0;
    for (uint32_t k = 0; k < rows->n_pools; k++)
        if (pool == EBB_PACK_ANY_POOL || pool == k)
            most = rows->pools[k].capacity < 0 ? INT64_MAX : ebb_max_i64(most, rows->pools[k].capacity);
    if (rows->rows[row].size <= most) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: line %u: size %lld is above the capacity of %lld bytes of %s%.60s", rows->where,
                    rows->lines[row], (long long)rows->rows[row].size, (long long)most,
                    pool == EBB_PACK_ANY_POOL ? "the largest pool" : "pool ",
                    pool == EBB_PACK_ANY_POOL ? "" : rows->pools[pool].name);
}

ebb_status ebb_rows_find_pools(ebb_env *env, ebb_rows *rows, uint32_t *wanted) {
    bool make = rows->n_pools == 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const char *name = rows->pool_text ? rows->pool_text[i] : "";
        wanted[i] = EBB_PACK_ANY_POOL;
        if (name[0] == '\0') continue;
        wanted[i] = find_pool(rows, name);
        if (wanted[i] < rows->n_pools) continue;
        if (!make)
            return ebb_fail(env, EBB_BAD_INPUT,
                            "%s: line %u: pool \"%.60s\" is none of those that are given", rows->where,
                            rows->lines[i], name);
        ebb_status status = ebb_rows_add_pool(env, rows, name, -1);
        if (status != EBB_OK) return status;
    }
    for (uint32_t i = 0; i < rows->n && rows->n_pools > 0; i++) {
        ebb_status status = check_room(env, rows, i, wanted[i]);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}
