/* Operands of operators, and which ops they are. */
#ifndef EBB_PYTHON_OPERATORS_H
#define EBB_PYTHON_OPERATORS_H

#include "core.h"

typedef enum core_code {
    ADD,
    SUB,
    MUL,
    DIV,
    FLOOR_DIV,
    MOD,
    POW,
    EQUAL,
    LESS,
    LESS_EQUAL,
    AND,
    OR,
    XOR,
    NEG,
    ABS,
    NOT,
    SQRT,
    CAST,
    MAXIMUM,
    MINIMUM,
    N_CODES
} core_code;

/* What an op wants of its operands. */
typedef enum core_wants { NUMBERS, REALS, ANY, TRUTHS } core_wants;

typedef struct core_operator {
    const char *name;
    core_wants wants;
    const ebb_op *op;
} core_operator;
extern core_operator core_operators[N_CODES];

typedef enum core_number { NO_NUMBER, BOOL_NUMBER, WHOLE_NUMBER, REAL_NUMBER } core_number;

typedef struct core_operand {
    ebb_tensor *handle; /* NULL: a number */
    PyObject *held;     /* that has the handle */
    core_number number;
    double value;
    ebb_element element;
    bool special; /* core_is_special */
} core_operand;

/* 1: read; 0: it is nothing that operators know; -1: an exception. */
int core_operand_read(PyObject *object, core_operand *out);
void core_operand_drop(core_operand *operand);
/* The dtype that two operands are brought to, and what an op makes of it. */
ebb_element core_operands_common(const core_operand *a, const core_operand *b);
ebb_element core_element_wanted(core_wants wants, ebb_element element);
/* The operand's handle in a dtype. What was made for it replaces what was held. NULL with an exception. */
ebb_tensor *core_operand_as(core_operand *operand, ebb_element element);

#endif
