/* A data set is opened by what its path names, checked, split, and hashed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/data.h"

/* ---- files ---- */

ebb_status data_open_file(ebb_env *env, const char *path, int *fd, int64_t *bytes) {
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*fd < 0) return ebb_fail_errno(env, "open", path, errno, "give data that can be read");
    ebb_status status = EBB_OK;
    if (fstat(*fd, &info) != 0)
        status = ebb_fail_errno(env, "look at", path, errno, "give data that can be read");
    else if (!S_ISREG(info.st_mode))
        status = ebb_fail(env, EBB_IO, "cannot read %s: it is neither a folder nor a regular file", path);
    if (status == EBB_OK) {
        *bytes = (int64_t)info.st_size;
        return EBB_OK;
    }
    (void)close(*fd);
    *fd = -1;
    return status;
}

ebb_status data_read(const ebb_data *data, int fd, int64_t at, int64_t n, void *to) {
    int64_t got;
    const int error = ebb_fd_read_at(data->env, fd, at, to, n, &got);
    if (error == EINTR)
        return ebb_fail(data->env, EBB_INTERRUPTED, "%s: stopped while reading", data->path);
    if (error != 0)
        return ebb_fail_errno(data->env, "read", data->path, error, "give data that can be read");
    if (got < n)
        return ebb_fail(data->env, EBB_BAD_INPUT,
                        "%s: %lld bytes are missing behind byte %lld: get it again", data->path,
                        (long long)(n - got), (long long)(at + got));
    return EBB_OK;
}

/* ---- checks ---- */

ebb_status data_check_shape(const ebb_data *d, const char *what) {
    if (d->n < 1 || d->n > INT32_MAX || d->height < 1 || d->width < 1 || d->height > EBB_DATA_MAX_SIDE ||
        d->width > EBB_DATA_MAX_SIDE || (int64_t)d->height * d->width > EBB_DATA_MAX_PIXELS ||
        (d->channels != 1 && d->channels != 3))
        return ebb_fail(
            d->env, EBB_BAD_INPUT,
            "%s: %lld %s of %u x %u pixels and %u channels; there must be 1 to 2^31 - 1, of sides up to "
            "%d, %lld pixels and 1 or 3 channels",
            d->path, (long long)d->n, what, d->width, d->height, d->channels, EBB_DATA_MAX_SIDE,
            (long long)EBB_DATA_MAX_PIXELS);
    if (d->n_classes < 1 || d->n_classes > EBB_DATA_MAX_CLASSES)
        return ebb_fail(d->env, EBB_BAD_INPUT, "%s: %u classes; there must be 1 to %d", d->path,
                        d->n_classes, EBB_DATA_MAX_CLASSES);
    return EBB_OK;
}

ebb_status data_check_labels(const ebb_data *d) {
    for (int64_t i = 0; i < d->n; i++)
        if (d->labels[i] >= d->n_classes)
            return ebb_fail(d->env, EBB_BAD_INPUT,
                            "%s: label %u of record %lld is not below its %u classes", d->path,
                            d->labels[i], (long long)i, d->n_classes);
    return EBB_OK;
}

/* ---- the split ---- */

/* Of a class, rounded down: none that trains at all is held out whole. In doubles 0.29 * 100 is just
 * below 29: one part in 2^50 more makes up for that, and is too little to add a picture. */
static int64_t held_out_of(uint32_t n, double share) {
    return (int64_t)((double)n * share * (1 + 0x1p-50));
}

/* What evaluation cannot tell of: classes of too few pictures for the share. */
static void note_classes(const ebb_data *d, const uint32_t *seen, double share) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < d->n_classes; c++) n += seen[c] > 0 && held_out_of(seen[c], share) == 0;
    if (n > 0 && share > 0)
        ebb_log(d->env, EBB_LOG_WARN,
                "%s: nothing of %u of %u classes is held out, as %g of their pictures is less than one: "
                "hold out a larger "
                "share, or add pictures",
                d->path, n, d->n_classes, share);
}

static ebb_status split(ebb_data *d, double held_out) {
    uint32_t *seen = EBB_NEW(&d->arena, uint32_t, d->n_classes);
    for (int p = 0; p < 2; p++)
        if (!(d->parts[p] = EBB_NEW(&d->arena, uint32_t, d->n))) return EBB_NO_MEMORY;
    if (!seen) return EBB_NO_MEMORY;
    for (int64_t i = 0; i < d->n; i++) {
        const uint32_t k = seen[d->labels[i]]++;
        const bool out = held_out_of(k + 1, held_out) > held_out_of(k, held_out);
        d->parts[out][d->n_parts[out]++] = (uint32_t)i;
    }
    if ((held_out >= 1 || d->n_parts[EBB_DATA_TRAIN] > 0) &&
        (held_out <= 0 || d->n_parts[EBB_DATA_HELD_OUT] > 0)) {
        note_classes(d, seen, held_out);
        return EBB_OK;
    }
    return ebb_fail(
        d->env, EBB_BAD_INPUT,
        "%s: of %lld pictures in %u classes, %lld are left to train on and %lld are held out: give more "
        "pictures or another share than %g",
        d->path, (long long)d->n, d->n_classes, (long long)d->n_parts[EBB_DATA_TRAIN],
        (long long)d->n_parts[EBB_DATA_HELD_OUT], held_out);
}

static void name_content(ebb_data *d, double held_out) {
    ebb_hash hash;
    const uint32_t shape[] = {d->n_classes, d->channels, d->height, d->width};
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, &held_out, sizeof held_out);
    ebb_hash_add(&hash, shape, sizeof shape);
    ebb_hash_add(&hash, d->labels, (size_t)d->n * sizeof *d->labels);
    for (int64_t i = 0; d->files && i < d->n; i++) {
        ebb_hash_add(&hash, d->files[i].name, strlen(d->files[i].name) + 1);
        ebb_hash_add(&hash, &d->files[i].bytes, sizeof d->files[i].bytes);
    }
    (void)ebb_hash_text(&hash, d->hash);
}

/* ---- opening ---- */

static bool ends(const char *path, const char *with) {
    const size_t n = strlen(path), k = strlen(with);
    return n >= k && ebb_word_equal(path + n - k, with);
}

static ebb_status open_by_kind(ebb_data *d) {
    struct stat info;
    if (stat(d->path, &info) != 0)
        return ebb_fail_errno(d->env, "open", d->path, errno,
                              "give a folder of classes, or a file of records");
    if (S_ISDIR(info.st_mode)) return data_open_folder(d);
    if (ends(d->path, ".npz")) return data_open_npz(d);
    if (ends(d->path, ".csv") || ends(d->path, ".csv.gz")) return data_open_table(d);
    return data_open_records(d);
}

ebb_status ebb_data_open(ebb_env *env, const char *path, double held_out, ebb_data **out) {
    *out = NULL;
    if (!(held_out >= 0 && held_out <= 1))
        return ebb_fail(env, EBB_USAGE, "a held-out share of %g; it must be from 0 to 1", held_out);
    ebb_data *d = ebb_calloc(env, 1, sizeof *d);
    if (!d) return EBB_NO_MEMORY;
    d->env = env;
    d->fd = -1;
    ebb_arena_init(&d->arena, env);
    d->path = ebb_arena_text(&d->arena, path);
    ebb_status status = d->path ? open_by_kind(d) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = split(d, held_out);
    if (status == EBB_OK) name_content(d, held_out);
    if (status == EBB_OK)
        *out = d;
    else
        ebb_data_close(d);
    return status;
}

void ebb_data_close(ebb_data *d) {
    if (!d) return;
    ebb_env *env = d->env;
    if (d->fd >= 0) (void)close(d->fd);
    ebb_free_aligned(env, d->held, d->held_bytes, 16);
    ebb_arena_deinit(&d->arena);
    ebb_cfree(env, d, 1, sizeof *d);
}

/* ---- asking ---- */

void ebb_data_look(const ebb_data *d, ebb_data_facts *out) {
    *out = (ebb_data_facts){.n = d->n,
                            .n_train = d->n_parts[EBB_DATA_TRAIN],
                            .n_held_out = d->n_parts[EBB_DATA_HELD_OUT],
                            .n_ignored = d->n_ignored,
                            .n_classes = d->n_classes,
                            .channels = d->channels,
                            .height = d->height,
                            .width = d->width};
    memcpy(out->hash, d->hash, sizeof out->hash);
}

const char *ebb_data_class(const ebb_data *d, uint32_t i) {
    return d->classes && i < d->n_classes ? d->classes[i] : NULL;
}
