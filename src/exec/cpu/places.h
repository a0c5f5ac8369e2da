/* cpu/places.h: defines kernels by a scalar expression of their operands' elements at the same place;
 * operands may be broadcast and have several dtypes.
 *
 * A result's elements are cut into rows in which each operand advances by one stride: 1, 0 (the same
 * element throughout) or another. In place, an output is an input of its shape: each element is read before
 * it is written, and no other element is read. */
#ifndef EBB_EXEC_CPU_PLACES_H
#define EBB_EXEC_CPU_PLACES_H

#include "exec/cpu/rows.h"

/* Runs a kernel on rows of a walk over the result with all operands; each: the cost of an element in bytes
 * (cpu_spans). */
ebb_status cpu_places_run(const ebb_kernel_run *run, const ebb_walk *walk, cpu_places_kernel *kernel,
                          int64_t each);
/* The same with the operands broadcast to the result. */
ebb_status cpu_places_launch(const ebb_kernel_run *run, cpu_places_kernel *kernel, int64_t each);

/* Define name_T, a kernel on a row of operands of type T and a result of type R. */
#define CPU_PLACES_1(name, T, R, expression)                       \
    CPU_VECTOR static void name##_##T(const cpu_places_row *row) { \
        const T *const from = row->in[0];                          \
        R *y = row->y;                                             \
        const int64_t n = row->n;                                  \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {      \
            const T a = from[i];                                   \
            y[i] = (R)(expression);                                \
        }                                                          \
    }
#define CPU_PLACES_2(name, T, R, expression)                              \
    CPU_VECTOR static void name##_##T(const cpu_places_row *row) {        \
        const T *const p = row->in[0], *const q = row->in[1];             \
        R *y = row->y;                                                    \
        const int64_t n = row->n, s = row->stride[0], t = row->stride[1]; \
        if (s == 1 && t == 1) {                                           \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {         \
                const T a = p[i], b = q[i];                               \
                y[i] = (R)(expression);                                   \
            }                                                             \
        } else if (s == 1 && t == 0) {                                    \
            const T b = *q;                                               \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {         \
                const T a = p[i];                                         \
                y[i] = (R)(expression);                                   \
            }                                                             \
        } else if (s == 0 && t == 1) {                                    \
            const T a = *p;                                               \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {         \
                const T b = q[i];                                         \
                y[i] = (R)(expression);                                   \
            }                                                             \
        } else {                                                          \
            for (int64_t i = 0; i < n; i++) {                             \
                const T a = p[i * s], b = q[i * t];                       \
                y[i] = (R)(expression);                                   \
            }                                                             \
        }                                                                 \
    }

/* The kernel of an op, by the dtype of its last operand: CPU_PLACES(neg, EBB_TAKES(F32, I32), CPU_STREAM,
 * 12, [EBB_F32] = neg_float, [EBB_I32] = neg_int32_t). */
#define CPU_PLACES(name, takes, rate, each, ...)                                                       \
    static cpu_places_kernel *const name##_kernels[EBB_N_DTYPES] = {__VA_ARGS__};                      \
    const cpu_row cpu_row_##name = {.places = name##_kernels};                                         \
    static ebb_status name##_launch(const ebb_kernel_run *run) {                                       \
        return cpu_places_launch(run, name##_kernels[run->call->in[run->call->n_in - 1].dtype], each); \
    }                                                                                                  \
    CPU_KERNEL(name, takes, rate, .launch = name##_launch)

/* Kernels of reals; of reals and integers. */
#define CPU_PLACES_REAL(operands, name, rate, each, expression) \
    CPU_PLACES_##operands(name, float, float, expression)       \
        CPU_PLACES(name, EBB_TAKES(F32), rate, each, [EBB_F32] = name##_float)
#define CPU_PLACES_NUMBERS(operands, name, rate, each, real, whole)                                      \
    CPU_PLACES_##operands(name, float, float, real) CPU_PLACES_##operands(name, int32_t, int32_t, whole) \
        CPU_PLACES(name, EBB_TAKES(F32, I32), rate,                                                      \
                   each, [EBB_F32] = name##_float, [EBB_I32] = name##_int32_t)

#endif
