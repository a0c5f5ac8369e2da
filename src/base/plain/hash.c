/* FNV-1a with 128 bits (L. Noll, K. Vo, D. Eastlake, T. Hansen, "The FNV Non-Cryptographic Hash
 * Algorithm", RFC 9923): for each byte, xor, then times 2^88 + 0x13B. */
#include "base/plain/plain.h"

void ebb_hash_init(ebb_hash *hash) {
    *hash = (ebb_hash){UINT64_C(0x6C62272E07BB0142), UINT64_C(0x62B821756295C58D)};
}

void ebb_hash_add(ebb_hash *hash, const void *bytes, size_t n) {
    __extension__ typedef unsigned __int128 wide;
    const wide prime = (wide)1 << 88 | 0x13B;
    wide h = (wide)hash->high << 64 | hash->low;
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * prime;
    *hash = (ebb_hash){(uint64_t)(h >> 64), (uint64_t)h};
}

const char *ebb_hash_text(const ebb_hash *hash, char text[EBB_HASH_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        uint64_t half = i < 16 ? hash->high : hash->low;
        text[i] = digits[half >> (60 - i % 16 * 4) & 15];
    }
    text[32] = '\0';
    return text;
}
