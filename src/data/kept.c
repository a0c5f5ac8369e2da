/* Kept pictures: a table, and a room that fills from its beginning. Threads claim a picture by its place in
 * the table, and show it to others when its pixels are there. */
#include "data/kept.h"

#include "data/picture.h"

enum { NOTHING, BEGUN, FIRST_PLACE, ALIGNMENT = 64 };

/* In front of the pixels. */
typedef struct head {
    uint32_t width, height;
} head;

static int64_t table_bytes(int64_t n_pictures) {
    return n_pictures * (int64_t)(sizeof(uint64_t) + KEPT_SCALES * sizeof(int64_t));
}

ebb_status data_kept_make(ebb_env *env, int64_t n_pictures, int64_t bytes, data_kept *out) {
    *out = (data_kept){.room = NULL};
    if (bytes == 0) return EBB_OK;
    if (bytes < table_bytes(n_pictures))
        return ebb_fail(env, EBB_USAGE,
                        "%lld bytes for decoded pictures: the table of %lld alone needs %lld, give more",
                        (long long)bytes, (long long)n_pictures, (long long)table_bytes(n_pictures));
    out->room_bytes = bytes - table_bytes(n_pictures);
    out->sides = ebb_calloc(env, (size_t)n_pictures, sizeof *out->sides);
    out->at = ebb_calloc(env, (size_t)n_pictures * KEPT_SCALES, sizeof *out->at);
    out->room =
        ebb_alloc_aligned(env, (size_t)out->room_bytes, ALIGNMENT); /* its pages come when it fills */
    if (out->sides && out->at && out->room) return EBB_OK;
    data_kept_end(env, n_pictures, out);
    return EBB_NO_MEMORY;
}

void data_kept_end(ebb_env *env, int64_t n_pictures, data_kept *k) {
    ebb_cfree(env, (void *)k->sides, (size_t)n_pictures, sizeof *k->sides);
    ebb_cfree(env, (void *)k->at, (size_t)n_pictures * KEPT_SCALES, sizeof *k->at);
    ebb_free_aligned(env, k->room, (size_t)k->room_bytes, ALIGNMENT);
    *k = (data_kept){.room = NULL};
}

/* Never 0: sides are at least 1. */
static uint64_t sides_of(bool jpeg, uint32_t width, uint32_t height) {
    return width | (uint64_t)height << 16 | (uint64_t)jpeg << 32;
}

bool data_kept_show(data_worker *w, int64_t place) {
    const data_kept *k = w->kept;
    if (!k->room) return false;
    const uint64_t sides = atomic_load_explicit(&k->sides[w->index], memory_order_relaxed);
    if (sides == 0) return false;
    data_box box = data_draw_box(w->options, place, sides & 0xFFFF, sides >> 16 & 0xFFFF);
    const uint32_t scale = sides >> 32 ? data_picture_scale(w->options, &box) : 0;
    const int64_t at = atomic_load_explicit(&k->at[w->index * KEPT_SCALES + scale], memory_order_acquire);
    if (at < FIRST_PLACE) return false;
    const uint8_t *rows = k->room + (at - FIRST_PLACE);
    head size;
    memcpy(&size, rows, sizeof size);
    rows += sizeof size;
    data_scale_begin(&w->scale, size.width, size.height, &box, data_draw_flip(w->options, place));
    for (uint32_t y = 0; y < size.height; y++)
        data_scale_row(&w->scale, y, rows + (size_t)y * size.width * w->options->channels);
    return true;
}

uint8_t *data_kept_begin(data_worker *w, bool jpeg, uint32_t file_width, uint32_t file_height,
                         uint32_t scale, uint32_t width, uint32_t height) {
    data_kept *k = w->kept;
    if (!k->room) return NULL;
    const uint64_t sides = sides_of(jpeg, file_width, file_height);
    uint64_t known = 0;
    /* A file that has become another picture is not kept beside what it was. */
    if (!atomic_compare_exchange_strong(&k->sides[w->index], &known, sides) && known != sides) return NULL;
    const int64_t bytes = (int64_t)sizeof(head) + (int64_t)width * height * w->options->channels;
    int64_t begin = atomic_load(&k->used_bytes), nothing = NOTHING;
    _Atomic int64_t *at = &k->at[w->index * KEPT_SCALES + scale];
    if (bytes > k->room_bytes - begin || !atomic_compare_exchange_strong(at, &nothing, BEGUN)) return NULL;
    do
        if (bytes > k->room_bytes - begin) {
            atomic_store(at, NOTHING);
            return NULL;
        }
    while (!atomic_compare_exchange_weak(&k->used_bytes, &begin, begin + bytes));
    memcpy(k->room + begin, &(head){width, height}, sizeof(head));
    w->keeping = (data_keeping){k->room + begin + sizeof(head), begin, bytes, at};
    return w->keeping.rows;
}

void data_kept_finish(data_worker *w, bool good) {
    data_keeping *keeping = &w->keeping;
    if (!keeping->rows) return;
    int64_t end = keeping->begin + keeping->bytes;
    if (!good)
        (void)atomic_compare_exchange_strong(&w->kept->used_bytes, &end,
                                             keeping->begin); /* if it is the last */
    atomic_store_explicit(keeping->at, good ? FIRST_PLACE + keeping->begin : NOTHING, memory_order_release);
    keeping->rows = NULL;
}
