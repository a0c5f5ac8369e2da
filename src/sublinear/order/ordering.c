/* An order of ops under change: where an op may go, and taking it there. */
#include "sublinear/order/order.h"

#define NEAR   8  /* how far a near move goes; every second one is near, .. */
#define MIDDLE 64 /* .. every fourth goes so far at most, the rest anywhere */

ebb_position_range ebb_ordering_range(const ebb_ordering *o, uint32_t at) {
    const ebb_lists *before = &o->facts->before, *after = &o->facts->after;
    uint32_t op = o->order[at];
    ebb_position_range range = o->facts->ranges[op];
    for (uint32_t k = before->first[op]; k < before->first[op + 1]; k++) {
        uint32_t p = o->position[before->at[k]] + 1;
        range.first = p > range.first ? p : range.first;
    }
    for (uint32_t k = after->first[op]; k < after->first[op + 1]; k++) {
        uint32_t p = o->position[after->at[k]] - 1;
        range.last = p < range.last ? p : range.last;
    }
    return range;
}

uint32_t ebb_ordering_draw(const ebb_ordering *o, ebb_rng *rng, uint32_t at) {
    ebb_position_range range = ebb_ordering_range(o, at);
    uint32_t far = ebb_rng_below(rng, 4);
    far = far < 2 ? NEAR : far == 2 ? MIDDLE : o->facts->n_ops;
    if (at - range.first > far) range.first = at - far;
    if (range.last - at > far) range.last = at + far;
    return range.first + ebb_rng_below(rng, range.last - range.first + 1);
}

void ebb_ordering_move(ebb_ordering *o, uint32_t from, uint32_t to) {
    uint32_t low = from < to ? from : to, high = from < to ? to : from, op = o->order[from];
    for (uint32_t p = from; p < to; p++) o->order[p] = o->order[p + 1];
    for (uint32_t p = from; p > to; p--) o->order[p] = o->order[p - 1];
    o->order[to] = op;
    for (uint32_t p = low; p <= high; p++) o->position[o->order[p]] = p;
}
