/* html_map: the arena's addresses over time, a box for each time that a tensor owns its bytes and for each
 * step's scratch.
 *
 * takes: lives and steps. cost: O(n log n). Only the EBB_HTML_MAX_BOXES largest are drawn one by one; the
 * others are counted into cells, so that the page stays small however large the plan is. */
#include "report/html/html.h"
#include "report/words/words.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEIGHT = 5000, CELL = 100, CELLS_X = EBB_HTML_WIDTH / CELL, CELLS_Y = HEIGHT / CELL, MAX_CHAIN = 6 };

typedef struct box {
    ebb_id id; /* buffer, or number of buffers + step for scratch */
    uint32_t lower, upper;
    int64_t start, bytes;
    double area;
} box;

typedef struct cell {
    uint32_t n;
    int64_t bytes;
} cell;

typedef struct map {
    const ebb_report *r;
    box *boxes;
    uint32_t n, n_drawn;
    ebb_id *taker; /* per buffer: who is written over it; EBB_NONE */
    cell *cells;
} map;

static int larger_first(const void *a, const void *b) {
    const box *x = a, *y = b;
    if (x->area > y->area || x->area < y->area) return x->area > y->area ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int earlier_first(const void *a, const void *b) {
    const box *x = a, *y = b;
    if (x->lower != y->lower) return x->lower < y->lower ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void add_box(map *m, ebb_id id, uint32_t lower, uint32_t upper, int64_t start, int64_t bytes) {
    m->boxes[m->n++] = (box){id, lower, upper, start, bytes, (double)(upper - lower) * (double)bytes};
}

static void find_boxes(map *m) {
    const ebb_report *r = m->r;
    for (ebb_id b = 0; b < r->n_lives; b++) m->taker[b] = EBB_NONE;
    for (ebb_id b = 0; b < r->n_lives; b++) {
        const ebb_report_life *life = &r->lives[b];
        if (life->join == EBB_JOIN_IN_PLACE && life->joined != EBB_NONE)
            m->taker[r->lives[life->joined].owner] = b;
        if (life->persistent || life->owner != b || life->until <= life->lower) continue;
        add_box(m, b, life->lower, life->until, life->offset, life->bytes);
    }
    for (uint32_t s = 0; s < r->n_steps; s++) {
        int64_t bytes = r->steps[s].bytes[EBB_CATEGORY_SCRATCH];
        if (bytes > 0) add_box(m, r->n_lives + s, s, s + 1, r->steps[s].scratch_offset, bytes);
    }
    m->n_drawn = m->n < EBB_HTML_MAX_BOXES ? m->n : EBB_HTML_MAX_BOXES;
    qsort(m->boxes, m->n, sizeof *m->boxes, larger_first);
    qsort(m->boxes, m->n_drawn, sizeof *m->boxes, earlier_first);
}

static int x_of(const map *m, uint32_t step) {
    return (int)((uint64_t)step * EBB_HTML_WIDTH / m->r->n_points);
}

static int y_of(const map *m, int64_t offset) {
    double share = m->r->arena_bytes > 0 ? (double)offset / (double)m->r->arena_bytes : 0;
    return HEIGHT - (int)(share * HEIGHT + 0.5);
}

/* conv1 > bn1 > relu: whose bytes these were before and who takes them over. */
static void print_chain(ebb_text *out, const map *m, ebb_id b) {
    const ebb_report_life *lives = m->r->lives;
    ebb_id at = b;
    if (lives[b].join != EBB_JOIN_IN_PLACE && m->taker[b] == EBB_NONE) return;
    for (int i = 0; i < MAX_CHAIN && lives[at].join == EBB_JOIN_IN_PLACE; i++)
        at = lives[lives[at].joined].owner;
    ebb_text_add(out, "\nin place: %s", lives[at].join == EBB_JOIN_IN_PLACE ? "… > " : "");
    for (int i = 0; i < 2 * MAX_CHAIN && at != EBB_NONE; i++, at = m->taker[at]) {
        if (i > 0) ebb_text_add(out, " > ");
        ebb_html_put(out, lives[at].name);
    }
    if (at != EBB_NONE) ebb_text_add(out, " > …");
}

/* Shape and layer, as far as they are known: a layer is a name up to its last dot. */
static void print_kin(ebb_text *out, const ebb_report_life *life) {
    const char *dot = strrchr(life->name, '.');
    if (life->shape[0] != '\0') {
        ebb_text_add(out, "\nshape ");
        ebb_html_put(out, life->shape);
    }
    if (!dot || dot == life->name) return;
    char layer[(EBB_NAME_CODES + 2) * 4];
    (void)snprintf(layer, sizeof layer, "%.*s", (int)(dot - life->name), life->name);
    ebb_text_add(out, "\nlayer ");
    ebb_html_put(out, layer);
}

static void print_title(ebb_text *out, const map *m, const box *x) {
    const ebb_report *r = m->r;
    if (x->id >= r->n_lives) {
        ebb_text_add(out, "scratch of step %u\n", x->lower);
        ebb_html_put(out, r->steps[x->lower].name);
        ebb_text_add(out, "\n%s at %lld", ebb_word_bytes(x->bytes).text, (long long)x->start);
        return;
    }
    const ebb_report_life *life = &r->lives[x->id];
    ebb_html_put(out, life->name);
    ebb_text_add(out, "\n%s, %s at %lld", ebb_category_name(life->category), ebb_word_bytes(x->bytes).text,
                 (long long)x->start);
    print_kin(out, life);
    uint32_t death = life->upper > life->lower ? life->upper - 1 : life->lower;
    ebb_text_add(out, "\nborn in step %u, last used in step %u", life->lower, death);
    if (x->upper - 1 != death) ebb_text_add(out, "; owns its bytes until step %u", x->upper - 1);
    ebb_text_add(out, "\n");
    if (life->writer != EBB_NONE) {
        ebb_text_add(out, "made by ");
        ebb_html_put(out, r->steps[life->writer].name);
        ebb_text_add(out, " (");
        ebb_html_put(out, r->steps[life->writer].kind);
        ebb_text_add(out, ")\n");
    }
    ebb_report_why(out, r, x->id);
    print_chain(out, m, x->id);
}

static void print_box(ebb_text *out, const map *m, const box *x) {
    const ebb_report *r = m->r;
    ebb_category category = x->id < r->n_lives ? r->lives[x->id].category : EBB_CATEGORY_SCRATCH;
    int left = x_of(m, x->lower), right = x_of(m, x->upper), top = y_of(m, x->start + x->bytes);
    int bottom = y_of(m, x->start);
    ebb_text_add(out, "<rect class=\"t %s\"", ebb_category_name(category));
    if (x->id < r->n_lives) ebb_text_add(out, " data-b=\"%u\"", x->id);
    ebb_text_add(out, " x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>", left, top,
                 right > left ? right - left : 1, bottom > top ? bottom - top : 1);
    print_title(out, m, x);
    ebb_text_add(out, "</title></rect>\n");
}

/* Each of the rest into the cell of its middle. */
static void print_rest(ebb_text *out, map *m) {
    for (uint32_t i = m->n_drawn; i < m->n; i++) {
        const box *x = &m->boxes[i];
        int column = (x_of(m, x->lower) + x_of(m, x->upper)) / 2 / CELL;
        int row = (y_of(m, x->start) + y_of(m, x->start + x->bytes)) / 2 / CELL;
        cell *c = &m->cells[(row < CELLS_Y ? row : CELLS_Y - 1) * CELLS_X +
                            (column < CELLS_X ? column : CELLS_X - 1)];
        c->n++;
        c->bytes += x->bytes; /* at most the sum of the plan's buffers, which the audit found to fit */
    }
    for (int i = 0; i < CELLS_X * CELLS_Y; i++)
        if (m->cells[i].n > 0)
            ebb_text_add(out,
                         "<rect class=\"t many\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%u "
                         "small tensors, "
                         "together %s</title></rect>\n",
                         i % CELLS_X * CELL + CELL / 4, i / CELLS_X * CELL + CELL / 4, CELL / 2, CELL / 2,
                         m->cells[i].n, ebb_word_bytes(m->cells[i].bytes).text);
}

static void print_scale(ebb_text *out, const map *m) {
    double step = ebb_axis_step((double)m->r->arena_bytes, true);
    for (int k = 1; k * step < (double)m->r->arena_bytes * 0.97; k++) {
        double at = k * step;
        int y = y_of(m, (int64_t)at);
        ebb_text_add(out, "<path class=\"grid\" d=\"M0 %dH%d\"/>\n<text x=\"60\" y=\"%d\">%s</text>\n", y,
                     EBB_HTML_WIDTH, y - 40, ebb_axis_word(EBB_AXIS_BYTES, at).text);
    }
}

static void print_map(ebb_text *out, map *m) {
    const ebb_report *r = m->r;
    int peak = (x_of(m, r->peak_step) + x_of(m, r->peak_step + 1)) / 2;
    ebb_text_add(out,
                 "<section id=\"map\">\n<h2>Addresses over the steps</h2>\n<div "
                 "class=\"side\">\n<figure>\n<svg viewBox=\"0 0 %d %d\" "
                 "role=\"img\" aria-label=\"The arena's %s over %u steps: who owns which bytes when\">\n",
                 EBB_HTML_WIDTH, HEIGHT, ebb_word_bytes(r->arena_bytes).text, r->n_steps);
    for (uint32_t i = 0; i < m->n_drawn; i++) print_box(out, m, &m->boxes[i]);
    print_rest(out, m);
    print_scale(out, m);
    ebb_text_add(out, "<path class=\"peak\" d=\"M%d 0V%d\"><title>step of the peak</title></path>\n", peak,
                 HEIGHT);
    ebb_text_add(out,
                 "</svg>\n<figcaption>The arena, %s high, by the colours above; the dashed line is the "
                 "step of the peak. "
                 "Hover for a tensor; with the script also the arrow keys. The persistent region (%s) is "
                 "not drawn: it "
                 "never changes its layout.",
                 ebb_word_bytes(r->arena_bytes).text, ebb_word_bytes(r->persistent_bytes).text);
    if (m->n > m->n_drawn)
        ebb_text_add(
            out, " The %u largest boxes are drawn one by one; the %u others are summed up in grey squares.",
            m->n_drawn, m->n - m->n_drawn);
    ebb_text_add(out, "</figcaption>\n</figure>\n<div class=\"panel\" id=\"map-panel\" "
                      "role=\"status\" hidden></div>\n</div>\n</section>\n");
}

void ebb_html_map(ebb_text *out, const ebb_report *r) {
    ebb_arena arena;
    ebb_arena_init(&arena, out->env);
    map m = {.r = r,
             .boxes = EBB_NEW(&arena, box, (size_t)r->n_lives + r->n_steps),
             .taker = EBB_NEW(&arena, ebb_id, r->n_lives),
             .cells = EBB_NEW(&arena, cell, CELLS_X * CELLS_Y)};
    if (m.boxes && m.taker && m.cells) {
        find_boxes(&m);
        print_map(out, &m);
    } else {
        out->failed = true;
    }
    ebb_arena_deinit(&arena);
}
