/* fold_pointwise: one element of known numbers at a time, broadcast. */
#include <math.h>

#include "onnx/fold/fold.h"

static bool compute(const char *op, bool whole, double a, double b, double c, double *out) {
    const double q = a / b;
    if (strcmp(op, "Add") == 0) return *out = a + b, true;
    if (strcmp(op, "Sub") == 0) return *out = a - b, true;
    if (strcmp(op, "Mul") == 0) return *out = a * b, true;
    if (strcmp(op, "Div") == 0) return *out = whole ? (b == 0 ? 0 : trunc(q)) : q, true;
    if (strcmp(op, "Mod") == 0) return *out = b == 0 ? 0 : a - b * floor(q), true;
    if (strcmp(op, "fmod") == 0) return *out = b == 0 && whole ? 0 : fmod(a, b), true;
    if (strcmp(op, "Pow") == 0) return *out = pow(a, b), true;
    if (strcmp(op, "Max") == 0) return *out = a > b ? a : b, true;
    if (strcmp(op, "Min") == 0) return *out = a < b ? a : b, true;
    if (strcmp(op, "Clip") == 0) {
        const double raised = a < b ? b : a; /* NaN stays */
        return *out = raised > c ? c : raised, true;
    }
    if (strcmp(op, "Abs") == 0) return *out = fabs(a), true;
    if (strcmp(op, "Equal") == 0) return *out = a == b, true;
    if (strcmp(op, "Less") == 0) return *out = a < b, true;
    if (strcmp(op, "Greater") == 0) return *out = a > b, true;
    if (strcmp(op, "LessOrEqual") == 0) return *out = a <= b, true;
    if (strcmp(op, "GreaterOrEqual") == 0) return *out = a >= b, true;
    if (strcmp(op, "And") == 0) return *out = a != 0 && b != 0, true;
    if (strcmp(op, "Or") == 0) return *out = a != 0 || b != 0, true;
    if (strcmp(op, "Where") == 0) return *out = a != 0 ? b : c, true;
    if (strcmp(op, "Not") == 0) return *out = a == 0, true;
    if (strcmp(op, "Neg") == 0) return *out = -a, true;
    if (strcmp(op, "Sqrt") == 0) return *out = sqrt(a), true;
    if (strcmp(op, "Floor") == 0) return *out = floor(a), true;
    if (strcmp(op, "Ceil") == 0) return *out = ceil(a), true;
    if (strcmp(op, "Cast") == 0) return *out = whole ? trunc(a) : a, true;
    if (strcmp(op, "Identity") == 0 || strcmp(op, "Expand") == 0) return *out = a, true;
    return false;
}

static bool is_one_of(const char *op, const char *ops) {
    const size_t n = strlen(op);
    const char *at = strstr(ops, op);
    return at && at[-1] == ' ' && at[n] == ' ';
}

/* Were whole numbers rounded on the way? Of two that differ as doubles the order is known; two that are
 * equal may have been two. The largest of all stand for no end, in many files. */
static bool is_rounded(const char *op, const double *in, uint32_t n, double out) {
    bool far = onnx_is_far(out);
    for (uint32_t i = 0; i < n; i++) far = far || onnx_is_far(in[i]);
    if (is_one_of(op, " Equal Less Greater LessOrEqual GreaterOrEqual "))
        return far && in[0] == in[1] && fabs(in[0]) < 0x1p63;
    return far && is_one_of(op, " Add Sub Mul Div Mod fmod Pow Neg ");
}

static int64_t index_in(const onnx_shape *shape, const onnx_shape *out, int64_t i) {
    int64_t at = 0, stride = 1;
    for (uint32_t d = out->rank; d-- > 0; i /= out->dim[0][d]) {
        const int64_t e = (int64_t)d - (out->rank - (int64_t)shape->rank);
        if (e < 0) continue;
        if (shape->dim[0][e] != 1) at += i % out->dim[0][d] * stride;
        stride *= shape->dim[0][e];
    }
    return at;
}

static bool widen(onnx_shape *out, const onnx_shape *by) {
    onnx_shape wide = {.rank = out->rank > by->rank ? out->rank : by->rank};
    for (uint32_t d = 0; d < wide.rank; d++) {
        const int64_t i = (int64_t)d - (wide.rank - (int64_t)out->rank),
                      j = (int64_t)d - (wide.rank - (int64_t)by->rank);
        const int64_t a = i < 0 ? 1 : out->dim[0][i], b = j < 0 ? 1 : by->dim[0][j];
        if (a != b && a != 1 && b != 1) return false;
        wide.dim[0][d] = wide.dim[1][d] = a == 1 ? b : a;
    }
    *out = wide;
    return true;
}

static int32_t result_type(const onnx_import *im, const onnx_value *const v[3]) {
    const char *op = im->node->op;
    if (strcmp(op, "Cast") == 0) return (int32_t)onnx_attr_int(im, "to", ONNX_FLOAT);
    if (strcmp(op, "Where") == 0) return v[1]->type;
    const bool logic = strcmp(op, "Equal") == 0 || strncmp(op, "Less", 4) == 0 ||
                       strncmp(op, "Greater", 7) == 0 || strcmp(op, "And") == 0 || strcmp(op, "Or") == 0 ||
                       strcmp(op, "Not") == 0;
    return logic ? ONNX_BOOL : v[0]->type;
}

bool onnx_fold_pointwise(onnx_import *im, const onnx_value *const v[3], uint32_t n_in) {
    double unused;
    onnx_shape out = v[0]->shape;
    const double *from[3][2] = {{0}};
    const bool towards_zero = strcmp(im->node->op, "Mod") == 0 && onnx_attr_int(im, "fmod", 0);
    const char *op = towards_zero ? "fmod" : im->node->op;
    if (!compute(op, false, 1, 1, 1, &unused) || strcmp(op, "Expand") == 0) return false;
    if ((strcmp(op, "Max") == 0 || strcmp(op, "Min") == 0) && n_in != 2) return false;
    const int32_t type = result_type(im, v);
    const bool whole = onnx_is_whole(type == ONNX_BOOL ? v[0]->type : type);
    const double least = onnx_attr_real(im, "min", -INFINITY), most = onnx_attr_real(im, "max", INFINITY);
    const bool truth = strcmp(op, "Cast") == 0 && type == ONNX_BOOL;
    for (uint32_t i = 0; i < n_in; i++) {
        int64_t n;
        if (strcmp(op, "Clip") == 0 && i > 0 && !onnx_has(im, i)) continue; /* no bound */
        if (!onnx_numbers(im, i, from[i], &n)) return true;
        if (!widen(&out, &v[i]->shape))
            return onnx_refuse(im, "its operands' shapes do not fit together"), true;
    }
    const int64_t count = onnx_count(&out, 0);
    double *to[2] = {count < 0 ? NULL : onnx_folded(im, count), count < 0 ? NULL : onnx_folded(im, count)};
    if (!to[0] || !to[1]) return onnx_refuse(im, "too many numbers"), true;
    for (uint32_t k = 0; k < 2; k++)
        for (int64_t i = 0; i < count; i++) {
            double x[3] = {0, least, most};
            for (uint32_t j = 0; j < n_in; j++)
                if (from[j][k]) x[j] = from[j][k][index_in(&v[j]->shape, &out, i)];
            (void)compute(op, onnx_is_whole(type), x[0], x[1], x[2], &to[k][i]);
            if (whole && is_rounded(op, x, n_in, to[k][i])) return onnx_refuse_far(im, to[k][i]);
            if (whole && strcmp(op, "Pow") == 0 && to[k][i] != trunc(to[k][i]))
                return onnx_refuse(im, "%g to the power of %g in whole numbers", x[0], x[1]), true;
            if (truth) to[k][i] = x[0] != 0;
        }
    onnx_give_new(im, type, &out, to[0], to[1]);
    return true;
}
