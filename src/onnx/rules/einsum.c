/* rules_einsum: Einsum of one operand or two. What only one of them has and the result lacks is summed
 * first; two are then one matmul of [batch, rows, inner] and [batch, inner, columns], or one product of
 * each with each where no axis is inner. */
#include <stdio.h>

#include "onnx/import.h"

enum { DOTS = 'z' - 'A' + 1, MOST_LABELS = DOTS + ONNX_MAX_RANK };

/* Labels of axes: letters by their distance from A, then the axes of "...", counted from the last one. */
typedef struct term {
    uint32_t n;
    uint8_t at[ONNX_MAX_RANK];
} term;

typedef struct einsum {
    const char *equation;
    uint32_t n, x[2]; /* operands */
    term in[2], out;
    int64_t size[2][MOST_LABELS]; /* with N at its two sizes; 0: no axis has the label */
} einsum;

static uint32_t find(const term *t, uint8_t label) {
    for (uint32_t d = 0; d < t->n; d++)
        if (t->at[d] == label) return d;
    return EBB_NONE;
}

static bool has(const term *t, uint8_t label) {
    return find(t, label) != EBB_NONE;
}

static void push(onnx_import *im, const einsum *e, term *to, uint8_t label) {
    if (has(to, label)) onnx_refuse(im, "equation %.60s: a label twice in one term", e->equation);
    if (to->n == ONNX_MAX_RANK) (void)onnx_beyond_rank(im, to->n + 1);
    if (!onnx_stopped(im)) to->at[to->n++] = label;
}

static void push_dots(onnx_import *im, const einsum *e, term *to, uint32_t n) {
    while (n > 0 && !onnx_stopped(im)) push(im, e, to, (uint8_t)(DOTS + --n));
}

static bool at_end(const char *at) {
    return *at == '\0' || *at == ',' || strncmp(at, "->", 2) == 0;
}

static bool is_letter(char c) {
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Reads one term, up to what ends it. n_dots: of axes that "..." stands for. */
static const char *read_term(onnx_import *im, const einsum *e, const char *at, uint32_t n_dots, term *out) {
    bool dots = false;
    for (; !at_end(at) && !onnx_stopped(im); at++) {
        if (*at == ' ') continue;
        if (is_letter(*at)) {
            push(im, e, out, (uint8_t)(*at - 'A'));
        } else if (!dots && strncmp(at, "...", 3) == 0) {
            dots = true;
            push_dots(im, e, out, n_dots);
            at += 2;
        } else {
            onnx_refuse(im, "equation %.60s: letters, ... and -> are read", e->equation);
        }
    }
    return at;
}

/* How many axes of so many "..." stands for in the term from here on. */
static uint32_t count_dots(const char *at, uint32_t rank) {
    uint32_t n = 0;
    bool dots = false;
    for (; !at_end(at); at++) {
        n += is_letter(*at);
        dots |= *at == '.';
    }
    return dots && rank > n ? rank - n : 0;
}

/* Axes of one place are those of the other operand's size. */
static void read_sizes(onnx_import *im, einsum *e, const onnx_shape *shape, const term *t) {
    if (!onnx_stopped(im) && t->n != shape->rank)
        onnx_refuse(im, "equation %.60s: %u labels of an operand of rank %u", e->equation, t->n,
                    shape->rank);
    for (uint32_t d = 0; d < t->n && !onnx_stopped(im); d++)
        for (uint32_t k = 0; k < 2; k++) {
            int64_t *size = &e->size[k][t->at[d]];
            const int64_t now = shape->dim[k][d];
            if (*size > 1 && now > 1 && *size != now)
                onnx_refuse(im, "equation %.60s: one label of %lld and of %lld places", e->equation,
                            (long long)*size, (long long)now);
            *size = ebb_max_i64(*size, now);
        }
}

/* Without "->" the result has the axes of "...", then the labels that are there once, as in the alphabet.
 */
static void imply_result(onnx_import *im, einsum *e, uint32_t n_dots) {
    push_dots(im, e, &e->out, n_dots);
    for (uint8_t label = 0; label < DOTS && !onnx_stopped(im); label++)
        if (has(&e->in[0], label) + has(&e->in[1], label) == 1) push(im, e, &e->out, label);
}

static bool read_equation(onnx_import *im, einsum *e) {
    const char *at = e->equation;
    uint32_t most = 0;
    if (e->n < 1 || e->n > 2) onnx_refuse(im, "%u operands: one or two are read", e->n);
    for (uint32_t i = 0; i < e->n && !onnx_stopped(im); i++) {
        e->x[i] = onnx_in(im, i);
        const onnx_shape shape = onnx_shape_of(im, e->x[i]);
        const uint32_t n_dots = count_dots(at, shape.rank);
        most = n_dots > most ? n_dots : most;
        at = read_term(im, e, at, n_dots, &e->in[i]);
        read_sizes(im, e, &shape, &e->in[i]);
        if (i + 1 == e->n ? *at == ',' : *at != ',')
            onnx_refuse(im, "equation %.60s: not of %u operands", e->equation, e->n);
        if (*at == ',') at++;
    }
    if (onnx_stopped(im)) return false;
    if (*at == '\0') {
        imply_result(im, e, most);
    } else {
        at = read_term(im, e, at + 2, most, &e->out);
        if (*at != '\0') onnx_refuse(im, "equation %.60s: more than one result", e->equation);
    }
    for (uint32_t d = 0; d < e->out.n; d++)
        if (e->size[0][e->out.at[d]] == 0)
            onnx_refuse(im, "equation %.60s: no operand has label %u of its result", e->equation, d);
    return !onnx_stopped(im);
}

static void shape_of(const einsum *e, const term *t, onnx_shape *out) {
    out->rank = t->n;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < t->n; d++) out->dim[k][d] = e->size[k][t->at[d]];
}

/* Operand i as wide as its labels are, without the axes that nothing else has. */
static uint32_t summed(onnx_import *im, einsum *e, uint32_t i) {
    term *t = &e->in[i], left = {.n = 0};
    uint32_t bits = 0;
    onnx_shape wide;
    char axes[ONNX_AXES_TEXT];
    shape_of(e, t, &wide);
    const uint32_t x = onnx_broadcast(im, e->x[i], &wide);
    for (uint32_t d = 0; d < t->n; d++) {
        if (has(&e->out, t->at[d]) || has(&e->in[1 - i], t->at[d]))
            left.at[left.n++] = t->at[d];
        else
            bits |= 1U << d;
    }
    *t = left;
    return bits == 0 ? x
                     : onnx_op1(im, "reduce_sum", x, "axis=[%s] keep=false", onnx_axes_text(bits, axes));
}

static uint32_t permuted(onnx_import *im, uint32_t x, const term *from, const term *to) {
    uint32_t order[ONNX_MAX_RANK];
    for (uint32_t d = 0; d < to->n; d++) order[d] = find(from, to->at[d]);
    return onnx_permute(im, x, order, to->n);
}

/* Axes of the one operand beside those that both have and the result, too. */
typedef struct sides {
    term batch, inner, own[2];
} sides;

static void append(term *to, const term *more) {
    for (uint32_t d = 0; d < more->n; d++) to->at[to->n++] = more->at[d];
}

static sides sides_of(const einsum *e) {
    sides s = {.batch = {.n = 0}};
    for (uint32_t d = 0; d < e->out.n; d++) {
        const uint8_t label = e->out.at[d];
        const bool left = has(&e->in[0], label), right = has(&e->in[1], label);
        term *to = left && right ? &s.batch : &s.own[right];
        to->at[to->n++] = label;
    }
    for (uint32_t d = 0; d < e->in[0].n; d++) /* what only it has was summed */
        if (!has(&e->out, e->in[0].at[d])) s.inner.at[s.inner.n++] = e->in[0].at[d];
    return s;
}

/* [batch, second, last] of an operand; *turned where it lies as [batch, last, second], and stays so. */
static uint32_t flattened(onnx_import *im, const einsum *e, uint32_t i, uint32_t x, const term *batch,
                          const term *second, const term *last, bool *turned) {
    term wanted = *batch, other = *batch;
    onnx_shape part, flat = {.rank = 3};
    append(&wanted, second), append(&wanted, last);
    append(&other, last), append(&other, second);
    *turned = second->n > 0 && memcmp(&other, &e->in[i], sizeof other) == 0;
    const term *const parts[3] = {batch, *turned ? last : second, *turned ? second : last};
    if (!*turned) x = permuted(im, x, &e->in[i], &wanted);
    for (uint32_t p = 0; p < 3; p++) {
        shape_of(e, parts[p], &part);
        for (uint32_t k = 0; k < 2; k++) flat.dim[k][p] = onnx_count(&part, k);
    }
    return onnx_reshape(im, x, &flat);
}

/* [batch, rows, columns] of all products; the axes of the other operand have one place. */
static uint32_t multiplied(onnx_import *im, const einsum *e, const uint32_t x[2], const sides *s) {
    uint32_t y[2];
    for (uint32_t i = 0; i < 2; i++) {
        term own = s->batch;
        onnx_shape shape;
        append(&own, &s->own[i]);
        y[i] = permuted(im, x[i], &e->in[i], &own);
        own = s->batch;
        append(&own, &s->own[0]), append(&own, &s->own[1]);
        shape_of(e, &own, &shape);
        for (uint32_t d = 0; d < own.n; d++)
            if (!has(&e->in[i], own.at[d])) shape.dim[0][d] = shape.dim[1][d] = 1;
        y[i] = onnx_reshape(im, y[i], &shape);
    }
    return onnx_op2(im, "mul", y[0], y[1]);
}

static void einsum_of(onnx_import *im) {
    einsum e = {.equation = onnx_attr_text(im, "equation", ""), .n = im->node->n_in};
    uint32_t x[2] = {EBB_BUILD_NONE, EBB_BUILD_NONE};
    if (!read_equation(im, &e)) return;
    for (uint32_t i = 0; i < e.n; i++) x[i] = summed(im, &e, i);
    if (e.n == 1) {
        onnx_give(im, 0, permuted(im, x[0], &e.in[0], &e.out));
        return;
    }
    const sides s = sides_of(&e);
    term made = s.batch;
    onnx_shape shape;
    append(&made, &s.own[0]), append(&made, &s.own[1]);
    uint32_t y;
    if (s.inner.n == 0) {
        y = multiplied(im, &e, x, &s);
    } else {
        char text[64];
        bool turned[2];
        const uint32_t a = flattened(im, &e, 0, x[0], &s.batch, &s.own[0], &s.inner, &turned[0]),
                       b = flattened(im, &e, 1, x[1], &s.batch, &s.inner, &s.own[1], &turned[1]);
        (void)snprintf(text, sizeof text, "%s%s%s", turned[0] ? "transpose_a=true" : "",
                       turned[0] && turned[1] ? " " : "", turned[1] ? "transpose_b=true" : "");
        y = onnx_op(im, "matmul", (uint32_t[]){a, b}, 2, text);
    }
    shape_of(&e, &made, &shape);
    onnx_give(im, 0, permuted(im, onnx_reshape(im, y, &shape), &made, &e.out));
}

const onnx_rule onnx_rules_einsum[] = {{"Einsum", einsum_of}, {NULL, NULL}};
