/* rules_tuples: ops whose indices are tuples, one for each of the first axes: GatherND, ScatterND. */
#include "onnx/import.h"
#include "onnx/rules/indices.h"

typedef struct tuples {
    onnx_shape x, lead;    /* lead: the indices' shape without its last axis */
    uint32_t batch, n, in; /* axes in common; numbers of a tuple; the indices */
} tuples;

static bool tuples_read(onnx_import *im, uint32_t x, tuples *t) {
    const onnx_value *v = onnx_operand(im, 1);
    const onnx_shape i = v->kind == ONNX_GRAPH ? onnx_shape_of(im, v->id) : v->shape;
    const int64_t batch = onnx_attr_int(im, "batch_dims", 0);
    if (onnx_stopped(im)) return false;
    t->x = onnx_shape_of(im, x);
    t->lead = i;
    t->lead.rank = i.rank > 0 ? i.rank - 1 : 0;
    const int64_t n = i.rank > 0 ? i.dim[0][t->lead.rank] : 0;
    if (n < 1 || n != i.dim[1][t->lead.rank] || batch < 0 || batch > t->lead.rank || batch > t->x.rank ||
        n > t->x.rank - batch) {
        onnx_refuse(im, "tuples of %lld indices behind %lld axes of %u", (long long)n, (long long)batch,
                    t->x.rank);
        return false;
    }
    for (uint32_t d = 0; d < batch; d++)
        if (i.dim[0][d] != t->x.dim[0][d] || i.dim[1][d] != t->x.dim[1][d])
            onnx_refuse(im, "axis %u: tuples of other samples than its operand's", d);
    t->batch = (uint32_t)batch;
    t->n = (uint32_t)n;
    return !onnx_stopped(im) && !onnx_beyond_rank(im, (int64_t)t->lead.rank + t->x.rank - batch - n);
}

/* The places along axis d of x that the tuples name; *good: which of them are there. The first axis, whose
 * size may be the batch, is checked with the sum. */
static uint32_t tuple_places(onnx_import *im, const tuples *t, uint32_t d, uint32_t *good) {
    if (d < t->batch) {
        onnx_shape line = {.rank = t->lead.rank};
        for (uint32_t e = 0; e < line.rank; e++)
            for (uint32_t k = 0; k < 2; k++) line.dim[k][e] = e == d ? t->lead.dim[k][d] : 1;
        return onnx_places_along(im, &line, d);
    }
    const int64_t at = d - t->batch, size = t->x.dim[0][d];
    const uint32_t i = onnx_reshape(
        im, onnx_slice(im, t->in, t->lead.rank, (int64_t[]){at, at}, (int64_t[]){1, 1}), &t->lead);
    if (d == 0) return i;
    if (size != t->x.dim[1][d]) onnx_refuse(im, "places along the batch");
    const uint32_t place = onnx_from_start(im, i, size), is_one = onnx_places_within(im, place, size);
    *good = *good == EBB_BUILD_NONE ? is_one : onnx_op2(im, "logical_and", *good, is_one);
    return place;
}

/* Each tuple's number among all places of x's first axes. */
static uint32_t tuple_numbers(onnx_import *im, const tuples *t) {
    const onnx_shape single = {.rank = 0};
    uint32_t sum = EBB_BUILD_NONE, good = EBB_BUILD_NONE;
    int64_t stride = 1;
    for (uint32_t d = t->batch + t->n; d-- > 0 && !onnx_stopped(im);) {
        const uint32_t at = tuple_places(im, t, d, &good);
        const uint32_t part =
            stride == 1 ? at : onnx_op2(im, "mul", at, onnx_fill(im, &single, at, (double)stride));
        sum = sum == EBB_BUILD_NONE ? part : onnx_op2(im, "add", sum, part);
        stride *= t->x.dim[0][d]; /* of a tensor's elements: it fits */
        if (d > 0 && (t->x.dim[0][d] != t->x.dim[1][d] || stride > INT32_MAX))
            onnx_refuse(im, "axis %u: the places behind it are too many, or depend on the batch", d - 1);
    }
    return good == EBB_BUILD_NONE
               ? sum
               : onnx_op(im, "where", (uint32_t[]){good, sum, onnx_fill(im, &single, sum, INT32_MIN)}, 3,
                         NULL);
}

/* Known tuples of a batch that was exported as a number: those of each sample name its own places, alike
 * for all. Their places behind the first axis. */
static double *sample_places(onnx_import *im, const tuples *t, const double *at, int64_t each) {
    if (each < 1) onnx_refuse(im, "no places");
    for (uint32_t d = 1; d < t->n; d++)
        if (t->x.dim[0][d] != t->x.dim[1][d]) onnx_refuse(im, "places along the batch");
    double *places = onnx_stopped(im) ? NULL : onnx_folded(im, each);
    for (int64_t b = 0; places && b < t->lead.dim[0][0]; b++)
        for (int64_t i = 0; i < each; i++) {
            const double *tuple = at + (b * each + i) * t->n;
            double place = 0;
            for (uint32_t d = 1; d < t->n; d++) {
                const double size = (double)t->x.dim[0][d];
                if (!(tuple[d] >= -size && tuple[d] < size))
                    onnx_refuse(im, "place %g of an axis of %g", tuple[d], size);
                place = place * size + (tuple[d] < 0 ? tuple[d] + size : tuple[d]);
            }
            if (tuple[0] != (double)b || (b > 0 && place != places[i]))
                onnx_refuse(im, "places along the batch");
            places[i] = place;
        }
    return onnx_stopped(im) ? NULL : places;
}

static void gather_of_samples(onnx_import *im, uint32_t x, const tuples *t) {
    int64_t n;
    const double *at = onnx_fixed(im, 1, &n);
    if (!at || t->batch > 0 || t->n < 2 || t->lead.rank < 1 || t->lead.dim[0][0] != im->batch ||
        t->x.dim[0][0] != ONNX_BATCH_A) {
        onnx_refuse(im, "places along the batch");
        return;
    }
    onnx_shape flat = {.rank = 3, .dim = {{1, 1, 1}, {1, 1, 1}}}, out = t->lead;
    const onnx_shape line = {.rank = 1, .dim = {{n / t->n / im->batch}, {n / t->n / im->batch}}};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t d = 0; d < t->x.rank; d++)
            flat.dim[k][d == 0 ? 0 : d < t->n ? 1 : 2] *= t->x.dim[k][d];
        for (uint32_t d = t->n; d < t->x.rank; d++) out.dim[k][t->lead.rank + d - t->n] = t->x.dim[k][d];
        out.dim[k][0] = t->x.dim[k][0];
    }
    out.rank += t->x.rank - t->n;
    const double *places = sample_places(im, t, at, line.dim[0][0]);
    if (!places) return;
    const uint32_t in[2] = {onnx_reshape(im, x, &flat), onnx_table(im, ONNX_INT64, &line, places)};
    onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "take", in, 2, "axis=1"), &out));
}

static void gather_nd(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const bool known = onnx_operand(im, 1)->kind != ONNX_GRAPH;
    tuples t = {.in = EBB_BUILD_NONE};
    if (!tuples_read(im, x, &t)) return;
    if (known && t.batch == 0 && t.x.dim[0][0] != t.x.dim[1][0]) {
        gather_of_samples(im, x, &t);
        return;
    }
    t.in = onnx_in(im, 1);
    if (onnx_stopped(im)) return;
    const bool own = t.batch == 0 && t.x.dim[0][0] == ONNX_BATCH_A && t.x.dim[1][0] == ONNX_BATCH_B;
    if (im->samples.at[t.in].numbered && !own) onnx_refuse(im, "places along the batch");
    if (onnx_stopped(im)) return;
    onnx_shape rows = {.rank = 2, .dim = {{1, 1}, {1, 1}}}, line = {.rank = 1}, out = t.lead;
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t d = 0; d < t.x.rank; d++) rows.dim[k][d >= t.batch + t.n] *= t.x.dim[k][d];
        for (uint32_t d = t.batch + t.n, e = t.lead.rank; d < t.x.rank; d++)
            out.dim[k][e++] = t.x.dim[k][d];
        line.dim[k][0] = onnx_count(&t.lead, k);
    }
    out.rank += t.x.rank - t.batch - t.n;
    rows.rank = t.batch + t.n < t.x.rank ? 2 : 1;
    const uint32_t numbers = onnx_broadcast(im, tuple_numbers(im, &t), &t.lead);
    const uint32_t in[2] = {onnx_reshape(im, x, &rows), onnx_reshape(im, numbers, &line)};
    if (onnx_stopped(im)) return;
    const bool guessed = im->samples.at[t.in].numbered && im->samples.at[x].guessed && in[0] != x;
    if (guessed) im->samples.at[in[0]].guessed = false; /* each takes its own places */
    const uint32_t y = onnx_reshape(im, onnx_op(im, "take", in, 2, "axis=0"), &out);
    if (guessed) onnx_samples_guess(im, y);
    onnx_give(im, 0, y);
}

/* ---- ScatterND: rows of x and of the updates, one behind the other, of which each place takes one ---- */

/* The row of x that each of n updates is for. */
static double *rows_of_updates(onnx_import *im, const onnx_shape *x, uint32_t n_axes, int64_t *n) {
    const double *at = onnx_fixed(im, 1, n);
    *n /= n_axes;
    double *rows = at ? onnx_folded(im, *n) : NULL;
    for (int64_t j = 0; rows && j < *n; j++) {
        rows[j] = 0;
        for (uint32_t d = 0; d < n_axes; d++) {
            const double place = at[j * n_axes + d], size = (double)x->dim[0][d];
            if (!(place >= -size && place < size)) {
                onnx_refuse(im, "place %g of an axis of %g", place, size);
                return NULL;
            }
            rows[j] = rows[j] * size + (double)onnx_place(place, x->dim[0][d]);
        }
    }
    return rows;
}

/* The row that each row of x is now; those from `rows` on are updates. */
static double *scattered(onnx_import *im, int64_t rows, const double *row_of, int64_t n) {
    double *from = onnx_folded(im, rows);
    for (int64_t i = 0; from && i < rows; i++) from[i] = (double)i;
    for (int64_t j = 0; from && j < n; j++) from[(int64_t)row_of[j]] = (double)(rows + j);
    return from;
}

static void scatter_nd(onnx_import *im) {
    const onnx_value *places = onnx_operand(im, 1);
    const uint32_t x = onnx_in(im, 0), updates = onnx_in(im, 2);
    const onnx_shape shape = onnx_shape_of(im, x), given = onnx_shape_of(im, updates);
    onnx_shape rows = {.rank = 2, .dim = {{1, 1}, {1, 1}}}, more = rows, line = {.rank = 1};
    const char *how = onnx_attr_text(im, "reduction", "none");
    if (places->kind == ONNX_GRAPH)
        onnx_refuse(im, "its places are computed from data: they must be known");
    if (onnx_stopped(im)) return;
    const int64_t n_axes = places->shape.rank > 0 ? places->shape.dim[0][places->shape.rank - 1] : 0;
    if (n_axes < 1 || n_axes > shape.rank) {
        onnx_refuse(im, "tuples of %lld indices of %u axes", (long long)n_axes, shape.rank);
        return;
    }
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++) rows.dim[k][d >= n_axes] *= shape.dim[k][d];
    if (rows.dim[0][0] != rows.dim[1][0]) onnx_refuse(im, "places along the batch");
    if (onnx_stopped(im)) return;
    const double *row_of = rows_of_updates(im, &shape, (uint32_t)n_axes, &more.dim[0][0]);
    if (!row_of || onnx_stopped(im)) return;
    for (uint32_t k = 0; k < 2; k++) {
        more.dim[k][0] = more.dim[0][0];
        more.dim[k][1] = rows.dim[k][1];
        line.dim[k][0] = rows.dim[k][0];
        if (onnx_count(&more, k) != onnx_count(&given, k)) onnx_refuse(im, "updates of another shape");
    }
    const int64_t n = more.dim[0][0];
    const uint32_t both[2] = {onnx_reshape(im, x, &rows), onnx_reshape(im, updates, &more)};
    uint32_t y;
    if (strcmp(how, "none") != 0) {
        const onnx_shape each = {.rank = 1, .dim = {{n}, {n}}};
        y = onnx_scatter_rows(im, both[0], onnx_table(im, ONNX_INT64, &each, row_of), both[1], how);
    } else {
        const double *from = scattered(im, rows.dim[0][0], row_of, n);
        if (!from || onnx_stopped(im)) return;
        const uint32_t in[2] = {onnx_concat(im, both, 2, 0), onnx_table(im, ONNX_INT64, &line, from)};
        y = onnx_op(im, "take", in, 2, "axis=0");
    }
    onnx_give(im, 0, onnx_reshape(im, y, &shape));
}

const onnx_rule onnx_rules_tuples[] = {
    {"GatherND", gather_nd},
    {"ScatterND", scatter_nd},
    {NULL, NULL},
};
