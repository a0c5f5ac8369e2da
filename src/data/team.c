/* A team: one lock, a number of the next part, and how many are not done. */
#include "data/team.h"

#include <signal.h>

/* Takes a part and does it, the lock held before and after. */
static bool work_once(data_team *t, uint32_t worker) {
    if (t->next >= t->n) return false;
    const uint32_t part = t->next++;
    data_part_work *job = t->job;
    void *ctx = t->ctx;
    (void)pthread_mutex_unlock(&t->lock);
    job(ctx, part, worker);
    (void)pthread_mutex_lock(&t->lock);
    if (--t->left == 0) (void)pthread_cond_signal(&t->done);
    return true;
}

static void *run(void *arg) {
    data_team_thread *self = arg;
    data_team *t = self->team;
    (void)pthread_mutex_lock(&t->lock);
    while (!t->stopping)
        if (!work_once(t, self->worker)) (void)pthread_cond_wait(&t->work, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

ebb_status data_team_make(ebb_arena *arena, uint32_t n_threads, data_team *out) {
    *out = (data_team){.n_asked = n_threads};
    out->threads = EBB_NEW(arena, data_team_thread, n_threads);
    if (!out->threads) return EBB_NO_MEMORY;
    (void)pthread_mutex_init(&out->lock, NULL); /* of default attributes: neither fails on Linux */
    (void)pthread_cond_init(&out->work, NULL);
    (void)pthread_cond_init(&out->done, NULL);
    out->made = true;
    /* Signals stay with the caller's threads. */
    sigset_t all, before;
    sigfillset(&all);
    const bool masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    for (; out->n_threads < n_threads; out->n_threads++) {
        data_team_thread *thread = &out->threads[out->n_threads];
        *thread = (data_team_thread){.team = out, .worker = out->n_threads};
        if (pthread_create(&thread->thread, NULL, run, thread) != 0) break;
    }
    if (masked) (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return EBB_OK;
}

void data_team_end(data_team *t) {
    if (!t->made) return;
    (void)pthread_mutex_lock(&t->lock);
    t->stopping = true;
    t->n = t->next = 0;
    (void)pthread_cond_broadcast(&t->work);
    (void)pthread_mutex_unlock(&t->lock);
    for (uint32_t i = 0; i < t->n_threads; i++) (void)pthread_join(t->threads[i].thread, NULL);
    (void)pthread_cond_destroy(&t->work);
    (void)pthread_cond_destroy(&t->done);
    (void)pthread_mutex_destroy(&t->lock);
    t->made = false;
}

void data_team_begin(data_team *t, data_part_work *job, void *ctx, uint32_t n) {
    (void)pthread_mutex_lock(&t->lock);
    t->job = job;
    t->ctx = ctx;
    t->next = 0;
    t->n = t->left = n;
    (void)pthread_cond_broadcast(&t->work);
    (void)pthread_mutex_unlock(&t->lock);
}

void data_team_wait(data_team *t) {
    (void)pthread_mutex_lock(&t->lock);
    while (work_once(t, t->n_asked)) {
    }
    while (t->left > 0) (void)pthread_cond_wait(&t->done, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
}
