/* ebb._core: tensors, ops, tapes and traces of Ebb for Python, by the limited API of 3.11.
 *
 *     process.c    the one env and eager of the process, its lock, interrupts, errors
 *     tensor.c     the type Tensor: a handle on a value, and its figures; tensor_data.c: data in and out
 *     view.c       a value as a buffer of Python's, without a copy
 *     operators.c  + - * / and the like; operands.c: MegEngine's promotion of dtypes
 *     op.c         any op of docs/ir.md by name, its attributes as keyword arguments
 *     tape.c       gradients of what was run; sweep.c: piece by piece
 *     trace.c      calls that become plans; trace_options.c, trace_facts.c: how, and what came of it
 *     plan.c       a planning graph in memory becomes a plan; a graph of text becomes ONNX
 *     program.c    a model of text, compiled: a file of a trace, what ebb.torch.to_model makes
 *     bytes.c      a program's bytes as a buffer
 *     place.c      "train.py:12", for errors and reports
 *     module.c     the functions of the module
 *
 * The package `ebb` is written in Python on top of it; what can be said there is not said here.
 *
 * The state is static because it is the process's: there is one default eager, as MegEngine's users expect,
 * and the number slots of a type are not told their module by the limited API. */
#ifndef EBB_PYTHON_CORE_H
#define EBB_PYTHON_CORE_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ebb/eager.h>
#include <ebb/ebb.h>
#include <ebb/trace.h>

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every ebb_element, once: of two operands' the one of the higher rank wins (python/ebb/_dtype.py), real
 * ones from CORE_LEAST_REAL on; its letter in buffers' formats. bfloat16 has none and is shown as bits. */
#define CORE_ELEMENTS(ELEMENT) \
    ELEMENT(FLOAT32, 5, "f")   \
    ELEMENT(FLOAT64, 6, "d")   \
    ELEMENT(INT32, 3, "i")     \
    ELEMENT(UINT8, 1, "B")     \
    ELEMENT(BOOL8, 0, "?")     \
    ELEMENT(FLOAT16, 4, "e")   \
    ELEMENT(BFLOAT16, 4, "H")  \
    ELEMENT(INT8, 1, "b")      \
    ELEMENT(INT16, 2, "h")
#define CORE_COUNT(NAME, rank, letter) +1
enum {
    CORE_LEAST_REAL = 4,
    CORE_N_ELEMENTS = 0 CORE_ELEMENTS(CORE_COUNT),
    CORE_MAX_OPERANDS = 64,
    CORE_MAX_RESULTS = 4
};

typedef struct core_tensor {
    PyObject_HEAD ebb_tensor *handle; /* NULL: it was not given a value yet, or has no elements */
    PyObject *sizes; /* of a tensor without elements, which the library has none of: a tuple; else NULL */
    ebb_element element; /* the value's, which can be told without asking the library */
} core_tensor;

/* Does the package itself do what is asked of such a tensor? Without elements, or of integers that no
 * kernel reckons with. */
static inline bool core_is_special(const core_tensor *tensor) {
    const ebb_element e = tensor->element;
    return tensor->sizes || (tensor->handle && (e == EBB_UINT8 || e == EBB_INT8 || e == EBB_INT16));
}

/* Something of the library's that could not be destroyed when Python let go of it. */
typedef struct core_grave {
    void *what;
    void (*destroy)(void *what);
} core_grave;

typedef struct core_process {
    ebb_env *env;
    ebb_eager *eager; /* NULL until first use */
    char device[256];
    bool direct_conv; /* ebb_options.direct_conv */
    uint64_t seed;
    bool forked; /* a child that has the memory of an eager, and neither its threads nor its device */
    PyThread_type_lock lock;
    unsigned long owner;     /* the thread that holds the lock; 0: none */
    volatile int stop;       /* the env's: of what the owner does */
    volatile int stop_plans; /* that of the envs of plan(), .. */
    unsigned n_plans;        /* .. of which so many go on */
    unsigned n_stoppable;    /* long calls that go on and that Ctrl-C ends */
    bool caught;             /* its handler is ours meanwhile */
    PyObject *raised[3];     /* by a function that the library called: ends the owner's call */
    core_grave *graves;      /* the oldest first; used with the GIL held */
    size_t n_graves, most_graves;
    uint64_t n_emptied; /* how many there were before these */
    /* What the package says of itself (setup): the class of results and that of shapes, a tuple's, their
     * ways of allocating, the objects that name dtypes, and functions for what is written in Python. */
    PyTypeObject *tensor_base, *tensor_class, *shape_class;
    allocfunc tensor_alloc, shape_alloc;
    PyObject *dtypes[CORE_N_ELEMENTS];
    PyObject *convert, *special, *input_error, *trace_error, *over_budget, *package;
    /* Interned: a new string a call would stay in the interpreter's cache of attributes. */
    PyObject *co_filename, *f_back;
} core_process;
extern core_process core;

/* ---- process.c ---- */

/* Before the module is used. -1 with an exception. */
int core_process_init(void);
/* The library is this thread's until core_leave. false with an exception. */
bool core_enter_env(void);
/* The same, and the eager exists. */
bool core_enter(void);
void core_leave(void);
/* Around a call that may take long: other threads run, and with `stoppable` Ctrl-C ends it. */
typedef struct core_long {
    PyThreadState *thread;
    bool stoppable;
} core_long;
core_long core_long_begin(bool stoppable);
void core_long_end(core_long *call);
/* The exception that is set is raised by the owner's call, which ends as soon as it can. */
void core_raise_later(void);
bool core_raise_now(void); /* false: there is none */
/* An exception with the env's line. Returns NULL. */
PyObject *core_raise(ebb_status status);
/* The same for what a trace refuses. */
PyObject *core_raise_trace(ebb_status status);
/* Destroys it when the library is free to do so, and no other thread that waits for it has read its handle:
 * now, where nobody has the library. Also within core_enter. */
void core_bury(void *what, void (*destroy)(void *what));

/* ---- tensor.c ---- */

PyTypeObject *core_tensor_type(PyObject *module);
static inline bool core_is_tensor(PyObject *object) {
    return PyObject_TypeCheck(object, core.tensor_base);
}
/* The handle of a tensor; NULL with an exception. */
ebb_tensor *core_handle(PyObject *object);
/* A new object of the class of results; takes the handle over, also on failure. */
PyObject *core_wrap(ebb_tensor *handle);
/* The value of `to` becomes that of `from`. -1 with an exception. */
int core_replace(core_tensor *to, core_tensor *from);
/* The numbers of a sequence. -1 with an exception. */
int core_read_sizes(PyObject *sequence, int64_t sizes[EBB_TENSOR_MAX_RANK], uint32_t *n);
PyObject *core_sizes_tuple(const int64_t *sizes, uint32_t n);

/* _without(element, shape): self has no elements. */
PyObject *core_tensor_without(PyObject *self, PyObject *args);
/* What the package makes of an op, by its name, and operands of which one is special. */
PyObject *core_special(const char *op, PyObject *args, PyObject *kwargs);
/* Within core_enter: self's handle becomes this one, which it takes over. Returns None. */
PyObject *core_tensor_set(core_tensor *self, ebb_tensor *handle);
/* false with an exception. */
bool core_tensor_type_of(PyObject *self, ebb_tensor_type *type);

/* ---- tensor_data.c: methods, and number slots that give the one element ---- */

PyObject *core_tensor_create(PyObject *self, PyObject *args);
PyObject *core_tensor_read(PyObject *self, PyObject *into);
PyObject *core_tensor_item(PyObject *self, PyObject *none);
PyObject *core_tensor_int(PyObject *self);
PyObject *core_tensor_float(PyObject *self);
PyObject *core_tensor_index(PyObject *self);
int core_tensor_bool(PyObject *self);

extern const int core_element_bytes[CORE_N_ELEMENTS];

/* ---- view.c ---- */

PyTypeObject *core_view_type(PyObject *module);
PyObject *core_tensor_view(PyObject *self, PyObject *none);
PyObject *core_tensor_borrow(PyObject *self, PyObject *args);

/* ---- operands.c, operators.c ---- */

/* Runs an op. Handles of results are the caller's. false with an exception, and no results. */
bool core_apply(const ebb_op *op, ebb_tensor *const *in, uint32_t n_in,
                const ebb_build_attribute *attributes, uint32_t n_attributes, ebb_tensor **out);
extern PyType_Slot core_operator_slots[];
PyObject *core_maximum(PyObject *module, PyObject *args);
PyObject *core_minimum(PyObject *module, PyObject *args);
enum { CORE_MAX_OPERATOR_SLOTS = 40 };
/* Looks the ops up. -1 with an exception. */
int core_operators_init(void);

/* ---- op.c, tape.c, trace.c, module.c ---- */

PyTypeObject *core_op_type(PyObject *module);
PyTypeObject *core_tape_type(PyObject *module);
ebb_tape *core_tape_handle(PyObject *object); /* NULL with an exception */
PyTypeObject *core_sweep_type(PyObject *module);
PyTypeObject *core_trace_type(PyObject *module);
bool core_is_trace(PyObject *object);
PyTypeObject *core_program_type(PyObject *module);
PyObject *core_op_named(PyObject *module, PyObject *name);
/* Handles of a list or tuple of tensors, None where `gaps` allows it; *out is PyMem_Free's. -1 with an
 * exception. */
int core_read_handles(PyObject *sequence, bool gaps, ebb_tensor ***out, uint32_t *n);

/* ---- bytes.c ---- */

PyTypeObject *core_bytes_type(PyObject *module);
/* n bytes at `at`, which belong to `owner`. */
PyObject *core_bytes_create(PyObject *owner, void *at, Py_ssize_t n);

/* ---- plan.c ---- */

PyObject *core_plan(PyObject *module, PyObject *args);
PyObject *core_report(PyObject *module, PyObject *args);
PyObject *core_export_onnx(PyObject *module, PyObject *args);
PyObject *core_parse_bytes(PyObject *module, PyObject *object);

/* ---- trace_options.c, trace_facts.c, place.c ---- */

typedef struct core_trace {
    PyObject_HEAD ebb_trace *trace;
    PyObject *options; /* keeps the texts that the trace borrows */
    bool open;
} core_trace;
/* The figures of a plan. */
PyObject *core_plan_dict(const ebb_plan *plan);
/* The dict's entries. -1 with an exception. */
int core_trace_options_read(PyObject *dict, ebb_trace_options *out);
extern PyMethodDef core_trace_fact_methods[];
void core_place(void *ctx, char text[EBB_TRACE_PLACE]);

#endif
