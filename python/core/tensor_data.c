/* Data into tensors and out of them. */
#include "core.h"

#include <math.h>

const int core_element_bytes[CORE_N_ELEMENTS] = {4, 8, 4, 1, 1, 2, 2, 1, 2};

/* ---- data in ----------------------------------------------------------------------------------------- */

int core_read_sizes(PyObject *sequence, int64_t sizes[EBB_TENSOR_MAX_RANK], uint32_t *n) {
    const Py_ssize_t count = PySequence_Size(sequence);
    if (count < 0) return -1;
    if (count > EBB_TENSOR_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "%R has %zd numbers, more than %d", sequence, count,
                     EBB_TENSOR_MAX_RANK);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        PyObject *whole = item ? PyNumber_Index(item) : NULL;
        sizes[i] = whole ? PyLong_AsLongLong(whole) : -1;
        Py_XDECREF(whole);
        Py_XDECREF(item);
        if (PyErr_Occurred()) return -1;
    }
    *n = (uint32_t)count;
    return 0;
}

static bool element_check(int element) {
    if (element >= 0 && element < CORE_N_ELEMENTS) return true;
    PyErr_Format(PyExc_ValueError, "no element %d", element);
    return false;
}

/* _create(buffer, element, shape): the value of self from row-major data. */
PyObject *core_tensor_create(PyObject *self, PyObject *args) {
    PyObject *data, *shape;
    ebb_tensor_type type = {.rank = 0};
    Py_buffer buffer;
    int element;
    if (!PyArg_ParseTuple(args, "OiO", &data, &element, &shape) || !element_check(element) ||
        core_read_sizes(shape, type.dim, &type.rank) ||
        PyObject_GetBuffer(data, &buffer, PyBUF_C_CONTIGUOUS))
        return NULL;
    PyObject *answer = NULL;
    Py_ssize_t bytes = core_element_bytes[element];
    for (uint32_t d = 0; d < type.rank; d++) {
        if (type.dim[d] > 0 && bytes <= PY_SSIZE_T_MAX / type.dim[d])
            bytes *= type.dim[d];
        else
            bytes = -1;
        if (bytes < 0) break;
    }
    type.element = (ebb_element)element;
    if (bytes != buffer.len) {
        PyErr_Format(PyExc_ValueError,
                     "tensor: %zd bytes of data for the shape %R, whose sizes must be 1 or more",
                     buffer.len, shape);
    } else if (core_enter()) {
        ebb_tensor *made = NULL;
        const ebb_status status = ebb_tensor_create(core.eager, &type, buffer.buf, &made);
        answer = status ? core_raise(status) : core_tensor_set((core_tensor *)self, made);
        core_leave();
    }
    PyBuffer_Release(&buffer);
    return answer;
}

static bool one_element(const ebb_tensor_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (type->dim[d] != 1) return false;
    }
    return true;
}

/* ---- data out ---------------------------------------------------------------------------------------- */

/* Within core_enter. */
static ebb_status read_long(ebb_tensor *handle, void *data, size_t bytes) {
    core_long call = core_long_begin(bytes > 4096);
    const ebb_status status = ebb_tensor_read(handle, data, bytes);
    core_long_end(&call);
    return status;
}

/* _read(buffer): all elements, row-major. */
PyObject *core_tensor_read(PyObject *self, PyObject *into) {
    Py_buffer buffer;
    if (((core_tensor *)self)->sizes) Py_RETURN_NONE;
    ebb_tensor *handle = core_handle(self);
    if (!handle || PyObject_GetBuffer(into, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)) return NULL;
    PyObject *answer = NULL;
    if (core_enter()) {
        const ebb_status status = read_long(handle, buffer.buf, (size_t)buffer.len);
        answer = status ? core_raise_trace(status) : Py_NewRef(Py_None);
        core_leave();
    }
    PyBuffer_Release(&buffer);
    return answer;
}

/* A number of IEEE 754's binary16. */
static double half_number(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double x = ldexp(exponent ? fraction + 1024 : fraction, exponent ? exponent - 25 : -24);
    if (exponent == 31) x = fraction ? (double)NAN : (double)INFINITY;
    return bits >> 15 ? -x : x;
}

/* The upper half of a float. */
static double bfloat_number(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

PyObject *core_tensor_item(PyObject *self, PyObject *none) {
    (void)none;
    ebb_tensor *const handle = ((core_tensor *)self)->handle;
    ebb_tensor_type type;
    union {
        float f32;
        double f64;
        int32_t i32;
        uint16_t u16;
        uint8_t u8;
        int8_t i8;
        int16_t i16;
    } one;
    if (!core_tensor_type_of(self, &type)) return NULL;
    const size_t bytes = (size_t)core_element_bytes[type.element];
    if (!one_element(&type)) {
        PyObject *shape = core_sizes_tuple(type.dim, type.rank);
        PyErr_Format(PyExc_ValueError, "only a tensor of one element is a number, not one of shape %R",
                     shape);
        Py_XDECREF(shape);
        return NULL;
    }
    if (!core_enter()) return NULL;
    const ebb_status status = read_long(handle, &one, bytes);
    if (status) core_raise_trace(status);
    core_leave();
    if (status) return NULL;
    switch (type.element) {
    case EBB_FLOAT32:
        return PyFloat_FromDouble((double)one.f32);
    case EBB_FLOAT64:
        return PyFloat_FromDouble(one.f64);
    case EBB_FLOAT16:
        return PyFloat_FromDouble(half_number(one.u16));
    case EBB_BFLOAT16:
        return PyFloat_FromDouble(bfloat_number(one.u16));
    case EBB_INT32:
        return PyLong_FromLong(one.i32);
    case EBB_UINT8:
        return PyLong_FromLong(one.u8);
    case EBB_INT8:
        return PyLong_FromLong(one.i8);
    case EBB_INT16:
        return PyLong_FromLong(one.i16);
    default:
        return PyBool_FromLong(one.u8);
    }
}

static PyObject *through_item(PyObject *self, PyObject *(*as)(PyObject *)) {
    PyObject *item = core_tensor_item(self, NULL);
    PyObject *answer = item ? as(item) : NULL;
    Py_XDECREF(item);
    return answer;
}

PyObject *core_tensor_int(PyObject *self) {
    return through_item(self, PyNumber_Long);
}

PyObject *core_tensor_float(PyObject *self) {
    return through_item(self, PyNumber_Float);
}

PyObject *core_tensor_index(PyObject *self) {
    return through_item(self, PyNumber_Index);
}

int core_tensor_bool(PyObject *self) {
    PyObject *item = core_tensor_item(self, NULL);
    const int answer = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return answer;
}
