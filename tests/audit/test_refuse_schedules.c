/* Ops that run too seldom, too often, or in the wrong order. */
#include "wrong_plans.h"

/* Steps of the small plan, as the file has them. */
#define S1  STEP(1, 1, null, false, "[3]", "[4]", 0, 0) ",\n"
#define S4  STEP(4, 4, null, false, "[6]", "[7]", 0, 0) ",\n"
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

Test(audit_refuse, wrong_schedules) {
    expect_refused(schedules, EBB_COUNT(schedules));
}
