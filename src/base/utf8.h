/* UTF-8, one code point at a time; private to base. */
#ifndef EBB_SRC_BASE_UTF8_H
#define EBB_SRC_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the well-formed sequence (Unicode 15, table 3-7: no overlong forms, no surrogates, nothing
 * above U+10FFFF) at the start of n bytes, its code point in *code; 0 when there is none. */
size_t ebb_utf8_decode(const char *bytes, size_t n, uint32_t *code);

#endif
