/* keep: tensors in files (ebb/tensors.h), and a save that is written while the caller goes on.
 *
 * It knows names, dtypes' bytes and offsets; it is not a place for anything that knows a graph or an
 * engine.
 *
 * Threads: as ebb/base.h. A job's thread uses no env: what it needs was made before it began, and what went
 * wrong is told by ebb_keep_job_end.
 */
#ifndef EBB_KEEP_KEEP_H
#define EBB_KEEP_KEEP_H

#include "base/base.h"
#include "ebb/tensors.h"

/* ---- a file written by a thread of its own ---- */

typedef struct ebb_keep_job ebb_keep_job;

/* Begins to write what ebb_tensors_write would write. Rows' texts and facts are copied; the data stay where
 * they are until the job has ended. When no thread can be started, the file is written before this returns.
 * EBB_USAGE, EBB_NO_MEMORY as ebb_tensors_write. */
EBB_CHECKED ebb_status ebb_keep_job_begin(ebb_env *env, const char *path, const ebb_tensor_row *rows,
                                          const void *const *data, uint32_t n,
                                          const ebb_tensors_fact *facts, uint32_t n_facts,
                                          ebb_keep_job **out);
/* Waits for it and frees it. EBB_IO: path holds what it held before; or, as the text says, the new file,
 * whose folder could not be synced. NULL is allowed. */
EBB_CHECKED ebb_status ebb_keep_job_end(ebb_keep_job *job);

#endif
