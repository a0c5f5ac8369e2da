/* Draws: every epoch has each picture once, and all follows from seed and place. */
#include <math.h>
#include <stdlib.h>

#include "../base/support.h"
#include "data/data.h"
#include "data/fill.h"
#include "data/scale.h"

Test(draw, each_epoch_has_every_picture_once_in_an_order_of_its_own) {
    static const int64_t sizes[] = {1, 2, 3, 7, 33, 256, 1000};
    for (size_t k = 0; k < EBB_COUNT(sizes); k++) {
        const int64_t n = sizes[k];
        int64_t n_same = 0, n_in_place = 0;
        for (int64_t epoch = 0; epoch < 3; epoch++) {
            bool *seen = calloc((size_t)n, 1);
            for (int64_t i = 0; i < n; i++) {
                const int64_t at = data_draw_index(7, epoch * n + i, n);
                cr_assert(at >= 0 && at < n && !seen[at], "size %lld, place %lld", (long long)n,
                          (long long)i);
                seen[at] = true;
                n_same += at == data_draw_index(8, epoch * n + i, n);
                n_in_place += at == i;
            }
            free(seen);
        }
        if (n < 33) continue;
        cr_expect_lt(n_same, n / 4, "another seed, another order: %lld alike", (long long)n_same);
        cr_expect_lt(n_in_place, n / 4, "shuffled: %lld in place", (long long)n_in_place);
    }
}

Test(draw, crops_lie_in_the_picture_and_have_the_share_that_was_asked_for) {
    static const uint32_t sides[][2] = {{1, 1}, {3, 7}, {500, 375}, {16384, 3}, {33, 1000}};
    ebb_loader_options o = {.width = 224, .height = 224, .crop_least = 0.35, .seed = 3};
    for (size_t k = 0; k < EBB_COUNT(sides); k++) {
        const double w = sides[k][0], h = sides[k][1];
        for (int64_t place = 0; place < 200; place++) {
            for (int part = 0; part < 2; part++) {
                o.part = (ebb_data_part)part;
                const data_box b = data_draw_box(&o, place, sides[k][0], sides[k][1]);
                cr_assert(b.x >= 0 && b.y >= 0 && b.width > 0 && b.height > 0 && b.x + b.width <= w &&
                              b.y + b.height <= h,
                          "%g %g %g %g", b.x, b.y, b.width, b.height);
                if (k == 2 && part == 0) cr_assert_geq(b.width * b.height, 0.34 * w * h);
            }
        }
    }
    o.crop_least = 1;
    const data_box whole = data_draw_box(&o, 5, 500, 375);
    cr_expect(whole.x == 0 && whole.y == 0 && whole.width == 500 && whole.height == 375);
}

/* ---- scaling ---- */

/* The picture p of sides w, h, to the sides of o. */
static void scaled(ebb_env *env, const ebb_loader_options *o, const uint8_t *p, uint32_t w, uint32_t h,
                   const data_box *box, uint8_t *out) {
    data_scale s;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    cr_assert_eq(data_scale_make(&arena, o, &s), EBB_OK);
    data_scale_begin(&s, w, h, box, false);
    for (uint32_t y = h; y-- > 0;)
        data_scale_row(&s, y, p + (size_t)y * w * o->channels); /* in any order */
    data_scale_end(&s, out);
    ebb_arena_deinit(&arena);
}

Test(scale, a_picture_of_the_output_s_size_stays_what_it_is) {
    ebb_env *env = test_env();
    static const uint32_t sides[][2] = {{1, 1}, {3, 7}, {33, 5}};
    for (size_t k = 0; k < EBB_COUNT(sides); k++) {
        for (uint32_t channels = 1; channels <= 3; channels += 2) {
            const ebb_loader_options o = {
                .channels = channels, .width = sides[k][0], .height = sides[k][1]};
            const size_t n = (size_t)channels * o.width * o.height;
            uint8_t in[512], out[512];
            for (size_t i = 0; i < n; i++) in[i] = (uint8_t)(i * 37);
            const data_box box = {0, 0, o.width, o.height};
            scaled(env, &o, in, o.width, o.height, &box, out);
            cr_expect_arr_eq(in, out, n);
        }
    }
    test_env_end(env);
}

/* The rule again, from nothing: the mean by triangles, in doubles. */
static double expected(const uint8_t *p, uint32_t w, uint32_t h, const data_box *b, uint32_t ow,
                       uint32_t oh, uint32_t ox, uint32_t oy) {
    const double sx = b->width / ow, sy = b->height / oh, rx = fmax(1, sx), ry = fmax(1, sy);
    const double cx = b->x + (ox + 0.5) * sx, cy = b->y + (oy + 0.5) * sy;
    double sum = 0, weights = 0;
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t x = 0; x < w; x++) {
            const bool inside = x >= floor(b->x) && x < ceil(b->x + b->width) && y >= floor(b->y) &&
                                y < ceil(b->y + b->height);
            const double weight =
                fmax(0, 1 - fabs(x + 0.5 - cx) / rx) * fmax(0, 1 - fabs(y + 0.5 - cy) / ry);
            if (!inside) continue;
            sum += weight * p[y * w + x];
            weights += weight;
        }
    }
    return sum / weights;
}

Test(scale, each_output_is_the_mean_of_what_is_around_its_place) {
    enum { W = 23, H = 17 };
    static const data_box boxes[] = {{0, 0, W, H}, {3, 2, 7, 11}, {4.5, 1.25, 9.5, 8}, {22, 16, 1, 1}};
    static const uint32_t sides[][2] = {{5, 3}, {8, 8}, {41, 37}, {1, 1}};
    ebb_env *env = test_env();
    uint8_t in[W * H], out[41 * 37];
    for (size_t i = 0; i < sizeof in; i++) in[i] = (uint8_t)(i * i * 31 + i * 7);
    for (size_t b = 0; b < EBB_COUNT(boxes); b++) {
        for (size_t k = 0; k < EBB_COUNT(sides); k++) {
            const ebb_loader_options o = {.channels = 1, .width = sides[k][0], .height = sides[k][1]};
            scaled(env, &o, in, W, H, &boxes[b], out);
            for (uint32_t y = 0; y < o.height; y++)
                for (uint32_t x = 0; x < o.width; x++)
                    cr_assert_leq(
                        fabs(expected(in, W, H, &boxes[b], o.width, o.height, x, y) - out[y * o.width + x]),
                        0.51, "box %zu, sides %zu, %u %u", b, k, x, y);
        }
    }
    test_env_end(env);
}

Test(fill, elements_are_normalised_and_lie_where_the_input_has_them) {
    static const ebb_element elements[] = {EBB_FLOAT32, EBB_FLOAT64, EBB_BFLOAT16, EBB_FLOAT16};
    enum { W = 3, H = 2, N = 3 * W * H };
    uint8_t in[N];
    for (size_t i = 0; i < N; i++) in[i] = (uint8_t)(i * 14);
    for (size_t e = 0; e < EBB_COUNT(elements); e++) {
        for (int planes = 0; planes < 2; planes++) {
            const ebb_loader_options o = {.channels = 3,
                                          .width = W,
                                          .height = H,
                                          .element = elements[e],
                                          .planes = planes,
                                          .mean = {0.5F, 0.25F, 0},
                                          .deviation = {0.5F, 1, 2}};
            data_palette *palette = malloc(sizeof *palette);
            double out[N];
            data_palette_make(&o, palette);
            data_fill(&o, palette, in, out);
            for (size_t i = 0; i < W * H; i++) {
                for (size_t c = 0; c < 3; c++) {
                    const size_t at = planes ? c * W * H + i : 3 * i + c;
                    const double want =
                        (in[3 * i + c] / 255.0 - (double)o.mean[c]) / (double)o.deviation[c];
                    uint16_t half[4 * N];
                    float single[2 * N];
                    memcpy(half, out, sizeof out);
                    memcpy(single, out, sizeof out);
                    double got = out[at];
                    if (e == 1) cr_assert_eq(got, want);
                    if (e == 0) got = (double)single[at];
                    uint32_t bits = (uint32_t)half[at] << 16;
                    float upper;
                    memcpy(&upper, &bits, sizeof upper);
                    if (e == 2) got = (double)upper;
                    if (e < 3) cr_assert_leq(fabs(got - want), e == 2 ? 0.005 : 1e-6, "%zu %zu", i, c);
                    if (e == 3) cr_assert_eq(half[at] >> 15, want < 0, "%zu %zu", i, c);
                }
            }
            free(palette);
        }
    }
}
