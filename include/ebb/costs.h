/* ebb/costs.h: how long ops take on one machine, as `ebb bench` measured it.
 *
 * A costs file (ebb.costs/1, docs/formats.md) holds the measured times of single ops and, for ops that were
 * not measured, a line fitted to the measured ones of each kind. It applies to one backend and one number
 * of threads. Without one, plans use the backend's built-in model, which is the same on every machine.
 *
 * Threads: as ebb/base.h. Ownership: `**out` is the caller's.
 */
#ifndef EBB_COSTS_H
#define EBB_COSTS_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_costs ebb_costs;

/* EBB_IO; EBB_BAD_INPUT: not an ebb.costs/1 document, or an op or kind occurs twice. */
EBB_API EBB_CHECKED ebb_status ebb_costs_read(ebb_env *env, const char *path, ebb_costs **out);
/* Whole or not at all; path "-" is standard output. The same costs give the same bytes. EBB_IO. */
EBB_API EBB_CHECKED ebb_status ebb_costs_write(ebb_env *env, const ebb_costs *costs, const char *path);
EBB_API void ebb_costs_destroy(ebb_costs *costs); /* NULL is allowed */

typedef struct ebb_costs_summary {
    const char *backend, *machine; /* borrowed from the costs */
    uint32_t n_threads;
    bool this_machine; /* measured on the kind of machine that this process runs on */
    const char *id;    /* hash of its content, 32 hexadecimal digits; borrowed */
    uint32_t n_ops, n_kinds;
    int64_t median_ns,
        least_ns; /* over all uses of all ops: when they are far apart, the machine was busy with other
                   * work. 0 for a look (ebb/measure.h) that was read from a file */
} ebb_costs_summary;
/* O(n_ops). */
EBB_API void ebb_costs_summarize(const ebb_costs *costs, ebb_costs_summary *out);

/* One kind of op: its measurements, and the line fitted to them. */
typedef struct ebb_costs_kind {
    const char *kind; /* borrowed */
    int64_t flops_per_us, bytes_per_us, start_ns;
    int64_t n_ops;        /* distinct ops that were measured */
    int64_t n_uses;       /* uses of these ops in the measured steps */
    int64_t flops, bytes; /* of those uses together; saturating */
    int64_t measured_ns;  /* of those uses together */
    int64_t off_ns;       /* sum of the line's absolute errors over those uses */
} ebb_costs_kind;
/* Kind i, in the order of names. EBB_USAGE: i is not below n_kinds. O(n_ops). */
EBB_API EBB_CHECKED ebb_status ebb_costs_kind_at(ebb_env *env, const ebb_costs *costs, uint32_t i,
                                                 ebb_costs_kind *out);

/* Writes into path[size] where the calibration of this backend and width (0: this machine's processors) on
 * this machine is kept: folder/costs-<hash>.json. EBB_IO: the path is too long. */
EBB_API EBB_CHECKED ebb_status ebb_costs_path(ebb_env *env, const char *folder, const char *backend,
                                              uint32_t n_threads, char *path, size_t size);

#ifdef __cplusplus
}
#endif
#endif
