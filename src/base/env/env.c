/* The environment: memory with its counters, the last error, the log, the clock and the stop flag. */
#include "base/env/jemalloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINE_BYTES = 1024, CALLOC_ALIGNMENT = 16 };

struct ebb_env {
    ebb_env_options options;
    bool stop_held, error_held;
    bool on_jemalloc; /* the default allocator is it */
    ebb_jemalloc jemalloc;
    pthread_mutex_t lock; /* a call's workers may allocate: held in alloc, free, and for error */
    _Atomic size_t bytes, peak;
    _Atomic uint64_t n_allocations;
    char error[LINE_BYTES];
};

static void *default_alloc(void *ctx, size_t bytes, size_t alignment) {
    (void)ctx;
    /* C11 wants a multiple of the alignment; the caller keeps bytes + alignment from wrapping. */
    return aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}

static void default_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)ctx, (void)bytes, (void)alignment;
    free(ptr);
}

static uint64_t default_clock(void *ctx) {
    (void)ctx;
    struct timespec now = {0};
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

ebb_status ebb_env_create(const ebb_env_options *options, ebb_env **out) {
    ebb_env_options o = {0};
    *out = NULL;
    if (options) o = *options;
    if (!o.alloc != !o.free) return EBB_USAGE;
    const bool on_jemalloc = !o.alloc && ebb_jemalloc_present();
    if (!o.alloc) {
        o.alloc = on_jemalloc ? ebb_jemalloc_alloc : default_alloc;
        o.free = on_jemalloc ? ebb_jemalloc_free : default_free;
        o.alloc_ctx = NULL;
    }
    if (!o.clock_ns) o.clock_ns = default_clock;
    ebb_env *env = o.alloc(o.alloc_ctx, sizeof *env, _Alignof(max_align_t));
    if (!env) return EBB_NO_MEMORY;
    if (pthread_mutex_init(&env->lock, NULL) != 0) {
        o.free(o.alloc_ctx, env, sizeof *env, _Alignof(max_align_t));
        return EBB_NO_MEMORY;
    }
    env->options = o;
    env->stop_held = env->error_held = false;
    env->on_jemalloc = on_jemalloc;
    env->jemalloc = (ebb_jemalloc){0};
    if (on_jemalloc) env->options.alloc_ctx = &env->jemalloc;
    env->error[0] = '\0';
    atomic_init(&env->bytes, 0);
    atomic_init(&env->peak, 0);
    atomic_init(&env->n_allocations, 0);
    *out = env;
    return EBB_OK;
}

void ebb_env_destroy(ebb_env *env) {
    if (!env) return;
    const size_t left = ebb_env_allocated_bytes(env);
    if (left > 0) {
        ebb_log(env, EBB_LOG_WARN,
                "the env is destroyed before objects made with it: %zu bytes are left, destroy them first",
                left);
    }
    if (left == 0 && env->on_jemalloc) ebb_jemalloc_end(&env->jemalloc);
    ebb_env_options o = env->options;
    pthread_mutex_destroy(&env->lock);
    o.free(env->on_jemalloc ? NULL : o.alloc_ctx, env, sizeof *env, _Alignof(max_align_t));
}

const char *ebb_env_error(const ebb_env *env) {
    return env->error;
}

size_t ebb_env_allocated_bytes(const ebb_env *env) {
    return atomic_load_explicit(&env->bytes, memory_order_relaxed);
}

size_t ebb_env_peak_bytes(const ebb_env *env) {
    return atomic_load_explicit(&env->peak, memory_order_relaxed);
}

uint64_t ebb_env_allocation_count(const ebb_env *env) {
    return atomic_load_explicit(&env->n_allocations, memory_order_relaxed);
}

bool ebb_env_block_memory(const ebb_env *env, ebb_block_memory *out) {
    *out = (ebb_block_memory){0};
    return env->on_jemalloc && ebb_jemalloc_stats(&env->jemalloc, out);
}

void ebb_env_allocator(const ebb_env *env, char text[EBB_ALLOCATOR_TEXT]) {
    if (env->on_jemalloc)
        ebb_jemalloc_name(text, EBB_ALLOCATOR_TEXT);
    else
        (void)snprintf(text, EBB_ALLOCATOR_TEXT, "%s",
                       env->options.alloc == default_alloc ? "the C library" : "the caller's");
}

/* Copies n raw bytes into a line of LINE_BYTES, unsafe and invalid bytes as \xNN; what does not fit is cut
 * between code points. */
static void escape_line(char *line, const char *raw, size_t n) {
    static const char hex[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        bool plain;
        size_t length = ebb_text_shown(raw + i, n - i, NULL, &plain);
        if (used + (plain ? length : 4 * length) > LINE_BYTES - 1) break;
        for (size_t end = i + length; i < end; i++) {
            unsigned char byte = (unsigned char)raw[i];
            if (!plain) {
                line[used++] = '\\';
                line[used++] = 'x';
                line[used++] = hex[byte >> 4];
                line[used++] = hex[byte & 15];
            } else {
                line[used++] = raw[i];
            }
        }
    }
    line[used] = '\0';
}

static void format_line(char *line, const char *format, va_list args) {
    /* Formatted aside first: an argument may be the old error text. A code point that this cut splits is
     * too long for the line once escaped, so no piece of it is shown. */
    char raw[LINE_BYTES];
    int n = vsnprintf(raw, sizeof raw, format, args);
    if (n < 0) n = snprintf(raw, sizeof raw, "a message that cannot be formatted");
    escape_line(line, raw, (size_t)n < sizeof raw ? (size_t)n : sizeof raw - 1);
}

ebb_status ebb_fail(ebb_env *env, ebb_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&env->lock);
    if (!env->error_held) format_line(env->error, format, args);
    pthread_mutex_unlock(&env->lock);
    va_end(args);
    return status;
}

void ebb_env_hold_error(ebb_env *env, bool held) {
    env->error_held = held;
}

void ebb_log(ebb_env *env, ebb_log_level level, const char *format, ...) {
    if (!env->options.log) return;
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    format_line(line, format, args);
    va_end(args);
    env->options.log(env->options.log_ctx, level, line);
}

uint64_t ebb_clock_ns(const ebb_env *env) {
    return env->options.clock_ns(env->options.clock_ctx);
}

bool ebb_stop_asked(const ebb_env *env) {
    return !env->stop_held && env->options.stop && *env->options.stop != 0;
}

void ebb_env_hold_stop(ebb_env *env, bool held) {
    env->stop_held = held;
}

static void count_allocation(ebb_env *env, size_t bytes) {
    size_t now = atomic_fetch_add_explicit(&env->bytes, bytes, memory_order_relaxed) + bytes;
    size_t peak = atomic_load_explicit(&env->peak, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(
                             &env->peak, &peak, now, memory_order_relaxed, memory_order_relaxed)) {
    }
    atomic_fetch_add_explicit(&env->n_allocations, 1, memory_order_relaxed);
}

void *ebb_alloc_aligned(ebb_env *env, size_t bytes, size_t alignment) {
    void *ptr = NULL;
    if (bytes == 0) bytes = 1; /* the allocator is promised more than 0 */
    if (bytes <= PTRDIFF_MAX - alignment) {
        pthread_mutex_lock(&env->lock);
        ptr = env->options.alloc(env->options.alloc_ctx, bytes, alignment);
        pthread_mutex_unlock(&env->lock);
    }
    if (!ptr) {
        (void)ebb_fail(env, EBB_NO_MEMORY, "out of memory: %zu bytes refused while %zu are held", bytes,
                       ebb_env_allocated_bytes(env));
        return NULL;
    }
    count_allocation(env, bytes);
    return ptr;
}

void ebb_free_aligned(ebb_env *env, void *ptr, size_t bytes, size_t alignment) {
    if (!ptr) return;
    if (bytes == 0) bytes = 1;
    pthread_mutex_lock(&env->lock);
    env->options.free(env->options.alloc_ctx, ptr, bytes, alignment);
    pthread_mutex_unlock(&env->lock);
    atomic_fetch_sub_explicit(&env->bytes, bytes, memory_order_relaxed);
}

void *ebb_calloc(ebb_env *env, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        (void)ebb_fail(env, EBB_NO_MEMORY,
                       "out of memory: %zu elements of %zu bytes are more than can be named", n, size);
        return NULL;
    }
    void *ptr = ebb_alloc_aligned(env, bytes, CALLOC_ALIGNMENT);
    if (ptr) memset(ptr, 0, bytes);
    return ptr;
}

void ebb_cfree(ebb_env *env, void *ptr, size_t n, size_t size) {
    ebb_free_aligned(env, ptr, n * size, CALLOC_ALIGNMENT);
}
