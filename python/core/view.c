/* Views of values: a buffer that may be read and not written to, without a copy. It holds the value, so
 * that nothing is written over it. */
#include "core.h"

typedef struct core_view {
    PyObject_HEAD ebb_tensor *handle;
    const void *data;
    ebb_tensor_type type;
    Py_ssize_t shape[EBB_TENSOR_MAX_RANK], strides[EBB_TENSOR_MAX_RANK];
} core_view;

static PyTypeObject *view_class;

static void view_destroy(void *what) {
    ebb_tensor_destroy(what);
}

/* Bytes from place to place along each axis: rank 4 lies channels-last. */
static void strides_fill(core_view *view) {
    static const uint32_t channels_last[] = {0, 2, 3, 1};
    Py_ssize_t bytes = core_element_bytes[view->type.element];
    for (uint32_t i = view->type.rank; i-- > 0;) {
        const uint32_t axis = view->type.rank == 4 ? channels_last[i] : i;
        view->shape[axis] = (Py_ssize_t)view->type.dim[axis];
        view->strides[axis] = bytes;
        bytes *= view->shape[axis];
    }
}

PyObject *core_tensor_view(PyObject *self, PyObject *none) {
    ebb_tensor *handle = core_handle(self);
    (void)none;
    if (!handle) return NULL;
    core_view *view = (core_view *)((allocfunc)PyType_GetSlot(view_class, Py_tp_alloc))(view_class, 0);
    if (!view || !core_enter()) {
        Py_XDECREF((PyObject *)view);
        return NULL;
    }
    core_long call = core_long_begin(true);
    ebb_status status = ebb_tensor_bytes(handle, &view->data);
    if (!status) status = ebb_tensor_share(handle, &view->handle);
    core_long_end(&call);
    if (!status) ebb_tensor_type_of(view->handle, &view->type);
    if (status) core_raise_trace(status);
    core_leave();
    if (status) {
        Py_DECREF((PyObject *)view);
        return NULL;
    }
    strides_fill(view);
    return (PyObject *)view;
}

static void view_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    core_bury(((core_view *)self)->handle, view_destroy);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int view_buffer(PyObject *self, Py_buffer *buffer, int flags) {
#define FORMAT(NAME, rank, letter) [EBB_##NAME] = letter,
    static char formats[][2] = {CORE_ELEMENTS(FORMAT)};
    core_view *view = (core_view *)self;
    buffer->obj = NULL;
    if (flags & PyBUF_WRITABLE || (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        PyErr_SetString(PyExc_BufferError,
                        "the view of a tensor may be read, by its strides, and not written to");
        return -1;
    }
    const bool rows = view->type.rank != 4; /* rank 4 lies channels-last */
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !rows) {
        PyErr_SetString(PyExc_BufferError,
                        "a tensor of rank 4 lies channels-last: look at it by its strides");
        return -1;
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && view->type.rank > 1) {
        PyErr_SetString(PyExc_BufferError, "a tensor's first axis is not its innermost one");
        return -1;
    }
    const Py_ssize_t each = core_element_bytes[view->type.element];
    Py_ssize_t bytes = each;
    for (uint32_t d = 0; d < view->type.rank; d++) bytes *= view->shape[d];
    *buffer = (Py_buffer){.buf = (void *)(uintptr_t)view->data,
                          .obj = Py_NewRef(self),
                          .len = bytes,
                          .itemsize = each,
                          .readonly = 1,
                          .ndim = (int)view->type.rank,
                          .format = flags & PyBUF_FORMAT ? formats[view->type.element] : NULL,
                          .shape = view->shape,
                          .strides = view->strides};
    return 0;
}

/* ---- the other way ----------------------------------------------------------------------------------- */

static void buffer_release(void *ctx) {
    const PyGILState_STATE state = PyGILState_Ensure(); /* the library may be without it, in a long call */
    PyBuffer_Release(ctx);
    PyMem_Free(ctx);
    PyGILState_Release(state);
}

/* Does the buffer lie as a tensor of the shape does, where a kernel can read it? */
static bool lies_well(const Py_buffer *buffer, const core_view *like) {
    if ((uintptr_t)buffer->buf % EBB_TENSOR_ALIGNMENT != 0 || buffer->ndim != (int)like->type.rank ||
        buffer->itemsize != core_element_bytes[like->type.element])
        return false;
    for (int d = 0; d < buffer->ndim; d++) {
        if (buffer->shape[d] != like->type.dim[d] || buffer->shape[d] < 1) return false;
        if (buffer->shape[d] > 1 && buffer->strides[d] != like->strides[d]) return false;
    }
    return true;
}

/* _borrow(buffer, element): the value of self is what lies there, without a copy; False where it cannot be.
 */
PyObject *core_tensor_borrow(PyObject *self, PyObject *args) {
    PyObject *from;
    core_view like = {.handle = NULL};
    ebb_tensor *made = NULL;
    int element;
    if (!PyArg_ParseTuple(args, "Oi", &from, &element)) return NULL;
    if (element < 0 || element >= CORE_N_ELEMENTS)
        return PyErr_Format(PyExc_ValueError, "no element %d", element);
    Py_buffer *buffer = PyMem_Calloc(1, sizeof *buffer);
    if (!buffer) return PyErr_NoMemory();
    if (PyObject_GetBuffer(from, buffer, PyBUF_STRIDES)) {
        PyMem_Free(buffer);
        return NULL;
    }
    like.type = (ebb_tensor_type){.element = (ebb_element)element, .rank = (uint32_t)buffer->ndim};
    for (int d = 0; d < buffer->ndim && d < EBB_TENSOR_MAX_RANK; d++) like.type.dim[d] = buffer->shape[d];
    if (buffer->ndim <= EBB_TENSOR_MAX_RANK) strides_fill(&like);
    PyObject *answer = NULL;
    if (buffer->ndim > EBB_TENSOR_MAX_RANK || !lies_well(buffer, &like)) {
        answer = Py_NewRef(Py_False);
    } else if (core_enter()) {
        const ebb_status status =
            ebb_tensor_borrow(core.eager, &like.type, buffer->buf, buffer_release, buffer, &made);
        if (status)
            core_raise(status);
        else
            buffer = NULL;
        PyObject *set = status ? NULL : core_tensor_set((core_tensor *)self, made);
        if (set) answer = Py_NewRef(Py_True);
        Py_XDECREF(set);
        core_leave();
    }
    if (buffer) PyBuffer_Release(buffer);
    PyMem_Free(buffer);
    return answer;
}

PyTypeObject *core_view_type(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_doc, (void *)"The elements of a tensor as a buffer to be read"},
                                  {Py_tp_dealloc, view_dealloc},
                                  {Py_bf_getbuffer, view_buffer},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "ebb._core.View",
                               .basicsize = sizeof(core_view),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    view_class = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return view_class;
}
