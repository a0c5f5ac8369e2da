/* Reading JSON: jansson parses, or, where it is absent, own.c; what is asked of the values is checked
 * here. */
#include "base/json/json.h"
#include "base/os/os.h"

#include <errno.h>
#include <stdlib.h>

#include "ebb_build.h"

#if EBB_HAVE_JANSSON && !defined EBB_JSON_OWN /* defined by a test */
#include <jansson.h>
#else
#include "base/json/own.h"
#endif

#if EBB_HAVE_JANSSON && !defined EBB_JSON_OWN

ebb_status ebb_json_parse(ebb_env *env, const char *name, const char *text, size_t n, ebb_json **out) {
    *out = NULL;
    json_error_t error = {.line = 0}; /* jansson leaves a part of it as it was */
    json_t *json = json_loadb(!text ? "" : text, n, JSON_REJECT_DUPLICATES, &error);
    if (json) {
        *out = json;
        return EBB_OK;
    }
    int line = error.line > 0 ? error.line : 1, column = error.column > 0 ? error.column : 1;
    switch (json_error_code(&error)) {
    case json_error_out_of_memory:
    case json_error_unknown: /* what it says of its very first allocation */
        return ebb_fail(env, EBB_NO_MEMORY, "%s: out of memory at line %d, column %d of the JSON", name,
                        line, column);
    case json_error_numeric_overflow:
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: line %d, column %d: a number is beyond 64 bits (%s): give one that fits", name,
                        line, column, error.text);
    case json_error_stack_overflow:
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: line %d, column %d: nested deeper than %d: make it flatter", name, line,
                        column, JSON_PARSER_MAX_DEPTH);
    default:
        return ebb_fail(env, EBB_BAD_INPUT, "%s: line %d, column %d: %s: correct the JSON there", name,
                        line, column, error.text);
    }
}

void ebb_json_free(ebb_json *json) {
    json_decref(json);
}

const char *ebb_json_unknown_key(const ebb_json *object, const char *const *known, size_t n) {
    /* The iterator only reads, but jansson's takes no const object. */
    json_t *members = (json_t *)(uintptr_t)object;
    for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at)) {
        size_t i = 0;
        while (i < n && strcmp(known[i], json_object_iter_key(at)) != 0) i++;
        if (i == n) return json_object_iter_key(at);
    }
    return NULL;
}

ebb_status ebb_json_each_key(const ebb_json *object, ebb_status (*each)(void *ctx, const char *key),
                             void *ctx) {
    json_t *members = (json_t *)(uintptr_t)object; /* only read, as above */
    ebb_status status = EBB_OK;
    for (void *at = json_object_iter(members); at && status == EBB_OK;
         at = json_object_iter_next(members, at))
        status = each(ctx, json_object_iter_key(at));
    return status;
}

#else

ebb_status ebb_json_parse(ebb_env *env, const char *name, const char *text, size_t n, ebb_json **out) {
    return ebb_json_own_parse(env, name, !text ? "" : text, n, out);
}

void ebb_json_free(ebb_json *json) {
    ebb_json_own_free(json);
}

const char *ebb_json_unknown_key(const ebb_json *object, const char *const *known, size_t n) {
    for (size_t k = 0; json_is_object(object) && k < object->n; k++) {
        size_t i = 0;
        while (i < n && strcmp(known[i], object->at[k].key) != 0) i++;
        if (i == n) return object->at[k].key;
    }
    return NULL;
}

ebb_status ebb_json_each_key(const ebb_json *object, ebb_status (*each)(void *ctx, const char *key),
                             void *ctx) {
    ebb_status status = EBB_OK;
    for (size_t k = 0; json_is_object(object) && k < object->n && status == EBB_OK; k++)
        status = each(ctx, object->at[k].key);
    return status;
}

#endif

ebb_status ebb_json_read_file(ebb_env *env, const char *path, size_t max_bytes, ebb_json **out) {
    char *text;
    size_t n;
    *out = NULL;
    ebb_status status = ebb_file_read(env, path, max_bytes, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_json_parse(env, path, text, n, out);
    ebb_file_free(env, text, n);
    return status;
}

static const char *kind(const json_t *value) {
    if (!value) return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction or exponent";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "an unknown kind";
}

/* Member key in *out, NULL when it is absent (then it was optional). */
static ebb_status find(ebb_env *env, const json_t *object, const char *where, const char *key,
                       bool *present, const json_t **out) {
    if (!json_is_object(object)) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s where an object with \"%s\" must be", where,
                        kind(object), key);
    }
    const json_t *value = json_object_get(object, key);
    if (json_is_null(value)) value = NULL;
    if (!value && !present)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: \"%s\" is missing: add it", where, key);
    *out = value;
    return EBB_OK;
}

static ebb_status wrong_kind(ebb_env *env, const char *where, const char *key, const json_t *value,
                             const char *wanted) {
    return ebb_fail(env, EBB_BAD_INPUT, "%s: \"%s\" is %s and must be %s", where, key, kind(value), wanted);
}

ebb_status ebb_json_i64(ebb_env *env, const ebb_json *object, const char *where, const char *key,
                        int64_t min, int64_t max, bool *present, int64_t *out) {
    const json_t *value = NULL;
    ebb_status status = find(env, object, where, key, present, &value);
    if (status != EBB_OK) return status;
    if (value) {
        if (!json_is_integer(value)) return wrong_kind(env, where, key, value, "an integer");
        json_int_t number = json_integer_value(value);
        if (number < min || number > max) {
            return ebb_fail(env, EBB_BAD_INPUT, "%s: \"%s\" is %lld and must be %lld to %lld", where, key,
                            (long long)number, (long long)min, (long long)max);
        }
        *out = (int64_t)number;
    }
    if (present) *present = value;
    return EBB_OK;
}

ebb_status ebb_json_u64(ebb_env *env, const ebb_json *object, const char *where, const char *key,
                        uint64_t *out) {
    const json_t *value = NULL;
    ebb_status status = find(env, object, where, key, NULL, &value);
    if (status != EBB_OK) return status;
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        return EBB_OK;
    }
    const char *digits = json_is_string(value) ? json_string_value(value) : "";
    if (digits[0] >= '0' && digits[0] <= '9') {
        char *end;
        errno = 0;
        *out = strtoull(digits, &end, 10);
        if (errno == 0 && *end == '\0') return EBB_OK;
    }
    return wrong_kind(env, where, key, value, "an integer from 0, or a text of its digits, below 2^64");
}

ebb_status ebb_json_bool(ebb_env *env, const ebb_json *object, const char *where, const char *key,
                         bool *present, bool *out) {
    const json_t *value = NULL;
    ebb_status status = find(env, object, where, key, present, &value);
    if (status != EBB_OK) return status;
    if (value) {
        if (!json_is_boolean(value)) return wrong_kind(env, where, key, value, "true or false");
        *out = json_is_true(value);
    }
    if (present) *present = value;
    return EBB_OK;
}

ebb_status ebb_json_text(ebb_env *env, const ebb_json *object, const char *where, const char *key,
                         bool *present, const char **out) {
    const json_t *value = NULL;
    ebb_status status = find(env, object, where, key, present, &value);
    if (status != EBB_OK) return status;
    if (value) {
        if (!json_is_string(value)) return wrong_kind(env, where, key, value, "a text");
        *out = json_string_value(value);
    }
    if (present) *present = value;
    return EBB_OK;
}

ebb_status ebb_json_array(ebb_env *env, const ebb_json *object, const char *where, const char *key,
                          bool *present, const ebb_json **out, size_t *n) {
    const json_t *value = NULL;
    ebb_status status = find(env, object, where, key, present, &value);
    if (status != EBB_OK) return status;
    if (value) {
        if (!json_is_array(value)) return wrong_kind(env, where, key, value, "an array");
        *out = value;
        *n = json_array_size(value);
    }
    if (present) *present = value;
    return EBB_OK;
}

ebb_status ebb_json_object(ebb_env *env, const ebb_json *object, const char *where, const char *key,
                           bool *present, const ebb_json **out) {
    const json_t *value = NULL;
    ebb_status status = find(env, object, where, key, present, &value);
    if (status != EBB_OK) return status;
    if (value) {
        if (!json_is_object(value)) return wrong_kind(env, where, key, value, "an object");
        *out = value;
    }
    if (present) *present = value;
    return EBB_OK;
}

const ebb_json *ebb_json_at(const ebb_json *array, size_t i) {
    return json_array_get(array, i);
}

ebb_status ebb_json_at_i64(ebb_env *env, const ebb_json *array, const char *where, size_t i, int64_t min,
                           int64_t max, int64_t *out) {
    const json_t *value = json_array_get(array, i);
    if (!json_is_integer(value))
        return ebb_fail(env, EBB_BAD_INPUT, "%s[%zu] is %s and must be an integer", where, i, kind(value));
    json_int_t number = json_integer_value(value);
    if (number < min || number > max) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s[%zu] is %lld and must be %lld to %lld", where, i,
                        (long long)number, (long long)min, (long long)max);
    }
    *out = (int64_t)number;
    return EBB_OK;
}
