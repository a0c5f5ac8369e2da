/* A picture's file or record is read whole, then decoded by what its first bytes say. */
#include "data/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

ebb_status data_worker_make(ebb_arena *arena, const ebb_data *data, const ebb_loader_options *options,
                            data_kept *kept, data_worker *out) {
    *out = (data_worker){.data = data, .options = options, .kept = kept};
    out->file_room = data->files ? data->most_bytes : data_record_bytes(data);
    out->file = EBB_NEW(arena, uint8_t, out->file_room + 1);
    out->row = EBB_NEW(arena, uint8_t, (size_t)4 * EBB_DATA_MAX_SIDE);
    return out->file && out->row ? data_scale_make(arena, options, &out->scale) : EBB_NO_MEMORY;
}

data_verdict data_picture_bad(data_worker *worker, const char *format, ...) {
    va_list list;
    va_start(list, format);
    (void)vsnprintf(worker->why, sizeof worker->why, format, list);
    va_end(list);
    return DATA_BAD;
}

data_verdict data_picture_check(data_worker *w, int64_t width, int64_t height) {
    if (width < 1 || height < 1 || width > EBB_DATA_MAX_SIDE || height > EBB_DATA_MAX_SIDE ||
        width * height > EBB_DATA_MAX_PIXELS)
        return data_picture_bad(w, "%lld x %lld pixels; a side has 1 to %d, all at most %lld",
                                (long long)width, (long long)height, EBB_DATA_MAX_SIDE,
                                (long long)EBB_DATA_MAX_PIXELS);
    return DATA_GOOD;
}

/* Rec. 601, as JPEG has it; of grey it gives the same grey. */
void data_picture_row(data_worker *w, uint32_t y, uint8_t *rgb, uint32_t width) {
    if (w->options->channels == 1)
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t *p = rgb + (size_t)3 * x;
            rgb[x] = (uint8_t)((19595U * p[0] + 38470U * p[1] + 7471U * p[2] + 32768U) >> 16);
        }
    const size_t n = (size_t)width * w->options->channels;
    if (w->keeping.rows) memcpy(w->keeping.rows + y * n, rgb, n);
    data_scale_row(&w->scale, y, rgb);
}

uint32_t data_picture_scale(const ebb_loader_options *o, data_box *box) {
    uint32_t scale = 0;
    for (double by = 2;
         scale < KEPT_SCALES - 1 && box->width >= by * o->width && box->height >= by * o->height; by *= 2)
        scale++;
    const double by = 1U << scale;
    box->x /= by, box->y /= by, box->width /= by, box->height /= by;
    return scale;
}

/* ---- bytes ---- */

/* Of an errno: what this process lacks is no fault of the picture. */
static data_verdict refuse(data_worker *w, const char *what, int error) {
    char text[100];
    if (error == EMFILE || error == ENFILE || error == ENOMEM) return DATA_NO_MEMORY;
    if (strerror_r(error, text, sizeof text) != 0) text[0] = '\0';
    return data_picture_bad(w, "%s: %s", what, text);
}

static data_verdict read_all(data_worker *w, int fd, int64_t at, int64_t n) {
    const int error = ebb_fd_read_at(NULL, fd, at, w->file, n, &w->n_file);
    if (error != 0) return refuse(w, "cannot be read", error);
    if (w->n_file < n) return data_picture_bad(w, "has become shorter than %lld bytes", (long long)n);
    return DATA_GOOD;
}

static data_verdict read_file(data_worker *w, int64_t index) {
    char path[PATH_BYTES];
    struct stat info;
    const data_file *file = &w->data->files[index];
    if (snprintf(path, sizeof path, "%s/%s", w->data->path, file->name) >= (int)sizeof path)
        return data_picture_bad(w, "its path is longer than %d bytes", PATH_BYTES - 1);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return refuse(w, "cannot be opened", errno);
    data_verdict verdict = DATA_GOOD;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        verdict = data_picture_bad(w, "is no regular file");
    else if ((int64_t)info.st_size != file->bytes)
        verdict = data_picture_bad(w, "has %lld bytes, and had %lld when the folder was read",
                                   (long long)info.st_size, (long long)file->bytes);
    else
        verdict = read_all(w, fd, 0, file->bytes);
    (void)close(fd);
    return verdict;
}

/* ---- decoding ---- */

static data_verdict decode_file(data_worker *w, int64_t place) {
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    if (w->n_file >= 3 && w->file[0] == 0xFF && w->file[1] == 0xD8 && w->file[2] == 0xFF)
        return data_jpeg_read(w, place);
    if (w->n_file >= (int64_t)sizeof png && memcmp(w->file, png, sizeof png) == 0)
        return data_png_read(w, place);
    return data_picture_bad(w, "begins neither as a JPEG nor as a PNG");
}

static data_verdict decode_record(data_worker *w, int64_t index, int64_t place) {
    const ebb_data *d = w->data;
    const uint32_t c = d->channels;
    const uint8_t *record = w->file;
    data_verdict verdict;
    if (d->records)
        record = d->records + index * data_record_bytes(d);
    else if ((verdict = read_all(w, d->fd, d->at + index * data_record_bytes(d), data_record_bytes(d))) !=
             DATA_GOOD)
        return verdict;
    const data_box box = data_draw_box(w->options, place, d->width, d->height);
    data_scale_begin(&w->scale, d->width, d->height, &box, data_draw_flip(w->options, place));
    for (uint32_t y = 0; y < d->height; y++) {
        for (uint32_t x = 0; x < d->width; x++, record += c)
            for (uint32_t k = 0; k < 3; k++) w->row[(size_t)3 * x + k] = record[c == 3 ? k : 0];
        data_picture_row(w, y, w->row, d->width);
    }
    return DATA_GOOD;
}

data_verdict data_picture_read(data_worker *w, int64_t index, int64_t place, uint8_t *out) {
    data_verdict verdict = DATA_GOOD;
    w->index = index;
    if (w->data->files) {
        w->shown = data_kept_show(w, place);
        if (!w->shown) {
            verdict = read_file(w, index);
            if (verdict == DATA_GOOD) verdict = decode_file(w, place);
            data_kept_finish(w, verdict == DATA_GOOD);
        }
    } else {
        verdict = decode_record(w, index, place);
    }
    if (verdict == DATA_GOOD) data_scale_end(&w->scale, out);
    return verdict;
}
