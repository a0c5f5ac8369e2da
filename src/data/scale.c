/* Scaling: weights of a box, and sums of rows. */
#include "data/scale.h"

#include <math.h>

ebb_status data_scale_make(ebb_arena *arena, const ebb_loader_options *o, data_scale *out) {
    const size_t line = (size_t)o->width * o->channels;
    /* A window has at most two outputs' widths of pixels and two more; all of a side, twice its pixels. */
    const size_t n_weights = (size_t)4 * EBB_DATA_MAX_SIDE + (size_t)4 * ((size_t)o->width + o->height);
    *out = (data_scale){.channels = o->channels, .width = o->width, .height = o->height};
    out->across = EBB_NEW(arena, data_window, o->width);
    out->down = EBB_NEW(arena, data_window, o->height);
    out->weights = EBB_NEW(arena, float, n_weights);
    out->pixels = EBB_NEW(arena, float, (size_t)o->channels *EBB_DATA_MAX_SIDE + 1);
    out->row = EBB_NEW(arena, float, line + 1);
    out->sums = EBB_NEW(arena, float, line * o->height);
    out->begun = EBB_NEW(arena, bool, o->height);
    const bool made = out->across && out->down && out->weights && out->pixels && out->row && out->sums;
    return made && out->begun ? EBB_OK : EBB_NO_MEMORY;
}

/* The windows of n outputs over the pixels of [begin, begin + length), a part of [0, n_pixels). */
static void windows(data_scale *s, data_window *out, uint32_t n, double begin, double length,
                    uint32_t n_pixels) {
    const double step = length / n, reach = step > 1 ? step : 1;
    const int32_t low = (int32_t)fmax(0, floor(begin));
    const int32_t high = (int32_t)fmin(n_pixels, ceil(begin + length));
    for (uint32_t i = 0; i < n; i++) {
        const double centre = begin + (i + 0.5) * step;
        int32_t first = (int32_t)floor(centre - reach + 0.5), end = (int32_t)floor(centre + reach + 0.5);
        if (first < low) first = low;
        if (end > high) end = high;
        if (end <= first) { /* of a box thinner than a pixel */
            first = first < high - 1 ? first : high - 1;
            end = first + 1;
        }
        float *weight = s->weights + s->n_weights;
        double sum = 0;
        for (int32_t p = first; p < end; p++) sum += fmax(0, 1 - fabs(p + 0.5 - centre) / reach);
        for (int32_t p = first; p < end; p++)
            weight[p - first] = sum > 0 ? (float)(fmax(0, 1 - fabs(p + 0.5 - centre) / reach) / sum)
                                        : 1.0F / (float)(end - first);
        out[i] = (data_window){first, end - first, weight};
        s->n_weights += (size_t)(end - first);
    }
}

void data_scale_begin(data_scale *s, uint32_t width, uint32_t height, const data_box *box, bool flip) {
    s->n_weights = 0;
    windows(s, s->across, s->width, box->x, box->width, width);
    windows(s, s->down, s->height, box->y, box->height, height);
    memset(s->begun, 0, s->height * sizeof *s->begun);
    for (uint32_t x = 0; flip && x < s->width / 2; x++) {
        const data_window left = s->across[x];
        s->across[x] = s->across[s->width - 1 - x];
        s->across[s->width - 1 - x] = left;
    }
}

static int64_t end_of(const data_window *w) {
    return (int64_t)w->first + w->n;
}

void data_scale_columns(const data_scale *s, uint32_t *first, uint32_t *end) {
    const data_window *a = &s->across[0], *b = &s->across[s->width - 1];
    const bool flipped = a->first > b->first;
    *first = (uint32_t)(flipped ? b : a)->first;
    *end = (uint32_t)end_of(flipped ? a : b);
}

/* Windows move down with their outputs. */
bool data_scale_wants(const data_scale *s, uint32_t y) {
    return (int64_t)y >= s->down[0].first && (int64_t)y < end_of(&s->down[s->height - 1]);
}

/* A pixel and the element behind it, at any address. */
typedef float lanes __attribute__((vector_size(16), aligned(4), may_alias));

/* Compiled for wider vectors, too, and chosen when the program starts: none sums across its lanes, so that
 * bits are the same. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define VECTOR __attribute__((target_clones("default", "avx2")))
#else
#define VECTOR
#endif

VECTOR static void widen(const uint8_t *restrict from, float *restrict to, size_t n) {
    for (size_t k = 0; k < n; k++) to[k] = (float)from[k];
}

VECTOR static void weigh(const float *restrict row, float weight, float *restrict sum, size_t n) {
    for (size_t k = 0; k < n; k++) sum[k] = weight * row[k];
}

VECTOR static void weigh_more(const float *restrict row, float weight, float *restrict sum, size_t n) {
    for (size_t k = 0; k < n; k++) sum[k] += weight * row[k];
}

/* Weights of an output add up to 1: no sum is below 0, nor far above 255. */
VECTOR static void narrow(const float *restrict sum, uint8_t *restrict to, size_t n) {
    for (size_t k = 0; k < n; k++) {
        const int32_t v = (int32_t)(sum[k] + 0.5F);
        to[k] = (uint8_t)(v > 255 ? 255 : v);
    }
}

static void across_three(const data_scale *s) {
    for (uint32_t x = 0; x < s->width; x++) {
        const data_window *w = &s->across[x];
        const float *p = s->pixels + (size_t)3 * (size_t)w->first;
        lanes sum = {0};
        for (int32_t i = 0; i < w->n; i++, p += 3) sum += w->weight[i] * *(const lanes *)p;
        *(lanes *)(s->row + (size_t)3 * x) = sum; /* the fourth is written again */
    }
}

static void across_one(const data_scale *s) {
    for (uint32_t x = 0; x < s->width; x++) {
        const data_window *w = &s->across[x];
        float sum = 0;
        for (int32_t i = 0; i < w->n; i++) sum += w->weight[i] * s->pixels[w->first + i];
        s->row[x] = sum;
    }
}

/* The first output that a row at or behind y belongs to. */
static uint32_t first_output(const data_scale *s, int64_t y) {
    uint32_t low = 0, high = s->height;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (end_of(&s->down[middle]) > y)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void data_scale_row(data_scale *s, uint32_t y, const uint8_t *pixels) {
    const size_t line = (size_t)s->width * s->channels;
    uint32_t first, end;
    if (!data_scale_wants(s, y)) return;
    data_scale_columns(s, &first, &end);
    const size_t at = (size_t)first * s->channels;
    widen(pixels + at, s->pixels + at, (size_t)(end - first) * s->channels);
    if (s->channels == 3)
        across_three(s);
    else
        across_one(s);
    for (uint32_t i = first_output(s, y); i < s->height && s->down[i].first <= (int64_t)y; i++) {
        const float weight = s->down[i].weight[(int64_t)y - s->down[i].first];
        (s->begun[i] ? weigh_more : weigh)(s->row, weight, s->sums + i * line, line);
        s->begun[i] = true;
    }
}

void data_scale_end(const data_scale *s, uint8_t *out) {
    narrow(s->sums, out, (size_t)s->height * s->width * s->channels);
}
