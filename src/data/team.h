/* data/team.h: runs the numbered parts of jobs on threads, one job after the other. Private to data.
 *
 * A thread that waits for a job also works on it, so a team without threads is slow but not stuck.
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
    uint32_t n_threads; /* running threads; the waiting thread is worker n_asked */
    uint32_t n_asked;
    bool made, stopping;
    data_part_work *job;
    void *ctx;
    uint32_t next, n, left; /* parts */
} data_team;

/* Starts the threads; it works with fewer if some cannot be started. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status data_team_make(ebb_arena *arena, uint32_t n_threads, data_team *out);
/* Ends the threads after their current parts. A zeroed team may be ended. */
void data_team_end(data_team *team);
/* Begins a job; the previous one must be done. */
void data_team_begin(data_team *team, data_part_work *job, void *ctx, uint32_t n);
/* Works until all parts are done. */
void data_team_wait(data_team *team);

#endif
