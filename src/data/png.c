/* PNG, by libspng, row by row. Rows of an interlaced picture come in seven parts; what scales them adds
 * parts up, so that no whole picture is held. */
#include "data/picture.h"

#include "ebb_build.h"

#if EBB_HAVE_SPNG
#include <spng.h>

static data_verdict bad(data_worker *w, int error) {
    if (error == SPNG_EMEM) return DATA_NO_MEMORY;
    return data_picture_bad(w, "is damaged: %.120s", spng_strerror(error));
}

static data_verdict read_rows(data_worker *w, spng_ctx *png, const struct spng_ihdr *head) {
    const size_t n = (size_t)3 * head->width;
    int error = spng_decode_image(png, NULL, 0, SPNG_FMT_RGB8, SPNG_DECODE_PROGRESSIVE);
    while (error == 0) {
        struct spng_row_info info;
        error = spng_get_row_info(png, &info);
        if (error != 0) break;
        if (head->interlace_method != 0) memset(w->row, 0, n);
        error = spng_decode_row(png, w->row, n);
        if (error == 0 || error == SPNG_EOI) data_picture_row(w, info.row_num, w->row, head->width);
    }
    return error == SPNG_EOI ? DATA_GOOD : bad(w, error);
}

static data_verdict decode(data_worker *w, spng_ctx *png, int64_t place) {
    struct spng_ihdr head;
    int error = spng_set_png_buffer(png, w->file, (size_t)w->n_file);
    if (error == 0)
        error =
            spng_set_chunk_limits(png, (size_t)EBB_DATA_MAX_FILE_BYTES, (size_t)EBB_DATA_MAX_FILE_BYTES);
    if (error == 0) error = spng_get_ihdr(png, &head);
    if (error != 0) return bad(w, error);
    const data_verdict verdict = data_picture_check(w, head.width, head.height);
    if (verdict != DATA_GOOD) return verdict;
    const data_box box = data_draw_box(w->options, place, head.width, head.height);
    data_scale_begin(&w->scale, head.width, head.height, &box, data_draw_flip(w->options, place));
    if (head.interlace_method == 0) /* parts of rows are added up in another order than rows */
        (void)data_kept_begin(w, false, head.width, head.height, 0, head.width, head.height);
    return read_rows(w, png, &head);
}

data_verdict data_png_read(data_worker *worker, int64_t place) {
    spng_ctx *png = spng_ctx_new(0);
    if (!png) return DATA_NO_MEMORY;
    const data_verdict verdict = decode(worker, png, place);
    spng_ctx_free(png);
    return verdict;
}
#else
data_verdict data_png_read(data_worker *worker, int64_t place) {
    (void)place;
    return data_picture_bad(worker, "is a PNG, which this build does not read");
}
#endif
