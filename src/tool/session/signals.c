/* signals: the wish to stop, a reader that went away; and the clock. */
#include "tool/session/session.h"

#include <signal.h>
#include <time.h>

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
