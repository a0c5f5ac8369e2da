/* ebb/base.h: status codes and the environment.
 *
 * Every call takes an `ebb_env` first, or an object made with one. The environment holds the library's only
 * ties to the outside: memory, log lines, the clock, the text of the last error, and the request to stop.
 * There are no globals.
 *
 * Threads: an env, and every object made with it, may be used by one thread at a time. Different envs are
 * independent of each other. The functions below that take no env may be called from any thread.
 *
 * Out-parameters come last. `**out` belongs to the caller; a returned const pointer is borrowed.
 */
#ifndef EBB_BASE_H
#define EBB_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EBB_API          __attribute__((visibility("default")))
#define EBB_CHECKED      __attribute__((warn_unused_result))
#define EBB_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define EBB_API
#define EBB_CHECKED
#define EBB_PRINTF(f, a)
#endif

/* Results of calls, grouped by the action that the caller should take. */
typedef enum ebb_status {
    EBB_OK = 0,
    EBB_OVER_BUDGET, /* no plan fits: the error text names the smallest budget that does. Exit 1 */
    EBB_VIOLATION,   /* a check failed: the plan or diff that was checked is at fault. Exit 1 */
    EBB_USAGE,       /* the call or command line is wrong: correct it. Exit 2 */
    EBB_BAD_INPUT,   /* a file, text or tensor is wrong: correct it where the text says. Exit 3 */
    EBB_NO_MEMORY,   /* the allocator refused: nothing was changed. Exit 4 */
    EBB_UNAVAILABLE, /* this machine does not have that backend or device: choose another. Exit 5 */
    EBB_DEVICE,      /* the device or its library failed. Exit 5 */
    EBB_INTERNAL,    /* an invariant of the library is broken: report it. Exit 6 */
    EBB_IO,          /* reading or writing a file failed. Exit 7 */
    EBB_INTERRUPTED, /* the stop flag was raised; the best result so far is returned. Exit 130 */
    EBB_STALE,       /* a step failed halfway: params and states are undefined until all are fed. Exit 5 */
    EBB_MISMATCH,    /* a traced call differs from its recording, which `strict` forbids. Exit 3 */
} ebb_status;

/* The status's name, for instance "OVER_BUDGET". Static, never NULL. */
EBB_API const char *ebb_status_name(ebb_status status);
/* The exit code of the `ebb` command for a status: 0 to 7, or 130. */
EBB_API int ebb_status_exit_code(ebb_status status);

typedef struct ebb_env ebb_env;

typedef enum ebb_log_level { EBB_LOG_DEBUG, EBB_LOG_INFO, EBB_LOG_WARN } ebb_log_level;

/* The services that an environment gets from outside. A zeroed field means the default. */
typedef struct ebb_env_options {
    /* `bytes` > 0, `alignment` a power of two; alloc returns NULL when there is no memory. The default is
     * jemalloc when the process runs on it (the program links it first, or it is preloaded), otherwise the
     * C library. Worker threads that a call starts use these too, but never two at a time. */
    void *(*alloc)(void *ctx, size_t bytes, size_t alignment);
    void (*free)(void *ctx, void *ptr, size_t bytes, size_t alignment);
    void *alloc_ctx;
    /* One line, without a newline. Default: nothing is logged. */
    void (*log)(void *ctx, ebb_log_level level, const char *line);
    void *log_ctx;
    /* Nanoseconds of a monotonic clock. Used for progress and time limits; never in a plan. */
    uint64_t (*clock_ns)(void *ctx);
    void *clock_ctx;
    /* May be NULL. When it becomes nonzero (in a signal handler, say), long work stops at the next safe
     * point, keeps its best result and returns EBB_INTERRUPTED. */
    const volatile int *stop;
} ebb_env_options;

/* options may be NULL. Errors: EBB_NO_MEMORY, EBB_USAGE (one of alloc/free without the other). */
EBB_API EBB_CHECKED ebb_status ebb_env_create(const ebb_env_options *options, ebb_env **out);
/* Destroy every object made with the env first. NULL is allowed. */
EBB_API void ebb_env_destroy(ebb_env *env);
/* One line about the last failure, without a newline: what failed, where, with which numbers, and what to
 * do. "" when nothing has failed yet. Valid until the next failing call with this env. */
EBB_API const char *ebb_env_error(const ebb_env *env);

/* Bytes currently allocated through the env, and their peak. */
EBB_API size_t ebb_env_allocated_bytes(const ebb_env *env);
EBB_API size_t ebb_env_peak_bytes(const ebb_env *env);
/* Number of allocations made through the env so far: a training step adds none. */
EBB_API uint64_t ebb_env_allocation_count(const ebb_env *env);

/* jemalloc's statistics for the blocks that hold tensors (4 MiB and more), which have a jemalloc arena of
 * their own: bytes requested, rounded up to jemalloc's size classes; bytes of the pages in use; bytes of
 * the pages held by the process. */
typedef struct ebb_block_memory {
    int64_t allocated_bytes, active_bytes, resident_bytes;
} ebb_block_memory;
/* Returns false and zeroes *out when the env's allocator is not jemalloc. */
EBB_API bool ebb_env_block_memory(const ebb_env *env, ebb_block_memory *out);
/* Writes the allocator's name: "jemalloc 5.3.0", "the C library" or "the caller's". */
#define EBB_ALLOCATOR_TEXT 64
EBB_API void ebb_env_allocator(const ebb_env *env, char text[EBB_ALLOCATOR_TEXT]);

/* The current memory of a device. -1: unknown, or not watched. */
typedef struct ebb_memory_facts {
    int64_t total_bytes, free_bytes;    /* of the device */
    int64_t taken_bytes;                /* taken since this process opened the device, by any process */
    int64_t process_bytes;              /* of this process, by the driver's count */
    int64_t context_bytes;              /* taken by opening the device: driver context, kernels, scalars */
    int64_t block_bytes, ballast_bytes; /* requested for tensors; requested to leave no more free than the
                                         * cap */
    int64_t staging_bytes;              /* pinned host memory, for copies */
    int64_t hidden_bytes, n_hidden;     /* allocated by libraries, even if freed since; the number of such
                                         * calls */
} ebb_memory_facts;

/* "0.1.0". */
EBB_API const char *ebb_version(void);

/* Writes a file whole or not at all: an existing file is replaced once the new one is complete, and its
 * mode is kept; a link is followed. path "-" writes standard output; a pipe or device is written to
 * directly. EBB_IO. */
EBB_API EBB_CHECKED ebb_status ebb_file_write(ebb_env *env, const char *path, const char *bytes, size_t n);

/* Host memory, in bytes, that this process can still take: what is available, capped by what its control
 * groups and its address space limit leave; -1: unknown. */
EBB_API int64_t ebb_host_available(void);
/* Names come from files, and a hostile one must not reach a terminal. Returns the length of the code point
 * at the start of n > 0 bytes, and in *plain whether a line may show it: control characters, marks that
 * change the text's direction, invisible, private and unassigned characters may not be shown, nor may a
 * byte that is not UTF-8, which counts as a code point of its own. code may be NULL; it receives the code
 * point, 0 for such a byte. */
EBB_API size_t ebb_text_shown(const char *text, size_t n, uint32_t *code, bool *plain);
/* Parses "11GiB", "500 MB" or "1073741824": an integer or a decimal number times {B, kB, KB, KiB, MB, MiB,
 * GB, GiB, TB, TiB}; MB = 10^6, MiB = 2^20; a fraction of a byte is truncated. Returns false and leaves
 * *out untouched for anything else, including a decimal number without a unit and a value that does not fit
 * int64_t. */
EBB_API bool ebb_parse_bytes(const char *text, int64_t *out);
/* Parses a decimal integer in [min, max]. Returns false and leaves *out untouched for anything else. */
EBB_API bool ebb_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out);
/* Finds a word for "did you mean": the first of the words word_at(ctx, 0), word_at(ctx, 1), ... (up to a
 * NULL) with the fewest single-byte edits from the n bytes typed. Returns NULL when these are more than 3
 * or more than half of n, or when n is above 40. Allocates nothing. */
EBB_API const char *ebb_word_nearest(const char *typed, size_t n,
                                     const char *(*word_at)(const void *ctx, size_t i), const void *ctx);

#ifdef __cplusplus
}
#endif
#endif
