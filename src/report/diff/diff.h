/* diff: compares two plans.
 *
 *     make: report of A, report of B -> figures -> tensors -> layers -> rule      one immutable ebb_diff
 *     views: text, json, markdown, html                                           print it, compute nothing
 *
 * Tensors are matched by their full names, and the k-th value of a name with the k-th of the other plan:
 * ids and graphs may differ. For a value with several lives, the first one and their number are compared.
 *
 * A **layer** is a name up to its last dot; the whole name if it has no dot.
 */
#ifndef EBB_REPORT_DIFF_H
#define EBB_REPORT_DIFF_H

#include "report/words/words.h"

typedef enum ebb_unit { EBB_UNIT_BYTES, EBB_UNIT_TIME, EBB_UNIT_COUNT } ebb_unit;

/* A figure that a rule may name. */
typedef struct ebb_diff_figure {
    const char *name; /* "peak" */
    ebb_unit unit;
    int64_t a, b;
} ebb_diff_figure;
enum { EBB_DIFF_PLAN_FIGURES = 7, EBB_DIFF_FIGURES = EBB_DIFF_PLAN_FIGURES + EBB_N_CATEGORIES };

/* Kinds of differences, most important first; a row has the first that applies. */
typedef enum ebb_change {
    EBB_CHANGE_ADDED,   /* in B only */
    EBB_CHANGE_REMOVED, /* in A only */
    EBB_CHANGE_RESIZED, /* its bytes differ */
    EBB_CHANGE_FATE, /* its fate or the number of its lives differs: kept here, dropped and made again there
                      */
    EBB_CHANGE_MOVED, /* its region or offset differs */
    EBB_CHANGE_NONE,
} ebb_change;
#define EBB_N_CHANGES 6
const char *ebb_change_name(ebb_change change); /* "added" */

/* A value in one of the plans. */
typedef struct ebb_diff_side {
    bool present;
    ebb_id value;
    uint32_t n_lives;
    ebb_category category; /* of the first life, as the next three */
    ebb_fate fate;
    bool persistent;
    int64_t offset, bytes;
    int64_t peak_bytes; /* held by its lives in the peak's step; persistent values hold theirs, unrounded */
} ebb_diff_side;

typedef struct ebb_diff_tensor {
    const char *name; /* cleaned */
    ebb_change change;
    ebb_diff_side a, b;
} ebb_diff_tensor;

typedef struct ebb_diff_layer {
    const char *name;                   /* cleaned */
    int64_t a_peak_bytes, b_peak_bytes; /* sums over its tensors */
    int64_t a_ns, b_ns;                 /* of its ops' steps */
} ebb_diff_layer;

struct ebb_diff {
    ebb_arena arena; /* owns everything below and the diff itself */
    const char *a_where, *b_where, *a_graph, *b_graph;
    ebb_diff_figure figures[EBB_DIFF_FIGURES]; /* categories at each plan's own peak come last */
    uint32_t n_names, n_shared; /* of values, counting the k-th of a name separately: in total, and in both
                                 * plans */
    bool same_graph; /* the graphs have the same name, and most values are in both; otherwise pairs of
                      * layers and tensors by name may mean nothing */
    uint32_t n_changes[EBB_N_CHANGES];
    const ebb_diff_tensor
        *tensors; /* those that differ: most different bytes at the peak first, then by change and name */
    uint32_t n_tensors;
    const ebb_diff_layer
        *layers; /* those whose bytes or time differ: most different bytes first, then time, then name */
    uint32_t n_layers, n_layers_all;
    const char *rule;  /* NULL: none */
    const char *fault; /* NULL: within the rule */
};

/* A diff while it is made. */
typedef struct ebb_diff_maker {
    ebb_env *env;
    ebb_diff *diff;
    const ebb_plan *plan[2];
    ebb_report *report[2];
    ebb_arena scratch;
} ebb_diff_maker;

/* Matches values and fills tensors and their counts. O(n log n). */
EBB_CHECKED ebb_status ebb_diff_tensors(ebb_diff_maker *m);
/* Sums bytes and times by layer. O(n log n). */
EBB_CHECKED ebb_status ebb_diff_layers(ebb_diff_maker *m);
/* Parses the rule, applies it to the figures and sets fault. EBB_USAGE: the error names the mistake. */
EBB_CHECKED ebb_status ebb_diff_judge(ebb_diff_maker *m, const char *rule);

ebb_word ebb_word_figure(ebb_unit unit, int64_t figure);
/* "+1.50 MiB (+3.1 %)", "same". */
ebb_word ebb_word_difference(ebb_unit unit, int64_t a, int64_t b);
/* "kept x1 -> dropped x2": the first life's fate and the number of lives; "1.00 MiB -> 3.00 MiB"; "moved".
 */
ebb_word ebb_word_change_of(const ebb_diff_tensor *row);

/* "two graphs: ..." in a line; "" for the same graph. */
typedef struct ebb_diff_note {
    char text[160];
} ebb_diff_note;
ebb_diff_note ebb_diff_graphs(const ebb_diff *diff);

void ebb_diff_text(ebb_text *out, const ebb_diff *diff);
void ebb_diff_json(ebb_text *out, const ebb_diff *diff);
void ebb_diff_markdown(ebb_text *out, const ebb_diff *diff);
void ebb_diff_html(ebb_text *out, const ebb_diff *diff);

#endif
