/* saves: files step-000000000012.safetensors in the folder of --save, of which the newest are kept. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/commands/run/run.h"

enum { KEEP_DEFAULT = 3, DIGITS = 12, NAME_BYTES = 64 };
#define MOST_STEPS UINT64_C(999999999999) /* in so many digits */
static const char prefix[] = "step-", suffix[] = ".safetensors", data_fact[] = "data";

static ebb_status fail_folder(const run_session *s, const char *verb, int error) {
    return tool_fail(s->t, EBB_IO, "cannot %s %.300s: %.100s: name a folder that can be written", verb,
                     s->t->args.save, strerror(error));
}

/* The step of a save by its file's name, -1 for other files. */
static int64_t step_of(const char *name) {
    char digits[DIGITS + 1];
    int64_t step;
    if (strlen(name) != strlen(prefix) + DIGITS + strlen(suffix)) return -1;
    if (strncmp(name, prefix, strlen(prefix)) != 0 || strcmp(name + strlen(prefix) + DIGITS, suffix) != 0)
        return -1;
    memcpy(digits, name + strlen(prefix), DIGITS);
    digits[DIGITS] = '\0';
    return strspn(digits, "0123456789") == DIGITS && ebb_parse_i64(digits, 0, INT64_MAX, &step) ? step : -1;
}

static ebb_status path_of(const run_session *s, int64_t step, char path[PATH_MAX]) {
    const int n =
        snprintf(path, PATH_MAX, "%s/%s%0*" PRId64 "%s", s->t->args.save, prefix, DIGITS, step, suffix);
    return n < PATH_MAX ? EBB_OK : fail_folder(s, "use", ENAMETOOLONG);
}

/* The newest save, and among those older than `before` the oldest and how many there are; -1: none. */
static ebb_status look(const run_session *s, int64_t before, int64_t *newest, int64_t *oldest, int64_t *n) {
    DIR *folder = opendir(s->t->args.save);
    const struct dirent *entry;
    *newest = *oldest = -1;
    *n = 0;
    if (!folder) return fail_folder(s, "read", errno);
    errno = 0; /* which is all that tells a failure from the end */
    while ((entry = readdir(folder))) {
        const int64_t step = step_of(entry->d_name);
        if (step > *newest) *newest = step;
        if (step < 0 || step >= before) continue;
        if (*oldest < 0 || step < *oldest) *oldest = step;
        (*n)++;
    }
    const int error = errno;
    (void)closedir(folder);
    return error == 0 ? EBB_OK : fail_folder(s, "read", error);
}

/* Removes the oldest until `keep` are left of those before a step. */
static ebb_status prune(const run_session *s, int64_t before, int64_t keep) {
    int64_t newest, oldest, n;
    char path[PATH_MAX];
    for (;;) {
        ebb_status status = look(s, before, &newest, &oldest, &n);
        if (status == EBB_OK && n > keep) status = path_of(s, oldest, path);
        if (status != EBB_OK || n <= keep) return status;
        if (unlink(path) != 0 && errno != ENOENT) return fail_folder(s, "remove an old save from", errno);
    }
}

/* ---- begin ---- */

/* The first few, each in a line: another model's file differs in all. */
enum { MOST_TOLD = 12 };
static void tell_difference(void *ctx, const char *line) {
    uint32_t *n = ctx;
    if ((*n)++ >= MOST_TOLD) return;
    fputs("ebb: left out: ", stderr);
    out_safe(stderr, line);
    fputs("\n", stderr);
}

static ebb_status load_weights(run_session *s) {
    uint32_t n_differences = 0;
    const ebb_load_options part = {
        .partial = true, .on_difference = tell_difference, .ctx = &n_differences};
    ebb_load_result result;
    const ebb_status status = ebb_engine_load(s->engine, s->t->args.init_from, &part, &result);
    if (n_differences > MOST_TOLD)
        fprintf(stderr, "ebb: %u more difference%s\n", n_differences - MOST_TOLD,
                n_differences == MOST_TOLD + 1 ? "" : "s");
    if (status == EBB_OK)
        fprintf(stderr, "ebb: %u of %u params and states are those of the file\n", result.n_loaded,
                result.n_loaded + result.n_left);
    return status;
}

/* Other data are allowed, and told: the run does not go on as if it had never stopped. Random inputs do not
 * count as data. */
static ebb_status compare_data(const run_session *s, const char *path) {
    ebb_tensors *file;
    const ebb_status status = ebb_tensors_open(s->t->env, path, &file);
    if (status != EBB_OK) return status;
    const char *then = ebb_tensors_fact_find(file, data_fact),
               *now = s->data.set ? s->data.facts.hash : NULL;
    const bool same = then == now || (then && now && strcmp(then, now) == 0), lacks = then && !now;
    if (!same && !lacks)
        fprintf(stderr,
                "ebb: the data, or --held-out, are not those of %.300s: what was held out there may be "
                "trained on, "
                "and what is held out now may have been\n",
                path);
    ebb_tensors_close(file);
    if (!lacks) return EBB_OK;
    return tool_fail(
        s->t, EBB_USAGE,
        "%.300s was trained on data: give its --data again (--init-from %.300s takes its weights "
        "alone)",
        path, path);
}

static ebb_status resume(run_session *s, int64_t step) {
    char path[PATH_MAX];
    ebb_load_result result;
    ebb_status status = path_of(s, step, path);
    if (status == EBB_OK) status = ebb_engine_load(s->engine, path, NULL, &result);
    if (status != EBB_OK) return status;
    if (s->t->args.seed >= 0 && (uint64_t)s->t->args.seed != ebb_engine_seed(s->engine))
        return tool_fail(s->t, EBB_USAGE, "--seed %lld, but %.300s is of a run with %llu: leave --seed out",
                         (long long)s->t->args.seed, path, (unsigned long long)ebb_engine_seed(s->engine));
    if (result.step > MOST_STEPS)
        return tool_fail(s->t, EBB_BAD_INPUT,
                         "%.300s is of step %llu; saves are named up to step %llu: remove it, or load its "
                         "weights by --init-from",
                         path, (unsigned long long)result.step, (unsigned long long)MOST_STEPS);
    status = compare_data(s, path);
    if (status != EBB_OK) return status;
    s->n_begin = s->n_saved = (int64_t)result.step;
    fprintf(stderr, "ebb: resumed after step %lld\n", (long long)s->n_begin);
    return EBB_OK;
}

/* Two runs in one folder would each go on from the other's saves. A killed run's lock goes with it; a file
 * system without locks leaves that to the caller's care. */
static ebb_status lock_folder(run_session *s) {
    const int fd = open(s->t->args.save, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail_folder(s, "read", errno);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        s->save_folder = fd;
        return EBB_OK;
    }
    (void)close(fd);
    return tool_fail(s->t, EBB_USAGE,
                     "another run saves into %.300s: wait until it has ended, or name another folder",
                     s->t->args.save);
}

/* A file without a name, where there is such a thing: a run that is killed here leaves nothing. */
static int make_file(const char *folder, const char *name) {
#ifdef O_TMPFILE
    const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
        return fd;
#else
    (void)folder;
#endif
    (void)unlink(name); /* what a run that was killed here has left */
    const int named = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (named >= 0) (void)unlink(name);
    return named;
}

/* Can a file be made there? Hours may lie between this and the first save. */
static ebb_status try_folder(const run_session *s) {
    char name[PATH_MAX];
    const int n = snprintf(name, sizeof name, "%s/.ebb-run.tmp", s->t->args.save);
    if (n >= PATH_MAX) return fail_folder(s, "use", ENAMETOOLONG);
    const int fd = make_file(s->t->args.save, name);
    if (fd < 0) return fail_folder(s, "write into", errno);
    (void)close(fd);
    return EBB_OK;
}

ebb_status saves_begin(run_session *s) {
    const tool_args *a = &s->t->args;
    int64_t newest, oldest, n;
    s->n_saved = -1;
    if (!a->save) return a->init_from ? load_weights(s) : EBB_OK;
    if (mkdir(a->save, 0777) != 0 && errno != EEXIST) return fail_folder(s, "make", errno);
    ebb_status status = lock_folder(s);
    if (status == EBB_OK) status = try_folder(s);
    if (status == EBB_OK) status = look(s, INT64_MAX, &newest, &oldest, &n);
    if (status != EBB_OK) return status;
    if (newest >= 0 && !a->resume)
        return tool_fail(
            s->t, EBB_USAGE,
            "%.300s has saves up to step %lld: give --resume to go on from there, or another folder",
            a->save, (long long)newest);
    if (newest >= 0) return resume(s, newest);
    return a->init_from ? load_weights(s) : EBB_OK;
}

ebb_status saves_check(tool *t) {
    const tool_args *a = &t->args;
    if (a->save && a->save[0] == '\0') return tool_fail(t, EBB_USAGE, "--save needs a folder");
    if (!a->save && (a->resume || a->every > 0 || a->keep_saves > 0))
        return tool_fail(t, EBB_USAGE, "%s needs --save DIR, the folder of the saves",
                         a->resume      ? "--resume"
                         : a->every > 0 ? "--every"
                                        : "--keep-saves");
    if (a->save && a->evaluate)
        return tool_fail(t, EBB_USAGE,
                         "evaluation changes nothing that could be saved: leave --save out; --init-from "
                         "FILE evaluates a save");
    if ((a->save || a->init_from) && a->device && strcmp(a->device, "shadow") == 0)
        return tool_fail(
            t, EBB_USAGE,
            "device shadow computes nothing to save or load: leave --save and --init-from out");
    return EBB_OK;
}

/* ---- while it runs, and at its end ---- */

static ebb_status save(run_session *s) {
    const int64_t step = s->n_begin + s->n_done;
    char path[PATH_MAX];
    const ebb_tensors_fact data = {data_fact, s->data.facts.hash};
    ebb_status status = path_of(s, step, path);
    if (status == EBB_OK) status = ebb_engine_save(s->engine, path, &data, s->data.set ? 1 : 0);
    if (status != EBB_OK) return status;
    s->n_saved = step;
    /* All before this one are whole; it may not be yet. */
    return prune(s, step, s->t->args.keep_saves > 0 ? s->t->args.keep_saves : KEEP_DEFAULT);
}

ebb_status saves_step(run_session *s) {
    const tool_args *a = &s->t->args;
    return a->save && a->every > 0 && (s->n_begin + s->n_done) % a->every == 0 ? save(s) : EBB_OK;
}

ebb_status saves_end(run_session *s) {
    const int64_t step = s->n_begin + s->n_done;
    if (!s->t->args.save) return EBB_OK;
    ebb_status status = s->n_saved < step ? save(s) : EBB_OK;
    if (status == EBB_OK) status = ebb_engine_save_end(s->engine);
    const int64_t keep = s->t->args.keep_saves > 0 ? s->t->args.keep_saves : KEEP_DEFAULT;
    return status == EBB_OK ? prune(s, step, keep - 1) : status;
}

void saves_close(run_session *s) {
    if (s->save_folder >= 0) (void)close(s->save_folder);
    s->save_folder = -1;
}
