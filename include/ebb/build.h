/* ebb/build.h: builds a model by calls instead of text, for importers and network generators.
 *
 *     ebb_build_create(env, "mlp", &b);
 *     ebb_build_dim(b, "N", 32);
 *     uint32_t x = ebb_build_input(b, "x", "f32[N,784]"), labels = ebb_build_input(b, "labels", "i32[N]");
 *     uint32_t w = ebb_build_param(b, "w", "f32[10,784]", "uniform");
 *     uint32_t y = ebb_build_op(b, "y", "linear", (uint32_t[]){x, w}, 2, NULL);
 *     uint32_t loss = ebb_build_op(b, "loss", "softmax_xent", (uint32_t[]){y, labels}, 2, NULL);
 *     ebb_build_loss(b, loss);
 *     status = ebb_build_model(b, &model);
 *
 * Each call records a declaration. Types, ops and attributes use the syntax of the text form (docs/ir.md),
 * symbolic dims included, and are checked at once with each dim at its default. The model accepts other
 * sizes for its dims wherever a model read from text does, and is then rebuilt from the declarations. A
 * text and the equivalent calls give the same model: the same graph, plans and bits.
 *
 * The first error latches: later calls do nothing and return EBB_BUILD_NONE, ebb_build_status returns it,
 * and the env holds its text, "mlp: %y: linear: x f32[32,784] has ...". Not for two threads at once.
 */
#ifndef EBB_BUILD_H
#define EBB_BUILD_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_build ebb_build;
typedef struct ebb_model ebb_model; /* ebb/model.h */
#define EBB_BUILD_NONE UINT32_MAX

/* The name is the graph's: letters, digits and any of _ . - /. EBB_BAD_INPUT, EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_build_create(ebb_env *env, const char *name, ebb_build **out);
/* Frees a build without making a model; NULL is allowed. */
EBB_API void ebb_build_destroy(ebb_build *build);

/* Declares a symbolic dimension and its default size, at least 1. Must precede its first use. */
EBB_API void ebb_build_dim(ebb_build *build, const char *name, int64_t size);

/* Declare a value that no op makes, of a type like "f32[N,3,224,224]". Each call returns the value's
 * number; names are required. */
EBB_API uint32_t ebb_build_input(ebb_build *build, const char *name, const char *type);
/* init: "zero", "one", "kaiming", "uniform" or a number (docs/ir.md); NULL: zero. */
EBB_API uint32_t ebb_build_param(ebb_build *build, const char *name, const char *type, const char *init);
EBB_API uint32_t ebb_build_state(ebb_build *build, const char *name, const char *type, const char *init);
EBB_API uint32_t ebb_build_constant(ebb_build *build, const char *name, const char *type, double fill);

/* Adds an op of docs/ir.md. names: the results' names, "y" or "mean, variance"; NULL: generated. in: the
 * numbers of n_in values. attributes: "stride=2 pad=[1,0]"; NULL: all defaults. Returns the number of the
 * first result; further results are numbered consecutively. O(operands), plus O(name) to look up the op. */
EBB_API uint32_t ebb_build_op(ebb_build *build, const char *names, const char *op, const uint32_t *in,
                              uint32_t n_in, const char *attributes);

/* An attribute by value: n sizes, or, when n is 0, a real. A boolean is one size, 1 or 0; a dtype is one
 * size, its ebb_element (ebb/run.h). */
typedef struct ebb_build_attribute {
    const char *name;
    const int64_t *sizes;
    uint32_t n; /* at most 8 */
    double real;
} ebb_build_attribute;
/* As ebb_build_op, with attributes given by value, which cannot refer to dims. */
EBB_API uint32_t ebb_build_op_with(ebb_build *build, const char *names, const char *op, const uint32_t *in,
                                   uint32_t n_in, const ebb_build_attribute *attributes,
                                   uint32_t n_attributes);

EBB_API void ebb_build_output(ebb_build *build, uint32_t value);
/* Marks the loss, a scalar of f32 or f64 made by an op; at most one. */
EBB_API void ebb_build_loss(ebb_build *build, uint32_t value);

/* Writes and returns the value's type, "f32[32,784]", with dims at their defaults; "" after a latched
 * error. */
#define EBB_BUILD_TYPE_TEXT 192
EBB_API const char *ebb_build_type(const ebb_build *build, uint32_t value, char text[EBB_BUILD_TYPE_TEXT]);
/* Returns the latched error's status and sets the env's error text to it again; EBB_OK when there is
 * none. */
EBB_API ebb_status ebb_build_status(const ebb_build *build);

/* Ends the build, which is consumed even on failure. Returns the latched error, or one that only the
 * complete model shows. The model is used and destroyed like one from ebb_model_open. */
EBB_API EBB_CHECKED ebb_status ebb_build_model(ebb_build *build, ebb_model **out);

#ifdef __cplusplus
}
#endif

#endif
