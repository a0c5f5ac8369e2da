/* Attributes by their schema: defaults, ranges, equality. */
#include "graph/ir/ir.h"

#include <inttypes.h>
#include <math.h>

uint32_t ebb_attr_width(const ebb_attr_info *info) {
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
    if (info->kind == EBB_ATTR_REAL) {
        a.f = info->fallback;
        return a;
    }
    for (uint32_t i = 0; i < ebb_attr_width(info); i++)
        a.i[i] = info->count ? (int64_t)info->fallback : info->pad;
    return a;
}

ebb_attr ebb_attr_clean(const ebb_attr_info *info, const ebb_attr *a) {
    ebb_attr clean = {.i = {0}};
    if (info->kind == EBB_ATTR_REAL) {
        clean.f = a->f;
        return clean;
    }
    for (uint32_t i = 0; i < ebb_attr_width(info); i++) clean.i[i] = a->i[i];
    return clean;
}

bool ebb_attr_equal(const ebb_attr_info *info, const ebb_attr *a, const ebb_attr *b) {
    ebb_attr x = ebb_attr_clean(info, a), y = ebb_attr_clean(info, b);
    return memcmp(&x, &y, sizeof x) == 0;
}

static ebb_status real_check(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info, double f) {
    if (isfinite(f) && f >= info->min && f <= info->max) return EBB_OK;
    char value[EBB_REAL_TEXT], min[EBB_REAL_TEXT], max[EBB_REAL_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s=%s must be in [%s, %s]", op->name, info->name,
                    ebb_real_text(f, value), ebb_real_text(info->min, min), ebb_real_text(info->max, max));
}

ebb_status ebb_attr_check(ebb_env *env, const ebb_op_info *op, const ebb_attr_info *info,
                          const ebb_attr *a) {
    if (info->kind == EBB_ATTR_REAL) return real_check(env, op, info, a->f);
    uint32_t n = ebb_attr_length(info, a);
    for (uint32_t i = 0; i < n; i++) {
        if ((double)a->i[i] >= info->min && (double)a->i[i] <= info->max) continue;
        char min[EBB_REAL_TEXT], max[EBB_REAL_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s=%" PRId64 " must be in [%s, %s]", op->name, info->name,
                        a->i[i], ebb_real_text(info->min, min), ebb_real_text(info->max, max));
    }
    for (uint32_t i = n; i < ebb_attr_width(info); i++) {
        if (a->i[i] == info->pad) continue;
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %s has a %" PRId64 " at position %u: %s", op->name,
                        info->name, info->pad, n,
                        info->pad ? "axes are counted from 0" : "sizes are at least 1");
    }
    return EBB_OK;
}
