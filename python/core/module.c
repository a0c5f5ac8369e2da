/* The functions of ebb._core. */
#include "core.h"

/* setup(tensor_class, shape_class, dtypes, convert, special, input_error, trace_error, over_budget,
 * package): what the package says of itself. */
static PyObject *setup(PyObject *module, PyObject *args) {
    PyObject *dtypes, *tensor, *shape, *convert, *special, *input_error, *trace_error, *over_budget,
        *package;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO!OOOOOU", &tensor, &shape, &PyTuple_Type, &dtypes, &convert, &special,
                          &input_error, &trace_error, &over_budget, &package))
        return NULL;
    if (PyTuple_Size(dtypes) != CORE_N_ELEMENTS || !PyType_Check(tensor) ||
        !PyType_IsSubtype((PyTypeObject *)tensor, core.tensor_base) || !PyType_Check(shape) ||
        !PyType_IsSubtype((PyTypeObject *)shape, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError,
                        "setup: subclasses of Tensor and tuple, and a dtype for each element");
        return NULL;
    }
    for (int i = 0; i < CORE_N_ELEMENTS; i++) core.dtypes[i] = Py_NewRef(PyTuple_GetItem(dtypes, i));
    core.tensor_class = (PyTypeObject *)Py_NewRef(tensor);
    core.tensor_alloc = (allocfunc)PyType_GetSlot(core.tensor_class, Py_tp_alloc);
    core.shape_class = (PyTypeObject *)Py_NewRef(shape);
    core.shape_alloc = (allocfunc)PyType_GetSlot(core.shape_class, Py_tp_alloc);
    core.convert = Py_NewRef(convert);
    core.special = Py_NewRef(special);
    core.input_error = Py_NewRef(input_error);
    core.trace_error = Py_NewRef(trace_error);
    core.over_budget = Py_NewRef(over_budget);
    core.package = Py_NewRef(package);
    core.co_filename = PyUnicode_InternFromString("co_filename");
    core.f_back = PyUnicode_InternFromString("f_back");
    if (!core.co_filename || !core.f_back) return NULL;
    Py_RETURN_NONE;
}

/* Shapes are of this class from now on, a subclass of setup's. Returns which they were. */
static PyObject *shapes(PyObject *module, PyObject *class) {
    (void)module;
    if (!PyType_Check(class) || !PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type))
        return PyErr_Format(PyExc_TypeError, "shapes: a class of tuples, not %R", class);
    PyObject *before = (PyObject *)core.shape_class;
    core.shape_class = (PyTypeObject *)Py_NewRef(class);
    core.shape_alloc = (allocfunc)PyType_GetSlot(core.shape_class, Py_tp_alloc);
    return before;
}

static PyObject *number(PyObject *module, PyObject *args) {
    int element;
    double value;
    ebb_tensor *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "id", &element, &value)) return NULL;
    if (element < 0 || element >= CORE_N_ELEMENTS)
        return PyErr_Format(PyExc_ValueError, "no element %d", element);
    if (!core_enter()) return NULL;
    const ebb_status status = ebb_tensor_number(core.eager, (ebb_element)element, value, &made);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL : core_wrap(made);
}

static PyObject *seed(PyObject *module, PyObject *number_object) {
    const unsigned long long value = PyLong_AsUnsignedLongLongMask(number_object);
    (void)module;
    if (PyErr_Occurred() || !core_enter()) return NULL;
    core.seed = value;
    ebb_eager_seed(core.eager, value);
    core_leave();
    Py_RETURN_NONE;
}

/* draws(): (seed, how many ops have drawn since). draw_on(seed, draws): from there. */
static PyObject *draws(PyObject *module, PyObject *none) {
    uint64_t seed_now;
    (void)module, (void)none;
    if (!core_enter()) return NULL;
    const uint64_t n = ebb_eager_draws(core.eager, &seed_now);
    core_leave();
    return Py_BuildValue("KK", (unsigned long long)seed_now, (unsigned long long)n);
}

static PyObject *draw_on(PyObject *module, PyObject *args) {
    unsigned long long seed_then, n;
    (void)module;
    if (!PyArg_ParseTuple(args, "KK", &seed_then, &n) || !core_enter()) return NULL;
    core.seed = seed_then;
    ebb_eager_draw_on(core.eager, seed_then, n);
    core_leave();
    Py_RETURN_NONE;
}

/* device(): its name; device(name): chooses it, before it is used. */
static PyObject *device(PyObject *module, PyObject *args) {
    const char *name = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "|s", &name)) return NULL;
    if (name && strcmp(name, core.device) != 0) {
        if (core.eager)
            return PyErr_Format(
                PyExc_RuntimeError,
                "device %s: %s is in use: choose before the first tensor is made, or set EBB_DEVICE", name,
                core.device);
        if (strlen(name) >= sizeof core.device)
            return PyErr_Format(PyExc_ValueError, "a device's name has at most %zu characters",
                                sizeof core.device - 1);
        (void)snprintf(core.device, sizeof core.device, "%s", name);
    }
    return PyUnicode_FromString(core.device);
}

/* devices(): (name, available, why) of each backend. */
static PyObject *devices(PyObject *module, PyObject *none) {
    bool available;
    const char *why, *name;
    (void)module, (void)none;
    if (!core_enter_env()) return NULL;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && (name = ebb_device_at(core.env, i, &available, &why)); i++) {
        PyObject *row = Py_BuildValue("(sOz)", name, available ? Py_True : Py_False, why);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    core_leave();
    return list;
}

/* device_memory(path): (name, bytes, those that its context takes) of a device's description. */
static PyObject *device_memory(PyObject *module, PyObject *args) {
    const char *path;
    ebb_device_memory m;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &path) || !core_enter_env()) return NULL;
    const ebb_status status = ebb_device_memory_read(core.env, path, &m);
    if (status) core_raise(status);
    core_leave();
    return status ? NULL
                  : Py_BuildValue("(sLL)", m.name, (long long)m.memory_bytes, (long long)m.context_bytes);
}

/* xla(): (available, a plugin's version and file, or why there is none). */
static PyObject *xla(PyObject *module, PyObject *none) {
    char what[1200];
    (void)module, (void)none;
    if (!core_enter_env()) return NULL;
    const bool here = ebb_xla_here(core.env, what);
    core_leave();
    return Py_BuildValue("(Os)", here ? Py_True : Py_False, what);
}

static PyObject *memory(PyObject *module, PyObject *none) {
    ebb_eager_memory m;
    (void)module, (void)none;
    if (!core_enter()) return NULL;
    ebb_eager_memory_now(core.eager, &m);
    core_leave();
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "pool_bytes", (long long)m.pool_bytes,
                         "live_bytes", (long long)m.live_bytes, "peak_live_bytes",
                         (long long)m.peak_live_bytes, "arena_bytes", (long long)m.arena_bytes,
                         "peak_bytes", (long long)m.peak_bytes, "n_values", (long long)m.n_values,
                         "n_launches", (long long)m.n_launches);
}

static PyObject *with_eager(void (*what)(ebb_eager *)) {
    if (!core_enter()) return NULL;
    what(core.eager);
    core_leave();
    Py_RETURN_NONE;
}

static PyObject *reset_peak(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return with_eager(ebb_eager_reset_peak);
}

static PyObject *trim(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return with_eager(ebb_eager_trim);
}

static PyMethodDef functions[] = {
    {"setup", setup, METH_VARARGS, "what the package says of itself"},
    {"shapes", shapes, METH_O, "shapes(class): of what class shapes are from now on"},
    {"op", core_op_named, METH_O, "op(name): an op of docs/ir.md"},
    {"number", number, METH_VARARGS, "number(element, value): a scalar that is a part of the program"},
    {"maximum", core_maximum, METH_VARARGS, "maximum(a, b)"},
    {"minimum", core_minimum, METH_VARARGS, "minimum(a, b)"},
    {"seed", seed, METH_O, "seed(int): random ops draw from here"},
    {"draws", draws, METH_NOARGS, "draws(): the seed, and how many ops have drawn since"},
    {"draw_on", draw_on, METH_VARARGS, "draw_on(seed, draws): random ops draw on from there"},
    {"device", device, METH_VARARGS, "device([name]): the process's device"},
    {"devices", devices, METH_NOARGS, "devices(): (name, available, why) of each backend"},
    {"device_memory", device_memory, METH_VARARGS,
     "device_memory(path): (name, bytes, its context's) of a device's description"},
    {"plan", core_plan, METH_VARARGS, "plan(graph, options): ebb.graph/1 as bytes becomes ebb.plan/1"},
    {"report", core_report, METH_VARARGS, "report(plan, path, format): of a plan in a file"},
    {"export_onnx", core_export_onnx, METH_VARARGS,
     "export_onnx(text, weights, path): a graph and a file of its tensors, as ONNX"},
    {"parse_bytes", core_parse_bytes, METH_O, "parse_bytes(text): \"11GiB\" as a number"},
    {"xla", xla, METH_NOARGS, "xla(): (available, what plugin, or why there is none)"},
    {"memory", memory, METH_NOARGS, "memory(): figures of the pool, a dict"},
    {"reset_peak", reset_peak, METH_NOARGS, "reset_peak(): peak_live_bytes and peak_bytes begin anew"},
    {"trim", trim, METH_NOARGS, "trim(): free blocks go back to the device"},
    {NULL, NULL, 0, NULL}};

static int type_add(PyObject *module, const char *name, PyTypeObject *type) {
    return type ? PyModule_AddObjectRef(module, name, (PyObject *)type) : -1;
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "ebb._core", .m_size = -1,
                                     .m_methods = functions};
    PyObject *module = PyModule_Create(&definition);
    if (!module || core_process_init() || core_operators_init()) goto fail;
    core.tensor_base = core_tensor_type(module);
    if (type_add(module, "Tensor", core.tensor_base) || type_add(module, "Op", core_op_type(module)) ||
        type_add(module, "Tape", core_tape_type(module)) ||
        type_add(module, "Sweep", core_sweep_type(module)) ||
        type_add(module, "Trace", core_trace_type(module)) ||
        type_add(module, "Program", core_program_type(module)) ||
        type_add(module, "View", core_view_type(module)) ||
        type_add(module, "Bytes", core_bytes_type(module)) ||
        PyModule_AddStringConstant(module, "version", ebb_version()))
        goto fail;
    return module;
fail:
    Py_XDECREF(module);
    return NULL;
}
