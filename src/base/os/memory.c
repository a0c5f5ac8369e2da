/* What memory this process can still take: the host's, within the limits of its control groups (cgroups(7),
 * both versions) and of its address space. */
#include "base/os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* A group's limit: a number, or "max". */
static int64_t limit_of(const char *folder, const char *group, const char *file) {
    char path[PATH_MAX], text[32] = "";
    if (snprintf(path, sizeof path, "%s%s/%s", folder, group, file) >= (int)sizeof path) return INT64_MAX;
    FILE *limit = fopen(path, "re");
    if (!limit) return INT64_MAX;
    const bool is_number = fgets(text, sizeof text, limit) && text[0] >= '0' && text[0] <= '9';
    (void)fclose(limit);
    const long long bytes = is_number ? strtoll(text, NULL, 10) : INT64_MAX;
    return bytes > 0 ? (int64_t)bytes : INT64_MAX;
}

/* Of the group and those around it; within a namespace of groups the outermost is the folder itself. */
static int64_t least_limit(const char *folder, char *group, const char *file) {
    int64_t least = INT64_MAX;
    for (;;) {
        least = ebb_min_i64(least, limit_of(folder, group, file));
        char *last = strrchr(group, '/');
        if (!last) return least;
        *last = '\0';
    }
}

/* A line: number:controllers:group, without controllers in version 2. */
static int64_t groups_limit(void) {
    char line[PATH_MAX];
    int64_t least = INT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        if (controllers[1] == '\0')
            least = ebb_min_i64(least, least_limit("/sys/fs/cgroup", group, "memory.max"));
        else if (strcmp(controllers + 1, "memory") == 0)
            least =
                ebb_min_i64(least, least_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    if (file) (void)fclose(file);
    return least;
}

int64_t ebb_host_available(void) {
    char line[128];
    long long kib = -1;
    struct rlimit limit;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1) break;
    }
    if (file) (void)fclose(file);
    if (kib < 0) return -1;
    int64_t least = ebb_min_i64((int64_t)kib * 1024, groups_limit());
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur <= INT64_MAX)
        least = ebb_min_i64(least, (int64_t)limit.rlim_cur);
    return least;
}
