/* A loader: one batch is made ready as bytes while the caller computes; when it is asked for, it is written
 * to the input as elements, and the next one is begun. */
#include "data/loader.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_BATCH = 1 << 20, MOST_SIDE = 4096, MOST_THREADS = 256, LINE_BYTES = 1024 };

void ebb_loader_options_channels(ebb_loader_options *o, uint32_t channels) {
    static const float mean[3] = {0.485F, 0.456F, 0.406F}, deviation[3] = {0.229F, 0.224F, 0.225F};
    o->channels = channels;
    for (int c = 0; c < 3; c++) {
        o->mean[c] = channels == 3 ? mean[c] : 0.5F;
        o->deviation[c] = channels == 3 ? deviation[c] : 0.5F;
    }
}

void ebb_loader_options_init(const ebb_data *data, ebb_loader_options *o) {
    const bool files = data->files != NULL;
    *o = (ebb_loader_options){.batch = 32,
                              .height = files ? 224 : data->height,
                              .width = files ? 224 : data->width,
                              .seed = 1,
                              .crop_least = files ? 0.35 : 1,
                              .flip = files};
    ebb_loader_options_channels(o, files ? 3 : data->channels);
}

/* ---- making and ending ---- */

static ebb_status check(ebb_env *env, const ebb_data *data, const ebb_loader_options *o) {
    bool good = o->batch >= 1 && o->batch <= MOST_BATCH && (o->channels == 1 || o->channels == 3) &&
                o->height >= 1 && o->height <= MOST_SIDE && o->width >= 1 && o->width <= MOST_SIDE &&
                o->n_threads <= MOST_THREADS;
    if (!good)
        return ebb_fail(
            env, EBB_USAGE,
            "a batch of %u pictures of %u x %u x %u by %u threads; at most %d, of 1 or 3 channels and "
            "sides of up to %d, by %d",
            o->batch, o->channels, o->height, o->width, o->n_threads, MOST_BATCH, MOST_SIDE, MOST_THREADS);
    if (data_element_bytes(o->element) == 0)
        return ebb_fail(env, EBB_USAGE, "pictures are f32, f64, f16 or bf16; the input is not");
    if (!(o->crop_least > 0 && o->crop_least <= 1))
        return ebb_fail(env, EBB_USAGE, "a crop's least share %g; it must be above 0 and at most 1",
                        o->crop_least);
    for (int c = 0; c < 3; c++)
        if (!(o->deviation[c] > 0 && o->deviation[c] < 1e30F && o->mean[c] > -1e30F && o->mean[c] < 1e30F))
            return ebb_fail(env, EBB_USAGE, "channel %d: mean %g, deviation %g; it must be above 0", c,
                            (double)o->mean[c], (double)o->deviation[c]);
    if (o->keep_decoded_bytes < 0 || (o->keep_decoded_bytes > 0 && !data->files))
        return ebb_fail(
            env, EBB_USAGE,
            "%s: %lld bytes for decoded pictures; at least 0, and 0 of records, which need no decoding",
            data->path, (long long)o->keep_decoded_bytes);
    if (data->n_parts[o->part] == 0)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: no picture is %s", data->path,
                        o->part == EBB_DATA_TRAIN ? "left to train on" : "held out");
    return EBB_OK;
}

static ebb_status take_memory(ebb_loader *l) {
    const ebb_loader_options *o = &l->options;
    const uint32_t n_workers = o->n_threads + 1;
    l->picture_bytes = (size_t)o->channels * o->height * o->width;
    l->bytes = EBB_NEW(&l->arena, uint8_t, l->picture_bytes * o->batch);
    l->slots = EBB_NEW(&l->arena, loader_slot, o->batch);
    l->order = EBB_NEW(&l->arena, uint32_t, o->batch);
    l->known_bad = ebb_arena_alloc(&l->arena, (size_t)(l->data->n + 63) / 64, sizeof *l->known_bad);
    l->workers = EBB_NEW(&l->arena, data_worker, n_workers);
    if (!l->bytes || !l->slots || !l->order || !l->known_bad || !l->workers) return EBB_NO_MEMORY;
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < n_workers && status == EBB_OK; i++)
        status = data_worker_make(&l->arena, l->data, o, &l->kept, &l->workers[i]);
    return status;
}

ebb_status ebb_loader_create(ebb_env *env, const ebb_data *data, const ebb_loader_options *options,
                             ebb_loader **out) {
    *out = NULL;
    ebb_status status = check(env, data, options);
    if (status != EBB_OK) return status;
    ebb_loader *l = ebb_calloc(env, 1, sizeof *l);
    if (!l) return EBB_NO_MEMORY;
    l->env = env;
    l->data = data;
    l->options = *options;
    l->step = -1;
    if (l->options.n_threads == 0)
        l->options.n_threads = (uint32_t)ebb_min_i64(ebb_cpu_count(), MOST_THREADS);
    ebb_arena_init(&l->arena, env);
    (void)pthread_mutex_init(&l->lock, NULL);
    data_palette_make(&l->options, &l->palette);
    status = take_memory(l);
    if (status == EBB_OK) status = data_kept_make(env, data->n, l->options.keep_decoded_bytes, &l->kept);
    if (status == EBB_OK) status = data_team_make(&l->arena, l->options.n_threads, &l->team);
    if (status == EBB_OK)
        *out = l;
    else
        ebb_loader_destroy(l);
    return status;
}

void ebb_loader_destroy(ebb_loader *l) {
    if (!l) return;
    ebb_env *env = l->env;
    data_team_end(&l->team);
    data_kept_end(env, l->data->n, &l->kept);
    (void)pthread_mutex_destroy(&l->lock);
    ebb_arena_deinit(&l->arena);
    ebb_cfree(env, l, 1, sizeof *l);
}

/* ---- pictures that cannot be read ---- */

static int by_slot(const void *a, const void *b) {
    const loader_bad *x = a, *y = b;
    if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void bad_text(const ebb_loader *l, int64_t index, const char *why, char line[LINE_BYTES]) {
    if (l->data->files)
        (void)snprintf(line, LINE_BYTES, "%.300s/%.400s %s", l->data->path, l->data->files[index].name,
                       why);
    else
        (void)snprintf(line, LINE_BYTES, "%.300s: record %lld %s", l->data->path, (long long)index, why);
}

/* Tells what was found since the last batch. */
static ebb_status tell_bads(ebb_loader *l) {
    char line[LINE_BYTES];
    const uint32_t n = l->n_bads < LOADER_NAMED ? l->n_bads : LOADER_NAMED, n_more = l->n_bads - n;
    if (n > 1) qsort(l->bads, n, sizeof l->bads[0], by_slot);
    l->n_bads = 0;
    if (n > 0 && l->options.strict) {
        bad_text(l, l->bads[0].index, l->bads[0].why, line);
        return ebb_fail(l->env, EBB_BAD_INPUT, "%s: remove it, or leave strict out to pass over it", line);
    }
    for (uint32_t i = 0; i < n && l->options.on_bad; i++) {
        bad_text(l, l->bads[i].index, l->bads[i].why, line);
        l->options.on_bad(l->options.ctx, line);
    }
    if (n_more > 0 && l->options.on_bad) {
        (void)snprintf(line, sizeof line, "%.300s: %u more that cannot be read", l->data->path, n_more);
        l->options.on_bad(l->options.ctx, line);
    }
    return EBB_OK;
}

/* ---- a batch ---- */

static void begin(ebb_loader *l, int64_t step) {
    if (l->options.strict) l->n_bads = 0; /* of a batch that nobody took */
    l->step = step;
    data_team_begin(&l->team, loader_decode, l, l->options.batch);
}

/* The slots that count, in their order; training needs all. */
static ebb_status sort_slots(ebb_loader *l, uint32_t *n) {
    uint32_t n_rest = l->options.batch;
    *n = 0;
    for (uint32_t i = 0; i < l->options.batch; i++)
        if (l->slots[i].verdict == DATA_NO_MEMORY)
            return ebb_fail(l->env, EBB_NO_MEMORY, "%s: no memory to decode picture %lld", l->data->path,
                            (long long)l->slots[i].index);
    for (uint32_t i = 0; i < l->options.batch; i++) {
        if (l->slots[i].verdict == DATA_GOOD)
            l->order[(*n)++] = i;
        else
            l->order[--n_rest] = i;
    }
    if (l->options.part == EBB_DATA_HELD_OUT || *n == l->options.batch) return EBB_OK;
    return ebb_fail(l->env, EBB_BAD_INPUT, "%s: %d pictures drawn in a row cannot be read: mend the data",
                    l->data->path, LOADER_ATTEMPTS);
}

static void write_slot(void *ctx, uint32_t i, uint32_t worker) {
    const ebb_loader *l = ctx;
    const loader_slot *s = &l->slots[l->order[i]];
    const size_t bytes = l->picture_bytes * data_element_bytes(l->options.element);
    (void)worker;
    data_fill(&l->options, &l->palette,
              s->verdict == DATA_GOOD ? l->bytes + l->order[i] * l->picture_bytes : NULL,
              (char *)l->to + i * bytes);
}

static void hand_over(ebb_loader *l, void *pictures, int32_t *labels) {
    l->to = pictures;
    data_team_begin(&l->team, write_slot, l, l->options.batch);
    data_team_wait(&l->team);
    for (uint32_t i = 0; i < l->options.batch; i++) {
        const loader_slot *s = &l->slots[l->order[i]];
        labels[i] = s->verdict == DATA_GOOD ? (int32_t)l->data->labels[s->index] : 0;
    }
}

static void wait_for(ebb_loader *l, int64_t step) {
    const uint64_t begin_ns = ebb_clock_ns(l->env);
    if (l->step >= 0) data_team_wait(&l->team);
    if (l->step != step) {
        begin(l, step);
        data_team_wait(&l->team);
    }
    if (l->waited) l->wait_ns += (int64_t)(ebb_clock_ns(l->env) - begin_ns);
    l->waited = true;
}

ebb_status ebb_loader_batch(ebb_loader *l, int64_t step, void *pictures, size_t bytes, int32_t *labels,
                            uint32_t *n) {
    const ebb_loader_options *o = &l->options;
    const size_t want = l->picture_bytes * o->batch * data_element_bytes(o->element);
    *n = 0;
    if (step < 0 || step > INT64_MAX / o->batch - 1)
        return ebb_fail(l->env, EBB_USAGE, "step %lld is not in [0, %lld)", (long long)step,
                        (long long)(INT64_MAX / o->batch));
    if (bytes != want) return ebb_fail(l->env, EBB_USAGE, "a batch has %zu bytes, not %zu", want, bytes);
    wait_for(l, step);
    ebb_status status = tell_bads(l);
    if (status == EBB_OK) status = sort_slots(l, n);
    if (status != EBB_OK) {
        l->step = -1;
        return status;
    }
    hand_over(l, pictures, labels);
    if (o->part == EBB_DATA_TRAIN || (step + 1) * o->batch < l->data->n_parts[EBB_DATA_HELD_OUT])
        begin(l, step + 1);
    else
        l->step = -1;
    return EBB_OK;
}

void ebb_loader_look(ebb_loader *l, ebb_loader_facts *out) {
    *out = (ebb_loader_facts){.n_pictures = atomic_load(&l->n_pictures),
                              .n_from_kept = atomic_load(&l->n_from_kept),
                              .n_bad = atomic_load(&l->n_bad),
                              .busy_ns = atomic_load(&l->busy_ns),
                              .wait_ns = l->wait_ns,
                              .kept_bytes = atomic_load(&l->kept.used_bytes),
                              .n_threads = l->team.n_threads};
}
