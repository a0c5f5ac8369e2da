/* megengine: the layout of MegEngine's StaticMemoryInfo.json, for the tools that read it. Two objects of
 * objects by id, whose members are all texts: "chunk" and "opr" (MegEngine's
 * src/core/impl/utils/visable_data_set.cpp; docs/report.md tells what maps to what). */
#include "report/views/views.h"

#include <stdio.h>

static void put_figure(ebb_json_out *json, const char *key, int64_t figure) {
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)figure);
    ebb_json_put_text(json, key, text);
}

typedef struct chunk {
    bool weight;
    uint32_t lower, upper;
    int64_t start, end;
    ebb_id over; /* chunk that it is written over; EBB_NONE */
} chunk;

static void print_chunk(ebb_json_out *json, uint64_t id, chunk c) {
    char key[24];
    (void)snprintf(key, sizeof key, "%llu", (unsigned long long)id);
    ebb_json_begin(json, key, '{', false);
    ebb_json_put_text(json, "id", key);
    ebb_json_put_text(json, "type", c.weight ? "weight_mem" : "static_mem");
    put_figure(json, "time_begin", c.lower);
    put_figure(json, "time_end", c.upper);
    put_figure(json, "logic_addr_begin", c.start);
    put_figure(json, "logic_addr_end", c.end);
    put_figure(json, "overwrite_dest_id", c.over == EBB_NONE ? -1 : (int64_t)c.over);
    ebb_json_end(json, '}');
}

/* Views and updates are no chunks: they are in that of their base. Weights are stacked above the arena. */
static void print_life(ebb_json_out *json, const ebb_report *r, ebb_id b) {
    const ebb_report_life *life = &r->lives[b];
    if (life->owner != b || life->join == EBB_JOIN_UPDATE) return;
    uint32_t upper =
        life->until > life->upper ? life->until : life->upper; /* the step that overwrites reads it */
    int64_t start = life->persistent ? r->arena_bytes + life->offset : life->offset;
    chunk c = {.weight = life->persistent,
               .lower = life->persistent ? 0 : life->lower,
               .upper = life->persistent ? r->n_points : upper,
               .start = start,
               .end = start + life->bytes,
               .over = life->join == EBB_JOIN_IN_PLACE ? r->lives[life->joined].owner : EBB_NONE};
    print_chunk(json, b, c);
}

void ebb_report_megengine(ebb_text *out, const ebb_report *r) {
    ebb_json_out json;
    ebb_json_out_init(&json, out);
    ebb_json_begin(&json, NULL, '{', true);
    ebb_json_begin(&json, "chunk", '{', true);
    for (ebb_id b = 0; b < r->n_lives; b++) print_life(&json, r, b);
    for (uint32_t s = 0; s < r->n_steps; s++) {
        const ebb_report_step *step = &r->steps[s];
        int64_t bytes = step->bytes[EBB_CATEGORY_SCRATCH];
        if (bytes > 0)
            print_chunk(
                &json, (uint64_t)r->n_lives + s,
                (chunk){false, s, s + 1, step->scratch_offset, step->scratch_offset + bytes, EBB_NONE});
    }
    ebb_json_end(&json, '}');
    ebb_json_begin(&json, "opr", '{', true);
    for (uint32_t s = 0; s < r->n_steps; s++) {
        char key[24];
        (void)snprintf(key, sizeof key, "%u", s);
        ebb_json_begin(&json, key, '{', false);
        ebb_json_put_text(&json, "id", key);
        ebb_json_put_text(&json, "name", r->steps[s].name);
        ebb_json_end(&json, '}');
    }
    ebb_json_end(&json, '}');
    ebb_json_end(&json, '}');
    ebb_text_add(out, "\n");
}
