/* Pictures for tests: made, and written by the libraries that the loader reads with. */
#ifndef EBB_TESTS_DATA_PICTURES_H
#define EBB_TESTS_DATA_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pixels of a class: stripes whose direction and colour tell it, with noise drawn by number. h,w,3 bytes.
 */
void pictures_draw(uint8_t *rgb, uint32_t width, uint32_t height, uint32_t label, uint32_t number);
/* How a JPEG is made. grey: one channel, by the green one; across, down: pixels that share a colour, 2 by 2
 * where they are 0. */
typedef struct pictures_way {
    bool grey, progressive;
    int across, down;
    int inks; /* 1, 2: four, as they are; as brightness, colours and black */
} pictures_way;
/* false: the file could not be written. */
bool pictures_write_jpeg(const char *path, const uint8_t *rgb, uint32_t width, uint32_t height,
                         pictures_way way);
/* All of its pixels, h,w,3 bytes, into new memory; NULL: it cannot be read. */
uint8_t *pictures_read_jpeg(const char *path, uint32_t *width, uint32_t *height);
bool pictures_write_png(const char *path, const uint8_t *rgb, uint32_t width, uint32_t height,
                        bool interlaced);
bool pictures_write_bytes(const char *path, const void *bytes, size_t n);

#endif
