/* cpu/fused_interp.c: a body interpreted: each step over a tile by its op's own kernel. */
#include "exec/cpu/fused.h"

/* Which steps are numbers at every place: their tiles are made once a span. */
static bool is_number(const ebb_fused_step *s) {
    return s->n_arg == 0;
}

/* The last step that reads what step k gives; beyond the last one for results and numbers. */
static uint32_t last_reader(const ebb_fused_body *b, uint32_t k) {
    uint32_t last = k;
    if (is_number(&b->step[k])) return b->n_steps;
    for (uint32_t o = 0; o < b->n_out; o++) {
        if (b->out[o] == k) return b->n_steps;
    }
    for (uint32_t s = k + 1; s < b->n_steps; s++) {
        for (uint32_t i = 0; i < b->step[s].n_arg; i++) {
            if (b->step[s].arg[i].is_step && b->step[s].arg[i].at == k) last = s;
        }
    }
    return last;
}

void cpu_fused_slots(cpu_fused *f) {
    uint32_t until[EBB_FUSED_STEPS]; /* each slot's last reader: taken again behind it */
    f->n_slots = 0;
    for (uint32_t k = 0; k < f->body.n_steps; k++) {
        /* A number's is its own: it outlives the tile. */
        uint32_t s = is_number(&f->body.step[k]) ? f->n_slots : 0;
        while (s < f->n_slots && until[s] >= k) s++;
        f->n_slots += s == f->n_slots;
        f->slot[k] = s;
        until[s] = last_reader(&f->body, k);
    }
}

/* ---- between 16 bits and 32 ------------------------------------------------------------------------ */

#define LOW(name)                                                                                   \
    CPU_VECTOR static void name##_widen(const uint16_t *from, float *to, int64_t n) {               \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) to[i] = ebb_##name##_load(from[i]);     \
    }                                                                                               \
    CPU_VECTOR static void name##_store(const float *from, uint16_t *to, int64_t n) {               \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) to[i] = ebb_##name##_of_float(from[i]); \
    }                                                                                               \
    CPU_VECTOR static void name##_round(float *x, int64_t n) {                                      \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) x[i] =                                  \
            ebb_##name##_load(ebb_##name##_of_float(x[i]));                                         \
    }
LOW(f16)
LOW(bf16)

/* ---- a tile ---------------------------------------------------------------------------------------- */

/* n copies of one element. */
static void number_fill(ebb_dtype dtype, const void *one, void *to, int64_t n) {
    const size_t bytes = (size_t)ebb_dtype_bytes(dtype);
    for (int64_t i = 0; i < n; i++) memcpy((char *)to + (size_t)i * bytes, one, bytes);
}

/* Operand i as its register's dtype. */
static const void *operand_take(const cpu_fused *f, uint32_t i, const void *from, int64_t n, bool first,
                                float *tile) {
    const ebb_dtype dtype = f->in_dtype[i];
    const bool one = f->load[i] == EBB_FUSED_ONE, low = ebb_dtype_low(dtype);
    uint16_t copies[CPU_FUSED_TILE];
    if (one && !first) return tile;
    if (!one && !low) return from;
    if (one) number_fill(dtype, from, low ? (void *)copies : tile, CPU_FUSED_TILE);
    if (low)
        (dtype == EBB_F16 ? f16_widen : bf16_widen)(one ? copies : from, tile, one ? CPU_FUSED_TILE : n);
    return tile;
}

static void step_run(const ebb_fused_step *s, const cpu_row *row, const void *const *in, void *y,
                     const ebb_dtype *of, int64_t n) {
    if (row->span) {
        cpu_pointwise ctx = {.a = in[0], .b = in[1], .y = y};
        row->numbers(s->attr, &ctx.p, &ctx.q);
        row->span(&ctx, 0, n);
    } else {
        const cpu_places_row places = {.y = y, .in = {in[0], in[1], in[2]}, .stride = {1, 1, 1}, .n = n};
        const ebb_dtype last = of[s->n_arg - 1];
        (row->casts ? row->casts[last][cpu_fused_register(s->type.dtype)] : row->places[last])(&places);
    }
    if (ebb_dtype_low(s->type.dtype)) (s->type.dtype == EBB_F16 ? f16_round : bf16_round)(y, n);
}

static const cpu_row *const rows[EBB_N_OPS] = {
#define EBB_OP(name, family)
#define EBB_POINTWISE(name, family) [EBB_OP_##name] = &cpu_row_##name,
#include "graph/ops.def"
};

void cpu_fused_interpret(const cpu_fused *f, const void *const *in, void *const *out, int64_t n, bool first,
                         cpu_fused_tiles *tiles) {
    const ebb_fused_body *b = &f->body;
    const void *operand[EBB_FUSED_OPERANDS];
    for (uint32_t i = 0; i < f->n_in; i++)
        operand[i] = operand_take(f, i, in[i], n, first, tiles->operand[i]);
    for (uint32_t k = 0; k < b->n_steps; k++) {
        const ebb_fused_step *s = &b->step[k];
        const void *args[EBB_FUSED_ARGS] = {NULL, NULL, NULL};
        ebb_dtype of[EBB_FUSED_ARGS];
        if (is_number(s) && !first) continue;
        for (uint32_t j = 0; j < s->n_arg; j++) {
            const uint32_t at = s->arg[j].at;
            args[j] = s->arg[j].is_step ? tiles->slot[f->slot[at]] : operand[at];
            of[j] = cpu_fused_register(s->arg[j].is_step ? b->step[at].type.dtype : f->in_dtype[at]);
        }
        step_run(s, rows[s->op->code], args, tiles->slot[f->slot[k]], of,
                 is_number(s) ? CPU_FUSED_TILE : n);
    }
    for (uint32_t o = 0; o < b->n_out; o++) {
        const float *from = tiles->slot[f->slot[b->out[o]]];
        const ebb_dtype dtype = b->step[b->out[o]].type.dtype;
        if (ebb_dtype_low(dtype))
            (dtype == EBB_F16 ? f16_store : bf16_store)(from, out[o], n);
        else
            memcpy(out[o], from, (size_t)(n * ebb_dtype_bytes(dtype)));
    }
}
