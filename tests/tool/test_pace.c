/* How often a search tells of itself, by a clock that the test sets: the command's own progress.c, without
 * the command. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "tool/out/out.h"

#define SECOND INT64_C(1000000000)

static int64_t now_ns;

int64_t tool_now_ns(void) {
    return now_ns;
}

/* What a search writes to standard error that looks up every tenth of a second for so long. */
static void search(const char *kind, int64_t seconds, char *seen, size_t n) {
    const tool t = {.args = {.progress = kind}};
    tool_progress progress;
    ebb_options options = {0};
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    cr_assert(file && before >= 0);
    (void)fflush(stderr);
    cr_assert_geq(dup2(fileno(file), STDERR_FILENO), 0);
    now_ns = 5 * SECOND;
    tool_progress_begin(&progress, &t, &options);
    for (int64_t k = 0; k <= 10 * seconds; k++) {
        const ebb_progress at = {.aim = "least time",
                                 .done = 40000 * k,
                                 .total = 400000 * (seconds + 3),
                                 .best_added_ratio = k < 150 ? -1 : 0.0325,
                                 .least_added_ratio = 0.01};
        now_ns = 5 * SECOND + k * SECOND / 10;
        options.on_progress(options.progress_ctx, &at);
    }
    tool_progress_end(&progress);
    (void)fflush(stderr);
    cr_assert_geq(dup2(before, STDERR_FILENO), 0);
    (void)close(before);
    rewind(file);
    seen[fread(seen, 1, n - 1, file)] = '\0';
    (void)fclose(file);
}

static uint32_t n_lines(const char *text) {
    uint32_t n = 0;
    while (*text) n += *text++ == '\n';
    return n;
}

Test(pace, without_a_terminal_there_is_a_line_per_ten_seconds) {
    static const struct {
        int64_t seconds;
        const char *text;
    } rows[] = {
        {9, ""},
        {12, "ebb: search 1 for the least time: 67 % of 6000000 candidates, 400000/s, 5 s left in this "
             "search, nothing "
             "fits yet, "
             "bound +1.00 %\n"},
        {25, "ebb: search 1 for the least time: 36 % of 11200000 candidates, 400000/s, 18 s left in this "
             "search, "
             "nothing fits "
             "yet, bound +1.00 %\n"
             "ebb: search 1 for the least time: 71 % of 11200000 candidates, 400000/s, 8 s left in this "
             "search, "
             "best +3.25 % "
             "time, bound +1.00 %\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char seen[1000];
        search("lines", rows[i].seconds, seen, sizeof seen);
        cr_assert_str_eq(seen, rows[i].text, "%lld s", (long long)rows[i].seconds);
    }
}

Test(pace, of_objects_is_two_a_second_and_one_at_each_end) {
    static char seen[20000];
    search("json", 25, seen, sizeof seen);
    cr_assert_eq(n_lines(seen), 51, "%u", n_lines(seen));
    search("json", 0, seen, sizeof seen);
    cr_assert_eq(n_lines(seen), 1, "at once, and not again at the end");
}
