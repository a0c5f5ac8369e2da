/* base: the ground floor. What every other room stands on, and nothing about graphs or plans.
 *
 * It is: the environment (memory, errors, log, clock), arenas, growable arrays, bitsets, text,
 * counter-based random numbers, hashes, JSON reading and printing, whole-file reading and writing, and a
 * worker pool. It is not a place for anything that knows a tensor.
 *
 * Sizes: every product or sum of sizes that come from outside goes through the checked helpers.
 * Threads: as ebb/base.h says; only ebb_parallel_for starts threads.
 */
#ifndef EBB_SRC_BASE_H
#define EBB_SRC_BASE_H

#include <stdarg.h>
#include <string.h>

#include "base/philox.h"
#include "ebb/base.h"

/* ---- ids and small arithmetic ------------------------------------------------------------ */

typedef uint32_t ebb_id;        /* an index into the owner's table */
#define EBB_NONE     UINT32_MAX /* "no such": never a valid id */
#define EBB_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* false when the result does not fit; *out is then untouched. Operands are >= 0. */
bool ebb_mul_i64(int64_t a, int64_t b, int64_t *out);
bool ebb_add_i64(int64_t a, int64_t b, int64_t *out);
/* x rounded up to a multiple of alignment (a power of two, >= 1). x <= INT64_MAX - alignment. */
static inline int64_t ebb_align_up(int64_t x, int64_t alignment) {
    return (x + alignment - 1) & ~(alignment - 1);
}
static inline int64_t ebb_max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static inline int64_t ebb_min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- env: memory, errors, log ------------------------------------------------------------- */

/* Sets the error text (printf style, cut at 1023 bytes; control bytes are shown as \xNN so that
 * a hostile name cannot reach a terminal) and returns status, so that `return ebb_fail(...)`
 * reads as one sentence. */
EBB_PRINTF(3, 4) ebb_status ebb_fail(ebb_env *env, ebb_status status, const char *format, ...);
/* While held, ebb_fail leaves the text alone: for putting away what an error has broken, which may fail,
 * too. Not while workers run. */
void ebb_env_hold_error(ebb_env *env, bool held);
EBB_PRINTF(3, 4) void ebb_log(ebb_env *env, ebb_log_level level, const char *format, ...);
uint64_t ebb_clock_ns(const ebb_env *env);
bool ebb_stop_asked(const ebb_env *env);
/* While held, no stop is asked: for what must still be done with an answer, and ends soon by itself. Not
 * while workers run. */
void ebb_env_hold_stop(ebb_env *env, bool held);

/* Uninitialised memory; NULL sets the error text (EBB_NO_MEMORY, with the bytes). bytes 0 gives a
 * unique non-NULL pointer. Free with the same bytes and alignment. */
void *ebb_alloc_aligned(ebb_env *env, size_t bytes, size_t alignment);
void ebb_free_aligned(ebb_env *env, void *ptr, size_t bytes, size_t alignment);
/* Blocks of tensors are told from other memory by this alignment, that of a large page. */
#define EBB_BLOCK_ALIGNMENT ((size_t)2 * 1024 * 1024)
/* n elements of size bytes, zeroed; the product is checked. Alignment 16. Free with the same. */
void *ebb_calloc(ebb_env *env, size_t n, size_t size);
void ebb_cfree(ebb_env *env, void *ptr, size_t n, size_t size);

/* ---- arena: many small allocations, freed together ---------------------------------------- */

typedef struct ebb_arena_chunk ebb_arena_chunk;
typedef struct ebb_arena {
    ebb_env *env;
    ebb_arena_chunk *chunks; /* newest first */
} ebb_arena;

void ebb_arena_init(ebb_arena *arena, ebb_env *env);
void ebb_arena_deinit(ebb_arena *arena); /* frees everything; safe on a zeroed struct */
/* n elements of size bytes, zeroed, aligned to 16. NULL (error set) when memory is out or n * size
 * overflows. n == 0 gives a valid pointer. */
void *ebb_arena_alloc(ebb_arena *arena, size_t n, size_t size);
#define EBB_NEW(arena, type, n) ((type *)ebb_arena_alloc((arena), (size_t)(n), sizeof(type)))
/* Copies; NULL when memory is out. */
char *ebb_arena_text(ebb_arena *arena, const char *text);
void *ebb_arena_copy(ebb_arena *arena, const void *from, size_t n, size_t size);

/* ---- growable arrays ----------------------------------------------------------------------- */

/* EBB_ARRAY(int64_t) xs = {0};  ...  if (!EBB_PUSH(env, &xs, 7)) return EBB_NO_MEMORY;
 * ... EBB_ARRAY_FREE(env, &xs); */
#define EBB_ARRAY(type) \
    struct {            \
        type *at;       \
        size_t n, cap;  \
    }
/* Room for at least n elements; false (error set) when memory is out. */
bool ebb_array_reserve(ebb_env *env, void **at, size_t *cap, size_t n, size_t size);
#define EBB_RESERVE(env, a, count) \
    ebb_array_reserve((env), (void **)&(a)->at, &(a)->cap, (count), sizeof(*(a)->at))
#define EBB_PUSH(env, a, value) (EBB_RESERVE(env, a, (a)->n + 1) && ((a)->at[(a)->n++] = (value), true))
#define EBB_ARRAY_FREE(env, a) \
    (ebb_cfree((env), (a)->at, (a)->cap, sizeof(*(a)->at)), (a)->at = NULL, (a)->n = (a)->cap = 0)

/* ---- bitset: n bits in 64-bit words, in the caller's storage -------------------------------- */

static inline size_t ebb_bits_words(size_t n) {
    return (n + 63) / 64;
}
static inline bool ebb_bits_get(const uint64_t *w, size_t i) {
    return (w[i / 64] >> (i % 64)) & 1;
}
static inline void ebb_bits_set(uint64_t *w, size_t i) {
    w[i / 64] |= UINT64_C(1) << (i % 64);
}

/* ---- text: a growing string whose first failure latches -------------------------------------- */

typedef struct ebb_text {
    ebb_env *env;
    char *at; /* NUL-terminated once anything was added; NULL before */
    size_t n, cap;
    bool failed; /* memory ran out: later calls do nothing */
} ebb_text;

void ebb_text_init(ebb_text *text, ebb_env *env);
void ebb_text_deinit(ebb_text *text);
EBB_PRINTF(2, 3) void ebb_text_add(ebb_text *text, const char *format, ...);
void ebb_text_put(ebb_text *text, const char *bytes, size_t n);
/* EBB_NO_MEMORY when an addition failed. */
EBB_CHECKED ebb_status ebb_text_status(const ebb_text *text);

/* "11GiB", "500 MB", "1073741824": integer or decimal times {B, kB, KB, KiB, MB, MiB, GB, GiB, TB,
 * TiB}; MB = 10^6, MiB = 2^20; part of a byte is cut off. false on anything else (a decimal number of
 * plain bytes too), on < 0 and on > INT64_MAX. */
bool ebb_parse_bytes(const char *text, int64_t *out);
/* A whole decimal integer within [min, max]; false otherwise. */
bool ebb_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out);
/* The bytes of the well-formed UTF-8 sequence (Unicode 15, table 3-7: no overlong forms, no surrogates,
 * nothing above U+10FFFF) at the start of n bytes, its code point in *code; 0 when there is none. */
size_t ebb_utf8_decode(const char *bytes, size_t n, uint32_t *code);
/* glob with * and ? only, iterative. */
bool ebb_glob(const char *pattern, const char *text);

/* ---- random numbers: counter-based, the same on every machine -------------------------------- */

/* A stream for the search: stream i of a seed is independent of stream j. */
typedef struct ebb_rng {
    uint64_t key, stream, at;
    ebb_u32x4 block;
    uint32_t left;
} ebb_rng;
void ebb_rng_init(ebb_rng *rng, uint64_t seed, uint64_t stream);
uint32_t ebb_rng_u32(ebb_rng *rng);
/* Uniform in [0, n), n >= 1, without bias. */
uint32_t ebb_rng_below(ebb_rng *rng, uint32_t n);
/* Uniform in [0, 1). */
double ebb_rng_unit(ebb_rng *rng);

/* ---- files ------------------------------------------------------------------------------------ */

/* The whole file as bytes with a NUL after them. path "-" reads standard input. EBB_IO when it
 * cannot be read, EBB_BAD_INPUT above max_bytes. Free with ebb_file_free. */
EBB_CHECKED ebb_status ebb_file_read(ebb_env *env, const char *path, size_t max_bytes, char **out,
                                     size_t *n);
void ebb_file_free(ebb_env *env, char *bytes, size_t n);
/* Written to a temporary file beside path, synced, then renamed: path holds the old content or
 * the whole new content, never a half. path "-" writes standard output. EBB_IO on failure. */
EBB_CHECKED ebb_status ebb_file_write(ebb_env *env, const char *path, const char *bytes, size_t n);

/* The folder is there afterwards; those above it are not made. EBB_IO. */
EBB_CHECKED ebb_status ebb_folder_make(ebb_env *env, const char *path);
/* EBB_IO when no file can be made in it. */
EBB_CHECKED ebb_status ebb_folder_check_writable(ebb_env *env, const char *path);
/* Whether there is a regular file. EBB_IO: something else of that name, or no telling. */
EBB_CHECKED ebb_status ebb_file_find(ebb_env *env, const char *path, bool *found);

/* ---- hash: 128 bits to name things by; who wants two things of one name can make them ----------- */

typedef struct ebb_hash {
    uint64_t high, low;
} ebb_hash;
void ebb_hash_init(ebb_hash *hash);
/* Adding a and then b is adding the bytes of both in a row. */
void ebb_hash_add(ebb_hash *hash, const void *bytes, size_t n);
/* 32 hexadecimal digits into text. */
#define EBB_HASH_TEXT 33
const char *ebb_hash_text(const ebb_hash *hash, char text[EBB_HASH_TEXT]);

/* ---- JSON --------------------------------------------------------------------------------------- */

/* Reading goes through jansson, or an own reader where it is absent (depth-limited, duplicate keys refused,
 * UTF-8 checked). `where` names the place for error texts: "plan.json: steps[3]". Getters return
 * EBB_BAD_INPUT with where, the key and the fault. Values are borrowed from the document. */
typedef struct json_t ebb_json;
/* name is used in error texts. Destroy with ebb_json_free. */
EBB_CHECKED ebb_status ebb_json_parse(ebb_env *env, const char *name, const char *text, size_t n,
                                      ebb_json **out);
/* Of a file, as ebb_file_read takes it; *out is NULL on failure. EBB_IO, EBB_BAD_INPUT, EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_json_read_file(ebb_env *env, const char *path, size_t max_bytes, ebb_json **out);
void ebb_json_free(ebb_json *json);

/* Optional members: `present` (may be NULL when the member is required) tells; when absent, *out is
 * untouched, so set the default first. JSON null counts as absent. */
EBB_CHECKED ebb_status ebb_json_i64(ebb_env *env, const ebb_json *object, const char *where,
                                    const char *key, int64_t min, int64_t max, bool *present, int64_t *out);
EBB_CHECKED ebb_status ebb_json_bool(ebb_env *env, const ebb_json *object, const char *where,
                                     const char *key, bool *present, bool *out);
EBB_CHECKED ebb_status ebb_json_text(ebb_env *env, const ebb_json *object, const char *where,
                                     const char *key, bool *present, const char **out);
EBB_CHECKED ebb_status ebb_json_array(ebb_env *env, const ebb_json *object, const char *where,
                                      const char *key, bool *present, const ebb_json **out, size_t *n);
EBB_CHECKED ebb_status ebb_json_object(ebb_env *env, const ebb_json *object, const char *where,
                                       const char *key, bool *present, const ebb_json **out);
/* The first key of an object that is none of these n, or NULL: for what people write, where a key that is
 * passed over would be a misspelt one. Borrowed. */
const char *ebb_json_unknown_key(const ebb_json *object, const char *const *known, size_t n);
/* Element i of an array; its type is checked by what reads it. */
const ebb_json *ebb_json_at(const ebb_json *array, size_t i);
/* An element that must be an integer in [min, max]. */
EBB_CHECKED ebb_status ebb_json_at_i64(ebb_env *env, const ebb_json *array, const char *where, size_t i,
                                       int64_t min, int64_t max, int64_t *out);

/* Printing: a text with commas kept right. Strings are escaped; invalid UTF-8 becomes U+FFFD. */
typedef struct ebb_json_out {
    ebb_text *text;
    uint32_t depth;
    uint64_t wide; /* bit d: one element a line at depth d; from 64 on never */
} ebb_json_out;
void ebb_json_out_init(ebb_json_out *out, ebb_text *text);
/* key is NULL inside an array and at the top. wide: each member or element on a line of its own. */
void ebb_json_begin(ebb_json_out *out, const char *key, char bracket /* '{' or '[' */, bool wide);
void ebb_json_end(ebb_json_out *out, char bracket /* '}' or ']' */);
void ebb_json_put_i64(ebb_json_out *out, const char *key, int64_t value);
void ebb_json_put_bool(ebb_json_out *out, const char *key, bool value);
void ebb_json_put_text(ebb_json_out *out, const char *key, const char *value); /* NULL prints null */
void ebb_json_put_null(ebb_json_out *out, const char *key);

/* ---- workers -------------------------------------------------------------------------------------- */

/* Calls task(ctx, i, worker) for i in [0, n), by at most n_workers threads (the caller is worker 0).
 * Which worker takes which i is not fixed: results must not depend on it. Returns when all are done.
 * EBB_NO_MEMORY when a thread cannot be started (then the others still do all the work: the status
 * is EBB_OK; it fails only when nothing could run). task must not touch an env that is shared. */
EBB_CHECKED ebb_status ebb_parallel_for(ebb_env *env, uint32_t n_workers, uint32_t n,
                                        void (*task)(void *ctx, uint32_t i, uint32_t worker), void *ctx);
/* Processors that this process may run on, >= 1. */
uint32_t ebb_cpu_count(void);

/* The processor's name, family, model and widest vectors: what times measured here depend on beside the
 * number of threads. Never empty. */
#define EBB_MACHINE_TEXT 128
void ebb_machine_text(char text[EBB_MACHINE_TEXT]);

#endif
