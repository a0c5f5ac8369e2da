/* Hashes. */
#include "support.h"

/* Of the empty text, "a" and "foobar" the answers are published for 128 bits (RFC 9923); the others were
 * computed from the definition with Python's integers. */
Test(hash, gives_the_answers_of_its_definition) {
    static const struct {
        const char *text, *answer;
    } rows[] = {{"", "6c62272e07bb014262b821756295c58d"},
                {"a", "d228cb696f1a8caf78912b704e4a8964"},
                {"ab", "08809544bbab1be95aa0733055b69a62"},
                {"abc", "a68d622cec8b5822836dbc7977af7f3b"},
                {"foobar", "343e1662793c64bf6f0d3597ba446f18"}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        char text[EBB_HASH_TEXT];
        ebb_hash hash;
        ebb_hash_init(&hash);
        ebb_hash_add(&hash, rows[i].text, strlen(rows[i].text));
        cr_expect_str_eq(ebb_hash_text(&hash, text), rows[i].answer, "\"%s\"", rows[i].text);
    }
}

Test(hash, of_parts_is_that_of_the_whole) {
    unsigned char bytes[99];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(255 - 7 * i);
    ebb_hash whole;
    ebb_hash_init(&whole);
    ebb_hash_add(&whole, bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; cut += 33) {
        ebb_hash parts;
        ebb_hash_init(&parts);
        ebb_hash_add(&parts, bytes, cut);
        ebb_hash_add(&parts, bytes + cut, sizeof bytes - cut);
        cr_expect(parts.high == whole.high && parts.low == whole.low, "cut at %zu", cut);
    }
}
