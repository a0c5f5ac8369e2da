/* sublinear/order/lane.h: holds one order under annealing: the live bytes at each position, and their
 * change by a move.
 *
 *     position   0  1  2  3  4  5  6        the op at 5 goes to 2: those at 2, 3 and 4 make room, and only
 *                a  b  c  d  e  x  f        positions 2 to 5 are counted again
 */
#ifndef EBB_SUBLINEAR_ORDER_LANE_H
#define EBB_SUBLINEAR_ORDER_LANE_H

#include "sublinear/order/order.h"

typedef struct ebb_order_lane {
    ebb_ordering o;
    ebb_rng rng;
    uint32_t *best_order;
    uint32_t *born, *dead; /* of storages: counted in steps [born, dead] */
    bool *taken;           /* of storages: whether its bytes are taken over when it dies */
    uint32_t *stamp, *changed, n_changed, now;
    int64_t *use;   /* of positions: live bytes and scratch */
    int64_t *diff;  /* of positions, plus one: change of live bytes from the previous position */
    int64_t *peaks; /* of blocks of positions */
    int64_t first_peak, best_peak;
    int64_t aim;
    __extension__ __int128 overflow; /* bytes above aim, summed over positions: up to 2^61 each */
    int64_t n_walked;                /* positions recounted by moves */
    const ebb_order_request *request;
    ebb_env *env;
} ebb_order_lane;

/* Starts with the graph's own order as the best so far; aim is 0. In arena; false when memory is out. */
bool ebb_order_lane_open(ebb_order_lane *lane, ebb_arena *arena, const ebb_order_facts *facts);
/* Moves the op at `from` to `to`, within its range, shifting those between. O(storages that these ops
 * touch). */
void ebb_order_lane_move(ebb_order_lane *lane, uint32_t from, uint32_t to);
/* Restores the best order. O(graph). */
void ebb_order_lane_restore(ebb_order_lane *lane);
int64_t ebb_order_lane_peak(const ebb_order_lane *lane);
void ebb_order_lane_aim(ebb_order_lane *lane, int64_t aim);

#endif
