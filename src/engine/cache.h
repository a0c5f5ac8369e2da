/* engine/cache.h: plans that were made before, in a folder: <hash>.plan.json, named by everything that the
 * answer depends on. Private to the engine.
 *
 * A file of it is as good as any other input: it is read, held against the request and audited, and what
 * does not pass is passed over with a warning. What is stored are plans that any machine would make again.
 */
#ifndef EBB_ENGINE_CACHE_H
#define EBB_ENGINE_CACHE_H

#include "engine/plan.h"

/* Raised when the same request may be answered by another plan than before: the search, the packing, the
 * certificate. It counts beside the program's version. */
#define EBB_CACHE_SEARCH_VERSION 6

typedef struct ebb_cache {
    const ebb_planner *p; /* borrowed, with its baseline */
    const char *folder;   /* borrowed; NULL: off, and nothing is ever found or stored */
    ebb_hash key;         /* of all that every plan of this request depends on, budget aside */
    ebb_text graph;       /* as printed */
} ebb_cache;

/* Makes the folder of the options. EBB_IO. Close it in any case. */
EBB_CHECKED ebb_status ebb_cache_open(ebb_cache *cache, const ebb_planner *p);
void ebb_cache_close(ebb_cache *cache);

/* `which` tells the request's plans from one another. *out is the caller's; NULL when there is none that
 * passes. budget_bytes: what the plan must say of it; -1: none. EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_find(const ebb_cache *cache, const char *which, int64_t budget_bytes,
                                      ebb_plan **out);
/* EBB_IO when nothing can be stored: to be said before a search and not after it. */
EBB_CHECKED ebb_status ebb_cache_check_writable(const ebb_cache *cache);
/* EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_store(const ebb_cache *cache, const char *which, const ebb_plan *plan);

#endif
