/* cpu/comparison.c: comparisons, truths, the choice between two values, and casts. A truth is a byte, 0 or
 * 1; from outside any other than 0 is 1. */
#include "exec/cpu/low.h"
#include "exec/cpu/places.h"

#include <math.h>

/* ---- comparisons, truths ---------------------------------------------------------------------------- */

#define COMPARISON(name, expression)               \
    CPU_PLACES_2(name, float, uint8_t, expression) \
    CPU_PLACES_2(name, int32_t, uint8_t, expression)
COMPARISON(equal, a == b)
CPU_PLACES_2(equal, uint8_t, uint8_t, a == b)
CPU_PLACES_2(equal_truths, uint8_t, uint8_t, !a == !b)
COMPARISON(less, a < b)
COMPARISON(less_equal, a <= b)

CPU_PLACES(equal, EBB_TAKES(F32, I32, U8, BOOL), CPU_STREAM, 9, [EBB_F32] = equal_float,
           [EBB_I32] = equal_int32_t, [EBB_U8] = equal_uint8_t, [EBB_BOOL] = equal_truths_uint8_t);
CPU_PLACES(less, EBB_TAKES(F32, I32, BOOL), CPU_STREAM,
           9, [EBB_F32] = less_float, [EBB_I32] = less_int32_t);
CPU_PLACES(less_equal, EBB_TAKES(F32, I32, BOOL), CPU_STREAM,
           9, [EBB_F32] = less_equal_float, [EBB_I32] = less_equal_int32_t);

#define TRUTHS(operands, name, expression)                    \
    CPU_PLACES_##operands(name, uint8_t, uint8_t, expression) \
        CPU_PLACES(name, EBB_TAKES(BOOL), CPU_STREAM, 3, [EBB_BOOL] = name##_uint8_t)
TRUTHS(2, logical_and, (a != 0) & (b != 0));
TRUTHS(2, logical_or, (a != 0) | (b != 0));
TRUTHS(2, logical_xor, (a != 0) ^ (b != 0));
TRUTHS(1, logical_not, a == 0);

/* ---- where ------------------------------------------------------------------------------------------ */

#define WHERE(T)                                                                              \
    CPU_VECTOR static void where_##T(const cpu_places_row *row) {                             \
        const uint8_t *const c = row->in[0];                                                  \
        const T *const p = row->in[1], *const q = row->in[2];                                 \
        T *y = row->y;                                                                        \
        const int64_t n = row->n, r = row->stride[0], s = row->stride[1], t = row->stride[2]; \
        if (r == 1 && s == 1 && t == 1) {                                                     \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = c[i] ? p[i] : q[i];    \
        } else if (r == 1 && s == 1 && t == 0) {                                              \
            const T b = *q;                                                                   \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = c[i] ? p[i] : b;       \
        } else if (r == 1 && s == 0 && t == 1) {                                              \
            const T a = *p;                                                                   \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] = c[i] ? a : q[i];       \
        } else {                                                                              \
            for (int64_t i = 0; i < n; i++) y[i] = c[i * r] ? p[i * s] : q[i * t];            \
        }                                                                                     \
    }
WHERE(uint32_t)
WHERE(uint8_t)
/* f32 and i32 are 32 bits to it, a NaN's among them. */
CPU_PLACES(where, EBB_TAKES(F32, I32, U8, BOOL), CPU_STREAM, 13, [EBB_F32] = where_uint32_t,
           [EBB_I32] = where_uint32_t, [EBB_U8] = where_uint8_t, [EBB_BOOL] = where_uint8_t);

/* ---- cast ------------------------------------------------------------------------------------------- */

/* Towards zero, to the nearest there is: 2^31 is the first float that is too large. A NaN: 0. */
CPU_INLINE int32_t whole(float x) {
    const float low = x < -2147483648.0F ? -2147483648.0F : x;
    if (!(low == low)) return 0;
    return low >= 2147483648.0F ? INT32_MAX : (int32_t)low;
}

/* A truth is 0 or 1 whatever its byte is; other bytes are their numbers. */
#define CAST(to, T, R, expression) CPU_PLACES_1(cast_##to, T, R, expression)
#define CAST_BYTE(to, R)           CPU_PLACES_1(cast_byte_##to, uint8_t, R, a)
CAST(f32, float, float, a)
CAST(i32, float, int32_t, whole(a))
CAST(bool, float, uint8_t, a != 0)
CAST(f32, int32_t, float, a)
CAST(i32, int32_t, int32_t, a)
CAST(bool, int32_t, uint8_t, a != 0)
CAST(f32, uint8_t, float, a != 0)
CAST(i32, uint8_t, int32_t, a != 0)
CAST(bool, uint8_t, uint8_t, a != 0)
CAST_BYTE(f32, float)
CAST_BYTE(i32, int32_t)
/* Narrow integers: of an i32 its lowest bits. */
CAST(u8, int32_t, uint8_t, (uint8_t)a)
CAST(i8, int32_t, int8_t, (int8_t)a)
CAST(i16, int32_t, int16_t, (int16_t)a)
CAST(i32, int8_t, int32_t, a)
CAST(i32, int16_t, int32_t, a)

/* Of 16 bits: by way of f32, rounded once more where they are the result. */
#define CAST_LOW(dtype)                                                             \
    CPU_PLACES_1(cast_f32_##dtype, uint16_t, float, ebb_##dtype##_load(a))          \
    CPU_PLACES_1(cast_i32_##dtype, uint16_t, int32_t, whole(ebb_##dtype##_load(a))) \
    CPU_PLACES_1(cast_bool_##dtype, uint16_t, uint8_t, ebb_##dtype##_load(a) != 0)  \
    CPU_PLACES_1(cast_##dtype, float, uint16_t, ebb_##dtype##_of_float(a))          \
    CPU_PLACES_1(cast_##dtype, int32_t, uint16_t, ebb_##dtype##_of_float((float)a)) \
    CPU_PLACES_1(cast_##dtype, uint8_t, uint16_t, ebb_##dtype##_of_float(a != 0))
CAST_LOW(f16)
CAST_LOW(bf16)
CPU_PLACES_1(cast_byte_f16, uint8_t, uint16_t, ebb_f16_of_float((float)a))
CPU_PLACES_1(cast_byte_bf16, uint8_t, uint16_t, ebb_bf16_of_float((float)a))
CPU_PLACES_1(cast_low, uint16_t, uint16_t, a)
CPU_PLACES_1(cast_f16_bf16, uint16_t, uint16_t, ebb_f16_of_float(ebb_bf16_load(a)))
CPU_PLACES_1(cast_bf16_f16, uint16_t, uint16_t, ebb_bf16_of_float(ebb_f16_load(a)))

/* From the first dtype to the second. */
static cpu_places_kernel *const cast_kernels[EBB_N_DTYPES][EBB_N_DTYPES] = {
    [EBB_F32] = {[EBB_F32] = cast_f32_float,
                 [EBB_I32] = cast_i32_float,
                 [EBB_BOOL] = cast_bool_float,
                 [EBB_F16] = cast_f16_float,
                 [EBB_BF16] = cast_bf16_float},
    [EBB_I32] = {[EBB_F32] = cast_f32_int32_t,
                 [EBB_I32] = cast_i32_int32_t,
                 [EBB_BOOL] = cast_bool_int32_t,
                 [EBB_F16] = cast_f16_int32_t,
                 [EBB_BF16] = cast_bf16_int32_t,
                 [EBB_U8] = cast_u8_int32_t,
                 [EBB_I8] = cast_i8_int32_t,
                 [EBB_I16] = cast_i16_int32_t},
    [EBB_I8] = {[EBB_I32] = cast_i32_int8_t},
    [EBB_I16] = {[EBB_I32] = cast_i32_int16_t},
    [EBB_BOOL] = {[EBB_F32] = cast_f32_uint8_t,
                  [EBB_I32] = cast_i32_uint8_t,
                  [EBB_BOOL] = cast_bool_uint8_t,
                  [EBB_F16] = cast_f16_uint8_t,
                  [EBB_BF16] = cast_bf16_uint8_t},
    [EBB_F16] = {[EBB_F32] = cast_f32_f16_uint16_t,
                 [EBB_I32] = cast_i32_f16_uint16_t,
                 [EBB_BOOL] = cast_bool_f16_uint16_t,
                 [EBB_F16] = cast_low_uint16_t,
                 [EBB_BF16] = cast_bf16_f16_uint16_t},
    [EBB_BF16] = {[EBB_F32] = cast_f32_bf16_uint16_t,
                  [EBB_I32] = cast_i32_bf16_uint16_t,
                  [EBB_BOOL] = cast_bool_bf16_uint16_t,
                  [EBB_F16] = cast_f16_bf16_uint16_t,
                  [EBB_BF16] = cast_low_uint16_t},
    [EBB_U8] = {[EBB_F32] = cast_byte_f32_uint8_t,
                [EBB_I32] = cast_byte_i32_uint8_t,
                [EBB_BOOL] = cast_bool_uint8_t,
                [EBB_F16] = cast_byte_f16_uint8_t,
                [EBB_BF16] = cast_byte_bf16_uint8_t},
};

const cpu_row cpu_row_cast = {.casts = cast_kernels};

static ebb_status cast_launch(const ebb_kernel_run *run) {
    const ebb_type *from = &run->call->in[0], *to = &run->call->out[0];
    const int64_t each = ebb_dtype_bytes(from->dtype) + ebb_dtype_bytes(to->dtype);
    return cpu_places_launch(run, cast_kernels[from->dtype][to->dtype], each);
}
CPU_KERNEL(cast, EBB_TAKES(F32, I32, U8, BOOL, F16) | EBB_TAKES(BF16, I8, I16), CPU_STREAM,
           .launch = cast_launch);
