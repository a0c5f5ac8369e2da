/* judge: gaps and fixed offsets in terms of plain rows, for the bound and for the row check.
 *
 * takes: a job, offsets. gives: plain rows, one for each part of a row. cost: O(n log n). */
#include "pack/solve/solve.h"

typedef struct plain_rows {
    ebb_arena arena;
    ebb_row *rows;
    int64_t *offsets;
    uint32_t n;
} plain_rows;

/* A row with gaps becomes one for each part; offsets may be NULL. only_fixed: those of fixed rows. */
static ebb_status list_plain(ebb_env *env, const ebb_pack_job *job, const int64_t *offsets, bool only_fixed,
                             plain_rows *out) {
    uint32_t most = ebb_pack_job_most_parts(job), n = 0;
    out->rows = EBB_NEW(&out->arena, ebb_row, most);
    out->offsets = EBB_NEW(&out->arena, int64_t, most);
    ebb_pack_life *parts = EBB_NEW(&out->arena, ebb_pack_life, most);
    if (!out->rows || !out->offsets || !parts) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < job->n; i++) {
        if (only_fixed && job->fixed[i] < 0) continue;
        ebb_status status = ebb_pack_row_parts(env, job, i, parts, &n);
        if (status != EBB_OK) return status;
        for (uint32_t k = 0; k < n; k++, out->n++) {
            const ebb_window *bytes = &parts[k].bytes;
            bool bottom = bytes->lower == 0; /* what does not begin at the row's offset is not aligned */
            out->rows[out->n] = (ebb_row){.lower = parts[k].steps.lower,
                                          .upper = parts[k].steps.upper,
                                          .size = bytes->upper - bytes->lower,
                                          .alignment = bottom ? job->rows[i].alignment : 1};
            if (offsets) out->offsets[out->n] = offsets[i] + bytes->lower;
        }
    }
    return EBB_OK;
}

static int64_t height_of(const plain_rows *rows) {
    int64_t height = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        height = ebb_max_i64(height, rows->offsets[i] + rows->rows[i].size);
    return height;
}

ebb_status ebb_packing_check(ebb_packing *p) {
    const int64_t *offsets = p->offsets;
    plain_rows plain = {0};
    ebb_arena_init(&plain.arena, p->env);
    ebb_status status = list_plain(p->env, p->job, offsets, false, &plain);
    if (status == EBB_OK)
        status = ebb_rows_check(p->env, plain.rows, plain.n, plain.offsets, p->answer->height);
    for (uint32_t i = 0; status == EBB_OK && p->job->fixed && i < p->job->n; i++)
        if (p->job->fixed[i] >= 0 && offsets[i] != p->job->fixed[i])
            status = ebb_fail(p->env, EBB_VIOLATION, "rows: row %u is at %lld and fixed at %lld", i,
                              (long long)offsets[i], (long long)p->job->fixed[i]);
    ebb_arena_deinit(&plain.arena);
    if (status != EBB_VIOLATION) return status;
    return ebb_fail(p->env, EBB_INTERNAL, "pack: the packing fails its own check: %s",
                    ebb_env_error(p->env));
}

ebb_status ebb_packing_bound(ebb_packing *p) {
    plain_rows plain = {0};
    ebb_arena_init(&plain.arena, p->env);
    ebb_status status = list_plain(p->env, p->job, NULL, false, &plain);
    if (status == EBB_OK) status = ebb_rows_max_live(p->env, plain.rows, plain.n, &p->answer->lower_bound);
    if (status == EBB_OK && p->job->fixed) {
        plain.n = 0;
        status = list_plain(p->env, p->job, p->job->fixed, true, &plain);
        int64_t height = status == EBB_OK ? height_of(&plain) : 0;
        if (status == EBB_OK) status = ebb_rows_check(p->env, plain.rows, plain.n, plain.offsets, height);
        if (status == EBB_VIOLATION)
            status = ebb_fail(p->env, EBB_BAD_INPUT, "among the rows with fixed offsets: %s",
                              ebb_env_error(p->env));
        p->answer->lower_bound = ebb_max_i64(p->answer->lower_bound, height);
    }
    ebb_arena_deinit(&plain.arena);
    return status;
}
