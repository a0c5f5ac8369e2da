/* data/team.h: threads that do the numbered parts of one job after the other. Private to data.
 *
 * Who waits for a job works on it, too: a team without threads is slow, and not stuck.
 */
#ifndef EBB_DATA_TEAM_H
#define EBB_DATA_TEAM_H

#include <pthread.h>

#include "data/data.h"

typedef void data_part_work(void *ctx, uint32_t part, uint32_t worker);

typedef struct data_team_thread {
    struct data_team *team;
    pthread_t thread;
    uint32_t worker;
} data_team_thread;

typedef struct data_team {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    data_team_thread *threads;
    uint32_t n_threads; /* that run; whoever waits is worker n_asked */
    uint32_t n_asked;
    bool made, stopping;
    data_part_work *job;
    void *ctx;
    uint32_t next, n, left; /* parts */
} data_team;

/* Threads that cannot be started are done without. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status data_team_make(ebb_arena *arena, uint32_t n_threads, data_team *out);
/* Ends them when each has ended its part. A zeroed team may be ended. */
void data_team_end(data_team *team);
/* After the job before it is done. */
void data_team_begin(data_team *team, data_part_work *job, void *ctx, uint32_t n);
/* Works until all parts are done. */
void data_team_wait(data_team *team);

#endif
