/* ebb/base.h: status codes and the environment.
 *
 * Every call takes an `ebb_env` first (or an object that was made with one). The environment is
 * where the library's only outward ties live: memory, log lines, the clock, the text of the last
 * error, and the wish to stop. There are no globals.
 *
 * Threads: an env, and every object made with it, is used by one thread at a time. Several envs
 * are independent of one another.
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

/* What happened, named by what the caller should do about it. */
typedef enum ebb_status {
    EBB_OK = 0,
    EBB_OVER_BUDGET, /* no plan fits: the error text names the smallest budget that does. Exit 1 */
    EBB_VIOLATION,   /* a check found a fault in what was checked (a plan, a diff). Exit 1 */
    EBB_USAGE,       /* the call or command line is wrong: correct it. Exit 2 */
    EBB_BAD_INPUT,   /* a file, text or tensor is wrong: correct it where the text says. Exit 3 */
    EBB_NO_MEMORY,   /* the allocator said no: nothing was changed. Exit 4 */
    EBB_UNAVAILABLE, /* that backend or device is not on this machine: choose another. Exit 5 */
    EBB_DEVICE,      /* the device or its library failed. Exit 5 */
    EBB_INTERNAL,    /* an invariant of ours is broken: report it. Exit 6 */
    EBB_IO,          /* reading or writing a file failed. Exit 7 */
    EBB_INTERRUPTED, /* the stop flag was raised; the best result so far is returned. Exit 130 */
} ebb_status;

/* A fixed name, "OVER_BUDGET" for instance. Never NULL. */
EBB_API const char *ebb_status_name(ebb_status status);
/* The exit code that the `ebb` command gives for a status: 0 to 7, or 130. */
EBB_API int ebb_status_exit_code(ebb_status status);

typedef struct ebb_env ebb_env;

typedef enum ebb_log_level { EBB_LOG_DEBUG, EBB_LOG_INFO, EBB_LOG_WARN } ebb_log_level;

/* What the environment needs from outside; zeroed fields mean the default. */
typedef struct ebb_env_options {
    /* `bytes` > 0, `alignment` a power of two; NULL when there is no memory. The default is jemalloc where
     * the process runs on it (the program links it first, or it is preloaded), else the C library. A
     * call's own worker threads may ask too, but never two at a time. */
    void *(*alloc)(void *ctx, size_t bytes, size_t alignment);
    void (*free)(void *ctx, void *ptr, size_t bytes, size_t alignment);
    void *alloc_ctx;
    /* One line, without a newline. Default: nothing is logged. */
    void (*log)(void *ctx, ebb_log_level level, const char *line);
    void *log_ctx;
    /* Nanoseconds of a monotonic clock. Used for progress and time limits; never in a plan. */
    uint64_t (*clock_ns)(void *ctx);
    void *clock_ctx;
    /* When not NULL and it turns nonzero (from a signal handler, say), long work stops at the
     * next good place, keeps its best result and returns EBB_INTERRUPTED. */
    const volatile int *stop;
} ebb_env_options;

/* options may be NULL. Errors: EBB_NO_MEMORY, EBB_USAGE (one of alloc/free without the other). */
EBB_API EBB_CHECKED ebb_status ebb_env_create(const ebb_env_options *options, ebb_env **out);
/* Destroy every object made with the env first. NULL is allowed. */
EBB_API void ebb_env_destroy(ebb_env *env);
/* One line about the last failure, without a newline: what, where, the numbers, what to do.
 * "" when nothing failed yet. Valid until the next failing call with this env. */
EBB_API const char *ebb_env_error(const ebb_env *env);

/* Bytes that the env's allocator holds now, and the most it ever held. */
EBB_API size_t ebb_env_allocated_bytes(const ebb_env *env);
EBB_API size_t ebb_env_peak_bytes(const ebb_env *env);
/* Number of allocations made through the env so far: a steady training step adds none. */
EBB_API uint64_t ebb_env_allocation_count(const ebb_env *env);

/* What jemalloc knows of the blocks that tensors lie in (those of 4 MiB and more), which have an arena of
 * their own: bytes asked for, rounded up to its sizes; in pages that it handed out; in pages that the
 * process holds. */
typedef struct ebb_block_memory {
    int64_t allocated_bytes, active_bytes, resident_bytes;
} ebb_block_memory;
/* false, and zeros: the env's allocator is not jemalloc. */
EBB_API bool ebb_env_block_memory(const ebb_env *env, ebb_block_memory *out);
/* "jemalloc 5.3.0", "the C library" or "the caller's". */
#define EBB_ALLOCATOR_TEXT 64
EBB_API void ebb_env_allocator(const ebb_env *env, char text[EBB_ALLOCATOR_TEXT]);

/* What the memory of a device looks like now; -1: cannot be told, or was not watched. */
typedef struct ebb_memory_facts {
    int64_t total_bytes, free_bytes; /* of the device */
    int64_t taken_bytes; /* what is no longer free since before this process opened it, taken by anybody */
    int64_t process_bytes; /* of this process, by the driver's own count */
    int64_t context_bytes; /* taken when it was opened: the driver's context, kernels, scalars */
    int64_t block_bytes, ballast_bytes; /* asked for: for tensors, and to leave no more than a cap */
    int64_t staging_bytes;              /* pinned memory of the host, for copies */
    int64_t hidden_bytes, n_hidden;     /* allocated by libraries, freed since or not, and how often */
} ebb_memory_facts;

/* "0.1.0". */
EBB_API const char *ebb_version(void);

/* Names come from files: bytes at the start of n, more than 0, that are one code point, and whether a line
 * may show them: no control character, nothing that turns the direction, hides, or is nobody's, and no byte
 * that is no UTF-8, which counts as a code point of its own. code (may be NULL): the code point, 0 for such
 * a byte. */
EBB_API size_t ebb_text_shown(const char *text, size_t n, uint32_t *code, bool *plain);
/* "11GiB", "500 MB", "1073741824": an integer or a decimal number times {B, kB, KB, KiB, MB, MiB, GB, GiB,
 * TB, TiB}; MB = 10^6, MiB = 2^20; a part of a byte is cut off. false, and *out untouched: anything else (a
 * decimal number of plain bytes, too), and what does not fit int64_t. */
EBB_API bool ebb_parse_bytes(const char *text, int64_t *out);
/* A whole decimal integer in [min, max]. false, and *out untouched: anything else. */
EBB_API bool ebb_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out);
/* For "did you mean": of the words that word_at gives (from 0 on; NULL behind the last), the first of those
 * with the fewest single-byte edits from the n bytes that were typed, at most 3 and half of them; NULL when
 * none is that near, or more than 40 bytes were typed. Allocates nothing. */
EBB_API const char *ebb_word_nearest(const char *typed, size_t n,
                                     const char *(*word_at)(const void *ctx, size_t i), const void *ctx);

#ifdef __cplusplus
}
#endif
#endif
