/* What came of a trace: its plans, reports and texts. */
#include "core.h"

static ebb_trace *trace_of(PyObject *self) {
    return ((core_trace *)self)->trace;
}

static PyObject *facts(PyObject *self, PyObject *none) {
    ebb_trace_facts f;
    (void)none;
    if (!core_enter()) return NULL;
    ebb_trace_facts_now(trace_of(self), &f);
    const uint32_t n_programs = ebb_trace_n_programs(trace_of(self));
    core_leave();
    return Py_BuildValue("{s:I,s:K,s:K,s:K,s:I,s:I,s:z}", "n_recordings", f.n_recordings, "n_recorded",
                         (unsigned long long)f.n_recorded, "n_compared", (unsigned long long)f.n_compared,
                         "n_runs", (unsigned long long)f.n_runs, "n_entries", f.n_entries, "n_programs",
                         n_programs, "refused", f.refused);
}

/* Within core_enter. */
static const ebb_plan *plan_of(PyObject *self, unsigned program) {
    const ebb_plan *plan = ebb_trace_plan(trace_of(self), program);
    if (!plan)
        PyErr_Format(
            core.trace_error,
            "no program %u of %u: they are there once a call has ended, and none of one that ran op by op",
            program, ebb_trace_n_programs(trace_of(self)));
    return plan;
}

PyObject *core_plan_dict(const ebb_plan *plan) {
    ebb_plan_summary s;
    ebb_plan_summarize(plan, &s);
    PyObject *budget = s.budget_bytes < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(s.budget_bytes);
    return Py_BuildValue(
        "{s:s,s:I,s:I,s:I,s:I,s:L,s:L,s:L,s:L,s:N,s:L,s:L,s:L,s:L,s:L}", "backend", s.backend, "n_threads",
        s.n_threads, "n_steps", s.n_steps, "n_recomputed", s.n_recomputed, "n_buffers", s.n_buffers,
        "arena_bytes", (long long)s.arena_bytes, "persistent_bytes", (long long)s.persistent_bytes,
        "total_bytes", (long long)s.total_bytes, "max_live_bytes", (long long)s.max_live_bytes,
        "budget_bytes", budget, "time_ns", (long long)s.time_ns, "baseline_arena_bytes",
        (long long)s.baseline_arena_bytes, "baseline_total_bytes", (long long)s.baseline_total_bytes,
        "baseline_time_ns", (long long)s.baseline_time_ns, "bound_time_ns", (long long)s.bound_time_ns);
}

/* Adds what XLA counts of a program of its own. -1 with an exception. */
static int add_xla(PyObject *self, unsigned program, PyObject *answer) {
    ebb_xla_memory m;
    if (ebb_trace_xla_memory(trace_of(self), program, &m)) return 0;
    PyObject *bytes = Py_BuildValue("{s:L,s:L,s:L,s:L}", "arguments_bytes", (long long)m.arguments_bytes,
                                    "outputs_bytes", (long long)m.outputs_bytes, "alias_bytes",
                                    (long long)m.alias_bytes, "temp_bytes", (long long)m.temp_bytes);
    const int failed = bytes ? PyDict_SetItemString(answer, "xla", bytes) : -1;
    Py_XDECREF(bytes);
    return failed;
}

static PyObject *plan(PyObject *self, PyObject *args) {
    unsigned program;
    if (!PyArg_ParseTuple(args, "I", &program) || !core_enter()) return NULL;
    const ebb_plan *of = plan_of(self, program);
    PyObject *answer = of ? core_plan_dict(of) : NULL;
    if (answer && add_xla(self, program, answer)) Py_CLEAR(answer);
    core_leave();
    return answer;
}

/* profile(program): a dict for each step of its plan. */
static PyObject *profile(PyObject *self, PyObject *args) {
    static const char *const phases[] = {
        [EBB_FORWARD] = "forward", [EBB_BACKWARD] = "backward", [EBB_UPDATE] = "update"};
    unsigned program;
    ebb_plan_summary s;
    ebb_step_times t;
    ebb_status status = EBB_OK;
    if (!PyArg_ParseTuple(args, "I", &program) || !core_enter()) return NULL;
    const ebb_plan *of = plan_of(self, program);
    PyObject *rows = of ? PyList_New(0) : NULL;
    if (of) ebb_plan_summarize(of, &s);
    for (uint32_t i = 0; rows && !status && i < s.n_steps; i++) {
        status = ebb_trace_step_times(trace_of(self), program, i, &t);
        if (status) break;
        PyObject *row =
            Py_BuildValue("{s:s,s:s,s:s,s:O,s:L,s:L,s:L,s:L,s:I}", "name", t.name, "kind", t.kind, "phase",
                          phases[t.phase], "recomputed", t.recompute ? Py_True : Py_False, "bytes",
                          (long long)t.bytes, "predicted_ns", (long long)t.predicted_ns, "median_ns",
                          (long long)t.median_ns, "least_ns", (long long)t.least_ns, "n_runs", t.n_runs);
        if (!row || PyList_Append(rows, row)) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    if (status) {
        Py_CLEAR(rows);
        core_raise_trace(status);
    }
    core_leave();
    return rows;
}

static PyObject *plan_write(PyObject *self, PyObject *args) {
    unsigned program;
    const char *path;
    if (!PyArg_ParseTuple(args, "Is", &program, &path) || !core_enter()) return NULL;
    const ebb_plan *of = plan_of(self, program);
    const ebb_status status = of ? ebb_plan_write(core.env, of, path) : EBB_OK;
    if (status) core_raise(status);
    core_leave();
    return status || !of ? NULL : Py_NewRef(Py_None);
}

static int format_read(const char *name, ebb_report_format *out) {
    static const char *const names[] = {
        [EBB_REPORT_TEXT] = "text", [EBB_REPORT_JSON] = "json",   [EBB_REPORT_MARKDOWN] = "markdown",
        [EBB_REPORT_HTML] = "html", [EBB_REPORT_TRACE] = "trace", [EBB_REPORT_MEGENGINE] = "megengine"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (ebb_report_format)i;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "format is text, json, markdown, html, trace or megengine, not \"%s\"",
                 name);
    return -1;
}

static const char *place_of(const void *trace, const char *name) {
    return ebb_trace_place(trace, name);
}

/* report_write(program, format, path) */
static PyObject *report_write(PyObject *self, PyObject *args) {
    unsigned program;
    const char *name, *path;
    ebb_report_format format;
    ebb_report *report = NULL;
    if (!PyArg_ParseTuple(args, "Iss", &program, &name, &path) || format_read(name, &format) ||
        !core_enter())
        return NULL;
    const ebb_plan *of = plan_of(self, program);
    ebb_status status = EBB_OK;
    if (of) {
        const ebb_report_sources sources = {.place = place_of, .place_ctx = trace_of(self)};
        core_long call = core_long_begin(true);
        status = ebb_report_make(core.env, of, "the traced step", &sources, &report);
        if (!status) status = ebb_report_write(core.env, report, format, path);
        ebb_report_destroy(report);
        core_long_end(&call);
    }
    if (status) core_raise(status);
    core_leave();
    return status || !of ? NULL : Py_NewRef(Py_None);
}

static PyObject *text(PyObject *self, PyObject *args) {
    unsigned program;
    int unfused = 0;
    char *written = NULL;
    if (!PyArg_ParseTuple(args, "I|p", &program, &unfused) || !core_enter()) return NULL;
    const ebb_status status = unfused ? ebb_trace_text_unfused(trace_of(self), program, &written)
                                      : ebb_trace_text(trace_of(self), program, &written);
    PyObject *answer = status ? core_raise_trace(status) : PyUnicode_FromString(written);
    if (!status) ebb_trace_text_free(trace_of(self), written);
    core_leave();
    return answer;
}

/* ---- what a file of it needs ------------------------------------------------------------------------- */

/* given(): (name, kind, argument or None, tensor or None) of each value that the last call was given. */
static PyObject *given(PyObject *self, PyObject *none) {
    static const char *const kinds[] = {[EBB_GIVEN_ARGUMENT] = "argument",
                                        [EBB_GIVEN_TENSOR] = "tensor",
                                        [EBB_GIVEN_CONSTANT] = "constant",
                                        [EBB_GIVEN_IMPORT] = "import"};
    ebb_trace_given g;
    ebb_status status = EBB_OK;
    (void)none;
    if (!core_enter()) return NULL;
    PyObject *rows = PyList_New(0);
    const uint32_t n = ebb_trace_n_given(trace_of(self));
    for (uint32_t i = 0; rows && i < n; i++) {
        status = ebb_trace_given_at(trace_of(self), i, &g);
        if (status) break;
        PyObject *tensor = g.tensor ? core_wrap(g.tensor) : Py_NewRef(Py_None);
        PyObject *row = tensor ? Py_BuildValue("(ssIN)", g.name, kinds[g.kind], g.argument, tensor) : NULL;
        if (!row || PyList_Append(rows, row)) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    if (status) {
        Py_CLEAR(rows);
        core_raise_trace(status);
    }
    core_leave();
    return rows;
}

/* returned(i): the name of the i-th tensor that the last call returned, or "". */
static PyObject *returned(PyObject *self, PyObject *args) {
    unsigned i;
    char name[EBB_TRACE_NAME];
    if (!PyArg_ParseTuple(args, "I", &i) || !core_enter()) return NULL;
    const ebb_status status = ebb_trace_returned_at(trace_of(self), i, name);
    if (status) core_raise_trace(status);
    core_leave();
    return status ? NULL : PyUnicode_FromString(name);
}

PyMethodDef core_trace_fact_methods[] = {
    {"facts", facts, METH_NOARGS, "facts(): recordings, calls and programs so far, a dict"},
    {"plan", plan, METH_VARARGS, "plan(program): the figures of its plan, a dict"},
    {"plan_write", plan_write, METH_VARARGS, "plan_write(program, path): as ebb.plan/1"},
    {"report_write", report_write, METH_VARARGS, "report_write(program, format, path)"},
    {"profile", profile, METH_VARARGS, "profile(program): its steps' times, a list of dicts"},
    {"given", given, METH_NOARGS, "given(): name, kind, argument and data of what the last call was given"},
    {"returned", returned, METH_VARARGS, "returned(i): the name of a result, or \"\""},
    {"text", text, METH_VARARGS, "text(program, unfused=False): the graph, as docs/ir.md says"},
    {NULL, NULL, 0, NULL}};
