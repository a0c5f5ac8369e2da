/* Two results of a param; both live at once for a while, if neither is made again. The param does not fill
 * its last unit of 64 bytes. */
#ifndef EBB_TESTS_SUPPORT_SLACK_GRAPH_H
#define EBB_TESTS_SUPPORT_SLACK_GRAPH_H

static const char slack_graph[] =
    "{\"schema\": \"ebb.graph/1\", \"name\": \"slack\", \"values\": ["
    "{\"id\": 0, \"name\": \"w\", \"bytes\": 10, \"role\": \"param\"},"
    "{\"id\": 1, \"name\": \"a\", \"bytes\": 64, \"role\": \"activation\"},"
    "{\"id\": 2, \"name\": \"b\", \"bytes\": 10, \"role\": \"activation\"},"
    "{\"id\": 3, \"name\": \"m\", \"bytes\": 0, \"role\": \"activation\"},"
    "{\"id\": 4, \"name\": \"y\", \"bytes\": 0, \"role\": \"output\"}], \"ops\": ["
    "{\"id\": 0, \"inputs\": [0], \"outputs\": [1], \"time_ns\": 100},"
    "{\"id\": 1, \"inputs\": [0], \"outputs\": [2], \"time_ns\": 100},"
    "{\"id\": 2, \"inputs\": [2], \"outputs\": [3], \"time_ns\": 1, \"after\": [0]},"
    "{\"id\": 3, \"inputs\": [1, 3], \"outputs\": [4], \"time_ns\": 1}]}";

#endif
