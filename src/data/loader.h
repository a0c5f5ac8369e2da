/* data/loader.h: declares the internals of a loader. Private to data. */
#ifndef EBB_DATA_LOADER_H
#define EBB_DATA_LOADER_H

#include <stdatomic.h>

#include "data/fill.h"
#include "data/picture.h"
#include "data/team.h"

enum { LOADER_ATTEMPTS = 64, LOADER_NAMED = 256 };

typedef struct loader_slot {
    int64_t index; /* the picture that it holds, or the last one that could not be read; -1: past the end */
    data_verdict verdict;
} loader_slot;

/* A picture that could not be read, for the first time. */
typedef struct loader_bad {
    uint32_t slot;
    int64_t index;
    char why[200];
} loader_bad;

struct ebb_loader {
    ebb_env *env;
    const ebb_data *data;
    ebb_loader_options options;
    ebb_arena arena;
    data_team team;
    data_worker *workers; /* [threads + 1] */
    data_palette palette;
    data_kept kept;
    size_t picture_bytes; /* of one picture, before conversion */
    uint8_t *bytes;       /* [batch * picture_bytes] */
    loader_slot *slots;   /* [batch] */
    uint32_t *order;      /* [batch] the slots that count, then the others */
    int64_t step;         /* the step of the slots, finished or in preparation; -1: none */
    void *to;             /* while slots are written to the input */

    pthread_mutex_t lock; /* of bads and n_bads */
    loader_bad bads[LOADER_NAMED];
    uint32_t n_bads;             /* since the last batch; those beyond LOADER_NAMED are only counted */
    _Atomic uint64_t *known_bad; /* a bit for each picture */
    _Atomic int64_t n_pictures, n_from_kept, n_bad, busy_ns;
    int64_t wait_ns;
    bool waited; /* a batch was waited for: the first one is only prepared on request */
};

/* Part i of a job: reads slot i's picture. ctx: the loader. */
void loader_decode(void *ctx, uint32_t slot, uint32_t worker);

#endif
