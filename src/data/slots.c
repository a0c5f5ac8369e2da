/* What a loader's threads do with a slot: draw a picture, decode it, and take another one if that fails. */
#include <time.h>

#include "data/loader.h"

static int64_t thread_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool known_bad(const ebb_loader *l, int64_t index) {
    return atomic_load_explicit(&l->known_bad[index / 64], memory_order_relaxed) >> (index % 64) & 1;
}

/* Counts it, and keeps what is wrong with it: once; with strict the first of each batch. */
static void note_bad(ebb_loader *l, uint32_t slot, int64_t index, const char *why) {
    const bool strict = l->options.strict;
    const uint64_t bit = UINT64_C(1) << (index % 64);
    const bool known = atomic_fetch_or(&l->known_bad[index / 64], bit) & bit;
    if (known && !strict) return;
    if (!known) atomic_fetch_add(&l->n_bad, 1);
    (void)pthread_mutex_lock(&l->lock);
    loader_bad *bad = strict ? &l->bads[0] : l->n_bads < LOADER_NAMED ? &l->bads[l->n_bads] : NULL;
    if (bad && !(strict && l->n_bads > 0 && bad->slot < slot)) {
        bad->slot = slot;
        bad->index = index;
        memcpy(bad->why, why, sizeof bad->why);
    }
    l->n_bads = strict ? 1 : l->n_bads + 1;
    (void)pthread_mutex_unlock(&l->lock);
}

static data_verdict read_one(ebb_loader *l, uint32_t slot, data_worker *w, int64_t index, int64_t place) {
    if (known_bad(l, index) && !l->options.strict) return DATA_BAD;
    const data_verdict verdict = data_picture_read(w, index, place, l->bytes + slot * l->picture_bytes);
    if (verdict == DATA_BAD) note_bad(l, slot, index, w->why);
    return verdict;
}

static void decode_trained(ebb_loader *l, uint32_t slot, data_worker *w, int64_t place) {
    const int64_t n = l->data->n_parts[EBB_DATA_TRAIN];
    const uint32_t *part = l->data->parts[EBB_DATA_TRAIN];
    loader_slot *s = &l->slots[slot];
    int64_t at = data_draw_index(l->options.seed, place, n);
    for (uint32_t attempt = 1;; attempt++) {
        s->index = part[at];
        s->verdict = read_one(l, slot, w, s->index, place);
        if (s->verdict != DATA_BAD || l->options.strict || attempt == LOADER_ATTEMPTS) return;
        at = data_draw_other(l->options.seed, place, attempt, n);
    }
}

static void decode_held_out(ebb_loader *l, uint32_t slot, data_worker *w, int64_t place) {
    loader_slot *s = &l->slots[slot];
    *s = (loader_slot){-1, DATA_BAD};
    if (place >= l->data->n_parts[EBB_DATA_HELD_OUT]) return;
    s->index = l->data->parts[EBB_DATA_HELD_OUT][place];
    s->verdict = read_one(l, slot, w, s->index, place);
}

void loader_decode(void *ctx, uint32_t slot, uint32_t worker) {
    ebb_loader *l = ctx;
    const int64_t begin_ns = thread_ns(), place = l->step * l->options.batch + slot;
    if (l->options.part == EBB_DATA_TRAIN)
        decode_trained(l, slot, &l->workers[worker], place);
    else
        decode_held_out(l, slot, &l->workers[worker], place);
    const bool good = l->slots[slot].verdict == DATA_GOOD;
    atomic_fetch_add(&l->n_pictures, good);
    atomic_fetch_add(&l->n_from_kept, good && l->workers[worker].shown);
    atomic_fetch_add(&l->busy_ns, thread_ns() - begin_ns);
}
