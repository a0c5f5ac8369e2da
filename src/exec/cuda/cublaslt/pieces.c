/* cuda/cublaslt/pieces.c: how a call becomes products: one, those of pieces of its images whose rows are
 * spread, or those of parts of its sum.
 */
#include "exec/cuda/cublaslt/cublaslt.h"
#include "exec/cuda/products_parts.h"

enum { MOST_SPREAD = 64 << 20 }; /* of a piece's rows, in scratch */

int64_t lt_piece_images(const lt_product *p, int64_t piece) {
    return cuda_piece_images(p->n_images, p->n_pieces, piece);
}

/* The largest power of two up to 256 that offsets of so many bytes and their multiples divide by. */
static uint32_t alignment_of(int64_t bytes) {
    return (uint32_t)((bytes | 256) & -(bytes | 256));
}

static void plan_spread(const ebb_call *call, const lt_shape *all, lt_product *out) {
    const ebb_type *dy = &call->in[0], *dx = &call->out[0];
    const int64_t n_images = dy->dim[0], pixels = all->m / n_images;
    const int64_t image_bytes = pixels * all->n * (int64_t)sizeof(float);
    const int64_t each = ebb_min_i64(ebb_max_i64(MOST_SPREAD / image_bytes, 1), n_images);
    out->n_images = n_images;
    out->n_pieces = (n_images + each - 1) / each;
    out->from_bytes = ebb_type_bytes(dy) / n_images;
    out->to_bytes = ebb_type_bytes(dx) / n_images;
    out->spread = (cuda_spread_args){
        .height = dx->dim[2],
        .from_height = dy->dim[2],
        .width = dx->dim[3],
        .from_width = dy->dim[3],
        .channels = dx->dim[1],
        .stride = {(int32_t)call->attr[EBB_CONV_STRIDE].i[0], (int32_t)call->attr[EBB_CONV_STRIDE].i[1]}};
    out->parts[PART_MOST].alignment.a = out->parts[PART_REST].alignment.a = alignment_of(out->from_bytes);
    out->parts[PART_MOST].shape.m = pixels * lt_piece_images(out, 0);
    out->parts[PART_REST].shape.m =
        n_images % out->n_pieces ? pixels * lt_piece_images(out, out->n_pieces - 1) : 0;
    out->result_bytes = lt_piece_images(out, 0) * image_bytes;
}

int64_t lt_moved_bytes(const lt_product *p) {
    return p->result_bytes * (p->n_pieces > 0 ? p->n_pieces : 1);
}

/* The length of a part. Of whole units, so that a and b of the rest begin at multiples of 256 bytes: one,
 * where rows are. The rest is a product of its own, which a few tiles do: of the two lengths next to an
 * equal share the one that leaves less. */
static int64_t part_length(const lt_shape *all, int64_t n_splits) {
    const int64_t each = ebb_dtype_bytes(all->from), m_bytes = all->m * each, n_bytes = all->n * each;
    const int64_t unit = 256 / ebb_min_i64(alignment_of(m_bytes), alignment_of(n_bytes));
    const int64_t less = all->k / n_splits / unit * unit, more = less + unit;
    return all->k % more < all->k % less ? more : less;
}

static void plan_split(const lt_shape *all, int64_t n_splits, lt_product *out) {
    lt_shape *most = &out->parts[PART_MOST].shape, *rest = &out->parts[PART_REST].shape;
    most->to = rest->to = EBB_F32;
    most->k = part_length(all, n_splits);
    most->g = all->k / most->k;
    rest->k = all->k - most->g * most->k;
    out->parts[PART_REST].alignment.c = alignment_of(most->g * all->m * all->n * (int64_t)sizeof(float));
    const int64_t n = most->g + (rest->k > 0), inner = all->m * all->n;
    out->result_bytes = n * inner * (int64_t)sizeof(float);
    out->sums =
        (cuda_strip_sums_args){.outer = 1, .size = n, .inner = inner, .wide = inner % 4 == 0, .factor = 1};
}

bool lt_part_is_there(const lt_part *part) {
    return part->shape.m > 0 && part->shape.k > 0;
}

void lt_product_plan(const ebb_call *call, lt_product *out) {
    const lt_shape all = lt_shape_of(call);
    const int64_t n_splits = lt_splits(&all);
    *out = (lt_product){.op = call->op->name};
    out->parts[PART_MOST].shape = out->parts[PART_REST].shape = all;
    if (lt_is_spread(call))
        plan_spread(call, &all, out);
    else if (n_splits > 1)
        plan_split(&all, n_splits, out);
    else
        out->parts[PART_REST].shape.k = 0;
    for (int i = 0; i < N_PARTS; i++) {
        const lt_part *part = &out->parts[i];
        if (lt_part_is_there(part))
            out->product_bytes = ebb_max_i64(out->product_bytes, lt_scratch_bytes(&part->shape));
    }
}
