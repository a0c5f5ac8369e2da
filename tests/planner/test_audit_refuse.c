/* Every way that a plan can be wrong is refused, with the step, the buffer and the numbers. Each row takes
 * a plan that is right and breaks one thing; what must change with it (lifetimes, sums) is changed too, so
 * that only the fault that is named is left. */
#include "test_audit_plans.h"

typedef struct wrong_plan {
    const char *name;
    const plan_text *plan;
    edit edits[MAX_EDITS];
    const char *words[3];
} wrong_plan;

/* Steps of the small plan, as the file has them. */
#define S1  STEP(1, 1, null, false, "[3]", "[4]", 0, 0) ",\n"
#define S2  STEP(2, 2, null, false, "[4]", "[5]", 0, 0) ",\n"
#define S4  STEP(4, 4, null, false, "[6]", "[7]", 0, 0) ",\n"
#define S8  STEP(8, 7, 0, false, "[0, 10]", "[11]", 48, 16)
#define S9  STEP(9, 8, null, false, "[7, 11]", "[]", 0, 0)
#define S10 STEP(10, 9, null, false, "[1, 11]", "[12]", 0, 0)

static const wrong_plan schedules[] = {
    {"an op that must run is left out",
     &small_plan,
     {{S9, STEP(9, 5, null, false, "[0]", "[10]", 0, 0)}},
     {"op 8 \"note\" never runs"}},
    {"an optional op that makes an output is left out",
     &pair_plan,
     {{"'scratch_bytes': 8,\n", "'scratch_bytes': 8, 'optional': true,\n"},
      {STEP(0, 0, null, false, "[0, 1]", "[2, 3]", 32, 8), ""}},
     {"op 0 \"both\" never runs"}},
    {"an ordered op runs twice",
     &small_plan,
     {{S4, S4 STEP(99, 4, null, true, "[6]", "[7]", 0, 0) ",\n"}},
     {"step 5 \"log\" runs its op again after step 4", "only once"}},
    {"an update runs twice",
     &small_plan,
     {{S10, S10 ",\n" STEP(11, 9, null, true, "[1, 11]", "[12]", 0, 0)}},
     {"step 11 \"sgd\" runs its op again after step 10"}},
    {"an op that is not recomputable runs twice",
     &small_plan,
     {{"'time_ns': 10, ", "'time_ns': 10, 'recomputable': false, "}},
     {"step 5 \"fc\" runs its op again after step 0"}},
    {"ordered ops change places",
     &small_plan,
     {{"'id': 8, 'name': 'note', 'inputs': [11, 8]", "'id': 8, 'name': 'note', 'inputs': [8]"},
      {"'after': [4, 6]", "'after': [6]"},
      {S4, ""},
      {S9, STEP(9, 8, null, false, "[11]", "[]", 0, 0) ",\n" STEP(4, 4, null, false, "[6]", "[7]", 0, 0)}},
     {"step 9 \"log\" runs an ordered op after op 8 \"note\", which comes later"}},
    {"an op runs before one that it must come after",
     &small_plan,
     {{",\n" S9, ""}, {S1, STEP(9, 8, null, false, "[7, 11]", "[]", 0, 0) ",\n" S1}},
     {"step 1 \"note\" must come after op 4 \"log\", which did not run before"}},
    {"two runs of one op by different alternatives",
     &small_plan,
     {{"{'id': 0, 'name': 'fc',", "{'id': 0, 'alternatives': [{}], 'name': 'fc',"},
      {"'step': 5, 'op': 0, 'alternative': null", "'step': 5, 'op': 0, 'alternative': 0"}},
     {"step 5 \"fc\" takes another alternative than step 0"}},
    {"a first run is marked as recomputation",
     &small_plan,
     {{"'step': 3, 'op': 3, 'alternative': null, 'recompute': false",
       "'step': 3, 'op': 3, 'alternative': null, 'recompute': true"}},
     {"step 3 \"loss\" is marked recompute true, but its op did not run before"}},
    {"a second run is not marked as recomputation",
     &small_plan,
     {{"'step': 5, 'op': 0, 'alternative': null, 'recompute': true",
       "'step': 5, 'op': 0, 'alternative': null, 'recompute': false"}},
     {"step 5 \"fc\" is marked recompute false, but its op ran before"}},
};

static const wrong_plan lives[] = {
    {"a step reads another value",
     &small_plan,
     {{S2, STEP(2, 2, null, false, "[3]", "[5]", 0, 0) ",\n"}},
     {"step 2 \"slice\" reads buffer 3 \"a\" at position 0, where its op reads value 4 \"b\""}},
    {"a step reads a life that is not written yet",
     &small_plan,
     {{S2, STEP(2, 2, null, false, "[9]", "[5]", 0, 0) ",\n"}},
     {"step 2 \"slice\" reads buffer 9 \"b\", which no earlier step writes"}},
    {"a step writes another value",
     &small_plan,
     {{S2, STEP(2, 2, null, false, "[4]", "[6]", 0, 0) ",\n"}},
     {"step 2 \"slice\" writes buffer 6 \"y\" at position 0, where its op writes value 5 \"v\""}},
    {"two runs write one life",
     &small_plan,
     {{"'reads': [0, 1], 'writes': [8]", "'reads': [0, 1], 'writes': [3]"}},
     {"step 5 \"fc\" writes buffer 3 \"a\", which step 0 wrote already"}},
    {"a buffer that no step writes",
     &small_plan,
     {{"'lower': 10, 'upper': 11}\n",
       "'lower': 10, 'upper': 11},\n" BUF(13, 10, transient, 48, 4, 10, 11)}},
     {"buffer 13 \"m\" is written by no step"}},
    {"a given value has two buffers",
     &small_plan,
     {{"'lower': 10, 'upper': 11}\n", "'lower': 10, 'upper': 11},\n" BUF(13, 0, transient, 48, 16, 0, 1)}},
     {"value 0 \"x\" is given, but has 2 buffers instead of 1"}},
    {"a given value has no buffer",
     &pair_plan,
     {{"{'id': 3, 'name': 'q'",
       "{'id': 4, 'name': 'z', 'bytes': 8, 'role': 'constant'},\n{'id': 3, 'name': 'q'"},
      {"{'id': 4, 'name': 'z'", "{'id': 3, 'name': 'z'"},
      {"{'id': 3, 'name': 'q'", "{'id': 4, 'name': 'q'"},
      {"'outputs': [2, 3]", "'outputs': [2, 4]"},
      {BUF(3, 3, transient, 24, 8, 0, 1), BUF(3, 4, transient, 24, 8, 0, 1)}},
     {"value 3 \"z\" is given, but has 0 buffers instead of 1"}},
    {"a buffer is larger than its value",
     &small_plan,
     {{BUF(6, 6, transient, 32, 8, 3, 11), BUF(6, 6, transient, 32, 9, 3, 11)}},
     {"buffer 6 \"y\" has 9 bytes, but its value 8"}},
    {"a param in the transient region",
     &small_plan,
     {{BUF(1, 1, persistent, 0, 8, 0, 11), BUF(1, 1, transient, 0, 8, 0, 11)}},
     {"buffer 1 \"w\" is in the transient region, but its value belongs in the persistent one"}},
    {"a view of a param in the transient region",
     &twice_plan,
     {{"'value': 2, 'region': 'persistent'", "'value': 2, 'region': 'transient'"}},
     {"buffer 2 \"q\" is in the transient region"}},
    {"an activation in the persistent region",
     &small_plan,
     {{BUF(11, 8, transient, 40, 8, 8, 11), BUF(11, 8, persistent, 40, 8, 8, 11)}},
     {"buffer 11 \"g\" is in the persistent region, but its value belongs in the transient one"}},
    {"a buffer that ends past its region",
     &small_plan,
     {{BUF(11, 8, transient, 40, 8, 8, 11), BUF(11, 8, transient, 64, 8, 8, 11)}},
     {"buffer 11 \"g\": 8 bytes at offset 64 end past its region's 64"}},
    {"a buffer at the end of the number line",
     &small_plan,
     {{BUF(11, 8, transient, 40, 8, 8, 11), BUF(11, 8, transient, 9223372036854775799, 8, 8, 11)}},
     {"buffer 11 \"g\"", "end past its region's 64"}},
    {"an offset that is not aligned",
     &small_plan,
     {{BUF(11, 8, transient, 40, 8, 8, 11), BUF(11, 8, transient, 44, 8, 8, 11)}},
     {"buffer 11 \"g\": offset 44 is not a multiple of 8"}},
    {"a lifetime that starts late",
     &small_plan,
     {{"'lower': 3, 'upper': 11", "'lower': 4, 'upper': 11"}},
     {"buffer 6 \"y\" lives [4, 11), but its writer and readers make it [3, 11)"}},
    {"a given value that starts late",
     &small_plan,
     {{"'lower': 0, 'upper': 9", "'lower': 1, 'upper': 9"}},
     {"buffer 0 \"x\" lives [1, 9), but its writer and readers make it [0, 9)"}},
    {"a lifetime that ends early",
     &small_plan,
     {{"'lower': 8, 'upper': 11", "'lower': 8, 'upper': 10"}},
     {"buffer 11 \"g\" lives [8, 10), but its writer and readers make it [8, 11)"}},
    {"a lifetime that ends late",
     &small_plan,
     {{"'lower': 5, 'upper': 7", "'lower': 5, 'upper': 8"}},
     {"buffer 8 \"a\" lives [5, 8), but its writer and readers make it [5, 7)"}},
    {"a lifetime of nothing for what nobody reads",
     &pair_plan,
     {{BUF(2, 2, transient, 0, 8, 0, 1), BUF(2, 2, transient, 0, 8, 0, 0)}},
     {"buffer 2 \"p\" lives [0, 0), but its writer and readers make it [0, 1)"}},
    {"an output that does not last",
     &small_plan,
     {{"'lower': 3, 'upper': 11", "'lower': 3, 'upper': 8"}},
     {"value 6 \"y\" is an output, but no buffer of it lasts to step 11"}},
    {"a final param that does not last",
     &small_plan,
     {{S10, STEP(10, 9, null, false, "[1, 11]", "[12]", 0, 0) ",\n" STEP(11, 5, null, false, "[0]", "[13]",
                                                                         0, 0)},
      {"'lower': 10, 'upper': 11}\n", "'lower': 10, 'upper': 11},\n" BUF(13, 10, transient, 16, 4, 11, 12)},
      {"'lower': 0, 'upper': 9", "'lower': 0, 'upper': 12"},
      {"'lower': 3, 'upper': 11", "'lower': 3, 'upper': 12"}},
     {"buffer 12 \"w2\" lives [10, 11), but its writer and readers make it [10, 12)"}},
};

static const wrong_plan bytes[] = {
    {"two given values share a byte",
     &small_plan,
     {{BUF(2, 2, persistent, 8, 8, 0, 4), BUF(2, 2, persistent, 0, 8, 0, 4)}},
     {"buffer 2 \"c\" is given at [0, 8) of the persistent region, but buffer 1 \"w\" is given there"}},
    {"an output over an input that is no pair",
     &small_plan,
     {{BUF(11, 8, transient, 40, 8, 8, 11), BUF(11, 8, transient, 8, 8, 8, 11)}},
     {"step 8 \"wgrad\" reads buffer 0 \"x\" at [0, 16)", "step 8 \"wgrad\" writes buffer 11 \"g\" there"}},
    {"a step reads a dead life of a value",
     &small_plan,
     {{"'reads': [6, 9], 'writes': [10]", "'reads': [6, 4], 'writes': [10]"},
      {"'lower': 1, 'upper': 3", "'lower': 1, 'upper': 8"},
      {"'lower': 6, 'upper': 8", "'lower': 6, 'upper': 7"}},
     {"step 7 \"bw\" reads buffer 4 \"b\" at [16, 32) of the transient region",
      "step 6 \"relu\" writes buffer 9 \"b\" there"}},
    {"another buffer between a write and its read",
     &small_plan,
     {{BUF(6, 6, transient, 32, 8, 3, 11), BUF(6, 6, transient, 0, 8, 3, 11)}},
     {"step 5 \"fc\" reads buffer 0 \"x\" at [0, 16) of the transient region, but step 3 \"loss\" writes "
      "buffer 6 \"y\" there"}},
    {"a view's base is overwritten before the view is read",
     &view_plan,
     {{BUF(2, 2, transient, 16, 8, 1, 3), BUF(2, 2, transient, 8, 8, 1, 3)}},
     {"step 2 \"use\" reads buffer 1 \"v\" at [8, 16) of the transient region, but step 1 \"make\" writes "
      "buffer 2 \"m\" there"}},
    {"scratch over what is live",
     &small_plan,
     {{"'scratch_offset': 40, 'scratch_bytes': 24", "'scratch_offset': 32, 'scratch_bytes': 24"}},
     {"step 7 \"bw\" reads buffer 6 \"y\" at [32, 40) of the transient region, but step 5 \"fc\" has its "
      "scratch there"}},
    {"scratch over an input",
     &small_plan,
     {{"'scratch_offset': 40, 'scratch_bytes': 24", "'scratch_offset': 0, 'scratch_bytes': 24"}},
     {"step 5 \"fc\" has its scratch at [0, 24), but step 5 \"fc\" writes buffer 8 \"a\" there"}},
    {"scratch over an input only",
     &small_plan,
     {{"'scratch_offset': 48, 'scratch_bytes': 16", "'scratch_offset': 0, 'scratch_bytes': 16"}},
     {"step 8 \"wgrad\" reads buffer 0 \"x\" at [0, 16) as input 0, but step 8 \"wgrad\" has its scratch "
      "there",
      "scratch may not lie over an input"}},
    {"scratch over an output",
     &small_plan,
     {{"'scratch_offset': 32, 'scratch_bytes': 24", "'scratch_offset': 24, 'scratch_bytes': 24"}},
     {"step 0 \"fc\" has its scratch at [24, 48), but step 0 \"fc\" writes buffer 3 \"a\" there"}},
    {"less scratch than the op needs",
     &small_plan,
     {{"'scratch_offset': 48, 'scratch_bytes': 16", "'scratch_offset': 48, 'scratch_bytes': 8"}},
     {"step 8 \"wgrad\" has 8 bytes of scratch, but its op needs 16"}},
    {"scratch that is not aligned",
     &small_plan,
     {{"'scratch_offset': 40, 'scratch_bytes': 24", "'scratch_offset': 39, 'scratch_bytes': 24"}},
     {"step 5 \"fc\": scratch offset 39 is not a multiple of 8"}},
    {"scratch that ends past the arena",
     &small_plan,
     {{"'scratch_offset': 40, 'scratch_bytes': 24", "'scratch_offset': 48, 'scratch_bytes': 24"}},
     {"step 5 \"fc\": 24 bytes of scratch at offset 48 end past the arena's 64"}},
    {"a view elsewhere than its base says",
     &small_plan,
     {{BUF(5, 5, transient, 24, 8, 2, 4), BUF(5, 5, transient, 16, 8, 2, 4)}},
     {"step 2 \"slice\": buffer 5 \"v\" is a view of buffer 4 \"b\", so it must lie at 24 and not at 16"}},
    {"an update elsewhere than what it replaces",
     &small_plan,
     {{BUF(12, 9, persistent, 0, 8, 10, 11), BUF(12, 9, persistent, 16, 8, 10, 11)},
      {"'persistent_bytes': 16", "'persistent_bytes': 24"}},
     {"step 10 \"sgd\": buffer 12 \"w2\" is the update of buffer 1 \"w\", so it must lie at 0 and not at "
      "16"}},
    {"a constant under an update",
     &small_plan,
     {{BUF(12, 9, persistent, 0, 8, 10, 11), BUF(12, 9, persistent, 8, 8, 10, 11)}},
     {"must lie at 0 and not at 8"}},
    {"an output over an input that the op does not list",
     &small_plan,
     {{", 'in_place': [[0, 0]]", ""}},
     {"step 1 \"relu\" reads buffer 3 \"a\" at [16, 32) as input 0, but step 1 \"relu\" writes buffer 4 "
      "\"b\" there",
      "the op does not list that in_place"}},
    {"an alternative without the op's in_place",
     &small_plan,
     {{"'in_place': [[0, 0]]}", "'in_place': [[0, 0]], 'alternatives': [{'in_place': []}]}"},
      {"'step': 1, 'op': 1, 'alternative': null", "'step': 1, 'op': 1, 'alternative': 0"},
      {"'step': 6, 'op': 1, 'alternative': null", "'step': 6, 'op': 1, 'alternative': 0"}},
     {"step 1 \"relu\" reads buffer 3 \"a\"", "the op does not list that in_place"}},
    {"an output over another input than the op lists",
     &small_plan,
     {{"'in_place': [[0, 1]]", "'in_place': [[0, 0]]"}},
     {"step 7 \"bw\" reads buffer 9 \"b\" at [16, 32) as input 1", "the op does not list that in_place"}},
    {"an output over an input at another offset",
     &small_plan,
     {{BUF(4, 4, transient, 16, 16, 1, 3), BUF(4, 4, transient, 24, 16, 1, 3)},
      {BUF(5, 5, transient, 24, 8, 2, 4), BUF(5, 5, transient, 32, 8, 2, 4)}},
     {"step 1 \"relu\" reads buffer 3 \"a\" at [16, 32) as input 0, but step 1 \"relu\" writes buffer 4 "
      "\"b\" there",
      "in place means at the same offset"}},
    {"an output over a value that is read twice",
     &small_plan,
     {{"'name': 'relu', 'inputs': [3]", "'name': 'relu', 'inputs': [3, 3]"},
      {S1, STEP(1, 1, null, false, "[3, 3]", "[4]", 0, 0) ",\n"},
      {"'reads': [8], 'writes': [9]", "'reads': [8, 8], 'writes': [9]"}},
     {"step 1 \"relu\" reads buffer 3 \"a\" at [16, 32) as input 1", "no other operand shares"}},
    {"an output over an input of which a view is read too",
     &view_plan,
     {{BUF(3, 3, transient, 24, 16, 2, 3), BUF(3, 3, transient, 0, 16, 2, 3)}},
     {"step 2 \"use\" reads buffer 1 \"v\" at [8, 16) as input 0", "no other operand shares"}},
    {"two outputs share a byte",
     &pair_plan,
     {{BUF(3, 3, transient, 24, 8, 0, 1), BUF(3, 3, transient, 0, 8, 0, 1)}},
     {"step 0 \"both\" writes buffer 3 \"q\" at [0, 8), but also step 0 \"both\" writes buffer 2 \"p\" "
      "there"}},
    {"two outputs over one input",
     &pair_plan,
     {{BUF(3, 3, transient, 24, 8, 0, 1), BUF(3, 3, transient, 16, 8, 0, 1)}},
     {"step 0 \"both\" reads buffer 0 \"x\" at [0, 24) as input 0", "in place means at the same offset"}},
    {"a second output over the rest of an input",
     &pair_plan,
     {{BUF(2, 2, transient, 0, 8, 0, 1), BUF(2, 2, transient, 8, 8, 0, 1)},
      {BUF(3, 3, transient, 24, 8, 0, 1), BUF(3, 3, transient, 0, 8, 0, 1)}},
     {"step 0 \"both\" reads buffer 0 \"x\" at [0, 24) as input 0, but step 0 \"both\" writes buffer 2 "
      "\"p\" there",
      "a second output lies over it"}},
    {"an output that is overwritten before the end",
     &small_plan,
     {{"'name': 'g', 'bytes': 8, 'role': 'gradient'", "'name': 'g', 'bytes': 8, 'role': 'output'"},
      {BUF(11, 8, transient, 40, 8, 8, 11), BUF(11, 8, transient, 32, 8, 8, 11)}},
     {"buffer 6 \"y\" at [32, 40) of the transient region must be intact after the last step, but step 8 "
      "\"wgrad\" writes buffer 11 \"g\" there"}},
    {"an update before another reader of the old value",
     &twice_plan,
     {{"{'id': 3, 'name': 'o', 'bytes': 7, 'role': 'output'}",
       "{'id': 3, 'name': 'o', 'bytes': 7, 'role': 'output'},\n{'id': 4, 'name': 'p2', 'bytes': 33, "
       "'role': 'param'}"},
      {"'time_ns': 7, 'scratch_bytes': 1}",
       "'time_ns': 7, 'scratch_bytes': 1},\n{'id': 2, 'name': 'up', 'inputs': [1], 'outputs': "
       "[4], 'time_ns': 1, 'update': [[0, 0]]}"},
      {STEP(2, 1, null, true, "[2, 0]", "[4]", 16, 1),
       STEP(2, 2, null, false, "[1]", "[5]", 0, 0) ",\n" STEP(3, 1, null, true, "[2, 0]", "[4]", 16, 1)},
      {BUF(4, 3, transient, 8, 7, 2, 3),
       BUF(4, 3, transient, 8, 7, 3, 4) ",\n" BUF(5, 4, persistent, 0, 33, 2, 4)},
      {BUF(2, 2, persistent, 13, 7, 0, 3), BUF(2, 2, persistent, 13, 7, 0, 4)},
      {BUF(0, 0, transient, 0, 3, 0, 3), BUF(0, 0, transient, 0, 3, 0, 4)}},
     {"step 3 \"mul\" reads buffer 2 \"q\" at [13, 20) of the persistent region, but step 2 \"up\" writes "
      "buffer 5 \"p2\" there"}},
};

static const wrong_plan figures[] = {
    {"an arena below the highest end",
     &twice_plan,
     {{"'arena_bytes': 17, 'persistent_bytes': 40, 'total_bytes': 57, 'm",
       "'arena_bytes': 16, 'persistent_bytes': 40, 'total_bytes': 56, 'm"}},
     {"1 bytes of scratch at offset 16 end past the arena's 16"}},
    {"an arena above the highest end",
     &small_plan,
     {{"'arena_bytes': 64, 'p", "'arena_bytes': 72, 'p"}},
     {"arena_bytes is 72, but the highest end is 64"}},
    {"an arena that is rounded up to something else",
     &twice_plan,
     {{"'arena_bytes': 17, 'p", "'arena_bytes': 20, 'p"}},
     {"arena_bytes is 20, but the highest end is 17"}},
    {"a persistent region that is too large",
     &small_plan,
     {{"'persistent_bytes': 16", "'persistent_bytes': 24"}},
     {"persistent_bytes is 24, but the highest end is 16"}},
    {"an arena of almost everything",
     &small_plan,
     {{"'arena_bytes': 64, 'p", "'arena_bytes': 9223372036854775807, 'p"}},
     {"regions of 9223372036854775807 and 16 bytes"}},
    {"a total without the fixed bytes",
     &small_plan,
     {{"'total_bytes': 85", "'total_bytes': 80"}},
     {"total_bytes is 80, but 64 + 16 + fixed 5 = 85"}},
    {"a budget that is exceeded",
     &small_plan,
     {{"'budget_bytes': 90", "'budget_bytes': 84"}},
     {"budget_bytes is 84, but total_bytes 85"}},
    {"too little live",
     &small_plan,
     {{"'max_live_bytes': 64", "'max_live_bytes': 63"}},
     {"max_live_bytes is 63, but the most that is live in a step is 64"}},
    {"too much live",
     &small_plan,
     {{"'max_live_bytes': 64", "'max_live_bytes': 72"}},
     {"max_live_bytes is 72"}},
    {"in-place counted twice",
     &pair_plan,
     {{"'max_live_bytes': 40", "'max_live_bytes': 56"}},
     {"max_live_bytes is 56, but the most that is live in a step is 40"}},
    {"sizes not rounded up",
     &twice_plan,
     {{"'max_live_bytes': 24", "'max_live_bytes': 11"}},
     {"max_live_bytes is 11, but the most that is live in a step is 24"}},
    {"a time that is not the steps'",
     &small_plan,
     {{"'time_ns': 40", "'time_ns': 44"}},
     {"time_ns is 44, but the steps take 40"}},
    {"a bound above the plan's time",
     &small_plan,
     {{"bound': 28", "bound': 41"}},
     {"the certificate's bound is 41 ns, but this plan takes 40"}},
    {"a bound that nothing proves",
     &small_plan,
     {{"bound': 28", "bound': 29"}},
     {"the certificate's bound is 29 ns, but each op once takes 28"}},
    {"a baseline faster than its ops",
     &small_plan,
     {{"'total_bytes': 93, 'time_ns': 32", "'total_bytes': 93, 'time_ns': 27"}},
     {"the baseline's time_ns is 27, but its ops take at least 28"}},
    {"a baseline below its own arena",
     &small_plan,
     {{"'arena_bytes': 72, 'total_bytes': 93", "'arena_bytes': 72, 'total_bytes': 76"}},
     {"the baseline's total_bytes is 76, below its arena's 72 + fixed 5"}},
};

static void expect_refused(const wrong_plan *rows, size_t n) {
    ebb_env *env = start_env();
    for (size_t i = 0; i < n; i++) {
        ebb_plan *plan = parse_edited(env, rows[i].plan, rows[i].edits, MAX_EDITS);
        ebb_status status = ebb_plan_audit(env, plan);
        cr_expect_eq(status, EBB_VIOLATION, "%s: %s", rows[i].name, ebb_status_name(status));
        for (size_t k = 0; k < EBB_COUNT(rows[i].words) && rows[i].words[k] != NULL; k++)
            cr_expect_not_null(strstr(ebb_env_error(env), rows[i].words[k]), "%s: %s", rows[i].name,
                               ebb_env_error(env));
        ebb_plan_destroy(plan);
    }
    end_env(env);
}

Test(audit_refuse, wrong_schedules) {
    expect_refused(schedules, EBB_COUNT(schedules));
}
Test(audit_refuse, wrong_buffers_and_lifetimes) {
    expect_refused(lives, EBB_COUNT(lives));
}
Test(audit_refuse, wrong_bytes) {
    expect_refused(bytes, EBB_COUNT(bytes));
}
Test(audit_refuse, wrong_figures) {
    expect_refused(figures, EBB_COUNT(figures));
}

/* What no file can say, since reading it checks the form, a plan in memory can. */
Test(audit_refuse, wrong_forms) {
    static const struct {
        const char *name, *words;
    } forms[] = {
        {"an op that is not there", "step 3 runs op 10, but the graph has 10"},
        {"an alternative that is not there", "step 8 \"wgrad\" takes alternative 1, but its op has 1"},
        {"a read too few", "step 3 \"loss\" reads 1 buffers, but its op has 2"},
        {"a write too many", "step 3 \"loss\" writes 2 buffers, but its op has 1"},
        {"a buffer that is not there", "step 1 \"relu\" reads buffer 13 at position 0, but there are 13"},
        {"a value that is not there", "buffer 2 holds value 12, but the graph has 12"},
        {"a negative offset", "buffer 6 \"y\" has offset -8 and 8 bytes: negative"},
        {"negative scratch", "step 0 \"fc\": 24 bytes of scratch at offset -8: negative"},
        {"an alignment of no power of two", "alignment 12 is not a power of two"},
        {"an alignment of nothing", "alignment 0 is not a power of two"},
        {"a negative region", "regions of -1 and 16 bytes"},
        {"a negative bound", "the certificate's bound is -1 ns"},
    };
    static const ebb_id far_buffer[] = {13};
    ebb_env *env = start_env();
    for (size_t i = 0; i < EBB_COUNT(forms); i++) {
        ebb_plan *plan = parse_edited(env, &small_plan, NULL, 0);
        ebb_plan_step *steps = ebb_arena_copy(&plan->arena, plan->steps, plan->n_steps, sizeof *steps);
        ebb_buffer *buffers = ebb_arena_copy(&plan->arena, plan->buffers, plan->n_buffers, sizeof *buffers);
        cr_assert(steps && buffers);
        plan->steps = steps;
        plan->buffers = buffers;
        switch (i) {
        case 0:
            steps[3].op = 10;
            break;
        case 1:
            steps[8].alternative = 1;
            break;
        case 2:
            steps[3].n_reads = 1;
            break;
        case 3:
            steps[3].n_writes = 2;
            break;
        case 4:
            steps[1].reads = far_buffer;
            break;
        case 5:
            buffers[2].value = 12;
            break;
        case 6:
            buffers[6].offset = -8;
            break;
        case 7:
            steps[0].scratch_offset = -8;
            break;
        case 8:
            plan->alignment = 12;
            break;
        case 9:
            plan->alignment = 0;
            break;
        case 10:
            plan->arena_bytes = -1;
            break;
        default:
            plan->bound_time_ns = -1;
            break;
        }
        cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "%s", forms[i].name);
        cr_expect_not_null(strstr(ebb_env_error(env), forms[i].words), "%s: %s", forms[i].name,
                           ebb_env_error(env));
        ebb_plan_destroy(plan);
    }
    end_env(env);
}

/* ---- every field in turn --------------------------------------------------------------------------- */

/* A copy of the small plan whose tables may be changed. */
typedef struct open_plan {
    ebb_plan *plan;
    ebb_plan_step *steps;
    ebb_buffer *buffers;
} open_plan;

static void expect_violation(ebb_env *env, const ebb_plan *plan, const char *field, uint32_t i,
                             int64_t now) {
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "%s of %u is %lld", field, i, (long long)now);
}

/* Puts each other id in place of one of a step's buffers. */
static void try_ids(ebb_env *env, open_plan *p, uint32_t s, const ebb_id **list, uint32_t n,
                    const char *field) {
    const ebb_id *were = *list;
    for (uint32_t k = 0; k < n; k++)
        for (ebb_id b = 0; b < p->plan->n_buffers; b++) {
            ebb_id ids[2] = {were[0], n > 1 ? were[1] : EBB_NONE};
            ids[k] = b;
            *list = ids;
            if (b != were[k]) expect_violation(env, p->plan, field, s, b);
            *list = were;
        }
}

static void try_step(ebb_env *env, open_plan *p, uint32_t s) {
    ebb_plan_step *step = &p->steps[s], was = *step;
    try_ids(env, p, s, &step->reads, step->n_reads, "reads");
    try_ids(env, p, s, &step->writes, step->n_writes, "writes");
    for (ebb_id op = 0; op < p->plan->graph->n_ops; op++) {
        step->op = op;
        if (op != was.op) expect_violation(env, p->plan, "op", s, op);
    }
    *step = was;
    step->recompute = !was.recompute;
    expect_violation(env, p->plan, "recompute", s, step->recompute);
    *step = was;
    step->alternative = was.alternative == EBB_NONE ? 0 : EBB_NONE;
    expect_violation(env, p->plan, "alternative", s, step->alternative);
    *step = was;
    step->scratch_bytes += 8;
    expect_violation(env, p->plan, "scratch_bytes", s, step->scratch_bytes);
    *step = was;
}

static void try_buffer(ebb_env *env, open_plan *p, ebb_id b) {
    ebb_buffer *buffer = &p->buffers[b], was = *buffer;
    for (ebb_id v = 0; v < p->plan->graph->n_values; v++) {
        buffer->value = v;
        if (v != was.value) expect_violation(env, p->plan, "value", b, v);
    }
    *buffer = was;
    buffer->persistent = !was.persistent;
    expect_violation(env, p->plan, "region", b, buffer->persistent);
    *buffer = was;
    for (int change = -1; change <= 1; change += 2) {
        buffer->bytes = was.bytes + change;
        expect_violation(env, p->plan, "bytes", b, buffer->bytes);
        *buffer = was;
        buffer->lower = was.lower + (uint32_t)change;
        expect_violation(env, p->plan, "lower", b, buffer->lower);
        *buffer = was;
        buffer->upper = was.upper + (uint32_t)change;
        expect_violation(env, p->plan, "upper", b, buffer->upper);
        *buffer = was;
        buffer->offset = was.offset + change;
        if (was.bytes > 0) expect_violation(env, p->plan, "offset", b, buffer->offset);
        *buffer = was;
    }
}

Test(audit_refuse, any_change_of_any_one_field) {
    ebb_env *env = start_env();
    open_plan p = {.plan = parse_edited(env, &small_plan, NULL, 0)};
    p.steps = ebb_arena_copy(&p.plan->arena, p.plan->steps, p.plan->n_steps, sizeof *p.steps);
    p.buffers = ebb_arena_copy(&p.plan->arena, p.plan->buffers, p.plan->n_buffers, sizeof *p.buffers);
    cr_assert(p.steps && p.buffers);
    p.plan->steps = p.steps;
    p.plan->buffers = p.buffers;
    for (uint32_t s = 0; s < p.plan->n_steps; s++) try_step(env, &p, s);
    for (ebb_id b = 0; b < p.plan->n_buffers; b++) try_buffer(env, &p, b);
    int64_t *const sums[] = {&p.plan->arena_bytes, &p.plan->persistent_bytes, &p.plan->total_bytes,
                             &p.plan->max_live_bytes, &p.plan->time_ns};
    for (uint32_t i = 0; i < EBB_COUNT(sums); i++)
        for (int change = -1; change <= 1; change += 2) {
            *sums[i] += change;
            expect_violation(env, p.plan, "sum", i, *sums[i]);
            *sums[i] -= change;
        }
    cr_expect_eq(ebb_plan_audit(env, p.plan), EBB_OK, "%s", ebb_env_error(env));
    ebb_plan_destroy(p.plan);
    end_env(env);
}
