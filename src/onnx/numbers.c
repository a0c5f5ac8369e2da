/* numbers: which floats of rank 0 are numbers that an exporter made tensors, such as the slope of an
 * activation or what a mask is filled with. Others are parameters, such as a model's scale of its logits.
 * And which tensors are the buffers of a module, as the file says.
 */
#include "onnx/stages.h"

/* ---- what the file says ---- */

static bool is_text(const onnx_wire *bytes, const char *text) {
    const size_t n = strlen(text);
    return bytes->at && (size_t)(bytes->end - bytes->at) == n && memcmp(bytes->at, text, n) == 0;
}

/* An entry of a value's properties, as PyTorch's exporter and its optimizer write them. */
static bool says(onnx_wire entry, onnx_said *out) {
    onnx_field field;
    onnx_wire text[2] = {{NULL, NULL}, {NULL, NULL}};
    bool more;
    while (onnx_wire_next(&entry, &field, &more) && more)
        if (field.type == 2 && (field.number == 1 || field.number == 2))
            text[field.number - 1] = field.bytes;
    const bool kind = is_text(&text[0], "pkg.torch.export.graph_signature.InputSpec.kind");
    if (!kind && !is_text(&text[0], "pkg.onnxscript.optimizer.folded_from")) return false;
    out->trained = kind && is_text(&text[1], "PARAMETER");
    out->fixed = kind && (is_text(&text[1], "BUFFER") || is_text(&text[1], "CONSTANT_TENSOR"));
    return true;
}

ebb_status onnx_read_said(onnx_file *file, onnx_wire wire) {
    enum { NAME = 1, PROPERTY = 4 };
    onnx_said said = {.name = ""};
    onnx_wire name = {NULL, NULL};
    onnx_field field;
    bool more, known = false;
    while (onnx_wire_next(&wire, &field, &more)) {
        if (!more) {
            const ebb_status status = known && name.at ? onnx_text(file, &name, &said.name) : EBB_OK;
            if (status == EBB_OK && known) file->said[file->n_said++] = said;
            return status;
        }
        if (field.number == NAME && field.type == 2) name = field.bytes;
        if (field.number == PROPERTY && field.type == 2 && says(field.bytes, &said)) known = true;
    }
    return onnx_damaged(file, "what it says of a value");
}

/* ---- what names and ops tell ---- */

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

/* Exporters name what they make after ops and places, or count it. */
static bool is_made_name(const char *name) {
    static const char *const first[] = {"_", "val_", "scalar_tensor", "const", "Const"};
    const char *last = strrchr(name, '_');
    if (strstr(name, "::") || strchr(name, '/') || name[strspn(name, "0123456789")] == '\0') return true;
    if (last && last - name >= 7 && begins(last - 7, "_output_")) return true;
    for (size_t i = 0; i < EBB_COUNT(first); i++)
        if (begins(name, first[i])) return true;
    return false;
}

/* Whether a parameter may stand there. */
static bool may_be_trained(const char *op, uint32_t i) {
    static const struct {
        const char *op;
        uint32_t first;
    } numbers[] = {{"Where", 0},   {"Clip", 1},           {"Pad", 2},   {"Pow", 1},    {"Dropout", 1},
                   {"Equal", 0},   {"Less", 0},           {"Max", 0},   {"Min", 0},    {"LessOrEqual", 0},
                   {"Greater", 0}, {"GreaterOrEqual", 0}, {"Range", 0}, {"OneHot", 1}, {"Resize", 1}};
    for (size_t k = 0; k < EBB_COUNT(numbers); k++)
        if (strcmp(op, numbers[k].op) == 0) return i < numbers[k].first;
    return true;
}

/* ---- the decision ---- */

enum { READ_AS_WEIGHT = 1, SAID_NUMBER = 2, SAID_TRAINED = 3, SAID_FIXED = 4 };

/* What a branch reads of the graph around it, its own nodes read. */
static ebb_status look_at(onnx_import *im, const onnx_graph *graph, onnx_names *known) {
    for (uint32_t n = 0; n < graph->n_nodes; n++) {
        const onnx_node *node = &graph->nodes[n];
        for (uint32_t i = 0; i < node->n_in; i++)
            if (may_be_trained(node->op, i) && !onnx_names_put(im->env, known, node->in[i], READ_AS_WEIGHT))
                return EBB_NO_MEMORY;
        for (uint32_t k = 0; k < node->n_attributes; k++)
            if (node->attributes[k].branch && look_at(im, node->attributes[k].branch, known) != EBB_OK)
                return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

static ebb_status look(onnx_import *im, onnx_names *known) {
    const onnx_file *file = im->file;
    if (look_at(im, &file->graph, known) != EBB_OK) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < file->n_said; i++)
        if (!onnx_names_put(im->env, known, file->said[i].name,
                            file->said[i].trained ? SAID_TRAINED
                            : file->said[i].fixed ? SAID_FIXED
                                                  : SAID_NUMBER))
            return EBB_NO_MEMORY;
    return EBB_OK;
}

/* No parameter of one number is infinite, or nearly: a mask's filling is, and training it gives NaN. */
static bool is_number(const onnx_file *file, const onnx_names *known, const onnx_tensor *t) {
    if (t->rank != 0 || !t->bytes || onnx_is_whole(t->type)) return false;
    const double value = onnx_tensor_at(t, 0);
    const uint32_t how = onnx_names_find(known, t->name);
    if (!(value > -1e30 && value < 1e30)) return true;
    if (file->is_own || how == SAID_TRAINED) return false;
    if (how == SAID_NUMBER || how == SAID_FIXED || how == EBB_NONE) return true;
    return !strchr(t->name, '.') && is_made_name(t->name);
}

ebb_status onnx_numbers_find(onnx_import *im) {
    return look(im, &im->read_as);
}

onnx_meaning onnx_meaning_of(const onnx_import *im, const onnx_tensor *t) {
    if (is_number(im->file, &im->read_as, t)) return ONNX_IS_NUMBER;
    return onnx_names_find(&im->read_as, t->name) == SAID_FIXED ? ONNX_IS_BUFFER : ONNX_IS_ANY;
}
