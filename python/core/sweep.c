/* Gradients piece by piece (ebb_sweep_*). */
#include "core.h"

typedef struct core_sweep {
    PyObject_HEAD ebb_sweep *sweep;
    PyObject *tape; /* lives as long */
} core_sweep;

static void sweep_destroy(void *what) {
    ebb_sweep_destroy(what);
}

/* Sweep(tape, ys, dys, of) */
static PyObject *sweep_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *tape_object, *y_list, *dy_list, *of_list;
    ebb_tensor **ys = NULL, **dys = NULL, **of = NULL;
    uint32_t n_y, n_dy, n_of;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "OOOO", &tape_object, &y_list, &dy_list, &of_list)) return NULL;
    ebb_tape *tape = core_tape_handle(tape_object);
    core_sweep *self = tape ? (core_sweep *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0) : NULL;
    if (!self) return NULL;
    bool made = false;
    if (!core_read_handles(y_list, false, &ys, &n_y) && !core_read_handles(dy_list, true, &dys, &n_dy) &&
        !core_read_handles(of_list, false, &of, &n_of)) {
        if (n_y != n_dy) {
            PyErr_Format(PyExc_ValueError, "%u values and %u gradients of them", n_y, n_dy);
        } else if (core_enter()) {
            const ebb_status status = ebb_sweep_create(tape, ys, dys, n_y, of, n_of, &self->sweep);
            if (status) core_raise(status);
            core_leave();
            made = status == EBB_OK;
        }
    }
    PyMem_Free(ys);
    PyMem_Free(dys);
    PyMem_Free(of);
    if (made) self->tape = Py_NewRef(tape_object);
    if (!made) Py_CLEAR(self);
    return (PyObject *)self;
}

static void sweep_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    core_bury(((core_sweep *)self)->sweep, sweep_destroy);
    Py_CLEAR(((core_sweep *)self)->tape);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* NULL with an exception: its tape is closed. */
static ebb_sweep *sweep_of(PyObject *self) {
    const core_sweep *sweep = (core_sweep *)self;
    return core_tape_handle(sweep->tape) ? sweep->sweep : NULL;
}

/* back(n_nodes) */
static PyObject *sweep_back(PyObject *self, PyObject *number) {
    ebb_sweep *sweep = sweep_of(self);
    const unsigned long n = sweep ? PyLong_AsUnsignedLong(number) : 0;
    if (PyErr_Occurred() || !core_enter()) return NULL;
    core_long call = core_long_begin(true);
    const ebb_status status = ebb_sweep_back(sweep, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n);
    core_long_end(&call);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL : Py_NewRef(Py_None);
}

/* get(tensor): its gradient so far, or None */
static PyObject *sweep_get(PyObject *self, PyObject *tensor) {
    const ebb_sweep *sweep = sweep_of(self);
    const ebb_tensor *handle = sweep ? core_handle(tensor) : NULL;
    ebb_tensor *out = NULL;
    if (!handle || !core_enter()) return NULL;
    const ebb_status status = ebb_sweep_get(sweep, handle, &out);
    if (status) core_raise(status);
    core_leave();
    if (status) return NULL;
    return out ? core_wrap(out) : Py_NewRef(Py_None);
}

/* set(tensor, gradient) */
static PyObject *sweep_set(PyObject *self, PyObject *args) {
    PyObject *tensor, *gradient;
    ebb_sweep *sweep = sweep_of(self);
    if (!sweep || !PyArg_ParseTuple(args, "OO", &tensor, &gradient)) return NULL;
    const ebb_tensor *of = core_handle(tensor), *given = of ? core_handle(gradient) : NULL;
    if (!given || !core_enter()) return NULL;
    const ebb_status status = ebb_sweep_set(sweep, of, given);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"back", sweep_back, METH_O, "back(n): through the ops recorded since the tape had n of them"},
    {"get", sweep_get, METH_O, "get(tensor): what has come to it, or None"},
    {"set", sweep_set, METH_VARARGS, "set(tensor, gradient): in place of what has come to it"},
    {NULL, NULL, 0, NULL}};

PyTypeObject *core_sweep_type(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_doc, (void *)"Gradients piece by piece: Sweep(tape, ys, dys, of)"},
                                  {Py_tp_new, sweep_new},
                                  {Py_tp_dealloc, sweep_dealloc},
                                  {Py_tp_methods, methods},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "ebb._core.Sweep",
                               .basicsize = sizeof(core_sweep),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
