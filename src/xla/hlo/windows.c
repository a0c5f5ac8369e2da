/* xla/hlo/windows.c: operations on parts of tensors: slices, pads, sums along axes, products, windows. */
#include "xla/hlo/emit.h"

#include <inttypes.h>

static hlo_value begin(hlo *h, hlo_type type) {
    const hlo_value v = {h->n++, -1, type};
    ebb_text_add(h->text, "    %%v%u = ", v.number);
    return v;
}

static void put_list(hlo *h, const char *before, const int64_t *x, uint32_t n, const char *behind) {
    ebb_text_add(h->text, "%s", before);
    for (uint32_t i = 0; i < n; i++) ebb_text_add(h->text, i ? ", %" PRId64 : "%" PRId64, x[i]);
    ebb_text_add(h->text, "%s", behind);
}

/* " : (types) -> type" and the line's end. */
static void end(hlo *h, const hlo_value *x, uint32_t n, const hlo_type *type) {
    ebb_text_add(h->text, " : (");
    for (uint32_t i = 0; i < n; i++) {
        if (i) ebb_text_add(h->text, ", ");
        hlo_put_type(h, &x[i].type);
    }
    ebb_text_add(h->text, ") -> ");
    hlo_put_type(h, type);
    ebb_text_add(h->text, "\n");
}

static void put_operands(hlo *h, const hlo_value *x, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) ebb_text_add(h->text, ", ");
        hlo_put_value(h, &x[i]);
    }
}

hlo_value hlo_slice(hlo *h, hlo_value x, const int64_t *first, const int64_t *last, const int64_t *step) {
    hlo_type to = x.type;
    for (uint32_t d = 0; d < to.rank; d++) to.dim[d] = (last[d] - first[d] + step[d] - 1) / step[d];
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "stablehlo.slice ");
    hlo_put_value(h, &x);
    ebb_text_add(h->text, " [");
    for (uint32_t d = 0; d < to.rank; d++)
        ebb_text_add(h->text, "%s%" PRId64 ":%" PRId64 ":%" PRId64, d ? ", " : "", first[d], last[d],
                     step[d]);
    ebb_text_add(h->text, "]");
    end(h, &x, 1, &to);
    return v;
}

hlo_value hlo_pad(hlo *h, hlo_value x, double with, const int64_t *low, const int64_t *high,
                  const int64_t *between) {
    const hlo_value operands[] = {x, hlo_full(h, hlo_shape(x.type.kind, 0, NULL), with)};
    hlo_type to = x.type;
    for (uint32_t d = 0; d < to.rank; d++)
        to.dim[d] = x.type.dim[d] + (x.type.dim[d] - 1) * between[d] + low[d] + high[d];
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "stablehlo.pad ");
    put_operands(h, operands, 2);
    put_list(h, ", low = [", low, to.rank, "]");
    put_list(h, ", high = [", high, to.rank, "]");
    put_list(h, ", interior = [", between, to.rank, "]");
    end(h, operands, 2, &to);
    return v;
}

hlo_value hlo_concatenate(hlo *h, const hlo_value *x, uint32_t n, uint32_t axis) {
    hlo_type to = x[0].type;
    for (uint32_t i = 1; i < n; i++) to.dim[axis] += x[i].type.dim[axis];
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "stablehlo.concatenate ");
    put_operands(h, x, n);
    ebb_text_add(h->text, ", dim = %u", axis);
    end(h, x, n, &to);
    return v;
}

hlo_value hlo_reduce(hlo *h, const char *name, hlo_value x, double start, uint32_t axes) {
    hlo_type to = {.kind = x.type.kind};
    int64_t gone[HLO_MAX_RANK];
    uint32_t n = 0;
    for (uint32_t d = 0; d < x.type.rank; d++) {
        if (axes >> d & 1)
            gone[n++] = d;
        else
            to.dim[to.rank++] = x.type.dim[d];
    }
    const hlo_value operands[] = {x, hlo_full(h, hlo_shape(x.type.kind, 0, NULL), start)};
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "stablehlo.reduce(");
    hlo_put_value(h, &x);
    ebb_text_add(h->text, " init: ");
    hlo_put_value(h, &operands[1]);
    ebb_text_add(h->text, ") applies stablehlo.%s across", name);
    put_list(h, " dimensions = [", gone, n, "]");
    end(h, operands, 2, &to);
    return v;
}

hlo_value hlo_dot(hlo *h, hlo_value a, hlo_value b, uint32_t sum_a, uint32_t sum_b) {
    const hlo_value operands[] = {a, b};
    const bool batched = a.type.rank == 3;
    const uint32_t first = batched ? 1 : 0;
    hlo_type to = {.kind = a.type.kind};
    if (batched) to.dim[to.rank++] = a.type.dim[0];
    to.dim[to.rank++] = a.type.dim[sum_a == first ? first + 1 : first];
    to.dim[to.rank++] = b.type.dim[sum_b == first ? first + 1 : first];
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "stablehlo.dot_general ");
    put_operands(h, operands, 2);
    ebb_text_add(h->text, batched ? ", batching_dims = [0] x [0]" : "");
    ebb_text_add(h->text, ", contracting_dims = [%u] x [%u], precision = [HIGHEST, HIGHEST]", sum_a, sum_b);
    end(h, operands, 2, &to);
    return v;
}

hlo_value hlo_convolution(hlo *h, hlo_value a, hlo_value b, const char *dims, const hlo_window *w,
                          hlo_type type) {
    const hlo_value operands[] = {a, b};
    const hlo_value v = begin(h, type);
    ebb_text_add(h->text, "stablehlo.convolution(");
    put_operands(h, operands, 2);
    ebb_text_add(h->text, ") dim_numbers = %s, window = {", dims);
    put_list(h, "stride = [", w->stride, 2, "]");
    ebb_text_add(h->text, ", pad = [[%" PRId64 ", %" PRId64 "], [%" PRId64 ", %" PRId64 "]]", w->low[0],
                 w->high[0], w->low[1], w->high[1]);
    put_list(h, ", lhs_dilate = [", w->spread, 2, "]");
    put_list(h, ", rhs_dilate = [", w->dilation, 2, "]}");
    ebb_text_add(
        h->text,
        " {batch_group_count = %" PRId64 " : i64, feature_group_count = %" PRId64
        " : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}",
        w->batch_groups, w->groups);
    end(h, operands, 2, &type);
    return v;
}

/* "({ ^bb0(two scalars): their `name` })" */
static void put_region(hlo *h, const char *name, hlo_kind kind) {
    const hlo_value a = {h->n++, -1, hlo_shape(kind, 0, NULL)}, b = {h->n++, -1, a.type};
    ebb_text_add(h->text, "({\n    ^bb0(%%v%u: ", a.number);
    hlo_put_type(h, &a.type);
    ebb_text_add(h->text, ", %%v%u: ", b.number);
    hlo_put_type(h, &b.type);
    ebb_text_add(h->text, "):\n  ");
    const hlo_value sum = hlo_2(h, name, a, b);
    ebb_text_add(h->text, "      stablehlo.return %%v%u : ", sum.number);
    hlo_put_type(h, &sum.type);
    ebb_text_add(h->text, "\n    })");
}

hlo_value hlo_reduce_window(hlo *h, const char *name, hlo_value x, double start, const int64_t kernel[2],
                            const hlo_window *w, hlo_type type) {
    const hlo_value operands[] = {x, hlo_full(h, hlo_shape(x.type.kind, 0, NULL), start)};
    const int64_t size[] = {1, kernel[0], kernel[1], 1}, stride[] = {1, w->stride[0], w->stride[1], 1};
    const hlo_value v = begin(h, type);
    ebb_text_add(h->text, "\"stablehlo.reduce_window\"(");
    put_operands(h, operands, 2);
    ebb_text_add(h->text, ") ");
    put_region(h, name, x.type.kind);
    put_list(h, " {window_dimensions = array<i64: ", size, 4, ">");
    put_list(h, ", window_strides = array<i64: ", stride, 4, ">");
    ebb_text_add(h->text,
                 ", padding = dense<[[0, 0], [%" PRId64 ", %" PRId64 "], [%" PRId64 ", %" PRId64
                 "], [0, 0]]> : tensor<4x2xi64>}",
                 w->low[0], w->high[0], w->low[1], w->high[1]);
    end(h, operands, 2, &type);
    return v;
}

/* ---- indices ---- */

static void put_more_axes(hlo *h, uint32_t rank) {
    ebb_text_add(h->text, "[");
    for (uint32_t d = 1; d < rank; d++) ebb_text_add(h->text, d > 1 ? ", %u" : "%u", d);
    ebb_text_add(h->text, "]");
}

hlo_value hlo_gather_rows(hlo *h, hlo_value table, hlo_value index) {
    const hlo_value operands[] = {table, index};
    hlo_type to = table.type, one = table.type;
    to.dim[0] = index.type.dim[0];
    one.dim[0] = 1;
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "\"stablehlo.gather\"(");
    put_operands(h, operands, 2);
    ebb_text_add(h->text, ") {dimension_numbers = #stablehlo.gather<offset_dims = ");
    put_more_axes(h, to.rank);
    ebb_text_add(h->text, ", collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>");
    put_list(h, ", slice_sizes = array<i64: ", one.dim, one.rank, ">, indices_are_sorted = false}");
    end(h, operands, 2, &to);
    return v;
}

hlo_value hlo_scatter_rows(hlo *h, hlo_type table, hlo_value index, hlo_value rows) {
    return hlo_scatter_rows_onto(h, hlo_full(h, table, 0), index, rows);
}

hlo_value hlo_scatter_rows_onto(hlo *h, hlo_value base, hlo_value index, hlo_value rows) {
    const hlo_value operands[] = {base, index, rows};
    const hlo_type table = base.type;
    const hlo_value v = begin(h, table);
    ebb_text_add(h->text, "\"stablehlo.scatter\"(");
    put_operands(h, operands, 3);
    ebb_text_add(h->text, ") ");
    put_region(h, "add", table.kind);
    ebb_text_add(h->text, " {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = ");
    put_more_axes(h, table.rank);
    ebb_text_add(h->text, ", inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                          "index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}");
    end(h, operands, 3, &table);
    return v;
}

/* ---- sort ---- */

/* Is a before b? What compares two scalars, as truths. */
static hlo_value is_before(hlo *h, hlo_value a, hlo_value b, bool descending) {
    const hlo_value plain = hlo_compare(h, descending ? "GT" : "LT", a, b);
    if (!hlo_real(a.type.kind)) return plain;
    const hlo_value a_nan = hlo_compare(h, "NE", a, a), b_nan = hlo_compare(h, "NE", b, b);
    const hlo_value last = descending ? a_nan : b_nan, first = descending ? b_nan : a_nan;
    return hlo_2(h, "or", plain, hlo_2(h, "and", last, hlo_1(h, "not", first)));
}

void hlo_sort(hlo *h, hlo_value x, hlo_value beside, uint32_t axis, bool descending, hlo_value out[2]) {
    const hlo_value operands[] = {x, beside};
    hlo_value scalar[4];
    const uint32_t number = h->n++;
    ebb_text_add(h->text, "    %%v%u:2 = \"stablehlo.sort\"(", number);
    put_operands(h, operands, 2);
    ebb_text_add(h->text, ") ({\n    ^bb0(");
    for (uint32_t i = 0; i < 4; i++) {
        scalar[i] = (hlo_value){h->n++, -1, hlo_shape(operands[i / 2].type.kind, 0, NULL)};
        ebb_text_add(h->text, "%s%%v%u: ", i ? ", " : "", scalar[i].number);
        hlo_put_type(h, &scalar[i].type);
    }
    ebb_text_add(h->text, "):\n");
    const hlo_value before = is_before(h, scalar[0], scalar[1], descending);
    ebb_text_add(h->text, "      stablehlo.return %%v%u : ", before.number);
    hlo_put_type(h, &before.type);
    ebb_text_add(h->text, "\n    }) {dimension = %u : i64, is_stable = true} : (", axis);
    for (int i = 0; i < 4; i++) {
        hlo_put_type(h, &operands[i % 2].type);
        ebb_text_add(h->text, i == 1 ? ") -> (" : i == 3 ? ")\n" : ", ");
        if (i < 2) out[i] = (hlo_value){number, i, operands[i].type};
    }
}

/* ---- bits and places ---- */

hlo_value hlo_bitcast(hlo *h, hlo_kind kind, hlo_value x) {
    const hlo_type to = hlo_with(x.type, kind);
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "stablehlo.bitcast_convert ");
    hlo_put_value(h, &x);
    end(h, &x, 1, &to);
    return v;
}

hlo_value hlo_written(hlo *h, hlo_value x, hlo_value part, const hlo_value *place) {
    hlo_value operands[2 + HLO_MAX_RANK] = {x, part};
    for (uint32_t d = 0; d < x.type.rank; d++) operands[2 + d] = place[d];
    const hlo_value v = begin(h, x.type);
    ebb_text_add(h->text, "stablehlo.dynamic_update_slice ");
    put_operands(h, operands, 2 + x.type.rank);
    end(h, operands, 2 + x.type.rank, &x.type);
    return v;
}
