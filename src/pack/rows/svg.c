/* svg: a packing as a drawing: steps to the right, addresses up, each row a rectangle in each of its
 * parts, with its name and figures where the pointer rests.
 *
 * takes: packed rows, pools on top of one another. gives: SVG. What is thinner than THINNEST both ways is
 * left out, and said so. cost: O(rows and gaps). */
#include "pack/pack.h"

#include <math.h>
#include <stdio.h>

#define WIDTH    1200.0
#define HEIGHT   700.0
#define MARGIN   40.0
#define THINNEST 0.15 /* of a pixel */

typedef struct scale {
    double lower, per_step, per_byte;
} scale;

static void put_safe(ebb_text *text, const char *name) {
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c == '<')
            ebb_text_put(text, "&lt;", 4);
        else if (c == '>')
            ebb_text_put(text, "&gt;", 4);
        else if (c == '&')
            ebb_text_put(text, "&amp;", 5);
        else if (c < 0x20 || c >= 0x7f)
            ebb_text_put(text, "?", 1);
        else
            ebb_text_put(text, name, 1);
    }
}

static scale find_scale(const ebb_rows *rows) {
    double lower = 0, upper = 1;
    for (uint32_t i = 0; i < rows->n; i++) {
        if (i == 0 || (double)rows->rows[i].lower < lower) lower = (double)rows->rows[i].lower;
        if (i == 0 || (double)rows->rows[i].upper > upper) upper = (double)rows->rows[i].upper;
    }
    return (scale){lower, WIDTH / (upper - lower), rows->height > 0 ? HEIGHT / (double)rows->height : 0};
}

/* A golden-angle walk around the hues: neighbours differ. */
static uint32_t hue_of(uint32_t i) {
    return (uint32_t)((uint64_t)i * 137 % 360);
}

/* 12.34, in every locale. Nothing that is drawn lies at a negative place. */
static const char *hundredths(double x, char word[24]) {
    const long long n = llround(100 * x);
    (void)snprintf(word, 24, "%lld.%02lld", n / 100, n % 100);
    return word;
}

static bool draw_part(ebb_text *text, const ebb_rows *rows, uint32_t i, const scale *s, ebb_steps steps,
                      ebb_window bytes) {
    const ebb_row *row = &rows->rows[i];
    double width = ((double)steps.upper - (double)steps.lower) * s->per_step,
           height = (double)(bytes.upper - bytes.lower) * s->per_byte;
    int64_t bottom = rows->given ? rows->pool_bottom[rows->given[i]] : 0;
    char word[4][24];
    if (width < THINNEST && height < THINNEST) return false;
    ebb_text_add(
        text, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"hsl(%u,60%%,70%%)\"><title>",
        hundredths(MARGIN + ((double)steps.lower - s->lower) * s->per_step, word[0]),
        hundredths(MARGIN + HEIGHT - (double)(bottom + rows->packed[i] + bytes.upper) * s->per_byte,
                   word[1]),
        hundredths(width, word[2]), hundredths(height, word[3]), hue_of(i));
    put_safe(text, rows->ids[i]);
    ebb_text_add(text, ": steps [%lld, %lld), bytes [%lld, %lld)</title></rect>\n", (long long)row->lower,
                 (long long)row->upper, (long long)rows->packed[i],
                 (long long)(rows->packed[i] + row->size));
    return true;
}

static uint32_t draw_row(ebb_text *text, const ebb_rows *rows, uint32_t i, const scale *s) {
    const ebb_window whole = {0, rows->rows[i].size};
    const ebb_steps *gaps = rows->gaps;
    uint32_t n_left_out = 0;
    int64_t lower = rows->rows[i].lower, upper = rows->rows[i].upper;
    for (uint32_t g = rows->gaps_from ? rows->gaps_from[i] : 0;
         rows->gaps_from && g < rows->gaps_from[i + 1]; g++) {
        if (lower < gaps[g].lower && !draw_part(text, rows, i, s, (ebb_steps){lower, gaps[g].lower}, whole))
            n_left_out++;
        if (rows->windows && rows->windows[g].upper > 0 &&
            !draw_part(text, rows, i, s, gaps[g], rows->windows[g]))
            n_left_out++;
        lower = gaps[g].upper;
    }
    if (lower < upper && !draw_part(text, rows, i, s, (ebb_steps){lower, upper}, whole)) n_left_out++;
    return n_left_out;
}

void ebb_rows_svg(ebb_text *text, const ebb_rows *rows) {
    scale s = find_scale(rows);
    uint32_t n_left_out = 0;
    ebb_text_add(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
        "font-size=\"13\">\n<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" "
        "stroke=\"#888\"/>\n<g stroke=\"#333\" stroke-width=\"0.3\">\n",
        WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN, MARGIN, MARGIN, WIDTH, HEIGHT);
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->rows[i].size > 0) n_left_out += draw_row(text, rows, i, &s);
    ebb_text_add(text, "</g>\n<text x=\"%.0f\" y=\"%.0f\">%lld bytes</text>\n", MARGIN, MARGIN - 8,
                 (long long)rows->height);
    ebb_text_add(text, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">steps</text>\n", MARGIN + WIDTH,
                 MARGIN + HEIGHT + 18);
    if (n_left_out > 0)
        ebb_text_add(text, "<text x=\"%.0f\" y=\"%.0f\">%u are too small to draw</text>\n", MARGIN,
                     MARGIN + HEIGHT + 18, n_left_out);
    ebb_text_add(text, "</svg>\n");
}
