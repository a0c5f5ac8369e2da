/* Seventeen values and fourteen ops with alternatives, optional ones and scratch. The baseline packs into
 * 1792 bytes, all told; schedules of fewer live bytes pack worse. */
#ifndef EBB_TESTS_SUPPORT_CHOICES_GRAPH_H
#define EBB_TESTS_SUPPORT_CHOICES_GRAPH_H

static const char choices_graph[] =
    "{\"schema\": \"ebb.graph/1\", \"name\": \"choices\", \"values\": ["
    "{\"id\": 0, \"bytes\": 100, \"role\": \"param\"}, "
    "{\"id\": 1, \"bytes\": 64, \"role\": \"input\"}, "
    "{\"id\": 2, \"bytes\": 100, \"role\": \"input\"}, "
    "{\"id\": 3, \"bytes\": 300, \"role\": \"activation\"}, "
    "{\"id\": 4, \"bytes\": 130, \"role\": \"output\"}, "
    "{\"id\": 5, \"bytes\": 100, \"role\": \"output\"}, "
    "{\"id\": 6, \"bytes\": 64, \"role\": \"activation\"}, "
    "{\"id\": 7, \"bytes\": 200, \"role\": \"activation\"}, "
    "{\"id\": 8, \"bytes\": 130, \"role\": \"activation\"}, "
    "{\"id\": 9, \"bytes\": 200, \"role\": \"output\"}, "
    "{\"id\": 10, \"bytes\": 0, \"role\": \"activation\"}, "
    "{\"id\": 11, \"bytes\": 300, \"role\": \"activation\"}, "
    "{\"id\": 12, \"bytes\": 500, \"role\": \"activation\"}, "
    "{\"id\": 13, \"bytes\": 130, \"role\": \"activation\"}, "
    "{\"id\": 14, \"bytes\": 200, \"role\": \"activation\"}, "
    "{\"id\": 15, \"bytes\": 500, \"role\": \"activation\"}, "
    "{\"id\": 16, \"bytes\": 100, \"role\": \"activation\"}"
    "], \"ops\": ["
    "{\"id\": 0, \"inputs\": [1], \"outputs\": [3], \"time_ns\": 32, \"alternatives\": [{\"time_ns\": 2, "
    "\"scratch_bytes\": 900}]}, "
    "{\"id\": 1, \"inputs\": [3, 2, 1], \"outputs\": [4], \"time_ns\": 21, \"in_place\": [[0, 0]], "
    "\"alternatives\": [{\"time_ns\": 36, \"scratch_bytes\": 0}]}, "
    "{\"id\": 2, \"inputs\": [0, 4, 2], \"outputs\": [5], \"time_ns\": 12, \"scratch_bytes\": 50, "
    "\"alternatives\": [{\"time_ns\": 19, \"scratch_bytes\": 64}]}, "
    "{\"id\": 3, \"inputs\": [1], \"outputs\": [6], \"time_ns\": 7, \"in_place\": [[0, 0]]}, "
    "{\"id\": 4, \"inputs\": [6, 4], \"outputs\": [7], \"time_ns\": 21}, "
    "{\"id\": 5, \"inputs\": [1, 0, 4], \"outputs\": [8], \"time_ns\": 36, \"scratch_bytes\": 200}, "
    "{\"id\": 6, \"inputs\": [8, 7, 2], \"outputs\": [9], \"time_ns\": 4}, "
    "{\"id\": 7, \"inputs\": [9], \"outputs\": [10], \"time_ns\": 26, \"scratch_bytes\": 50, \"optional\": "
    "true}, "
    "{\"id\": 8, \"inputs\": [3], \"outputs\": [11], \"time_ns\": 3, \"scratch_bytes\": 50, \"in_place\": "
    "[[0, 0]]}, "
    "{\"id\": 9, \"inputs\": [3], \"outputs\": [12], \"time_ns\": 29, \"alternatives\": [{\"time_ns\": 32, "
    "\"scratch_bytes\": 400}]}, "
    "{\"id\": 10, \"inputs\": [1, 10], \"outputs\": [13], \"time_ns\": 18, \"scratch_bytes\": 200, "
    "\"optional\": true, \"alternatives\": [{\"time_ns\": 1, \"scratch_bytes\": 900}]}, "
    "{\"id\": 11, \"inputs\": [13, 4], \"outputs\": [14], \"time_ns\": 32, \"scratch_bytes\": 200, "
    "\"in_place\": [[0, 0]]}, "
    "{\"id\": 12, \"inputs\": [10, 6, 3], \"outputs\": [15], \"time_ns\": 15, \"alternatives\": "
    "[{\"time_ns\": 3, \"scratch_bytes\": 900}]}, "
    "{\"id\": 13, \"inputs\": [15], \"outputs\": [16], \"time_ns\": 1, \"in_place\": [[0, 0]], "
    "\"optional\": true}"
    "]}";
#define CHOICES_BASELINE_BYTES 1792

#endif
