/* data/fill.h: converts bytes to elements of the input. Private to data. */
#ifndef EBB_DATA_FILL_H
#define EBB_DATA_FILL_H

#include "data/data.h"

/* The element of each byte value of each channel. */
typedef struct data_palette {
    double f64[3][256];
    float f32[3][256];
    uint16_t u16[3][256]; /* for either 16-bit dtype */
} data_palette;

void data_palette_make(const ebb_loader_options *options, data_palette *out);
/* Bytes per element; 0: pictures cannot have this dtype. */
size_t data_element_bytes(ebb_element element);
/* Converts one picture, h,w,c, to elements; from NULL: zeros. */
void data_fill(const ebb_loader_options *options, const data_palette *palette, const uint8_t *from,
               void *to);

#endif
