/* Where the caller's program is: the innermost frame that is not of the package itself. */
#include "core.h"

static bool of_package(PyObject *file) {
    const Py_ssize_t n = PyUnicode_GetLength(core.package);
    PyObject *start = PyUnicode_Substring(file, 0, n);
    const bool own = start && PyUnicode_Compare(start, core.package) == 0;
    Py_XDECREF(start);
    return own;
}

/* "train.py:12" of a frame; false: it is the package's, or it does not say. */
static bool frame_place(PyObject *frame, char text[EBB_TRACE_PLACE]) {
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    PyObject *file = code ? PyObject_GetAttr(code, core.co_filename) : NULL;
    bool told = false;
    if (file && PyUnicode_Check(file) && !of_package(file)) {
        const char *path = PyUnicode_AsUTF8AndSize(file, NULL);
        const char *name = path ? strrchr(path, '/') : NULL;
        if (path) {
            (void)snprintf(text, EBB_TRACE_PLACE, "%s:%d", name ? name + 1 : path,
                           PyFrame_GetLineNumber((PyFrameObject *)frame));
            told = true;
        }
    }
    Py_XDECREF(file);
    Py_XDECREF(code);
    return told;
}

void core_place(void *ctx, char text[EBB_TRACE_PLACE]) {
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *traceback;
    (void)ctx;
    text[0] = '\0';
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame && frame != Py_None && !frame_place(frame, text)) {
        PyObject *back = PyObject_GetAttr(frame, core.f_back);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(gil);
}
