/* ebb/build.h: a model made by calls instead of text, for importers and programs that generate networks.
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
 * Calls record declarations; types, ops and attributes are written as in the text form (docs/ir.md), dims
 * and all, and are checked as they come with each dim at its default. The model takes other sizes for its
 * dims wherever one of text does, and is built again from the declarations then. What a text says and what
 * the same calls say is one model: the same graph, plans and bits.
 *
 * The first error latches: later calls do nothing and return EBB_BUILD_NONE, ebb_build_status tells it, and
 * the env has its text, "mlp: %y: linear: x f32[32,784] has ...". Not for two threads at once.
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
/* Without making a model; NULL is allowed. */
EBB_API void ebb_build_destroy(ebb_build *build);

/* A symbolic dimension and its default, at least 1. Before what names it. */
EBB_API void ebb_build_dim(ebb_build *build, const char *name, int64_t size);

/* Given values, of a type like "f32[N,3,224,224]". Each returns the value's number; names are required. */
EBB_API uint32_t ebb_build_input(ebb_build *build, const char *name, const char *type);
/* init: "zero", "one", "kaiming", "uniform" or a number (docs/ir.md); NULL: zero. */
EBB_API uint32_t ebb_build_param(ebb_build *build, const char *name, const char *type, const char *init);
EBB_API uint32_t ebb_build_state(ebb_build *build, const char *name, const char *type, const char *init);
EBB_API uint32_t ebb_build_constant(ebb_build *build, const char *name, const char *type, double fill);

/* One op of docs/ir.md. names: of its results, "y" or "mean, variance"; NULL: names are made. in: n_in
 * values' numbers. attributes: "stride=2 pad=[1,0]", NULL: all defaults. Returns the first result's number;
 * a second result's is one more, and so on. O(operands), and O(name) to look it up. */
EBB_API uint32_t ebb_build_op(ebb_build *build, const char *names, const char *op, const uint32_t *in,
                              uint32_t n_in, const char *attributes);

/* An attribute by value: n sizes, or n 0: a real. true and false are the sizes 1 and 0 of one, and a dtype
 * is the size that its ebb_element is (ebb/run.h). */
typedef struct ebb_build_attribute {
    const char *name;
    const int64_t *sizes;
    uint32_t n; /* at most 8 */
    double real;
} ebb_build_attribute;
/* The same with attributes by value, which name no dims. */
EBB_API uint32_t ebb_build_op_with(ebb_build *build, const char *names, const char *op, const uint32_t *in,
                                   uint32_t n_in, const ebb_build_attribute *attributes,
                                   uint32_t n_attributes);

EBB_API void ebb_build_output(ebb_build *build, uint32_t value);
/* A scalar of f32 or f64 that an op made; at most one. */
EBB_API void ebb_build_loss(ebb_build *build, uint32_t value);

/* "f32[32,784]", with dims at their defaults; "" on a latched error. */
#define EBB_BUILD_TYPE_TEXT 192
EBB_API const char *ebb_build_type(const ebb_build *build, uint32_t value, char text[EBB_BUILD_TYPE_TEXT]);
/* The latched error's, whose text is put into the env again; EBB_OK while there is none. */
EBB_API ebb_status ebb_build_status(const ebb_build *build);

/* Ends the build, also on failure: the latched error, or what only the whole shows. The model is as one
 * that ebb_model_open gives, and is destroyed as such. */
EBB_API EBB_CHECKED ebb_status ebb_build_model(ebb_build *build, ebb_model **out);

#ifdef __cplusplus
}
#endif

#endif
