/* data_figures: what --data did: pictures a second, waits, what could not be read, what was kept. */
#include "tool/commands/run/run.h"

/* A second: of the steps, with what feeds them; -1: only the first has run. */
static double images_per_s(const run_session *s) {
    if (run_evaluates_alone(s))
        return s->evaluation_ns > 0 ? 1e9 * (double)s->n_seen / (double)s->evaluation_ns : -1;
    if (s->n_done < 2 || s->wall_ns <= 0) return -1;
    return 1e9 * (double)(s->n_done - 1) * s->n_parts * s->data.batch / (double)s->wall_ns;
}

/* What the loader's threads could do if they had their processors to themselves. */
static double loader_per_s(const ebb_loader_facts *f) {
    const double n_threads = f->n_threads > 0 ? f->n_threads : 1;
    return f->busy_ns > 0 ? 1e9 * n_threads * (double)f->n_pictures / (double)f->busy_ns : -1;
}

/* Of both parts. */
static int64_t count_bad(const run_session *s) {
    ebb_loader_facts of_train = {0}, of_held_out = {0};
    if (s->data.train) ebb_loader_look(s->data.train, &of_train);
    if (s->data.held_out) ebb_loader_look(s->data.held_out, &of_held_out);
    return of_train.n_bad + of_held_out.n_bad;
}

int64_t run_data_wait_ns(const run_session *s) {
    ebb_loader_facts f = {0};
    if (s->data.train) ebb_loader_look(s->data.train, &f);
    return f.wait_ns - s->first_wait_ns;
}

/* Where there is but an evaluation. */
static void print_alone(const run_session *s) {
    printf("data             %lld pictures, %u classes, %lld passed over\n",
           (long long)s->data.facts.n_held_out, s->data.facts.n_classes, (long long)count_bad(s));
    if (images_per_s(s) >= 0) printf("images           %.1f a second\n", images_per_s(s));
}

/* Steps wait noticeably for pictures that were decoded before, for which there is no room. */
#define MANY_WAIT_PARTS 50

static void print_remedy(const run_session *s, const ebb_loader_facts *f) {
    const bool waits = run_data_wait_ns(s) > s->wall_ns / MANY_WAIT_PARTS,
               again = s->n_done * s->n_parts > s->data.facts.n_train / s->data.batch;
    if (waits && again && s->data.facts.width == 0 && f->kept_bytes >= s->data.room_bytes / 2)
        printf(
            "                 with --keep-decoded BYTES pictures need decoding in the first epoch only\n");
}

void run_data_print(const run_session *s) {
    ebb_loader_facts f;
    if (s->data.set && run_evaluates_alone(s)) print_alone(s);
    if (!s->data.train) return;
    ebb_loader_look(s->data.train, &f);
    printf("data             %lld pictures to train on, %lld held out, %u classes, %lld passed over\n",
           (long long)s->data.facts.n_train, (long long)s->data.facts.n_held_out, s->data.facts.n_classes,
           (long long)count_bad(s));
    if (images_per_s(s) < 0) return;
    printf("images           %.1f a second; the loader alone %.1f by %u threads; steps waited %.2f %% of "
           "their time\n",
           images_per_s(s), loader_per_s(&f), f.n_threads,
           100.0 * (double)run_data_wait_ns(s) / (double)s->wall_ns);
    print_remedy(s, &f);
    if (s->data.room_bytes > 0)
        printf(
            "decoded pictures %lld bytes are kept; %lld of the %lld pictures to train on came from them\n",
            (long long)f.kept_bytes, (long long)f.n_from_kept, (long long)f.n_pictures);
}

void run_data_json(const run_session *s, out_json *json) {
    ebb_loader *loader = s->data.train ? s->data.train : s->data.held_out;
    ebb_loader_facts f;
    if (!loader) return;
    ebb_loader_look(loader, &f);
    out_open(json, "data", '{');
    out_text(json, "hash", s->data.facts.hash);
    out_integer(json, "n_train", s->data.facts.n_train);
    out_integer(json, "n_held_out", s->data.facts.n_held_out);
    out_integer(json, "n_classes", s->data.facts.n_classes);
    out_integer(json, "n_bad", count_bad(s));
    out_real(json, "images_per_s", images_per_s(s));
    out_real(json, "loader_images_per_s", loader_per_s(&f));
    out_integer(json, "loader_threads", f.n_threads);
    out_integer(json, "wait_ns", run_data_wait_ns(s));
    out_integer(json, "kept_bytes", f.kept_bytes);
    out_integer(json, "n_from_kept", f.n_from_kept);
    out_close(json, '}');
}
