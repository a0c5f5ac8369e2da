/* The host's memory that comparing two devices takes. */
#include "engine/engine.h"

#include "ebb/check.h"
#include "support/options.h"
#include "support/scarce.h"

/* What the check of memory counts is the step with the largest operands, not all inputs together. */
Test(check, inputs_are_made_up_one_at_a_time) {
    enum { N_INPUTS = 24, INPUT_BYTES = 1 << 20 };
    scarce_memory memory = {.fail_at = UINT64_MAX};
    ebb_env *env = scarce_env(&memory);
    ebb_model *model;
    ebb_options o;
    ebb_text text;
    ebb_compare_result r;
    const ebb_compare_request request = {.other = "ref", .budget_bytes = -1};
    ebb_text_init(&text, env);
    ebb_text_add(&text, "ebb 1\ngraph wide\n");
    for (int i = 0; i < N_INPUTS; i++)
        ebb_text_add(&text, "%%x%d = input f32[256,1024]\n%%y%d = reduce_sum %%x%d axis=0\noutput %%y%d\n",
                     i, i, i, i);
    cr_assert_eq(ebb_text_status(&text), EBB_OK);
    cr_assert_eq(ebb_model_parse(env, "wide", text.at, text.n, &model), EBB_OK, "%s", ebb_env_error(env));
    test_options_init(&o);
    memory.peak_bytes = memory.bytes;
    const size_t before = memory.bytes;
    cr_assert_eq(ebb_compare(env, model, NULL, 0, &o, &request, &r), EBB_OK, "%s", ebb_env_error(env));
    const size_t blocks = (size_t)(r.device_bytes + r.other_bytes);
    cr_expect_geq(blocks, 2 * (size_t)N_INPUTS * INPUT_BYTES);
    cr_expect_lt(memory.peak_bytes - before, blocks + (size_t)r.room_bytes + N_INPUTS / 4 * INPUT_BYTES);
    ebb_model_destroy(model);
    ebb_text_deinit(&text);
    ebb_env_destroy(env);
}
