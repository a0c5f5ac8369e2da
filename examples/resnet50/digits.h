/* digits: the scans, their split, and images made of them. */
#ifndef RESNET50_DIGITS_H
#define RESNET50_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGITS_MAX = 4096, DIGITS_SIDE = 8, DIGITS_PIXELS = DIGITS_SIDE * DIGITS_SIDE, DIGITS_CLASSES = 10 };

typedef struct digits {
    uint8_t pixel[DIGITS_MAX][DIGITS_PIXELS]; /* 0 to 16 */
    uint8_t label[DIGITS_MAX];
    uint32_t n;
    /* Every fifth scan of each digit is held out: the same for every seed. */
    uint32_t train[DIGITS_MAX], held_out[DIGITS_MAX];
    uint32_t n_train, n_held_out;
    float mean, scale; /* of the training pixels; scale = 1 / deviation */
} digits;

/* Reads a gzipped CSV. false: error holds one line. */
bool digits_read(digits *out, const char *path, char *error, size_t error_size);

/* Scan i as a square image of side pixels and 3 equal channels, stored n,h,w,c: bilinear, normalised, moved
 * by (dx, dy) scan pixels. Writes side * side * 3 floats. */
void digits_image(const digits *d, uint32_t i, uint32_t side, float dx, float dy, float *out);

#endif
