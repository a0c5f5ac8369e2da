/* cpu/conv_way.c: which way a convolution is computed (conv.h), and how fast that is. */
#include "exec/cpu/conv.h"
#include "exec/cpu/low.h"
#include "exec/cpu/onednn.h"
#include "exec/cpu/tiles.h"

/* Kernels of vectors of 32 bytes run at half their speed or worse on channels-last images with long rows,
 * where those for images in blocks of eight channels run near the processor's peak (decision 55). */
enum { BLOCK = 8, LONG_ROW = 2048 /* floats */, CHUNK_PIXELS = 784 };

static bool by_blocks(const cpu_backend *cpu, const int64_t *s) {
    const int64_t row = ebb_max_i64(s[C] * s[W], s[O] * s[OW]);
    return !cpu->wide && s[G] == 1 && s[KH] * s[KW] > 1 && s[C] % BLOCK == 0 && s[O] % BLOCK == 0 &&
           row > LONG_ROW;
}

/* The fewest images that divide the batch and have so many of what one has `each`; else all. */
static int64_t images_for(const int64_t *s, int64_t each, int64_t wanted) {
    for (int64_t n = 1; n < s[N]; n++) {
        if (s[N] % n == 0 && n * each >= wanted) return n;
    }
    return s[N];
}

/* Where tiles do not pay: transformed weights are four times the weights' bytes, which few tiles do not
 * make up for; tiles are computed whole, so FULL of PARTS of their pixels must be the result's, and HALF
 * must have something to multiply, which a gradient by data larger than its dy has not; and where channels
 * are few, the transforms take longer than the products. */
enum {
    LEAST = 16, /* channels: a vector */
    LEAST_PAIRS = 512,
    FEW_TILES = 48,
    FULL = 5,
    HALF = 4,
    PARTS = 8
};

static bool is_full(const int64_t *s, cpu_product_kind kind, int64_t n_tiles) {
    const int64_t x = s[H] * s[W], y = s[OH] * s[OW], result = kind == CPU_CONV_DGRAD ? x : y,
                  part = CPU_TILE_OUT * CPU_TILE_OUT * n_tiles;
    return PARTS * s[N] * result >= FULL * part && PARTS * s[N] * ebb_min_i64(x, y) >= HALF * part;
}

static bool may_transform(const cpu_backend *cpu, const ebb_call *call, const int64_t *s) {
    const cpu_product_kind kind = cpu_conv_kind(call);
    const int64_t n_tiles = cpu_tiles_count(s, kind);
    return cpu->winograd && s[G] == 1 && s[KH] == 3 && s[KW] == 3 && s[SH] == 1 && s[SW] == 1 &&
           s[DH] == 1 && s[DW] == 1 && s[C] >= LEAST && s[O] >= LEAST && s[C] * s[O] >= LEAST_PAIRS &&
           CPU_TILE_PLACES * s[C] * s[O] <= CPU_MOST_ELEMENTS && n_tiles >= FEW_TILES &&
           is_full(s, kind, n_tiles);
}

/* Whether oneDNN's best implementation is its general one. Memory that ran out is no answer: another way
 * would give other bits. */
static ebb_status is_general(const cpu_backend *cpu, const ebb_call *call, const cpu_product *product,
                             bool *general) {
    dnnl_primitive_desc_t desc = NULL;
    const int before = cpu_team_enter(cpu_product_team(cpu, call, product));
    const dnnl_status_t failed = cpu_primitive_describe(cpu, product, &desc);
    cpu_team_leave(before);
    *general = !failed && cpu_primitive_is(desc, "gemm:");
    if (desc) (void)dnnl_primitive_desc_destroy(desc);
    return failed == dnnl_out_of_memory ? cpu_onednn(cpu->base.env, call, "primitive_desc_create", failed)
                                        : EBB_OK;
}

/* oneDNN's general kernel, for images too small for its others, wants four times the weights for each
 * thread (decision 81). Columns where they take less. */
static ebb_status try_columns(cpu_backend *cpu, const ebb_call *call, const int64_t *s,
                              const cpu_product *plain, cpu_conv_way *way, int64_t *bytes) {
    bool general;
    int64_t columns;
    ebb_status status = is_general(cpu, call, plain, &general);
    if (status != EBB_OK || !general) return status;
    status = cpu_columns_scratch(cpu, call, s, &columns);
    if (status != EBB_OK || columns >= *bytes) return status;
    *way = (cpu_conv_way){.columns = true};
    *bytes = columns;
    return EBB_OK;
}

static bool may_take_columns(const cpu_backend *cpu, const ebb_call *call, const int64_t *s) {
    return !cpu->wide && call->op->code == EBB_OP_conv2d_wgrad && s[G] == 1 &&
           s[N] * s[OH] * s[OW] * s[KH] * s[KW] * s[C] <= CPU_MOST_ELEMENTS;
}

/* ---- remembered ------------------------------------------------------------------------------------ */

static void key_of(const ebb_call *call, const int64_t *s, bool of_way, int64_t key[CPU_MEMO_KEY]) {
    memset(key, 0, CPU_MEMO_KEY * sizeof *key);
    key[0] = cpu_product_key(call) + (of_way ? 2 * EBB_N_OPS : 0);
    memcpy(key + 1, s, CPU_N_CONV * sizeof *s);
}

_Static_assert(CPU_N_CONV < CPU_MEMO_KEY, "a convolution's numbers and its op fit in a key");

static bool find(const cpu_backend *cpu, const ebb_call *call, const int64_t *s, cpu_conv_way *way) {
    int64_t key[CPU_MEMO_KEY], value;
    key_of(call, s, true, key);
    if (!cpu_memo_find(&cpu->memo, key, &value)) return false;
    *way = (cpu_conv_way){.images = value / 4, .tiles = value & 1, .columns = value & 2};
    return true;
}

static ebb_status add(cpu_backend *cpu, const ebb_call *call, const int64_t *s, cpu_conv_way way,
                      int64_t bytes) {
    int64_t key[CPU_MEMO_KEY];
    key_of(call, s, false, key);
    const ebb_status status = cpu_memo_add(&cpu->memo, cpu->base.env, key, bytes);
    if (status != EBB_OK) return status;
    key_of(call, s, true, key);
    return cpu_memo_add(&cpu->memo, cpu->base.env, key, 4 * way.images + 2 * way.columns + way.tiles);
}

ebb_status cpu_conv_choose(cpu_backend *cpu, const ebb_call *call, cpu_conv_way *way, int64_t *bytes) {
    int64_t s[CPU_N_CONV], key[CPU_MEMO_KEY];
    cpu_conv_sizes(call, s);
    key_of(call, s, false, key);
    if (find(cpu, call, s, way) && cpu_memo_find(&cpu->memo, key, bytes)) return EBB_OK;
    const bool f32 = !cpu_is_low(call);
    ebb_status status;
    *way = (cpu_conv_way){.tiles = !cpu_is_native(cpu, call) && may_transform(cpu, call, s)};
    if (way->tiles) {
        status = cpu_tiles_scratch(cpu, call, s, bytes);
    } else {
        if (f32 && by_blocks(cpu, s)) way->images = images_for(s, s[OH] * s[OW], CHUNK_PIXELS);
        const cpu_product product = cpu_conv_product(call, s, *way);
        status = cpu_product_scratch(cpu, call, &product, bytes);
        if (status == EBB_OK && f32 && may_take_columns(cpu, call, s))
            status = try_columns(cpu, call, s, &product, way, bytes);
    }
    return status == EBB_OK ? add(cpu, call, s, *way, *bytes) : status;
}

bool cpu_conv_takes_low(const cpu_backend *cpu, const ebb_call *call) {
    int64_t s[CPU_N_CONV];
    cpu_conv_sizes(call, s);
    return cpu_product_is_within(call, cpu_conv_most(s)) && may_transform(cpu, call, s);
}

static bool was_chosen(const cpu_backend *cpu, const ebb_call *call) {
    int64_t s[CPU_N_CONV];
    cpu_conv_way way;
    cpu_conv_sizes(call, s);
    return find(cpu, call, s, &way) && way.tiles;
}

bool cpu_conv_is_winograd(const ebb_backend *backend, const ebb_call *call) {
    const cpu_backend *cpu = (const cpu_backend *)backend;
    if (cpu_is_native(cpu, call)) return false;
    if (!cpu_is_low(call) || cpu_conv_takes_low(cpu, call)) return was_chosen(cpu, call);
    const cpu_low_cut cut = cpu_low_cut_of(backend, call);
    cpu_low_call part;
    cpu_low_part(call, &cut, cut.part, &part);
    return was_chosen(cpu, &part.call);
}

/* ---- rates ----------------------------------------------------------------------------------------- */

/* By how many channels stand side by side in a vector. */
typedef struct conv_class {
    const char *kind[3][CPU_N_REALS]; /* forward, by data, by weights */
    ebb_kernel_rate rate[3];
} conv_class;
#define KINDS(of) \
    { CPU_KINDS("conv2d" of), CPU_KINDS("conv2d_dgrad" of), CPU_KINDS("conv2d_wgrad" of) }
static const conv_class dense = {KINDS(""),
                                 {{215000, 17000, 3000}, {195000, 17000, 3000}, {170000, 17000, 3000}}};
static const conv_class thin = {KINDS(" thin"),
                                {{200000, 17000, 3000}, {150000, 15000, 3000}, {110000, 12000, 3000}}};
static const conv_class grouped = {KINDS(" grouped"),
                                   {{180000, 15000, 3000}, {90000, 15000, 3000}, {120000, 12000, 3000}}};
static const conv_class narrow = {KINDS(" narrow"),
                                  {{40000, 17000, 3000}, {35000, 15000, 3000}, {20000, 12000, 3000}}};
static const conv_class winograd = {KINDS(" winograd"),
                                    {{480000, 10000, 3000}, {530000, 10000, 3000}, {470000, 10000, 3000}}};

enum { THIN = 16, NARROW = 8 }; /* fewer input channels of an image or of a group */

void cpu_conv_rate(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                   const char **kind) {
    const cpu_product_kind product = cpu_conv_kind(call);
    const int which = product - CPU_CONV;
    const ebb_type *x = product == CPU_CONV_DGRAD ? &call->out[0] : &call->in[0];
    const int64_t groups = call->attr[EBB_CONV_GROUPS].i[0], channels = x->dim[1] / groups;
    const conv_class *c = cpu_conv_is_winograd(backend, call) ? &winograd
                          : groups == 1                       ? channels < THIN ? &thin : &dense
                          : channels < NARROW                 ? &narrow
                                                              : &grouped;
    *rate = c->rate[which];
    *kind = c->kind[which][cpu_real_of(call)];
}
