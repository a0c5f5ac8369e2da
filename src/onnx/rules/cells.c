/* rules_cells: what LSTM, GRU and RNN do in a step. */
#include "onnx/import.h"
#include "onnx/rules/recurrent.h"

static uint32_t function(onnx_import *im, const onnx_cell *c, uint32_t i, uint32_t x) {
    return onnx_op(im, c->function[i], &x, 1, NULL);
}

/* Both biases are added to the same sum. */
static void add_biases(onnx_import *im, const onnx_loop *l, onnx_cell *c) {
    (void)l;
    if (c->w_bias != EBB_BUILD_NONE) c->w_bias = onnx_op2(im, "add", c->w_bias, c->r_bias);
}

static uint32_t gates_of(onnx_import *im, const onnx_cell *c, uint32_t x) {
    return onnx_op2(im, "add", x, onnx_op2(im, "linear", c->h, c->r));
}

/* ---- RNN ---- */

static void rnn_step(onnx_import *im, const onnx_loop *l, onnx_cell *c, uint32_t x) {
    (void)l;
    c->h = function(im, c, 0, gates_of(im, c, x));
}

static void rnn(onnx_import *im) {
    onnx_loop l = {
        .n_gates = 1, .n_functions = 1, .functions = {"Tanh"}, .begin = add_biases, .step = rnn_step};
    onnx_loop_make(im, &l);
}

/* ---- LSTM ---- */

enum { INPUT, OUTPUT, FORGET, NEW };

/* A gate, which may see the cell. */
static uint32_t lstm_gate(onnx_import *im, const onnx_loop *l, const onnx_cell *c, uint32_t gates,
                          uint32_t which, uint32_t seen) {
    uint32_t x = onnx_gates(im, gates, l, which, 1);
    if (c->peepholes != EBB_BUILD_NONE)
        x = onnx_op2(im, "add", x, onnx_op2(im, "mul", seen, onnx_gates(im, c->peepholes, l, which, 1)));
    return function(im, c, 0, x);
}

static void lstm_step(onnx_import *im, const onnx_loop *l, onnx_cell *c, uint32_t x) {
    const uint32_t gates = gates_of(im, c, x), in = lstm_gate(im, l, c, gates, INPUT, c->c),
                   forget = lstm_gate(im, l, c, gates, FORGET, c->c),
                   made = function(im, c, 1, onnx_gates(im, gates, l, NEW, 1));
    const uint32_t kept = onnx_op2(im, "mul", forget, c->c);
    c->c = onnx_op2(im, "add", kept, onnx_op2(im, "mul", in, made));
    const uint32_t out = lstm_gate(im, l, c, gates, OUTPUT, c->c);
    c->h = onnx_op2(im, "mul", out, function(im, c, 2, c->c));
}

static void lstm(onnx_import *im) {
    onnx_loop l = {.n_gates = 4,
                   .n_functions = 3,
                   .functions = {"Sigmoid", "Tanh", "Tanh"},
                   .has_cell = true,
                   .begin = add_biases,
                   .step = lstm_step};
    onnx_loop_make(im, &l);
}

/* ---- GRU: update, reset, new ---- */

static uint32_t with_bias(onnx_import *im, uint32_t x, uint32_t bias) {
    return bias == EBB_BUILD_NONE ? x : onnx_op2(im, "bias", x, bias);
}

static uint32_t mixed(onnx_import *im, const onnx_cell *c, uint32_t update, uint32_t made) {
    const uint32_t rest = onnx_rescale(im, update, -1, 1), new = onnx_op2(im, "mul", rest, made);
    return onnx_op2(im, "add", new, onnx_op2(im, "mul", update, c->h));
}

/* The reset gate is a factor of what the new gate reads of the state, after the product:
 * linear_before_reset. */
static void gru_step_behind(onnx_import *im, const onnx_loop *l, onnx_cell *c, uint32_t x) {
    const uint32_t of_state = with_bias(im, onnx_op2(im, "linear", c->h, c->r), c->r_bias),
                   gates = onnx_gates(im, of_state, l, 0, 2), new = onnx_gates(im, of_state, l, 2, 1),
                   both = function(im, c, 0, onnx_op2(im, "add", onnx_gates(im, x, l, 0, 2), gates)),
                   kept = onnx_op2(im, "mul", onnx_gates(im, both, l, 1, 1), new),
                   made = function(im, c, 1, onnx_op2(im, "add", onnx_gates(im, x, l, 2, 1), kept));
    c->h = mixed(im, c, onnx_gates(im, both, l, 0, 1), made);
}

enum { R_GATES, R_NEW, B_GATES, B_NEW };

/* The parts of the weights for the gates, and for the new state. */
static void gru_begin(onnx_import *im, const onnx_loop *l, onnx_cell *c) {
    const int64_t two = 2 * l->size;
    c->more[R_GATES] = onnx_slice(im, c->r, 0, (int64_t[]){0, 0}, (int64_t[]){two, two});
    c->more[R_NEW] = onnx_slice(im, c->r, 0, (int64_t[]){two, two}, (int64_t[]){l->size, l->size});
    c->more[B_GATES] = c->r_bias == EBB_BUILD_NONE ? c->r_bias : onnx_gates(im, c->r_bias, l, 0, 2);
    c->more[B_NEW] = c->r_bias == EBB_BUILD_NONE ? c->r_bias : onnx_gates(im, c->r_bias, l, 2, 1);
}

/* Of the state itself, before the product. */
static void gru_step_ahead(onnx_import *im, const onnx_loop *l, onnx_cell *c, uint32_t x) {
    const uint32_t of_state =
        with_bias(im, onnx_op2(im, "linear", c->h, c->more[R_GATES]), c->more[B_GATES]);
    const uint32_t both = function(im, c, 0, onnx_op2(im, "add", onnx_gates(im, x, l, 0, 2), of_state));
    const uint32_t kept = onnx_op2(im, "mul", onnx_gates(im, both, l, 1, 1), c->h);
    const uint32_t reads = with_bias(im, onnx_op2(im, "linear", kept, c->more[R_NEW]), c->more[B_NEW]);
    const uint32_t made = function(im, c, 1, onnx_op2(im, "add", onnx_gates(im, x, l, 2, 1), reads));
    c->h = mixed(im, c, onnx_gates(im, both, l, 0, 1), made);
}

static void gru(onnx_import *im) {
    const bool behind = onnx_attr_int(im, "linear_before_reset", 0) != 0;
    onnx_loop l = {.n_gates = 3,
                   .n_functions = 2,
                   .functions = {"Sigmoid", "Tanh"},
                   .begin = behind ? NULL : gru_begin,
                   .step = behind ? gru_step_behind : gru_step_ahead};
    onnx_loop_make(im, &l);
}

const onnx_rule onnx_rules_cells[] = {
    {"RNN", rnn},
    {"LSTM", lstm},
    {"GRU", gru},
    {NULL, NULL},
};
