/* progress: how far a search is, on standard error: a bar on a terminal, otherwise a line now and then;
 * JSON for programs where it is asked for. A command may search more than once; rate and time left are of
 * the search that runs. */
#include "tool/out/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MS             INT64_C(1000000)
/* Between two words of it. */
#define BAR_PERIOD_NS  (100 * MS)
#define LINE_PERIOD_NS (10000 * MS)
#define JSON_PERIOD_NS (500 * MS)
/* A rate over less than this says nothing. */
#define LEAST_TIME_NS  (100 * MS)

/* Candidates a second, or -1: not known yet. */
static double rate(const tool_progress *p, int64_t now_ns) {
    int64_t ns = now_ns - p->search_ns;
    return ns >= LEAST_TIME_NS && p->done > 0 ? (double)p->done * 1e9 / (double)ns : -1;
}

/* Of the search that runs, or -1: its beginning says nothing of its rate. */
static double left_s(const tool_progress *p, double per_s) {
    return per_s > 0 && p->done >= p->total / 100 ? (double)(p->total - p->done) / per_s : -1;
}

static out_word per_second(double per_s) {
    out_word word = {""};
    if (per_s >= 1e6)
        snprintf(word.text, sizeof word.text, "%.1f million/s", per_s / 1e6);
    else if (per_s >= 0)
        snprintf(word.text, sizeof word.text, "%.0f/s", per_s);
    return word;
}

static out_word best(double added) {
    out_word word = {"nothing fits yet"};
    if (added > -1) snprintf(word.text, sizeof word.text, "best %+.2f %% time", 100 * added);
    return word;
}

/* ", bound +2.83 %": how much better any plan could be. */
static out_word bound(double least) {
    out_word word = {""};
    if (least > -1) snprintf(word.text, sizeof word.text, ", bound %+.2f %%", 100 * least);
    return word;
}

/* Columns that a line may take without being wrapped, where \r would not come back to its begin. */
static int columns(void) {
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1 : 79;
}

static void print_bar(const tool_progress *p, int64_t now_ns) {
    enum { WIDTH = 24 };
    static const char full[] = "########################", empty[] = "........................";
    double share = (double)p->done / (double)p->total, per_s = rate(p, now_ns), left = left_s(p, per_s);
    int filled = (int)(share * WIDTH), n;
    char line[256], search[32] = "", pace[48] = "", wait[40] = "";
    if (p->n_searches > 1) snprintf(search, sizeof search, " of search %lld", (long long)p->n_searches);
    if (per_s >= 0) snprintf(pace, sizeof pace, "  %.40s", per_second(per_s).text);
    /* Another search may follow: its own time says nothing of the whole, and 0 s would say the wrong thing.
     */
    if (left > 0) snprintf(wait, sizeof wait, "  %.0f s left in this search", ceil(left));
    n = snprintf(line, sizeof line, "[%.*s%.*s] %3.0f %%%s%s  %s: %s%s%s", filled, full, WIDTH - filled,
                 empty, 100 * share, search, wait, p->aim, best(p->added).text, bound(p->least).text, pace);
    fprintf(stderr, "\r%.*s\033[K", n < columns() ? n : columns(), line);
}

static void print_line(const tool_progress *p, int64_t now_ns) {
    double per_s = rate(p, now_ns), left = left_s(p, per_s);
    fprintf(stderr, "ebb: search %lld for the %s: %.0f %% of %lld candidates", (long long)p->n_searches,
            p->aim, 100 * (double)p->done / (double)p->total, (long long)p->total);
    if (per_s >= 0) fprintf(stderr, ", %s", per_second(per_s).text);
    if (left > 0) fprintf(stderr, ", %.0f s left in this search", ceil(left));
    fprintf(stderr, ", %s%s\n", best(p->added).text, bound(p->least).text);
}

static void print_member(const char *key, double value) {
    if (value >= 0 && value < 9e18)
        fprintf(stderr, ", \"%s\": %lld", key, (long long)(value + 0.5));
    else
        fprintf(stderr, ", \"%s\": null", key);
}

static void print_json(const tool_progress *p, int64_t now_ns) {
    double per_s = rate(p, now_ns), left = left_s(p, per_s);
    fprintf(stderr, "{\"schema\": \"ebb.progress/1\", \"search\": %lld, \"done\": %lld, \"total\": %lld",
            (long long)p->n_searches, (long long)p->done, (long long)p->total);
    print_member("elapsed_ms", (double)(now_ns - p->begin_ns) / 1e6);
    print_member("rate_per_s", per_s);
    print_member("left_ms", left >= 0 ? left * 1e3 : -1);
    print_member("best_added_ppm", p->added >= 0 ? p->added * 1e6 : -1);
    fputs("}\n", stderr);
}

static void tell(tool_progress *p, int64_t now_ns) {
    if (p->kind == TOOL_PROGRESS_BAR)
        print_bar(p, now_ns);
    else if (p->kind == TOOL_PROGRESS_LINES)
        print_line(p, now_ns);
    else
        print_json(p, now_ns);
    fflush(stderr);
    p->drawn = true;
    p->untold = false;
    p->last_ns = now_ns;
}

static void hear(void *ctx, const ebb_progress *progress) {
    tool_progress *p = ctx;
    int64_t now_ns = tool_now_ns(), done = progress->done, total = progress->total;
    if (total < 1) total = 1;
    if (done > total) done = total;
    if (p->n_searches == 0 || done < p->done || total != p->total) {
        p->n_searches++;
        p->search_ns = now_ns;
    }
    p->done = done;
    p->total = total;
    p->added = progress->best_added_ratio;
    p->least = progress->least_added_ratio;
    p->aim = progress->aim;
    p->untold = true;
    static const int64_t periods_ns[] = {
        [TOOL_PROGRESS_BAR] = BAR_PERIOD_NS,
        [TOOL_PROGRESS_LINES] = LINE_PERIOD_NS,
        [TOOL_PROGRESS_JSON] = JSON_PERIOD_NS,
    };
    /* A line is worth its place only in a log of work that takes long, a bar where it can be read. */
    bool at_once = !p->drawn && p->kind == TOOL_PROGRESS_JSON;
    if (at_once || now_ns - p->last_ns >= periods_ns[p->kind]) tell(p, now_ns);
}

/* What --dump writes there would run into the bar, and a dumb terminal cannot draw one. */
static bool can_draw(const tool *t) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && !t->args.dump && terminal && strcmp(terminal, "dumb") != 0;
}

static tool_progress_kind kind_of(const tool *t) {
    const char *asked = t->args.progress;
    if (!asked) return can_draw(t) ? TOOL_PROGRESS_BAR : TOOL_PROGRESS_LINES;
    if (strcmp(asked, "none") == 0) return TOOL_PROGRESS_NONE;
    if (strcmp(asked, "json") == 0) return TOOL_PROGRESS_JSON;
    return *asked == '\0' && can_draw(t) ? TOOL_PROGRESS_BAR : TOOL_PROGRESS_LINES;
}

void tool_progress_begin(tool_progress *progress, const tool *t, ebb_options *options) {
    *progress = (tool_progress){.kind = kind_of(t), .begin_ns = tool_now_ns()};
    progress->last_ns = progress->begin_ns;
    if (progress->kind == TOOL_PROGRESS_NONE) return;
    options->on_progress = hear;
    options->progress_ctx = progress;
}

void tool_progress_end(tool_progress *progress) {
    if (progress->kind == TOOL_PROGRESS_BAR && progress->drawn) fputs("\r\033[K", stderr);
    if (progress->kind == TOOL_PROGRESS_JSON && progress->untold) print_json(progress, tool_now_ns());
    progress->drawn = progress->untold = false;
}
