/* metrics: --metrics FILE, a line for each step: CSV, or JSON where the name ends in .json or .jsonl. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/commands/run/run.h"

/* Columns behind those that every run has. */
static const char *head_of(const run_session *s) {
    static const char *const heads[2][2] = {
        {"step,rate,loss,ns\n", "step,rate,loss,ns,held_out_loss,top1,top5\n"},
        {"step,rate,loss,ns,scale,skipped\n", "step,rate,loss,ns,scale,skipped,held_out_loss,top1,top5\n"}};
    return heads[s->in.scaled][s->evaluation != NULL];
}

static ebb_status fail_file(const run_session *s, const char *verb, int error) {
    return tool_fail(s->t, EBB_IO,
                     "cannot %s the metrics' file %.300s: %.100s: name a file that can be written", verb,
                     s->t->args.metrics, strerror(error));
}

static bool ends(const char *name, const char *with) {
    const size_t n = strlen(name), k = strlen(with);
    return n >= k && strcmp(name + n - k, with) == 0;
}

static bool as_json(const run_session *s) {
    return ends(s->t->args.metrics, ".json") || ends(s->t->args.metrics, ".jsonl");
}

/* The step that a line of ours is of; -1: the head; -2: no such line. */
static int64_t step_of(const run_session *s, const char *line, bool json) {
    static const char before[] = "{\"step\": ";
    int64_t step;
    char digits[24];
    if (!json && strcmp(line, head_of(s)) == 0) return -1;
    if (json && strncmp(line, before, strlen(before)) != 0) return -2;
    if (json) line += strlen(before);
    const size_t n = strspn(line, "0123456789");
    if (n == 0 || n >= sizeof digits || line[n] != ',') return -2;
    memcpy(digits, line, n);
    digits[n] = '\0';
    return ebb_parse_i64(digits, 1, INT64_MAX, &step) ? step : -2;
}

/* Of the run that is resumed: cuts off what it wrote after its save, and a line that it did not end. */
static ebb_status cut(run_session *s) {
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    off_t whole = 0;
    bool json = as_json(s), foreign = false;
    while ((n = getline(&line, &room, s->metrics)) > 0 && line[n - 1] == '\n') {
        const int64_t step = step_of(s, line, json);
        foreign = step == -2 || (step == -1) != (whole == 0 && !json);
        if (foreign || step > s->n_begin) break;
        whole += n;
    }
    free(line);
    if (ferror(s->metrics)) return fail_file(s, "read", errno);
    if (foreign)
        return tool_fail(s->t, EBB_BAD_INPUT,
                         "the metrics' file %.300s has other lines behind byte %lld: name another file",
                         s->t->args.metrics, (long long)whole);
    if (ftruncate(fileno(s->metrics), whole) != 0 || fseeko(s->metrics, whole, SEEK_SET) != 0)
        return fail_file(s, "cut", errno);
    return EBB_OK;
}

ebb_status metrics_begin(run_session *s) {
    const char *path = s->t->args.metrics;
    ebb_status status = EBB_OK;
    if (!path) return EBB_OK;
    if (s->n_begin > 0) s->metrics = fopen(path, "r+e");
    if (s->metrics)
        status = cut(s);
    else
        s->metrics = fopen(path, "we");
    if (!s->metrics) return fail_file(s, "open", errno);
    if (status == EBB_OK && !as_json(s) && ftello(s->metrics) <= 0 && fputs(head_of(s), s->metrics) < 0)
        status = fail_file(s, "write", errno);
    return status;
}

/* A number that is not finite has no word in JSON, and CSV's readers do not agree on one. */
static void put_real(FILE *to, const char *key, double value, bool known, bool json) {
    fprintf(to, json ? ", \"%s\": " : ",", key);
    if (known && isfinite(value))
        fprintf(to, "%.9g", value);
    else if (json)
        fputs("null", to);
}

ebb_status metrics_step(run_session *s, double rate, double loss, int64_t ns, const run_evaluation *e) {
    FILE *to = s->metrics;
    if (!to) return EBB_OK;
    const bool json = as_json(s);
    errno = 0;
    fprintf(to, json ? "{\"step\": %" PRId64 : "%" PRId64, s->n_begin + s->n_done);
    put_real(to, "rate", rate, true, json);
    put_real(to, "loss", loss, s->has_loss, json);
    fprintf(to, json ? ", \"ns\": %" PRId64 : ",%" PRId64, ns);
    if (s->in.scaled) {
        put_real(to, "scale", (double)s->scale, s->has_loss, json);
        put_real(to, "skipped", (double)s->n_skipped, s->has_loss, json);
    }
    if (s->evaluation && (e || !json)) { /* a table has all columns */
        put_real(to, "held_out_loss", e ? e->loss : 0, e != NULL, json);
        put_real(to, "top1", e ? e->top1 : 0, e != NULL, json);
        put_real(to, "top5", e ? e->top5 : 0, e != NULL, json);
    }
    fputs(json ? "}\n" : "\n", to);
    /* What is read while the run goes on, and what a crash leaves, are whole lines. */
    return fflush(to) == 0 && !ferror(to) ? EBB_OK : fail_file(s, "write", errno);
}

ebb_status metrics_end(run_session *s) {
    FILE *file = s->metrics;
    s->metrics = NULL;
    return !file || fclose(file) == 0 ? EBB_OK : fail_file(s, "write", errno);
}
