#include "pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <spng.h>

void pictures_draw(uint8_t *rgb, uint32_t width, uint32_t height, uint32_t label, uint32_t number) {
    uint64_t state = ((uint64_t)label << 32 | number) * 2 + 1;
    const double angle = label * 0.7, wave = 12.0 / (width > height ? width : height);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const double v = sin(6.283 * wave * (x * cos(angle) + y * sin(angle)) + number);
            for (uint32_t c = 0; c < 3; c++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                const double noise = (double)(state >> 40) * 0x1p-24 - 0.5,
                             own = (label >> c & 1) ? 1 : 0.4;
                *rgb++ = (uint8_t)(128 + 100 * v * own + 40 * noise);
            }
        }
    }
}

bool pictures_write_jpeg(const char *path, const uint8_t *rgb, uint32_t width, uint32_t height,
                         pictures_way way) {
    const bool grey = way.grey;
    const uint32_t channels = grey ? 1 : way.inks ? 4 : 3;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(path, "wb");
    uint8_t *row = malloc((size_t)4 * width);
    if (!file || !row) return false;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = (int)channels;
    jpeg.in_color_space = grey ? JCS_GRAYSCALE : way.inks ? JCS_CMYK : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    if (way.inks == 2) jpeg_set_colorspace(&jpeg, JCS_YCCK);
    jpeg_set_quality(&jpeg, 85, TRUE);
    if (way.progressive) jpeg_simple_progression(&jpeg);
    if (way.across > 0) jpeg.comp_info[0].h_samp_factor = way.across;
    if (way.down > 0) jpeg.comp_info[0].v_samp_factor = way.down;
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < height) {
        const uint8_t *from = rgb + (size_t)3 * width * jpeg.next_scanline;
        for (uint32_t i = 0; i < width * channels; i++) {
            const uint32_t x = i / channels, c = i % channels;
            row[i] = grey ? from[3 * x + 1] : c < 3 ? from[3 * x + c] : (uint8_t)(255 - from[3 * x] / 3);
        }
        JSAMPROW rows[] = {row};
        (void)jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    return fclose(file) == 0;
}

uint8_t *pictures_read_jpeg(const char *path, uint32_t *width, uint32_t *height) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    (void)jpeg_read_header(&jpeg, TRUE);
    const bool inks = jpeg.num_components == 4;
    jpeg.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    (void)jpeg_start_decompress(&jpeg);
    *width = jpeg.output_width;
    *height = jpeg.output_height;
    uint8_t *rgb = malloc((size_t)3 * *width * *height), *four = malloc((size_t)4 * *width);
    while (rgb && four && jpeg.output_scanline < *height) {
        uint8_t *to = rgb + (size_t)3 * *width * jpeg.output_scanline;
        JSAMPROW row = inks ? four : to;
        (void)jpeg_read_scanlines(&jpeg, &row, 1);
        for (uint32_t i = 0; inks && i < 3 * *width; i++) /* inverted, as the library writes its marker */
            to[i] = (uint8_t)((four[4 * (i / 3) + i % 3] * four[4 * (i / 3) + 3] + 127) / 255);
    }
    free(four);
    jpeg_abort_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    (void)fclose(file);
    return rgb;
}

bool pictures_write_bytes(const char *path, const void *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    const bool written = fwrite(bytes, 1, n, file) == n;
    return fclose(file) == 0 && written;
}

bool pictures_write_png(const char *path, const uint8_t *rgb, uint32_t width, uint32_t height,
                        bool interlaced) {
    spng_ctx *png = spng_ctx_new(SPNG_CTX_ENCODER);
    struct spng_ihdr head = {.width = width,
                             .height = height,
                             .bit_depth = 8,
                             .color_type = SPNG_COLOR_TYPE_TRUECOLOR,
                             .interlace_method = interlaced ? SPNG_INTERLACE_ADAM7 : SPNG_INTERLACE_NONE};
    int error = 0;
    size_t n = 0;
    if (!png) return false;
    spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1);
    error = spng_set_ihdr(png, &head);
    if (error == 0)
        error = spng_encode_image(png, rgb, (size_t)3 * width * height, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    void *bytes = error == 0 ? spng_get_png_buffer(png, &n, &error) : NULL;
    const bool written = bytes && pictures_write_bytes(path, bytes, n);
    free(bytes);
    spng_ctx_free(png);
    return written;
}
