/* recurrent: an op that is a loop over the steps of a sequence. */
#ifndef EBB_ONNX_RECURRENT_H
#define EBB_ONNX_RECURRENT_H

#include "onnx/import.h"

/* One direction: its weights, EBB_BUILD_NONE where it has none, and its state. */
typedef struct onnx_cell {
    const char *function[3];
    uint32_t r, w_bias, r_bias, peepholes;
    uint32_t more[4]; /* what `begin` made of these */
    uint32_t h, c;
} onnx_cell;

typedef struct onnx_loop onnx_loop;
struct onnx_loop {
    /* set by the op */
    uint32_t n_gates, n_functions;
    const char *functions[3]; /* where the node says none */
    bool has_cell;
    void (*begin)(onnx_import *im, const onnx_loop *l,
                  onnx_cell *c); /* before the first step; NULL: nothing */
    void (*step)(onnx_import *im, const onnx_loop *l, onnx_cell *c,
                 uint32_t x); /* x: what it reads, [N,gates] */
    /* found */
    bool batch_first, reversed;
    uint32_t n_directions, x; /* the sequence, [steps,N,places] */
    int64_t n, size, batch[2];
};

/* Makes the node of its loop. */
void onnx_loop_make(onnx_import *im, onnx_loop *l);
/* The last axis's places of gates [first, first + n). */
uint32_t onnx_gates(onnx_import *im, uint32_t x, const onnx_loop *l, int64_t first, int64_t n);

#endif
