/* The type Tensor: a handle on a value that never changes. */
#include "core.h"

static void tensor_destroy(void *what) {
    ebb_tensor_destroy(what);
}

ebb_tensor *core_handle(PyObject *object) {
    if (!core_is_tensor(object)) {
        PyErr_Format(PyExc_TypeError, "expected a Tensor, got %R", (PyObject *)Py_TYPE(object));
        return NULL;
    }
    ebb_tensor *handle = ((core_tensor *)object)->handle;
    if (!handle)
        PyErr_SetString(PyExc_ValueError, ((core_tensor *)object)->sizes
                                              ? "a tensor without elements: not here"
                                              : "this tensor was not given a value");
    return handle;
}

/* false with an exception: the library has dtypes that this package was not built for. */
static bool handle_set(core_tensor *self, ebb_tensor *handle) {
    ebb_tensor_type type;
    ebb_tensor_type_of(handle, &type);
    if ((unsigned)type.element >= CORE_N_ELEMENTS) {
        PyErr_Format(PyExc_TypeError, "a tensor of element %d: this package knows those below %d",
                     (int)type.element, CORE_N_ELEMENTS);
        return false;
    }
    self->handle = handle;
    self->element = type.element;
    Py_CLEAR(self->sizes);
    return true;
}

PyObject *core_wrap(ebb_tensor *handle) {
    PyObject *self = handle ? core.tensor_alloc(core.tensor_class, 0) : NULL;
    if (self && handle_set((core_tensor *)self, handle)) return self;
    Py_XDECREF(self);
    core_bury(handle, tensor_destroy);
    return NULL;
}

/* ---- life -------------------------------------------------------------------------------------------- */

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    const allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

static void tensor_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    core_bury(((core_tensor *)self)->handle, tensor_destroy);
    Py_CLEAR(((core_tensor *)self)->sizes);
    release(self);
    Py_DECREF(type);
}

PyObject *core_tensor_set(core_tensor *self, ebb_tensor *handle) {
    ebb_tensor *before = self->handle;
    const bool set = handle_set(self, handle);
    core_bury(set ? before : handle, tensor_destroy);
    if (!set) return NULL;
    Py_RETURN_NONE;
}

/* ---- without elements -------------------------------------------------------------------------------- */

static PyObject *sizes_set(core_tensor *self, ebb_element element, PyObject *sizes) {
    core_bury(self->handle, tensor_destroy);
    PyObject *before = self->sizes;
    self->handle = NULL;
    self->sizes = Py_NewRef(sizes);
    self->element = element;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

PyObject *core_tensor_without(PyObject *self, PyObject *args) {
    ebb_tensor_type type = {.rank = 0};
    PyObject *sizes;
    int element;
    if (!PyArg_ParseTuple(args, "iO!", &element, &PyTuple_Type, &sizes) ||
        core_read_sizes(sizes, type.dim, &type.rank))
        return NULL;
    int64_t least = 1;
    for (uint32_t d = 0; d < type.rank; d++) least = type.dim[d] < least ? type.dim[d] : least;
    if (element >= 0 && element < CORE_N_ELEMENTS && least == 0)
        return sizes_set((core_tensor *)self, (ebb_element)element, sizes);
    PyErr_Format(PyExc_ValueError, "element %d, shape %R: a tensor without elements has an axis of size 0",
                 element, sizes);
    return NULL;
}

PyObject *core_special(const char *op, PyObject *args, PyObject *kwargs) {
    PyObject *name = PyUnicode_FromString(op), *none = kwargs ? NULL : PyDict_New(), *answer = NULL;
    if (name && (kwargs || none))
        answer = PyObject_CallFunctionObjArgs(core.special, name, args, kwargs ? kwargs : none, NULL);
    Py_XDECREF(none);
    Py_XDECREF(name);
    return answer;
}

int core_replace(core_tensor *to, core_tensor *from) {
    ebb_tensor_type a, b;
    if (from->sizes) {
        PyObject *set = sizes_set(to, from->element, from->sizes);
        Py_XDECREF(set);
        return set ? 0 : -1;
    }
    if (to->sizes) { /* nothing knows the one that it was */
        ebb_tensor *given = core_handle((PyObject *)from), *shared = NULL;
        if (!given || !core_enter()) return -1;
        const ebb_status got = ebb_tensor_share(given, &shared);
        PyObject *set = got ? core_raise(got) : core_tensor_set(to, shared);
        core_leave();
        Py_XDECREF(set);
        return set ? 0 : -1;
    }
    ebb_tensor *old = core_handle((PyObject *)to), *given = old ? core_handle((PyObject *)from) : NULL;
    if (!given || !core_enter()) return -1;
    ebb_tensor_type_of(old, &a);
    ebb_tensor_type_of(given, &b);
    ebb_status status = EBB_OK;
    if (a.element == b.element && a.rank == b.rank && memcmp(a.dim, b.dim, a.rank * sizeof *a.dim) == 0) {
        status = ebb_tensor_assign(old, given);
    } else { /* another type: another handle */
        ebb_tensor *shared;
        status = ebb_tensor_share(given, &shared);
        PyObject *set = status ? NULL : core_tensor_set(to, shared);
        Py_XDECREF(set);
        if (!status && !set) {
            core_leave();
            return -1;
        }
    }
    core_leave();
    if (status) core_raise(status);
    return status ? -1 : 0;
}

bool core_tensor_type_of(PyObject *self, ebb_tensor_type *type) {
    if (((core_tensor *)self)->sizes) {
        type->element = ((core_tensor *)self)->element;
        return core_read_sizes(((core_tensor *)self)->sizes, type->dim, &type->rank) == 0;
    }
    const ebb_tensor *handle = core_handle(self);
    if (!handle || !core_enter()) return false;
    ebb_tensor_type_of(handle, type);
    core_leave();
    return true;
}

/* _share(other): self becomes another handle on the value of other. */
static PyObject *tensor_share(PyObject *self, PyObject *other) {
    if (core_is_tensor(other) && ((core_tensor *)other)->sizes)
        return sizes_set((core_tensor *)self, ((core_tensor *)other)->element,
                         ((core_tensor *)other)->sizes);
    ebb_tensor *of = core_handle(other), *made = NULL;
    if (!of || !core_enter()) return NULL;
    const ebb_status status = ebb_tensor_share(of, &made);
    PyObject *answer = status ? core_raise(status) : core_tensor_set((core_tensor *)self, made);
    core_leave();
    return answer;
}

static PyObject *tensor_replace(PyObject *self, PyObject *other) {
    if (!core_is_tensor(other)) return core_handle(other), NULL;
    if (core_replace((core_tensor *)self, (core_tensor *)other)) return NULL;
    Py_RETURN_NONE;
}

/* ---- figures ----------------------------------------------------------------------------------------- */

/* Sizes into a new tuple of n places, which is dropped on failure. */
static PyObject *sizes_fill(PyObject *tuple, const int64_t *sizes, uint32_t n) {
    for (uint32_t i = 0; tuple && i < n; i++) {
        PyObject *size = PyLong_FromLongLong(sizes[i]);
        if (!size || PyTuple_SetItem(tuple, (Py_ssize_t)i, size)) Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *core_sizes_tuple(const int64_t *sizes, uint32_t n) {
    return sizes_fill(PyTuple_New((Py_ssize_t)n), sizes, n);
}

static PyObject *get_shape(PyObject *self, void *closure) {
    ebb_tensor_type type;
    (void)closure;
    if (!core_tensor_type_of(self, &type)) return NULL;
    return sizes_fill(core.shape_alloc(core.shape_class, (Py_ssize_t)type.rank), type.dim, type.rank);
}

static PyObject *get_ndim(PyObject *self, void *closure) {
    ebb_tensor_type type;
    (void)closure;
    return core_tensor_type_of(self, &type) ? PyLong_FromLong((long)type.rank) : NULL;
}

static PyObject *get_element(PyObject *self, void *closure) {
    (void)closure;
    return ((core_tensor *)self)->sizes || core_handle(self)
               ? PyLong_FromLong((long)((core_tensor *)self)->element)
               : NULL;
}

static PyObject *get_dtype(PyObject *self, void *closure) {
    (void)closure;
    return ((core_tensor *)self)->sizes || core_handle(self)
               ? Py_NewRef(core.dtypes[((core_tensor *)self)->element])
               : NULL;
}

static PyObject *get_size(PyObject *self, void *closure) {
    ebb_tensor_type type;
    (void)closure;
    if (!core_tensor_type_of(self, &type)) return NULL;
    int64_t size = 1;
    for (uint32_t d = 0; d < type.rank; d++) size *= type.dim[d];
    return PyLong_FromLongLong(size);
}

static Py_ssize_t tensor_len(PyObject *self) {
    ebb_tensor_type type;
    if (!core_tensor_type_of(self, &type)) return -1;
    if (type.rank > 0) return (Py_ssize_t)type.dim[0];
    PyErr_SetString(PyExc_TypeError, "a tensor of no axes has no len()");
    return -1;
}

static PyMethodDef methods[] = {
    {"_create", core_tensor_create, METH_VARARGS,
     "_create(buffer, element, shape): a value from row-major data"},
    {"_without", core_tensor_without, METH_VARARGS,
     "_without(element, shape): no elements, of a shape that has a 0"},
    {"_share", tensor_share, METH_O, "_share(other): becomes another handle on the value of other"},
    {"_replace", tensor_replace, METH_O, "_replace(other): gets the value of other"},
    {"_read", core_tensor_read, METH_O, "_read(buffer): copies all elements out, row-major"},
    {"_view", core_tensor_view, METH_NOARGS, "_view(): the elements as a buffer, read in place"},
    {"_borrow", core_tensor_borrow, METH_VARARGS,
     "_borrow(buffer, element): the value is what lies there, without a copy; False: it cannot be"},
    {"item", core_tensor_item, METH_NOARGS, "item(): the one element as a Python number"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {{"shape", get_shape, NULL, "sizes of the axes, a tuple", NULL},
                                {"ndim", get_ndim, NULL, "number of axes", NULL},
                                {"size", get_size, NULL, "number of elements", NULL},
                                {"dtype", get_dtype, NULL, "a numpy.dtype", NULL},
                                {"_element", get_element, NULL, "the dtype as ebb_element", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject *core_tensor_type(PyObject *module) {
    PyType_Slot slots[CORE_MAX_OPERATOR_SLOTS + 16] = {
        {Py_tp_doc, (void *)"A handle on a value of a device"},
        {Py_tp_new, tensor_new},
        {Py_tp_dealloc, tensor_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, getters},
        {Py_mp_length, tensor_len},
    };
    size_t n = 0;
    while (slots[n].slot) n++;
    for (size_t i = 0; core_operator_slots[i].slot; i++) slots[n++] = core_operator_slots[i];
    PyType_Spec spec = {.name = "ebb._core.Tensor",
                        .basicsize = sizeof(core_tensor),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
