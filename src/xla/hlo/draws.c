/* xla/hlo/draws.c: random ops: the bits of base/philox.h, as integers of XLA. A block of four words is
 * drawn for every four elements in logical order (exec/dropout.h). */
#include "exec/draws.h"
#include "xla/hlo/rows.h"

typedef struct words {
    hlo_value v[4]; /* u32[blocks] */
} words;

/* The upper and lower half of 64 bits. */
static hlo_value upper(hlo *h, hlo_value x) {
    return hlo_convert(h, HLO_U32, hlo_2c(h, "shift_right_logical", x, 32));
}
static hlo_value lower(hlo *h, hlo_value x) {
    return hlo_convert(h, HLO_U32, hlo_2(h, "and", x, hlo_whole(h, x.type, UINT32_MAX)));
}

/* The philox rounds of ebb_philox, of all blocks at once; key: u64 of each block. */
static words philox(hlo *h, words c, hlo_value key) {
    hlo_value k0 = lower(h, key), k1 = upper(h, key);
    const hlo_type wide = key.type, narrow = k0.type;
    for (int round = 0; round < EBB_PHILOX_ROUNDS; round++) {
        const hlo_value p0 = hlo_mul(h, hlo_convert(h, HLO_U64, c.v[0]), hlo_whole(h, wide, EBB_PHILOX_M0));
        const hlo_value p1 = hlo_mul(h, hlo_convert(h, HLO_U64, c.v[2]), hlo_whole(h, wide, EBB_PHILOX_M1));
        const words next = {{hlo_2(h, "xor", hlo_2(h, "xor", upper(h, p1), c.v[1]), k0), lower(h, p1),
                             hlo_2(h, "xor", hlo_2(h, "xor", upper(h, p0), c.v[3]), k1), lower(h, p0)}};
        c = next;
        k0 = hlo_add(h, k0, hlo_whole(h, narrow, EBB_PHILOX_W0));
        k1 = hlo_add(h, k1, hlo_whole(h, narrow, EBB_PHILOX_W1));
    }
    return c;
}

/* [blocks] each -> the type's elements: its logical order, put into that of bytes. */
static hlo_value in_place(hlo *h, const hlo_value v[4], const ebb_type *type) {
    const int64_t blocks = v[0].type.dim[0], count = ebb_type_count(type), none = 0, one = 1;
    const int64_t all = 4 * blocks;
    const hlo_kind kind = v[0].type.kind;
    const hlo_type column = hlo_shape(kind, 2, (const int64_t[]){blocks, 1});
    hlo_value part[4];
    for (int k = 0; k < 4; k++) part[k] = hlo_reshape(h, v[k], column);
    hlo_value x = hlo_reshape(h, hlo_concatenate(h, part, 4, 1), hlo_shape(kind, 1, &all));
    if (all != count) x = hlo_slice(h, x, &none, &count, &one);
    static const uint32_t logical[EBB_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    return hlo_arrange(h, hlo_reshape(h, x, hlo_shape(kind, type->rank, type->dim)), logical, type);
}

static words draw(const hlo_op *op) {
    hlo *h = op->to;
    const int64_t blocks = (ebb_type_count(&op->call->out[0]) + 3) / 4;
    const hlo_type wide = hlo_shape(HLO_U64, 1, &blocks);
    const hlo_value block = hlo_iota(h, wide, 0), step = hlo_everywhere(h, op->step, wide);
    const words counter = {{lower(h, block), upper(h, block), lower(h, step), upper(h, step)}};
    return philox(h, counter, hlo_everywhere(h, op->key, wide));
}

/* ---- dropout: its gradient is the same function of dy ---- */

static void drop(hlo_op *op) {
    hlo *h = op->to;
    const double p = op->call->attr[EBB_DROPOUT_P].f;
    const uint64_t threshold = ebb_dropout_threshold(p);
    const hlo_value none = hlo_like(h, &op->in[0], 0);
    if (threshold > UINT32_MAX) { /* nothing is kept */
        op->out[0] = none;
        return;
    }
    const words drawn = draw(op);
    const hlo_value bits = in_place(h, drawn.v, &op->call->out[0]);
    const hlo_value keep = hlo_compare(h, "GE", bits, hlo_whole(h, bits.type, threshold));
    op->out[0] = hlo_select(h, keep, hlo_2c(h, "multiply", op->in[0], ebb_dropout_scale(p)), none);
}

HLO(dropout) {
    drop(op);
}
HLO(dropout_grad) {
    drop(op);
}

/* ---- numbers ---- */

/* The first 24 bits of a word, and `more`, times a unit. */
static hlo_value part_of(hlo *h, hlo_value word, double more, double unit) {
    const hlo_value top = hlo_convert(h, HLO_F64, hlo_2c(h, "shift_right_logical", word, 8));
    return hlo_2c(h, "multiply", more != 0 ? hlo_2c(h, "add", top, more) : top, unit);
}

static void give(hlo_op *op, const hlo_value v[4]) {
    const hlo_value y = in_place(op->to, v, &op->call->out[0]);
    op->out[0] = hlo_convert(op->to, hlo_type_of(&op->call->out[0]).kind, y);
}

HLO(uniform) {
    hlo *h = op->to;
    const ebb_attr *a = op->call->attr;
    const double low = a[EBB_UNIFORM_LOW].f, width = a[EBB_UNIFORM_HIGH].f - low;
    const words drawn = draw(op);
    hlo_value v[4];
    for (int k = 0; k < 4; k++) {
        const hlo_value unit = part_of(h, drawn.v[k], 0, EBB_DRAWS_UNIT);
        v[k] = hlo_2c(h, "minimum", hlo_2c(h, "add", hlo_2c(h, "multiply", unit, width), low),
                      ebb_uniform_most(a));
    }
    give(op, v);
}

/* Box and Muller's two of two words. */
HLO(normal) {
    hlo *h = op->to;
    const ebb_attr *a = op->call->attr;
    const words drawn = draw(op);
    hlo_value v[4];
    for (int k = 0; k < 4; k++) {
        const hlo_value inside = part_of(h, drawn.v[k & 2], 1, EBB_DRAWS_UNIT);
        const hlo_value angle = part_of(h, drawn.v[(k & 2) + 1], 0, EBB_DRAWS_TURN);
        const hlo_value radius = hlo_1(h, "sqrt", hlo_2c(h, "multiply", hlo_1(h, "log", inside), -2));
        const hlo_value turned = hlo_mul(h, radius, hlo_1(h, k % 2 ? "sine" : "cosine", angle));
        v[k] = hlo_2c(h, "add", hlo_2c(h, "multiply", turned, a[EBB_NORMAL_STD].f), a[EBB_NORMAL_MEAN].f);
    }
    give(op, v);
}
