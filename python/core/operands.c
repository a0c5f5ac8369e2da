/* Operands, with MegEngine's promotion: bool, u8, i32, 16 bits, f32, f64 in this order, and f32 of the two
 * dtypes of 16 bits; a Python number takes the tensor's dtype, unless it says more (1.5 with integers: f32;
 * 2 with truth values: i32). */
#include "operators.h"

core_operator core_operators[N_CODES] = {
    [ADD] = {"add", NUMBERS, NULL},
    [SUB] = {"sub", NUMBERS, NULL},
    [MUL] = {"mul", NUMBERS, NULL},
    [DIV] = {"div", REALS, NULL},
    [FLOOR_DIV] = {"floor_div", NUMBERS, NULL},
    [MOD] = {"mod", NUMBERS, NULL},
    [POW] = {"pow", REALS, NULL},
    [EQUAL] = {"equal", ANY, NULL},
    [LESS] = {"less", NUMBERS, NULL},
    [LESS_EQUAL] = {"less_equal", NUMBERS, NULL},
    [AND] = {"logical_and", TRUTHS, NULL},
    [OR] = {"logical_or", TRUTHS, NULL},
    [XOR] = {"logical_xor", TRUTHS, NULL},
    [NEG] = {"neg", NUMBERS, NULL},
    [ABS] = {"abs", NUMBERS, NULL},
    [NOT] = {"logical_not", TRUTHS, NULL},
    [SQRT] = {"sqrt", REALS, NULL},
    [CAST] = {"cast", ANY, NULL},
    [MAXIMUM] = {"maximum", NUMBERS, NULL},
    [MINIMUM] = {"minimum", NUMBERS, NULL},
};

int core_operators_init(void) {
    for (int i = 0; i < N_CODES; i++) {
        core_operators[i].op = ebb_op_named(core_operators[i].name);
        if (core_operators[i].op) continue;
        PyErr_Format(PyExc_ImportError, "ebb: the library has no op %s: is it of another version?",
                     core_operators[i].name);
        return -1;
    }
    return 0;
}

/* Below this the time that other threads could run is less than it takes to let them. */
enum { LONG_BYTES = 1 << 15 };

bool core_apply(const ebb_op *op, ebb_tensor *const *in, uint32_t n_in,
                const ebb_build_attribute *attributes, uint32_t n_attributes, ebb_tensor **out) {
    ebb_status status;
    int64_t bytes = 0;
    if (!core_enter()) return false;
    for (uint32_t i = 0; i < n_in && bytes < LONG_BYTES; i++) bytes += ebb_tensor_size_bytes(in[i]);
    if (bytes < LONG_BYTES) {
        status = ebb_apply(core.eager, op, in, n_in, attributes, n_attributes, out);
    } else {
        core_long call = core_long_begin(false);
        status = ebb_apply(core.eager, op, in, n_in, attributes, n_attributes, out);
        core_long_end(&call);
    }
    if (status == EBB_USAGE) /* an operand has no value: a traced call was to make it, and failed */
        core_raise_trace(status);
    else if (status)
        core_raise(status);
    core_leave();
    return status == EBB_OK;
}

/* ---- operands ---------------------------------------------------------------------------------------- */

#define RANK(NAME, rank, letter) [EBB_##NAME] = rank,
static const int rank_of[] = {CORE_ELEMENTS(RANK)};

static bool operand_tensor(PyObject *object, core_operand *out) {
    out->special = core_is_special((core_tensor *)object);
    out->handle = out->special ? ((core_tensor *)object)->handle : core_handle(object);
    if (!out->handle && !out->special) return false;
    out->held = Py_NewRef(object);
    out->element = ((core_tensor *)object)->element;
    return true;
}

int core_operand_read(PyObject *object, core_operand *out) {
    *out = (core_operand){.number = NO_NUMBER};
    if (core_is_tensor(object)) return operand_tensor(object, out) ? 1 : -1;
    if (PyBool_Check(object)) {
        out->number = BOOL_NUMBER;
        out->value = object == Py_True;
        return 1;
    }
    if (PyFloat_Check(object) || PyLong_Check(object)) {
        out->number = PyFloat_Check(object) ? REAL_NUMBER : WHOLE_NUMBER;
        out->value = PyFloat_AsDouble(object);
        return PyErr_Occurred() ? -1 : 1;
    }
    if (object == Py_None || PyUnicode_Check(object)) return 0;
    PyObject *made = PyObject_CallFunctionObjArgs(core.convert, object, NULL);
    int answer = !made ? -1 : 0;
    if (made && core_is_tensor(made)) answer = operand_tensor(made, out) ? 1 : -1;
    Py_XDECREF(made);
    return answer;
}

void core_operand_drop(core_operand *operand) {
    Py_CLEAR(operand->held);
}

ebb_element core_operands_common(const core_operand *a, const core_operand *b) {
    if (a->handle && b->handle) {
        if (rank_of[a->element] == rank_of[b->element] && a->element != b->element) return EBB_FLOAT32;
        return rank_of[a->element] >= rank_of[b->element] ? a->element : b->element;
    }
    const core_operand *tensor = a->handle ? a : b, *number = a->handle ? b : a;
    ebb_element least = EBB_BOOL8;
    if (number->number == WHOLE_NUMBER) least = EBB_INT32;
    if (number->number == REAL_NUMBER)
        return rank_of[tensor->element] >= CORE_LEAST_REAL ? tensor->element : EBB_FLOAT32;
    return rank_of[tensor->element] >= rank_of[least] ? tensor->element : least;
}

ebb_element core_element_wanted(core_wants wants, ebb_element element) {
    if (wants == REALS && rank_of[element] < CORE_LEAST_REAL) return EBB_FLOAT32;
    if (wants == NUMBERS && rank_of[element] < rank_of[EBB_INT32]) return EBB_INT32;
    return element;
}

static ebb_tensor *cast(ebb_tensor *x, ebb_element element) {
    const int64_t to = element;
    const ebb_build_attribute attribute = {.name = "to", .sizes = &to, .n = 1};
    ebb_tensor *out = NULL;
    return core_apply(core_operators[CAST].op, &x, 1, &attribute, 1, &out) ? out : NULL;
}

ebb_tensor *core_operand_as(core_operand *operand, ebb_element element) {
    ebb_tensor *made = NULL;
    if (operand->handle && operand->element == element) return operand->handle;
    if (operand->handle) {
        made = cast(operand->handle, element);
    } else if (element == EBB_INT32 && (operand->value < INT32_MIN || operand->value > INT32_MAX)) {
        PyErr_Format(PyExc_OverflowError, "a number beyond 32 bits with an int32 tensor: make it a float");
    } else if (core_enter()) {
        const ebb_status status = ebb_tensor_number(core.eager, element, operand->value, &made);
        if (status) core_raise(status);
        core_leave();
    }
    if (!made) return NULL;
    PyObject *held = core_wrap(made);
    core_operand_drop(operand);
    operand->held = held;
    operand->handle = held ? made : NULL;
    operand->element = element;
    return operand->handle;
}
