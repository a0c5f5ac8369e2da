/* UTF-8 decoding, for texts that must be shown or printed safely. */
#include "base/plain/plain.h"

size_t ebb_utf8_decode(const char *bytes, size_t n, uint32_t *code) {
    const unsigned char *p = (const unsigned char *)bytes;
    if (n == 0) return 0;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    size_t length = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    uint32_t value = p[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3Fu);
    }
    if (length == 3 && (value < 0x800 || (value >= 0xD800 && value <= 0xDFFF))) return 0;
    if (length == 4 && (value < 0x10000 || value > 0x10FFFF)) return 0;
    *code = value;
    return length;
}

static bool is_plain(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0x00, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},     {0x34F, 0x34F},   {0x61C, 0x61C},
        {0x115F, 0x1160},    {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E},
        {0x2060, 0x206F},    {0x3164, 0x3164}, {0xE000, 0xF8FF}, {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F},
        {0xFEFF, 0xFEFF},    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFC}, {0xFFFE, 0xFFFF}, {0x1D173, 0x1D17A},
        {0xE0000, 0x10FFFF},
    };
    for (size_t i = 0; i < EBB_COUNT(hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last) return false;
    return (code & 0xFFFE) != 0xFFFE;
}

size_t ebb_text_shown(const char *text, size_t n, uint32_t *code, bool *plain) {
    uint32_t found = 0;
    size_t length = ebb_utf8_decode(text, n, &found);
    *plain = length > 0 && is_plain(found);
    if (code) *code = found;
    return length > 0 || n == 0 ? length : 1;
}
