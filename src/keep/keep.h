/* keep: reads and writes tensors in files (ebb/tensors.h), and writes a save while the caller continues.
 *
 * It knows names, dtypes' bytes and offsets, but no graph and no engine.
 *
 * Threads: as ebb/base.h. A job's thread uses no env: its data are prepared before it begins, and
 * ebb_keep_job_end returns its error.
 */
#ifndef EBB_KEEP_KEEP_H
#define EBB_KEEP_KEEP_H

#include "base/base.h"
#include "ebb/tensors.h"

/* ---- a file written by its own thread ---- */

typedef struct ebb_keep_job ebb_keep_job;

/* Begins to write the file that ebb_tensors_write would write. Rows' texts and facts are copied; the data
 * are borrowed until the job has ended. When no thread can be started, the file is written before this
 * returns. EBB_USAGE, EBB_NO_MEMORY as ebb_tensors_write. */
EBB_CHECKED ebb_status ebb_keep_job_begin(ebb_env *env, const char *path, const ebb_tensor_row *rows,
                                          const void *const *data, uint32_t n,
                                          const ebb_tensors_fact *facts, uint32_t n_facts,
                                          ebb_keep_job **out);
/* Waits for the job and frees it. EBB_IO: path has its old content or, if the error says that the folder
 * could not be synced, the new one. NULL is allowed. */
EBB_CHECKED ebb_status ebb_keep_job_end(ebb_keep_job *job);

#endif
