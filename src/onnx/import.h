/* import: converts an ONNX graph to calls of the public builder (ebb/build.h) and, line by line, to the
 * text of the same calls.
 *
 * Everything is computed twice, for two sizes of the batch N: a size equal for both is a number; one that
 * grows with N is written as a multiple of N; anything else is refused. So exporters' shape arithmetic,
 * whatever its form, keeps the batch free. Each value of the file is one of
 *
 *     graph      made by an op of the builder, or an input
 *     folded     known numbers: shapes and values computed from them, constants; at most 2^21 in total
 *     initial    a tensor of the file, or a Constant of many floats, which becomes a param or a state when
 *                an op first reads it
 *
 * A node that cannot be imported is refused with a reason (`onnx_refuse`); its results are lost, and so,
 * silently, are those of nodes that read them. The import continues, so that one answer names all such
 * nodes.
 */
#ifndef EBB_ONNX_IMPORT_H
#define EBB_ONNX_IMPORT_H

#include "ebb/build.h"
#include "ebb/onnx.h"
#include "graph/graph.h"
#include "onnx/batch.h"
#include "onnx/file.h"

enum { ONNX_MAX_FOLDED = 1 << 21, ONNX_WHY = 320 };
_Static_assert((int)ONNX_MAX_RANK <= EBB_TENSORS_MAX_RANK, "a table of weights has room for any shape");

typedef struct onnx_shape {
    uint32_t rank;
    int64_t dim[2][ONNX_MAX_RANK]; /* with N at its two sizes */
} onnx_shape;

typedef enum onnx_kind { ONNX_LOST, ONNX_GRAPH, ONNX_FOLDED, ONNX_INITIAL } onnx_kind;

typedef struct onnx_value {
    const char *name;
    onnx_kind kind;
    uint32_t id;         /* GRAPH: the builder's number; others: EBB_BUILD_NONE until an op reads them */
    int32_t type;        /* FOLDED and INITIAL */
    onnx_shape shape;    /* FOLDED: the same for both sizes */
    const double *at[2]; /* FOLDED */
    const onnx_tensor *tensor; /* INITIAL */
    bool buffer;               /* likewise: the file says that it is none of the parameters */
    const onnx_node *maker;
    uint32_t same; /* of an Identity: the place of what it reads; EBB_NONE: of another op */
    bool of_batch; /* FOLDED: the batch has a say in its numbers, though they be the same for both sizes */
} onnx_value;

/* How live nodes read a value: whether its numbers may be places along the batch; as tuples of places
 * alone. */
enum { ONNX_NO_PLACE, ONNX_MAY_BE_PLACE, ONNX_TUPLES };

typedef struct onnx_initial {
    ebb_tensor_row row;
    const void *data;
} onnx_initial;

/* A node that cannot be imported. The first ones are kept. */
typedef struct onnx_refusal {
    const onnx_node *node;
    const char *why;
} onnx_refusal;
enum { ONNX_MAX_REFUSALS = 4096 };

/* Where the samples of a value are: samples.c. */
typedef struct onnx_samples {
    int64_t before; /* places of its axis with N before the samples: [before,N,behind]; 0: not known */
    bool guessed;   /* the axis is one of several that a batch of 1 may have been in */
    bool numbered;  /* tuples whose first number is the sample's own */
    bool alike;     /* one place was expanded to as many, along the first axis, as the file has samples */
} onnx_samples;

typedef struct onnx_import {
    ebb_env *env;
    onnx_file *file;
    ebb_arena *arena; /* the file's */
    const ebb_onnx_options *options;
    bool rebind;   /* the first size of inputs is N, even if it is the number `batch` */
    int64_t batch; /* the file's own, 0: none */
    ebb_build *build[2];
    ebb_text text;
    EBB_ARRAY(const char *) id_name; /* by the builder's numbers */
    EBB_ARRAY(bool) id_given;        /* likewise: no op made it */
    EBB_ARRAY(onnx_samples) samples; /* likewise */
    EBB_ARRAY(onnx_value) values;
    EBB_ARRAY(onnx_initial) initial;
    onnx_names by_name;       /* places in values; EBB_NONE: hidden, as its graph is at its end */
    onnx_names taken, wanted; /* wanted: names that live nodes and outputs read, and how */
    onnx_names once;          /* branch.c: by what a graph in a node has, places in values */
    onnx_names read_as;       /* numbers.c */
    onnx_names reached;       /* what is computed from inputs' elements, once it was asked for */
    bool has_reached;
    const onnx_node *node;
    const onnx_node *head; /* the function at the first output, for the loss: loss.c */
    bool head_left_out;
    char why[ONNX_WHY];
    bool fatal; /* the builder failed or memory is out: the import cannot continue */
    ebb_status status;
    EBB_ARRAY(onnx_refusal) refused;
    uint32_t n_refused;
    int64_t n_folded;
    struct {
        size_t n_nodes, n_ops, n_bytes; /* of loops so far: nodes of their rounds, ops, text */
        size_t first, begin; /* of the outermost loop: the number of its first op; where its text begins */
        uint32_t depth;      /* loops in loops */
    } unrolled;
} onnx_import;

/* ---- core.c: for ops ----
 *
 * After a refusal they do nothing and return EBB_BUILD_NONE, 0 or empty values. */

EBB_PRINTF(2, 3) void onnx_refuse(onnx_import *im, const char *format, ...);
bool onnx_stopped(const onnx_import *im);
/* The node's operand i: whether it is there; its value; its number in the builder. */
bool onnx_has(const onnx_import *im, uint32_t i);
const onnx_value *onnx_operand(onnx_import *im, uint32_t i);
uint32_t onnx_in(onnx_import *im, uint32_t i);
/* Whether operand i is a tensor of the file, or known numbers. */
bool onnx_is_given(onnx_import *im, uint32_t i);
onnx_shape onnx_shape_of(onnx_import *im, uint32_t id);
bool onnx_is_real(onnx_import *im, uint32_t id);
/* The file's type of operand i; for a computed value, a type with its dtype. */
int32_t onnx_type_of(onnx_import *im, uint32_t i);
const char *onnx_dtype_of(onnx_import *im, uint32_t id, char text[8]);
/* The number meant by a float in the file: the shortest decimal that rounds to it. */
double onnx_meant(double f);
/* Makes an operand of known numbers: a constant if all are equal and finite, else a state. type: as in the
 * file. */
uint32_t onnx_table(onnx_import *im, int32_t type, const onnx_shape *shape, const double *at);
/* Whether the elements of FOLDED or INITIAL v are equal, and finite. */
bool onnx_is_uniform(const onnx_value *v);
/* The numbers of operand i, which must be known, for both sizes. */
bool onnx_numbers(onnx_import *im, uint32_t i, const double *at[2], int64_t *n);
/* The same, equal for both sizes. */
const double *onnx_fixed(onnx_import *im, uint32_t i, int64_t *n);
/* Adds an op; attributes as in docs/ir.md, or NULL. */
uint32_t onnx_op(onnx_import *im, const char *op, const uint32_t *in, uint32_t n_in,
                 const char *attributes);
/* Adds an op with two results; returns the number of the first, and the second's is one more. */
uint32_t onnx_op_two(onnx_import *im, const char *op, uint32_t x, const char *attributes);
EBB_PRINTF(4, 5) uint32_t onnx_op1(onnx_import *im, const char *op, uint32_t x, const char *format, ...);
uint32_t onnx_op2(onnx_import *im, const char *op, uint32_t a, uint32_t b);
/* times * x + plus */
uint32_t onnx_rescale(onnx_import *im, uint32_t x, double times, double plus);
/* A tensor filled with value, of this shape and like's dtype. */
uint32_t onnx_fill(onnx_import *im, const onnx_shape *shape, uint32_t like, double value);
/* A single value of like's dtype. */
uint32_t onnx_number(onnx_import *im, uint32_t like, double value);
/* a where the condition holds, else b. */
uint32_t onnx_either(onnx_import *im, uint32_t condition, uint32_t a, uint32_t b);
/* Takes n known places of x along an axis, in that order, with repetitions. */
uint32_t onnx_take(onnx_import *im, uint32_t x, uint32_t axis, const double *places, int64_t n);
/* Refuses a result with more axes than Ebb supports; returns whether it did. */
bool onnx_beyond_rank(onnx_import *im, int64_t rank);
/* Reshapes, in logical order. */
uint32_t onnx_reshape(onnx_import *im, uint32_t x, const onnx_shape *shape);
/* order: of all n axes. */
uint32_t onnx_permute(onnx_import *im, uint32_t x, const uint32_t *order, uint32_t n);
uint32_t onnx_broadcast(onnx_import *im, uint32_t x, const onnx_shape *shape);
/* Places [begin, begin + size) along an axis. */
uint32_t onnx_slice(onnx_import *im, uint32_t x, uint32_t axis, const int64_t begin[2],
                    const int64_t size[2]);
uint32_t onnx_concat(onnx_import *im, const uint32_t *in, uint32_t n, uint32_t axis);
/* Pads an axis with `before` and `after` places of value. */
uint32_t onnx_pad(onnx_import *im, uint32_t x, uint32_t axis, int64_t before, int64_t after, double value);

/* "N*3", "[N,3]". */
#define ONNX_SIZE_TEXT  72
#define ONNX_SHAPE_TEXT (ONNX_MAX_RANK * ONNX_SIZE_TEXT + 2)
const char *onnx_size_text(onnx_import *im, int64_t a, int64_t b, char text[ONNX_SIZE_TEXT]);
const char *onnx_shape_text(onnx_import *im, const onnx_shape *shape, char text[ONNX_SHAPE_TEXT]);

/* Results. */
void onnx_give(onnx_import *im, uint32_t k, uint32_t id);
void onnx_give_tensor(onnx_import *im, uint32_t k, const onnx_tensor *t);
void onnx_give_known(onnx_import *im, uint32_t k, int32_t type, const onnx_shape *shape,
                     const double *at[2]);
/* Whether result k has a name that a live node or an output reads. */
bool onnx_wants(const onnx_import *im, uint32_t k);
double *onnx_folded(onnx_import *im, int64_t n);

/* Attributes of the node. */
const onnx_attribute *onnx_attr(const onnx_import *im, const char *name);
int64_t onnx_attr_int(const onnx_import *im, const char *name, int64_t otherwise);
double onnx_attr_real(const onnx_import *im, const char *name, double otherwise);
const char *onnx_attr_text(const onnx_import *im, const char *name, const char *otherwise);
/* Reads a list of exactly n into out, each `otherwise` if the attribute is missing. */
bool onnx_attr_list(onnx_import *im, const char *name, uint32_t n, int64_t otherwise, int64_t *out);
/* A file's number as an integer, clamped to +-2^40, which no size or place reaches; 0 for NaN. */
static inline int64_t onnx_whole(double x) {
    const double most = 0x1p40;
    return x >= most ? (int64_t)most : x <= -most ? -(int64_t)most : x == x ? (int64_t)x : 0;
}
/* Whether a text is in a list, which NULL ends. */
static inline bool onnx_is_in(const char *text, const char *const *list) {
    while (*list && strcmp(*list, text) != 0) list++;
    return *list != NULL;
}
/* Equal, or NaN both. */
static inline bool onnx_same_number(double a, double b) {
    return a == b || (a != a && b != b);
}
/* An axis in [0, rank), counted from the end if negative. */
uint32_t onnx_axis(onnx_import *im, int64_t axis, uint32_t rank);
/* A place, counted from the end if negative, clamped to [0, size]. */
int64_t onnx_place(double at, int64_t size);
/* Writes axes given as bits: "0,2". */
#define ONNX_AXES_TEXT (3 * ONNX_MAX_RANK)
const char *onnx_axes_text(uint32_t bits, char text[ONNX_AXES_TEXT]);
/* Axes from an attribute or, since some opset, from operand i; as bits. false: none given. */
bool onnx_axes(onnx_import *im, uint32_t i, uint32_t rank, uint32_t *bits);

/* Axes [from, rank) as bits. */
static inline uint32_t onnx_axes_from(uint32_t from, uint32_t rank) {
    return rank > from ? (1U << rank) - (1U << from) : 0;
}
static inline int64_t onnx_count(const onnx_shape *shape, uint32_t which) {
    int64_t n = 1;
    for (uint32_t d = 0; d < shape->rank; d++)
        if (!ebb_mul_i64(n, shape->dim[which][d], &n)) return -1;
    return n;
}
static inline bool onnx_same_shape(const onnx_shape *a, const onnx_shape *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->dim[0][d] != b->dim[0][d] || a->dim[1][d] != b->dim[1][d]) return false;
    return true;
}

/* ---- rules/: tables of ops, NULL at their ends ---- */

typedef struct onnx_rule {
    const char *op;
    void (*make)(onnx_import *im);
} onnx_rule;
extern const onnx_rule onnx_rules_pointwise[], onnx_rules_products[], onnx_rules_norms[],
    onnx_rules_shapes[], onnx_rules_windows[], onnx_rules_reductions[], onnx_rules_places[],
    onnx_rules_resize[], onnx_rules_activations[], onnx_rules_einsum[], onnx_rules_attention[],
    onnx_rules_choices[], onnx_rules_slices[], onnx_rules_gathers[], onnx_rules_draws[],
    onnx_rules_learners[], onnx_rules_tuples[], onnx_rules_cells[], onnx_rules_scatters[];
/* reductions.c. The square root of a sum of squares, whose gradient at 0 is 0. */
uint32_t onnx_root(onnx_import *im, uint32_t x);
/* norms.c. Whether operand i is a statistic that was not made, as BatchNormalization has its samples'. */
bool onnx_measures(const onnx_import *im, uint32_t i);
/* Where(IsNaN(y), 0, y) of y, a Softmax: rows that a mask leaves nothing of are 0. Its gradient
 * has no NaN either, which y's own would have. false: it is not such a node. */
bool onnx_masked_softmax(onnx_import *im);

/* ---- frozen.c ---- */

/* Operand i; of one that was made for the batch of a file, and is the same for each sample, the first
 * sample's where `other`, of as many axes, has N samples. */
uint32_t onnx_in_beside(onnx_import *im, uint32_t i, const onnx_shape *other);
/* The numbers 0, 1, ... of N samples for operand 0 of a Concat along the last axis that only GatherND
 * reads, where the file has them of its own batch; EBB_BUILD_NONE: it has not. other: the shape of the
 * operand with N. */
uint32_t onnx_sample_numbers(onnx_import *im, uint32_t axis, const onnx_shape *other);

/* ---- samples.c ---- */

/* Takes note of where the samples of a value are that an op made of others; refuses an op that would mix
 * the samples of a guess. */
void onnx_samples_note(onnx_import *im, const char *op, const uint32_t *in, uint32_t n_in,
                       const char *attributes, uint32_t id);
/* Finds N in `out`, x's shape after a Reshape as the file has it, for its own batch; open: the axis that
 * the file leaves open, EBB_NONE: none. false: N has no place there. */
bool onnx_samples_find(onnx_import *im, uint32_t x, onnx_shape *out, uint32_t open, bool *guessed);
/* The value is one of a guess. */
void onnx_samples_guess(onnx_import *im, uint32_t id);
/* Its loss is of classes along this axis: no place of the samples' axis, if that is a guess. */
void onnx_samples_settle(onnx_import *im, uint32_t id, uint32_t axis);

/* ---- rules/recurrent.c: for loops ---- */

/* Each of the n places along an axis, without it. By halves: the gradient of a part is as large as what it
 * is a part of. And all of them along a new axis; their own numbers are lost. */
void onnx_apart(onnx_import *im, uint32_t x, uint32_t axis, int64_t n, uint32_t *out);
uint32_t onnx_together(onnx_import *im, uint32_t *part, int64_t n, uint32_t axis);

/* Around a loop that is unrolled; more: after a round, of so many nodes. Refuses what is too much for a
 * file of any size. */
void onnx_unroll_begin(onnx_import *im);
bool onnx_unroll_more(onnx_import *im, int64_t n_nodes);
void onnx_unroll_end(onnx_import *im);

#endif
