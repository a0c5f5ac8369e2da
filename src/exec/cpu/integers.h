/* cpu/integers.h: defines wrapping i32 arithmetic; no operand is an error. */
#ifndef EBB_EXEC_CPU_INTEGERS_H
#define EBB_EXEC_CPU_INTEGERS_H

#include "exec/cpu/cpu.h"

CPU_INLINE int32_t cpu_add_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}
CPU_INLINE int32_t cpu_sub_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a - (uint32_t)b);
}
CPU_INLINE int32_t cpu_mul_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a * (uint32_t)b);
}
/* Rounds towards minus infinity; division by 0 gives 0. */
CPU_INLINE int32_t cpu_floor_div_i32(int32_t a, int32_t b) {
    if (b == 0) return 0;
    if (b == -1) return cpu_sub_i32(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
CPU_INLINE int32_t cpu_mod_i32(int32_t a, int32_t b) {
    if (b == 0 || b == -1) return 0;
    const int32_t left = a % b;
    return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}

#endif
