/* data/fill.h: bytes become elements of the input. Private to data. */
#ifndef EBB_DATA_FILL_H
#define EBB_DATA_FILL_H

#include "data/data.h"

/* What each byte of each channel becomes. */
typedef struct data_palette {
    double f64[3][256];
    float f32[3][256];
    uint16_t u16[3][256]; /* of either dtype of 16 bits */
} data_palette;

void data_palette_make(const ebb_loader_options *options, data_palette *out);
/* Bytes of an element; 0: of a dtype that pictures do not have. */
size_t data_element_bytes(ebb_element element);
/* One picture, h,w,c, to the elements of one; from NULL: zeros. */
void data_fill(const ebb_loader_options *options, const data_palette *palette, const uint8_t *from,
               void *to);

#endif
