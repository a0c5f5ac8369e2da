/* state: holds the state of an export, and declares the functions that rules use. After a refusal, or when
 * memory is out, calls do nothing and return "". */
#ifndef EBB_ONNX_EXPORT_STATE_H
#define EBB_ONNX_EXPORT_STATE_H

#include "graph/op.h"
#include "onnx/batch.h"
#include "onnx/export/export.h"
#include "onnx/export/wire_out.h"
#include "onnx/file.h"

enum { ONNX_OPSET = 21, ONNX_IR_VERSION = 10, ONNX_OUT_WHY = 240 };

/* An initializer: its name, its type, its elements in logical order. */
typedef struct onnx_stored {
    const char *name;
    ebb_type type;
    const char *weight; /* the weight's name, read when the file is written; NULL: bytes */
    const void *bytes;
} onnx_stored;

/* An input or output of the file. */
typedef struct onnx_out_port {
    ebb_id value;
    const char *name;
    bool wide; /* an i32 as int64 */
    bool kept; /* even if nothing reads it */
} onnx_out_port;

/* A name that no other value may have. */
typedef struct onnx_taken {
    const char *name;
    bool made;
} onnx_taken;

typedef struct onnx_weight {
    ebb_tensor_row row;
    const void *data; /* NULL: in the file */
} onnx_weight;

/* The sizes of a shape, at both sizes of N. */
typedef struct onnx_sizes {
    uint32_t n;
    int64_t at[2][EBB_MAX_RANK];
} onnx_sizes;

typedef struct onnx_out {
    ebb_env *env;
    ebb_arena arena;
    const ebb_onnx_export_options *options;
    const char *model; /* for errors */
    ebb_graph *graph[2];
    bool *needed;      /* by node: an output depends on it */
    bool *done;        /* by node: written, or absorbed by one that is */
    bool *read;        /* by value: a written node reads it */
    ebb_id *reader;    /* by value: the one node that reads it, or EBB_NONE */
    const char **name; /* by value, once it is in the file */
    const char **own;  /* by value: its final name, once decided */
    bool *wide;        /* by value: an input given as int64 */
    EBB_ARRAY(onnx_out_port) inputs, outputs;
    onnx_taken *taken; /* names of ports, sorted */
    uint32_t n_taken;
    EBB_ARRAY(onnx_stored) stored;
    ebb_text nodes;      /* fields of the GraphProto */
    ebb_text attributes; /* of the next node: fields of its NodeProto */
    ebb_text room, room2;
    const char *batch; /* the name of N as a vector of one; NULL: not there yet */
    uint32_t n_made;   /* number of part names */

    ebb_id id;     /* of the current node */
    ebb_id result; /* the value that its ONNX node makes */
    char why[ONNX_OUT_WHY];
    ebb_text refused;
    uint32_t n_refused;
    bool no_memory;
    ebb_status status; /* of reading weights */

    onnx_weight *weights; /* by name */
    uint32_t n_weights;
    ebb_tensors *file; /* NULL: all in memory */
} onnx_out;

EBB_PRINTF(2, 3) void onnx_out_refuse(onnx_out *o, const char *format, ...);
bool onnx_out_stopped(const onnx_out *o);
void onnx_out_no_memory(onnx_out *o);

/* ---- the node, in both graphs ---- */

static inline const ebb_node *onnx_out_node(const onnx_out *o) {
    return &o->graph[0]->nodes[o->id];
}
static inline const ebb_attr *onnx_out_attr(const onnx_out *o, uint32_t which, uint32_t attr) {
    return &o->graph[which]->nodes[o->id].attr[attr];
}
static inline const ebb_type *onnx_out_type(const onnx_out *o, uint32_t which, ebb_id value) {
    return &o->graph[which]->values[value].type;
}
onnx_sizes onnx_shape_sizes(const onnx_out *o, ebb_id value);
int64_t onnx_dtype_code(ebb_dtype dtype); /* TensorProto.DataType */

/* ---- border.c ---- */

/* Sets up inputs and outputs: the border's or, without a matching one, the model's own; else the operand of
 * its softmax_xent, or the loss itself. */
EBB_CHECKED ebb_status onnx_border_open(onnx_out *o, const onnx_border *border);
/* Finds a port's name; NULL: it is not one. */
onnx_taken *onnx_taken_find(const onnx_out *o, const char *name);
/* The value's name if its own node makes it. */
const char *onnx_own_name(onnx_out *o, ebb_id value);
/* Gives each output its name and type, with an extra node if its maker's differ. */
EBB_CHECKED ebb_status onnx_border_close(onnx_out *o);

/* ---- names ---- */

/* The name of a value: a weight, which is then stored; a constant, which is made at first use; or a node's
 * result. */
const char *onnx_value_name(onnx_out *o, ebb_id value);
/* The name of operand i. */
const char *onnx_arg(onnx_out *o, uint32_t i);
/* Makes a name for a part of the result: it has a colon, which a model's names never have, and differs from
 * all ports' names. */
const char *onnx_part_name(onnx_out *o, const char *part);

/* ---- nodes ---- */

/* Set attributes of the next node, after all of its operands have their names. */
void onnx_set_int(onnx_out *o, const char *name, int64_t value);
void onnx_set_ints(onnx_out *o, const char *name, const int64_t *at, uint32_t n);
void onnx_set_real(onnx_out *o, const char *name, double value);
void onnx_set_text(onnx_out *o, const char *name, const char *text);
/* Writes a node and returns its result's name. part NULL: it is the op's result. */
const char *onnx_make(onnx_out *o, const char *op, const char *part, const char *const *in, uint32_t n_in);
/* The same with a given result name, which need not be the op's result. */
const char *onnx_make_named(onnx_out *o, const char *op, const char *result, const char *const *in,
                            uint32_t n_in);
/* The same with several given names. */
void onnx_make_several(onnx_out *o, const char *op, const char *const *result, uint32_t n_result,
                       const char *const *in, uint32_t n_in);
const char *onnx_make1(onnx_out *o, const char *op, const char *part, const char *x);
const char *onnx_make2(onnx_out *o, const char *op, const char *part, const char *a, const char *b);
/* Makes the op's result an alias of another value. */
void onnx_is(onnx_out *o, const char *name);

/* ---- known numbers: Constant nodes, which importers can fold ---- */

const char *onnx_known(onnx_out *o, const ebb_type *type, const void *bytes, size_t n);
const char *onnx_known_real(onnx_out *o, ebb_dtype dtype, double value); /* a scalar */
const char *onnx_known_ints(onnx_out *o, const int64_t *at, uint32_t n); /* int64 */
/* Sizes as int64; sizes that grow with N are computed from an input's shape. */
const char *onnx_known_sizes(onnx_out *o, const onnx_sizes *sizes);
/* A tensor of like's type filled with number. part NULL: it is the op's result. */
const char *onnx_filled(onnx_out *o, const char *part, ebb_id like, double number);
/* The name of a causal mask bool[n,k]: row i sees columns up to i + k - n. */
const char *onnx_causal_mask(onnx_out *o, int64_t n, int64_t k);

/* ---- weights ---- */

EBB_CHECKED ebb_status onnx_weights_open(onnx_out *o, const onnx_source *source);
/* Checks that each needed weight is there with its shape and dtype; one line names all that are not. */
EBB_CHECKED ebb_status onnx_weights_check(onnx_out *o);
/* A weight's elements, in memory until the end; NULL: o->status or no_memory says why. */
const void *onnx_weight_bytes(onnx_out *o, const char *name);
/* Adds an initializer. weight, or NULL and bytes: as in onnx_stored. */
void onnx_store(onnx_out *o, const char *name, const ebb_type *type, const char *weight, const void *bytes);
/* Merges a product with the bias that is its only reader and, if requested, with the batch norm that is
 * that one's only reader: returns the names of weight and bias ("": none), and the last result in
 * o->result. groups: of a transposed convolution, 0 for others. */
void onnx_absorb(onnx_out *o, int64_t groups, const char **weight, const char **bias);

/* Writes ports, initializers and the file. */
EBB_CHECKED ebb_status onnx_finish(onnx_out *o, const char *path);

/* ---- rules: NULL if ONNX has no form for an op ---- */

typedef void onnx_out_rule(onnx_out *o);
onnx_out_rule *onnx_rule_pointwise(ebb_opcode op);
onnx_out_rule *onnx_rule_products(ebb_opcode op);
onnx_out_rule *onnx_rule_windows(ebb_opcode op);
onnx_out_rule *onnx_rule_places(ebb_opcode op);
onnx_out_rule *onnx_rule_reductions(ebb_opcode op);

#endif
