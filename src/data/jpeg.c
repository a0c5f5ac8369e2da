/* JPEG, by libjpeg-turbo. Its errors end a picture by longjmp from its own error manager: between setjmp
 * and longjmp nothing is held but the library's own object, which is destroyed in either case. */
#include "data/picture.h"

#include "ebb_build.h"

#if EBB_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* A small file may ask for much work: so many passes over the picture, and so much memory for
 * coefficients. */
enum { MAX_SCANS = 100, MAX_BYTES = 256 << 20 };

typedef struct decoding {
    struct jpeg_error_mgr errors; /* first: the library gives back its address */
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct jpeg;
    data_worker *worker;
    data_verdict verdict;
    jmp_buf end;
} decoding;

static void fail(j_common_ptr jpeg) {
    decoding *d = (decoding *)jpeg->err;
    char text[JMSG_LENGTH_MAX];
    d->errors.format_message(jpeg, text);
    d->verdict = data_picture_bad(d->worker, "is damaged: %.120s", text);
    if (d->errors.msg_code == JERR_NO_BACKING_STORE)
        d->verdict = data_picture_bad(
            d->worker, "needs more than %d MiB to decode: save it smaller, or baseline", MAX_BYTES >> 20);
    if (d->errors.msg_code == JERR_OUT_OF_MEMORY) d->verdict = DATA_NO_MEMORY;
    longjmp(d->end, 1);
}

/* What the library warns of it fills with grey: such a picture is none. But bytes between segments, which
 * cameras leave, hold no pixels. */
static void tell(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR)
        fail(jpeg);
}

static void watch(j_common_ptr jpeg) {
    decoding *d = (decoding *)jpeg->err;
    if (d->jpeg.input_scan_number <= MAX_SCANS) return;
    d->verdict = data_picture_bad(d->worker, "has more than %d scans", MAX_SCANS);
    longjmp(d->end, 1);
}

/* Columns beside the box are left out, but for one block, whose colours reach into it. */
static JDIMENSION crop(decoding *d) {
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
#if JPEG_LIB_VERSION >= 70 /* libjpeg-turbo built as libjpeg 8, as in Ubuntu */
    const int scaled = jpeg->min_DCT_h_scaled_size;
#else
    const int scaled = jpeg->min_DCT_scaled_size;
#endif
    const JDIMENSION block = (JDIMENSION)(jpeg->max_h_samp_factor * scaled);
    uint32_t first, end;
    data_scale_columns(&d->worker->scale, &first, &end);
    JDIMENSION begin = first > block ? first - block : 0, width = jpeg->output_width - begin;
    if (end + block - begin < width) width = end + block - begin;
    if (width < jpeg->output_width) jpeg_crop_scanline(jpeg, &begin, &width);
    return begin;
}

/* Rows that no output depends on are passed over: their bytes are read, for damage, and no pixels made.
 * Passing over the last one would end the reading. */
static void pass_over(decoding *d) {
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    JDIMENSION end = jpeg->output_scanline;
    while (end < jpeg->output_height - 1 && !data_scale_wants(&d->worker->scale, end)) end++;
    if (end > jpeg->output_scanline) (void)jpeg_skip_scanlines(jpeg, end - jpeg->output_scanline);
}

/* A row of four inks becomes one of three colours. What Adobe's programs write is what the ink leaves
 * white. */
static void mix(const struct jpeg_decompress_struct *jpeg, uint8_t *row) {
    const uint8_t turn = jpeg->saw_Adobe_marker ? 0 : 255;
    for (JDIMENSION x = 0; x < jpeg->output_width; x++) {
        const uint8_t *ink = row + (size_t)4 * x;
        const uint32_t black = ink[3] ^ turn;
        uint8_t rgb[3];
        for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(((ink[k] ^ turn) * black + 127) / 255);
        memcpy(row + (size_t)3 * x, rgb, sizeof rgb);
    }
}

/* Whole, as few pictures are of inks. */
static void read_inks(decoding *d) {
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    data_worker *w = d->worker;
    while (jpeg->output_scanline < jpeg->output_height) {
        const JDIMENSION y = jpeg->output_scanline;
        JSAMPROW row = w->row;
        if (jpeg_read_scanlines(jpeg, &row, 1) != 1) continue;
        mix(jpeg, row);
        data_picture_row(w, y, row, jpeg->output_width);
    }
}

static void read_colours(decoding *d, uint8_t *kept) {
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    data_worker *w = d->worker;
    const JDIMENSION begin = kept ? 0 : crop(d);
    while (jpeg->output_scanline < jpeg->output_height) {
        if (!kept) pass_over(d);
        const JDIMENSION y = jpeg->output_scanline;
        uint8_t *pixels = kept ? kept + (size_t)y * jpeg->output_width * w->options->channels : w->row;
        JSAMPROW row = pixels + (size_t)begin * w->options->channels;
        if (jpeg_read_scanlines(jpeg, &row, 1) == 1) data_scale_row(&w->scale, y, pixels);
    }
}

static void decode(decoding *d, int64_t place) {
    data_worker *w = d->worker;
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    (void)jpeg_read_header(jpeg, TRUE);
    d->verdict = data_picture_check(w, jpeg->image_width, jpeg->image_height);
    if (d->verdict != DATA_GOOD) return;
    data_box box = data_draw_box(w->options, place, jpeg->image_width, jpeg->image_height);
    const uint32_t scale = data_picture_scale(w->options, &box);
    jpeg->scale_num = 1;
    jpeg->scale_denom = 1U << scale;
    const bool inks = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = inks ? JCS_CMYK : w->options->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    (void)jpeg_start_decompress(jpeg);
    data_scale_begin(&w->scale, jpeg->output_width, jpeg->output_height, &box,
                     data_draw_flip(w->options, place));
    uint8_t *kept = data_kept_begin(w, true, jpeg->image_width, jpeg->image_height, scale,
                                    jpeg->output_width, jpeg->output_height);
    if (inks)
        read_inks(d);
    else
        read_colours(d, kept);
    (void)jpeg_finish_decompress(jpeg);
}

/* Apart from its caller, whose object it is that changes between the two. */
static void run(decoding *d, int64_t place) {
    if (setjmp(d->end) != 0) return;
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.mem->max_memory_to_use = MAX_BYTES;
    d->jpeg.progress = &d->progress;
    jpeg_mem_src(&d->jpeg, d->worker->file, (unsigned long)d->worker->n_file);
    decode(d, place);
}

data_verdict data_jpeg_read(data_worker *worker, int64_t place) {
    decoding d = {.worker = worker, .verdict = DATA_GOOD};
    d.jpeg.err = jpeg_std_error(&d.errors);
    d.errors.error_exit = fail;
    d.errors.emit_message = tell;
    d.progress.progress_monitor = watch;
    run(&d, place);
    jpeg_destroy_decompress(&d.jpeg);
    return d.verdict;
}
#else
data_verdict data_jpeg_read(data_worker *worker, int64_t place) {
    (void)place;
    return data_picture_bad(worker, "is a JPEG, which this build does not read");
}
#endif
