/* Inflating, by zlib, into memory whose size is known: what would not fit it is an error, not more memory.
 * A gzip file is one member or several, one after the other; what they become is known when all were read.
 */
#include "data/data.h"
#include "ebb_build.h"

#if EBB_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>

static voidpf take(voidpf arena, uInt n, uInt size) {
    return ebb_arena_alloc(arena, n, size);
}
static void leave(voidpf arena, voidpf at) { /* ends with the arena */
    (void)arena, (void)at;
}

/* zlib counts in 32 bits. */
static uInt part(size_t n) {
    return n < (size_t)1 << 30 ? (uInt)n : (uInt)1 << 30;
}

enum { WINDOW = 15, GZIP = 16, ROOM = 1 << 15 };

/* Behind a member: the next one, if anything is left. */
static int next_member(z_stream *z, int code, size_t n) {
    return code == Z_STREAM_END && n > 0 ? inflateReset(z) : code;
}

static int run(z_stream *z, size_t n, size_t n_to, bool members) {
    int code = Z_OK;
    while (code == Z_OK) {
        const uInt in = part(n), out = part(n_to);
        z->avail_in = in;
        z->avail_out = out;
        code = inflate(z, Z_NO_FLUSH);
        n -= in - z->avail_in;
        n_to -= out - z->avail_out;
        if (code == Z_BUF_ERROR) return code;
        if (code == Z_OK && z->avail_in == in && z->avail_out == out) return Z_BUF_ERROR;
        if (members) code = next_member(z, code, n);
    }
    return code == Z_STREAM_END && (n > 0 || n_to > 0) ? Z_DATA_ERROR : code;
}

ebb_status data_inflate(ebb_arena *arena, const char *what, const uint8_t *from, size_t n, bool raw,
                        uint8_t *to, size_t n_to) {
    z_stream z = {.zalloc = take, .zfree = leave, .opaque = arena};
    int code = inflateInit2(&z, raw ? -WINDOW : WINDOW + GZIP);
    if (code == Z_OK) {
        z.next_in = from;
        z.next_out = to;
        code = run(&z, n, n_to, !raw);
        (void)inflateEnd(&z);
    }
    if (code == Z_STREAM_END) return EBB_OK;
    if (code == Z_MEM_ERROR) return EBB_NO_MEMORY;
    return ebb_fail(arena->env, EBB_BAD_INPUT,
                    "%s is damaged: it does not inflate to %zu bytes: get it again", what, n_to);
}

/* Adds to *n_to what the members become, until it is more than `most`. */
static int measure(z_stream *z, size_t n, uint8_t *room, size_t most, size_t *n_to) {
    int code = Z_OK;
    while (code == Z_OK && *n_to <= most) {
        const uInt in = part(n);
        z->avail_in = in;
        z->next_out = room;
        z->avail_out = ROOM;
        code = inflate(z, Z_NO_FLUSH);
        n -= in - z->avail_in;
        *n_to += ROOM - z->avail_out;
        if (code == Z_OK && z->avail_in == in && z->avail_out == ROOM) return Z_BUF_ERROR;
        code = next_member(z, code, n);
    }
    return code;
}

ebb_status data_inflated_bytes(ebb_arena *arena, const char *what, const uint8_t *from, size_t n,
                               size_t most, size_t *n_to) {
    z_stream z = {.zalloc = take, .zfree = leave, .opaque = arena};
    uint8_t *room = EBB_NEW(arena, uint8_t, ROOM);
    int code = room ? inflateInit2(&z, WINDOW + GZIP) : Z_MEM_ERROR;
    *n_to = 0;
    if (code == Z_OK) {
        z.next_in = from;
        code = measure(&z, n, room, most, n_to);
        (void)inflateEnd(&z);
    }
    if (code == Z_MEM_ERROR) return EBB_NO_MEMORY;
    if (*n_to > most)
        return ebb_fail(arena->env, EBB_BAD_INPUT,
                        "%s inflates to more than the %zu bytes that are read: give records instead", what,
                        most);
    if (code == Z_STREAM_END) return EBB_OK;
    return ebb_fail(arena->env, EBB_BAD_INPUT,
                    "%s is damaged: it inflates to %zu bytes, and not on: get it again", what, *n_to);
}

uint32_t data_crc(const uint8_t *bytes, size_t n) {
    uLong crc = crc32(0, Z_NULL, 0);
    while (n > 0) {
        const uInt k = part(n);
        crc = crc32(crc, bytes, k);
        bytes += k;
        n -= k;
    }
    return (uint32_t)crc;
}
#else
ebb_status data_inflate(ebb_arena *arena, const char *what, const uint8_t *from, size_t n, bool raw,
                        uint8_t *to, size_t n_to) {
    (void)from, (void)n, (void)raw, (void)to, (void)n_to;
    return data_need_zlib(arena->env, what);
}

ebb_status data_inflated_bytes(ebb_arena *arena, const char *what, const uint8_t *from, size_t n,
                               size_t most, size_t *n_to) {
    (void)from, (void)n, (void)most;
    *n_to = 0;
    return data_need_zlib(arena->env, what);
}

uint32_t data_crc(const uint8_t *bytes, size_t n) {
    (void)bytes, (void)n;
    return 0;
}
#endif
