/* exec/profile.c: what each step of a program took in its last runs. A table of [run][step] that a run adds
 * to; medians are found when somebody asks. */
#include <stdlib.h>

#include "exec/exec.h"

struct ebb_profile {
    ebb_env *env;
    uint32_t n_steps, n_most;
    uint64_t n_runs;  /* finished; row n_runs % n_most is the next one's */
    uint64_t *rows;   /* [n_most][n_steps] ns */
    uint64_t *sorted; /* [n_most] */
};

ebb_status ebb_profile_create(ebb_env *env, uint32_t n_steps, uint32_t n_most, ebb_profile **out) {
    *out = NULL;
    if (n_most == 0) return ebb_fail(env, EBB_USAGE, "a profile of 0 runs: keep 1 or more");
    ebb_profile *profile = ebb_calloc(env, 1, sizeof *profile);
    if (!profile) return EBB_NO_MEMORY;
    *profile = (ebb_profile){.env = env, .n_steps = n_steps, .n_most = n_most};
    profile->rows = ebb_calloc(env, n_most, n_steps * sizeof *profile->rows);
    profile->sorted = ebb_calloc(env, n_most, sizeof *profile->sorted);
    if (!profile->rows || !profile->sorted) {
        ebb_profile_destroy(profile);
        return EBB_NO_MEMORY;
    }
    *out = profile;
    return EBB_OK;
}

void ebb_profile_destroy(ebb_profile *profile) {
    if (!profile) return;
    ebb_cfree(profile->env, profile->rows, profile->n_most, profile->n_steps * sizeof *profile->rows);
    ebb_cfree(profile->env, profile->sorted, profile->n_most, sizeof *profile->sorted);
    ebb_cfree(profile->env, profile, 1, sizeof *profile);
}

uint64_t *ebb_profile_row(ebb_profile *profile) {
    return profile->rows + profile->n_runs % profile->n_most * profile->n_steps;
}

void ebb_profile_begin_run(ebb_profile *profile) {
    memset(ebb_profile_row(profile), 0, profile->n_steps * sizeof(uint64_t));
}

void ebb_profile_end_run(ebb_profile *profile) {
    profile->n_runs++;
}

uint32_t ebb_profile_n_runs(const ebb_profile *profile) {
    return profile->n_runs < profile->n_most ? (uint32_t)profile->n_runs : profile->n_most;
}

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void ebb_profile_step(const ebb_profile *profile, uint32_t step, ebb_profile_time *out) {
    const uint32_t n = ebb_profile_n_runs(profile);
    *out = (ebb_profile_time){0};
    if (n == 0) return;
    for (uint32_t r = 0; r < n; r++)
        profile->sorted[r] = profile->rows[(size_t)r * profile->n_steps + step];
    qsort(profile->sorted, n, sizeof *profile->sorted, by_size);
    out->median_ns = (int64_t)profile->sorted[n / 2];
    out->least_ns = (int64_t)profile->sorted[0];
}
