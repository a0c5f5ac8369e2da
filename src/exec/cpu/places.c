/* cpu/places.c: see places.h. */
#include "exec/cpu/places.h"

typedef struct places {
    const ebb_walk *walk;
    cpu_places_kernel *kernel;
    const char *in[EBB_WALK_OPERANDS];
    char *y;
    int64_t in_bytes[EBB_WALK_OPERANDS], y_bytes; /* of an element */
} places;

/* begin and end in elements of the result. */
static void places_span(const void *ctx, int64_t begin, int64_t end) {
    const places *p = ctx;
    const ebb_walk *w = p->walk;
    const uint32_t last = w->n_dims - 1;
    ebb_walk_place at = ebb_walk_place_of(w, begin);
    while (begin < end) {
        cpu_places_row row = {.y = p->y + begin * p->y_bytes,
                              .n = ebb_min_i64(w->size[last] - at.at[last], end - begin)};
        for (uint32_t j = 0; j < w->n_operands; j++) {
            row.in[j] = p->in[j] + at.element[j] * p->in_bytes[j];
            row.stride[j] = w->stride[j][last];
        }
        p->kernel(&row);
        begin += row.n;
        ebb_walk_on(w, &at, row.n);
    }
}

ebb_status cpu_places_run(const ebb_kernel_run *run, const ebb_walk *walk, cpu_places_kernel *kernel,
                          int64_t each) {
    const ebb_call *call = run->call;
    places p = {.walk = walk,
                .kernel = kernel,
                .y = run->launch->out[0],
                .y_bytes = ebb_dtype_bytes(call->out[0].dtype)};
    for (uint32_t j = 0; j < call->n_in; j++) {
        p.in[j] = run->launch->in[j];
        p.in_bytes[j] = ebb_dtype_bytes(call->in[j].dtype);
    }
    const int64_t n = ebb_walk_count(walk);
    cpu_spans(cpu_of(run->backend), n, CPU_ALIGNMENT, each * n, places_span, &p);
    return EBB_OK;
}

ebb_status cpu_places_launch(const ebb_kernel_run *run, cpu_places_kernel *kernel, int64_t each) {
    ebb_walk walk;
    ebb_walk_begin(&walk, &run->call->out[0]);
    for (uint32_t j = 0; j < run->call->n_in; j++) ebb_walk_broadcast(&walk, &run->call->in[j]);
    ebb_walk_end(&walk);
    return cpu_places_run(run, &walk, kernel, each);
}
