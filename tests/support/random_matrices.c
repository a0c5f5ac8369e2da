/* Ops of matrices: products, tables, attention. */
#include "random_drawing.h"

bool draw_linear(drawing *d) {
    static const int64_t outs[] = {1, 3, 7, 10, 33};
    ebb_id x = draw_value(d, 2);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    ebb_type w = {
        .dtype = d->dtype, .rank = 2, .dim = {chance(d, 30) ? t->dim[1] : one_of(d, outs, 5), t->dim[1]}};
    ebb_type y = {.dtype = d->dtype, .rank = 2, .dim = {t->dim[0], w.dim[0]}};
    if (!small(d, &w) || !small(d, &y)) return false;
    ebb_id in[] = {x, draw_weight(d, &w)};
    draw_node(d, &ebb_op_linear, in, 2, NULL);
    return true;
}

bool draw_softmax(drawing *d) {
    ebb_id x = draw_value(d, 2);
    if (x == EBB_NONE) return false;
    draw_node(d, &ebb_op_softmax, &x, 1, NULL);
    return true;
}

/* Rows against one another, [n,c] x [c,n], or c against c: a square value of either size. */
bool draw_matmul(drawing *d) {
    ebb_id x = draw_value(d, 2);
    if (x == EBB_NONE || d->n_products >= 3) return false;
    const ebb_type t = *type_of(d, x);
    bool rows = chance(d, 50);
    int64_t side = rows ? t.dim[0] : t.dim[1];
    ebb_type y = {.dtype = d->dtype, .rank = 2, .dim = {side, side}};
    if (!small(d, &y)) return false;
    d->n_products++;
    ebb_attr one[1] = {{.i = {1, t.dim[0], t.dim[1]}}}, back[1] = {{.i = {side, side}}};
    ebb_attr attr[2] = {
        [EBB_MATMUL_TRANSPOSE_A] = {.i = {!rows}}, [EBB_MATMUL_TRANSPOSE_B] = {.i = {rows}}};
    ebb_id a = ebb_builder_node(d->b, &ebb_op_reshape, &x, 1, one, NULL, EBB_FORWARD, 0)[0];
    ebb_id in[] = {a, a};
    ebb_id made = ebb_builder_node(d->b, &ebb_op_matmul, in, 2, attr, NULL, EBB_FORWARD, 0)[0];
    draw_node(d, &ebb_op_reshape, &made, 1, back);
    return true;
}

/* Rows of a table, at times one that a linear layer reads too, as many as a value has. */
bool draw_embedding(drawing *d) {
    static const int64_t rows[] = {1, 3, 7, 33};
    ebb_id like = draw_value(d, 2);
    if (like == EBB_NONE) return false;
    const ebb_type *t = type_of(d, like);
    ebb_type table = {.dtype = d->dtype, .rank = 2, .dim = {one_of(d, rows, 4), t->dim[1]}};
    ebb_type ids = {.dtype = EBB_I32, .rank = 1, .dim = {t->dim[0]}};
    if (!small(d, &table)) return false;
    ebb_id in[] = {draw_weight(d, &table), draw_given(d, "ids", EBB_ROLE_INPUT, &ids, EBB_INIT_ZERO)};
    draw_node(d, &ebb_op_embedding, in, 2, NULL);
    return true;
}

/* Between views: rows of a value are one sequence, or each its own; its width is cut to what three times
 * the heads divide by a linear layer. */
bool draw_attention(drawing *d) {
    ebb_id x = draw_value(d, 2);
    if (x == EBB_NONE) return false;
    const ebb_type t = *type_of(d, x);
    int64_t heads = 1 + below(d, 3), c = heads * (1 + below(d, 4));
    ebb_type w = {.dtype = d->dtype, .rank = 2, .dim = {3 * c, t.dim[1]}};
    ebb_type y = {.dtype = d->dtype, .rank = 2, .dim = {t.dim[0], 3 * c}};
    if (!small(d, &w) || !small(d, &y)) return false;
    bool one = chance(d, 70);
    ebb_attr in_shape[1] = {{.i = {one ? 1 : t.dim[0], one ? t.dim[0] : 1, 3 * c}}};
    ebb_attr out_shape[1] = {{.i = {t.dim[0], c}}};
    ebb_attr attr[2] = {
        [EBB_ATTENTION_HEADS] = {.i = {heads}}, [EBB_ATTENTION_CAUSAL] = {.i = {chance(d, 70)}}};
    ebb_id in[] = {x, draw_weight(d, &w)};
    ebb_id qkv = draw_node(d, &ebb_op_linear, in, 2, NULL);
    ebb_id rows = ebb_builder_node(d->b, &ebb_op_reshape, &qkv, 1, in_shape, NULL, EBB_FORWARD, 0)[0];
    ebb_id made = ebb_builder_node(d->b, &ebb_op_attention, &rows, 1, attr, NULL, EBB_FORWARD, 0)[0];
    draw_node(d, &ebb_op_reshape, &made, 1, out_shape);
    return true;
}
