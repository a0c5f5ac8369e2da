/* Workers: one loop shared by a few threads. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/os/os.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_WORKERS = 256 };

typedef struct shared_loop {
    void (*task)(void *ctx, uint32_t i, uint32_t worker);
    void *ctx;
    uint32_t n;
    _Atomic uint64_t next; /* 64 bits: every worker goes past n once, and must not wrap */
} shared_loop;

typedef struct worker {
    shared_loop *loop;
    pthread_t thread;
    uint32_t index;
} worker;

static void work(shared_loop *loop, uint32_t index) {
    for (;;) {
        uint64_t i = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
        if (i >= loop->n) return;
        loop->task(loop->ctx, (uint32_t)i, index);
    }
}

static void *thread_main(void *arg) {
    worker *self = arg;
    work(self->loop, self->index);
    return NULL;
}

void ebb_parallel_for(uint32_t n_workers, uint32_t n, void (*task)(void *ctx, uint32_t i, uint32_t worker),
                      void *ctx) {
    shared_loop loop = {.task = task, .ctx = ctx, .n = n};
    worker workers[MAX_WORKERS];
    if (n_workers > n) n_workers = n;
    if (n_workers > MAX_WORKERS) n_workers = MAX_WORKERS;

    /* Signals stay with the caller's thread, where a blocking read can notice the stop flag. */
    sigset_t all, before;
    sigfillset(&all);
    bool masked = n_workers > 1 && pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    uint32_t started = 1;
    for (; started < n_workers; started++) {
        worker *w = &workers[started];
        *w = (worker){.loop = &loop, .index = started};
        if (pthread_create(&w->thread, NULL, thread_main, w) != 0) break;
    }
    if (masked) pthread_sigmask(SIG_SETMASK, &before, NULL);

    work(&loop, 0);
    for (uint32_t i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
}

uint32_t ebb_cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int n = CPU_COUNT(&set);
        if (n > 0) return (uint32_t)n;
    }
    /* More processors than the set can name. */
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n <= INT32_MAX ? (uint32_t)n : 1;
}
