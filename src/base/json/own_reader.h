/* own_reader: what the two halves of the reader in own.c share. */
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

/* EBB_BAD_INPUT: the fault at byte `at`, the last one that was looked at. */
EBB_CHECKED ebb_status own_refuse(const own_reader *r, size_t at, const char *fault);
/* The fault near the byte that is next. */
EBB_CHECKED ebb_status own_refuse_token(const own_reader *r, const char *fault);
/* NUL after the end. */
char own_byte_at(const own_reader *r, size_t at);
/* The first byte that is no space, which is next then. */
char own_skip_space(own_reader *r);

/* From the opening quote to after the closing one. */
EBB_CHECKED ebb_status own_read_string(own_reader *r, const char **out);
EBB_CHECKED ebb_status own_read_number(own_reader *r, json_t *out);
/* null, true or false. */
EBB_CHECKED ebb_status own_read_word(own_reader *r, json_t *out);

#endif
