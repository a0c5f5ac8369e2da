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
    out->row = EBB_NEW(arena, float, line);
    out->sums = EBB_NEW(arena, float, line * o->height);
    return out->across && out->down && out->weights && out->row && out->sums ? EBB_OK : EBB_NO_MEMORY;
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

void data_scale_begin(data_scale *s, uint32_t width, uint32_t height, const data_box *box) {
    s->n_weights = 0;
    windows(s, s->across, s->width, box->x, box->width, width);
    windows(s, s->down, s->height, box->y, box->height, height);
    memset(s->sums, 0, (size_t)s->height * s->width * s->channels * sizeof *s->sums);
}

/* Windows move down with their outputs. */
bool data_scale_wants(const data_scale *s, uint32_t y) {
    const data_window *last = &s->down[s->height - 1];
    return (int64_t)y >= s->down[0].first && (int64_t)y < (int64_t)last->first + last->n;
}

static void across_three(const data_scale *s, const uint8_t *pixels) {
    for (uint32_t x = 0; x < s->width; x++) {
        const data_window *w = &s->across[x];
        const uint8_t *p = pixels + (size_t)3 * (size_t)w->first;
        float r = 0, g = 0, b = 0;
        for (int32_t i = 0; i < w->n; i++, p += 3) {
            r += w->weight[i] * p[0];
            g += w->weight[i] * p[1];
            b += w->weight[i] * p[2];
        }
        s->row[3 * (size_t)x] = r;
        s->row[3 * (size_t)x + 1] = g;
        s->row[3 * (size_t)x + 2] = b;
    }
}

static void across_one(const data_scale *s, const uint8_t *pixels) {
    for (uint32_t x = 0; x < s->width; x++) {
        const data_window *w = &s->across[x];
        float sum = 0;
        for (int32_t i = 0; i < w->n; i++) sum += w->weight[i] * pixels[w->first + i];
        s->row[x] = sum;
    }
}

void data_scale_row(data_scale *s, uint32_t y, const uint8_t *pixels) {
    const size_t line = (size_t)s->width * s->channels;
    const int64_t at = y;
    if (!data_scale_wants(s, y)) return;
    if (s->channels == 3)
        across_three(s, pixels);
    else
        across_one(s, pixels);
    for (uint32_t i = 0; i < s->height && s->down[i].first <= at; i++) {
        const data_window *w = &s->down[i];
        if (at >= (int64_t)w->first + w->n) continue;
        const float weight = w->weight[at - w->first];
        float *sum = s->sums + i * line;
        for (size_t k = 0; k < line; k++) sum[k] += weight * s->row[k];
    }
}

void data_scale_end(const data_scale *s, bool flip, uint8_t *out) {
    const size_t line = (size_t)s->width * s->channels;
    for (uint32_t y = 0; y < s->height; y++) {
        for (uint32_t x = 0; x < s->width; x++) {
            const float *from = s->sums + y * line + (size_t)(flip ? s->width - 1 - x : x) * s->channels;
            for (uint32_t c = 0; c < s->channels; c++) {
                const float v = from[c] + 0.5F;
                *out++ = v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)v;
            }
        }
    }
}
