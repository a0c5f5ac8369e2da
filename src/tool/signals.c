/* signals: the wish to stop, a reader that went away, and the progress bar. */
#include "tool.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* A signal handler reaches nothing but a static object. */
static volatile sig_atomic_t stop_flag;

static void raise_flag(int signal_number) {
    (void)signal_number;
    stop_flag = 1;
}

const volatile int *tool_signals_install(void) {
    /* SA_RESETHAND: the second signal does what it always does. */
    struct sigaction action = {.sa_handler = raise_flag, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* `ebb run | head -1`: the write fails and main tells; the signal would end the process without a word.
     */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    return &stop_flag;
}

int64_t tool_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void draw(void *ctx, int64_t done, int64_t total, double best_added_ratio) {
    enum { WIDTH = 30, PERIOD_NS = 100000000 };
    static const char full[] = "##############################", empty[] = "..............................";
    tool_progress *progress = ctx;
    int64_t now = tool_now_ns();
    if (progress->drawn && now - progress->last_ns < PERIOD_NS) return;
    progress->drawn = true;
    progress->last_ns = now;
    if (total < 1) total = 1;
    if (done > total) done = total;
    double share = (double)done / (double)total;
    int filled = (int)(share * WIDTH);
    fprintf(stderr, "\r[%.*s%.*s] %3.0f %%", filled, full, WIDTH - filled, empty, 100 * share);
    if (best_added_ratio >= 0)
        fprintf(stderr, "  best +%.2f %% time\033[K", 100 * best_added_ratio);
    else
        fputs("  nothing fits yet\033[K", stderr);
    fflush(stderr);
}

void tool_progress_begin(tool_progress *progress, const tool *t, ebb_options *options) {
    *progress = (tool_progress){.active = t->args.progress && isatty(STDERR_FILENO) != 0};
    if (!progress->active) return;
    options->on_progress = draw;
    options->progress_ctx = progress;
}

void tool_progress_end(tool_progress *progress) {
    if (progress->drawn) fputs("\r\033[K", stderr);
    progress->drawn = false;
}
