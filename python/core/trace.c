/* Calls that become plans (ebb/trace.h). The package says what a call's key is, and which tensors are its
 * arguments. */
#include "core.h"

static void trace_destroy(void *what) {
    ebb_trace_destroy(what);
}

static PyObject *trace_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *dict;
    ebb_trace_options options;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &dict) || core_trace_options_read(dict, &options))
        return NULL;
    core_trace *self = (core_trace *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->options = Py_NewRef(dict);
    options.where = core_place;
    if (!core_enter()) {
        Py_DECREF(self);
        return NULL;
    }
    const ebb_status status = ebb_trace_create(core.eager, &options, &self->trace);
    if (status) core_raise(status);
    core_leave();
    if (status) Py_CLEAR(self);
    return (PyObject *)self;
}

/* A function that is told of progress may know the trace. The dict, which can be cleared, ends the circle.
 */
static int trace_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_trace *)self)->options);
    return 0;
}

static void trace_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    core_trace *trace = (core_trace *)self;
    core_bury(trace->trace, trace_destroy);
    Py_CLEAR(trace->options);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- a call ------------------------------------------------------------------------------------------ */

/* begin(key: bytes, arguments) */
static PyObject *trace_begin(PyObject *self, PyObject *args) {
    core_trace *trace = (core_trace *)self;
    PyObject *list;
    const char *key;
    Py_ssize_t n_key;
    ebb_tensor **handles;
    uint32_t n;
    if (!PyArg_ParseTuple(args, "y#O", &key, &n_key, &list) || core_read_handles(list, false, &handles, &n))
        return NULL;
    ebb_status status = EBB_INTERNAL;
    const bool entered = core_enter();
    if (entered) {
        core_long call = core_long_begin(true);
        status = ebb_trace_begin(trace->trace, key, (size_t)n_key, handles, n);
        core_long_end(&call);
        if (status) core_raise_trace(status);
        core_leave();
    }
    PyMem_Free(handles);
    if (!status) trace->open = true;
    return status ? NULL : Py_NewRef(Py_None);
}

/* end(returned) */
static PyObject *trace_end(PyObject *self, PyObject *returned) {
    core_trace *trace = (core_trace *)self;
    ebb_tensor **handles;
    uint32_t n;
    if (core_read_handles(returned, false, &handles, &n)) return NULL;
    ebb_status status = EBB_INTERNAL;
    if (core_enter()) {
        core_long call = core_long_begin(true);
        status = ebb_trace_end(trace->trace, handles, n);
        core_long_end(&call);
        trace->open = false; /* a failure aborts the call, too */
        if (status) core_raise_trace(status);
        core_leave();
    }
    PyMem_Free(handles);
    return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *trace_abort(PyObject *self, PyObject *none) {
    core_trace *trace = (core_trace *)self;
    (void)none;
    if (!trace->open) Py_RETURN_NONE;
    if (!core_enter()) return NULL;
    ebb_trace_abort(trace->trace);
    trace->open = false;
    core_leave();
    Py_RETURN_NONE;
}

static PyObject *exclude(PyObject *self, ebb_status (*step)(ebb_trace *)) {
    if (!core_enter()) return NULL;
    core_long call = core_long_begin(true);
    const ebb_status status = step(((core_trace *)self)->trace);
    core_long_end(&call);
    if (status) core_raise_trace(status);
    core_leave();
    return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *trace_exclude_begin(PyObject *self, PyObject *none) {
    (void)none;
    return exclude(self, ebb_trace_exclude_begin);
}

static PyObject *trace_exclude_end(PyObject *self, PyObject *none) {
    (void)none;
    return exclude(self, ebb_trace_exclude_end);
}

static PyObject *trace_may_differ(PyObject *self, PyObject *on) {
    const int truth = PyObject_IsTrue(on);
    if (truth < 0 || !core_enter()) return NULL;
    const bool before = ebb_trace_may_differ(((core_trace *)self)->trace, truth != 0);
    core_leave();
    return PyBool_FromLong(before);
}

/* beside(holder, tensor) */
static PyObject *trace_beside(PyObject *self, PyObject *args) {
    PyObject *first, *second;
    if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
    ebb_tensor *holder = core_handle(first), *tensor = holder ? core_handle(second) : NULL;
    if (!tensor || !core_enter()) return NULL;
    const ebb_status status = ebb_trace_beside(((core_trace *)self)->trace, holder, tensor);
    if (status) core_raise_trace(status);
    core_leave();
    return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *trace_rekey(PyObject *self, PyObject *key) {
    char *bytes;
    Py_ssize_t n;
    if (PyBytes_AsStringAndSize(key, &bytes, &n) != 0 || !core_enter()) return NULL;
    const ebb_status status = ebb_trace_rekey(((core_trace *)self)->trace, bytes, (size_t)n);
    if (status) core_raise_trace(status);
    core_leave();
    return status ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"begin", trace_begin, METH_VARARGS, "begin(key, arguments): a call begins"},
    {"end", trace_end, METH_O, "end(returned): what has not run runs"},
    {"abort", trace_abort, METH_NOARGS, "abort(): the call failed; what it assigned is taken back"},
    {"exclude_begin", trace_exclude_begin, METH_NOARGS,
     "ops run at once from here on, and are not recorded"},
    {"exclude_end", trace_exclude_end, METH_NOARGS, "until here"},
    {"beside", trace_beside, METH_VARARGS,
     "beside(holder, tensor): what the holder has beside it in this call, its gradient"},
    {"rekey", trace_rekey, METH_O, "rekey(key): the recording that this call makes has another key"},
    {"may_differ", trace_may_differ, METH_O,
     "may_differ(on): what differs is recorded anew, under strict, too; whether it was on"},
};

static PyTypeObject *trace_class;

bool core_is_trace(PyObject *object) {
    return PyObject_TypeCheck(object, trace_class);
}

PyTypeObject *core_trace_type(PyObject *module) {
    enum { N = sizeof methods / sizeof *methods, MOST = N + 16 };
    static PyMethodDef all[MOST];
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"Calls of a function, recorded and compiled: Trace(options: dict)"},
        {Py_tp_new, trace_new},
        {Py_tp_dealloc, trace_dealloc},
        {Py_tp_traverse, trace_traverse},
        {Py_tp_methods, all},
        {0, NULL}};
    static PyType_Spec spec = {.name = "ebb._core.Trace",
                               .basicsize = sizeof(core_trace),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                               .slots = slots};
    memcpy(all, methods, sizeof methods);
    for (int i = 0; N + i + 1 < MOST && core_trace_fact_methods[i].ml_name; i++)
        all[N + i] = core_trace_fact_methods[i];
    trace_class = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return trace_class;
}
