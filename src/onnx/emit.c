/* emit: a call of both builders, and its line of text. */
#include <stdio.h>

#include "onnx/import.h"
#include "onnx/emit.h"

static void out_of_memory(onnx_import *im) {
    im->fatal = true;
    im->status = EBB_NO_MEMORY;
}

/* ---- sizes as text ---- */

const char *onnx_size_text(onnx_import *im, int64_t a, int64_t b, char text[ONNX_SIZE_TEXT]) {
    int64_t over = 0, under = 0;
    text[0] = '\0';
    if (a == b) {
        (void)snprintf(text, ONNX_SIZE_TEXT, "%lld", (long long)a);
        return text;
    }
    if (!onnx_of_batch(a, b, &over, &under)) {
        onnx_refuse(im, "a size that is no multiple of the batch: %lld at N=%d, %lld at N=%d", (long long)a,
                    ONNX_BATCH_A, (long long)b, ONNX_BATCH_B);
        return text;
    }
    int n = snprintf(text, ONNX_SIZE_TEXT, "N");
    if (over > 1) n += snprintf(text + n, (size_t)(ONNX_SIZE_TEXT - n), "*%lld", (long long)over);
    if (under > 1) (void)snprintf(text + n, (size_t)(ONNX_SIZE_TEXT - n), "/%lld", (long long)under);
    return text;
}

const char *onnx_shape_text(onnx_import *im, const onnx_shape *shape, char text[ONNX_SHAPE_TEXT]) {
    char size[ONNX_SIZE_TEXT];
    size_t n = 0;
    text[n++] = '[';
    for (uint32_t d = 0; d < shape->rank; d++)
        n += (size_t)snprintf(text + n, ONNX_SHAPE_TEXT - n, "%s%s", d > 0 ? "," : "",
                              onnx_size_text(im, shape->dim[0][d], shape->dim[1][d], size));
    text[n++] = ']';
    text[n] = '\0';
    return text;
}

/* ---- names ---- */

/* Copies like, with what docs/ir.md does not allow as _, and a number behind it where it is taken. */
static const char *new_name(onnx_import *im, const char *like) {
    const size_t most = strlen(like) + 16;
    char *name = EBB_NEW(im->arena, char, most);
    if (!name) return out_of_memory(im), "";
    size_t n = 0;
    while (*like == '/') like++;
    for (const char *c = like; *c != '\0'; c++) {
        const bool plain = (*c >= '0' && *c <= '9') || ((*c | 32) >= 'a' && (*c | 32) <= 'z') ||
                           *c == '.' || *c == '-' || *c == '/';
        name[n++] = plain ? *c : '_';
    }
    if (n == 0) name[n++] = 'v';
    name[n] = '\0';
    uint32_t last = onnx_names_find(&im->taken, name);
    if (last != EBB_NONE) {
        char *stem = ebb_arena_text(im->arena, name);
        if (!stem) return out_of_memory(im), "";
        do (void)snprintf(name + n, most - n, ".%u", ++last);
        while (onnx_names_find(&im->taken, name) != EBB_NONE);
        if (!onnx_names_put(im->env, &im->taken, stem, last)) out_of_memory(im);
    }
    if (!onnx_names_put(im->env, &im->taken, name, 0)) out_of_memory(im);
    return name;
}

bool onnx_keep_rate(onnx_import *im) {
    for (uint32_t i = 0; i < im->file->graph.n_inputs; i++)
        if (im->file->graph.inputs[i].rank == 0 && strcmp(im->file->graph.inputs[i].name, "lr") == 0)
            return true;
    return onnx_names_put(im->env, &im->taken, "lr", 0);
}

/* ---- calls ---- */

/* Takes note of a new value, or of what the builder says against it. */
static uint32_t made(onnx_import *im, uint32_t id, const char *name, bool given) {
    for (int k = 0; k < 2; k++) {
        const ebb_status status = ebb_build_status(im->build[k]);
        if (status == EBB_OK) continue;
        if (status == EBB_BAD_INPUT) onnx_refuse(im, "%s", ebb_env_error(im->env));
        im->fatal = true;
        im->status = status;
        return EBB_BUILD_NONE;
    }
    while (im->id_name.n <= id)
        if (!EBB_PUSH(im->env, &im->id_name, name) || !EBB_PUSH(im->env, &im->id_given, given) ||
            !EBB_PUSH(im->env, &im->samples, ((onnx_samples){.before = 1})))
            return out_of_memory(im), EBB_BUILD_NONE;
    im->id_name.at[id] = name;
    im->id_given.at[id] = given;
    return id;
}

/* An op of one result, or of two, which `two` asks for. */
static uint32_t call(onnx_import *im, const char *op, const uint32_t *in, uint32_t n_in,
                     const char *attributes, bool two) {
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    for (uint32_t i = 0; i < n_in; i++)
        if (in[i] == EBB_BUILD_NONE) return EBB_BUILD_NONE;
    const char *like = im->node && im->node->n_out > 0 ? im->node->out[0] : "v";
    const char *name = new_name(im, like), *second = two ? new_name(im, like) : "";
    const size_t n_names = strlen(name) + strlen(second) + 4;
    char *names = EBB_NEW(im->arena, char, n_names);
    uint32_t id = EBB_BUILD_NONE;
    if (!names) out_of_memory(im);
    if (im->fatal) return id;
    (void)snprintf(names, n_names, "%s%s%s", name, two ? ", " : "", second);
    for (int k = 0; k < 2; k++) id = ebb_build_op(im->build[k], names, op, in, n_in, attributes);
    if (made(im, id, name, false) == EBB_BUILD_NONE ||
        (two && made(im, id + 1, second, false) == EBB_BUILD_NONE))
        return EBB_BUILD_NONE;
    for (uint32_t k = 0; k < (two ? 2 : 1); k++)
        onnx_samples_note(im, op, in, n_in, attributes ? attributes : "", id + k);
    ebb_text_add(&im->text, "%%%s%s%s = %s", name, two ? ", %" : "", second, op);
    for (uint32_t i = 0; i < n_in; i++)
        ebb_text_add(&im->text, "%s %%%s", i > 0 ? "," : "", im->id_name.at[in[i]]);
    ebb_text_add(&im->text, "%s%s\n", attributes && attributes[0] ? " " : "", attributes ? attributes : "");
    return id;
}

uint32_t onnx_op(onnx_import *im, const char *op, const uint32_t *in, uint32_t n_in,
                 const char *attributes) {
    return call(im, op, in, n_in, attributes, false);
}

uint32_t onnx_op_two(onnx_import *im, const char *op, uint32_t x, const char *attributes) {
    return call(im, op, &x, 1, attributes, true);
}

uint32_t onnx_declare(onnx_import *im, const char *word, const char *like, const char *type, double fill) {
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    const char *name = new_name(im, like);
    char real[EBB_REAL_TEXT];
    uint32_t id = EBB_BUILD_NONE;
    if (im->fatal) return id;
    for (int k = 0; k < 2; k++) {
        ebb_build *b = im->build[k];
        id = strcmp(word, "input") == 0   ? ebb_build_input(b, name, type)
             : strcmp(word, "param") == 0 ? ebb_build_param(b, name, type, NULL)
             : strcmp(word, "state") == 0 ? ebb_build_state(b, name, type, NULL)
                                          : ebb_build_constant(b, name, type, fill);
    }
    if (made(im, id, name, true) == EBB_BUILD_NONE) return EBB_BUILD_NONE;
    ebb_text_add(&im->text, "%%%s = %s %s", name, word, type);
    if (strcmp(word, "constant") == 0) ebb_text_add(&im->text, " fill=%s", ebb_real_text(fill, real));
    ebb_text_add(&im->text, "\n");
    return id;
}

uint32_t onnx_op1(onnx_import *im, const char *op, uint32_t x, const char *format, ...) {
    char attributes[1024];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(attributes, sizeof attributes, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof attributes) onnx_refuse(im, "attributes that are too long");
    return onnx_op(im, op, &x, 1, attributes);
}

uint32_t onnx_op2(onnx_import *im, const char *op, uint32_t a, uint32_t b) {
    return onnx_op(im, op, (uint32_t[]){a, b}, 2, NULL);
}

/* ---- types ---- */

static bool read_type(const char *text, uint32_t which, onnx_shape *out) {
    const char *at = strchr(text, '[');
    out->rank = 0;
    if (!at) return false;
    for (at++; *at != ']' && *at != '\0' && out->rank < ONNX_MAX_RANK; at += *at == ',') {
        int64_t size = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            size = size * 10 + (*at - '0'); /* the builder's own: it fits */
        out->dim[which][out->rank++] = size;
    }
    return *at == ']';
}

onnx_shape onnx_shape_of(onnx_import *im, uint32_t id) {
    char text[EBB_BUILD_TYPE_TEXT];
    onnx_shape shape = {.rank = 0};
    for (uint32_t k = 0; k < 2 && !onnx_stopped(im) && id != EBB_BUILD_NONE; k++)
        if (!read_type(ebb_build_type(im->build[k], id, text), k, &shape))
            onnx_refuse(im, "a type that is not known");
    return shape;
}

const char *onnx_dtype_of(onnx_import *im, uint32_t id, char text[8]) {
    char type[EBB_BUILD_TYPE_TEXT];
    (void)snprintf(text, 8, "f32");
    if (onnx_stopped(im) || id == EBB_BUILD_NONE) return text;
    (void)ebb_build_type(im->build[0], id, type);
    const size_t n = strcspn(type, "[");
    if (n < 8) (void)snprintf(text, 8, "%.*s", (int)n, type);
    return text;
}

bool onnx_is_real(onnx_import *im, uint32_t id) {
    char text[8];
    return onnx_dtype_of(im, id, text)[0] == 'f';
}
