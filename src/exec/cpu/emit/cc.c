/* cpu/emit/cc.c: bodies in C, compiled by a C compiler into a shared object that is opened: where there is
 * no libLLVM, and on any processor that has a compiler.
 *
 *     text --> shelf --> bytes ----------------> a file of our own folder --> dlopen, and the file goes
 *                  \--> CC in that folder --^
 *
 * CC, the variable: the program and perhaps options of it, split at spaces; else `cc`. No shell is asked.
 * The options forbid what would change a bit (contraction, reordering) and the comparisons' flags, which
 * would keep loops scalar. */
#include "exec/cpu/emit/emit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_WORDS = 8, MOST_SAID = 4096, MOST_CODE_BYTES = 64 << 20 };

/* Operands may lie under results of another type. */
static const char *const flags[] = {
    "-O2",
    "-fPIC",
    "-shared",
    "-std=gnu11",
    "-w",
    "-fopenmp-simd",
    "-ffp-contract=off",
    "-fno-trapping-math",
    "-fno-math-errno",
    "-fno-strict-aliasing",
};

typedef struct cc {
    cpu_emitter base; /* first */
    char command[512];
    const char *word[MOST_WORDS]; /* of the command */
    uint32_t n_words;
    const char *more[3]; /* options of this processor and of this compiler */
    uint32_t n_more;
    char version[MOST_SAID]; /* what it says of itself */
    EBB_ARRAY(void *) libraries;
} cc;

/* ---- the compiler ----------------------------------------------------------------------------------- */

static bool words_split(cc *c) {
    const char *text = getenv("CC");
    const size_t n = text ? strspn(text, " ") : 0;
    if (!text || !text[n]) text = "cc";
    if (strlen(text) >= sizeof c->command) return false;
    memcpy(c->command, text, strlen(text) + 1);
    for (char *at = c->command; *(at += strspn(at, " "));) {
        if (c->n_words == MOST_WORDS) return false;
        c->word[c->n_words++] = at;
        at += strcspn(at, " ");
        if (*at) *at++ = '\0';
    }
    return true;
}

/* The widest vectors that there are here, by a name that says what they are: code lies on a shelf that
 * several machines may share. */
static void machine_find(cc *c) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        c->more[c->n_more++] = "-march=x86-64-v4";
        c->more[c->n_more++] = "-mprefer-vector-width=512";
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2")) {
        c->more[c->n_more++] = "-march=x86-64-v3";
    }
#else
    (void)c;
#endif
}

static void cc_close(cpu_emitter *emitter) {
    cc *c = (cc *)emitter;
    for (size_t k = 0; k < c->libraries.n; k++) (void)dlclose(c->libraries.at[k]);
    EBB_ARRAY_FREE(emitter->env, &c->libraries);
    ebb_cfree(emitter->env, c, 1, sizeof *c);
}

static ebb_status compiler_find(cc *c) {
    const char *argv[MOST_WORDS + 2] = {NULL};
    int code;
    if (!words_split(c))
        return ebb_fail(c->base.env, EBB_UNAVAILABLE,
                        "jit CC: CC has more than %d words or %zu bytes: shorten it", MOST_WORDS,
                        sizeof c->command);
    for (uint32_t k = 0; k < c->n_words; k++) argv[k] = c->word[k];
    argv[c->n_words] = "--version";
    const ebb_status status = ebb_program_run(c->base.env, argv, c->version, sizeof c->version, &code);
    /* gcc threads jumps through selects, and does not vectorize those loops. */
    if (strstr(c->version, "Free Software Foundation")) c->more[c->n_more++] = "-fno-thread-jumps";
    if (!status && code == 0 && c->version[0]) return EBB_OK;
    return ebb_fail(
        c->base.env, EBB_UNAVAILABLE,
        "jit CC: no C compiler is at \"%s\": install gcc or clang, or name one by the variable CC",
        c->word[0]);
}

static ebb_status cc_open(ebb_env *env, const cpu_emitter_api *api, cpu_emitter **out,
                          char version[EBB_EMITTER_TEXT]) {
    *out = NULL;
    cc *c = ebb_calloc(env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    c->base = (cpu_emitter){.api = api, .env = env, .shelf = {.folder = -1}};
    machine_find(c);
    const ebb_status status = compiler_find(c);
    if (status) {
        cc_close(&c->base);
        return status;
    }
    (void)snprintf(version, EBB_EMITTER_TEXT, "%.*s", (int)strcspn(c->version, "\n"), c->version);
    *out = &c->base;
    return EBB_OK;
}

/* ---- a folder of our own ---------------------------------------------------------------------------- */

typedef struct workplace {
    char folder[PATH_MAX / 2], source[PATH_MAX], object[PATH_MAX];
} workplace;

static ebb_status workplace_make(cc *c, workplace *w) {
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/' || strlen(parent) > sizeof w->folder - 16) parent = "/tmp";
    (void)snprintf(w->folder, sizeof w->folder, "%s/ebb-XXXXXX", parent);
    if (!mkdtemp(w->folder))
        return ebb_fail(c->base.env, EBB_IO, "jit CC: no folder can be made in %s: name another by TMPDIR",
                        parent);
    (void)snprintf(w->source, sizeof w->source, "%s/body.c", w->folder);
    (void)snprintf(w->object, sizeof w->object, "%s/body.so", w->folder);
    return EBB_OK;
}

static void workplace_end(const workplace *w) {
    (void)unlink(w->source);
    (void)unlink(w->object);
    (void)rmdir(w->folder);
}

static ebb_status workplace_put(cc *c, const char *path, const char *bytes, size_t n) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool good = fd >= 0 && ebb_fd_write(fd, bytes, n) == 0;
    if (fd >= 0 && close(fd) == 0 && good) return EBB_OK;
    return ebb_fail(c->base.env, EBB_IO, "jit CC: cannot write %s: name a folder with room by TMPDIR",
                    path);
}

/* ---- code ------------------------------------------------------------------------------------------- */

static ebb_hash key_of(const cc *c, const ebb_text *text) {
    ebb_hash key;
    ebb_hash_init(&key);
    ebb_hash_add(&key, "CC", sizeof "CC");
    ebb_hash_add(&key, c->version, strlen(c->version) + 1);
    for (uint32_t k = 0; k < c->n_words; k++) ebb_hash_add(&key, c->word[k], strlen(c->word[k]) + 1);
    for (uint32_t k = 0; k < c->n_more; k++) ebb_hash_add(&key, c->more[k], strlen(c->more[k]) + 1);
    for (size_t k = 0; k < EBB_COUNT(flags); k++) ebb_hash_add(&key, flags[k], strlen(flags[k]) + 1);
    ebb_hash_add(&key, text->at, text->n);
    return key;
}

static ebb_status compiler_run(cc *c, const workplace *w) {
    const char *argv[MOST_WORDS + EBB_COUNT(flags) + EBB_COUNT(c->more) + 6] = {NULL};
    char said[MOST_SAID];
    uint32_t n = 0;
    int code;
    for (uint32_t k = 0; k < c->n_words; k++) argv[n++] = c->word[k];
    for (size_t k = 0; k < EBB_COUNT(flags); k++) argv[n++] = flags[k];
    for (uint32_t k = 0; k < c->n_more; k++) argv[n++] = c->more[k];
    argv[n++] = "-o";
    argv[n++] = w->object;
    argv[n++] = w->source;
    argv[n++] = "-lm";
    const ebb_status status = ebb_program_run(c->base.env, argv, said, sizeof said, &code);
    if (status || code == 0) return status;
    return ebb_fail(c->base.env, EBB_DEVICE, "jit CC: %s ends with %d: %.*s", c->word[0], code,
                    (int)strcspn(said, "\n"), said);
}

/* What was compiled is put on the shelf as it is read back. */
static ebb_status text_compile(cc *c, const ebb_text *text, const ebb_hash *key, const workplace *w) {
    const uint64_t before = ebb_clock_ns(c->base.env);
    char *bytes;
    size_t n;
    ebb_status status = workplace_put(c, w->source, text->at, text->n);
    if (!status) status = compiler_run(c, w);
    if (!status) status = ebb_file_read(c->base.env, w->object, MOST_CODE_BYTES, &bytes, &n);
    if (status) return status;
    c->base.n_compiled++;
    c->base.compile_ns += ebb_clock_ns(c->base.env) - before;
    ebb_shelf_keep(&c->base.shelf, key, bytes, n);
    ebb_file_free(c->base.env, bytes, n);
    return EBB_OK;
}

/* The object's file is there afterwards. */
static ebb_status object_make(cc *c, const ebb_text *text, const workplace *w) {
    const ebb_hash key = key_of(c, text);
    char *bytes;
    size_t n;
    if (!ebb_shelf_find(&c->base.shelf, &key, &bytes, &n)) return text_compile(c, text, &key, w);
    const ebb_status status = workplace_put(c, w->object, bytes, n);
    ebb_file_free(c->base.env, bytes, n);
    c->base.n_found += status == EBB_OK;
    return status;
}

static ebb_status object_open(cc *c, const workplace *w, const char *name, cpu_fused_code **out) {
    void *library = dlopen(w->object, RTLD_NOW | RTLD_LOCAL);
    if (!library) return ebb_fail(c->base.env, EBB_DEVICE, "jit CC: %s", dlerror());
    if (!EBB_PUSH(c->base.env, &c->libraries, library)) {
        (void)dlclose(library);
        return EBB_NO_MEMORY;
    }
    void *at = dlsym(library, name);
    if (!at) return ebb_fail(c->base.env, EBB_DEVICE, "jit CC: its code has no %s", name);
    memcpy(out, &at, sizeof *out);
    return EBB_OK;
}

static ebb_status cc_compile(cpu_emitter *emitter, const emit_unit *unit, cpu_fused_code **out) {
    cc *c = (cc *)emitter;
    workplace w;
    ebb_text text;
    ebb_text_init(&text, emitter->env);
    emit_in_c(&text, unit);
    ebb_status status = ebb_text_status(&text);
    if (!status) status = workplace_make(c, &w);
    if (!status) {
        status = object_make(c, &text, &w);
        if (!status) status = object_open(c, &w, unit->name, out);
        workplace_end(&w);
    }
    ebb_text_deinit(&text);
    return status;
}

const cpu_emitter_api cpu_emitter_cc = {
    .name = "CC", .open = cc_open, .close = cc_close, .compile = cc_compile};
