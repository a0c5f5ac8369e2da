/* Lists of ids from one arena, their blocks used again: nothing is allocated once the search is warm. */
#include "sublinear/score/rounds.h"

enum { LEAST_CLASS = 2 }; /* four ids: room for the link of a free block */

static uint32_t class_of(uint32_t n) {
    uint32_t k = LEAST_CLASS;
    while ((uint32_t)1 << k < n) k++;
    return k;
}

bool ebb_ids_reserve(ebb_ids_pool *pool, ebb_ids *list, uint32_t n) {
    if (n <= list->cap) return true;
    if (n > (uint32_t)1 << 30) return !(pool->failed = true);
    uint32_t k = class_of(n);
    uint32_t *block = pool->free[k];
    if (block)
        memcpy(&pool->free[k], block, sizeof(void *));
    else
        block = EBB_NEW(pool->arena, uint32_t, (size_t)1 << k);
    if (!block) return !(pool->failed = true);
    if (list->n > 0) memcpy(block, list->at, list->n * sizeof *block);
    if (list->cap > 0) {
        uint32_t old = class_of(list->cap);
        memcpy(list->at, &pool->free[old], sizeof(void *));
        pool->free[old] = list->at;
    }
    list->at = block;
    list->cap = (uint32_t)1 << k;
    return true;
}

void ebb_ids_insert(ebb_ids_pool *pool, ebb_ids *list, uint32_t id) {
    uint32_t k = list->n;
    while (k > 0 && list->at[k - 1] > id) k--;
    if (k > 0 && list->at[k - 1] == id) return;
    if (!ebb_ids_reserve(pool, list, list->n + 1)) return;
    memmove(list->at + k + 1, list->at + k, (list->n - k) * sizeof *list->at);
    list->at[k] = id;
    list->n++;
}

void ebb_ids_erase(ebb_ids *list, uint32_t id) {
    for (uint32_t k = list->n; k-- > 0 && list->at[k] >= id;) {
        if (list->at[k] != id) continue;
        memmove(list->at + k, list->at + k + 1, (list->n - k - 1) * sizeof *list->at);
        list->n--;
        return;
    }
}

void ebb_ids_assign(ebb_ids_pool *pool, ebb_ids *list, const uint32_t *from, uint32_t n) {
    list->n = 0;
    if (!ebb_ids_reserve(pool, list, n)) return;
    if (n > 0) memcpy(list->at, from, n * sizeof *from);
    list->n = n;
}
