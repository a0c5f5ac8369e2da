/* inputs: the names of a model's inputs and loss, and made-up data for them. */
#ifndef EBB_TOOL_INPUTS_H
#define EBB_TOOL_INPUTS_H

#include "tool.h"

enum { INPUTS_MAX = 64, INPUTS_NAME_MAX = 128 };

typedef struct inputs {
    char name[INPUTS_MAX][INPUTS_NAME_MAX];
    uint32_t n;
    char loss[INPUTS_NAME_MAX]; /* "" when the model has none */
    bool too_many, read;        /* read: there was a text */
    void *held[INPUTS_MAX];     /* what is fed again each step, in logical order; inputs_drop frees it */
} inputs;

/* Reads the names from the text IR of the graph that these options compile. EBB_BAD_INPUT: more than
 * INPUTS_MAX inputs; the engine's errors. */
EBB_CHECKED ebb_status inputs_find(tool *t, const ebb_model *model, const ebb_options *options,
                                   inputs *out);

/* Fills every input of the program: floats in [-1, 1) and labels and ids by its name and their index, other
 * integers 0, and the learning rate 0.01. Writes straight into the block where the device allows it.
 * Elsewhere an input is made at its first feed and held, the bytes of all inputs together: so feed one
 * program only. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status inputs_feed(tool *t, inputs *in, ebb_program *program);
/* Frees what is held. Zeroed inputs may be dropped, and dropped ones again. */
void inputs_drop(inputs *in);

#endif
