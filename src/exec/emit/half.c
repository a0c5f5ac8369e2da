/* exec/emit/half.c: base/half.h in plain operations. */
#include "exec/emit/parts.h"

/* ---- half.h ---------------------------------------------------------------------------------- */

static R and_bits(emit *e, R x, uint32_t mask) {
    return emit_2(e, EMIT_IAND, x, emit_int(e, mask));
}
static R shift(emit *e, emit_op op, R x, uint32_t by) {
    return emit_2(e, op, x, emit_int(e, by));
}
static R more(emit *e, R x, uint32_t by) {
    return emit_2(e, EMIT_IADD, x, emit_int(e, by));
}

R emit_widened(emit *e, R half, ebb_dtype dtype) {
    const R bits = emit_1(e, EMIT_WIDEN, half);
    if (dtype == EBB_BF16) return emit_1(e, EMIT_OF_BITS, shift(e, EMIT_SHL, bits, 16));
    const uint32_t exponent = UINT32_C(0x1F) << 23;
    const R shifted = shift(e, EMIT_SHL, and_bits(e, bits, 0x7FFF), 13),
            of = and_bits(e, shifted, exponent);
    const R all = emit_2(e, EMIT_IEQ, of, emit_int(e, exponent));
    const R once = more(e, shifted, UINT32_C(112) << 23);
    const R normal =
        emit_2(e, EMIT_IADD, once, select(e, all, emit_int(e, UINT32_C(112) << 23), emit_int(e, 0)));
    const R small = emit_2(e, EMIT_FSUB, emit_1(e, EMIT_OF_BITS, more(e, shifted, UINT32_C(113) << 23)),
                           emit_float(e, 0x1p-14F));
    const R none = emit_2(e, EMIT_IEQ, of, emit_int(e, 0));
    const R size = select(e, none, emit_1(e, EMIT_BITS, small), normal);
    return emit_1(e, EMIT_OF_BITS,
                  emit_2(e, EMIT_IOR, size, shift(e, EMIT_SHL, and_bits(e, bits, 0x8000), 16)));
}

static R narrowed_bf16(emit *e, R x) {
    const R bits = emit_1(e, EMIT_BITS, x), upper = shift(e, EMIT_SHR, bits, 16);
    const R even = and_bits(e, upper, 1);
    const R rounded = shift(e, EMIT_SHR, emit_2(e, EMIT_IADD, more(e, bits, 0x7FFF), even), 16);
    const R nan = emit_2(e, EMIT_IOR, upper, emit_int(e, 0x40));
    return emit_1(e, EMIT_NARROW, select(e, emit_2(e, EMIT_FNE, x, x), nan, rounded));
}

/* Sizes have no sign: a comparison of them is one of numbers from 0 to 2^31 - 1. */
static R narrowed_f16(emit *e, R x) {
    const R bits = emit_1(e, EMIT_BITS, x), size = and_bits(e, bits, 0x7FFFFFFF);
    const R sign = and_bits(e, shift(e, EMIT_SHR, bits, 16), 0x8000), zero = emit_int(e, 0);
    const R even = and_bits(e, shift(e, EMIT_SHR, size, 13), 1);
    const R up = emit_2(e, EMIT_IADD, more(e, size, 0xFFF), even);
    const R normal = shift(e, EMIT_SHR, more(e, up, -(UINT32_C(112) << 23)), 13);
    const R tiny = emit_2(e, EMIT_ILT, size, emit_int(e, 0x38800000));
    const R half = plus(e, emit_1(e, EMIT_OF_BITS, select(e, tiny, size, zero)), 0.5F);
    const R small = emit_2(e, EMIT_ISUB, emit_1(e, EMIT_BITS, half), emit_int(e, ebb_bits_of_float(0.5F)));
    const R nan = emit_2(e, EMIT_ILT, emit_int(e, 0x7F800000), size);
    const R beyond = select(e, nan, emit_int(e, 0x7E00), emit_int(e, 0x7C00));
    const R large = emit_2(e, EMIT_ILE, emit_int(e, 0x47800000), size);
    const R finite = select(e, tiny, small, normal);
    return emit_1(e, EMIT_NARROW, emit_2(e, EMIT_IOR, sign, select(e, large, beyond, finite)));
}

R emit_narrowed(emit *e, R x, ebb_dtype dtype) {
    return dtype == EBB_BF16 ? narrowed_bf16(e, x) : narrowed_f16(e, x);
}
