/* Draws bodies step by step: an op and operands that fit by its own shape rule, and only what is read. */
#include "random_body.h"

#include <math.h>
#include <stdio.h>

#include "env.h"

typedef struct drawing {
    ebb_env *env;
    ebb_rng rng;
    ebb_type shape; /* of all results */
    ebb_dtype real; /* most operands are of */
    ebb_type in[EBB_FUSED_OPERANDS];
    uint32_t n_in, broadcast;
    ebb_fused_body body;
} drawing;

static uint32_t below(drawing *d, uint32_t n) {
    return ebb_rng_below(&d->rng, n);
}
static bool chance(drawing *d, uint32_t percent) {
    return below(d, 100) < percent;
}

static void draw_shape(drawing *d) {
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 9, 33, 130};
    d->shape.rank = below(d, 6);
    int64_t count = 1;
    for (uint32_t k = 0; k < d->shape.rank; k++) {
        int64_t size = sizes[below(d, EBB_COUNT(sizes))];
        if (count * size > 3000) size = 1;
        d->shape.dim[k] = size;
        count *= size;
    }
}

/* What an operand may be: as the result, with sizes of 1, without its first axes; a vector of the channels.
 */
static ebb_type draw_type(drawing *d, bool channels) {
    ebb_type type = d->shape;
    static const ebb_dtype others[] = {EBB_F32, EBB_F32, EBB_I32, EBB_BOOL, EBB_BF16, EBB_F16};
    type.dtype = chance(d, 60) ? d->real : others[below(d, EBB_COUNT(others))];
    if (channels) {
        type.rank = 1;
        type.dim[0] = d->shape.dim[1];
        return type;
    }
    const uint32_t n_off = type.rank > 0 && chance(d, 25) ? 1 + below(d, type.rank) : 0;
    type.rank -= n_off;
    for (uint32_t k = 0; k < type.rank; k++) type.dim[k] = type.dim[k + n_off];
    for (uint32_t k = 0; k < type.rank && chance(d, 30); k++) type.dim[below(d, type.rank)] = 1;
    return type;
}

static ebb_fused_arg draw_arg(drawing *d, bool channels) {
    const uint32_t *own = channels ? &d->body.by_channel : &d->broadcast;
    if (!channels && d->body.n_steps > 0 && chance(d, 65))
        return (ebb_fused_arg){true, below(d, d->body.n_steps)};
    for (uint32_t tries = 0; d->n_in > 0 && tries < 4; tries++) {
        const uint32_t i = below(d, d->n_in);
        if ((*own >> i & 1) && chance(d, 60)) return (ebb_fused_arg){false, i};
    }
    if (d->n_in == EBB_FUSED_OPERANDS) return (ebb_fused_arg){false, EBB_NONE};
    d->in[d->n_in] = draw_type(d, channels);
    return (ebb_fused_arg){false, d->n_in};
}

static void draw_attrs(drawing *d, ebb_fused_step *s) {
    static const double reals[] = {-2, -0.5, 0, 1, 0.7, 3.25, 1e-3, 1e20};
    static const ebb_dtype casts[] = {EBB_F32, EBB_I32, EBB_BOOL, EBB_BF16, EBB_F16};
    for (uint32_t a = 0; a < s->op->n_attrs; a++) {
        const ebb_attr_info *info = &s->op->attrs[a];
        s->attr[a] = (ebb_attr){.i = {0}};
        if (info->kind == EBB_ATTR_REAL) s->attr[a].f = reals[below(d, EBB_COUNT(reals))];
        if (info->kind == EBB_ATTR_DTYPE)
            s->attr[a].i[0] = s->op == &ebb_op_cast ? casts[below(d, EBB_COUNT(casts))] : d->real;
    }
}

/* One more step, if what was drawn fits. */
static void draw_step(drawing *d) {
    ebb_fused_step *s = &d->body.step[d->body.n_steps];
    const uint32_t n_before = d->n_in;
    *s = (ebb_fused_step){.op = ebb_ops[below(d, EBB_N_OPS)]};
    if (!s->op->pointwise || (s->op->n_attrs > 0 && s->op->max_in == 0 && chance(d, 50))) return;
    if (s->op->by_channel && d->shape.rank != 2 && d->shape.rank != 4) return;
    draw_attrs(d, s);
    uint32_t laid[EBB_FUSED_ARGS] = {0};
    for (s->n_arg = 0; s->n_arg < s->op->max_in; s->n_arg++) {
        const bool channels = s->op->by_channel >> s->n_arg & 1;
        const ebb_fused_arg arg = s->arg[s->n_arg] = draw_arg(d, channels);
        if (arg.at == EBB_NONE) break;
        if (arg.is_step) continue;
        laid[s->n_arg] = UINT32_C(1) << arg.at;
        d->n_in = arg.at < d->n_in ? d->n_in : arg.at + 1;
    }
    ebb_type in[EBB_FUSED_ARGS];
    const ebb_call outer = {.in = d->in, .n_in = d->n_in};
    const ebb_call call = ebb_fused_call(&outer, &d->body, d->body.n_steps, in);
    bool fits = s->n_arg == s->op->max_in && s->op->infer(d->env, &call, &s->type) == EBB_OK &&
                (s->n_arg == 0 || ebb_type_same_shape(&s->type, &d->shape));
    for (uint32_t k = 0; k < s->n_arg && fits; k++)
        fits = !((s->op->by_channel >> k & 1 ? d->broadcast : d->body.by_channel) & laid[k]);
    if (!fits) {
        d->n_in = n_before;
        return;
    }
    for (uint32_t k = 0; k < s->n_arg; k++)
        *(s->op->by_channel >> k & 1 ? &d->body.by_channel : &d->broadcast) |= laid[k];
    d->body.n_steps++;
}

/* Results: the last steps that are no numbers; then what they read, and no more. */
static bool draw_results(drawing *d) {
    bool needed[EBB_FUSED_STEPS] = {false};
    const uint32_t n_out = 1 + below(d, EBB_FUSED_RESULTS);
    for (uint32_t k = d->body.n_steps; k-- > 0 && d->body.n_out < n_out;) {
        if (d->body.step[k].n_arg == 0 || (d->body.n_out > 0 && chance(d, 40))) continue;
        d->body.out[d->body.n_out++] = k;
        needed[k] = true;
    }
    uint32_t to[EBB_FUSED_STEPS], operand_to[EBB_FUSED_OPERANDS], used = 0, n = 0;
    for (uint32_t k = d->body.n_steps; k-- > 0;) {
        for (uint32_t i = 0; needed[k] && i < d->body.step[k].n_arg; i++) {
            const ebb_fused_arg a = d->body.step[k].arg[i];
            if (a.is_step) needed[a.at] = true;
            if (!a.is_step) used |= UINT32_C(1) << a.at;
        }
    }
    for (uint32_t i = 0; i < d->n_in; i++) {
        operand_to[i] = n;
        if (used >> i & 1) d->in[n++] = d->in[i];
    }
    d->n_in = n;
    n = 0;
    for (uint32_t k = 0; k < d->body.n_steps; k++) {
        if (!needed[k]) continue;
        to[k] = n;
        d->body.step[n] = d->body.step[k];
        for (uint32_t i = 0; i < d->body.step[n].n_arg; i++) {
            ebb_fused_arg *a = &d->body.step[n].arg[i];
            a->at = a->is_step ? to[a->at] : operand_to[a->at];
        }
        n++;
    }
    d->body.n_steps = n;
    for (uint32_t o = 0; o < d->body.n_out; o++) d->body.out[o] = to[d->body.out[o]];
    return d->body.n_out > 0 && d->n_in > 0;
}

/* Now and then the sums of a result, where it has channels. */
static void draw_sums(drawing *d) {
    for (uint32_t o = 0; o < d->body.n_out && d->body.n_out + d->body.n_sums < EBB_FUSED_RESULTS; o++) {
        const bool fits = d->body.step[d->body.out[o]].type.dtype == EBB_F32;
        if (fits && (d->shape.rank == 2 || d->shape.rank == 4) && chance(d, 40))
            d->body.sum[d->body.n_sums++] = d->body.out[o];
    }
}

void random_body_draw(ebb_env *env, uint64_t seed, bool f64, random_body *out) {
    static const ebb_dtype reals[] = {EBB_F32, EBB_F32, EBB_F32, EBB_BF16, EBB_F16};
    drawing d;
    bool good = false;
    for (uint64_t round = 0; !good; round++) {
        d = (drawing){.env = env};
        ebb_rng_init(&d.rng, seed, 0x626f6479 + (round << 32));
        d.real = f64 && chance(&d, 30) ? EBB_F64 : reals[below(&d, EBB_COUNT(reals))];
        draw_shape(&d);
        const uint32_t n_steps = 1 + below(&d, chance(&d, 10) ? EBB_FUSED_STEPS : 10);
        for (uint32_t tries = 0; tries < 2000 && d.body.n_steps < n_steps; tries++) draw_step(&d);
        good = draw_results(&d);
    }
    draw_sums(&d);
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_fused_print(&text, &d.body);
    TEST_OK(env, ebb_text_status(&text));
    cr_assert_lt(text.n, sizeof out->text);
    memcpy(out->text, text.at, text.n + 1);
    ebb_text_deinit(&text);
    memcpy(out->in, d.in, sizeof d.in);
    out->attr = (ebb_attr){.text = out->text};
    out->call = (ebb_call){.op = &ebb_op_fused,
                           .in = out->in,
                           .out = out->out,
                           .n_in = d.n_in,
                           .n_out = d.body.n_out + d.body.n_sums,
                           .attr = &out->attr};
    cr_assert_eq(ebb_op_results(&ebb_op_fused, &out->attr), out->call.n_out, "%s", out->text);
    const ebb_status status = ebb_op_fused.infer(env, &out->call, out->out);
    cr_assert_eq(status, EBB_OK, "seed %llu: %s: %s", (unsigned long long)seed, out->text,
                 ebb_env_error(env));
    TEST_OK(env, ebb_fused_read(env, &out->call, &out->body));
}

static double draw_real(ebb_rng *rng) {
    static const double special[] = {0,     -0.0,   1,     -1,     1e30,   -1e30, 3e38,     -3e38,
                                     1e-40, -1e-42, 1e-45, 6.1e-5, 5.9e-8, 65504, -65520.0, 88.3,
                                     -87.4, 0.5,    1.5,   2.5,    1e4,    -1e4,  12345.0};
    const uint32_t kind = ebb_rng_below(rng, 20);
    if (kind == 0) return (double)NAN;
    if (kind == 1) return (ebb_rng_below(rng, 2) ? 1 : -1) * (double)INFINITY;
    if (kind < 5) return special[ebb_rng_below(rng, EBB_COUNT(special))];
    return (2 * ebb_rng_unit(rng) - 1) * (kind < 8 ? 100 : 3);
}

void random_body_fill(const random_body *body, uint64_t seed, uint32_t i, void *at) {
    const ebb_type *type = &body->in[i];
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 0x76616c75 + i);
    for (int64_t k = 0; k < ebb_type_count(type); k++) {
        if (type->dtype == EBB_BOOL) {
            ((uint8_t *)at)[k] = (uint8_t)(ebb_rng_below(&rng, 16) ? ebb_rng_below(&rng, 2) : 200);
        } else if (type->dtype == EBB_I32) {
            static const int32_t ends[] = {0, 1, -1, INT32_MIN, INT32_MAX, 7};
            const uint32_t kind = ebb_rng_below(&rng, 3);
            ((int32_t *)at)[k] = kind == 0 ? ends[ebb_rng_below(&rng, EBB_COUNT(ends))]
                                           : (int32_t)ebb_rng_below(&rng, kind == 1 ? 40 : UINT32_MAX) - 20;
        } else {
            ebb_dtypes[type->dtype].store(at, k, draw_real(&rng));
        }
    }
}
