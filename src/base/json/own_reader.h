/* own_reader: declares what the two halves of the reader in own.c share. */
#ifndef EBB_BASE_JSON_OWN_READER_H
#define EBB_BASE_JSON_OWN_READER_H

#include "base/json/own.h"

typedef struct own_document {
    json_t root; /* first */
    ebb_arena arena;
} own_document;

typedef struct own_reader {
    ebb_env *env;
    const char *name, *text;
    size_t n, at;
    own_document *document;
    EBB_ARRAY(json_t) waiting;
} own_reader;

/* EBB_BAD_INPUT: the fault at byte `at`, the last one read. */
EBB_CHECKED ebb_status own_refuse(const own_reader *r, size_t at, const char *fault);
/* As own_refuse, for a fault near the next byte. */
EBB_CHECKED ebb_status own_refuse_token(const own_reader *r, const char *fault);
/* The byte at `at`; NUL after the end. */
char own_byte_at(const own_reader *r, size_t at);
/* Skips spaces and returns the next byte. */
char own_skip_space(own_reader *r);

/* Reads a string from its opening quote to after the closing one. */
EBB_CHECKED ebb_status own_read_string(own_reader *r, const char **out);
EBB_CHECKED ebb_status own_read_number(own_reader *r, json_t *out);
/* null, true or false. */
EBB_CHECKED ebb_status own_read_word(own_reader *r, json_t *out);

#endif
