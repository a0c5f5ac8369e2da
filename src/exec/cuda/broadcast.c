/* cuda/broadcast.c: launches of kernels/broadcast.h: arithmetic, comparisons, casts, repeated and permuted
 * elements. */
#include "exec/cuda/broadcast.h"

#include "exec/cuda/cuda.h"

/* Results of a thread: by the kernel's types, as CUDA_PLACES_SIDE has it; those of `where` are always 4. */
static int64_t side_of(const ebb_call *call) {
    const bool two_bytes = ebb_dtype_bytes(call->out[0].dtype) == 2 ||
                           (call->n_in > 0 && ebb_dtype_bytes(call->in[call->n_in - 1].dtype) == 2);
    return two_bytes && call->op->code != EBB_OP_where ? 8 : 4;
}

static ebb_status launch(const ebb_kernel_run *run, const ebb_walk *walk, cuda_kernel_id kernel) {
    cuda_places_args args = {.y = run->launch->out[0], .n = ebb_walk_count(walk)};
    cuda_strides_of(walk, &args.walk);
    for (uint32_t j = 0; j < run->call->n_in; j++)
        args.in[j] =
            (const char *)run->launch->in[j] + walk->first[j] * ebb_dtype_bytes(run->call->in[j].dtype);
    return cuda_launch(run->backend, kernel,
                       cuda_blocks_of(args.n, side_of(run->call) * CUDA_PLACES_THREADS), &args);
}

/* Operands broadcast to the result. */
static ebb_status launch_places(const ebb_kernel_run *run, cuda_kernel_id kernel) {
    ebb_walk walk;
    ebb_walk_begin(&walk, &run->call->out[0]);
    for (uint32_t j = 0; j < run->call->n_in; j++) ebb_walk_broadcast(&walk, &run->call->in[j]);
    ebb_walk_end(&walk);
    return launch(run, &walk, kernel);
}

/* ---- ops with a kernel for each dtype of their last operand ------------------------------------------ */

#define PLACES(name, takes, ...)                                                      \
    static ebb_status name##_launch(const ebb_kernel_run *run) {                      \
        static const cuda_kernel_id kernels[EBB_N_DTYPES] = {__VA_ARGS__};            \
        return launch_places(run, kernels[run->call->in[run->call->n_in - 1].dtype]); \
    }                                                                                 \
    CUDA_OP(name, takes, CUDA_SWEEP, .launch = name##_launch);
#define OF_REALS(name)                                                          \
    [EBB_F32] = CUDA_KERNEL_##name##_f32, [EBB_F16] = CUDA_KERNEL_##name##_f16, \
    [EBB_BF16] = CUDA_KERNEL_##name##_bf16
#define REALS(name) PLACES(name, CUDA_REALS, OF_REALS(name))
#define NUMBERS(name) \
    PLACES(name, CUDA_REALS | EBB_TAKES(I32), OF_REALS(name), [EBB_I32] = CUDA_KERNEL_##name##_i32)
#define COMPARES(name) \
    PLACES(name, CUDA_REALS | EBB_TAKES(I32, BOOL), OF_REALS(name), [EBB_I32] = CUDA_KERNEL_##name##_i32)
#define TRUTHS(name) PLACES(name, EBB_TAKES(BOOL), [EBB_BOOL] = CUDA_KERNEL_##name##_bool)

NUMBERS(add)
NUMBERS(sub)
NUMBERS(mul)
REALS(div)
NUMBERS(floor_div)
NUMBERS(mod)
REALS(pow)
NUMBERS(maximum)
NUMBERS(minimum)
NUMBERS(neg)
NUMBERS(abs)
NUMBERS(sign)
REALS(floor)
REALS(ceil)
REALS(round)
REALS(sqrt)
REALS(log)
REALS(log1p)
REALS(expm1)
REALS(sin)
REALS(cos)
REALS(tanh)
REALS(erf)
REALS(sigmoid)
PLACES(equal, CUDA_REALS | EBB_TAKES(I32, U8, BOOL), OF_REALS(equal), [EBB_I32] = CUDA_KERNEL_equal_i32,
       [EBB_U8] = CUDA_KERNEL_equal_u8, [EBB_BOOL] = CUDA_KERNEL_equal_bool)
COMPARES(less)
COMPARES(less_equal)
TRUTHS(logical_and)
TRUTHS(logical_or)
TRUTHS(logical_xor)
TRUTHS(logical_not)
PLACES(where, CUDA_REALS | EBB_TAKES(I32, U8, BOOL), [EBB_F32] = CUDA_KERNEL_where_32,
       [EBB_F16] = CUDA_KERNEL_where_16, [EBB_BF16] = CUDA_KERNEL_where_16,
       [EBB_I32] = CUDA_KERNEL_where_32, [EBB_U8] = CUDA_KERNEL_where_8, [EBB_BOOL] = CUDA_KERNEL_where_8)

/* ---- casts ------------------------------------------------------------------------------------------ */

static ebb_status cast_launch(const ebb_kernel_run *run) {
#define FROM(dtype)                                                                           \
    [EBB_F32] = CUDA_KERNEL_cast_##dtype##_f32, [EBB_F16] = CUDA_KERNEL_cast_##dtype##_f16,   \
    [EBB_BF16] = CUDA_KERNEL_cast_##dtype##_bf16, [EBB_I32] = CUDA_KERNEL_cast_##dtype##_i32, \
    [EBB_BOOL] = CUDA_KERNEL_cast_##dtype##_bool
    static const cuda_kernel_id kernels[EBB_N_DTYPES][EBB_N_DTYPES] = {
        [EBB_F32] = {FROM(f32)},
        [EBB_F16] = {FROM(f16)},
        [EBB_BF16] = {FROM(bf16)},
        [EBB_I32] = {FROM(i32), [EBB_U8] = CUDA_KERNEL_cast_i32_u8, [EBB_I8] = CUDA_KERNEL_cast_i32_i8,
                     [EBB_I16] = CUDA_KERNEL_cast_i32_i16},
        [EBB_U8] = {FROM(u8)},
        [EBB_BOOL] = {FROM(bool)},
        [EBB_I8] = {[EBB_I32] = CUDA_KERNEL_cast_i8_i32},
        [EBB_I16] = {[EBB_I32] = CUDA_KERNEL_cast_i16_i32}};
    return launch_places(run, kernels[run->call->in[0].dtype][run->call->out[0].dtype]);
}
CUDA_OP(cast, CUDA_ALL, CUDA_SWEEP, .launch = cast_launch);

/* ---- moves ------------------------------------------------------------------------------------------ */

ebb_status cuda_launch_moves(const ebb_kernel_run *run, const ebb_walk *walk) {
    return launch(run, walk,
                  cuda_kernel_by_bytes(run->call->in[0].dtype, CUDA_KERNEL_move_8, CUDA_KERNEL_move_16,
                                       CUDA_KERNEL_move_32));
}

static ebb_status launch_move(const ebb_kernel_run *run, const uint32_t along[EBB_MAX_RANK],
                              const int64_t *begin, const int64_t *step) {
    ebb_walk walk;
    ebb_walk_begin(&walk, &run->call->out[0]);
    ebb_walk_operand(&walk, &run->call->in[0], along, begin, step);
    ebb_walk_end(&walk);
    return cuda_launch_moves(run, &walk);
}

static ebb_status broadcast_to_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    (void)ebb_broadcast_to_along(&run->call->in[0], &run->call->out[0], run->call->attr, along);
    return launch_move(run, along, NULL, NULL);
}
CUDA_OP(broadcast_to, CUDA_ALL, CUDA_SWEEP, .launch = broadcast_to_launch);

static ebb_status permute_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    ebb_permute_along(&run->call->out[0], run->call->attr, along);
    return launch_move(run, along, NULL, NULL);
}
CUDA_OP(permute, CUDA_ALL, EBB_RATE(50, 40, 2500), .launch = permute_launch);

/* ---- strided_slice ---------------------------------------------------------------------------------- */

static const uint32_t same_axes[EBB_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};

static ebb_status strided_slice_launch(const ebb_kernel_run *run) {
    const ebb_attr *attr = run->call->attr;
    return launch_move(run, same_axes, attr[EBB_STRIDED_BEGIN].i, attr[EBB_STRIDED_STEP].i);
}
CUDA_OP(strided_slice, CUDA_ALL, EBB_RATE(50, 40, 2500), .launch = strided_slice_launch);

static ebb_status strided_slice_grad_launch(const ebb_kernel_run *run) {
    const ebb_type *dy = &run->call->in[0], *dx = &run->call->out[0];
    cuda_lattice_args args = {.dy = run->launch->in[0], .dx = run->launch->out[0], .n = ebb_type_count(dx)};
    ebb_walk walk; /* not ended: its dimensions are dx's axes, as they are stored */
    ebb_walk_begin(&walk, dx);
    ebb_walk_operand(&walk, dy, same_axes, NULL, NULL);
    for (uint32_t d = 0; d < walk.n_dims; d++) {
        args.begin[d] = run->call->attr[EBB_STRIDED_BEGIN].i[walk.axis[d]];
        args.step[d] = run->call->attr[EBB_STRIDED_STEP].i[walk.axis[d]];
        args.many[d] = dy->dim[walk.axis[d]];
    }
    cuda_strides_of(&walk, &args.whole);
    return cuda_launch(
        run->backend,
        cuda_kernel_by_bytes(dx->dtype, CUDA_KERNEL_lattice_8, CUDA_KERNEL_lattice_16, CUDA_KERNEL_lattice),
        cuda_blocks_of(args.n, CUDA_PLACES_THREADS), &args);
}
CUDA_OP(strided_slice_grad, CUDA_ALL, EBB_RATE(50, 40, 2500), .launch = strided_slice_grad_launch);
