/* Operators on tensors and numbers (operands.c has their promotion). */
#include "operators.h"

/* ---- two operands ------------------------------------------------------------------------------------ */

static PyObject *one_operand(core_code code, ebb_tensor *x) {
    ebb_tensor *out = NULL;
    return core_apply(core_operators[code].op, &x, 1, NULL, 0, &out) ? core_wrap(out) : NULL;
}

/* x * x for x ** 2 and the root for x ** 0.5: fewer roundings, and less time. NULL without an exception:
 * neither. */
static PyObject *power(core_operand *a, const core_operand *b) {
    if (!a->handle || b->handle || (b->value != 2 && b->value != 0.5)) return NULL;
    ebb_tensor *x = core_operand_as(a, core_element_wanted(REALS, a->element)), *out = NULL;
    if (!x) return NULL;
    if (b->value != 2) return one_operand(SQRT, x);
    return core_apply(core_operators[MUL].op, (ebb_tensor *const[]){x, x}, 2, NULL, 0, &out)
               ? core_wrap(out)
               : NULL;
}

static PyObject *compute(core_code code, core_operand *a, core_operand *b) {
    const core_wants wants = core_operators[code].wants;
    const ebb_element element = core_element_wanted(wants, core_operands_common(a, b));
    if (wants == TRUTHS && element != EBB_BOOL8) {
        PyErr_Format(PyExc_TypeError, "%s is of bool tensors: compare first, or x.astype(\"bool\")",
                     core_operators[code].name);
        return NULL;
    }
    PyObject *done = code == POW ? power(a, b) : NULL;
    if (done || PyErr_Occurred()) return done;
    ebb_tensor *in[2] = {core_operand_as(a, element), NULL}, *out = NULL;
    if (in[0]) in[1] = core_operand_as(b, element);
    if (!in[1]) return NULL;
    return core_apply(core_operators[code].op, in, 2, NULL, 0, &out) ? core_wrap(out) : NULL;
}

/* right NULL: of one operand. */
static PyObject *special(core_code code, PyObject *left, PyObject *right) {
    PyObject *args = PyTuple_Pack(right ? 2 : 1, left, right);
    PyObject *answer = args ? core_special(core_operators[code].name, args, NULL) : NULL;
    Py_XDECREF(args);
    return answer;
}

static PyObject *binary(core_code code, PyObject *left, PyObject *right) {
    core_operand a, b = {.number = NO_NUMBER};
    PyObject *answer = NULL;
    int read = core_operand_read(left, &a);
    if (read > 0) read = core_operand_read(right, &b);
    if (read == 0)
        answer = Py_NewRef(Py_NotImplemented);
    else if (read > 0 && (a.special || b.special))
        answer = special(code, a.held ? a.held : left, b.held ? b.held : right);
    else if (read > 0)
        answer = compute(code, &a, &b);
    core_operand_drop(&a);
    core_operand_drop(&b);
    return answer;
}

/* a += b: a gets another value. The kernel writes over the old one where nobody else holds it. */
static PyObject *inplace(core_code code, PyObject *a, PyObject *b) {
    PyObject *result = binary(code, a, b);
    if (!result || result == Py_NotImplemented) return result;
    const int failed = core_replace((core_tensor *)a, (core_tensor *)result);
    Py_DECREF(result);
    return failed ? NULL : Py_NewRef(a);
}

#define BINARY(name, code)                                  \
    static PyObject *do_##name(PyObject *a, PyObject *b) {  \
        return binary(code, a, b);                          \
    }                                                       \
    static PyObject *do_i##name(PyObject *a, PyObject *b) { \
        return inplace(code, a, b);                         \
    }
BINARY(add, ADD)
BINARY(sub, SUB)
BINARY(mul, MUL)
BINARY(div, DIV)
BINARY(floor_div, FLOOR_DIV)
BINARY(mod, MOD)
BINARY(and, AND)
BINARY(or, OR)
BINARY(xor, XOR)

PyObject *core_maximum(PyObject *module, PyObject *args) {
    PyObject *a, *b;
    (void)module;
    return PyArg_ParseTuple(args, "OO", &a, &b) ? binary(MAXIMUM, a, b) : NULL;
}

PyObject *core_minimum(PyObject *module, PyObject *args) {
    PyObject *a, *b;
    (void)module;
    return PyArg_ParseTuple(args, "OO", &a, &b) ? binary(MINIMUM, a, b) : NULL;
}

static PyObject *do_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus == Py_None) return binary(POW, a, b);
    return Py_NewRef(Py_NotImplemented);
}
static PyObject *do_ipow(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus == Py_None) return inplace(POW, a, b);
    return Py_NewRef(Py_NotImplemented);
}

/* ---- one operand ------------------------------------------------------------------------------------- */

static PyObject *unary(core_code code, PyObject *x) {
    core_operand a;
    PyObject *answer = NULL;
    const int read = core_operand_read(x, &a);
    if (read > 0 && a.special) {
        answer = special(code, a.held, NULL);
    } else if (read > 0) {
        const ebb_element element = core_element_wanted(core_operators[code].wants, a.element);
        if (core_operators[code].wants == TRUTHS && element != EBB_BOOL8)
            PyErr_Format(PyExc_TypeError, "~ is of bool tensors: compare first, or x.astype(\"bool\")");
        else if (core_operand_as(&a, element))
            answer = one_operand(code, a.handle);
    }
    core_operand_drop(&a);
    return answer;
}

static PyObject *do_neg(PyObject *x) {
    return unary(NEG, x);
}
static PyObject *do_abs(PyObject *x) {
    return unary(ABS, x);
}
static PyObject *do_invert(PyObject *x) {
    return unary(NOT, x);
}
static PyObject *do_pos(PyObject *x) {
    return Py_NewRef(x);
}

/* ---- comparisons ------------------------------------------------------------------------------------- */

static PyObject *compare(PyObject *a, PyObject *b, int how) {
    switch (how) {
    case Py_EQ:
        return binary(EQUAL, a, b);
    case Py_LT:
        return binary(LESS, a, b);
    case Py_LE:
        return binary(LESS_EQUAL, a, b);
    case Py_GT:
        return binary(LESS, b, a);
    case Py_GE:
        return binary(LESS_EQUAL, b, a);
    default:
        break;
    }
    PyObject *equal = binary(EQUAL, a, b);
    if (!equal || equal == Py_NotImplemented) return equal;
    PyObject *answer = unary(NOT, equal);
    Py_DECREF(equal);
    return answer;
}

/* By the object, as == answers with a tensor. */
static Py_hash_t hash(PyObject *self) {
    const Py_hash_t bits = (Py_hash_t)((uintptr_t)self >> 4);
    return bits == -1 ? -2 : bits;
}

PyType_Slot core_operator_slots[] = {
    {Py_tp_richcompare, compare},
    {Py_tp_hash, hash},
    {Py_nb_add, do_add},
    {Py_nb_subtract, do_sub},
    {Py_nb_multiply, do_mul},
    {Py_nb_true_divide, do_div},
    {Py_nb_floor_divide, do_floor_div},
    {Py_nb_remainder, do_mod},
    {Py_nb_power, do_pow},
    {Py_nb_and, do_and},
    {Py_nb_or, do_or},
    {Py_nb_xor, do_xor},
    {Py_nb_inplace_add, do_iadd},
    {Py_nb_inplace_subtract, do_isub},
    {Py_nb_inplace_multiply, do_imul},
    {Py_nb_inplace_true_divide, do_idiv},
    {Py_nb_inplace_floor_divide, do_ifloor_div},
    {Py_nb_inplace_remainder, do_imod},
    {Py_nb_inplace_power, do_ipow},
    {Py_nb_inplace_and, do_iand},
    {Py_nb_inplace_or, do_ior},
    {Py_nb_inplace_xor, do_ixor},
    {Py_nb_negative, do_neg},
    {Py_nb_positive, do_pos},
    {Py_nb_absolute, do_abs},
    {Py_nb_invert, do_invert},
    {Py_nb_int, core_tensor_int},
    {Py_nb_float, core_tensor_float},
    {Py_nb_index, core_tensor_index},
    {Py_nb_bool, core_tensor_bool},
    {0, NULL},
};
