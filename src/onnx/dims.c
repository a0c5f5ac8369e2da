/* dims: what inputs' sizes without a number are called, and which of them were given. */
#include <stdio.h>

#include "onnx/stages.h"

/* ---- names ---- */

enum { MOST_BYTES = 40 };

typedef struct naming {
    onnx_file *file;
    onnx_names taken; /* names, each with the last number that was put behind it */
    onnx_names made;  /* the file's names that are none here, with the place of what they became */
    const char *name[ONNX_MAX_MADE_DIMS];
    uint32_t n;
} naming;

static bool letter(char c) {
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

static bool digit(char c) {
    return c >= '0' && c <= '9';
}

/* Whether docs/ir.md takes it for a dim, and an error has room for it. */
static bool is_word(const char *name) {
    size_t n = 0;
    while (letter(name[n]) || digit(name[n])) n++;
    return name[n] == '\0' && n > 0 && n <= MOST_BYTES && !digit(name[0]);
}

/* N is the batch, the first axis. */
static bool is_settled(const onnx_port *port, uint32_t d) {
    const char *symbol = port->symbol[d];
    if (port->dim[d] > 0 || (d == 0 && symbol[0] == '\0')) return true;
    return is_word(symbol) && (d == 0 || strcmp(symbol, "N") != 0);
}

/* like, with _ for what a dim may not have; NULL: no memory. */
static const char *make_name(naming *m, const char *like) {
    char *name = EBB_NEW(&m->file->arena, char, MOST_BYTES + 16), *stem;
    size_t n = 0;
    if (!name) return NULL;
    if (digit(like[0])) name[n++] = '_';
    for (const char *c = like; *c != '\0' && n < MOST_BYTES; c++)
        if (letter(*c) || digit(*c))
            name[n++] = *c;
        else if (n > 0 && name[n - 1] != '_')
            name[n++] = '_';
    while (n > 1 && name[n - 1] == '_') n--;
    if (n == 0) name[n++] = 'd';
    name[n] = '\0';
    uint32_t last = onnx_names_find(&m->taken, name);
    if (last != EBB_NONE) {
        if (!(stem = ebb_arena_text(&m->file->arena, name))) return NULL;
        do (void)snprintf(name + n, 16, "_%u", ++last);
        while (onnx_names_find(&m->taken, name) != EBB_NONE);
        if (!onnx_names_put(m->file->env, &m->taken, stem, last)) return NULL;
    }
    return onnx_names_put(m->file->env, &m->taken, name, 0) ? name : NULL;
}

/* One name for all axes that the file calls alike; an axis without a name has one of its own. */
static ebb_status name_axis(naming *m, onnx_port *port, uint32_t d) {
    const char *symbol = port->symbol[d];
    const uint32_t at = symbol[0] ? onnx_names_find(&m->made, symbol) : EBB_NONE;
    char place[MOST_BYTES + 16];
    port->symbol[d] = at != EBB_NONE ? m->name[at] : "";
    if (at != EBB_NONE || m->n == ONNX_MAX_MADE_DIMS) return EBB_OK;
    (void)snprintf(place, sizeof place, "%.*s_%u", MOST_BYTES - 4, port->name, d);
    const char *name = make_name(m, symbol[0] ? symbol : place);
    if (!name || (symbol[0] && !onnx_names_put(m->file->env, &m->made, symbol, m->n))) return EBB_NO_MEMORY;
    port->symbol[d] = m->name[m->n++] = name;
    return EBB_OK;
}

static ebb_status name_axes(naming *m) {
    bool there = onnx_names_put(m->file->env, &m->taken, "N", 0);
    for (uint32_t i = 0; i < m->file->graph.n_inputs; i++) {
        onnx_port *port = &m->file->graph.inputs[i];
        for (uint32_t d = 0; d < port->rank && there; d++) {
            if (port->dim[d] > 0) port->symbol[d] = "";
            if (port->dim[d] == 0 && is_word(port->symbol[d]))
                there = onnx_names_put(m->file->env, &m->taken, port->symbol[d], 0);
        }
    }
    ebb_status status = there ? EBB_OK : EBB_NO_MEMORY;
    for (uint32_t i = 0; i < m->file->graph.n_inputs; i++) {
        onnx_port *port = &m->file->graph.inputs[i];
        for (uint32_t d = 0; d < port->rank && status == EBB_OK; d++)
            if (!is_settled(port, d)) status = name_axis(m, port, d);
    }
    return status;
}

ebb_status onnx_name_dims(onnx_file *file) {
    naming m = {.file = file};
    const ebb_status status = name_axes(&m);
    onnx_names_end(file->env, &m.taken);
    onnx_names_end(file->env, &m.made);
    return status;
}

/* ---- sizes ---- */

int64_t onnx_bound(const onnx_import *im, const char *symbol) {
    for (uint32_t i = 0; im->options && i < im->options->n_dims; i++)
        if (strcmp(im->options->dims[i].name, symbol) == 0) return im->options->dims[i].size;
    return 0;
}

ebb_status onnx_port_shape(const onnx_import *im, const onnx_port *port, onnx_shape *out) {
    out->rank = port->rank;
    for (uint32_t d = 0; d < port->rank; d++) {
        const char *symbol = port->symbol[d];
        const int64_t size = port->dim[d] > 0           ? port->dim[d]
                             : strcmp(symbol, "N") != 0 ? onnx_bound(im, symbol)
                                                        : 0;
        out->dim[0][d] = out->dim[1][d] = size;
        /* Another number is another thing than the batch. */
        if (d == 0 &&
            (size == 0 || (im->rebind && port->dim[0] <= 0) || (im->rebind && port->dim[0] == im->batch))) {
            out->dim[0][d] = ONNX_BATCH_A;
            out->dim[1][d] = ONNX_BATCH_B;
        } else if (size == 0 && symbol[0] != '\0') {
            return ebb_fail(im->env, EBB_BAD_INPUT,
                            "%.200s: input %.100s: axis %u has no size: give it with --dim %.60s=SIZE",
                            im->file->path, port->name, d, symbol);
        } else if (size == 0) {
            return ebb_fail(im->env, EBB_BAD_INPUT,
                            "%.200s: input %.100s: axis %u has no size and, as of more than %d, no name: "
                            "export it with a number",
                            im->file->path, port->name, d, ONNX_MAX_MADE_DIMS);
        }
    }
    return EBB_OK;
}

/* Where the batch is bound anew, first axes are N, whatever the file calls them. */
ebb_status onnx_refuse_dim(const onnx_import *im, const char *name) {
    char known[200] = "N, the batch,", mark[72];
    for (uint32_t p = 0; p < im->file->graph.n_inputs; p++) {
        for (uint32_t d = im->rebind; d < im->file->graph.inputs[p].rank; d++) {
            const char *symbol = im->file->graph.inputs[p].symbol[d];
            const size_t n = strlen(known);
            (void)snprintf(mark, sizeof mark, " %.60s,", symbol);
            if (symbol[0] != '\0' && !strstr(known, mark) && n + strlen(mark) < sizeof known)
                (void)snprintf(known + n, sizeof known - n, "%s", mark);
        }
    }
    return ebb_fail(im->env, EBB_USAGE, "%.200s has no dim %.60s: it has %.*s", im->file->path, name,
                    (int)strlen(known) - 1, known);
}
