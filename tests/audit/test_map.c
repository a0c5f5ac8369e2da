/* The byte map against an array with one cell a byte. */
#include "support/env.h"

#include "audit/map.h"

enum { N_BYTES = 331 };

typedef struct span {
    int64_t start, end;
} span;

static span draw_span(ebb_rng *rng) {
    int64_t a = ebb_rng_below(rng, N_BYTES), b = ebb_rng_below(rng, N_BYTES);
    return a < b ? (span){a, b} : (span){b, a + 1};
}

Test(audit_map, agrees_with_an_array_of_bytes) {
    ebb_env *env = test_env_open();
    static const uint32_t counts[] = {1, 3, 7, 33};
    for (size_t c = 0; c < 4 * EBB_COUNT(counts); c++) {
        ebb_rng rng;
        ebb_rng_init(&rng, 7, c);
        ebb_arena arena;
        ebb_arena_init(&arena, env);
        span spans[33];
        uint32_t n = counts[c % EBB_COUNT(counts)], cells[N_BYTES + 1] = {0};
        int64_t *ends = EBB_NEW(&arena, int64_t, 66);
        cr_assert_not_null(ends);
        for (uint32_t i = 0; i < n; i++) {
            spans[i] = draw_span(&rng);
            ends[2 * i] = spans[i].start;
            ends[2 * i + 1] = spans[i].end;
        }
        ebb_byte_map map;
        cr_assert_eq(ebb_byte_map_init(&map, &arena, ends, 2 * n), EBB_OK);
        for (uint32_t token = 1; token < 500; token++) {
            span w = spans[ebb_rng_below(&rng, n)], r = spans[ebb_rng_below(&rng, n)];
            ebb_byte_map_write(&map, w.start, w.end, token);
            for (int64_t at = w.start; at < w.end; at++) cells[at] = token;
            uint32_t least = UINT32_MAX, most = 0, found_least, found_most;
            for (int64_t at = r.start; at < r.end; at++) {
                least = cells[at] < least ? cells[at] : least;
                most = cells[at] > most ? cells[at] : most;
            }
            ebb_byte_map_look(&map, r.start, r.end, &found_least, &found_most);
            cr_assert_eq(found_least, least, "draw %zu, token %u", c, token);
            cr_assert_eq(found_most, most, "draw %zu, token %u", c, token);
        }
        ebb_arena_deinit(&arena);
    }
    test_env_close(env);
}
