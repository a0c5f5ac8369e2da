/* sections: the rows of a problem by section of time, in units of bytes: what the search works on.
 *
 * takes: the rows cut into spans. gives: ebb_fit_problem.
 * A span whose live rows are all live in a neighbouring span too says nothing new; what is left after
 * dropping such spans are the sections: a new one begins where a row ends after another has begun.
 *
 *     spans     0   1   2   3   4
 *     a         +-------+                  a ends when b and c have begun: the first section is all
 *     b             +-----------+          until then, {a, b, c}; d begins and b ends: {b, c, d}; d goes
 *     c             +---------------+      on alone with c, which is nothing new
 *     d                     +-------+
 *     sections  0           1
 *
 * cost: O(n log n) before, here O(rows and members). */
#include "pack/fit/fit.h"

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static ebb_status list_sizes(ebb_fit_problem *p, const ebb_pack_problem *from) {
    uint32_t *row = EBB_NEW(&p->arena, uint32_t, from->n);
    int64_t *size = EBB_NEW(&p->arena, int64_t, from->n), *alignment = EBB_NEW(&p->arena, int64_t, from->n),
            *fixed = EBB_NEW(&p->arena, int64_t, from->n);
    if (!row || !size || !alignment || !fixed) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < from->n; i++) {
        const ebb_row *r = &from->rows[i];
        if (r->size == 0) continue;
        p->unit = greatest_common_divisor(r->size, p->unit);
        if (r->alignment > 1) p->unit = greatest_common_divisor(r->alignment, p->unit);
        row[p->n++] = i;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        if (from->fixed && from->fixed[row[i]] > 0)
            p->unit = greatest_common_divisor(from->fixed[row[i]], p->unit);
        for (uint32_t k = from->part_at[row[i]]; k < from->part_at[row[i] + 1]; k++)
            p->unit = greatest_common_divisor(from->parts[k].bytes.upper, p->unit);
    }
    if (p->unit == 0) p->unit = 1;
    for (uint32_t i = 0; i < p->n; i++) {
        const ebb_row *r = &from->rows[row[i]];
        size[i] = r->size / p->unit;
        alignment[i] = r->alignment == 1 ? 1 : r->alignment / p->unit;
        fixed[i] = !from->fixed || from->fixed[row[i]] < 0 ? -1 : from->fixed[row[i]] / p->unit;
    }
    p->row = row;
    p->size = size;
    p->alignment = alignment;
    p->fixed = fixed;
    return EBB_OK;
}

static ebb_status list_areas(ebb_fit_problem *p, const ebb_pack_problem *from) {
    double *area = EBB_NEW(&p->arena, double, p->n), most = 1;
    if (!area) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < p->n; i++) {
        const ebb_row *r = &from->rows[p->row[i]];
        area[i] = (double)p->size[i] * ((double)r->upper - (double)r->lower);
        if (area[i] > most) most = area[i];
    }
    for (uint32_t i = 0; i < p->n; i++) area[i] /= most;
    p->area = area;
    return EBB_OK;
}

/* sections[s] is that of span s, for a part that begins there; for one that ends there, one past its last.
 */
static ebb_status find_sections(ebb_fit_problem *p, const ebb_pack_problem *from, uint32_t **sections) {
    size_t n = (size_t)from->n_spans + 1;
    bool *begins = EBB_NEW(&p->arena, bool, n), *ends = EBB_NEW(&p->arena, bool, n), grown = false;
    *sections = EBB_NEW(&p->arena, uint32_t, n);
    if (!begins || !ends || !*sections) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = from->part_at[p->row[i]]; k < from->part_at[p->row[i] + 1]; k++)
            begins[from->parts[k].first] = ends[from->parts[k].end] = true;
    uint32_t section = 0;
    for (size_t s = 0; s < n; s++) {
        if (ends[s] && grown) {
            section++;
            grown = false;
        }
        grown = grown || begins[s];
        (*sections)[s] = section;
    }
    p->n_sections = section;
    return EBB_OK;
}

static ebb_status list_parts(ebb_fit_problem *p, const ebb_pack_problem *from, const uint32_t *sections) {
    uint32_t n = 0, *part_at = EBB_NEW(&p->arena, uint32_t, (size_t)p->n + 1);
    ebb_fit_part *parts = EBB_NEW(&p->arena, ebb_fit_part, from->part_at[from->n]);
    int64_t *least_size = EBB_NEW(&p->arena, int64_t, p->n);
    if (!part_at || !parts || !least_size) return EBB_NO_MEMORY;
    p->exact = true;
    for (uint32_t i = 0; i < p->n; i++) {
        part_at[i] = n;
        least_size[i] = p->size[i];
        for (uint32_t k = from->part_at[p->row[i]]; k < from->part_at[p->row[i] + 1]; k++) {
            ebb_fit_part part = {sections[from->parts[k].first], sections[from->parts[k].end],
                                 from->parts[k].bytes.upper / p->unit};
            least_size[i] = ebb_min_i64(least_size[i], part.size);
            p->varied = p->varied || part.size < p->size[i];
            p->exact = p->exact && from->parts[k].bytes.lower == 0;
            if (n > part_at[i] && parts[n - 1].end >= part.first && parts[n - 1].size == part.size)
                parts[n - 1].end = part.end; /* no section lies wholly in the gap */
            else
                parts[n++] = part;
        }
    }
    part_at[p->n] = n;
    p->part_at = part_at;
    p->parts = parts;
    p->least_size = least_size;
    return EBB_OK;
}

/* Room for the members of each section, its load, and the rows that begin in it. */
static ebb_status list_members(ebb_fit_problem *p, bool *fits) {
    size_t n = p->n_sections;
    uint64_t n_members = 0;
    uint32_t *member_at = EBB_NEW(&p->arena, uint32_t, n + 1),
             *start_at = EBB_NEW(&p->arena, uint32_t, n + 1),
             *starts = EBB_NEW(&p->arena, uint32_t, p->part_at[p->n]);
    int64_t *load = EBB_NEW(&p->arena, int64_t, n + 1);
    if (!member_at || !start_at || !starts || !load) return EBB_NO_MEMORY;
    for (uint32_t k = 0; k < p->part_at[p->n]; k++) n_members += p->parts[k].end - p->parts[k].first;
    *fits = n_members <= EBB_FIT_MAX_MEMBERS;
    if (!*fits) return EBB_OK;
    for (uint32_t r = 0; r < p->n; r++)
        for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++) {
            start_at[p->parts[k].first + 1]++;
            for (uint32_t s = p->parts[k].first; s < p->parts[k].end; s++) {
                member_at[s + 1]++;
                load[s] += p->parts[k].size;
            }
        }
    for (size_t s = 0; s < n; s++) {
        member_at[s + 1] += member_at[s];
        start_at[s + 1] += start_at[s];
    }
    for (uint32_t r = p->n; r-- > 0;) /* from the back: start_at[s + 1] becomes that of s */
        for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++)
            starts[--start_at[p->parts[k].first + 1]] = r;
    for (size_t s = 0; s < n; s++) start_at[s] = start_at[s + 1];
    start_at[n] = p->part_at[p->n];
    p->member_at = member_at;
    p->start_at = start_at;
    p->starts = starts;
    p->load = load;
    return EBB_OK;
}

ebb_status ebb_fit_problem_init(ebb_fit_problem *problem, ebb_env *env, const ebb_pack_problem *from,
                                bool *fits) {
    uint32_t *sections = NULL;
    memset(problem, 0, sizeof *problem);
    ebb_arena_init(&problem->arena, env);
    *fits = true;
    ebb_status status = list_sizes(problem, from);
    if (status == EBB_OK) status = list_areas(problem, from);
    if (status == EBB_OK) status = find_sections(problem, from, &sections);
    if (status == EBB_OK) status = list_parts(problem, from, sections);
    if (status == EBB_OK) status = list_members(problem, fits);
    return status;
}

void ebb_fit_problem_deinit(ebb_fit_problem *problem) {
    ebb_arena_deinit(&problem->arena);
}
