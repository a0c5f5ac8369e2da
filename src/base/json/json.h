/* json: reads and prints JSON documents. */
#ifndef EBB_BASE_JSON_H
#define EBB_BASE_JSON_H

#include "base/env/env.h"

/* Documents are read by jansson or, where it is absent, by our own reader (depth-limited, duplicate keys
 * refused, UTF-8 checked). `where` names the place for error texts: "plan.json: steps[3]". Getters return
 * EBB_BAD_INPUT with where, the key and the fault. Values are borrowed from the document. */
typedef struct json_t ebb_json;
/* name is used in error texts. Destroy with ebb_json_free. */
EBB_CHECKED ebb_status ebb_json_parse(ebb_env *env, const char *name, const char *text, size_t n,
                                      ebb_json **out);
/* Parses a file, read as by ebb_file_read; *out is NULL on failure. EBB_IO, EBB_BAD_INPUT,
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_json_read_file(ebb_env *env, const char *path, size_t max_bytes, ebb_json **out);
void ebb_json_free(ebb_json *json);

/* `present` is NULL for a required member; for an optional one it reports whether it is there, and when
 * absent *out is untouched, so set the default first. JSON null counts as absent. */
EBB_CHECKED ebb_status ebb_json_i64(ebb_env *env, const ebb_json *object, const char *where,
                                    const char *key, int64_t min, int64_t max, bool *present, int64_t *out);
/* As ebb_json_put_u64 prints it; required. */
EBB_CHECKED ebb_status ebb_json_u64(ebb_env *env, const ebb_json *object, const char *where,
                                    const char *key, uint64_t *out);
EBB_CHECKED ebb_status ebb_json_bool(ebb_env *env, const ebb_json *object, const char *where,
                                     const char *key, bool *present, bool *out);
EBB_CHECKED ebb_status ebb_json_text(ebb_env *env, const ebb_json *object, const char *where,
                                     const char *key, bool *present, const char **out);
EBB_CHECKED ebb_status ebb_json_array(ebb_env *env, const ebb_json *object, const char *where,
                                      const char *key, bool *present, const ebb_json **out, size_t *n);
EBB_CHECKED ebb_status ebb_json_object(ebb_env *env, const ebb_json *object, const char *where,
                                       const char *key, bool *present, const ebb_json **out);
/* The first key of an object that is none of these n, or NULL: for files written by people, where an
 * unknown key is a misspelt one. Borrowed. */
const char *ebb_json_unknown_key(const ebb_json *object, const char *const *known, size_t n);
/* Calls each with every key of an object, in no particular order, until it fails; returns its last status.
 * Keys are borrowed. */
EBB_CHECKED ebb_status ebb_json_each_key(const ebb_json *object,
                                         ebb_status (*each)(void *ctx, const char *key), void *ctx);
/* Element i of an array; the getter that reads it checks its type. */
const ebb_json *ebb_json_at(const ebb_json *array, size_t i);
/* An element that must be an integer in [min, max]. */
EBB_CHECKED ebb_status ebb_json_at_i64(ebb_env *env, const ebb_json *array, const char *where, size_t i,
                                       int64_t min, int64_t max, int64_t *out);

/* A printer that places the commas. Strings are escaped; invalid UTF-8 becomes U+FFFD. */
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
/* From 2^63 on a text of its digits: few readers' integers are larger. */
void ebb_json_put_u64(ebb_json_out *out, const char *key, uint64_t value);
void ebb_json_put_bool(ebb_json_out *out, const char *key, bool value);
void ebb_json_put_text(ebb_json_out *out, const char *key, const char *value); /* NULL prints null */
void ebb_json_put_null(ebb_json_out *out, const char *key);

#endif
