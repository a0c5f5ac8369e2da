/* plan(graph, options): a planning graph (ebb.graph/1) in memory becomes a plan (ebb.plan/1) in memory. It
 * has an env of its own, so that other threads use the library meanwhile, and its own clock. */
#define _GNU_SOURCE /* pthread_getcpuclockid */
#include "core.h"

#include <pthread.h>
#include <time.h>

static uint64_t clock_read(clockid_t id) {
    struct timespec now = {0};
    if (clock_gettime(id, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Time limits are of the calling thread's processor time, so that a machine which others share gives the
 * same plans, only later. That thread works in all parts of a search: its time stands for its workers',
 * whose threads ask this, too. One that gets less than one part in MOST_WAIT of a processor is not waited
 * for. */
#define MOST_WAIT 8
typedef struct plan_watch {
    clockid_t thread;
    uint64_t worked_ns, passed_ns; /* when it was started */
} plan_watch;

static uint64_t watch_read(void *ctx) {
    const plan_watch *w = ctx;
    const uint64_t worked_ns = clock_read(w->thread) - w->worked_ns,
                   passed_ns = (clock_read(CLOCK_MONOTONIC) - w->passed_ns) / MOST_WAIT;
    return 1 + (worked_ns > passed_ns ? worked_ns : passed_ns);
}

static plan_watch watch_start(void) {
    plan_watch w = {.passed_ns = clock_read(CLOCK_MONOTONIC)};
    if (pthread_getcpuclockid(pthread_self(), &w.thread) != 0) w.thread = CLOCK_MONOTONIC;
    w.worked_ns = clock_read(w.thread);
    return w;
}

typedef struct plan_text {
    char *at;
    size_t n;
} plan_text;

/* The whole document comes in one piece. */
static bool text_take(void *ctx, const char *text, size_t n) {
    plan_text *to = ctx;
    to->at = malloc(n ? n : 1);
    if (!to->at) return false;
    memcpy(to->at, text, n);
    to->n = n;
    return true;
}

/* With the GIL released. smallest: the plan that a refusal names, unless that is the one in place. */
static ebb_status plan_make(ebb_env *env, const char *graph, size_t n_graph, const ebb_options *options,
                            plan_text *text, plan_text *smallest) {
    ebb_model *model = NULL;
    ebb_plan *plan = NULL, *least = NULL;
    ebb_status status = ebb_model_parse(env, "graph", graph, n_graph, &model);
    if (!status) status = ebb_plan_model_or_smallest(env, model, NULL, 0, options, &plan, &least);
    if (!status) status = ebb_plan_print_to(env, plan, text_take, text);
    if (least) { /* the refusal's text stays, unless there is no memory for the plan's */
        const ebb_status printed = ebb_plan_print_to(env, least, text_take, smallest);
        if (printed) status = printed;
    }
    ebb_plan_destroy(plan);
    ebb_plan_destroy(least);
    ebb_model_destroy(model);
    return status;
}

/* An OverBudget that has the smallest plan, or None, as its smallest. */
static void refuse(const char *text, const plan_text *smallest) {
    PyObject *error = PyObject_CallFunction(core.over_budget, "s", text);
    PyObject *plan = smallest->at ? PyBytes_FromStringAndSize(smallest->at, (Py_ssize_t)smallest->n)
                                  : Py_NewRef(Py_None);
    if (error && plan && PyObject_SetAttrString(error, "smallest", plan) == 0)
        PyErr_SetObject(core.over_budget, error);
    Py_XDECREF(plan);
    Py_XDECREF(error);
}

static PyObject *plan_raise(ebb_env *env, ebb_status status) {
    PyObject *type = status == EBB_BAD_INPUT || status == EBB_USAGE ? PyExc_ValueError
                     : status == EBB_NO_MEMORY                      ? PyExc_MemoryError
                     : status == EBB_OVER_BUDGET                    ? core.over_budget
                                                                    : PyExc_RuntimeError;
    if (status == EBB_INTERRUPTED) {
        if (PyErr_CheckSignals() < 0) return NULL;
        type = PyExc_KeyboardInterrupt;
    }
    const char *text = ebb_env_error(env);
    PyErr_SetString(type, *text ? text : ebb_status_name(status));
    return NULL;
}

PyObject *core_plan(PyObject *module, PyObject *args) {
    const char *graph;
    Py_ssize_t n_graph;
    PyObject *dict, *made = NULL;
    ebb_trace_options options;
    ebb_env *env = NULL;
    plan_text text = {NULL, 0}, smallest = {NULL, 0};
    plan_watch watch = watch_start();
    const ebb_env_options env_options = {
        .clock_ns = watch_read, .clock_ctx = &watch, .stop = &core.stop_plans};
    (void)module;
    if (!PyArg_ParseTuple(args, "y#O!", &graph, &n_graph, &PyDict_Type, &dict) ||
        core_trace_options_read(dict, &options))
        return NULL;
    if (options.plan.on_progress) { /* what it raises would end another call */
        PyErr_SetString(PyExc_TypeError, "plan: progress is told of traced calls alone");
        return NULL;
    }
    if (ebb_env_create(&env_options, &env)) return PyErr_NoMemory();
    if (core.n_plans++ == 0) core.stop_plans = 0;
    core_long call = core_long_begin(true);
    const ebb_status status = plan_make(env, graph, (size_t)n_graph, &options.plan, &text, &smallest);
    core_long_end(&call);
    core.n_plans--;
    if (status == EBB_OVER_BUDGET)
        refuse(ebb_env_error(env), &smallest);
    else if (status)
        plan_raise(env, status);
    else
        made = PyBytes_FromStringAndSize(text.at, (Py_ssize_t)text.n);
    free(text.at);
    free(smallest.at);
    ebb_env_destroy(env);
    return made;
}

/* export_onnx(text, weights, path): a graph of docs/ir.md and a safetensors file of its tensors, as ONNX.
 */
PyObject *core_export_onnx(PyObject *module, PyObject *args) {
    const char *text, *weights, *path;
    Py_ssize_t n;
    ebb_env *env = NULL;
    ebb_model *model = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "s#ss", &text, &n, &weights, &path)) return NULL;
    if (ebb_env_create(NULL, &env)) return PyErr_NoMemory();
    core_long call = core_long_begin(false);
    const ebb_onnx_export_options options = {.weights = weights};
    ebb_status status = ebb_model_parse(env, "the graph", text, (size_t)n, &model);
    if (!status) status = ebb_onnx_export(env, model, &options, path);
    ebb_model_destroy(model);
    core_long_end(&call);
    if (status) plan_raise(env, status);
    ebb_env_destroy(env);
    return status ? NULL : Py_NewRef(Py_None);
}

/* parse_bytes("11GiB"): a number of bytes. */
PyObject *core_parse_bytes(PyObject *module, PyObject *object) {
    int64_t n;
    (void)module;
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (text && ebb_parse_bytes(text, &n)) return PyLong_FromLongLong(n);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%R is no size: write \"11GiB\", \"500 MB\" or a number of bytes",
                     object);
    return NULL;
}

static ebb_status report_make(ebb_env *env, const char *plan_path, const char *path,
                              ebb_report_format format) {
    ebb_plan *plan = NULL;
    ebb_report *report = NULL;
    ebb_status status = ebb_plan_read(env, plan_path, &plan);
    if (!status) status = ebb_report_make(env, plan, plan_path, NULL, &report);
    if (!status) status = ebb_report_write(env, report, format, path);
    ebb_report_destroy(report);
    ebb_plan_destroy(plan);
    return status;
}

/* report(plan, path, "html" | "md" | "json" | "txt"): of a plan in a file. */
PyObject *core_report(PyObject *module, PyObject *args) {
    static const char *const names[] = {[EBB_REPORT_TEXT] = "txt",
                                        [EBB_REPORT_JSON] = "json",
                                        [EBB_REPORT_MARKDOWN] = "md",
                                        [EBB_REPORT_HTML] = "html"};
    const char *plan_path, *path, *name;
    size_t format = 0;
    const size_t n = sizeof names / sizeof *names;
    ebb_env *env = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "sss", &plan_path, &path, &name)) return NULL;
    while (format < n && strcmp(names[format], name) != 0) format++;
    if (format == n)
        return PyErr_Format(PyExc_ValueError, "report %s: its name ends in .html, .md, .json or .txt",
                            path);
    if (ebb_env_create(NULL, &env)) return PyErr_NoMemory();
    const ebb_status status = report_make(env, plan_path, path, (ebb_report_format)format);
    if (status) plan_raise(env, status);
    ebb_env_destroy(env);
    return status ? NULL : Py_NewRef(Py_None);
}
