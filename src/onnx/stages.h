/* onnx/stages.h: what an import does besides its ops: it finds the live nodes, numbers, sizes and the loss,
 * tells what it refuses, and runs. Private to the room.
 */
#ifndef EBB_ONNX_STAGES_H
#define EBB_ONNX_STAGES_H

#include "onnx/import.h"

/* ---- live.c, loss.c ---- */

/* Finds for each node whether an output needs it. In the file's arena. */
EBB_CHECKED ebb_status onnx_live_find(onnx_import *im, bool **out);
/* Whether a result is computed from an input's elements, not from its sizes and tensors of the file alone.
 */
EBB_CHECKED ebb_status onnx_reads_inputs(onnx_import *im, const char *name, bool *out);

/* The number of the output that the loss is of: the first one that is not said to be of whole numbers, as
 * labels are; n_outputs: none. */
uint32_t onnx_loss_output(const onnx_import *im);
/* Sets head and head_left_out if a loss is wanted. */
void onnx_head_find(onnx_import *im);
/* Whether the node is the head and is replaced by the loss. */
bool onnx_head_left_out(onnx_import *im);
/* Adds the loss of `output`, the value of onnx_loss_output, if it can have one. */
void onnx_loss_add(onnx_import *im, uint32_t output);

/* ---- numbers.c ---- */

/* What a tensor of the file is: a number, which is folded, and no parameter; a buffer, as the file says. */
typedef enum onnx_meaning { ONNX_IS_ANY, ONNX_IS_NUMBER, ONNX_IS_BUFFER } onnx_meaning;
/* Finds how the file's names are read, and what it says of them. */
EBB_CHECKED ebb_status onnx_numbers_find(onnx_import *im);

/* What a tensor is, of the graph or of one in it. Requires: onnx_numbers_find. */
onnx_meaning onnx_meaning_of(const onnx_import *im, const onnx_tensor *tensor);

/* ---- import.c, branch.c, loops.c ---- */

/* Adds a tensor of the file. false: im->status says why. */
bool onnx_add_tensor(onnx_import *im, const onnx_tensor *tensor, onnx_meaning meaning);
/* Makes a node, or notes why not. */
void onnx_make_node(onnx_import *im, const onnx_node *node);
/* Makes a node that has graphs of its own, an If, a Loop or a Scan; false: it is none. */
bool onnx_graphs_take(onnx_import *im);
void onnx_loop_take(onnx_import *im);
void onnx_scan_take(onnx_import *im);
/* Makes the tensors and nodes of a graph in a node; its tensors and constants are the same each time.
 * false: it was refused as a whole, and has made nothing. */
bool onnx_body_make(onnx_import *im, const onnx_graph *body);
/* Hides its names, after a refusal only those of values from place `first` on. */
void onnx_body_end(onnx_import *im, const onnx_graph *body, size_t first);
void onnx_name_hide(onnx_import *im, const char *name, size_t first);
/* The name means the value at a place. Refuses a name that is there. */
void onnx_bind(onnx_import *im, const char *name, uint32_t at);

/* ---- dims.c ---- */

enum { ONNX_MAX_MADE_DIMS = 1024 }; /* a text has at most 64 */
/* Gives each non-numeric size of an input a name that a text and --dim accept: the file's, if it is valid
 * and not an N after the first axis; else one derived from it, or from the input's name and the axis. First
 * axes without a name, and axes beyond the maximum, stay unnamed. */
EBB_CHECKED ebb_status onnx_name_dims(onnx_file *file);
/* The size given for a symbol; 0: none. */
int64_t onnx_bound(const onnx_import *im, const char *symbol);
EBB_CHECKED ebb_status onnx_port_shape(const onnx_import *im, const onnx_port *port, onnx_shape *out);
/* EBB_USAGE: no size has this name. */
ebb_status onnx_refuse_dim(const onnx_import *im, const char *name);

/* ---- refusals.c ---- */

/* Why none of a family of ops is read, and what to do; NULL: it is of none of these. */
const char *onnx_why_not(const char *op);
/* Records the current node as refused, with the reason in im->why. */
void onnx_note_refused(onnx_import *im);
/* Reports all refusals on one line, similar ones together, as far as it fits. EBB_BAD_INPUT,
 * EBB_NO_MEMORY. */
ebb_status onnx_tell_refused(onnx_import *im);
/* Passes each refusal to the options' on_refused. */
void onnx_each_refused(const onnx_import *im, const ebb_onnx_options *options);

/* Declares inputs and initializers, makes the nodes, outputs and the loss. */
EBB_CHECKED ebb_status onnx_import_run(onnx_import *im);
void onnx_import_end(onnx_import *im);

#endif
