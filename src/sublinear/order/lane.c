/* What is live where in an order, kept up move by move. */
#include "sublinear/order/lane.h"

#define BLOCK             64 /* positions that share a maximum */

#define EACH(lists, i, k) (uint32_t k = (lists).first[i]; k < (lists).first[(i) + 1]; k++)

int64_t ebb_order_lane_peak(const ebb_order_lane *l) {
    int64_t peak = 0;
    for (uint32_t b = 0; b <= (l->o.facts->n_ops - 1) / BLOCK; b++) peak = ebb_max_i64(peak, l->peaks[b]);
    return peak;
}

/* Adds bytes of a storage at [born, dead], as far as that lies in [low, high]. */
static void count(ebb_order_lane *l, uint32_t storage, uint32_t low, uint32_t high, int64_t sign) {
    uint32_t born = l->born[storage], dead = l->dead[storage];
    if (born > dead || dead < low || born > high) return;
    int64_t bytes = sign * l->o.facts->storages[storage].bytes;
    l->diff[born < low ? low : born] += bytes;
    l->diff[(dead > high ? high : dead) + 1] -= bytes;
}

/* After ops in [low, high] changed places: what is written or dies elsewhere is as it was. */
static void find_life(ebb_order_lane *l, uint32_t storage, uint32_t low, uint32_t high) {
    const ebb_storage_facts *s = &l->o.facts->storages[storage];
    uint32_t born = s->producer == EBB_NONE ? 0 : l->o.position[s->producer], dead = born;
    for
        EACH(l->o.facts->touches, storage, k) {
            uint32_t at = l->o.position[l->o.facts->touches.at[k]];
            dead = at > dead ? at : dead;
        }
    if (s->lasting) dead = l->o.facts->n_ops - 1;
    if (born >= low && born <= high) l->born[storage] = born;
    if (dead >= low && dead <= high) l->taken[storage] = false;
    l->dead[storage] = dead;
}

/* An output takes over an input that dies here: it is counted from the next step on. */
static void take_over(ebb_order_lane *l, uint32_t at) {
    const ebb_lists *over = &l->o.facts->over;
    const ebb_storage_facts *s = l->o.facts->storages;
    uint32_t op = l->o.order[at];
    for (uint32_t k = over->first[op]; k < over->first[op + 1]; k += 2) {
        uint32_t out = over->at[k], in = over->at[k + 1];
        if (l->taken[in] || l->born[out] != at || l->dead[in] != at || s[in].lasting || s[in].bytes == 0 ||
            s[out].bytes > s[in].bytes || l->dead[out] == at)
            continue;
        l->taken[in] = true;
        l->born[out] = at + 1;
    }
}

/* Positions [low, high] have what diff says; overflow and block peaks follow. */
static void settle(ebb_order_lane *l, uint32_t low, uint32_t high) {
    int64_t change = 0;
    for (uint32_t p = low; p <= high; p++) {
        change += l->diff[p];
        l->diff[p] = 0;
        l->use[p] += change;
        if (l->use[p] > l->aim) l->overflow += l->use[p] - l->aim;
    }
    l->diff[high + 1] = 0;
    for (uint32_t b = low / BLOCK; b <= high / BLOCK; b++) {
        int64_t peak = 0;
        for (uint32_t p = b * BLOCK; p < (b + 1) * BLOCK && p < l->o.facts->n_ops; p++)
            peak = ebb_max_i64(peak, l->use[p]);
        l->peaks[b] = peak;
    }
}

static void leave(ebb_order_lane *l, uint32_t low, uint32_t high) {
    l->now++;
    l->n_changed = 0;
    for (uint32_t p = low; p <= high; p++) {
        if (l->use[p] > l->aim) l->overflow -= l->use[p] - l->aim;
        l->use[p] -= l->o.facts->scratch[l->o.order[p]];
        for
            EACH(l->o.facts->touched, l->o.order[p], k) {
                uint32_t storage = l->o.facts->touched.at[k];
                if (l->stamp[storage] == l->now) continue;
                l->stamp[storage] = l->now;
                l->changed[l->n_changed++] = storage;
            }
    }
    for (uint32_t k = 0; k < l->n_changed; k++) count(l, l->changed[k], low, high, -1);
}

static void enter(ebb_order_lane *l, uint32_t low, uint32_t high) {
    for (uint32_t k = 0; k < l->n_changed; k++) find_life(l, l->changed[k], low, high);
    for (uint32_t p = low; p <= high; p++) {
        take_over(l, p);
        l->use[p] += l->o.facts->scratch[l->o.order[p]];
    }
    for (uint32_t k = 0; k < l->n_changed; k++) count(l, l->changed[k], low, high, 1);
    settle(l, low, high);
}

/* The op at `from` goes to `to`; those between make room. */
void ebb_order_lane_move(ebb_order_lane *l, uint32_t from, uint32_t to) {
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    l->n_walked += high - low + 1;
    leave(l, low, high);
    ebb_ordering_move(&l->o, from, to);
    enter(l, low, high);
}

static void load(ebb_order_lane *l) {
    uint32_t n = l->o.facts->n_ops;
    memset(l->use, 0, n * sizeof *l->use);
    l->overflow = 0;
    for (uint32_t p = 0; p < n; p++) l->o.position[l->o.order[p]] = p;
    l->n_changed = 0;
    for (uint32_t s = 0; s < l->o.facts->n_storages; s++)
        if (l->o.facts->storages[s].bytes > 0) l->changed[l->n_changed++] = s;
    enter(l, 0, n - 1);
}

void ebb_order_lane_restore(ebb_order_lane *l) {
    uint32_t n = l->o.facts->n_ops;
    memset(l->diff, 0, ((size_t)n + 1) * sizeof *l->diff);
    memcpy(l->o.order, l->best_order, n * sizeof *l->o.order);
    load(l);
}

void ebb_order_lane_aim(ebb_order_lane *l, int64_t aim) {
    l->aim = aim;
    l->overflow = 0;
    for (uint32_t p = 0; p < l->o.facts->n_ops; p++)
        if (l->use[p] > aim) l->overflow += l->use[p] - aim;
}

bool ebb_order_lane_open(ebb_order_lane *l, ebb_arena *arena, const ebb_order_facts *facts) {
    uint32_t n = facts->n_ops, m = facts->n_storages;
    *l = (ebb_order_lane){.env = arena->env,
                          .o = {facts, EBB_NEW(arena, uint32_t, n), EBB_NEW(arena, uint32_t, n)},
                          .best_order = EBB_NEW(arena, uint32_t, n),
                          .born = EBB_NEW(arena, uint32_t, m),
                          .dead = EBB_NEW(arena, uint32_t, m),
                          .taken = EBB_NEW(arena, bool, m),
                          .stamp = EBB_NEW(arena, uint32_t, m),
                          .changed = EBB_NEW(arena, uint32_t, m),
                          .use = EBB_NEW(arena, int64_t, n),
                          .diff = EBB_NEW(arena, int64_t, (size_t)n + 1),
                          .peaks = EBB_NEW(arena, int64_t, n / BLOCK + 1)};
    if (!l->o.order || !l->o.position || !l->best_order || !l->born || !l->dead || !l->taken || !l->stamp ||
        !l->changed || !l->use || !l->diff || !l->peaks)
        return false;
    for (uint32_t i = 0; i < n; i++) l->o.order[i] = i;
    load(l);
    l->first_peak = l->best_peak = ebb_order_lane_peak(l);
    return true;
}
