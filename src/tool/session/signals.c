/* signals: the wish to stop, a reader that went away; and the clock. */
#include "tool/session/session.h"

#include <signal.h>
#include <time.h>

/* A signal handler reaches nothing but a static object. */
static volatile sig_atomic_t stop_flag;
static int64_t stop_ns; /* when it was raised; handlers alone use it, one at a time */

enum { REPEAT_NS = 1000000000 };

/* The first asks to stop. `timeout` signals a process and then its group, so one request may arrive twice:
 * what follows within a second is the same request. A later signal does what it always does. */
static void raise_flag(int signal_number) {
    const int64_t now_ns = tool_now_ns();
    if (!stop_flag) {
        stop_ns = now_ns;
        stop_flag = 1;
    } else if (now_ns - stop_ns >= REPEAT_NS) {
        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number); /* it comes when the handler returns */
    }
}

const volatile int *tool_signals_install(void) {
    struct sigaction action = {.sa_handler = raise_flag};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* `ebb run | head -1`, `ulimit -f`: the write fails and its error is told; the signal would end the
     * process without a word. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    return &stop_flag;
}

int64_t tool_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
