/* out: files that are whole or absent, and words and tables for people. */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ebb_status lost(tool *t, const char *path, int error) {
    return tool_fail(t, EBB_IO,
                     "cannot write %.400s: %s: check the folder, the free space and the permissions", path,
                     error != 0 ? strerror(error) : "the output was cut short");
}

/* 0 or an errno; closes fd. */
static int write_and_close(int fd, const char *bytes, size_t n, bool sync) {
    int error = 0;
    while (n > 0 && error == 0) {
        ssize_t put = write(fd, bytes, n);
        if (put >= 0) {
            bytes += put;
            n -= (size_t)put;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    /* EINVAL: a file system that cannot sync. */
    if (error == 0 && sync && fsync(fd) != 0 && errno != EINVAL) error = errno;
    if (close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
    return error;
}

ebb_status out_file(tool *t, const char *path, const char *bytes, size_t n) {
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        int error = fd < 0 ? errno : write_and_close(fd, bytes, n, false);
        return error == 0 ? EBB_OK : lost(t, path, error);
    }
    /* A link stays one: its target is what is replaced. */
    char target[PATH_MAX], temporary[PATH_MAX + 16];
    if (strlen(path) >= sizeof target) return lost(t, path, ENAMETOOLONG);
    if (!exists || realpath(path, target) == NULL) memcpy(target, path, strlen(path) + 1);
    const char *slash = strrchr(target, '/');
    snprintf(temporary, sizeof temporary, "%.*s.ebb-XXXXXX", slash == NULL ? 0 : (int)(slash - target) + 1,
             target);
    int fd = mkstemp(temporary);
    if (fd < 0) return lost(t, path, errno);
    mode_t mask = umask(0);
    umask(mask);
    int error = fchmod(fd, exists ? info.st_mode & 07777 : 0666 & ~mask) == 0 ? 0 : errno;
    int write_error = write_and_close(fd, bytes, n, true);
    if (error == 0) error = write_error;
    if (error == 0 && rename(temporary, target) != 0) error = errno;
    if (error == 0) return EBB_OK;
    (void)unlink(temporary);
    return lost(t, path, error);
}

ebb_status out_finish(tool *t) {
    errno = 0;
    bool failed = fflush(stdout) != 0;
    int error = errno;
    if (failed || ferror(stdout)) return lost(t, "standard output", error);
    return EBB_OK;
}

/* ---- words ----------------------------------------------------------------------------------------------
 */

out_word out_bytes(int64_t bytes) {
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    out_word word;
    double x = (double)bytes;
    size_t i = 0;
    for (; x >= 1024 && i + 1 < TOOL_COUNT(names); i++) x /= 1024;
    snprintf(word.text, sizeof word.text, i == 0 ? "%.0f %s" : "%.2f %s", x, names[i]);
    return word;
}

out_word out_budget(const tool_args *args, int64_t bytes) {
    const char *typed = args->budget_text;
    bool other = typed != NULL && args->budget_bytes == bytes && strlen(typed) < 16 &&
                 strpbrk(typed, "kKMGT") != NULL && strchr(typed, 'i') == NULL;
    out_word word;
    snprintf(word.text, sizeof word.text, "%.16s (%s%s%lld bytes)", out_bytes(bytes).text,
             other ? typed : "", other ? ", " : "", (long long)bytes);
    return word;
}

const char *out_phase(ebb_phase phase) {
    return phase == EBB_FORWARD ? "forward" : phase == EBB_BACKWARD ? "backward" : "update";
}

out_word out_time(int64_t ns) {
    static const char *const names[] = {"ns", "us", "ms", "s"};
    out_word word;
    double x = (double)ns;
    size_t i = 0;
    for (; x >= 1000 && i + 1 < TOOL_COUNT(names); i++) x /= 1000;
    snprintf(word.text, sizeof word.text, i == 0 ? "%.0f %s" : "%.2f %s", x, names[i]);
    return word;
}

out_word out_change(int64_t now, int64_t before) {
    out_word word = {"-"};
    if (before > 0)
        snprintf(word.text, sizeof word.text, "%+.1f %%",
                 100 * ((double)now - (double)before) / (double)before);
    return word;
}

out_word out_count(int64_t n) {
    out_word word;
    snprintf(word.text, sizeof word.text, "%lld", (long long)n);
    return word;
}

void out_clean(char *to, size_t size, const char *text) {
    size_t used = 0;
    for (size_t at = 0, n = strlen(text); at < n;) {
        bool plain;
        size_t length = ebb_text_shown(text + at, n - at, NULL, &plain), put = plain ? length : 1;
        if (used + put >= size) break;
        memcpy(to + used, plain ? text + at : "?", put);
        used += put;
        at += length;
    }
    to[used] = '\0';
}

void out_safe(FILE *to, const char *text) {
    char clean[4096];
    out_clean(clean, sizeof clean, text);
    fputs(clean, to);
}

/* ---- tables
 * ----------------------------------------------------------------------------------------------- */

void out_row(out_table *table, const char *const cells[OUT_COLUMNS]) {
    if (table->n_rows == OUT_ROWS) return;
    for (uint32_t c = 0; c < OUT_COLUMNS && cells[c] != NULL; c++) {
        out_clean(table->cell[table->n_rows][c], sizeof table->cell[0][0], cells[c]);
        if (c >= table->n_columns) table->n_columns = c + 1;
    }
    table->n_rows++;
}

void out_table_print(const out_table *table, FILE *to) {
    int width[OUT_COLUMNS] = {0};
    for (uint32_t r = 0; r < table->n_rows; r++) {
        for (uint32_t c = 0; c < table->n_columns; c++) {
            int n = (int)strlen(table->cell[r][c]);
            if (n > width[c]) width[c] = n;
        }
    }
    for (uint32_t r = 0; r < table->n_rows; r++) {
        uint32_t last = table->n_columns;
        while (last > 1 && table->cell[r][last - 1][0] == '\0') last--;
        for (uint32_t c = 0; c < last; c++) {
            if (c == 0)
                fprintf(to, "%-*s", last == 1 ? 0 : width[c], table->cell[r][c]);
            else if (c == OUT_COLUMNS - 1)
                fprintf(to, "  %s", table->cell[r][c]);
            else
                fprintf(to, "  %*s", width[c], table->cell[r][c]);
        }
        fputc('\n', to);
    }
}
