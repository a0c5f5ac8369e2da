/* Maximum flow by blocking flows in level graphs (Dinic, "Algorithm for solution of a problem of maximum
 * flow in networks with power estimation", 1970). Integers only, no recursion. Takes a network with rooms;
 * gives the flow. O(nodes^2 arcs) at worst, far less on networks whose paths are short. */
#include "sublinear/bound/bound.h"

bool ebb_flow_reserve(ebb_flow_net *net, ebb_arena *arena, uint32_t max_nodes, uint32_t max_arcs) {
    *net = (ebb_flow_net){.from = EBB_NEW(arena, uint32_t, max_arcs),
                          .to = EBB_NEW(arena, uint32_t, max_arcs),
                          .room = EBB_NEW(arena, int64_t, max_arcs),
                          .flow = EBB_NEW(arena, int64_t, max_arcs),
                          .first = EBB_NEW(arena, uint32_t, (size_t)max_nodes + 1),
                          .half = EBB_NEW(arena, uint32_t, 2 * (size_t)max_arcs),
                          .level = EBB_NEW(arena, uint32_t, max_nodes),
                          .next = EBB_NEW(arena, uint32_t, max_nodes),
                          .queue = EBB_NEW(arena, uint32_t, max_nodes),
                          .path = EBB_NEW(arena, uint32_t, max_nodes)};
    return net->from && net->to && net->room && net->flow && net->first && net->half && net->level &&
           net->next && net->queue && net->path;
}

void ebb_flow_join(ebb_flow_net *net) {
    memset(net->first, 0, ((size_t)net->n_nodes + 1) * sizeof *net->first);
    for (uint32_t a = 0; a < net->n_arcs; a++) net->first[net->from[a] + 1]++, net->first[net->to[a] + 1]++;
    for (uint32_t v = 0; v < net->n_nodes; v++) net->first[v + 1] += net->first[v];
    memcpy(net->next, net->first, net->n_nodes * sizeof *net->next);
    for (uint32_t a = 0; a < net->n_arcs; a++) {
        net->half[net->next[net->from[a]]++] = 2 * a;
        net->half[net->next[net->to[a]]++] = 2 * a + 1;
    }
}

static inline int64_t left(const ebb_flow_net *net, uint32_t half) {
    uint32_t a = half >> 1;
    return half & 1 ? net->flow[a] : net->room[a] - net->flow[a];
}
static inline uint32_t head(const ebb_flow_net *net, uint32_t half) {
    return half & 1 ? net->from[half >> 1] : net->to[half >> 1];
}
static inline uint32_t tail(const ebb_flow_net *net, uint32_t half) {
    return head(net, half ^ 1);
}

/* Levels from the source, as far as the sink's; false when it is not reached. */
static bool find_levels(ebb_flow_net *net) {
    memset(net->level, 0xFF, net->n_nodes * sizeof *net->level);
    uint32_t n = 0, end = EBB_NONE;
    net->level[EBB_FLOW_SOURCE] = 0;
    net->queue[n++] = EBB_FLOW_SOURCE;
    for (uint32_t i = 0; i < n && net->level[net->queue[i]] < end; i++) {
        uint32_t v = net->queue[i];
        net->work += net->first[v + 1] - net->first[v];
        for (uint32_t k = net->first[v]; k < net->first[v + 1]; k++) {
            uint32_t to = head(net, net->half[k]);
            if (net->level[to] != EBB_NONE || left(net, net->half[k]) <= 0) continue;
            net->level[to] = net->level[v] + 1;
            net->queue[n++] = to;
            if (to == EBB_FLOW_SINK) end = net->level[to];
        }
    }
    return end != EBB_NONE;
}

/* Fills the path up; returns the length to which it is free again. */
static uint32_t push(ebb_flow_net *net, uint32_t n_path) {
    int64_t most = INT64_MAX;
    uint32_t full = 0;
    for (uint32_t i = n_path; i-- > 0;)
        if (left(net, net->path[i]) <= most) {
            most = left(net, net->path[i]);
            full = i;
        }
    for (uint32_t i = 0; i < n_path; i++) net->flow[net->path[i] >> 1] += net->path[i] & 1 ? -most : most;
    net->work += n_path;
    return full;
}

/* Until no path of the level graph is left; false when the work is used up. */
static bool block(ebb_flow_net *net, int64_t work_limit) {
    memcpy(net->next, net->first, net->n_nodes * sizeof *net->next);
    uint32_t n_path = 0, v = EBB_FLOW_SOURCE;
    for (;;) {
        if (v == EBB_FLOW_SINK) {
            n_path = push(net, n_path);
            v = tail(net, net->path[n_path]);
            if (net->work > work_limit) return false;
        }
        uint32_t k = net->next[v], end = net->first[v + 1];
        while (k < end &&
               (left(net, net->half[k]) <= 0 || net->level[head(net, net->half[k])] != net->level[v] + 1))
            k++;
        net->work += k - net->next[v] + 1;
        net->next[v] = k;
        if (k < end) {
            net->path[n_path++] = net->half[k];
            v = head(net, net->half[k]);
        } else if (n_path == 0) {
            return true;
        } else {
            v = tail(net, net->path[--n_path]);
            net->next[v]++;
        }
    }
}

bool ebb_flow_max(ebb_flow_net *net, int64_t work_limit) {
    memset(net->flow, 0, net->n_arcs * sizeof *net->flow);
    while (find_levels(net))
        if (!block(net, work_limit)) return false;
    return true;
}
