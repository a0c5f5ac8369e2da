/* file: reads an ONNX file within limits: protobuf's wire format
 * (https://protobuf.dev/programming-guides/encoding) and the messages of onnx.proto that a model needs. It
 * interprets nothing.
 *
 * The file is mapped; texts and numbers are copied into the arena, tensors' raw bytes stay in the mapping.
 * Counts are limited so that no file, whatever it repeats, makes the arena larger than 64 MB plus twice its
 * own bytes.
 */
#ifndef EBB_ONNX_FILE_H
#define EBB_ONNX_FILE_H

#include "graph/graph.h"

enum {
    ONNX_MAX_NODES = 1 << 16,
    ONNX_MAX_TENSORS = 1 << 16,
    ONNX_MAX_NAMES = 1 << 18,      /* operands and results of all nodes */
    ONNX_MAX_ATTRIBUTES = 1 << 18, /* of all nodes */
    ONNX_MAX_NUMBERS = 1 << 20,    /* in attributes' lists, and short ones in tensors' lists, in total */
    ONNX_MAX_NAME_BYTES = 1024,
    ONNX_MAX_TEXTS = 6, /* that are read of a list: the activations of a recurrent op */
    ONNX_MAX_DEPTH = 8, /* of branches in branches */
    ONNX_MAX_RANK = EBB_MAX_RANK
};

/* TensorProto.DataType */
enum {
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_UINT16 = 4,
    ONNX_INT16 = 5,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_STRING = 8,
    ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10,
    ONNX_DOUBLE = 11,
    ONNX_UINT32 = 12,
    ONNX_UINT64 = 13,
    ONNX_BFLOAT16 = 16
};

typedef struct onnx_tensor {
    const char *name;
    int32_t type;
    uint32_t rank;
    int64_t dim[ONNX_MAX_RANK], count;
    const uint8_t *bytes; /* count elements, little-endian, at any address */
} onnx_tensor;

/* A message: bytes from at to end. */
typedef struct onnx_wire {
    const uint8_t *at, *end;
} onnx_wire;

typedef struct onnx_graph onnx_graph;
typedef struct onnx_attribute {
    const char *name;
    bool has_i, has_f, has_graph;
    int64_t i;
    double f;
    const char *s; /* NULL: none */
    const int64_t *ints;
    const double *floats;
    const char *const *texts; /* at most ONNX_MAX_TEXTS */
    uint32_t n_ints, n_floats, n_texts;
    const onnx_tensor *tensor; /* NULL: none */
    onnx_wire graph;           /* at NULL: none */
    const onnx_graph *branch;  /* it, of an If */
} onnx_attribute;

typedef struct onnx_node {
    const char *name, *op, *domain;
    const char **in, **out;
    uint32_t n_in, n_out, n_attributes;
    uint32_t n_read; /* names in `in`: operands and, of an If, what its branches read beside their own */
    const onnx_attribute *attributes;
} onnx_node;

/* An input or output of the graph. */
typedef struct onnx_port {
    const char *name;
    int32_t type; /* 0: not a tensor */
    bool shaped;
    uint32_t rank;
    int64_t dim[ONNX_MAX_RANK];        /* 0: not a number */
    const char *symbol[ONNX_MAX_RANK]; /* "": neither; of an input: onnx_name_dims */
} onnx_port;

struct onnx_graph {
    const char *name;
    onnx_node *nodes;
    onnx_tensor *tensors;
    onnx_port *inputs, *outputs;
    uint32_t n_nodes, n_tensors, n_inputs, n_outputs;
};

/* What the file's properties say of a value: whether it is a parameter, or a module's buffer. */
typedef struct onnx_said {
    const char *name;
    bool trained, fixed;
} onnx_said;

typedef struct onnx_mapped {
    const uint8_t *at;
    size_t n;
} onnx_mapped;

typedef struct onnx_file {
    ebb_env *env;
    ebb_arena arena;
    const char *path;
    onnx_mapped map;
    EBB_ARRAY(onnx_mapped) external; /* files of external data */
    EBB_ARRAY(char *) external_name;
    int64_t opset, n_numbers;
    uint32_t n_names, n_attributes_all;
    onnx_graph graph;
    onnx_said *said;
    uint32_t n_said, n_of[16]; /* of all graphs' fields by their numbers */
    uint32_t depth;            /* of the graph that is being read */
    bool is_own;               /* Ebb wrote it */
} onnx_file;

/* path is copied. On failure the file is closed already. EBB_IO, EBB_BAD_INPUT, EBB_NO_MEMORY. */
EBB_CHECKED ebb_status onnx_file_open(ebb_env *env, const char *path, onnx_file *out);
void onnx_file_close(onnx_file *file); /* safe on a zeroed struct */

/* A map from texts to numbers. */
typedef struct onnx_names {
    const char **key;
    uint32_t *value;
    size_t n, cap;
} onnx_names;
/* EBB_NONE: not there. */
uint32_t onnx_names_find(const onnx_names *names, const char *key);
/* key is borrowed. false: no memory. */
bool onnx_names_put(ebb_env *env, onnx_names *names, const char *key, uint32_t value);
void onnx_names_end(ebb_env *env, onnx_names *names);

/* Bytes per element; 0 for types that are not read (texts, 8-bit floats and the like). */
int64_t onnx_type_bytes(int32_t type);
const char *onnx_type_name(int32_t type);
bool onnx_is_whole(int32_t type); /* an integer or boolean type */
bool onnx_is_f32(int32_t type);   /* a float type that becomes f32, including 16-bit floats */
/* Element i as a double. */
double onnx_tensor_at(const onnx_tensor *tensor, int64_t i);

/* ---- the parts of the reader ---- */

/* A field: its number, and its value (types 0, 1, 5) or bytes (type 2). */
typedef struct onnx_field {
    uint32_t number, type;
    uint64_t value;
    onnx_wire bytes;
} onnx_field;
/* Reads the next field; *more is false at the end. false: the bytes are damaged. */
bool onnx_wire_next(onnx_wire *wire, onnx_field *out, bool *more);
bool onnx_wire_varint(onnx_wire *wire, uint64_t *out);

/* Copies a text, NUL-terminated, into the arena. EBB_BAD_INPUT: it is too long, or has a NUL. */
EBB_CHECKED ebb_status onnx_text(onnx_file *file, const onnx_wire *bytes, const char **out);
/* Reads a TensorProto. */
EBB_CHECKED ebb_status onnx_read_tensor(onnx_file *file, onnx_wire wire, onnx_tensor *out);
EBB_CHECKED ebb_status onnx_read_node(onnx_file *file, onnx_wire wire, onnx_node *out);
EBB_CHECKED ebb_status onnx_read_graph(onnx_file *file, onnx_wire wire, onnx_graph *out);
/* numbers.c. Reads a ValueInfoProto's properties. */
EBB_CHECKED ebb_status onnx_read_said(onnx_file *file, onnx_wire wire);
/* Maps n bytes from byte `from` of a file beside the model; n -1: to its end. */
EBB_CHECKED ebb_status onnx_external(onnx_file *file, const char *name, int64_t from, int64_t n,
                                     onnx_mapped *out);
ebb_status onnx_damaged(const onnx_file *file, const char *what);
/* Fails for a tensor, input or output with more axes than ONNX_MAX_RANK. */
ebb_status onnx_too_deep(const onnx_file *file, const char *what, const char *name, uint32_t rank);

#endif
