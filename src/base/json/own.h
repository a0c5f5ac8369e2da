/* base/json/own.h: JSON values where jansson is absent, with the part of jansson's interface that read.c
 * uses. Private to base. A document owns all of its values; members keep their order and are found by a
 * sorted index. */
#ifndef EBB_BASE_JSON_OWN_H
#define EBB_BASE_JSON_OWN_H

#include "base/json/json.h"

typedef enum json_own_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER,
    JSON_REAL,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_own_type;

typedef struct json_t json_t;
struct json_t {
    json_own_type type;
    const char *key; /* of a member, else NULL */
    int64_t integer;
    const char *text;
    json_t *at; /* elements, members */
    size_t n;
    const json_t **sorted; /* members by key */
};

/* The document's root is its first value: an array or object. EBB_BAD_INPUT with "name: line, column:
 * fault". */
EBB_CHECKED ebb_status ebb_json_own_parse(ebb_env *env, const char *name, const char *text, size_t n,
                                          json_t **out);
void ebb_json_own_free(json_t *root); /* NULL is allowed */
const json_t *ebb_json_own_member(const json_t *object, const char *key);

typedef int64_t json_int_t;
static inline bool json_is_object(const json_t *v) {
    return v && v->type == JSON_OBJECT;
}
static inline bool json_is_array(const json_t *v) {
    return v && v->type == JSON_ARRAY;
}
static inline bool json_is_string(const json_t *v) {
    return v && v->type == JSON_STRING;
}
static inline bool json_is_integer(const json_t *v) {
    return v && v->type == JSON_INTEGER;
}
static inline bool json_is_true(const json_t *v) {
    return v && v->type == JSON_TRUE;
}
static inline bool json_is_boolean(const json_t *v) {
    return v && (v->type == JSON_TRUE || v->type == JSON_FALSE);
}
static inline bool json_is_null(const json_t *v) {
    return v && v->type == JSON_NULL;
}
static inline json_own_type json_typeof(const json_t *v) {
    return v->type;
}
static inline json_int_t json_integer_value(const json_t *v) {
    return v->integer;
}
static inline const char *json_string_value(const json_t *v) {
    return v->text;
}
static inline size_t json_array_size(const json_t *v) {
    return v->n;
}
static inline const json_t *json_array_get(const json_t *v, size_t i) {
    return json_is_array(v) && i < v->n ? &v->at[i] : NULL;
}
static inline const json_t *json_object_get(const json_t *object, const char *key) {
    return ebb_json_own_member(object, key);
}

#endif
