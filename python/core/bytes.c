/* Bytes of somebody else, as a buffer that keeps their owner: arrays of other libraries lie over them. */
#include "core.h"

typedef struct core_bytes {
    PyObject_HEAD PyObject *owner;
    void *at;
    Py_ssize_t n;
} core_bytes;

static PyTypeObject *bytes_type; /* the module's: made once */

static int bytes_get(PyObject *object, Py_buffer *view, int flags) {
    core_bytes *self = (core_bytes *)object;
    return PyBuffer_FillInfo(view, object, self->at, self->n, 0, flags);
}

static void bytes_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((core_bytes *)object)->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

PyTypeObject *core_bytes_type(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_doc, (void *)"Bytes of a program"},
                                  {Py_tp_dealloc, bytes_dealloc},
                                  {Py_bf_getbuffer, bytes_get},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "ebb._core.Bytes",
                               .basicsize = sizeof(core_bytes),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    bytes_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return bytes_type;
}

PyObject *core_bytes_create(PyObject *owner, void *at, Py_ssize_t n) {
    core_bytes *self = (core_bytes *)((allocfunc)PyType_GetSlot(bytes_type, Py_tp_alloc))(bytes_type, 0);
    if (!self) return NULL;
    self->owner = Py_NewRef(owner);
    self->at = at;
    self->n = n;
    return (PyObject *)self;
}
