/* ebb/report.h: reports how a plan uses memory, to people and to programs.
 *
 * A report is an immutable value, made from a plan by one function and printed in any of its views. All
 * views print the same figures, because none of them computes any. It borrows nothing from the plan.
 *
 * Threads: as ebb/base.h. Ownership: `**out` is the caller's.
 */
#ifndef EBB_REPORT_H
#define EBB_REPORT_H

#include "ebb/base.h"
#include "ebb/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_report ebb_report;

/* Inputs of a report besides the plan: files written by other commands, and places in the caller's program.
 * NULL: left out. */
typedef struct ebb_report_sources {
    const char *measured;    /* of the same plan, by `ebb run --json`: ebb.run/1 */
    const char *search;      /* of the same plan, by `ebb plan --log`: ebb.search/1 */
    const char *const *fits; /* by `ebb fit --json`: ebb.fit/1; of the plan's graph, backend, threads */
    uint32_t n_fits;
    /* Returns the place of an op, or of a value's op, in the caller's program: "train.py:12", which the
     * report shows after its name; NULL: unknown. name: as in the plan. For a traced step:
     * ebb_trace_place. */
    const char *(*place)(const void *ctx, const char *name);
    const void *place_ctx;
} ebb_report_sources;

/* Audits the plan and computes everything that any view shows. `where` names the plan in error texts: its
 * path. sources may be NULL. EBB_BAD_INPUT: the audit found a fault, or a source is malformed or belongs to
 * another plan. EBB_IO, EBB_NO_MEMORY. O(n log n) in steps, buffers, edges and what the sources hold. */
EBB_API EBB_CHECKED ebb_status ebb_report_make(ebb_env *env, const ebb_plan *plan, const char *where,
                                               const ebb_report_sources *sources, ebb_report **out);
EBB_API void ebb_report_destroy(ebb_report *report); /* NULL is allowed */

typedef enum ebb_report_format {
    EBB_REPORT_TEXT,      /* for a terminal: Unicode plot and tables */
    EBB_REPORT_JSON,      /* ebb.report/1: every figure */
    EBB_REPORT_MARKDOWN,  /* for a pull request */
    EBB_REPORT_HTML,      /* one self-contained page */
    EBB_REPORT_TRACE,     /* Chrome's trace events, which Perfetto reads too */
    EBB_REPORT_MEGENGINE, /* the layout of MegEngine's StaticMemoryInfo.json */
} ebb_report_format;
#define EBB_REPORT_LAST EBB_REPORT_MEGENGINE

/* The same report gives the same bytes. path "-" is standard output; nothing is left half-written. EBB_IO,
 * EBB_NO_MEMORY; EBB_USAGE: no such format. */
EBB_API EBB_CHECKED ebb_status ebb_report_write(ebb_env *env, const ebb_report *report,
                                                ebb_report_format format, const char *path);

/* ---- diff: two plans side by side ---- */

typedef struct ebb_diff ebb_diff;

/* Audits both plans and compares them: figures, categories, layers, tensors. The `where`s name them in
 * texts. fail_if is NULL or a rule: comma-separated conditions of the form FIGURE>LIMIT, where LIMIT is +1%
 * or +10MiB (relative to A's figure) or 11GiB (a limit on B's). Figures: total, peak, arena, persistent,
 * time (ns, us, ms, s), steps, again (counts), and the categories' names. EBB_USAGE: fail_if is malformed.
 * Other errors as ebb_report_make. */
EBB_API EBB_CHECKED ebb_status ebb_diff_make(ebb_env *env, const ebb_plan *a, const char *a_where,
                                             const ebb_plan *b, const char *b_where, const char *fail_if,
                                             ebb_diff **out);
EBB_API void ebb_diff_destroy(ebb_diff *diff); /* NULL is allowed */
/* A line about the first condition that B exceeds; NULL when it exceeds none. Borrowed from the diff. */
EBB_API const char *ebb_diff_fault(const ebb_diff *diff);
/* EBB_REPORT_TEXT, _JSON (ebb.diff/1), _MARKDOWN or _HTML; else EBB_USAGE. As ebb_report_write. */
EBB_API EBB_CHECKED ebb_status ebb_diff_write(ebb_env *env, const ebb_diff *diff, ebb_report_format format,
                                              const char *path);

#ifdef __cplusplus
}
#endif
#endif
