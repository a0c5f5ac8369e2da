/* ref/dot.c: sums of products along lines. */
#include "exec/ref/ref.h"

/* One function a dtype, for lines of one dtype. */
#define EBB_DTYPE(NAME, name, kind, storage, load, store)                                               \
    static inline double load_##name(const void *line, int64_t i) {                                     \
        const storage x = ((const storage *)line)[i];                                                   \
        return load;                                                                                    \
    }                                                                                                   \
    static double dot_##name(double sum, const void *a, int64_t step_a, const void *b, int64_t step_b,  \
                             int64_t n) {                                                               \
        for (int64_t i = 0; i < n; i++) sum += load_##name(a, i * step_a) * load_##name(b, i * step_b); \
        return sum;                                                                                     \
    }
#include "graph/dtypes.def"

double ref_dot(double sum, ref_line a, ref_line b, int64_t n) {
    if (a.t->dtype != b.t->dtype) {
        for (int64_t i = 0; i < n; i++)
            sum += ref_get(a.t, a.at + i * a.step) * ref_get(b.t, b.at + i * b.step);
        return sum;
    }
    switch (a.t->dtype) {
#define EBB_DTYPE(NAME, name, kind, storage, load, store)                                                \
    case EBB_##NAME:                                                                                     \
        return dot_##name(sum, (const storage *)a.t->at + a.at, a.step, (const storage *)b.t->at + b.at, \
                          b.step, n);
#include "graph/dtypes.def"
    }
    return sum;
}
