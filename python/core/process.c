/* The one env and eager of the process. */
#include "core.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

core_process core;

static void after_fork(void) {
    core.forked = core.eager != NULL;
}

static int direct_conv_read(void) {
    const char *text = getenv("EBB_DIRECT_CONV");
    if (!text || !*text || strcmp(text, "0") == 0) return 0;
    core.direct_conv = strcmp(text, "1") == 0;
    if (core.direct_conv) return 0;
    PyErr_Format(PyExc_ValueError, "EBB_DIRECT_CONV is \"%.60s\": write 0 or 1", text);
    return -1;
}

int core_process_init(void) {
    const char *device = getenv("EBB_DEVICE");
    if (core.env) return 0;
    if (device && strlen(device) >= sizeof core.device) {
        PyErr_Format(PyExc_ValueError, "EBB_DEVICE has %zu characters, more than %zu", strlen(device),
                     sizeof core.device - 1);
        return -1;
    }
    if (direct_conv_read() < 0) return -1;
    if (!core.lock) core.lock = PyThread_allocate_lock();
    if (!core.lock || pthread_atfork(NULL, NULL, after_fork)) {
        PyErr_NoMemory();
        return -1;
    }
    (void)snprintf(core.device, sizeof core.device, "%s", device && *device ? device : "cpu");
    const ebb_env_options options = {.stop = &core.stop};
    const ebb_status status = ebb_env_create(&options, &core.env);
    if (status) PyErr_Format(PyExc_RuntimeError, "ebb: %s", ebb_status_name(status));
    core.seed = 1;
    return status ? -1 : 0;
}

/* ---- errors ------------------------------------------------------------------------------------------ */

void core_raise_later(void) {
    if (core.raised[0]) {
        PyErr_WriteUnraisable(NULL);
        return;
    }
    PyErr_Fetch(&core.raised[0], &core.raised[1], &core.raised[2]);
    core.stop = 1;
}

bool core_raise_now(void) {
    if (!core.raised[0]) return false;
    PyErr_Restore(core.raised[0], core.raised[1], core.raised[2]);
    core.raised[0] = NULL;
    return true;
}

static PyObject *status_raise(ebb_status status, PyObject *refused) {
    PyObject *type = PyExc_RuntimeError;
    if (core_raise_now()) return NULL;
    const char *text = ebb_env_error(core.env);
    switch (status) {
    case EBB_MISMATCH:
        if (core.trace_error) type = core.trace_error;
        break;
    case EBB_BAD_INPUT:
    case EBB_USAGE:
        type = refused;
        break;
    case EBB_NO_MEMORY:
        type = PyExc_MemoryError;
        break;
    case EBB_OVER_BUDGET:
        type = core.over_budget ? core.over_budget : PyExc_RuntimeError;
        break;
    case EBB_INTERRUPTED:
        if (PyErr_CheckSignals() < 0) return NULL;
        type = PyExc_KeyboardInterrupt;
        break;
    default:
        break;
    }
    if (!*text) text = ebb_status_name(status);
    if (status == EBB_MISMATCH)
        PyErr_Format(type, "trace error because %s", text); /* as MegEngine says it */
    else
        PyErr_SetString(type, text);
    return NULL;
}

PyObject *core_raise(ebb_status status) {
    return status_raise(status, core.input_error ? core.input_error : PyExc_ValueError);
}

PyObject *core_raise_trace(ebb_status status) {
    return status_raise(status, core.trace_error ? core.trace_error : PyExc_RuntimeError);
}

/* ---- one thread at a time ---------------------------------------------------------------------------- */

static bool eager_open(void) {
    ebb_options options;
    if (core.eager) return true;
    ebb_options_init(&options);
    options.device = core.device;
    options.direct_conv = core.direct_conv;
    options.seed = core.seed;
    options.jit = ebb_jit_variable(core.device, 3); /* a trace may be of that level */
    const ebb_status status = ebb_eager_create(core.env, &options, &core.eager);
    if (status) core_raise(status);
    return status == EBB_OK;
}

/* Who waits has read handles, with the GIL, and gave it away before the library was its own: what has been
 * buried since is not destroyed before it has had its turn. Used with the GIL held. */
typedef struct waiter {
    uint64_t buried; /* how many had been, when it began to wait */
    struct waiter *next;
} waiter;
static waiter *waiters;

static void wait_for_turn(void) {
    waiter self = {core.n_emptied + core.n_graves, waiters};
    waiters = &self;
    PyThreadState *thread = PyEval_SaveThread();
    PyThread_acquire_lock(core.lock, WAIT_LOCK);
    PyEval_RestoreThread(thread);
    waiter **at = &waiters;
    while (*at != &self) at = &(*at)->next;
    *at = self.next;
}

/* How many of the graves, from the oldest on, nobody waits with. */
static size_t graves_ready(void) {
    size_t n = core.n_graves;
    for (const waiter *w = waiters; w; w = w->next) {
        if (w->buried - core.n_emptied < n) n = (size_t)(w->buried - core.n_emptied);
    }
    return n;
}

/* In the order in which they were buried: a sweep goes before its tape. What is destroyed may be another
 * library's, whose finalizer buries more. */
static void graves_empty(void) {
    size_t ready;
    while ((ready = graves_ready()) > 0) {
        for (size_t i = 0; i < ready; i++) core.graves[i].destroy(core.graves[i].what);
        core.n_graves -= ready;
        core.n_emptied += ready;
        memmove(core.graves, core.graves + ready, core.n_graves * sizeof *core.graves);
    }
}

bool core_enter_env(void) {
    const unsigned long self = PyThread_get_thread_ident();
    if (core.forked) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "ebb: this process was forked from one that had used ebb, whose threads and device it "
            "does not have: start it by multiprocessing's \"spawn\", or use ebb first in the child");
        return false;
    }
    if (core.owner == self) { /* a finalizer, in the middle of a call */
        PyErr_SetString(PyExc_RuntimeError, "ebb: called from within a call of its own");
        return false;
    }
    if (!PyThread_acquire_lock(core.lock, NOWAIT_LOCK)) wait_for_turn();
    core.owner = self;
    core.stop = 0;
    return true;
}

bool core_enter(void) {
    if (!core_enter_env()) return false;
    if (eager_open()) return true;
    core_leave();
    return false;
}

void core_leave(void) {
    graves_empty();
    core.owner = 0;
    PyThread_release_lock(core.lock);
}

/* A finalizer must not wait: the thread that has the library may be waiting for this one. What cannot be
 * noted down for want of memory is lost. */
void core_bury(void *what, void (*destroy)(void *what)) {
    if (!what || core.forked) return;
    if (core.n_graves == core.most_graves) {
        const size_t most = core.most_graves ? 2 * core.most_graves : 64;
        core_grave *graves = realloc(core.graves, most * sizeof *graves);
        if (!graves) return;
        core.graves = graves;
        core.most_graves = most;
    }
    core.graves[core.n_graves++] = (core_grave){what, destroy};
    if (!PyThread_acquire_lock(core.lock, NOWAIT_LOCK)) return;
    core.owner = PyThread_get_thread_ident();
    core_leave();
}

/* ---- long calls -------------------------------------------------------------------------------------- */

static void (*python_handler)(int);

/* Python's own handler only makes a note, which is looked at when bytecode runs again. */
static void on_interrupt(int number) {
    core.stop = core.stop_plans = 1;
    python_handler(number);
}

static bool interrupts_catch(void) {
    struct sigaction before, now = {.sa_handler = on_interrupt};
    if (sigaction(SIGINT, NULL, &before) || before.sa_flags & SA_SIGINFO) return false;
    if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) return false;
    python_handler = before.sa_handler;
    now.sa_flags = before.sa_flags;
    now.sa_mask = before.sa_mask;
    return sigaction(SIGINT, &now, NULL) == 0;
}

static void interrupts_give_back(void) {
    struct sigaction back;
    (void)sigaction(SIGINT, NULL, &back);
    back.sa_handler = python_handler;
    (void)sigaction(SIGINT, &back, NULL);
}

/* Both count with the GIL held: plans are made beside other calls. */
core_long core_long_begin(bool stoppable) {
    core_long call = {.stoppable = stoppable};
    if (stoppable) core.n_stoppable++;
    if (stoppable && !core.caught) core.caught = interrupts_catch();
    call.thread = PyEval_SaveThread();
    return call;
}

void core_long_end(core_long *call) {
    PyEval_RestoreThread(call->thread);
    if (call->stoppable) core.n_stoppable--;
    if (core.n_stoppable > 0) return;
    if (core.caught) interrupts_give_back();
    core.caught = false;
}
