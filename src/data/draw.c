/* Draws, each a function of seed and place alone: a loader keeps no state that a resumed run would lack.
 *
 * The order of an epoch is a permutation that is computed, not stored: a Feistel network (Luby and Rackoff
 * 1988) over the next power of four, walked on until it falls below n (Black and Rogaway 2002). O(1). */
#include <math.h>

#include "data/data.h"

/* What a counter is used for. */
enum { ORDER = 1, OTHER, BOX, FLIP };

static ebb_u32x4 draw(uint64_t seed, uint32_t use, int64_t place, uint32_t more) {
    const ebb_u32x4 counter = {{(uint32_t)place, (uint32_t)((uint64_t)place >> 32), more, use}};
    return ebb_philox(counter, seed ^ UINT64_C(0x64617461));
}

static double unit(uint32_t bits) {
    return (double)bits * 0x1p-32;
}

static uint64_t permuted(uint64_t seed, int64_t epoch, uint64_t i, uint32_t half) {
    enum { ROUNDS = 6 };
    const uint32_t mask = half == 32 ? UINT32_MAX : (UINT32_C(1) << half) - 1;
    uint32_t left = (uint32_t)(i >> half) & mask, right = (uint32_t)i & mask;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const ebb_u32x4 counter = {
            {right, (uint32_t)epoch, (uint32_t)((uint64_t)epoch >> 32), ORDER | round << 8}};
        const uint32_t next = left ^ (ebb_philox(counter, seed ^ UINT64_C(0x64617461)).v[0] & mask);
        left = right;
        right = next;
    }
    return (uint64_t)left << half | right;
}

int64_t data_draw_index(uint64_t seed, int64_t place, int64_t n) {
    const int64_t epoch = place / n;
    uint32_t half = 1;
    while (half < 32 && (UINT64_C(1) << (2 * half)) < (uint64_t)n) half++;
    uint64_t i = (uint64_t)(place % n);
    do i = permuted(seed, epoch, i, half);
    while (i >= (uint64_t)n);
    return (int64_t)i;
}

int64_t data_draw_other(uint64_t seed, int64_t place, uint32_t attempt, int64_t n) {
    const ebb_u32x4 bits = draw(seed, OTHER, place, attempt);
    /* n is below 2^32, so that the part that is too often is below 2^-32. */
    return (int64_t)(((uint64_t)bits.v[0] << 32 | bits.v[1]) % (uint64_t)n);
}

bool data_draw_flip(const ebb_loader_options *o, int64_t place) {
    return o->part == EBB_DATA_TRAIN && o->flip && (draw(o->seed, FLIP, place, 0).v[0] & 1);
}

/* The middle, of the input's ratio of sides. */
static data_box middle(const ebb_loader_options *o, double width, double height, double share) {
    const double ratio = (double)o->width / (double)o->height;
    data_box box = {.width = fmin(width, height * ratio), .height = fmin(height, width / ratio)};
    box.width *= share;
    box.height *= share;
    box.x = (width - box.width) / 2;
    box.y = (height - box.height) / 2;
    return box;
}

/* Szegedy et al., "Going deeper with convolutions", CVPR 2015: a share of the area and a ratio of sides are
 * drawn until they fit; in vain, the middle. */
data_box data_draw_box(const ebb_loader_options *o, int64_t place, uint32_t width, uint32_t height) {
    enum { ATTEMPTS = 10 };
    const double w = width, h = height, log_ratio = log(4.0 / 3.0);
    if (o->crop_least >= 1) return (data_box){0, 0, w, h};
    if (o->part == EBB_DATA_HELD_OUT) return middle(o, w, h, 0.875);
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        const ebb_u32x4 bits = draw(o->seed, BOX, place, i);
        const double area = w * h * (o->crop_least + (1 - o->crop_least) * unit(bits.v[0]));
        const double ratio = exp(log_ratio * (2 * unit(bits.v[1]) - 1));
        const double x_size = floor(sqrt(area * ratio) + 0.5), y_size = floor(sqrt(area / ratio) + 0.5);
        if (x_size < 1 || y_size < 1 || x_size > w || y_size > h) continue;
        return (data_box){floor(unit(bits.v[2]) * (w - x_size + 1)),
                          floor(unit(bits.v[3]) * (h - y_size + 1)), x_size, y_size};
    }
    return middle(o, w, h, 1);
}
