/* onnx: the public calls (ebb/onnx.h). */
#include "ebb/onnx.h"

#include <stdio.h>

#include "onnx/export/export.h"
#include "onnx/stages.h"

struct ebb_onnx {
    onnx_file file;
    onnx_import import;
};

static void import_init(ebb_onnx *onnx, const ebb_onnx_options *options, bool rebind) {
    onnx->import =
        (onnx_import){.env = onnx->file.env, .file = &onnx->file, .options = options, .rebind = rebind};
}

static int64_t batch_asked(const ebb_onnx_options *options) {
    for (uint32_t i = 0; options && i < options->n_dims; i++)
        if (strcmp(options->dims[i].name, "N") == 0) return options->dims[i].size;
    return 0;
}

/* The batch is freed where the graph allows it, even where the file has a number; otherwise the number
 * stays, and no other can be asked for. */
static ebb_status import_file(ebb_onnx *onnx, const ebb_onnx_options *options) {
    const bool fixed = options && options->fixed;
    char why[256];
    import_init(onnx, options, !fixed);
    ebb_status status = onnx_import_run(&onnx->import);
    if (status != EBB_BAD_INPUT || fixed || onnx->import.batch == 0) return status;
    (void)snprintf(why, sizeof why, "%s", ebb_env_error(onnx->file.env));
    onnx_import_end(&onnx->import);
    import_init(onnx, options, false);
    status = onnx_import_run(&onnx->import);
    const int64_t asked = batch_asked(options), batch = onnx->import.batch;
    if (status != EBB_OK || asked == 0 || asked == batch) return status;
    return ebb_fail(onnx->file.env, EBB_BAD_INPUT, "%.200s: its batch is %lld and cannot become %lld: %s",
                    onnx->file.path, (long long)batch, (long long)asked, why);
}

ebb_status ebb_onnx_open(ebb_env *env, const char *path, const ebb_onnx_options *options, ebb_onnx **out) {
    *out = NULL;
    ebb_onnx *onnx = ebb_calloc(env, 1, sizeof *onnx);
    if (!onnx) return EBB_NO_MEMORY;
    ebb_status status = onnx_file_open(env, path, &onnx->file);
    if (status != EBB_OK) {
        ebb_cfree(env, onnx, 1, sizeof *onnx);
        return status;
    }
    onnx->import.env = env; /* for what closes it */
    status = onnx_name_dims(&onnx->file);
    if (status == EBB_OK) status = import_file(onnx, options);
    onnx->import.options = NULL;
    if (status == EBB_BAD_INPUT) onnx_each_refused(&onnx->import, options);
    if (status != EBB_OK) {
        ebb_onnx_close(onnx);
        return status;
    }
    *out = onnx;
    return EBB_OK;
}

void ebb_onnx_close(ebb_onnx *onnx) {
    if (!onnx) return;
    ebb_env *env = onnx->import.env;
    onnx_import_end(&onnx->import);
    onnx_file_close(&onnx->file);
    ebb_cfree(env, onnx, 1, sizeof *onnx);
}

const char *ebb_onnx_text(const ebb_onnx *onnx, size_t *n) {
    if (n) *n = onnx->import.text.n;
    return onnx->import.text.at;
}

ebb_status ebb_onnx_model(const ebb_onnx *onnx, ebb_model **out) {
    return ebb_model_parse(onnx->import.env, onnx->file.path, onnx->import.text.at, onnx->import.text.n,
                           out);
}

uint32_t ebb_onnx_n_initial(const ebb_onnx *onnx) {
    return (uint32_t)onnx->import.initial.n;
}

const ebb_tensor_row *ebb_onnx_initial(const ebb_onnx *onnx, uint32_t i) {
    return i < onnx->import.initial.n ? &onnx->import.initial.at[i].row : NULL;
}

ebb_status ebb_onnx_feed(const ebb_onnx *onnx, ebb_program *program) {
    for (size_t i = 0; i < onnx->import.initial.n; i++) {
        const onnx_initial *initial = &onnx->import.initial.at[i];
        const size_t bytes = (size_t)initial->row.bytes;
        void *copy = ebb_alloc_aligned(onnx->import.env, bytes, 16); /* the file has it at any address */
        if (!copy) return EBB_NO_MEMORY;
        memcpy(copy, initial->data, bytes);
        const ebb_status status = ebb_feed(program, initial->row.name, copy, bytes);
        ebb_free_aligned(onnx->import.env, copy, bytes, 16);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

/* Initial values as lists. */
typedef struct listed {
    ebb_tensor_row *rows;
    const void **data;
    size_t n;
} listed;

static ebb_status list_initial(const ebb_onnx *onnx, listed *out) {
    *out = (listed){.n = onnx->import.initial.n};
    out->rows = ebb_calloc(onnx->import.env, out->n, sizeof *out->rows);
    out->data = ebb_calloc(onnx->import.env, out->n, sizeof *out->data);
    if (!out->rows || !out->data) return EBB_NO_MEMORY;
    for (size_t i = 0; i < out->n; i++) {
        out->rows[i] = onnx->import.initial.at[i].row;
        out->data[i] = onnx->import.initial.at[i].data;
    }
    return EBB_OK;
}

static void list_free(const ebb_onnx *onnx, listed *list) {
    ebb_cfree(onnx->import.env, list->rows, list->n, sizeof *list->rows);
    ebb_cfree(onnx->import.env, (void *)list->data, list->n, sizeof *list->data);
}

ebb_status ebb_onnx_write(const ebb_onnx *onnx, const char *path) {
    listed list;
    ebb_status status = list_initial(onnx, &list);
    if (status == EBB_OK)
        status = ebb_tensors_write(onnx->import.env, path, list.rows, (const void *const *)list.data,
                                   (uint32_t)list.n, NULL, 0);
    list_free(onnx, &list);
    return status;
}

/* The file's inputs and outputs as the model has them. */
typedef struct listed_border {
    onnx_border_row *rows;
    size_t n;
    onnx_border border;
} listed_border;

/* Is the first output's value another one's, too? */
static bool is_output_too(const ebb_onnx *onnx, uint32_t id) {
    const onnx_import *im = &onnx->import;
    for (uint32_t i = 1; i < onnx->file.graph.n_outputs; i++)
        if (im->values.at[onnx_names_find(&im->by_name, onnx->file.graph.outputs[i].name)].id == id)
            return true;
    return false;
}

static ebb_status list_border(const ebb_onnx *onnx, listed_border *out) {
    const onnx_import *im = &onnx->import;
    const onnx_file *file = &onnx->file;
    *out = (listed_border){.n = (size_t)file->graph.n_inputs + file->graph.n_outputs};
    out->rows = ebb_calloc(im->env, out->n, sizeof *out->rows);
    if (!out->rows) return EBB_NO_MEMORY;
    out->border = (onnx_border){.inputs = out->rows, .outputs = out->rows + file->graph.n_inputs};
    for (uint32_t i = 0; i < file->graph.n_inputs; i++) {
        const onnx_port *port = &file->graph.inputs[i];
        const onnx_value *v = &im->values.at[onnx_names_find(&im->by_name, port->name)];
        if (v->kind != ONNX_GRAPH) continue; /* an initializer, which opsets below 9 list, too */
        out->rows[out->border.n_inputs++] =
            (onnx_border_row){im->id_name.at[v->id], port->name, port->type == ONNX_INT64};
    }
    for (uint32_t i = 0; i < file->graph.n_outputs; i++) {
        const onnx_port *port = &file->graph.outputs[i];
        const onnx_value *v = &im->values.at[onnx_names_find(&im->by_name, port->name)];
        /* What it says is left out: it has a name of its own, or is the output that has one. */
        const char *name = i == 0 && im->head_left_out ? NULL : port->name;
        if (!name && is_output_too(onnx, v->id)) continue;
        out->rows[file->graph.n_inputs + out->border.n_outputs++] =
            (onnx_border_row){im->id_name.at[v->id], name, port->type == ONNX_INT64};
    }
    return EBB_OK;
}

/* From the weights of a file, or of `initial`. */
static ebb_status export_model(ebb_env *env, const ebb_model *model, const ebb_onnx_export_options *options,
                               const onnx_border *border, const char *path) {
    const onnx_source file = {.path = options->weights};
    if (options->weights) return onnx_export_run(env, model, options, &file, border, path);
    if (!options->initial)
        return ebb_fail(env, EBB_USAGE, "no weights to export: give a file that a run saved (--weights)");
    listed list;
    ebb_status status = list_initial(options->initial, &list);
    const onnx_source initial = {
        .rows = list.rows, .data = (const void *const *)list.data, .n = (uint32_t)list.n};
    if (status == EBB_OK) status = onnx_export_run(env, model, options, &initial, border, path);
    list_free(options->initial, &list);
    return status;
}

ebb_status ebb_onnx_export(ebb_env *env, const ebb_model *model, const ebb_onnx_export_options *options,
                           const char *path) {
    listed_border there = {NULL};
    if (ebb_model_is_planning_graph(model))
        return ebb_fail(env, EBB_USAGE, "a planning graph says no shapes: export a model (*.ebb, *.onnx)");
    ebb_status status = options->initial ? list_border(options->initial, &there) : EBB_OK;
    if (status == EBB_OK)
        status = export_model(env, model, options, options->initial ? &there.border : NULL, path);
    if (options->initial) ebb_cfree(options->initial->import.env, there.rows, there.n, sizeof *there.rows);
    return status;
}
