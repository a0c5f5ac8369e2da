/* cuda/jit/jitlink.c: CUDA's linker libnvJitLink, opened when it is asked for: CUBINs of PTX. What is
 * called of it has been alike since CUDA 12.0; its header is not needed. */
#include "exec/cuda/fused.h"

#include <dlfcn.h>
#include <stdio.h>

/* Of libnvJitLink: name, parameters. Each returns 0, or a number that it has no words for. */
#define FUNCTIONS(F)                                                                          \
    F(nvJitLinkVersion, (unsigned *major, unsigned *minor))                                   \
    F(nvJitLinkCreate, (void **link, uint32_t n, const char **options))                       \
    F(nvJitLinkDestroy, (void **link))                                                        \
    F(nvJitLinkAddData, (void *link, int type, const void *data, size_t n, const char *name)) \
    F(nvJitLinkComplete, (void *link))                                                        \
    F(nvJitLinkGetLinkedCubinSize, (void *link, size_t *n))                                   \
    F(nvJitLinkGetLinkedCubin, (void *link, void *cubin))                                     \
    F(nvJitLinkGetErrorLogSize, (void *link, size_t *n))                                      \
    F(nvJitLinkGetErrorLog, (void *link, char *log))                                          \
    F(nvJitLinkGetInfoLogSize, (void *link, size_t *n))                                       \
    F(nvJitLinkGetInfoLog, (void *link, char *log))

/* As nvrtc.c has them. */
static const char *const options[] = {
    "-O3", "-fma=0", "-ftz=0", "-prec-div=1", "-prec-sqrt=1", "-Xptxas=--warn-on-spills",
};

struct cuda_linker {
    ebb_env *env;
    void *library;
    unsigned major, minor;
    char of[24];           /* "jit MLIR", in front of what is said */
    char architecture[24]; /* an option */
#define FIELD(name, parameters) int(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
};

/* ---- the library ------------------------------------------------------------------------------------- */

void cuda_linker_close(cuda_linker *linker) {
    /* The library stays, as libraries with threads and tables of their own do. */
    if (linker) ebb_cfree(linker->env, linker, 1, sizeof *linker);
}

static const char *symbols_find(cuda_linker *l) {
    const char *missing = NULL;
#define FIND(name, parameters)                \
    {                                         \
        void *at = dlsym(l->library, #name);  \
        memcpy(&l->name, &at, sizeof at);     \
        if (!at && !missing) missing = #name; \
    }
    FUNCTIONS(FIND)
#undef FIND
    return missing;
}

static ebb_status version_check(cuda_linker *l, int major) {
    const char *missing = symbols_find(l);
    if (missing)
        return ebb_fail(l->env, EBB_UNAVAILABLE, "%s: libnvJitLink has no %s: install CUDA's %d", l->of,
                        missing, major);
    if (l->nvJitLinkVersion(&l->major, &l->minor) == 0 && l->major == (unsigned)major) return EBB_OK;
    return ebb_fail(l->env, EBB_UNAVAILABLE,
                    "%s: libnvJitLink is of version %u.%u, this build of CUDA's %d: install that one",
                    l->of, l->major, l->minor, major);
}

ebb_status cuda_linker_open(ebb_env *env, const char *of, int major, int32_t compute, cuda_linker **out) {
    char name[40];
    *out = NULL;
    cuda_linker *l = ebb_calloc(env, 1, sizeof *l);
    if (!l) return EBB_NO_MEMORY;
    l->env = env;
    (void)snprintf(l->of, sizeof l->of, "%s", of);
    (void)snprintf(l->architecture, sizeof l->architecture, "-arch=sm_%d", compute / 10);
    (void)snprintf(name, sizeof name, "libnvJitLink.so.%d", major);
    l->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const ebb_status status =
        l->library ? version_check(l, major)
                   : ebb_fail(env, EBB_UNAVAILABLE,
                              "%s: %s is not found: install CUDA's nvJitLink %d, or name its folder by "
                              "LD_LIBRARY_PATH",
                              of, name, major);
    if (status) {
        cuda_linker_close(l);
        return status;
    }
    *out = l;
    return EBB_OK;
}

void cuda_linker_key(const cuda_linker *linker, ebb_hash *key) {
    const unsigned version[] = {linker->major, linker->minor};
    ebb_hash_add(key, version, sizeof version);
    ebb_hash_add(key, linker->architecture, strlen(linker->architecture) + 1);
    for (size_t k = 0; k < EBB_COUNT(options); k++) ebb_hash_add(key, options[k], strlen(options[k]) + 1);
}

void cuda_linker_version(const cuda_linker *linker, char version[EBB_EMITTER_TEXT]) {
    (void)snprintf(version, EBB_EMITTER_TEXT, "nvJitLink %u.%u", linker->major, linker->minor);
}

/* ---- code -------------------------------------------------------------------------------------------- */

/* A log of its: as one line of the env's, its first line that has a word, "error", or its first of all into
 * `said`. */
static void log_tell(cuda_linker *l, void *link, int (*size)(void *, size_t *), int (*get)(void *, char *),
                     char *said, size_t most) {
    size_t n = 0;
    said[0] = '\0';
    if (size(link, &n) || n < 2) return;
    char *log = ebb_calloc(l->env, n + 1, 1);
    if (log && get(link, log) == 0) {
        const char *error = strstr(log, "error");
        const char *line = error ? error : log;
        while (line > log && line[-1] != '\n') line--;
        (void)snprintf(said, most, "%.*s", (int)strcspn(line, "\n"), line);
        for (char *at = log; (at = strchr(at, '\n')) != NULL;) *at = ' ';
        ebb_log(l->env, EBB_LOG_INFO, "nvJitLink %u.%u: %s", l->major, l->minor, log);
    }
    if (log) ebb_cfree(l->env, log, n + 1, 1);
}

static ebb_status cubin_of(cuda_linker *l, void *link, char **out, size_t *n) {
    int code = l->nvJitLinkGetLinkedCubinSize(link, n);
    *out = !code && *n > 0 ? ebb_calloc(l->env, 1, *n) : NULL;
    if (!code && *n > 0 && !*out) return EBB_NO_MEMORY;
    if (*out) code = l->nvJitLinkGetLinkedCubin(link, *out);
    if (*out && !code) return EBB_OK;
    if (*out) ebb_cfree(l->env, *out, 1, *n);
    *out = NULL;
    return code ? ebb_fail(l->env, EBB_DEVICE, "%s: no code: nvJitLink's error %d", l->of, code)
                : ebb_fail(l->env, EBB_DEVICE, "%s: no code: it has no bytes", l->of);
}

ebb_status cuda_linker_link(cuda_linker *l, const cuda_bytes *texts, size_t n_texts, char **out,
                            size_t *n) {
    enum { PTX = 2 }; /* NVJITLINK_INPUT_PTX */
    const char *all[EBB_COUNT(options) + 1] = {l->architecture};
    char said[300];
    void *link = NULL;
    *out = NULL;
    for (size_t k = 0; k < EBB_COUNT(options); k++) all[k + 1] = options[k];
    int code = l->nvJitLinkCreate(&link, EBB_COUNT(all), all);
    if (code)
        return ebb_fail(l->env, EBB_DEVICE, "%s: nvJitLink %u.%u links nothing for %s: its error %d", l->of,
                        l->major, l->minor, l->architecture + strlen("-arch="), code);
    for (size_t k = 0; k < n_texts && !code; k++)
        code =
            l->nvJitLinkAddData(link, PTX, texts[k].at, texts[k].n + 1, k ? "functions.ptx" : "body.ptx");
    if (!code) code = l->nvJitLinkComplete(link);
    log_tell(l, link, l->nvJitLinkGetInfoLogSize, l->nvJitLinkGetInfoLog, said, sizeof said);
    if (code) log_tell(l, link, l->nvJitLinkGetErrorLogSize, l->nvJitLinkGetErrorLog, said, sizeof said);
    const ebb_status status =
        code ? ebb_fail(l->env, EBB_DEVICE, "%s: nvJitLink's error %d: %s", l->of, code, said)
             : cubin_of(l, link, out, n);
    (void)l->nvJitLinkDestroy(&link);
    return status;
}
