/* Bytes to elements: a table a channel, and where each element goes. */
#include "data/fill.h"

#include "base/half.h"

void data_palette_make(const ebb_loader_options *o, data_palette *out) {
    for (int c = 0; c < 3; c++) {
        for (int v = 0; v < 256; v++) {
            const double x = ((double)v / 255 - (double)o->mean[c]) / (double)o->deviation[c];
            out->f64[c][v] = x;
            out->f32[c][v] = (float)x;
            out->u16[c][v] = o->element == EBB_FLOAT16 ? ebb_f16_of_double(x) : ebb_bf16_of_double(x);
        }
    }
}

size_t data_element_bytes(ebb_element element) {
    switch (element) {
    case EBB_FLOAT64:
        return 8;
    case EBB_FLOAT32:
        return 4;
    case EBB_FLOAT16:
    case EBB_BFLOAT16:
        return 2;
    case EBB_INT32:
    case EBB_UINT8:
    case EBB_BOOL8:
    case EBB_INT8:
    case EBB_INT16:
        break;
    }
    return 0;
}

/* Pixel i's channel c is element i * pixel + c * channel. */
#define PUT(type, table)                           \
    for (size_t i = 0; i < n; i++)                 \
        for (uint32_t c = 0; c < o->channels; c++) \
    ((type *)to)[i * pixel + c * channel] = (table)[c][*from++]

void data_fill(const ebb_loader_options *o, const data_palette *p, const uint8_t *from, void *to) {
    const size_t n = (size_t)o->height * o->width;
    const size_t pixel = o->planes ? 1 : o->channels, channel = o->planes ? n : 1;
    if (!from)
        memset(to, 0, n * o->channels * data_element_bytes(o->element));
    else if (o->element == EBB_FLOAT32)
        PUT(float, p->f32);
    else if (o->element == EBB_FLOAT64)
        PUT(double, p->f64);
    else
        PUT(uint16_t, p->u16);
}
