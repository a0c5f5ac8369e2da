/* The map of owners against an array with one entry a byte. */
#include <criterion/criterion.h>

#include "exec/shadow/owners.h"

#define N_BYTES 513

static void check_query(const ebb_owners *map, const ebb_owner *plain, ebb_rng *rng) {
    const uint32_t from = 1 + ebb_rng_below(rng, N_BYTES - 1);
    const uint32_t end = from + 1 + ebb_rng_below(rng, N_BYTES - from);
    const ebb_id buffer = plain[from].buffer;
    uint32_t until = from;
    while (until < end && plain[until].buffer == buffer) until++;
    uint64_t other_from = 0, other_end = 0;
    ebb_owner other = {0, 0};
    const bool all = ebb_owners_hold(map, from, end, buffer, &other_from, &other_end, &other);
    cr_assert_eq(all, until == end);
    if (all) return;
    cr_assert_eq(other_from, until);
    cr_assert_eq(other.buffer, plain[until].buffer);
    cr_assert_eq(other.step, plain[until].step);
    cr_assert(other_end > until && other_end <= end);
    for (uint64_t i = until; i < other_end; i++) cr_assert_eq(plain[i].buffer, other.buffer);
}

Test(owners, agrees_with_one_entry_a_byte) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    for (uint64_t seed = 0; seed < 20; seed++) {
        ebb_owner plain[N_BYTES + 1];
        for (uint32_t i = 0; i <= N_BYTES; i++) plain[i] = (ebb_owner){EBB_OWNER_NOBODY, EBB_NONE};
        ebb_owners map;
        ebb_rng rng;
        ebb_rng_init(&rng, seed, 0);
        cr_assert_eq(ebb_owners_init(&map, env), EBB_OK);
        for (uint32_t step = 0; step < 600; step++) {
            const uint32_t from = 1 + ebb_rng_below(&rng, N_BYTES - 1);
            const uint32_t room = N_BYTES - from;
            const uint32_t most = ebb_rng_below(&rng, 3) == 0 || room < 40 ? room : 40;
            const uint32_t end = from + 1 + ebb_rng_below(&rng, most);
            const ebb_owner owner = {ebb_rng_below(&rng, 7), step};
            cr_assert_eq(ebb_owners_set(&map, from, end, owner), EBB_OK);
            for (uint32_t i = from; i < end; i++) plain[i] = owner;
            for (uint32_t k = 0; k < 8; k++) check_query(&map, plain, &rng);
        }
        ebb_owners_deinit(&map);
    }
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}

Test(owners, keeps_no_more_boundaries_than_ranges_that_differ) {
    ebb_env *env = NULL;
    ebb_owners map;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(ebb_owners_init(&map, env), EBB_OK);
    for (uint32_t i = 0; i < 100000; i++) {
        const uint64_t from = 64 + 64 * (uint64_t)(i * 7919 % 1000);
        cr_assert_eq(ebb_owners_set(&map, from, from + 64, (ebb_owner){i, i}), EBB_OK);
    }
    cr_assert_leq(map.nodes.n, 1003);
    ebb_owners_deinit(&map);
    ebb_env_destroy(env);
}
