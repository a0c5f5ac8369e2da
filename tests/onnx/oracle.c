/* protobuf-c as the oracle of the reader of ONNX files: what both of them take says the same, field by
 * field. A target as those of tests/fuzz: with EBB_FUZZ_MAIN truncations and mutations of files; the files
 * themselves must be taken by both. */
#include <math.h>

#include "ebb/base.h"
#include "../fuzz/fuzz.h"
#include "onnx/file.h"
#include "oracle.pb-c.h"

static const char *where = "";

static void same(bool equal, const char *what, size_t i) {
    if (equal) return;
    fprintf(stderr, "%s: %s %zu: protobuf-c reads it otherwise\n", where, what, i);
    abort();
}

static bool text(const char *ours, const char *theirs) {
    return strcmp(ours, theirs ? theirs : "") == 0;
}

static bool number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

/* The reader has 64 for all types beyond, of which protobuf keeps the low 32 bits. */
static bool type(int32_t ours, int32_t theirs) {
    return ours == theirs || ours == 64;
}

/* Element i of a list: as the file has it. */
static double element(const Oracle__Tensor *t, size_t i) {
    switch (t->type) {
    case ONNX_FLOAT:
        return (double)t->floats[i];
    case ONNX_DOUBLE:
        return t->doubles[i];
    case ONNX_INT64:
        return (double)t->int64s[i];
    case ONNX_UINT32:
    case ONNX_UINT64:
        return (double)t->uint64s[i];
    default:
        return (double)t->int32s[i];
    }
}

static bool whole_numbers(int32_t type) { /* others of int32s are bits of a float */
    return type != ONNX_FLOAT16 && type != ONNX_BFLOAT16;
}

static void compare_tensor(const onnx_tensor *a, const Oracle__Tensor *b, const char *what, size_t i) {
    same(text(a->name ? a->name : "", b->name), what, i);
    same(a->rank == b->n_dim && type(a->type, b->type), what, i);
    for (size_t d = 0; d < b->n_dim; d++) same(a->dim[d] == b->dim[d], what, i);
    const size_t n = (size_t)(a->count * onnx_type_bytes(a->type));
    if (!a->bytes || n == 0) return;
    if (b->has_raw) {
        same(b->raw.len == n && memcmp(a->bytes, b->raw.data, n) == 0, what, i);
        return;
    }
    for (int64_t k = 0; whole_numbers(a->type) && k < a->count; k++)
        same(number(onnx_tensor_at(a, k), element(b, (size_t)k)), what, i);
}

static void compare_attribute(const onnx_attribute *a, const Oracle__Attribute *b, size_t node) {
    same(text(a->name, b->name), "name of an attribute of node", node);
    same(a->has_i == b->has_i && a->has_f == b->has_f, "a number of node", node);
    same(!a->has_i || a->i == b->i, "i of node", node);
    same(!a->has_f || number(a->f, (double)b->f), "f of node", node);
    same((a->s != NULL) == b->has_s, "s of node", node);
    same(!a->s || (strlen(a->s) == b->s.len && memcmp(a->s, b->s.data, b->s.len) == 0), "s of node", node);
    same(a->n_ints == b->n_ints && a->n_floats == b->n_floats, "a list of node", node);
    for (size_t k = 0; k < b->n_ints; k++) same(a->ints[k] == b->ints[k], "ints of node", node);
    for (size_t k = 0; k < b->n_floats; k++)
        same(number(a->floats[k], (double)b->floats[k]), "floats of node", node);
    same((a->tensor != NULL) == (b->t != NULL), "t of node", node);
    if (a->tensor) compare_tensor(a->tensor, b->t, "t of node", node);
}

static void compare_node(const onnx_node *a, const Oracle__Node *b, size_t i) {
    same(text(a->name, b->name) && text(a->op, b->op) && text(a->domain, b->domain), "names of node", i);
    same(a->n_in == b->n_input && a->n_out == b->n_output, "operands of node", i);
    for (size_t k = 0; k < b->n_input; k++) same(text(a->in[k], b->input[k]), "an operand of node", i);
    for (size_t k = 0; k < b->n_output; k++) same(text(a->out[k], b->output[k]), "a result of node", i);
    same(a->n_attributes == b->n_attribute, "attributes of node", i);
    for (size_t k = 0; k < b->n_attribute; k++) compare_attribute(&a->attributes[k], b->attribute[k], i);
}

static void compare_port(const onnx_port *a, const Oracle__Port *b, const char *what, size_t i) {
    const Oracle__TensorType *t = b->type ? b->type->tensor : NULL;
    same(text(a->name, b->name), what, i);
    same(type(a->type, t ? t->element : 0) && a->shaped == (t && t->shape), what, i);
    if (!a->shaped) return;
    same(a->rank == t->shape->n_dim, what, i);
    for (size_t d = 0; d < a->rank; d++) {
        const Oracle__Dim *dim = t->shape->dim[d];
        same(a->dim[d] == (dim->value > 0 ? dim->value : 0) && text(a->symbol[d], dim->symbol), what, i);
    }
}

static void compare(const onnx_file *a, const Oracle__Model *b) {
    const Oracle__Graph *g = b->graph;
    same(g != NULL, "graph", 0);
    int64_t opset = 0;
    for (size_t i = 0; i < b->n_opset; i++)
        if (text("", b->opset[i]->domain) || text("ai.onnx", b->opset[i]->domain))
            opset = b->opset[i]->version;
    same(a->opset == opset && text(a->graph.name, g->name), "opset", (size_t)opset);
    same(a->graph.n_nodes == g->n_node && a->graph.n_tensors == g->n_tensor, "nodes and tensors",
         g->n_node);
    same(a->graph.n_inputs == g->n_input && a->graph.n_outputs == g->n_output, "inputs and outputs",
         g->n_input);
    for (size_t i = 0; i < g->n_node; i++) compare_node(&a->graph.nodes[i], g->node[i], i);
    for (size_t i = 0; i < g->n_tensor; i++)
        compare_tensor(&a->graph.tensors[i], g->tensor[i], "tensor", i);
    for (size_t i = 0; i < g->n_input; i++) compare_port(&a->graph.inputs[i], g->input[i], "input", i);
    for (size_t i = 0; i < g->n_output; i++) compare_port(&a->graph.outputs[i], g->output[i], "output", i);
}

static size_t n_both, n_ours; /* taken by both, by Ebb's reader alone */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char path[64];
    ebb_env *env;
    onnx_file file;
    (void)snprintf(path, sizeof path, "/dev/shm/oracle-%ld", (long)getpid());
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n || close(fd) != 0) abort();
    if (ebb_env_create(NULL, &env) != EBB_OK) abort();
    const ebb_status status = onnx_file_open(env, path, &file);
    Oracle__Model *model = oracle__model__unpack(NULL, n, data);
    if (status == EBB_OK && model) compare(&file, model);
    n_both += status == EBB_OK && model;
    n_ours += status == EBB_OK && !model;
    if (status == EBB_OK) onnx_file_close(&file);
    if (model) oracle__model__free_unpacked(model, NULL);
    ebb_env_destroy(env);
    (void)unlink(path);
    return 0;
}

static bool take(const char *path, const char *count) {
    static uint8_t whole[FUZZ_MAX_BYTES];
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(whole, 1, sizeof whole, file) : 0;
    if (file) (void)fclose(file);
    if (n == 0 || n == sizeof whole) return false;
    where = path;
    n_both = n_ours = 0;
    (void)LLVMFuzzerTestOneInput(whole, n);
    if (n_both != 1) return false;
    if (fuzz_file(path, atol(count)) != 0) return false;
    printf("%s: %zu taken by both and equal, %zu by Ebb alone\n", path, n_both, n_ours);
    return n_both > 1;
}

int main(int argc, char **argv) {
    const char *asked = getenv("EBB_TEST_MUTATIONS");
    for (int i = 2; i < argc; i++)
        if (!take(argv[i], asked ? asked : argv[1])) return 1;
    return argc > 2 ? 0 : 2;
}
