/* What memory this process can still take: the host's, within what the limits of its control groups
 * (cgroups(7), both versions) and of its address space leave. */
#include "base/os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Files of a version of control groups: what a group may take, what it takes, and the row of memory.stat
 * that tells how much of that the system would give up first. */
typedef struct version {
    const char *folder, *limit, *taken, *spare;
} version;

static const version version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
static const version version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/* The number that follows a word and a space in a group's file, or, without a word, that it begins with;
 * -1: none, as where a limit is "max". */
static int64_t number_of(const version *v, const char *group, const char *file, const char *word) {
    char path[PATH_MAX], line[128];
    int64_t number = -1;
    const size_t n = strlen(word);
    if (snprintf(path, sizeof path, "%s%s/%s", v->folder, group, file) >= (int)sizeof path) return -1;
    FILE *stream = fopen(path, "re");
    while (stream && number < 0 && fgets(line, sizeof line, stream)) {
        const char *at = line + n + (n > 0);
        const bool found = n == 0 || (strncmp(line, word, n) == 0 && line[n] == ' ');
        if (found && *at >= '0' && *at <= '9') number = strtoll(at, NULL, 10);
    }
    if (stream) (void)fclose(stream);
    return number;
}

/* What a group and those around it may still take; within a namespace of groups the outermost is the folder
 * itself. */
static int64_t least_left(const version *v, char *group) {
    int64_t least = INT64_MAX;
    for (;;) {
        const int64_t limit = number_of(v, group, v->limit, "");
        if (limit >= 0) {
            const int64_t taken = ebb_max_i64(number_of(v, group, v->taken, ""), 0);
            const int64_t spare = ebb_max_i64(number_of(v, group, "memory.stat", v->spare), 0);
            least = ebb_min_i64(least, ebb_max_i64(limit - ebb_max_i64(taken - spare, 0), 0));
        }
        char *last = strrchr(group, '/');
        if (!last) return least;
        *last = '\0';
    }
}

/* A line: number:controllers:group, without controllers in version 2. */
static int64_t left_of_groups(void) {
    char line[PATH_MAX];
    int64_t least = INT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        if (controllers[1] == '\0')
            least = ebb_min_i64(least, least_left(&version_2, group));
        else if (strcmp(controllers + 1, "memory") == 0)
            least = ebb_min_i64(least, least_left(&version_1, group));
    }
    if (file) (void)fclose(file);
    return least;
}

static int64_t left_of_addresses(void) {
    struct rlimit limit;
    long long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur > INT64_MAX) return INT64_MAX;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lld", &pages) != 1) pages = 0;
    if (file) (void)fclose(file);
    return ebb_max_i64((int64_t)limit.rlim_cur - (int64_t)pages * sysconf(_SC_PAGESIZE), 0);
}

int64_t ebb_host_available(void) {
    char line[128];
    long long kib = -1;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1) break;
    }
    if (file) (void)fclose(file);
    if (kib < 0) return -1;
    return ebb_min_i64(ebb_min_i64((int64_t)kib * 1024, left_of_groups()), left_of_addresses());
}
