/* A device of CUDA's runtime on a runtime that is made up (runtime_fake.h): the thread's device is the
 * caller's own, and a cap is of what is there when it is taken. */
#include "host.h"
#include "runtime_fake.h"
#include "support/check.h"

static const int64_t gib = INT64_C(1) << 30;

static ebb_backend *backend_open(ebb_env *env, int ordinal, int64_t cap_bytes) {
    cuda_device *device;
    cuda_products *products;
    ebb_backend *backend;
    const ebb_backend_options options = {.n_threads = 1, .cap_bytes = cap_bytes};
    TEST_OK(env, cuda_device_open(env, ordinal, &options, &device));
    TEST_OK(env, test_products_host_open(env, &products));
    TEST_OK(env, cuda_backend_create(env, test_description(), device, products, &backend));
    return backend;
}

/* Its statuses and, after each, the thread's device. */
#define CALL(call)                                                                \
    do {                                                                          \
        TEST_OK(env, call);                                                       \
        cr_assert_eq(fake.current, before, "%s: device %d", #call, fake.current); \
    } while (0)
#define CALL_VOID(call)                                                           \
    do {                                                                          \
        (call);                                                                   \
        cr_assert_eq(fake.current, before, "%s: device %d", #call, fake.current); \
    } while (0)

/* x + x of 40 numbers. */
static ebb_kernel *kernel_make(ebb_env *env, ebb_backend *backend) {
    static const ebb_type type = {.dtype = EBB_F32, .rank = 1, .dim = {40}};
    static const ebb_type in[] = {{.dtype = EBB_F32, .rank = 1, .dim = {40}},
                                  {.dtype = EBB_F32, .rank = 1, .dim = {40}}};
    const ebb_call call = {.op = &ebb_op_add, .in = in, .out = &type, .n_in = 2, .n_out = 1};
    ebb_kernel *kernel;
    TEST_OK(env, backend->api->prepare(backend, &call, 0, &kernel));
    return kernel;
}

static void every_function(ebb_env *env, ebb_backend *backend, int before) {
    const ebb_backend_api *api = backend->api;
    char host[64] = "";
    void *block, *other;
    ebb_memory_facts facts;
    ebb_recording *recording;
    uint64_t ns[1];
    CALL(api->block_alloc(backend, 4096, &block));
    CALL(api->block_alloc(backend, 4096, &other));
    CALL(api->copy_in(backend, block, host, sizeof host));
    CALL(api->copy_out(backend, host, block, sizeof host));
    CALL(api->fill(backend, block, 0, 4096));
    CALL(api->move(backend, other, block, 4096));
    CALL(api->memory(backend, &facts));
    ebb_kernel *kernel = kernel_make(env, backend);
    cr_assert_eq(fake.current, before);
    const ebb_launch launch = {.in = (void *[]){block, block}, .out = (void *[]){other}};
    CALL(api->begin(backend, &(ebb_run){.seed = 1}));
    CALL(api->marks_reserve(backend, 2));
    CALL(api->mark(backend, 0));
    CALL(api->launch(backend, kernel, &launch));
    CALL(api->mark(backend, 1));
    CALL(api->record_begin(backend));
    CALL(api->launch(backend, kernel, &launch));
    CALL(api->record_end(backend, &recording));
    CALL(api->replay(backend, recording));
    CALL(api->end(backend));
    CALL(api->marks_read(backend, 2, ns));
    CALL_VOID(api->record_free(backend, recording));
    CALL_VOID(api->release(backend, kernel));
    CALL_VOID(api->block_free(backend, other, 4096));
    CALL_VOID(api->block_free(backend, block, 4096));
}

Test(runtime, the_thread_s_device_is_as_it_was_behind_every_function) {
    for (int before = 0; before < FAKE_DEVICES; before++) {
        for (int ordinal = 0; ordinal < FAKE_DEVICES; ordinal++) {
            ebb_env *env = test_env_open();
            fake_begin();
            fake.current = before;
            ebb_backend *backend = backend_open(env, ordinal, 20 * gib);
            cr_assert_eq(fake.current, before, "opened");
            every_function(env, backend, before);
            CALL_VOID(backend->api->destroy(backend));
            cr_assert_eq(fake.device[ordinal].allocated_bytes, 0);
            test_env_close(env);
        }
    }
}

/* A launch asks which device is the thread's and sets none where it is ours; else there and back. */
Test(runtime, a_launch_on_the_thread_s_own_device_sets_none) {
    for (int ordinal = 0; ordinal < FAKE_DEVICES; ordinal++) {
        ebb_env *env = test_env_open();
        void *block;
        fake_begin();
        ebb_backend *backend = backend_open(env, ordinal, 0);
        ebb_kernel *kernel = kernel_make(env, backend);
        TEST_OK(env, backend->api->block_alloc(backend, 4096, &block));
        const ebb_launch launch = {.in = (void *[]){block, block}, .out = (void *[]){block}};
        fake.n_set = fake.n_get = 0;
        TEST_OK(env, backend->api->launch(backend, kernel, &launch));
        cr_expect_eq(fake.n_get, 1);
        cr_expect_eq(fake.n_set, ordinal == fake.current ? 0 : 2);
        backend->api->block_free(backend, block, 4096);
        backend->api->release(backend, kernel);
        backend->api->destroy(backend);
        test_env_close(env);
    }
}

/* A device that is not there changes nothing either. */
Test(runtime, a_device_that_cannot_be_opened_leaves_the_thread_s) {
    ebb_env *env = test_env_open();
    cuda_device *device;
    fake_begin();
    const ebb_backend_options beyond = {.n_threads = 1, .cap_bytes = 100 * gib};
    cr_assert_eq(cuda_device_open(env, 1, &beyond, &device), EBB_USAGE);
    cr_assert(strstr(ebb_env_error(env), "cap it lower"), "%s", ebb_env_error(env));
    cr_assert_eq(fake.current, 0);
    cr_assert_eq(fake.device[1].allocated_bytes, 0);
    test_env_close(env);
}

/* ---- caps ------------------------------------------------------------------------------------------ */

/* Beside it so much is left for this process, of what it holds nothing else of. */
static void expect_left(int64_t want, const char *when) {
    const int64_t left = fake_free_bytes(0);
    cr_expect(left <= want && left > want - 2 * FAKE_PAGE_BYTES, "%s: %lld are left, not %lld", when,
              (long long)left, (long long)want);
}

static void capped(ebb_env *env, int64_t cap_bytes, int64_t want, const char *when) {
    ebb_backend *backend = backend_open(env, 0, cap_bytes);
    expect_left(want, when);
    backend->api->destroy(backend);
}

Test(runtime, a_cap_is_of_what_is_there_when_the_device_is_opened_again) {
    for (int no_nvml = 0; no_nvml < 2; no_nvml++) {
        ebb_env *env = test_env_open();
        const int64_t cap = 11 * gib;
        fake_begin();
        fake.no_nvml = no_nvml;
        capped(env, cap, cap, "first");
        fake.device[0].other_bytes += 30 * gib;
        capped(env, cap, cap, "another process has taken some");
        fake.device[0].other_bytes -= 30 * gib;
        capped(env, cap, cap, "and given it back");
        fake.device[0].library_bytes += gib;
        capped(env, cap, no_nvml ? cap : cap - gib, "libraries are in the context");
        fake.device[0].library_bytes = 0;
        ebb_backend *first = backend_open(env, 0, cap);
        capped(env, cap, cap, "beside one of the same cap");
        capped(env, cap - gib, cap - gib, "beside one of a larger cap");
        void *block;
        TEST_OK(env, first->api->block_alloc(first, 4 * gib, &block));
        capped(env, cap, cap - 4 * gib, "beside one that holds a block");
        first->api->block_free(first, block, 4 * gib);
        first->api->destroy(first);
        cr_expect_eq(fake.device[0].allocated_bytes, 0);
        test_env_close(env);
    }
}

/* Code that is made at run time. */
Test(runtime, code_is_loaded_launched_and_let_go_on_its_device) {
    static const char *const refused[] = {"bytes of no code", "other code"};
    for (int ordinal = 0; ordinal < FAKE_DEVICES; ordinal++) {
        ebb_env *env = test_env_open();
        cuda_device *device;
        cuda_code *code;
        int before;
        fake_begin();
        TEST_OK(env, cuda_device_open(env, ordinal, &(ebb_backend_options){.n_threads = 1}, &device));
        TEST_OK(env, device->api->enter(device, &before));
        for (size_t k = 0; k < EBB_COUNT(refused); k++) {
            TEST_STATUS(env, device->api->code_load(device, refused[k], strlen(refused[k]), &code),
                        EBB_DEVICE);
            cr_expect_null(code);
            cr_expect_null(strchr(ebb_env_error(env), '\n'));
            cr_expect_eq(fake.n_libraries, 0, "%s", refused[k]);
        }
        TEST_OK(env, device->api->code_load(device, "good code", 9, &code));
        cr_expect_eq(fake.n_libraries, 1);
        const cuda_fused_args args = {.n = 1};
        TEST_OK(env, device->api->code_launch(device, code, 1, &args));
        TEST_STATUS(env, device->api->code_launch(device, code, 0, &args), EBB_BAD_INPUT);
        TEST_OK(env, device->api->record_begin(device));
        cuda_code *late;
        TEST_STATUS(env, device->api->code_load(device, "good code", 9, &late), EBB_INTERNAL);
        cuda_recording *recording;
        TEST_OK(env, device->api->record_end(device, &recording));
        device->api->record_free(device, recording);
        device->api->code_free(device, code);
        cr_expect_eq(fake.n_libraries, 0);
        device->api->leave(device, before);
        device->api->close(device);
        test_env_close(env);
    }
}
