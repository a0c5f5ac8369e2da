/* data: --data: which inputs of the model the pictures and labels are for, and batches of them. */
#include "tool/commands/run/run.h"

#include <stdlib.h>
#include <string.h>

ebb_status run_data_check(tool *t) {
    const tool_args *a = &t->args;
    const bool asks = a->held_out >= 0 || a->evaluate_every > 0 || a->crop >= 0 || a->flip || a->strict ||
                      a->data_threads > 0 || a->keep_decoded_bytes >= 0;
    if (!a->data && asks)
        return tool_fail(t, EBB_USAGE,
                         "--held-out, --evaluate-every, --crop, --flip, --strict, --data-threads and "
                         "--keep-decoded belong to --data PATH: give it, or leave them out");
    if (a->evaluate_every > 0 && a->held_out <= 0)
        return tool_fail(
            t, EBB_USAGE,
            "--evaluate-every needs --held-out SHARE, the part that is not trained on: 20%%, for instance");
    if (a->evaluate_every > 0 && a->device && strcmp(a->device, "shadow") == 0)
        return tool_fail(t, EBB_USAGE,
                         "device shadow computes nothing to evaluate: leave --evaluate-every out");
    if (a->held_out >= 1 && !a->evaluate)
        return tool_fail(t, EBB_USAGE, "a held-out share of %g leaves nothing to train on", a->held_out);
    if (a->data && a->compare)
        return tool_fail(t, EBB_USAGE, "--compare makes its inputs up: leave --data out, or --compare");
    return a->data && a->evaluate ? evaluation_check(t) : EBB_OK;
}

ebb_status run_data_open(run_session *s) {
    const tool_args *a = &s->t->args;
    if (!a->data) return EBB_OK;
    const double share = a->held_out >= 0 ? a->held_out : a->evaluate ? 1 : 0;
    const ebb_status status = ebb_data_open(s->t->env, a->data, share, &s->data.set);
    if (status == EBB_OK) ebb_data_look(s->data.set, &s->data.facts);
    return status;
}

/* ---- inputs ---- */

static bool is_real(ebb_element e) {
    return e == EBB_FLOAT32 || e == EBB_FLOAT64 || e == EBB_FLOAT16 || e == EBB_BFLOAT16;
}

/* The one input of pictures and the one of labels; the learning rate beside them. */
static ebb_status find_inputs(run_session *s, ebb_tensor_info *pictures, ebb_tensor_info *labels) {
    tool *t = s->t;
    ebb_tensor_info info;
    uint32_t n_others = 0;
    *pictures = *labels = (ebb_tensor_info){.name = NULL};
    for (uint32_t i = 0; i < s->in.n; i++) {
        const ebb_status status = ebb_program_tensor(s->program, s->in.name[i], &info);
        if (status != EBB_OK) return status;
        if (info.rank == 0 && strcmp(info.name, "lr") == 0) continue;
        if (!pictures->name && is_real(info.element) && (info.rank == 4 || info.rank == 2))
            *pictures = info;
        else if (!labels->name && info.element == EBB_INT32 && info.rank == 1)
            *labels = info;
        else
            n_others++;
    }
    if (pictures->name && labels->name && n_others == 0 && pictures->dim[0] == labels->dim[0])
        return EBB_OK;
    return tool_fail(
        t, EBB_BAD_INPUT,
        "%.200s: --data feeds two inputs, pictures f32[N,C,H,W] or f32[N,F] and labels i32[N]; this "
        "model's are others",
        t->args.operand);
}

static ebb_status check_labels(const run_session *s, const ebb_tensor_info *labels) {
    if ((int64_t)s->data.facts.n_classes <= labels->below || labels->below <= 0) return EBB_OK;
    return tool_fail(s->t, EBB_BAD_INPUT,
                     "%.200s has %u classes, but the model tells %lld apart: give it more outputs%s",
                     s->t->args.data, s->data.facts.n_classes, (long long)labels->below,
                     s->t->args.n_dims > 0 ? ", or another --dim" : "");
}

/* What is fed chooses in the logits that evaluation looks at: it is what the loss reads, one for each row.
 */
static ebb_status check_evaluation(const run_session *s, const ebb_tensor_info *labels) {
    const uint32_t n_classes = s->data.facts.n_classes;
    if (!s->evaluation || (strcmp(s->in.labels, labels->name) == 0 && s->n_rows == labels->dim[0] &&
                           s->n_classes >= n_classes))
        return EBB_OK;
    return tool_fail(s->t, EBB_BAD_INPUT,
                     "%.200s: an evaluation needs a loss of the %lld labels that are fed, %s, of %u "
                     "classes; this one reads %s, for %lld rows of %u",
                     s->t->args.operand, (long long)labels->dim[0], labels->name, n_classes, s->in.labels,
                     (long long)s->n_rows, s->n_classes);
}

/* Rank 2 is a record's bytes in a row; rank 4 any picture's, scaled. */
static ebb_status find_shape(const run_session *s, const ebb_tensor_info *p, ebb_loader_options *o) {
    const ebb_data_facts *f = &s->data.facts;
    const int64_t n_record = (int64_t)f->channels * f->height * f->width;
    if (p->rank == 2 && p->dim[1] == n_record && n_record > 0) return EBB_OK;
    const bool fits =
        p->rank == 4 && (p->dim[1] == 1 || p->dim[1] == 3) && p->dim[2] <= 4096 && p->dim[3] <= 4096;
    if (!fits)
        return tool_fail(s->t, EBB_BAD_INPUT,
                         "input %s has %lld %s: pictures have 1 or 3 channels and sides of at most 4096, "
                         "or, as rank 2, a "
                         "record's %lld values",
                         p->name, (long long)p->dim[1],
                         p->rank == 4 ? "channels, or is too large" : "values a row", (long long)n_record);
    ebb_loader_options_channels(o, (uint32_t)p->dim[1]);
    o->height = (uint32_t)p->dim[2];
    o->width = (uint32_t)p->dim[3];
    return EBB_OK;
}

static void tell_bad(void *ctx, const char *line) {
    (void)ctx;
    fputs("ebb: passed over: ", stderr);
    out_safe(stderr, line);
    fputs("\n", stderr);
}

/* An eighth of what is available beside the plan's block, whose pages may not have been touched. Nothing of
 * records; nothing where that is little for each picture; and nothing for fewer than two epochs, as what is
 * kept is decoded whole, and else its crop alone. */
static int64_t room_for_decoded(const run_session *s, uint32_t batch) {
    enum { PART = 8, LEAST_OF_PICTURE = 1024, EPOCHS = 2 };
    if (s->t->args.keep_decoded_bytes >= 0) return s->t->args.keep_decoded_bytes;
    const double n_read = (double)(s->n_steps - s->n_begin) * s->n_parts * batch;
    ebb_plan_summary plan;
    ebb_plan_summarize(ebb_program_plan(s->program), &plan);
    const int64_t bytes = (ebb_host_available() - plan.total_bytes) / PART;
    const bool pays =
        s->data.facts.width == 0 && n_read > 0 && n_read >= EPOCHS * (double)s->data.facts.n_train;
    return pays && bytes / s->data.facts.n >= LEAST_OF_PICTURE ? bytes : 0;
}

static ebb_status set_options(run_session *s, const ebb_tensor_info *p, ebb_loader_options *o) {
    const tool_args *a = &s->t->args;
    ebb_loader_options_init(s->data.set, o);
    const ebb_status status = find_shape(s, p, o);
    if (status != EBB_OK) return status;
    if (p->dim[0] > UINT32_MAX)
        return tool_fail(s->t, EBB_BAD_INPUT, "a batch of %lld", (long long)p->dim[0]);
    o->batch = s->data.batch = (uint32_t)p->dim[0];
    o->element = p->element;
    o->seed = ebb_engine_seed(s->engine);
    o->strict = a->strict;
    o->on_bad = tell_bad;
    if (a->crop >= 0) o->crop_least = a->crop;
    if (a->flip) o->flip = strcmp(a->flip, "yes") == 0;
    if (a->data_threads > 0) o->n_threads = (uint32_t)a->data_threads;
    o->keep_decoded_bytes = s->data.room_bytes = room_for_decoded(s, o->batch);
    return EBB_OK;
}

static ebb_status take_memory(run_session *s, const ebb_tensor_info *p, ebb_loader_options *o) {
    run_data *d = &s->data;
    void *bytes = NULL;
    d->bytes = (size_t)p->bytes;
    d->held_labels = calloc(d->batch, sizeof *d->held_labels);
    if (ebb_input_bytes(s->program, p->name, &bytes, &d->bytes) != EBB_OK) {
        d->bytes = (size_t)p->bytes;
        d->held = malloc(d->bytes);
        o->planes = p->rank == 4;
    }
    if (d->held_labels && (bytes || d->held)) return EBB_OK;
    return tool_fail(s->t, EBB_NO_MEMORY, "no memory for a batch of %zu bytes", d->bytes);
}

/* What of bytes for decoded pictures goes to those that are evaluated: as many as there are of them. */
static int64_t held_out_share(const run_session *s, int64_t bytes) {
    const ebb_data_facts *f = &s->data.facts;
    return s->evaluation ? (int64_t)((double)bytes * (double)f->n_held_out / (double)f->n) : 0;
}

ebb_status run_data_begin(run_session *s) {
    run_data *d = &s->data;
    ebb_tensor_info pictures, labels;
    ebb_loader_options o;
    if (!d->set) return EBB_OK;
    if (s->in.loss[0] == '\0')
        return tool_fail(s->t, EBB_BAD_INPUT,
                         "%.200s has no loss to train with: it takes a line `loss %%x`",
                         s->t->args.operand);
    ebb_status status = find_inputs(s, &pictures, &labels);
    if (status == EBB_OK) status = check_labels(s, &labels);
    if (status == EBB_OK) status = check_evaluation(s, &labels);
    if (status == EBB_OK) status = set_options(s, &pictures, &o);
    if (status != EBB_OK) return status;
    d->pictures = pictures.name;
    d->labels = labels.name;
    status = take_memory(s, &pictures, &o);
    const int64_t all = o.keep_decoded_bytes, of_held_out = held_out_share(s, all);
    o.keep_decoded_bytes = all - of_held_out;
    if (status == EBB_OK && !run_evaluates_alone(s))
        status = ebb_loader_create(s->t->env, d->set, &o, &d->train);
    o.part = EBB_DATA_HELD_OUT;
    o.keep_decoded_bytes = of_held_out;
    if (status == EBB_OK && s->evaluation) status = ebb_loader_create(s->t->env, d->set, &o, &d->held_out);
    if (status == EBB_OK && d->facts.n_ignored > 0)
        fprintf(stderr, "ebb: %lld other %s not read: names of pictures end in .jpg, .jpeg or .png\n",
                (long long)d->facts.n_ignored, d->facts.n_ignored == 1 ? "file is" : "files are");
    return status;
}

/* ---- batches ---- */

ebb_status run_data_feed(run_session *s, ebb_loader *loader, ebb_program *program, int64_t batch,
                         uint32_t *n) {
    const run_data *d = &s->data;
    void *bytes = d->held;
    size_t n_bytes = d->bytes;
    ebb_status status = d->held ? EBB_OK : ebb_input_bytes(program, d->pictures, &bytes, &n_bytes);
    if (status == EBB_OK) status = ebb_loader_batch(loader, batch, bytes, n_bytes, d->held_labels, n);
    if (status == EBB_OK && d->held) status = ebb_feed(program, d->pictures, bytes, n_bytes);
    if (status == EBB_OK)
        status = ebb_feed(program, d->labels, d->held_labels, d->batch * sizeof *d->held_labels);
    return status;
}

void run_data_end(run_session *s) {
    ebb_loader_destroy(s->data.train);
    ebb_loader_destroy(s->data.held_out);
    ebb_data_close(s->data.set);
    free(s->data.held);
    free(s->data.held_labels);
    s->data = (run_data){.set = NULL};
}
