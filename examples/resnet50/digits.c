/* digits: reads the gzipped table line by line; nothing in it is trusted. */
#include "digits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { MAX_PIXEL = 16, LINE_SIZE = 512 };

/* A whole number up to max at *at, followed by `mark`. */
static bool read_number(const char **at, unsigned max, char mark, uint8_t *out) {
    unsigned value = 0;
    const char *p = *at;
    for (; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (unsigned)(*p - '0');
        if (value > max) return false;
    }
    if (p == *at || *p != mark) return false;
    *at = p + 1;
    *out = (uint8_t)value;
    return true;
}

static bool read_scan(digits *d, const char *line) {
    for (int i = 0; i < DIGITS_PIXELS; i++) {
        if (!read_number(&line, MAX_PIXEL, ',', &d->pixel[d->n][i])) return false;
    }
    return read_number(&line, DIGITS_CLASSES - 1, '\n', &d->label[d->n]);
}

static bool read_lines(digits *d, gzFile file, const char *path, char *error, size_t error_size) {
    char line[LINE_SIZE];
    while (gzgets(file, line, sizeof line)) {
        if (d->n == DIGITS_MAX) {
            snprintf(error, error_size, "%s: more than %d scans: use a smaller file", path, DIGITS_MAX);
            return false;
        }
        if (!read_scan(d, line)) {
            snprintf(error, error_size, "%s:%u: expected %d pixels of 0 to %d and a digit", path, d->n + 1,
                     DIGITS_PIXELS, MAX_PIXEL);
            return false;
        }
        d->n++;
    }
    int code = Z_OK;
    const char *reason = gzerror(file, &code);
    if (code != Z_OK && code != Z_STREAM_END) {
        snprintf(error, error_size, "%s: %s: get the file again", path, reason);
        return false;
    }
    return true;
}

static void split(digits *d) {
    enum { EVERY = 5 };
    uint32_t seen[DIGITS_CLASSES] = {0};
    for (uint32_t i = 0; i < d->n; i++) {
        if (seen[d->label[i]]++ % EVERY == 0)
            d->held_out[d->n_held_out++] = i;
        else
            d->train[d->n_train++] = i;
    }
}

static void measure(digits *d) {
    double sum = 0, squares = 0, n = (double)d->n_train * DIGITS_PIXELS;
    for (uint32_t i = 0; i < d->n_train; i++) {
        for (int k = 0; k < DIGITS_PIXELS; k++) {
            double x = d->pixel[d->train[i]][k];
            sum += x;
            squares += x * x;
        }
    }
    double variance = squares / n - sum / n * (sum / n);
    d->mean = (float)(sum / n);
    d->scale = (float)(1 / sqrt(variance > 0 ? variance : 1));
}

bool digits_read(digits *out, const char *path, char *error, size_t error_size) {
    memset(out, 0, sizeof *out);
    gzFile file = gzopen(path, "rb");
    if (!file) {
        snprintf(error, error_size, "cannot open %s: name the digits with --data", path);
        return false;
    }
    bool ok = read_lines(out, file, path, error, error_size);
    gzclose(file);
    if (!ok) return false;
    split(out);
    if (out->n_train == 0 || out->n_held_out == 0) {
        snprintf(error, error_size, "%s: %u scans are too few to hold some out", path, out->n);
        return false;
    }
    measure(out);
    return true;
}

/* Paper is white around a scan. */
static float pixel_at(const uint8_t *scan, int x, int y) {
    bool inside = x >= 0 && x < DIGITS_SIDE && y >= 0 && y < DIGITS_SIDE;
    return inside ? (float)scan[y * DIGITS_SIDE + x] : 0;
}

void digits_image(const digits *d, uint32_t i, uint32_t side, float dx, float dy, float *out) {
    const uint8_t *scan = d->pixel[i];
    float step = (float)DIGITS_SIDE / (float)side;
    for (uint32_t row = 0; row < side; row++) {
        float y = ((float)row + 0.5F) * step - 0.5F - dy;
        int y0 = (int)floorf(y);
        float v = y - (float)y0;
        for (uint32_t column = 0; column < side; column++) {
            float x = ((float)column + 0.5F) * step - 0.5F - dx;
            int x0 = (int)floorf(x);
            float u = x - (float)x0;
            float top = (1 - u) * pixel_at(scan, x0, y0) + u * pixel_at(scan, x0 + 1, y0);
            float bottom = (1 - u) * pixel_at(scan, x0, y0 + 1) + u * pixel_at(scan, x0 + 1, y0 + 1);
            float value = ((1 - v) * top + v * bottom - d->mean) * d->scale;
            for (int c = 0; c < 3; c++) *out++ = value;
        }
    }
}
