/* Members of a .zip file (APPNOTE 6.3): found by the directory at its end, stored or deflated, checked by
 * their CRC. What needs 64 bits, passwords or several disks is refused. */
#include "data/data.h"

enum {
    END_BYTES = 22,
    MOST_COMMENT = 0xFFFF,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    MOST_DIRECTORY = 1 << 20,
    MOST_RATIO = 1032 /* of deflate */
};
#define END_MARK   UINT32_C(0x06054b50)
#define ENTRY_MARK UINT32_C(0x02014b50)
#define LOCAL_MARK UINT32_C(0x04034b50)

typedef struct zip_entry {
    char name[64]; /* "" when it is longer */
    uint32_t flags, method, crc;
    int64_t packed, whole, local; /* bytes; where its local head is */
} zip_entry;

static uint32_t u16(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8;
}
static uint32_t u32(const uint8_t *at) {
    return u16(at) | u16(at + 2) << 16;
}

static ebb_status damaged(const ebb_data *d, const char *what) {
    return ebb_fail(d->env, EBB_BAD_INPUT, "%s: %s: give a .npz that numpy.savez or savez_compressed wrote",
                    d->path, what);
}

/* The directory's place, from the record at the end, behind which is at most a comment. */
static ebb_status find_directory(const ebb_data *d, int fd, int64_t file_bytes, ebb_arena *arena,
                                 int64_t *at, int64_t *n) {
    const int64_t tail = ebb_min_i64(file_bytes, END_BYTES + MOST_COMMENT);
    if (tail < END_BYTES) return damaged(d, "too short for a .zip file");
    uint8_t *bytes = EBB_NEW(arena, uint8_t, tail);
    if (!bytes) return EBB_NO_MEMORY;
    const ebb_status status = data_read(d, fd, file_bytes - tail, tail, bytes);
    if (status != EBB_OK) return status;
    for (int64_t i = tail - END_BYTES; i >= 0; i--) {
        const uint8_t *end = bytes + i;
        if (u32(end) != END_MARK || u16(end + 20) != tail - END_BYTES - i) continue;
        *n = u32(end + 12);
        *at = u32(end + 16);
        if (u16(end + 4) != 0 || u16(end + 6) != 0) return damaged(d, "a .zip file of several disks");
        if (*n == UINT32_MAX || *at == UINT32_MAX) return damaged(d, "a .zip file of 4 GiB or more");
        if (*at + *n > file_bytes || *n > MOST_DIRECTORY)
            return damaged(d, "its directory is not where it says");
        return EBB_OK;
    }
    return damaged(d, "no .zip file: it has no directory at its end");
}

/* One entry of the directory; *used bytes of the n. */
static bool read_entry(const uint8_t *at, int64_t n, zip_entry *out, int64_t *used) {
    if (n < ENTRY_BYTES || u32(at) != ENTRY_MARK) return false;
    const uint32_t n_name = u16(at + 28);
    *used = (int64_t)ENTRY_BYTES + n_name + u16(at + 30) + u16(at + 32);
    if (*used > n) return false;
    *out = (zip_entry){.flags = u16(at + 8),
                       .method = u16(at + 10),
                       .crc = u32(at + 16),
                       .packed = u32(at + 20),
                       .whole = u32(at + 24),
                       .local = u32(at + 42)};
    if (n_name < sizeof out->name) memcpy(out->name, at + ENTRY_BYTES, n_name);
    return true;
}

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

static ebb_status find_entry(const ebb_data *d, const uint8_t *at, int64_t n, const char *const *names,
                             zip_entry *out) {
    int64_t used;
    for (; n > 0; at += used, n -= used) {
        if (!read_entry(at, n, out, &used)) return damaged(d, "its directory is damaged");
        if (is_one_of(out->name, names)) return EBB_OK;
    }
    return ebb_fail(d->env, EBB_BAD_INPUT, "%s: no array \"%.*s\" in it: name it so", d->path,
                    (int)(strlen(names[0]) - strlen(".npy")), names[0]);
}

static ebb_status check_entry(const ebb_data *d, const zip_entry *e) {
    if (e->flags & 1) return damaged(d, "an array with a password");
    if (e->packed == UINT32_MAX || e->whole == UINT32_MAX || e->local == UINT32_MAX)
        return damaged(d, "an array of 4 GiB or more");
    if (e->method != 0 && e->method != 8) return damaged(d, "an array neither stored nor deflated");
    if (e->method == 0 ? e->packed != e->whole : e->whole > e->packed * MOST_RATIO)
        return damaged(d, "an array's sizes contradict each other");
    return EBB_OK;
}

/* Its packed bytes lie behind a head whose length is its own. */
static ebb_status find_bytes(const ebb_data *d, int fd, int64_t file_bytes, const zip_entry *e,
                             int64_t *at) {
    uint8_t head[LOCAL_BYTES];
    if (e->local + LOCAL_BYTES > file_bytes) return damaged(d, "an array lies behind its end");
    const ebb_status status = data_read(d, fd, e->local, LOCAL_BYTES, head);
    if (status != EBB_OK) return status;
    if (u32(head) != LOCAL_MARK) return damaged(d, "an array is not where its directory says");
    *at = e->local + LOCAL_BYTES + u16(head + 26) + u16(head + 28);
    return *at + e->packed > file_bytes ? damaged(d, "an array reaches behind its end") : EBB_OK;
}

static ebb_status unpack(const ebb_data *d, int fd, int64_t at, const zip_entry *e, ebb_arena *arena,
                         uint8_t *to) {
    if (e->method == 0) return data_read(d, fd, at, e->whole, to);
    uint8_t *packed = EBB_NEW(arena, uint8_t, e->packed);
    if (!packed) return EBB_NO_MEMORY;
    const ebb_status status = data_read(d, fd, at, e->packed, packed);
    return status == EBB_OK
               ? data_inflate(arena, d->path, packed, (size_t)e->packed, true, to, (size_t)e->whole)
               : status;
}

static ebb_status read_member(const ebb_data *d, int fd, int64_t file_bytes, const char *const *names,
                              ebb_arena *arena, data_member *out) {
    int64_t at = 0, n = 0, bytes_at = 0;
    zip_entry e = {.flags = 0};
    ebb_status status = find_directory(d, fd, file_bytes, arena, &at, &n);
    uint8_t *directory = status == EBB_OK ? EBB_NEW(arena, uint8_t, n) : NULL;
    if (status == EBB_OK && !directory) return EBB_NO_MEMORY;
    if (status == EBB_OK) status = data_read(d, fd, at, n, directory);
    if (status == EBB_OK) status = find_entry(d, directory, n, names, &e);
    if (status == EBB_OK) status = check_entry(d, &e);
    if (status == EBB_OK) status = find_bytes(d, fd, file_bytes, &e, &bytes_at);
    if (status != EBB_OK) return status;
    out->n = (size_t)e.whole;
    out->held = ebb_alloc_aligned(d->env, out->n, 16);
    if (!out->held) return EBB_NO_MEMORY;
    status = unpack(d, fd, bytes_at, &e, arena, out->held);
    if (status == EBB_OK && data_crc(out->held, out->n) != e.crc)
        status = damaged(d, "an array is damaged");
    return status;
}

ebb_status data_zip_read(const ebb_data *d, int fd, int64_t file_bytes, const char *const *names,
                         data_member *out) {
    ebb_arena arena;
    *out = (data_member){0};
    ebb_arena_init(&arena, d->env);
    const ebb_status status = read_member(d, fd, file_bytes, names, &arena, out);
    ebb_arena_deinit(&arena);
    if (status != EBB_OK) ebb_free_aligned(d->env, out->held, out->n, 16);
    if (status != EBB_OK) *out = (data_member){0};
    return status;
}
