/* plain: provides small arithmetic, bits, random numbers, hashes and words, without memory or an
 * environment.
 */
#ifndef EBB_BASE_PLAIN_H
#define EBB_BASE_PLAIN_H

#include <string.h>

#include "base/philox.h"
#include "ebb/base.h"

/* ---- ids and small arithmetic ---- */

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

/* ---- bitset: n bits in 64-bit words, in the caller's storage ---- */

static inline size_t ebb_bits_words(size_t n) {
    return (n + 63) / 64;
}
static inline bool ebb_bits_get(const uint64_t *w, size_t i) {
    return (w[i / 64] >> (i % 64)) & 1;
}
static inline void ebb_bits_set(uint64_t *w, size_t i) {
    w[i / 64] |= UINT64_C(1) << (i % 64);
}

/* ---- words ---- */

/* The length of the well-formed UTF-8 sequence (Unicode 15, table 3-7: no overlong forms, no surrogates,
 * nothing above U+10FFFF) at the start of n bytes, its code point in *code; 0 when there is none. */
size_t ebb_utf8_decode(const char *bytes, size_t n, uint32_t *code);
/* glob with * and ? only, iterative. */
bool ebb_glob(const char *pattern, const char *text);
/* Converts a to z to A to Z, in place and in every locale (toupper and strcasecmp fail for i and I in
 * Turkish ones).
 */
void ebb_word_to_upper(char *word);
/* Whether two words are equal, ignoring the case of A to Z. */
bool ebb_word_equal(const char *a, const char *b);

/* ---- random numbers: counter-based, the same on every machine ---- */

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

/* ---- hash: a 128-bit FNV-1a hash, for naming only: not collision-resistant ---- */

typedef struct ebb_hash {
    uint64_t high, low;
} ebb_hash;
void ebb_hash_init(ebb_hash *hash);
/* Adding a and then b gives the same as adding their concatenation. */
void ebb_hash_add(ebb_hash *hash, const void *bytes, size_t n);
/* 32 hexadecimal digits into text. */
#define EBB_HASH_TEXT 33
const char *ebb_hash_text(const ebb_hash *hash, char text[EBB_HASH_TEXT]);

#endif
