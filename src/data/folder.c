/* A folder with a folder for each class: names are read once, in the order of bytes, so that the same
 * folder is the same data everywhere. Links are followed; there is no third level that could go in circles.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "data/data.h"
#include "ebb_build.h"

enum { PATH_BYTES = 4096 };

typedef struct name_list {
    EBB_ARRAY(const char *) names;
} name_list;

typedef struct scan {
    ebb_data *data;
    name_list classes;
    EBB_ARRAY(data_file) files;
    EBB_ARRAY(uint32_t) labels;
    const char *loose; /* the first picture beside the folders; in the data's arena */
} scan;

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static ebb_status too_long(const ebb_data *d, const char *name) {
    return ebb_fail(d->env, EBB_BAD_INPUT, "%.200s: the path of %.200s is longer than %d bytes: move it up",
                    d->path, name, PATH_BYTES - 1);
}

/* "folder/name"; folder "": name alone. */
static ebb_status join(const ebb_data *d, const char *folder, const char *name, char out[PATH_BYTES]) {
    const int n = snprintf(out, PATH_BYTES, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    return n < PATH_BYTES ? EBB_OK : too_long(d, name);
}

/* Visible entries by name. */
static ebb_status list(const ebb_data *d, const char *path, ebb_arena *arena, name_list *out,
                       int64_t *n_hidden) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    ebb_status status = EBB_OK;
    if (!folder) return ebb_fail_errno(d->env, "read", path, errno, "give a folder that can be read");
    out->names.n = 0;
    errno = 0;
    while (status == EBB_OK && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.') {
            *n_hidden += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
            continue;
        }
        const char *name = ebb_arena_text(arena, entry->d_name);
        if (!name || !EBB_PUSH(d->env, &out->names, name)) status = EBB_NO_MEMORY;
        errno = 0;
    }
    if (status == EBB_OK && errno != 0)
        status = ebb_fail_errno(d->env, "read", path, errno, "give a folder that can be read");
    (void)closedir(folder);
    if (status == EBB_OK && out->names.n > 1)
        qsort(out->names.at, out->names.n, sizeof *out->names.at, by_text);
    return status;
}

/* Which library reads files of this name; -1: it is no picture's. */
typedef enum suffix { NO_PICTURE = -1, IS_JPEG, IS_PNG } suffix;
static suffix suffix_of(const char *name) {
    const char *dot = strrchr(name, '.');
    if (!dot) return NO_PICTURE;
    if (ebb_word_equal(dot, ".jpg") || ebb_word_equal(dot, ".jpeg")) return IS_JPEG;
    return ebb_word_equal(dot, ".png") ? IS_PNG : NO_PICTURE;
}

static ebb_status check_build(const ebb_data *d, const char *name, suffix kind) {
    bool available;
    const char *why, *format = ebb_data_format_at((uint32_t)kind, &available, &why);
    if (available) return EBB_OK;
    return ebb_fail(d->env, EBB_UNAVAILABLE, "%.200s: %.200s needs %s, which this build lacks: %s", d->path,
                    name, format, why);
}

static ebb_status add_file(scan *s, const char *class_name, const char *name) {
    ebb_data *d = s->data;
    char inside[PATH_BYTES], path[PATH_BYTES];
    struct stat info;
    ebb_status status = join(d, class_name, name, inside);
    if (status == EBB_OK) status = join(d, d->path, inside, path);
    if (status != EBB_OK) return status;
    if (stat(path, &info) != 0)
        return ebb_fail_errno(d->env, "open", path, errno, "remove it, or mend the link");
    if (S_ISDIR(info.st_mode))
        return ebb_fail(d->env, EBB_BAD_INPUT,
                        "%s is a folder: put pictures straight into their class's folder", path);
    const suffix kind = suffix_of(name);
    if (kind == NO_PICTURE) return d->n_ignored++, EBB_OK;
    if (!S_ISREG(info.st_mode))
        return ebb_fail(d->env, EBB_BAD_INPUT, "%s is no regular file: remove it", path);
    if (info.st_size > EBB_DATA_MAX_FILE_BYTES)
        return ebb_fail(d->env, EBB_BAD_INPUT, "%s has %lld bytes; a picture's file has at most %lld", path,
                        (long long)info.st_size, (long long)EBB_DATA_MAX_FILE_BYTES);
    status = check_build(d, inside, kind);
    if (status != EBB_OK) return status;
    const data_file file = {ebb_arena_text(&d->arena, inside), (int64_t)info.st_size};
    if (!file.name || !EBB_PUSH(d->env, &s->files, file) ||
        !EBB_PUSH(d->env, &s->labels, (uint32_t)s->classes.names.n - 1))
        return EBB_NO_MEMORY;
    d->most_bytes = ebb_max_i64(d->most_bytes, file.bytes);
    return EBB_OK;
}

/* A class of its own for each folder with a picture in it. */
static ebb_status add_class(scan *s, const char *name, name_list *room) {
    ebb_data *d = s->data;
    char path[PATH_BYTES];
    struct stat info;
    ebb_status status = join(d, d->path, name, path);
    if (status != EBB_OK) return status;
    if (stat(path, &info) != 0)
        return ebb_fail_errno(d->env, "open", path, errno, "remove it, or mend the link");
    if (!S_ISDIR(info.st_mode)) {
        if (!s->loose && suffix_of(name) != NO_PICTURE) s->loose = name;
        return d->n_ignored++, EBB_OK;
    }
    ebb_arena names;
    ebb_arena_init(&names, d->env);
    const size_t before = s->files.n;
    status = list(d, path, &names, room, &d->n_ignored);
    if (status == EBB_OK && !EBB_PUSH(d->env, &s->classes.names, name)) status = EBB_NO_MEMORY;
    for (size_t i = 0; i < room->names.n && status == EBB_OK; i++)
        status = add_file(s, name, room->names.at[i]);
    if (status == EBB_OK && s->files.n == before)
        status = ebb_fail(d->env, EBB_BAD_INPUT,
                          "%s has no picture (.jpg, .jpeg, .png): remove it, or fill it", path);
    ebb_arena_deinit(&names);
    return status;
}

static ebb_status take_over(scan *s) {
    ebb_data *d = s->data;
    if (s->files.n == 0 && s->loose)
        return ebb_fail(
            d->env, EBB_BAD_INPUT,
            "%s has pictures (%s) and no folders: there must be a folder for each class; if it is "
            "one itself, give the folder that it is in",
            d->path, s->loose);
    if (s->files.n == 0 || s->files.n > INT32_MAX || s->classes.names.n > EBB_DATA_MAX_CLASSES)
        return ebb_fail(
            d->env, EBB_BAD_INPUT,
            "%s: %zu pictures in %zu folders; there must be a folder for each class, with pictures in it, "
            "and at most 2^31 - 1 of them in %d",
            d->path, s->files.n, s->classes.names.n, EBB_DATA_MAX_CLASSES);
    d->n = (int64_t)s->files.n;
    d->n_classes = (uint32_t)s->classes.names.n;
    d->files = ebb_arena_copy(&d->arena, s->files.at, s->files.n, sizeof *s->files.at);
    d->labels = ebb_arena_copy(&d->arena, s->labels.at, s->labels.n, sizeof *s->labels.at);
    d->classes =
        ebb_arena_copy(&d->arena, s->classes.names.at, s->classes.names.n, sizeof *s->classes.names.at);
    return d->files && d->labels && d->classes ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status data_open_folder(ebb_data *d) {
    scan s = {.data = d};
    name_list names = {{0}}, room = {{0}};
    ebb_status status = list(d, d->path, &d->arena, &names, &d->n_ignored);
    for (size_t i = 0; i < names.names.n && status == EBB_OK; i++)
        status = ebb_stop_asked(d->env)
                     ? ebb_fail(d->env, EBB_INTERRUPTED, "%s: stopped while reading", d->path)
                     : add_class(&s, names.names.at[i], &room);
    if (status == EBB_OK) status = take_over(&s);
    EBB_ARRAY_FREE(d->env, &names.names);
    EBB_ARRAY_FREE(d->env, &room.names);
    EBB_ARRAY_FREE(d->env, &s.classes.names);
    EBB_ARRAY_FREE(d->env, &s.files);
    EBB_ARRAY_FREE(d->env, &s.labels);
    return status;
}
