/* Gradients of what was run. */
#include "core.h"

typedef struct core_tape {
    PyObject_HEAD ebb_tape *tape; /* NULL: closed */
} core_tape;

static void tape_destroy(void *what) {
    ebb_tape_destroy(what);
}

/* Another sequence may make its items when it is asked for them, and nothing would keep those. */
static Py_ssize_t count_of(PyObject *sequence) {
    if (PyList_Check(sequence)) return PyList_Size(sequence);
    if (PyTuple_Check(sequence)) return PyTuple_Size(sequence);
    PyErr_Format(PyExc_TypeError, "expected a list or a tuple of tensors, got %R",
                 (PyObject *)Py_TYPE(sequence));
    return -1;
}

int core_read_handles(PyObject *sequence, bool gaps, ebb_tensor ***out, uint32_t *n) {
    const Py_ssize_t count = count_of(sequence);
    *out = NULL;
    if (count < 0) return -1;
    *out = PyMem_Malloc((size_t)(count ? count : 1) * sizeof **out);
    if (!*out) {
        PyErr_NoMemory();
        return -1;
    }
    *n = (uint32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item =
            PyList_Check(sequence) ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i);
        const bool gap = gaps && item == Py_None;
        (*out)[i] = gap || !item ? NULL : core_handle(item);
        if (gap || (*out)[i]) continue;
        PyMem_Free(*out);
        *out = NULL;
        return -1;
    }
    return 0;
}

static ebb_tape *tape_of(PyObject *self) {
    ebb_tape *tape = ((core_tape *)self)->tape;
    if (!tape) PyErr_SetString(PyExc_RuntimeError, "this tape is closed: what was recorded is gone");
    return tape;
}

static PyObject *tape_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    core_tape *self = (core_tape *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    if (!core_enter()) {
        Py_DECREF(self);
        return NULL;
    }
    const ebb_status status = ebb_tape_create(core.eager, &self->tape);
    if (status) core_raise(status);
    core_leave();
    if (status) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *tape_close(PyObject *self, PyObject *none) {
    (void)none;
    core_bury(((core_tape *)self)->tape, tape_destroy);
    ((core_tape *)self)->tape = NULL;
    Py_RETURN_NONE;
}

static void tape_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    core_bury(((core_tape *)self)->tape, tape_destroy);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *tape_watch(PyObject *self, PyObject *tensor) {
    ebb_tape *tape = tape_of(self);
    const ebb_tensor *handle = tape ? core_handle(tensor) : NULL;
    if (!handle || !core_enter()) return NULL;
    const ebb_status status = ebb_tape_watch(tape, handle);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *tape_sees(PyObject *self, PyObject *tensor) {
    const ebb_tape *tape = tape_of(self);
    const ebb_tensor *handle = tape ? core_handle(tensor) : NULL;
    if (!handle || !core_enter()) return NULL;
    const bool sees = ebb_tape_sees(tape, handle);
    core_leave();
    return PyBool_FromLong(sees);
}

static PyObject *tape_pause(PyObject *self, PyObject *paused) {
    ebb_tape *tape = tape_of(self);
    const int pause = PyObject_IsTrue(paused);
    if (!tape || pause < 0 || !core_enter()) return NULL;
    ebb_tape_pause(tape, pause != 0);
    core_leave();
    Py_RETURN_NONE;
}

/* ---- gradients --------------------------------------------------------------------------------------- */

static PyObject *gradients_wrap(ebb_tensor **out, uint32_t n) {
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (uint32_t i = 0; i < n; i++) {
        PyObject *one = out[i] ? core_wrap(out[i]) : Py_NewRef(Py_None);
        if (!list)
            Py_XDECREF(one);
        else if (!one || PyList_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

/* What is asked of a tape; trace NULL: it runs op by op. */
typedef struct core_gradients {
    ebb_tensor **ys, **dys, **of;
    uint32_t n_y, n_dy, n_of;
    bool keep;
    ebb_trace *trace;
} core_gradients;

static PyObject *gradients(ebb_tape *tape, const core_gradients *g) {
    ebb_tensor **out = PyMem_Calloc(g->n_of ? g->n_of : 1, sizeof *out);
    PyObject *answer = NULL;
    if (!out) return PyErr_NoMemory();
    if (core_enter()) {
        core_long call = core_long_begin(true);
        const ebb_status status =
            g->trace
                ? ebb_trace_gradients(g->trace, tape, g->ys, g->dys, g->n_y, g->of, g->n_of, g->keep, out)
                : ebb_tape_gradients(tape, g->ys, g->dys, g->n_y, g->of, g->n_of, g->keep, out);
        core_long_end(&call);
        if (status) g->trace ? core_raise_trace(status) : core_raise(status);
        core_leave();
        if (!status) answer = gradients_wrap(out, g->n_of);
    }
    PyMem_Free(out);
    return answer;
}

/* gradients(ys, dys, of, keep=False, trace=None): a list; None where no y depends on it. */
static PyObject *tape_gradients(PyObject *self, PyObject *args) {
    PyObject *y_list, *dy_list, *of_list, *trace = Py_None, *answer = NULL;
    core_gradients g = {.ys = NULL};
    int keep = 0;
    ebb_tape *tape = tape_of(self);
    if (!tape || !PyArg_ParseTuple(args, "OOO|pO", &y_list, &dy_list, &of_list, &keep, &trace)) return NULL;
    g.keep = keep != 0;
    if (trace != Py_None && !core_is_trace(trace)) {
        PyErr_Format(PyExc_TypeError, "gradients: a trace, not %R", trace);
        return NULL;
    }
    if (trace != Py_None) g.trace = ((core_trace *)trace)->trace;
    if (!core_read_handles(y_list, false, &g.ys, &g.n_y) &&
        !core_read_handles(dy_list, true, &g.dys, &g.n_dy) &&
        !core_read_handles(of_list, false, &g.of, &g.n_of)) {
        if (g.n_y != g.n_dy)
            PyErr_Format(PyExc_ValueError, "%u values and %u gradients of them", g.n_y, g.n_dy);
        else
            answer = gradients(tape, &g);
    }
    PyMem_Free(g.ys);
    PyMem_Free(g.dys);
    PyMem_Free(g.of);
    return answer;
}

static PyObject *tape_length(PyObject *self, PyObject *none) {
    const ebb_tape *tape = tape_of(self);
    (void)none;
    return tape ? PyLong_FromUnsignedLong(ebb_tape_length(tape)) : NULL;
}

static PyTypeObject *tape_class;

ebb_tape *core_tape_handle(PyObject *object) {
    if (PyObject_TypeCheck(object, tape_class)) return tape_of(object);
    PyErr_Format(PyExc_TypeError, "expected a Tape, got %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

static PyMethodDef methods[] = {
    {"length", tape_length, METH_NOARGS, "length(): how many ops it has recorded"},
    {"watch", tape_watch, METH_O, "watch(tensor): ops on it, and on what comes of it, are recorded"},
    {"pause", tape_pause, METH_O, "pause(bool): while paused, nothing is recorded"},
    {"gradients", tape_gradients, METH_VARARGS,
     "gradients(ys, dys, of, keep=False, trace=None): a list of tensors or None; by the trace's program"},
    {"sees", tape_sees, METH_O, "sees(tensor): whether it watches its value, or has seen it made"},
    {"close", tape_close, METH_NOARGS, "close(): forgets what was recorded"},
    {NULL, NULL, 0, NULL}};

PyTypeObject *core_tape_type(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_doc, (void *)"Records ops for their gradients"},
                                  {Py_tp_new, tape_new},
                                  {Py_tp_dealloc, tape_dealloc},
                                  {Py_tp_methods, methods},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "ebb._core.Tape",
                               .basicsize = sizeof(core_tape),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    tape_class = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return tape_class;
}
