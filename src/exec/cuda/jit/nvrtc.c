/* cuda/jit/nvrtc.c: a compiler of texts that is NVRTC: libnvrtc, opened when it is asked for. What is
 * called of it has been alike since CUDA 11.1; its header is not needed. */
#include "exec/cuda/fused.h"

#include <dlfcn.h>
#include <stdio.h>

/* Of libnvrtc: name, parameters. Each returns 0, or what nvrtcGetErrorString has words for. */
#define FUNCTIONS(F)                                                                          \
    F(nvrtcVersion, (int *major, int *minor))                                                 \
    F(nvrtcGetNumSupportedArchs, (int *n))                                                    \
    F(nvrtcGetSupportedArchs, (int *each))                                                    \
    F(nvrtcCreateProgram, (void **program, const char *text, const char *name, int n_headers, \
                           const char *const *headers, const char *const *names))             \
    F(nvrtcDestroyProgram, (void **program))                                                  \
    F(nvrtcCompileProgram, (void *program, int n_options, const char *const *options))        \
    F(nvrtcGetCUBINSize, (void *program, size_t *n))                                          \
    F(nvrtcGetCUBIN, (void *program, char *cubin))                                            \
    F(nvrtcGetProgramLogSize, (void *program, size_t *n))                                     \
    F(nvrtcGetProgramLog, (void *program, char *log))

/* Those that decide bits are nvcc's of the kernels (meson.build): nothing is contracted, divisions and
 * roots are rounded, subnormal numbers kept. */
static const char *const options[] = {
    "--std=c++17",
    "--device-as-default-execution-space", /* what is the host's alone is there, and not called */
    "--fmad=false",
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--diag-suppress=177", /* most of the prelude is not called */
    "--ptxas-options=--warn-on-spills",
};

typedef struct nvrtc {
    cuda_compiler base; /* first */
    void *library;
    int major, minor;
    char architecture[40]; /* an option */
    const char *(*words)(int code);
#define FIELD(name, parameters) int(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
} nvrtc;

/* ---- the library ------------------------------------------------------------------------------------- */

static void nvrtc_close(cuda_compiler *compiler) {
    /* The library stays, as libraries with threads and tables of their own do. */
    ebb_cfree(compiler->env, (nvrtc *)compiler, 1, sizeof(nvrtc));
}

static void *library_open(int major) {
    char name[40];
    (void)snprintf(name, sizeof name, "libnvrtc.so.%d", major);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
}

static const char *symbols_find(nvrtc *c) {
    const char *missing = NULL;
    void *words = dlsym(c->library, "nvrtcGetErrorString");
    memcpy(&c->words, &words, sizeof words);
    if (!words) missing = "nvrtcGetErrorString";
#define FIND(name, parameters)                \
    {                                         \
        void *at = dlsym(c->library, #name);  \
        memcpy(&c->name, &at, sizeof at);     \
        if (!at && !missing) missing = #name; \
    }
    FUNCTIONS(FIND)
#undef FIND
    return missing;
}

static ebb_status version_check(nvrtc *c, int major, int minor) {
    ebb_env *env = c->base.env;
    const char *missing = symbols_find(c);
    if (missing)
        return ebb_fail(env, EBB_UNAVAILABLE, "jit NVRTC: libnvrtc has no %s: install CUDA's %d.%d",
                        missing, major, minor);
    const int code = c->nvrtcVersion(&c->major, &c->minor);
    if (code) return ebb_fail(env, EBB_UNAVAILABLE, "jit NVRTC: nvrtcVersion: %s", c->words(code));
    (void)snprintf(c->base.version, sizeof c->base.version, "NVRTC %d.%d", c->major, c->minor);
    if (c->major == major && c->minor == minor) return EBB_OK;
    return ebb_fail(env, EBB_UNAVAILABLE,
                    "jit NVRTC: libnvrtc is of version %d.%d, the kernels of this build of %d.%d, and only "
                    "with one are the bits alike: install that one",
                    c->major, c->minor, major, minor);
}

static ebb_status architecture_check(nvrtc *c, int32_t compute) {
    enum { MOST = 256 };
    int n = 0, each[MOST] = {0};
    const int32_t architecture = compute / 10;
    bool known = false;
    if (compute == 0) return EBB_OK;
    if (c->nvrtcGetNumSupportedArchs(&n) == 0 && n > 0 && n <= MOST &&
        c->nvrtcGetSupportedArchs(each) == 0) {
        for (int k = 0; k < n; k++) known = known || each[k] == architecture;
    }
    (void)snprintf(c->architecture, sizeof c->architecture, "--gpu-architecture=sm_%d", architecture);
    if (known) return EBB_OK;
    return ebb_fail(c->base.env, EBB_UNAVAILABLE, "jit NVRTC: %s makes no code for sm_%d", c->base.version,
                    architecture);
}

/* ---- code -------------------------------------------------------------------------------------------- */

/* What it has said of a program, as one line of the log's; its first error into `said`. */
static void log_tell(nvrtc *c, void *program, char *said, size_t most) {
    size_t n = 0;
    said[0] = '\0';
    if (c->nvrtcGetProgramLogSize(program, &n) || n < 2) return;
    char *log = ebb_calloc(c->base.env, n + 1, 1);
    if (log && c->nvrtcGetProgramLog(program, log) == 0) {
        const char *error = strstr(log, "error");
        const char *line = error ? error : log;
        while (line > log && line[-1] != '\n') line--;
        (void)snprintf(said, most, "%.*s", (int)strcspn(line, "\n"), line);
        for (char *at = log; (at = strchr(at, '\n')) != NULL;) *at = ' ';
        ebb_log(c->base.env, EBB_LOG_INFO, "%s: %s", c->base.version, log);
    }
    if (log) ebb_cfree(c->base.env, log, n + 1, 1);
}

static ebb_status cubin_of(nvrtc *c, void *program, char **out, size_t *n) {
    int code = c->nvrtcGetCUBINSize(program, n);
    *out = !code && *n > 0 ? ebb_calloc(c->base.env, 1, *n) : NULL;
    if (!code && *n > 0 && !*out) return EBB_NO_MEMORY;
    if (*out) code = c->nvrtcGetCUBIN(program, *out);
    if (*out && !code) return EBB_OK;
    if (*out) ebb_cfree(c->base.env, *out, 1, *n);
    *out = NULL;
    return ebb_fail(c->base.env, EBB_DEVICE, "jit NVRTC: no code: %s",
                    code ? c->words(code) : "it has no bytes");
}

static ebb_status nvrtc_compile(cuda_compiler *compiler, const ebb_text *text, char **out, size_t *n) {
    nvrtc *c = (nvrtc *)compiler;
    const char *all[EBB_COUNT(options) + 1] = {c->architecture};
    char said[300];
    void *program = NULL;
    *out = NULL;
    for (size_t k = 0; k < EBB_COUNT(options); k++) all[k + 1] = options[k];
    int code = c->nvrtcCreateProgram(&program, text->at, "body.cu", 0, NULL, NULL);
    if (code) return ebb_fail(compiler->env, EBB_DEVICE, "jit NVRTC: no program: %s", c->words(code));
    code = c->nvrtcCompileProgram(program, (int)EBB_COUNT(all), all);
    log_tell(c, program, said, sizeof said);
    const ebb_status status =
        code ? ebb_fail(compiler->env, EBB_DEVICE, "jit NVRTC: %s: %s", c->words(code), said)
             : cubin_of(c, program, out, n);
    (void)c->nvrtcDestroyProgram(&program);
    return status;
}

ebb_status cuda_nvrtc_open(ebb_env *env, int major, int minor, int32_t compute, cuda_compiler **out) {
    static const cuda_compiler_api api = {"NVRTC", nvrtc_close, cuda_fused_write, nvrtc_compile};
    *out = NULL;
    nvrtc *c = ebb_calloc(env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    c->base = (cuda_compiler){.api = &api, .env = env};
    c->library = library_open(major);
    ebb_status status =
        c->library ? version_check(c, major, minor)
                   : ebb_fail(env, EBB_UNAVAILABLE,
                              "jit NVRTC: libnvrtc.so.%d is not found: install CUDA's NVRTC %d.%d, or name "
                              "its folder by LD_LIBRARY_PATH",
                              major, major, minor);
    if (!status) status = architecture_check(c, compute);
    if (status) {
        nvrtc_close(&c->base);
        return status;
    }
    ebb_hash_init(&c->base.key);
    ebb_hash_add(&c->base.key, c->base.version, sizeof c->base.version);
    ebb_hash_add(&c->base.key, c->architecture, sizeof c->architecture);
    for (size_t k = 0; k < EBB_COUNT(options); k++)
        ebb_hash_add(&c->base.key, options[k], strlen(options[k]) + 1);
    *out = &c->base;
    return EBB_OK;
}
