/* diff_rule: "peak>+1%,time>+5ms": parsed and judged.
 *
 * A condition is exceeded when B's figure is above its limit; limits are exact, in integers. */
#include "report/diff/diff.h"
#include "report/words/words.h"

enum { CONDITION_BYTES = 64, MOST_TENTHS = 1000000000 };

typedef struct limit {
    bool relative, percent; /* +x: above A's figure; and of A's figure */
    int64_t figure;         /* bytes, nanoseconds or a count; of percent: digits without the point */
    int64_t tenths;         /* of percent: 10^digits after the point */
} limit;

/* Digits with at most one point: figure / tenths. *end is what follows. */
static bool parse_decimal(const char *text, limit *out, const char **end) {
    bool point = false, digit = false;
    out->figure = 0;
    out->tenths = 1;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        digit = true;
        if (!ebb_mul_i64(out->figure, 10, &out->figure) ||
            !ebb_add_i64(out->figure, *text - '0', &out->figure))
            return false;
        if (point) out->tenths *= 10;
        if (out->tenths > MOST_TENTHS) return false;
    }
    *end = text;
    return digit;
}

static bool parse_time(const char *text, limit *out) {
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    const char *unit = text;
    if (!parse_decimal(text, out, &unit)) return false;
    for (size_t i = 0; i < EBB_COUNT(units); i++) {
        __extension__ typedef __int128 wide;
        wide ns = (wide)out->figure * units[i].ns / out->tenths;
        if (strcmp(unit, units[i].name) != 0 || ns > INT64_MAX) continue;
        out->figure = (int64_t)ns;
        return true;
    }
    return false;
}

static bool parse_limit(const char *text, ebb_unit unit, limit *out) {
    *out = (limit){.relative = *text == '+'};
    if (out->relative) text++;
    size_t n = strlen(text);
    if (n > 0 && text[n - 1] == '%') {
        const char *end = text;
        out->percent = true;
        return out->relative && parse_decimal(text, out, &end) && strcmp(end, "%") == 0;
    }
    switch (unit) {
    case EBB_UNIT_BYTES:
        return ebb_parse_bytes(text, &out->figure);
    case EBB_UNIT_TIME:
        return parse_time(text, out);
    case EBB_UNIT_COUNT:
        return ebb_parse_i64(text, 0, INT64_MAX, &out->figure);
    }
    return false;
}

static bool exceeds(const ebb_diff_figure *f, const limit *l) {
    __extension__ typedef __int128 wide;
    wide more = (wide)f->b - f->a;
    if (!l->relative) return f->b > l->figure;
    if (!l->percent) return more > l->figure;
    return more * 100 * l->tenths > (wide)f->a * l->figure; /* below 2^127: 64 + 7 + 30 bits, and 63 + 63 */
}

static const ebb_diff_figure *find_figure(const ebb_diff *d, const char *name) {
    for (size_t i = 0; i < EBB_DIFF_FIGURES; i++)
        if (strcmp(d->figures[i].name, name) == 0) return &d->figures[i];
    return NULL;
}

static ebb_status judge(ebb_diff_maker *m, char *condition) {
    ebb_diff *d = m->diff;
    char *sign = strchr(condition, '>');
    limit l;
    if (!sign)
        return ebb_fail(m->env, EBB_USAGE, "rule \"%s\": write FIGURE>LIMIT, peak>+1%% for instance",
                        condition);
    *sign = '\0';
    const ebb_diff_figure *f = find_figure(d, condition);
    if (!f)
        return ebb_fail(
            m->env, EBB_USAGE,
            "rule: no figure \"%s\": total, peak, arena, persistent, time, steps, again or a category",
            condition);
    if (!parse_limit(sign + 1, f->unit, &l))
        return ebb_fail(m->env, EBB_USAGE, "rule: \"%s\" is no limit for %s: write +1%%, +%s or %s",
                        sign + 1, condition,
                        f->unit == EBB_UNIT_BYTES  ? "10MiB"
                        : f->unit == EBB_UNIT_TIME ? "5ms"
                                                   : "3",
                        f->unit == EBB_UNIT_BYTES  ? "11GiB"
                        : f->unit == EBB_UNIT_TIME ? "2s"
                                                   : "800");
    if (d->fault || !exceeds(f, &l)) return EBB_OK;
    ebb_text line;
    ebb_text_init(&line, m->env);
    ebb_text_add(&line, "%s is %s, %s: over %s>%s", f->name, ebb_word_figure(f->unit, f->b).text,
                 ebb_word_difference(f->unit, f->a, f->b).text, condition, sign + 1);
    ebb_status status = ebb_text_status(&line);
    if (status == EBB_OK) {
        d->fault = ebb_arena_text(&d->arena, line.at);
        if (!d->fault) status = EBB_NO_MEMORY;
    }
    ebb_text_deinit(&line);
    return status;
}

ebb_status ebb_diff_judge(ebb_diff_maker *m, const char *rule) {
    ebb_status status = EBB_OK;
    m->diff->rule = ebb_report_name(&m->diff->arena, rule);
    if (!m->diff->rule) return EBB_NO_MEMORY;
    for (const char *at = rule; status == EBB_OK;) {
        char condition[CONDITION_BYTES];
        size_t n = strcspn(at, ",");
        if (n >= sizeof condition)
            return ebb_fail(m->env, EBB_USAGE, "rule: a condition of %zu bytes: at most %d", n,
                            CONDITION_BYTES - 1);
        memcpy(condition, at, n);
        condition[n] = '\0';
        status = judge(m, condition);
        if (at[n] == '\0') break;
        at += n + 1;
    }
    return status;
}
