/* cuda/fused.h: chains of pointwise ops (`fused`, graph/ops/fused.h) on a GPU: code that is made for each.
 *
 *     body --a compiler's write--> text --> shelf (base/os) --> code --code_load--> launches
 *                                        \--> its compile --^
 *
 *     compiler   nvrtc.c: libnvrtc, opened by dlopen; in tests the host's C compiler, of the same text
 *                code_modules.c: MLIR's and Halide's modules (exec/code_module.h), then CUDA's linker
 *                (jitlink.c); by name only
 *     text       NVRTC: kernels/fused.h and what it includes, as one file without comments (text.py), and
 *                the body (fused_text.c); the others: mlir_text.c, halide_text.c
 *     code       by the hash of text, compiler, options and architecture: made once a backend, and once for
 *                all processes that share a shelf
 *
 * Each step calls what its op's own kernel calls (kernels/pointwise.h; in MLIR and Halide its operations,
 * in their order), and rounds as that one stores. So the bits are those of the steps' ops run one by one,
 * as far as both are compiled alike: for one architecture, without contraction, by one version of the
 * compiler (docs/decisions/0080).
 *
 * A text knows no shapes, but whether they have 2^32 places: strides are arguments, so that equal chains of
 * other shapes are one kernel. Sums that a body gives beside its results are launches of bias_grad's
 * kernels behind it.
 */
#ifndef EBB_EXEC_CUDA_FUSED_H
#define EBB_EXEC_CUDA_FUSED_H

#include "exec/cuda/device/device.h"

/* ---- who makes code -------------------------------------------------------------------------------- */

enum { CUDA_N_COMPILERS = 3 };
typedef struct cuda_compiler cuda_compiler; /* each defines its own */
typedef struct cuda_compiler_api {
    const char *name; /* "NVRTC" */
    void (*close)(cuda_compiler *compiler);
    /* A body of this call in its language. */
    void (*write)(const cuda_compiler *compiler, ebb_text *text, const ebb_call *call,
                  const ebb_fused_body *body);
    /* Code of a text, for code_load: n bytes, to be freed with ebb_cfree. EBB_DEVICE, EBB_IO: it could not
     * be made (why). */
    ebb_status (*compile)(cuda_compiler *compiler, const ebb_text *text, char **out, size_t *n);
} cuda_compiler_api;
struct cuda_compiler { /* first member of each one's own */
    const cuda_compiler_api *api;
    ebb_env *env;
    char version[EBB_EMITTER_TEXT]; /* for readers */
    ebb_hash key;                   /* of all that code depends on beside its text */
};

/* Who may be named; the first is taken where nobody is. */
extern const char *const cuda_compilers[CUDA_N_COMPILERS];
/* The one of this name, for devices of this compute capability (900: 9.0); 0: to know its version.
 * EBB_UNAVAILABLE: it is not there, or does not serve (why). The module has the one of compilers.c. */
EBB_CHECKED ebb_status cuda_compiler_open(ebb_env *env, const char *name, int32_t compute,
                                          cuda_compiler **out);

/* NVRTC, of version major.minor alone (nvrtc.c). */
EBB_CHECKED ebb_status cuda_nvrtc_open(ebb_env *env, int major, int minor, int32_t compute,
                                       cuda_compiler **out);

/* CUDA's functions, as the nvcc that compiled the kernels has them: LLVM's bitcode (libdevice), and PTX
 * (functions.cu). Each has a 0 behind it that is not counted; of 0 bytes: this build has none. */
typedef struct cuda_bytes {
    const char *at;
    size_t n;
} cuda_bytes;
typedef struct cuda_functions {
    cuda_bytes bitcode, ptx;
} cuda_functions;
cuda_functions cuda_functions_here(void); /* this build's (functions.c) */

/* MLIR or HALIDE, for devices of compute capability 7.5 and later, of the latter to 8.6 (code_modules.c).
 * major: of CUDA; functions: borrowed. */
EBB_CHECKED ebb_status cuda_code_open(ebb_env *env, const char *name, int major,
                                      const cuda_functions *functions, int32_t compute,
                                      cuda_compiler **out);

/* Whether one of this name makes code for such devices; of no other name anything is known.
 * EBB_UNAVAILABLE: it does not. */
EBB_CHECKED ebb_status cuda_code_serves(ebb_env *env, const char *name, int32_t compute);

/* CUDA's linker libnvJitLink, of a major version, opened by dlopen (jitlink.c). */
typedef struct cuda_linker cuda_linker;
EBB_CHECKED ebb_status cuda_linker_open(ebb_env *env, const char *of, int major, int32_t compute,
                                        cuda_linker **out);
void cuda_linker_close(cuda_linker *linker); /* NULL is allowed */
/* Adds to a key what CUBINs depend on beside their PTX: version, architecture, options. */
void cuda_linker_key(const cuda_linker *linker, ebb_hash *key);
/* "nvJitLink 13.0" */
void cuda_linker_version(const cuda_linker *linker, char version[EBB_EMITTER_TEXT]);
/* A CUBIN of texts in PTX, n_texts of them: for ebb_cfree. EBB_DEVICE: it takes them for none (why). */
EBB_CHECKED ebb_status cuda_linker_link(cuda_linker *linker, const cuda_bytes *texts, size_t n_texts,
                                        char **out, size_t *n);

/* ---- what a backend has of it (code.c) ------------------------------------------------------------- */

typedef struct cuda_made {
    ebb_hash of; /* a text */
    cuda_code *code;
} cuda_made;
/* Zeroed: nothing yet. */
typedef struct cuda_jit {
    ebb_env *env;
    const char *name; /* of a compiler; NULL: the first */
    bool tried;
    cuda_compiler *compiler; /* NULL: there is none, and bodies are refused */
    ebb_shelf shelf;         /* open where there is a compiler */
    EBB_ARRAY(cuda_made) made;
    uint32_t n_compiled, n_found; /* texts: made here; from the shelf */
    uint64_t compile_ns;
} cuda_jit;

/* Opens the compiler of jit's name, unless it is open. EBB_UNAVAILABLE as of cuda_compiler_open. */
EBB_CHECKED ebb_status cuda_jit_open(cuda_jit *jit, ebb_env *env, int32_t compute);
/* The device is the thread's. */
void cuda_jit_close(cuda_jit *jit, cuda_device *device);
/* The code of a text, loaded, until the jit is closed. jit is open. */
EBB_CHECKED ebb_status cuda_jit_code(cuda_jit *jit, cuda_device *device, const ebb_text *text,
                                     const cuda_code **out);
/* Of an api (exec/backend.h): compilers, with the version of what is here. */
ebb_status cuda_emitter_at(ebb_env *env, uint32_t i, const char **name, char version[EBB_EMITTER_TEXT]);

/* ---- texts (fused_text.c, mlir_text.c, halide_text.c) ----------------------------------------------- */

/* All before the bodies (text.py). */
extern const char cuda_fused_prelude[];
extern const size_t cuda_fused_prelude_bytes;

/* The text of a body of this call. */
void cuda_fused_write(const cuda_compiler *compiler, ebb_text *text, const ebb_call *call,
                      const ebb_fused_body *body);
/* The same in MLIR, for a device of this compute capability; 0: for a host, where a C compiler has the
 * functions that it calls and it is cuda_fused(args, block, thread). */
void cuda_mlir_write(ebb_text *text, int32_t compute, const ebb_call *call, const ebb_fused_body *body);
/* The same as lines that the module of Halide reads; no device has another text. */
void cuda_halide_write(ebb_text *text, int32_t compute, const ebb_call *call, const ebb_fused_body *body);
/* Its arguments, but for addresses. */
void cuda_fused_arguments(const ebb_call *call, const ebb_fused_body *body, cuda_fused_args *out);

#endif
