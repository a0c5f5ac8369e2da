/* Plans written by hand. By hand, too: their sums. */
#ifndef EBB_TESTS_PLAN_PLANS_H
#define EBB_TESTS_PLAN_PLANS_H

#include "plan_text.h"

/* A training step in small: views, in-place, an update, recomputation, scratch, an alternative, a control
 * edge, ordered ops, an optional op that is left out. Alignment 8:
 *
 *     transient                                               persistent
 *     48-64 |                            s8 scratch           8-16 | c
 *     40-48 |               s5 scratch   g     [8,11)         0-8  | w, then w2
 *     32-40 | s0 scratch (32-56), y [3,11)
 *     16-32 | a > b (v at 24) [0,4)      a > b > db [5,9)
 *      0-16 | x [0,9)
 */
static const plan_text small_plan = {
    .name = "small",
    .fixed_bytes = "5",
    .values = "{'id': 0, 'name': 'x', 'bytes': 16, 'role': 'input'},\n"
              "{'id': 1, 'name': 'w', 'bytes': 8, 'role': 'param'},\n"
              "{'id': 2, 'name': 'c', 'bytes': 8, 'role': 'constant'},\n"
              "{'id': 3, 'name': 'a', 'bytes': 16, 'role': 'activation'},\n"
              "{'id': 4, 'name': 'b', 'bytes': 16, 'role': 'activation'},\n"
              "{'id': 5, 'name': 'v', 'bytes': 8, 'role': 'activation'},\n"
              "{'id': 6, 'name': 'y', 'bytes': 8, 'role': 'output'},\n"
              "{'id': 7, 'name': 'db', 'bytes': 16, 'role': 'gradient'},\n"
              "{'id': 8, 'name': 'g', 'bytes': 8, 'role': 'gradient'},\n"
              "{'id': 9, 'name': 'w2', 'bytes': 8, 'role': 'param'},\n"
              "{'id': 10, 'name': 'm', 'bytes': 4, 'role': 'activation'},\n"
              "{'id': 11, 'name': 't', 'bytes': 0, 'role': 'activation'}",
    .ops =
        "{'id': 0, 'name': 'fc', 'inputs': [0, 1], 'outputs': [3], 'time_ns': 10, 'scratch_bytes': 24},\n"
        "{'id': 1, 'name': 'relu', 'inputs': [3], 'outputs': [4], 'time_ns': 2, 'in_place': [[0, 0]]},\n"
        "{'id': 2, 'name': 'slice', 'inputs': [4], 'outputs': [5], 'time_ns': 0, 'views': [[0, 0, 8]]},\n"
        "{'id': 3, 'name': 'loss', 'inputs': [5, 2], 'outputs': [6], 'time_ns': 1},\n"
        "{'id': 4, 'name': 'log', 'inputs': [6], 'outputs': [11], 'time_ns': 1, 'ordered': true},\n"
        "{'id': 5, 'name': 'mask', 'inputs': [0], 'outputs': [10], 'time_ns': 1, 'optional': true},\n"
        "{'id': 6, 'name': 'bw', 'inputs': [6, 4], 'outputs': [7], 'time_ns': 4, 'in_place': [[0, 1]]},\n"
        "{'id': 7, 'name': 'wgrad', 'inputs': [0, 7], 'outputs': [8], 'time_ns': 12,\n"
        " 'alternatives': [{'name': 'fast', 'time_ns': 8, 'scratch_bytes': 16}]},\n"
        "{'id': 8, 'name': 'note', 'inputs': [11, 8], 'outputs': [], 'time_ns': 1, 'ordered': true,\n"
        " 'after': [4, 6]},\n"
        "{'id': 9, 'name': 'sgd', 'phase': 'update', 'inputs': [1, 8], 'outputs': [9], 'time_ns': 1,\n"
        " 'update': [[0, 0]]}",
    /* clang-format off */
    .steps = STEP(0, 0, null, false, "[0, 1]", "[3]", 32, 24) ",\n"
             STEP(1, 1, null, false, "[3]", "[4]", 0, 0) ",\n"
             STEP(2, 2, null, false, "[4]", "[5]", 0, 0) ",\n"
             STEP(3, 3, null, false, "[5, 2]", "[6]", 0, 0) ",\n"
             STEP(4, 4, null, false, "[6]", "[7]", 0, 0) ",\n"
             STEP(5, 0, null, true, "[0, 1]", "[8]", 40, 24) ",\n"
             STEP(6, 1, null, true, "[8]", "[9]", 0, 0) ",\n"
             STEP(7, 6, null, false, "[6, 9]", "[10]", 0, 0) ",\n"
             STEP(8, 7, 0, false, "[0, 10]", "[11]", 48, 16) ",\n"
             STEP(9, 8, null, false, "[7, 11]", "[]", 0, 0) ",\n"
             STEP(10, 9, null, false, "[1, 11]", "[12]", 0, 0) "\n",
    .buffers = BUF(0, 0, transient, 0, 16, 0, 9) ",\n"
               BUF(1, 1, persistent, 0, 8, 0, 11) ",\n"
               BUF(2, 2, persistent, 8, 8, 0, 4) ",\n"
               BUF(3, 3, transient, 16, 16, 0, 2) ",\n"
               BUF(4, 4, transient, 16, 16, 1, 3) ",\n"
               BUF(5, 5, transient, 24, 8, 2, 4) ",\n"
               BUF(6, 6, transient, 32, 8, 3, 11) ",\n"
               BUF(7, 11, transient, 0, 0, 4, 10) ",\n"
               BUF(8, 3, transient, 16, 16, 5, 7) ",\n"
               BUF(9, 4, transient, 16, 16, 6, 8) ",\n"
               BUF(10, 7, transient, 16, 16, 7, 9) ",\n"
               BUF(11, 8, transient, 40, 8, 8, 11) ",\n"
               BUF(12, 9, persistent, 0, 8, 10, 11) "\n",
    /* clang-format on */
    .figures =
        "'arena_bytes': 64, 'persistent_bytes': 16, 'total_bytes': 85, 'max_live_bytes': 64,\n"
        "'budget_bytes': 90, 'time_ns': 40,\n"
        "'baseline': {'arena_bytes': 72, 'total_bytes': 93, 'time_ns': 32},\n"
        "'certificate': {'time_ns_lower_bound': 28, 'kind': 'hand', 'dropped': [3, 4], 'why': {'a': '}'}}"};

/* An output that is made twice; a view of a param that nobody updates; sizes that are no multiple of 8. */
static const plan_text twice_plan = {
    .name = "twice",
    .fixed_bytes = "0",
    .values = "{'id': 0, 'name': 'x', 'bytes': 3, 'role': 'input'},\n"
              "{'id': 1, 'name': 'p', 'bytes': 33, 'role': 'param'},\n"
              "{'id': 2, 'name': 'q', 'bytes': 7, 'role': 'activation'},\n"
              "{'id': 3, 'name': 'o', 'bytes': 7, 'role': 'output'}",
    .ops =
        "{'id': 0, 'name': 'part', 'inputs': [1], 'outputs': [2], 'time_ns': 0, 'views': [[0, 0, 13]]},\n"
        "{'id': 1, 'name': 'mul', 'inputs': [2, 0], 'outputs': [3], 'time_ns': 7, 'scratch_bytes': 1}",
    /* clang-format off */
    .steps = STEP(0, 0, null, false, "[1]", "[2]", 0, 0) ",\n"
             STEP(1, 1, null, false, "[2, 0]", "[3]", 16, 1) ",\n"
             STEP(2, 1, null, true, "[2, 0]", "[4]", 16, 1) "\n",
    .buffers = BUF(0, 0, transient, 0, 3, 0, 3) ",\n"
               BUF(1, 1, persistent, 0, 33, 0, 3) ",\n"
               BUF(2, 2, persistent, 13, 7, 0, 3) ",\n"
               BUF(3, 3, transient, 8, 7, 1, 2) ",\n"
               BUF(4, 3, transient, 8, 7, 2, 3) "\n",
    /* clang-format on */
    .figures = "'arena_bytes': 17, 'persistent_bytes': 40, 'total_bytes': 57, 'max_live_bytes': 24,\n"
               "'budget_bytes': null, 'time_ns': 14,\n"
               "'baseline': {'arena_bytes': 17, 'total_bytes': 57, 'time_ns': 7},\n"
               "'certificate': {'time_ns_lower_bound': 7, 'kind': 'none'}"};

/* A state that is updated twice, each time over the same bytes, and two outputs of one op that are views.
 */
static const plan_text chain_plan = {
    .name = "chain",
    .fixed_bytes = "0",
    .values = "{'id': 0, 'name': 's', 'bytes': 16, 'role': 'state'},\n"
              "{'id': 1, 'name': 's2', 'bytes': 16, 'role': 'state'},\n"
              "{'id': 2, 'name': 's3', 'bytes': 16, 'role': 'state'},\n"
              "{'id': 3, 'name': 'u', 'bytes': 8, 'role': 'activation'},\n"
              "{'id': 4, 'name': 'v', 'bytes': 12, 'role': 'activation'}",
    .ops =
        "{'id': 0, 'name': 'up', 'inputs': [0], 'outputs': [1], 'time_ns': 1, 'update': [[0, 0]]},\n"
        "{'id': 1, 'name': 'split', 'inputs': [1], 'outputs': [3, 4], 'time_ns': 0,\n"
        " 'views': [[0, 0, 8], [1, 0, 4]]},\n"
        "{'id': 2, 'name': 'again', 'inputs': [3, 1, 4], 'outputs': [2], 'time_ns': 1, 'update': [[0, 1]]}",
    /* clang-format off */
    .steps = STEP(0, 0, null, false, "[0]", "[1]", 0, 0) ",\n"
             STEP(1, 1, null, false, "[1]", "[3, 4]", 0, 0) ",\n"
             STEP(2, 2, null, false, "[3, 1, 4]", "[2]", 0, 0) "\n",
    .buffers = BUF(0, 0, persistent, 0, 16, 0, 1) ",\n"
               BUF(1, 1, persistent, 0, 16, 0, 3) ",\n"
               BUF(2, 2, persistent, 0, 16, 2, 3) ",\n"
               BUF(3, 3, persistent, 8, 8, 1, 3) ",\n"
               BUF(4, 4, persistent, 4, 12, 1, 3) "\n",
    /* clang-format on */
    .figures = "'arena_bytes': 0, 'persistent_bytes': 16, 'total_bytes': 16, 'max_live_bytes': 0,\n"
               "'budget_bytes': 16, 'time_ns': 2,\n"
               "'baseline': {'arena_bytes': 0, 'total_bytes': 16, 'time_ns': 2},\n"
               "'certificate': {'time_ns_lower_bound': 2, 'kind': 'none'}"};

/* Two inputs, and an op with two outputs that may each be over either. */
static const plan_text pair_plan = {
    .name = "pair",
    .fixed_bytes = "0",
    .values = "{'id': 0, 'name': 'x', 'bytes': 24, 'role': 'input'},\n"
              "{'id': 1, 'name': 'y', 'bytes': 8, 'role': 'input'},\n"
              "{'id': 2, 'name': 'p', 'bytes': 8, 'role': 'output'},\n"
              "{'id': 3, 'name': 'q', 'bytes': 8, 'role': 'output'}",
    .ops =
        "{'id': 0, 'name': 'both', 'inputs': [0, 1], 'outputs': [2, 3], 'time_ns': 3, 'scratch_bytes': 8,\n"
        " 'in_place': [[0, 0], [0, 1], [1, 0], [1, 1]]}",
    .steps = STEP(0, 0, null, false, "[0, 1]", "[2, 3]", 32, 8) "\n",
    /* clang-format off */
    .buffers = BUF(0, 0, transient, 0, 24, 0, 1) ",\n"
               BUF(1, 1, transient, 24, 8, 0, 1) ",\n"
               BUF(2, 2, transient, 0, 8, 0, 1) ",\n"
               BUF(3, 3, transient, 24, 8, 0, 1) "\n",
    /* clang-format on */
    .figures = "'arena_bytes': 40, 'persistent_bytes': 0, 'total_bytes': 40, 'max_live_bytes': 40,\n"
               "'budget_bytes': null, 'time_ns': 3,\n"
               "'baseline': {'arena_bytes': 40, 'total_bytes': 40, 'time_ns': 3},\n"
               "'certificate': {'time_ns_lower_bound': 3, 'kind': 'none'}"};

/* A view that is read beside its base. */
static const plan_text view_plan = {
    .name = "view",
    .fixed_bytes = "0",
    .values = "{'id': 0, 'name': 'x', 'bytes': 16, 'role': 'input'},\n"
              "{'id': 1, 'name': 'v', 'bytes': 8, 'role': 'activation'},\n"
              "{'id': 2, 'name': 'm', 'bytes': 8, 'role': 'activation'},\n"
              "{'id': 3, 'name': 'o', 'bytes': 16, 'role': 'output'}",
    .ops =
        "{'id': 0, 'name': 'part', 'inputs': [0], 'outputs': [1], 'time_ns': 0, 'views': [[0, 0, 8]]},\n"
        "{'id': 1, 'name': 'make', 'inputs': [], 'outputs': [2], 'time_ns': 1},\n"
        "{'id': 2, 'name': 'use', 'inputs': [1, 2, 0], 'outputs': [3], 'time_ns': 2, 'in_place': [[0, 2]]}",
    /* clang-format off */
    .steps = STEP(0, 0, null, false, "[0]", "[1]", 0, 0) ",\n"
             STEP(1, 1, null, false, "[]", "[2]", 0, 0) ",\n"
             STEP(2, 2, null, false, "[1, 2, 0]", "[3]", 0, 0) "\n",
    .buffers = BUF(0, 0, transient, 0, 16, 0, 3) ",\n"
               BUF(1, 1, transient, 8, 8, 0, 3) ",\n"
               BUF(2, 2, transient, 16, 8, 1, 3) ",\n"
               BUF(3, 3, transient, 24, 16, 2, 3) "\n",
    /* clang-format on */
    .figures = "'arena_bytes': 40, 'persistent_bytes': 0, 'total_bytes': 40, 'max_live_bytes': 40,\n"
               "'budget_bytes': null, 'time_ns': 3,\n"
               "'baseline': {'arena_bytes': 40, 'total_bytes': 40, 'time_ns': 3},\n"
               "'certificate': {'time_ns_lower_bound': 3, 'kind': 'none'}"};

static const plan_text empty_plan = {
    .name = "empty",
    .fixed_bytes = "7",
    .values = "",
    .ops = "",
    .steps = "",
    .buffers = "",
    .figures = "'arena_bytes': 0, 'persistent_bytes': 0, 'total_bytes': 7, 'max_live_bytes': 0,\n"
               "'budget_bytes': 7, 'time_ns': 0,\n"
               "'baseline': {'arena_bytes': 0, 'total_bytes': 7, 'time_ns': 0},\n"
               "'certificate': {'time_ns_lower_bound': 0, 'kind': 'none'}"};

#endif
