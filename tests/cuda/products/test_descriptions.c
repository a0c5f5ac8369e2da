/* Descriptions of devices: what is taken from them, and every way in which one is refused. */
#include <stdio.h>
#include <string.h>

#include "exec/cuda/description.h"
#include "support/check.h"

#define GOOD                                                                                              \
    "{\"maxGridSize\": [2147483647, 65535, 65535], \"maxBlockSize\": [1024, 1024, 64], "                  \
    "\"regsPerBlock\": 65536, \"multiProcessorCount\": 132, \"smClockRateKHz\": 1980000, "                \
    "\"memClockRateKHz\": 3201000, \"l2CacheSize\": 62914560, \"warpSize\": 32, "                         \
    "\"maxSharedMemoryPerBlock\": 49152, \"maxSharedMemoryPerBlockOptin\": 232448, "                      \
    "\"reservedSharedMemoryPerBlock\": 1024, \"maxRegistersPerSM\": 65536, \"pciDeviceId\": 0, "          \
    "\"maxCtasPerSM\": 32, \"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": 2048, \"isTccDriver\": 0, " \
    "\"supportCoopLaunch\": 1, \"deviceVer\": 900, \"driverVer\": 13000, "                                \
    "\"totalGlobalMem\": 150754820096, \"cudaDeviceId\": 0, \"deviceName\": \"NVIDIA H200\"}"

static ebb_status parse(ebb_env *env, const char *text, cuda_description *out) {
    return cuda_description_parse(env, "d.json", text, strlen(text), 0, out);
}

Test(descriptions, known_devices_have_the_peaks_of_their_data_sheets) {
    static const struct {
        const char *file, *name;
        int32_t compute, n_multiprocessors;
        int64_t memory_bytes, gigabytes_per_s, f32_gflops, tf32_gflops;
    } rows[] = {
        /* 4.8 TB/s, 67 TFLOP/s; TF32 494.7 at 1,830 MHz, here at its highest clock */
        {"/h200.json", "NVIDIA H200", 900, 132, 150754820096, 4916, 66908, 535265},
        /* 616 GB/s, 13.4 TFLOP/s; no TF32 */
        {"/rtx2080ti.json", "NVIDIA GeForce RTX 2080 Ti", 750, 68, 11554717696, 616, 13447, 0},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        char path[512];
        cuda_description d;
        (void)snprintf(path, sizeof path, "%s%s", EBB_DEVICES_DIR, rows[i].file);
        TEST_OK(env, cuda_description_read(env, path, &d));
        cr_expect_str_eq(d.name, rows[i].name);
        cr_expect_eq(d.compute, rows[i].compute);
        cr_expect_eq(d.n_multiprocessors, rows[i].n_multiprocessors);
        cr_expect_eq(d.memory_bytes, rows[i].memory_bytes);
        cr_expect_eq(d.context_bytes, INT64_C(512) << 20);
        cr_expect_eq(d.bytes_per_us / 1000, rows[i].gigabytes_per_s, "%lld", (long long)d.bytes_per_us);
        cr_expect_eq(d.f32_flops_per_us / 1000, rows[i].f32_gflops, "%lld", (long long)d.f32_flops_per_us);
        cr_expect_eq(d.tf32_flops_per_us / 1000, rows[i].tf32_gflops, "%lld",
                     (long long)d.tf32_flops_per_us);
        cuda_description_deinit(env, &d);
    }
    test_env_close(env);
}

Test(descriptions, cudnn_is_handed_its_own_members_and_no_others) {
    ebb_env *env = test_env_open();
    cuda_description d;
    char text[2048] = GOOD;
    (void)snprintf(text + strlen(text) - 1, 128,
                   ", \"context_bytes\": 7, \"memory_bus_bits\": 4096, \"x\": [{}]}");
    TEST_OK(env, parse(env, text, &d));
    cr_expect_eq(d.context_bytes, 7);
    cr_expect_eq(d.bytes_per_us, INT64_C(3201) * 2 * 4096 / 8);
    cr_expect_null(strstr(d.properties, "context_bytes"));
    cr_expect_null(strstr(d.properties, "memory_bus_bits"));
    cr_expect_null(strstr(d.properties, "\"x\""));
    size_t n_members = 0;
    for (const char *at = d.properties; (at = strstr(at, "\":")) != NULL; at++) n_members++;
    cr_expect_eq(n_members, 23, "%zu in %s", n_members, d.properties);
    cuda_description again; /* what is handed on is a description itself */
    TEST_OK(env, cuda_description_parse(env, "again", d.properties, strlen(d.properties), 4096, &again));
    cr_expect_str_eq(again.properties, d.properties);
    cuda_description_deinit(env, &again);
    cuda_description_deinit(env, &d);
    test_env_close(env);
}

/* In GOOD, `from` becomes `to`; the error must say all of `words`. */
typedef struct fault {
    const char *from, *to, *words[3];
} fault;

static const fault faults[] = {
    {"\"warpSize\": 32, ", "", {"d.json", "\"warpSize\"", "missing"}},
    {"\"warpSize\": 32", "\"warpSize\": 31", {"d.json", "warpSize", "31"}},
    {"\"warpSize\": 32", "\"warpSize\": 32.0", {"d.json", "warpSize", "fraction"}},
    {"\"warpSize\": 32", "\"warpSize\": \"32\"", {"d.json", "warpSize", "a text"}},
    {"\"deviceVer\": 900", "\"deviceVer\": 700", {"d.json", "deviceVer", "700"}},
    {"\"deviceVer\": 900", "\"deviceVer\": 9000000000", {"d.json", "deviceVer", "9000000000"}},
    {"\"multiProcessorCount\": 132", "\"multiProcessorCount\": 0", {"d.json", "multiProcessorCount", "0"}},
    {"\"multiProcessorCount\": 132",
     "\"multiProcessorCount\": 9223372036854775807",
     {"d.json", "multiProcessorCount", "9223372036854775807"}},
    {"\"smClockRateKHz\": 1980000", "\"smClockRateKHz\": -1", {"d.json", "smClockRateKHz", "-1"}},
    {"[1024, 1024, 64]", "[1024, 1024]", {"d.json", "maxBlockSize", "2 numbers and must have 3"}},
    {"[1024, 1024, 64]", "[1024, 1024, 64, 1]", {"d.json", "maxBlockSize", "4 numbers"}},
    {"[1024, 1024, 64]", "[1024, 0, 64]", {"d.json", "maxBlockSize", "0"}},
    {"[1024, 1024, 64]", "[1024, [], 64]", {"d.json", "maxBlockSize", "an array"}},
    {"[1024, 1024, 64]", "{}", {"d.json", "maxBlockSize", "an object"}},
    {"\"totalGlobalMem\": 150754820096", "\"totalGlobalMem\": 0", {"d.json", "totalGlobalMem", "0"}},
    {"\"totalGlobalMem\": 150754820096",
     "\"totalGlobalMem\": 9007199254740993",
     {"d.json", "totalGlobalMem", ""}},
    {"\"totalGlobalMem\": 150754820096",
     "\"totalGlobalMem\": 536870912",
     {"d.json", "536870912", "context"}},
    {"\"NVIDIA H200\"", "7", {"d.json", "deviceName", "an integer"}},
    {"\"NVIDIA H200\"", "\"NVIDIA H2\"", {"d.json", "NVIDIA H2", "memory_bus_bits"}},
    {"\"NVIDIA H200\"", "\"NVIDIA H2000\"", {"d.json", "NVIDIA H2000", "memory_bus_bits"}},
    {"\"NVIDIA H200\"", "\"NVIDIA H200\", \"memory_bus_bits\": 0", {"d.json", "memory_bus_bits", "0"}},
    {"\"NVIDIA H200\"", "\"NVIDIA H200\", \"context_bytes\": -5", {"d.json", "context_bytes", "-5"}},
    {"\"NVIDIA H200\"", "\"NVIDIA H200\", \"warpSize\": 32", {"d.json", "duplicate", ""}},
    {"\"NVIDIA H200\"}", "\"NVIDIA H200\"", {"d.json", "line 1", ""}},
    {GOOD, "[]", {"d.json", "an array", "totalGlobalMem"}},
    {GOOD, "", {"d.json", "", ""}},
};

static void make_faulty(const fault *f, char *text, size_t size) {
    const char *at = strstr(GOOD, f->from);
    cr_assert_not_null(at, "%s", f->from);
    (void)snprintf(text, size, "%.*s%s%s", (int)(at - GOOD), GOOD, f->to, at + strlen(f->from));
}

Test(descriptions, a_faulty_one_is_refused_in_one_line_that_names_the_member) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(faults); i++) {
        char text[2048];
        cuda_description d;
        make_faulty(&faults[i], text, sizeof text);
        cr_expect_eq(parse(env, text, &d), EBB_BAD_INPUT, "row %zu: %s", i, faults[i].to);
        for (size_t w = 0; w < 3; w++)
            cr_expect(strstr(ebb_env_error(env), faults[i].words[w]), "row %zu: \"%s\" is not in: %s", i,
                      faults[i].words[w], ebb_env_error(env));
        cr_expect_null(strchr(ebb_env_error(env), '\n'));
        cr_expect_null(d.properties);
    }
    test_env_close(env);
}

Test(descriptions, a_device_without_a_memory_clock_has_its_data_sheets_bandwidth) {
    const fault known = {"\"memClockRateKHz\": 3201000", "\"memClockRateKHz\": 0", {0}};
    const fault unknown = {"\"NVIDIA H200\"", "\"Another\", \"memory_bus_bits\": 4096", {0}};
    ebb_env *env = test_env_open();
    cuda_description d;
    char text[2048];
    make_faulty(&known, text, sizeof text);
    TEST_OK(env, parse(env, text, &d));
    cr_expect_eq(d.bytes_per_us, 4800000);
    cuda_description_deinit(env, &d);
    make_faulty(&unknown, text, sizeof text);
    TEST_OK(env, parse(env, text, &d));
    cr_expect_eq(d.bytes_per_us, INT64_C(3201) * 2 * 4096 / 8);
    cuda_description_deinit(env, &d);
    test_env_close(env);
}

Test(descriptions, a_long_name_is_cut_between_code_points) {
    ebb_env *env = test_env_open();
    cuda_description d;
    char text[2048], name[256] = "\"NVIDIA H200 ";
    for (int i = 0; i < 40; i++) strcat(name, "\xC3\xA9");
    strcat(name, "\"");
    make_faulty(&(fault){"\"NVIDIA H200\"", name, {0}}, text, sizeof text);
    TEST_OK(env, parse(env, text, &d));
    cr_expect_eq(strlen(d.name), 78, "%zu", strlen(d.name)); /* 12 and 33 times 2 */
    cuda_description_deinit(env, &d);
    test_env_close(env);
}

Test(descriptions, a_file_that_is_not_there_is_an_io_error) {
    ebb_env *env = test_env_open();
    cuda_description d;
    cr_expect_eq(cuda_description_read(env, "/nonexistent/d.json", &d), EBB_IO);
    cr_expect_null(d.properties);
    cuda_description_deinit(env, &d);
    test_env_close(env);
}
