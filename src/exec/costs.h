/* exec/costs.h: holds measured times of ops and lines fitted to them: a costs file in memory.
 *
 *     ask(call):  1. measured   the exact call (op, types, attributes, choice) is in the table
 *                 2. calibrated its kind has a line: start + max(flops / rate, bytes / rate); each of a
 *                               backend's choices in proportion to its predicted time beyond its own line
 *                 3. built-in   neither: the backend's own time, with its rates scaled if the costs are a
 *                               quick look at a machine (others)
 *
 * It is a table of facts; measuring is engine/measure.c. Sealed costs are immutable.
 */
#ifndef EBB_EXEC_COSTS_H
#define EBB_EXEC_COSTS_H

#include "ebb/costs.h"
#include "exec/backend.h"

typedef struct ebb_cost_row {
    const char *op;   /* the call, as ebb_costs_print_call has it */
    const char *kind; /* the kind whose line it helps to fit */
    ebb_cost cost;
    int64_t time_ns;  /* >= 0: of one run, a median */
    int64_t least_ns; /* of the same runs; far below the median if the machine was busy */
    int64_t n_uses;   /* >= 1: occurrences in the measured step; its weight in a fit */
} ebb_cost_row;

typedef struct ebb_cost_line {
    const char *kind;
    ebb_roofline line;
    int64_t n_ops; /* distinct ops that it was fitted to */
} ebb_cost_line;

/* The machine's speed relative to the built-in rates, for kinds without a line. */
typedef struct ebb_cost_others {
    int64_t flops_permille, bytes_permille; /* >= 1; both 0: the built-in rates apply */
    int64_t median_ns, least_ns; /* of the look's step; far apart if the machine was busy. Not in files */
} ebb_cost_others;

struct ebb_costs {
    ebb_env *env;
    ebb_arena arena; /* owns the texts */
    const char *backend, *machine;
    uint32_t n_threads;
    EBB_ARRAY(ebb_cost_row) rows;   /* by op, once sealed */
    EBB_ARRAY(ebb_cost_line) lines; /* by kind, once sealed */
    ebb_cost_others others;
    char id[EBB_HASH_TEXT]; /* of the content, once sealed */
};

/* Makes empty costs; texts are copied. */
EBB_CHECKED ebb_status ebb_costs_create(ebb_env *env, const char *backend, uint32_t n_threads,
                                        const char *machine, ebb_costs **out);
/* Appends; texts are copied. A later row of the same op, or line of the same kind, replaces an earlier
 * one. */
EBB_CHECKED ebb_status ebb_costs_add_row(ebb_costs *costs, const ebb_cost_row *row);
EBB_CHECKED ebb_status ebb_costs_add_line(ebb_costs *costs, const ebb_cost_line *line);
/* Sorts, drops replaced entries and sets the id. *n_dropped (may be NULL): the number of dropped rows and
 * lines. O(n log n). */
EBB_CHECKED ebb_status ebb_costs_seal(ebb_costs *costs, size_t *n_dropped);

/* EBB_USAGE: the costs are of another backend or width. */
EBB_CHECKED ebb_status ebb_costs_check(ebb_env *env, const ebb_costs *costs, const ebb_backend *backend);
/* Writes the machine of a backend's times: its device, or this machine. */
void ebb_costs_machine(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]);

/* Prints a call's name in a row: as by ebb_call_print, plus " by <choice>" if the backend names its
 * choices. */
void ebb_costs_print_call(ebb_text *text, const ebb_call *call, const ebb_op_facts *facts);

typedef enum ebb_cost_source { EBB_COST_MEASURED, EBB_COST_CALIBRATED, EBB_COST_BUILT_IN } ebb_cost_source;
/* Finds a call's time and its source. facts are the backend's for this call. name is the caller's reusable
 * buffer. O(log n). */
EBB_CHECKED ebb_status ebb_costs_ask(const ebb_costs *costs, const ebb_call *call,
                                     const ebb_op_facts *facts, ebb_text *name, int64_t *time_ns,
                                     ebb_cost_source *source);

/* Fits a line to the kind's rows, starting at `from` (the built-in one): each row is assigned to the side
 * that binds it, flops or bytes, and a side's rate is that of its rows together; a side without rows keeps
 * from's proportion to the other. Repeats until nothing changes, at most 32 times. n_ops 0: the kind has no
 * rows, and the line is from's. */
ebb_cost_line ebb_costs_fit(const ebb_costs *costs, const char *kind, const ebb_roofline *from);

void ebb_costs_print(ebb_json_out *json, const ebb_costs *costs);

#endif
