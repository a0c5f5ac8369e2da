/* cpu/pointwise.h: defines kernels on one element at a time by a scalar expression. In place, an output is
 * an input: each element is read before it is written, and no other element is read. */
#ifndef EBB_EXEC_CPU_POINTWISE_H
#define EBB_EXEC_CPU_POINTWISE_H

#include "exec/cpu/rows.h"

/* Distributes the elements of the result; `each`: the cost of one in bytes (cpu_spans). */
static inline ebb_status cpu_pointwise_launch(const ebb_kernel_run *run, int64_t each, const cpu_row *row) {
    const ebb_call *call = run->call;
    cpu_pointwise ctx = {.a = call->n_in > 0 ? run->launch->in[0] : NULL,
                         .b = call->n_in > 1 ? run->launch->in[1] : NULL,
                         .y = run->launch->out[0]};
    const int64_t n = ebb_type_count(&call->out[0]);
    row->numbers(call->attr, &ctx.p, &ctx.q);
    cpu_spans(cpu_of(run->backend), n, CPU_ALIGNMENT / (int64_t)sizeof(float), each * n, row->span, &ctx);
    return EBB_OK;
}

/* Kernels in f32. rate: a CPU_RATE; each: as above; first, second: p and q, from `attr`; expression: of
 * floats a, b, p and q. */
#define CPU_POINTWISE(name, rate, each, first, second, load, expression)                          \
    CPU_VECTOR static void name##_span(const void *ctx, int64_t begin, int64_t end) {             \
        const cpu_pointwise s = *(const cpu_pointwise *)ctx;                                      \
        const float p = s.p, q = s.q;                                                             \
        (void)p, (void)q;                                                                         \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++) {                               \
            load;                                                                                 \
            s.y[i] = (expression);                                                                \
        }                                                                                         \
    }                                                                                             \
    static void name##_numbers(const ebb_attr *attr, float *first_number, float *second_number) { \
        (void)attr;                                                                               \
        *first_number = (float)(first);                                                           \
        *second_number = (float)(second);                                                         \
    }                                                                                             \
    const cpu_row cpu_row_##name = {.span = name##_span, .numbers = name##_numbers};              \
    static ebb_status name##_launch(const ebb_kernel_run *run) {                                  \
        return cpu_pointwise_launch(run, each, &cpu_row_##name);                                  \
    }                                                                                             \
    CPU_KERNEL(name, EBB_TAKES(F32), rate, .launch = name##_launch)

#define CPU_UNARY_OF(name, rate, each, first, second, expression) \
    CPU_POINTWISE(name, rate, each, first, second, const float a = s.a[i], expression)
#define CPU_BINARY_OF(name, rate, each, first, second, expression)         \
    CPU_POINTWISE(name, rate, each, first, second, const float a = s.a[i]; \
                  const float b = s.b[i], expression)
#define CPU_UNARY(name, rate, each, expression)  CPU_UNARY_OF(name, rate, each, 0, 0, expression)
#define CPU_BINARY(name, rate, each, expression) CPU_BINARY_OF(name, rate, each, 0, 0, expression)

#endif
