/* Attributes by their schema: defaults, ranges, equality. */
#include "graph/ir/ir.h"

#include <inttypes.h>
#include <math.h>

/* Integers that an attribute has room for: its count, or EBB_MAX_RANK for a list as long as given. */
static uint32_t width_of(const ebb_attr_info *info) {
    return info->count ? info->count : EBB_MAX_RANK;
}

uint32_t ebb_attr_length(const ebb_attr_info *info, const ebb_attr *a) {
    if (info->count) return info->count;
    uint32_t n = 0;
    while (n < EBB_MAX_RANK && a->i[n] != info->pad) n++;
    return n;
}

ebb_attr ebb_attr_default(const ebb_attr_info *info) {
    ebb_attr a = {.i = {0}};
    if (info->kind == EBB_ATTR_TEXT) return a;
    if (info->kind == EBB_ATTR_REAL) {
        a.f = info->fallback;
        return a;
    }
    for (uint32_t i = 0; i < width_of(info); i++)
        a.i[i] = info->count ? (int64_t)info->fallback : info->pad;
    return a;
}

ebb_attr ebb_attr_clean(const ebb_attr_info *info, const ebb_attr *a) {
    ebb_attr clean = {.i = {0}};
    if (info->kind == EBB_ATTR_REAL) {
        clean.f = a->f;
        return clean;
    }
    if (info->kind == EBB_ATTR_TEXT) {
        clean.text = a->text;
        return clean;
    }
    for (uint32_t i = 0; i < width_of(info); i++) clean.i[i] = a->i[i];
    return clean;
}

bool ebb_attr_equal(const ebb_attr_info *info, const ebb_attr *a, const ebb_attr *b) {
    if (info->kind == EBB_ATTR_TEXT)
        return a->text && b->text ? strcmp(a->text, b->text) == 0 : a->text == b->text;
    ebb_attr x = ebb_attr_clean(info, a), y = ebb_attr_clean(info, b);
    return memcmp(&x, &y, sizeof x) == 0;
}

static ebb_status real_check(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info, double f) {
    if (isfinite(f) && f >= info->min && f <= info->max) return EBB_OK;
    char value[EBB_REAL_TEXT], min[EBB_REAL_TEXT], max[EBB_REAL_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s=%s must be in [%s, %s]", op->name, info->name,
                    ebb_real_text(f, value), ebb_real_text(info->min, min), ebb_real_text(info->max, max));
}

/* Letters, digits and what bodies are written with: a text needs no escapes anywhere. */
static ebb_status text_check(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info,
                             const char *text) {
    size_t n = 0;
    if (!text) return ebb_fail(env, EBB_BAD_INPUT, "%s: %s has no text", op->name, info->name);
    for (; text[n] && n <= EBB_MAX_ATTR_TEXT; n++) {
        const char c = text[n];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) continue;
        if (strchr("_(),;=.+->", c)) continue;
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: byte %zu of %s is 0x%02x: it has letters, digits and _(),;=.+->", op->name,
                        n + 1, info->name, (unsigned)(unsigned char)c);
    }
    if (n > 0 && n <= EBB_MAX_ATTR_TEXT) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s has %s: it must have 1 to %d bytes", op->name, info->name,
                    n ? "more" : "none", EBB_MAX_ATTR_TEXT);
}

ebb_status ebb_attr_check(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info,
                          const ebb_attr *a) {
    if (info->kind == EBB_ATTR_TEXT) return text_check(env, op, info, a->text);
    if (info->kind == EBB_ATTR_REAL) return real_check(env, op, info, a->f);
    uint32_t n = ebb_attr_length(info, a);
    for (uint32_t i = 0; i < n; i++) {
        if ((double)a->i[i] >= info->min && (double)a->i[i] <= info->max) continue;
        char min[EBB_REAL_TEXT], max[EBB_REAL_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s=%" PRId64 " must be in [%s, %s]", op->name, info->name,
                        a->i[i], ebb_real_text(info->min, min), ebb_real_text(info->max, max));
    }
    for (uint32_t i = n; i < width_of(info); i++) {
        if (a->i[i] == info->pad) continue;
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s has a %" PRId64 " at position %u: %s", op->name,
                        info->name, info->pad, n,
                        info->pad ? "axes are counted from 0" : "sizes are at least 1");
    }
    return EBB_OK;
}

/* ---- by name -------------------------------------------------------------------------------- */

static ebb_status given_fill(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info,
                             const ebb_build_attribute *a, ebb_attr *out) {
    const uint32_t width = width_of(info);
    if (info->kind == EBB_ATTR_TEXT)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s is a text: only a graph's text has it", op->name,
                        info->name);
    if (info->kind == EBB_ATTR_REAL) {
        out->f = a->n == 1 ? (double)a->sizes[0] : a->real;
        if (a->n <= 1) return ebb_attr_check(env, op, info, out);
    } else if (a->n >= 1 && (a->n == 1 || info->count == 0 || a->n == info->count) && a->n <= width) {
        for (uint32_t i = 0; i < a->n; i++) out->i[i] = a->sizes[i];
        for (uint32_t i = 1; i < info->count && a->n == 1; i++) out->i[i] = a->sizes[0];
        return ebb_attr_check(env, op, info, out);
    } else if (a->n == 0 && info->count == 0) {
        return EBB_OK; /* an empty list */
    }
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s takes %s%u number%s, not %u", op->name, info->name,
                    info->count ? "" : "at most ", width, width == 1 ? "" : "s", a->n);
}

ebb_status ebb_attrs_fill(ebb_env *env, const ebb_op_info *op, const ebb_build_attribute *attributes,
                          uint32_t n, ebb_attr attr[EBB_MAX_ATTRS]) {
    uint32_t taken = 0;
    for (uint32_t k = 0; k < op->n_attrs; k++) {
        const ebb_attr_info *info = &op->attrs[k];
        const ebb_build_attribute *given = NULL;
        for (uint32_t i = 0; i < n; i++) {
            if (strcmp(attributes[i].name, info->name) == 0) given = &attributes[i], taken++;
        }
        attr[k] = ebb_attr_default(info);
        if (!given && info->required)
            return ebb_fail(env, EBB_BAD_INPUT, "%s needs %s=", op->name, info->name);
        const ebb_status status = given ? given_fill(env, op, info, given, &attr[k]) : EBB_OK;
        if (status) return status;
    }
    for (uint32_t i = 0; taken < n && i < n; i++) {
        uint32_t k = 0;
        while (k < op->n_attrs && strcmp(attributes[i].name, op->attrs[k].name) != 0) k++;
        if (k == op->n_attrs)
            return ebb_fail(env, EBB_BAD_INPUT, "%s has no attribute %.60s", op->name, attributes[i].name);
    }
    return taken == n ? EBB_OK : ebb_fail(env, EBB_BAD_INPUT, "%s: an attribute is given twice", op->name);
}
