/* A model as text, compiled: Program(text, options, fetch). It has parameters and a block of memory of its
 * own, apart from the process's tensors. */
#include "core.h"

typedef struct core_loaded {
    ebb_model *model;
    ebb_engine *engine; /* borrows the model and the names */
    ebb_program *program;
    char **fetch; /* names of values that outlive the step */
    uint32_t n_fetch;
} core_loaded;

typedef struct core_program {
    PyObject_HEAD core_loaded *loaded;
} core_program;

static void loaded_destroy(void *what) {
    core_loaded *loaded = what;
    ebb_engine_destroy(loaded->engine);
    ebb_model_destroy(loaded->model);
    for (uint32_t i = 0; i < loaded->n_fetch; i++) free(loaded->fetch[i]);
    free(loaded->fetch);
    free(loaded);
}

static ebb_program *program_of(PyObject *self) {
    return ((core_program *)self)->loaded->program;
}

static ebb_status compile(core_loaded *to, const char *text, size_t n, const ebb_options *plan) {
    ebb_options options = *plan;
    options.device = core.device;
    options.direct_conv = core.direct_conv;
    options.fetch = (const char *const *)to->fetch;
    options.n_fetch = to->n_fetch;
    ebb_status status = ebb_model_parse(core.env, "a loaded graph", text, n, &to->model);
    if (!status) status = ebb_engine_create(core.env, to->model, &options, &to->engine);
    if (!status) status = ebb_compile(to->engine, NULL, 0, &to->program);
    return status;
}

/* The strings of a sequence, copied: they are to live as long as the engine. -1 with an exception. */
static int fetch_read(PyObject *sequence, core_loaded *to) {
    const Py_ssize_t n = sequence ? PySequence_Size(sequence) : 0;
    if (n < 0) return -1;
    to->fetch = calloc((size_t)n + 1, sizeof *to->fetch);
    if (!to->fetch || n > UINT32_MAX) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        const char *text = item && PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        to->fetch[i] = text ? strdup(text) : NULL;
        if (!text && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "expected a string, got %R", item);
        if (text && !to->fetch[i]) PyErr_NoMemory();
        Py_XDECREF(item);
        if (PyErr_Occurred()) return -1;
        to->n_fetch++;
    }
    return 0;
}

static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *dict, *fetch = NULL;
    const char *text;
    Py_ssize_t n;
    ebb_trace_options options;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "s#O!|O", &text, &n, &PyDict_Type, &dict, &fetch) ||
        core_trace_options_read(dict, &options))
        return NULL;
    core_program *self = (core_program *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->loaded = calloc(1, sizeof *self->loaded);
    if (!self->loaded || fetch_read(fetch, self->loaded) || !core_enter()) {
        Py_DECREF(self);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    core_long call = core_long_begin(true);
    const ebb_status status = compile(self->loaded, text, (size_t)n, &options.plan);
    core_long_end(&call);
    if (status) core_raise(status);
    core_leave();
    if (status) Py_CLEAR(self);
    return (PyObject *)self;
}

static void program_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (((core_program *)object)->loaded) core_bury(((core_program *)object)->loaded, loaded_destroy);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* tensor(name): (element, shape) */
static PyObject *tensor(PyObject *self, PyObject *args) {
    const char *name;
    ebb_tensor_info info;
    if (!PyArg_ParseTuple(args, "s", &name) || !core_enter()) return NULL;
    const ebb_status status = ebb_program_tensor(program_of(self), name, &info);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL : Py_BuildValue("(iN)", (int)info.element, core_sizes_tuple(info.dim, info.rank));
}

static PyObject *transfer(PyObject *args, int flags, PyObject *self, bool in) {
    const char *name;
    PyObject *data;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(args, "sO", &name, &data) || PyObject_GetBuffer(data, &buffer, flags))
        return NULL;
    ebb_status status = EBB_INTERNAL;
    if (core_enter()) {
        core_long call = core_long_begin(false);
        status = in ? ebb_feed(program_of(self), name, buffer.buf, (size_t)buffer.len)
                    : ebb_fetch(program_of(self), name, buffer.buf, (size_t)buffer.len);
        core_long_end(&call);
        if (status) core_raise(status);
        core_leave();
    }
    PyBuffer_Release(&buffer);
    return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *feed(PyObject *self, PyObject *args) {
    return transfer(args, PyBUF_C_CONTIGUOUS, self, true);
}

static PyObject *fetch(PyObject *self, PyObject *args) {
    return transfer(args, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE, self, false);
}

/* view(name): a buffer that is a param's or state's own bytes, in storage order. It keeps the program. */
static PyObject *view(PyObject *self, PyObject *args) {
    const char *name;
    void *at;
    size_t bytes;
    if (!PyArg_ParseTuple(args, "s", &name) || !core_enter()) return NULL;
    const ebb_status status = ebb_param_bytes(program_of(self), name, &at, &bytes);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL : core_bytes_create(self, at, (Py_ssize_t)bytes);
}

static PyObject *block_bytes(PyObject *self, PyObject *none) {
    (void)none;
    if (!core_enter()) return NULL;
    const int64_t bytes = ebb_engine_block_bytes(((core_program *)self)->loaded->engine);
    core_leave();
    return PyLong_FromLongLong(bytes);
}

static PyObject *step(PyObject *self, PyObject *none) {
    (void)none;
    if (!core_enter()) return NULL;
    core_long call = core_long_begin(true);
    const ebb_status status = ebb_step(program_of(self));
    core_long_end(&call);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *plan(PyObject *self, PyObject *none) {
    (void)none;
    if (!core_enter()) return NULL;
    PyObject *answer = core_plan_dict(ebb_program_plan(program_of(self)));
    core_leave();
    return answer;
}

static PyMethodDef methods[] = {
    {"tensor", tensor, METH_VARARGS, "tensor(name): (element, shape)"},
    {"feed", feed, METH_VARARGS, "feed(name, buffer): an input or parameter, row-major"},
    {"fetch", fetch, METH_VARARGS, "fetch(name, buffer): an output or parameter, row-major"},
    {"view", view, METH_VARARGS, "view(name): a parameter's own bytes, in storage order"},
    {"block_bytes", block_bytes, METH_NOARGS, "block_bytes(): of the one block that it holds"},
    {"step", step, METH_NOARGS, "step(): runs the program once"},
    {"plan", plan, METH_NOARGS, "plan(): the figures of its plan, a dict"},
    {NULL, NULL, 0, NULL}};

PyTypeObject *core_program_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A model as text, compiled: Program(text, options: dict, fetch: names)"},
        {Py_tp_new, program_new},
        {Py_tp_dealloc, program_dealloc},
        {Py_tp_methods, methods},
        {0, NULL}};
    static PyType_Spec spec = {.name = "ebb._core.Program",
                               .basicsize = sizeof(core_program),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
