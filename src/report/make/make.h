/* make: computes a report, in stages.
 *
 * Each stage fills its part of the report from the plan and the earlier stages' parts. */
#ifndef EBB_REPORT_MAKE_H
#define EBB_REPORT_MAKE_H

#include "report/value/value.h"

typedef struct ebb_report_maker {
    ebb_env *env;
    const ebb_plan *plan; /* has passed the audit */
    const ebb_report_sources *sources;
    ebb_report *report;
    ebb_report_life *lives; /* the report's own, still writable */
    ebb_report_step *steps;
    int64_t *storage_bytes;  /* [n_buffers] of first members: rounded bytes of the storage; in scratch */
    ebb_id *storage_of;      /* [n_buffers] first member of the storage; EBB_NONE at 0 bytes */
    uint32_t *storage_upper; /* [n_buffers] of first members: one past the last step in which it lives */
    uint32_t backward;       /* first step whose phase is not forward; EBB_NONE */
    ebb_arena scratch;       /* freed after the report is made */
} ebb_report_maker;

/* The name of an op or a value as the report shows it: cleaned, and followed by its place. NULL: no
 * memory. */
const char *ebb_report_called(ebb_report_maker *m, const char *name);
/* Finds which lives share and own bytes, when, in which category and with which fate. O(buffers +
 * edges). */
EBB_CHECKED ebb_status ebb_report_lives(ebb_report_maker *m);
/* Computes the bytes of each step by category, and the peak. EBB_INTERNAL: it differs from the plan's.
 * O(buffers + steps). */
EBB_CHECKED ebb_status ebb_report_curve(ebb_report_maker *m);
/* Finds the values alive at the peak, and the effect of dropping each. O(edges + n log n). */
EBB_CHECKED ebb_status ebb_report_peak(ebb_report_maker *m);
/* Finds the ops that run again, and the bytes that this saves. O(edges + n log n). */
EBB_CHECKED ebb_status ebb_report_agains(ebb_report_maker *m);

/* ---- from the files of other commands. EBB_BAD_INPUT: malformed, or of another plan. ---- */

/* Reads a whole file, which must have this schema. Free *out with ebb_json_free. */
EBB_CHECKED ebb_status ebb_report_source(const ebb_report_maker *m, const char *path, const char *schema,
                                         ebb_json **out);
/* Reads ebb.run/1. */
EBB_CHECKED ebb_status ebb_report_measure(ebb_report_maker *m, const char *path);
/* Reads ebb.search/1. O(n log n) in its points. */
EBB_CHECKED ebb_status ebb_report_searched(ebb_report_maker *m, const char *path);
/* Reads each ebb.fit/1 file. O(n log n). */
EBB_CHECKED ebb_status ebb_report_fitted(ebb_report_maker *m, const char *const *paths, uint32_t n_paths);

#endif
