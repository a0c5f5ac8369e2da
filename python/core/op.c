/* Any op of docs/ir.md by name: op("conv2d")(x, w, stride=(2, 2)). */
#include "core.h"

enum { MAX_ATTRIBUTES = 16 };

typedef struct core_op {
    PyObject_HEAD const ebb_op *op;
    uint32_t n_results;
    bool moves;       /* integers of any width as they are */
    const char *text; /* of the name */
    PyObject *name;
} core_op;

static PyTypeObject *op_class;

PyObject *core_op_named(PyObject *module, PyObject *name) {
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const ebb_op *op = text ? ebb_op_named(text) : NULL;
    (void)module;
    if (!op) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "no op %R: docs/ir.md lists them", name);
        return NULL;
    }
    core_op *self = (core_op *)((allocfunc)PyType_GetSlot(op_class, Py_tp_alloc))(op_class, 0);
    if (!self) return NULL;
    self->op = op;
    self->n_results = ebb_op_n_results(op);
    self->name = Py_NewRef(name);
    self->text = text;
    self->moves = ebb_op_moves(op);
    return (PyObject *)self;
}

static void op_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_CLEAR(((core_op *)self)->name);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *op_repr(PyObject *self) {
    return PyUnicode_FromFormat("<op %U>", ((core_op *)self)->name);
}

/* ---- a call ------------------------------------------------------------------------------------------ */

typedef struct core_attributes {
    ebb_build_attribute list[MAX_ATTRIBUTES];
    int64_t sizes[MAX_ATTRIBUTES][EBB_TENSOR_MAX_RANK];
    uint32_t n;
} core_attributes;

/* True, 3 and (3, 1) are sizes; 0.5 is a real; None is left out. */
static int attribute_read(core_attributes *to, PyObject *key, PyObject *value) {
    if (value == Py_None) return 0;
    if (to->n == MAX_ATTRIBUTES) {
        PyErr_Format(PyExc_ValueError, "more than %d attributes", MAX_ATTRIBUTES);
        return -1;
    }
    ebb_build_attribute *a = &to->list[to->n];
    int64_t *sizes = to->sizes[to->n];
    a->name = PyUnicode_AsUTF8AndSize(key, NULL);
    a->sizes = sizes;
    to->n++;
    if (!a->name) return -1;
    if (PyFloat_Check(value)) {
        a->real = PyFloat_AsDouble(value);
        return 0;
    }
    if (PyTuple_Check(value) || PyList_Check(value)) return core_read_sizes(value, sizes, &a->n);
    PyObject *whole = PyNumber_Index(value);
    a->n = 1;
    sizes[0] = whole ? PyLong_AsLongLong(whole) : 0;
    Py_XDECREF(whole);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *results_wrap(ebb_tensor **out, uint32_t n) {
    if (n == 1) return core_wrap(out[0]);
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);
    for (uint32_t i = 0; i < n; i++) {
        PyObject *one = core_wrap(out[i]); /* each is taken over, come what may */
        if (tuple && (!one || PyTuple_SetItem(tuple, (Py_ssize_t)i, one))) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *op_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    const core_op *op = (core_op *)self;
    core_attributes attributes = {.n = 0};
    ebb_tensor *in[CORE_MAX_OPERANDS], *out[CORE_MAX_RESULTS] = {NULL};
    const Py_ssize_t n_in = PyTuple_Size(args);
    Py_ssize_t at = 0;
    PyObject *key, *value;
    if (n_in > CORE_MAX_OPERANDS) {
        PyErr_Format(PyExc_ValueError, "%U: %zd operands, more than %d", op->name, n_in, CORE_MAX_OPERANDS);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n_in; i++) {
        PyObject *operand = PyTuple_GetItem(args, i);
        if (core_is_tensor(operand) && core_is_special((core_tensor *)operand) &&
            (!op->moves || ((core_tensor *)operand)->sizes))
            return core_special(op->text, args, kwargs);
        in[i] = core_handle(operand);
        if (!in[i]) return NULL;
    }
    while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
        if (attribute_read(&attributes, key, value)) return NULL;
    }
    if (!core_apply(op->op, in, (uint32_t)n_in, attributes.list, attributes.n, out)) return NULL;
    return results_wrap(out, op->n_results);
}

PyTypeObject *core_op_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"An op: operands as arguments, attributes as keyword arguments"},
        {Py_tp_dealloc, op_dealloc},
        {Py_tp_repr, op_repr},
        {Py_tp_call, op_call},
        {0, NULL}};
    static PyType_Spec spec = {.name = "ebb._core.Op",
                               .basicsize = sizeof(core_op),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    op_class = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return op_class;
}
