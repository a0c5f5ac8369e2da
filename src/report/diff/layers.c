/* diff_layers: bytes at the peak and time, summed by the names' prefixes.
 *
 * takes: reports and plans. gives: diff.layers. cost: O(n log n). */
#include "report/diff/diff.h"
#include "report/words/words.h"

#include <stdlib.h>

/* One tensor's bytes or one step's time. */
typedef struct part {
    const char *name; /* the plan's own; the layer is its first n bytes */
    size_t n;
    int which; /* 0: of A, 1: of B */
    int64_t bytes, ns;
} part;

static part part_of(const char *name, int which, int64_t bytes, int64_t ns) {
    const char *dot = strrchr(name, '.');
    return (part){name, dot && dot > name ? (size_t)(dot - name) : strlen(name), which, bytes, ns};
}

static int compare(const part *a, const part *b) {
    size_t n = a->n < b->n ? a->n : b->n;
    int order = memcmp(a->name, b->name, n);
    return order != 0 ? order : a->n < b->n ? -1 : a->n > b->n;
}

static int by_layer(const void *a, const void *b) {
    return compare(a, b); /* equal ones are summed: their order does not matter */
}

static size_t add_parts(const ebb_diff_maker *m, int which, part *parts) {
    const ebb_report *r = m->report[which];
    const ebb_pgraph *graph = m->plan[which]->graph;
    size_t n = 0;
    for (ebb_id b = 0; b < r->n_lives; b++) {
        const ebb_report_life *life = &r->lives[b];
        if (life->owner != b) continue;
        bool at_peak = life->lower <= r->peak_step && life->until > r->peak_step;
        int64_t bytes = life->persistent ? (life->join == EBB_JOIN_NONE ? life->bytes : 0)
                        : at_peak        ? life->held_bytes
                                         : 0;
        parts[n++] = part_of(graph->values[life->value].name, which, bytes, 0);
    }
    for (uint32_t s = 0; s < r->n_steps; s++)
        parts[n++] = part_of(graph->ops[r->steps[s].op].name, which, 0, r->steps[s].time_ns);
    return n;
}

static int64_t apart(int64_t a, int64_t b) {
    return a < b ? b - a : a - b;
}

static int most_different_first(const void *a, const void *b) {
    const ebb_diff_layer *x = a, *y = b;
    int64_t dx = apart(x->a_peak_bytes, x->b_peak_bytes), dy = apart(y->a_peak_bytes, y->b_peak_bytes);
    if (dx != dy) return dx > dy ? -1 : 1;
    dx = apart(x->a_ns, x->b_ns);
    dy = apart(y->a_ns, y->b_ns);
    if (dx != dy) return dx > dy ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (order != 0) return order;
    /* Different names that are shown alike. */
    if (x->a_peak_bytes != y->a_peak_bytes) return x->a_peak_bytes < y->a_peak_bytes ? -1 : 1;
    return x->a_ns < y->a_ns ? -1 : x->a_ns > y->a_ns;
}

static const char *layer_name(ebb_diff_maker *m, const part *p) {
    char *name = ebb_arena_alloc(&m->scratch, p->n + 1, 1);
    if (!name) return NULL;
    memcpy(name, p->name, p->n);
    name[p->n] = '\0';
    return ebb_report_name(&m->diff->arena, name);
}

static void add_part(ebb_diff_layer *layer, const part *p) {
    *(p->which == 0 ? &layer->a_peak_bytes : &layer->b_peak_bytes) += p->bytes;
    *(p->which == 0 ? &layer->a_ns : &layer->b_ns) += p->ns;
}

ebb_status ebb_diff_layers(ebb_diff_maker *m) {
    size_t most = 0, n = 0;
    for (int k = 0; k < 2; k++) most += (size_t)m->report[k]->n_lives + m->report[k]->n_steps;
    part *parts = EBB_NEW(&m->scratch, part, most);
    ebb_diff_layer *layers = EBB_NEW(&m->diff->arena, ebb_diff_layer, most);
    if (!parts || !layers) return EBB_NO_MEMORY;
    n = add_parts(m, 0, parts);
    n += add_parts(m, 1, parts + n);
    qsort(parts, n, sizeof *parts, by_layer);
    for (size_t i = 0, end; i < n; i = end) {
        ebb_diff_layer layer = {NULL, 0, 0, 0, 0};
        for (end = i; end < n && compare(&parts[i], &parts[end]) == 0; end++) add_part(&layer, &parts[end]);
        m->diff->n_layers_all++;
        if (layer.a_peak_bytes == layer.b_peak_bytes && layer.a_ns == layer.b_ns) continue;
        layer.name = layer_name(m, &parts[i]);
        if (!layer.name) return EBB_NO_MEMORY;
        layers[m->diff->n_layers++] = layer;
    }
    qsort(layers, m->diff->n_layers, sizeof *layers, most_different_first);
    m->diff->layers = layers;
    return EBB_OK;
}
