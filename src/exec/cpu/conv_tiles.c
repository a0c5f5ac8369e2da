/* cpu/conv_tiles.c: a 3x3 convolution in transformed tiles (conv.h), by own transforms (tiles.h) and
 * oneDNN's products.
 *
 * A tile is 4x4 pixels of the result. A chunk of tiles t takes one product for each of the 36 places in a
 * tile:
 *
 *     forward      result  [t, o] = image [t, c] x weights [o, c]^T
 *     by data      dx      [t, c] = dy    [t, o] x weights [o, c], turned by half a turn
 *     by weights   weights [o, c] = dy    [t, o]^T x image [t, c], chunks added up in order, some places
 *                  at a time
 *
 * Where those weights are many, this is done for a slice of the result's channels (of the weights' o) at a
 * time. Scratch:
 *
 *     | weights | what the tiles see | results, or dy | some of a later chunk's weights | the product's |
 *
 * Operands of 16 bits are widened, and results rounded, as they are transformed; all between is f32.
 */
#include "exec/cpu/conv.h"
#include "exec/cpu/tiles.h"

#include <string.h>

/* A chunk stays in a cache and is small beside the op's operands, as long as it has some tiles; or it
 * outweighs the transformed weights, which are read once for it. */
#define CHUNK_BYTES (INT64_C(2) << 20)
enum { CHUNK_PART = 4, CHUNK_TILES = 32 };
/* The most transformed weights of a slice, where channels divide into such. */
#define SLICE_BYTES (INT64_C(10) << 20)
/* The most of a later chunk's weights, which are added from a cache. */
#define LATER_BYTES (INT64_C(1) << 19)

typedef struct tiling {
    int64_t s[CPU_N_CONV];
    cpu_product_kind kind;
    int64_t rows, columns;          /* of tiles in an image */
    int64_t c, c_of, c_seen;        /* channels of a slice, of the result, and of what the tiles see */
    int64_t n_chunks, chunk;        /* and the tiles of one: the last may lack some */
    int64_t places;                 /* of one product */
    int64_t weights, seen, results; /* floats of each part of scratch */
} tiling;

/* The fewest slices, of whole blocks, that are small enough; else one. */
static int64_t slice_of(int64_t c_of, int64_t c_seen) {
    const int64_t each = (int64_t)sizeof(float) * CPU_TILE_PLACES * c_seen;
    int64_t n = 1;
    while (c_of / n * each > SLICE_BYTES && c_of % (2 * n * CPU_TILE_WIDTH) == 0) n *= 2;
    return c_of / n;
}

/* The most that divide all of them and whose weights, `each` floats, are few enough; else one. */
static int64_t places_of(int64_t each) {
    int64_t n = CPU_TILE_PLACES;
    while (n > 1 && (CPU_TILE_PLACES % n != 0 || n * each * (int64_t)sizeof(float) > LATER_BYTES)) n--;
    return n;
}

static tiling tiling_of(const int64_t *s, cpu_product_kind kind) {
    const bool by_data = kind == CPU_CONV_DGRAD;
    tiling t = {.kind = kind, .c_of = s[by_data ? C : O], .c_seen = s[by_data ? O : C]};
    memcpy(t.s, s, sizeof t.s);
    t.rows = cpu_ceil_div(s[by_data ? H : OH], CPU_TILE_OUT);
    t.columns = cpu_ceil_div(s[by_data ? W : OW], CPU_TILE_OUT);
    t.c = slice_of(t.c_of, t.c_seen);
    const int64_t all = s[N] * t.rows * t.columns, both = t.c + t.c_seen,
                  each = (int64_t)sizeof(float) * CPU_TILE_PLACES * both,
                  small = ebb_max_i64(s[BYTES] / CHUNK_PART / each, CHUNK_TILES),
                  fits = ebb_min_i64(CHUNK_BYTES / each, small), outweighs = t.c * t.c_seen / both;
    t.n_chunks = cpu_ceil_div(all, ebb_max_i64(1, ebb_max_i64(fits, outweighs)));
    t.chunk = cpu_ceil_div(all, t.n_chunks);
    t.places = kind == CPU_CONV_WGRAD && t.n_chunks > 1 ? places_of(t.c * t.c_seen) : CPU_TILE_PLACES;
    t.weights = CPU_TILE_PLACES * t.c * t.c_seen;
    t.seen = CPU_TILE_PLACES * t.chunk * t.c_seen;
    t.results = CPU_TILE_PLACES * t.chunk * t.c;
    return t;
}

int64_t cpu_tiles_count(const int64_t *s, cpu_product_kind kind) {
    const tiling t = tiling_of(s, kind);
    return s[N] * t.rows * t.columns;
}

/* ---- scratch and products ------------------------------------------------------------------------- */

static int64_t part_bytes(int64_t floats) {
    return ebb_align_up(floats * (int64_t)sizeof(float), CPU_ALIGNMENT);
}

/* All of scratch but the product's. */
static int64_t own_bytes(const tiling *t) {
    const bool adds = t->kind == CPU_CONV_WGRAD && t->n_chunks > 1;
    return part_bytes(t->weights) + part_bytes(t->seen) + part_bytes(t->results) +
           (adds ? part_bytes(t->places * t->c * t->c_seen) : 0);
}

static cpu_layout matrices(int64_t n, int64_t rows, int64_t columns, bool transposed) {
    const int64_t each = rows * columns;
    if (transposed) return (cpu_layout){3, {n, columns, rows}, {each, 1, columns}};
    return (cpu_layout){3, {n, rows, columns}, {each, columns, 1}};
}

cpu_product cpu_tiles_product(const int64_t *s, cpu_product_kind kind) {
    const tiling t = tiling_of(s, kind);
    const bool forward = kind == CPU_CONV, by_data = kind == CPU_CONV_DGRAD;
    const cpu_layout seen = matrices(t.places, t.chunk, t.c_seen, false),
                     results = matrices(t.places, t.chunk, t.c, false),
                     weights = by_data ? matrices(t.places, t.c_seen, t.c, false)
                                       : matrices(t.places, t.c, t.c_seen, forward),
                     dy = matrices(t.places, t.chunk, t.c, true);
    return (cpu_product){.kind = CPU_MATMUL,
                         .at = {{.arg = DNNL_ARG_SRC, .plain = forward || by_data ? seen : dy},
                                {.arg = DNNL_ARG_WEIGHTS, .plain = forward || by_data ? weights : seen},
                                {.arg = DNNL_ARG_DST, .plain = forward || by_data ? results : weights}}};
}

ebb_status cpu_tiles_scratch(cpu_backend *cpu, const ebb_call *call, const int64_t *s, int64_t *bytes) {
    const tiling t = tiling_of(s, cpu_conv_kind(call));
    const cpu_product product = cpu_tiles_product(s, t.kind);
    const ebb_status status = cpu_product_scratch(cpu, call, &product, bytes);
    if (status == EBB_OK) *bytes += own_bytes(&t);
    return status;
}

/* ---- a run ---------------------------------------------------------------------------------------- */

typedef struct tiles_run {
    const ebb_kernel_run *run;
    tiling t;
    float *weights, *seen, *results, *later; /* of scratch */
} tiles_run;

static tiles_run run_of(const ebb_kernel_run *run) {
    int64_t s[CPU_N_CONV];
    cpu_conv_sizes(run->call, s);
    tiles_run r = {.run = run, .t = tiling_of(s, cpu_conv_kind(run->call))};
    char *at = run->launch->scratch;
    r.weights = (float *)at;
    r.seen = (float *)(at += part_bytes(r.t.weights));
    r.results = (float *)(at += part_bytes(r.t.seen));
    r.later = (float *)(at + part_bytes(r.t.results));
    return r;
}

static void transform(const tiles_run *r, cpu_span *span, const cpu_tile_run *f, int64_t n) {
    cpu_spans(cpu_of(r->run->backend), n, 1, 2 * CPU_TILE_PLACES * n * f->c * (int64_t)sizeof(float), span,
              f);
}

/* An operand or result from an element on. */
static void *element(void *first, ebb_dtype dtype, int64_t at) {
    return (char *)first + at * ebb_dtype_bytes(dtype);
}

/* A slice's. */
static cpu_tile_run weights_of(const tiles_run *r, ebb_dtype dtype) {
    const int64_t *s = r->t.s;
    const bool by_data = r->t.kind == CPU_CONV_DGRAD;
    return (cpu_tile_run){.dtype = dtype,
                          .apart = r->t.c * r->t.c_seen,
                          .c = by_data ? r->t.c : s[C],
                          .c_of = s[C],
                          .turn = by_data};
}

static void transform_weights(const tiles_run *r, int64_t slice) {
    const bool by_data = r->t.kind == CPU_CONV_DGRAD;
    cpu_tile_run f = weights_of(r, r->run->call->in[1].dtype);
    f.from = element(r->run->launch->in[1], f.dtype, slice * (by_data ? 1 : CPU_TILE_TAPS * f.c_of));
    f.to = r->weights;
    transform(r, cpu_tiles_of_weights, &f, by_data ? r->t.c_seen : r->t.c);
}

static void transform_weight_gradient(const tiles_run *r, int64_t slice) {
    cpu_tile_run f = weights_of(r, r->run->call->out[0].dtype);
    f.from = r->weights;
    f.to = element(r->run->launch->out[0], f.dtype, slice * CPU_TILE_TAPS * f.c_of);
    transform(r, cpu_tiles_to_weight_gradient, &f, r->t.c);
}

/* The tiles of chunk k. */
static void transform_tiles(const tiles_run *r, cpu_span *span, int64_t k, cpu_tile_run f) {
    f.n = r->t.s[N];
    f.each = r->t.rows * r->t.columns;
    f.columns = r->t.columns;
    f.first = k * r->t.chunk;
    f.apart = r->t.chunk * f.c;
    transform(r, span, &f, r->t.chunk);
}

static void see(const tiles_run *r, int64_t k) {
    const int64_t *s = r->t.s, turned = CPU_TILE_KERNEL - 1;
    const cpu_tile_run x = {.h = s[H], .w = s[W], .before = {s[PH], s[PW]}},
                       dy = {.h = s[OH], .w = s[OW], .before = {turned - s[PH], turned - s[PW]}};
    cpu_tile_run f = r->t.kind == CPU_CONV_DGRAD ? dy : x;
    f.c = f.c_of = r->t.c_seen;
    f.dtype = r->run->call->in[0].dtype;
    f.from = r->run->launch->in[0];
    f.to = r->seen;
    transform_tiles(r, cpu_tiles_of_images, k, f);
}

static ebb_status multiply(const tiles_run *r, float *a, float *b, float *y) {
    void *const in[2] = {a, b}, *const out[1] = {y};
    ebb_launch launch = *r->run->launch;
    launch.in = in;
    launch.out = out;
    launch.scratch = (char *)launch.scratch + own_bytes(&r->t);
    ebb_kernel_run product = *r->run;
    product.launch = &launch;
    return cpu_product_launch(&product);
}

/* Forward, and by data. */
static ebb_status run_images(const tiles_run *r, int64_t slice) {
    const int64_t *s = r->t.s;
    const ebb_dtype dtype = r->run->call->out[0].dtype;
    const bool by_data = r->t.kind == CPU_CONV_DGRAD;
    const cpu_tile_run f = {.from = r->results,
                            .to = element(r->run->launch->out[0], dtype, slice),
                            .dtype = dtype,
                            .c = r->t.c,
                            .c_of = r->t.c_of,
                            .h = s[by_data ? H : OH],
                            .w = s[by_data ? W : OW]};
    ebb_status status = EBB_OK;
    transform_weights(r, slice);
    for (int64_t k = 0; k < r->t.n_chunks && status == EBB_OK; k++) {
        if (slice == 0 || r->t.n_chunks > 1) see(r, k);
        status = multiply(r, r->seen, r->weights, r->results);
        if (status == EBB_OK) transform_tiles(r, cpu_tiles_to_results, k, f);
    }
    return status;
}

/* The first chunk's products become the sums, to which later ones are added. */
static ebb_status add_chunk(const tiles_run *r, int64_t k) {
    const tiling *t = &r->t;
    const int64_t n = t->places * t->c * t->c_seen;
    ebb_status status = EBB_OK;
    for (int64_t p = 0; p < CPU_TILE_PLACES && status == EBB_OK; p += t->places) {
        float *sum = r->weights + p * t->c * t->c_seen;
        status = multiply(r, r->results + p * t->chunk * t->c, r->seen + p * t->chunk * t->c_seen,
                          k == 0 ? sum : r->later);
        if (status == EBB_OK && k > 0) cpu_product_add(cpu_of(r->run->backend), sum, r->later, n);
    }
    return status;
}

static ebb_status run_weights(const tiles_run *r, int64_t slice) {
    const ebb_dtype dtype = r->run->call->in[1].dtype;
    const cpu_tile_run dy = {.from = element(r->run->launch->in[1], dtype, slice),
                             .to = r->results,
                             .dtype = dtype,
                             .c = r->t.c,
                             .c_of = r->t.c_of,
                             .h = r->t.s[OH],
                             .w = r->t.s[OW]};
    ebb_status status = EBB_OK;
    for (int64_t k = 0; k < r->t.n_chunks && status == EBB_OK; k++) {
        if (slice == 0 || r->t.n_chunks > 1) see(r, k);
        transform_tiles(r, cpu_tiles_of_gradients, k, dy);
        status = add_chunk(r, k);
    }
    if (status == EBB_OK) transform_weight_gradient(r, slice);
    return status;
}

ebb_status cpu_tiles_launch(const ebb_kernel_run *run) {
    const tiles_run r = run_of(run);
    ebb_status status = EBB_OK;
    for (int64_t slice = 0; slice < r.t.c_of && status == EBB_OK; slice += r.t.c)
        status = r.t.kind == CPU_CONV_WGRAD ? run_weights(&r, slice) : run_images(&r, slice);
    return status;
}
