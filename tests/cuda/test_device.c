/* A device of CUDA's runtime. Without one: what is said. With one: that blocks, copies, launches,
 * recordings and times are what device.h promises. */
#include "exec/cuda/device/device.h"
#include "exec/cuda/kernels.h"
#include "support/check.h"
#include "support/skip.h"

#include <stdlib.h>

typedef struct setting {
    ebb_env *env;
    cuda_device *device;
    const cuda_device_api *api;
} setting;

/* Skips where there is no device. */
static void begin_with(setting *s, const ebb_backend_options *options) {
    s->env = test_env_open();
    const ebb_status status = cuda_device_open(s->env, 0, options, &s->device);
    if (status == EBB_UNAVAILABLE) {
        static char why[256];
        (void)snprintf(why, sizeof why, "no device: %s", ebb_env_error(s->env));
        test_env_close(s->env);
        TEST_SKIP(why);
    }
    TEST_OK(s->env, status);
    s->api = s->device->api;
}

static void begin(setting *s) {
    begin_with(s, &(ebb_backend_options){.n_threads = 1});
}

static void end(setting *s) {
    s->api->close(s->device);
    test_env_close(s->env);
}

Test(device, what_is_absent_is_said_and_nothing_is_left) {
    ebb_env *env = test_env_open();
    cuda_device *device = NULL;
    const ebb_backend_options options = {.n_threads = 1};
    const ebb_status status = cuda_device_open(env, 0, &options, &device);
    if (status == EBB_OK) { /* there is one: then not so many */
        device->api->close(device);
        cr_assert_eq(cuda_device_open(env, 4711, &options, &device), EBB_UNAVAILABLE);
        cr_assert(strstr(ebb_env_error(env), "cuda:4711: no such device"), "%s", ebb_env_error(env));
    } else {
        cr_assert_eq(status, EBB_UNAVAILABLE);
        const char *text = ebb_env_error(env);
        cr_assert(strstr(text, "driver") || strstr(text, "kernels for"), "%s", text);
    }
    cr_assert_null(device);
    test_env_close(env);
}

/* Around a staging buffer's 8 MiB and several of them. */
Test(device, what_is_copied_in_comes_out) {
    setting s;
    begin(&s);
    const int64_t staging = 8 << 20,
                  sizes[] = {1, 3, staging - 1, staging, staging + 1, 2 * staging, 5 * staging + 7};
    for (size_t i = 0; i < EBB_COUNT(sizes); i++) {
        const int64_t n = sizes[i];
        unsigned char *from = malloc((size_t)n), *to = calloc(1, (size_t)n);
        void *block, *other;
        cr_assert(from && to);
        for (int64_t k = 0; k < n; k++) from[k] = (unsigned char)(k * 31 + k / 4099);
        TEST_OK(s.env, s.api->alloc(s.device, n, &block));
        TEST_OK(s.env, s.api->alloc(s.device, n, &other));
        cr_assert_eq((uintptr_t)block % 256, 0);
        TEST_OK(s.env, s.api->copy_in(s.device, block, from, n));
        TEST_OK(s.env, s.api->fill(s.device, other, 0xFF, n));
        TEST_OK(s.env, s.api->move(s.device, other, block, n));
        TEST_OK(s.env, s.api->copy_out(s.device, to, other, n));
        cr_assert_eq(memcmp(from, to, (size_t)n), 0, "%lld bytes", (long long)n);
        s.api->free(s.device, block, n);
        s.api->free(s.device, other, n);
        free(from);
        free(to);
    }
    end(&s);
}

Test(device, memory_tells_what_was_asked_for_and_too_much_is_refused_and_forgotten) {
    setting s;
    begin(&s);
    ebb_memory_facts before, after;
    void *block, *none;
    const int64_t bytes = 123456789;
    TEST_OK(s.env, s.api->memory(s.device, &before));
    TEST_OK(s.env, s.api->alloc(s.device, bytes, &block));
    cr_assert_eq(s.api->alloc(s.device, before.total_bytes + 1, &none), EBB_NO_MEMORY);
    cr_assert_null(none);
    TEST_OK(s.env, s.api->memory(s.device, &after));
    cr_assert_eq(before.block_bytes, 0);
    cr_assert_eq(after.block_bytes, bytes);
    cr_assert_geq(before.free_bytes - after.free_bytes, bytes);
    TEST_OK(s.env, s.api->fill(s.device, block, 1, bytes));
    TEST_OK(s.env, s.api->finish(s.device));
    s.api->free(s.device, block, bytes);
    end(&s);
}

Test(device, beyond_a_cap_nothing_is_left) {
    setting s;
    const int64_t cap = INT64_C(1) << 30;
    begin_with(&s, &(ebb_backend_options){.n_threads = 1, .cap_bytes = cap});
    ebb_memory_facts facts;
    void *block;
    TEST_OK(s.env, s.api->memory(s.device, &facts));
    cr_assert_leq(facts.free_bytes, cap);
    cr_assert_gt(facts.free_bytes, cap - (64 << 20));
    cr_assert_gt(facts.ballast_bytes, 0);
    cr_assert_eq(s.api->alloc(s.device, cap + (64 << 20), &block), EBB_NO_MEMORY);
    TEST_OK(s.env, s.api->alloc(s.device, cap - (64 << 20), &block));
    s.api->free(s.device, block, cap - (64 << 20));
    end(&s);
}

enum { N = 5000 };

static void add(const setting *s, const float *a, const float *b, float *y) {
    const cuda_add_f32_args args = {
        .walk = {.n_dims = 1, .size = {N}, .stride = {{1}, {1}}, .along = 3}, .in = {a, b}, .y = y, .n = N};
    TEST_OK(s->env,
            s->api->launch(s->device, CUDA_KERNEL_add_f32, cuda_blocks_of(N, CUDA_PLACES_EACH), &args));
}

/* y = y + a, as often as it is replayed, and once for the plain launch. */
Test(device, a_recording_is_not_run_until_it_is_replayed_and_then_each_time) {
    setting s;
    begin(&s);
    float host[N];
    void *a, *y;
    cuda_recording *recording;
    TEST_OK(s.env, s.api->alloc(s.device, sizeof host, &a));
    TEST_OK(s.env, s.api->alloc(s.device, sizeof host, &y));
    for (int i = 0; i < N; i++) host[i] = (float)i;
    TEST_OK(s.env, s.api->copy_in(s.device, a, host, sizeof host));
    TEST_OK(s.env, s.api->fill(s.device, y, 0, sizeof host));
    add(&s, y, a, y);
    TEST_OK(s.env, s.api->record_begin(s.device));
    add(&s, y, a, y);
    cr_assert_eq(s.api->finish(s.device), EBB_INTERNAL, "a wait in a recording");
    cr_assert_eq(s.api->copy_in(s.device, y, host, sizeof host), EBB_INTERNAL, "a copy in a recording");
    TEST_OK(s.env, s.api->record_end(s.device, &recording));
    TEST_OK(s.env, s.api->copy_out(s.device, host, y, sizeof host));
    for (int i = 0; i < N; i++) cr_assert_eq(host[i], (float)i);
    for (int k = 0; k < 3; k++) TEST_OK(s.env, s.api->replay(s.device, recording));
    TEST_OK(s.env, s.api->copy_out(s.device, host, y, sizeof host));
    for (int i = 0; i < N; i++) cr_assert_eq(host[i], 4 * (float)i);
    s.api->record_free(s.device, recording);
    s.api->free(s.device, a, sizeof host);
    s.api->free(s.device, y, sizeof host);
    end(&s);
}

Test(device, marks_are_in_order_and_lie_around_the_work) {
    setting s;
    begin(&s);
    const int64_t bytes = 256 << 20;
    void *block;
    uint64_t ns[2];
    TEST_OK(s.env, s.api->alloc(s.device, bytes, &block));
    TEST_OK(s.env, s.api->marks_reserve(s.device, 3));
    TEST_OK(s.env, s.api->mark(s.device, 0));
    TEST_OK(s.env, s.api->mark(s.device, 1));
    TEST_OK(s.env, s.api->fill(s.device, block, 0, bytes));
    TEST_OK(s.env, s.api->mark(s.device, 2));
    TEST_OK(s.env, s.api->finish(s.device));
    TEST_OK(s.env, s.api->marks_read(s.device, 3, ns));
    cr_assert_gt(ns[1], ns[0]);
    cr_assert_gt(ns[1], 10000, "%llu ns for %lld bytes", (unsigned long long)ns[1], (long long)bytes);
    s.api->free(s.device, block, bytes);
    end(&s);
}
