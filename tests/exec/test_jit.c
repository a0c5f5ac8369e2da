/* Code of bodies is made once and found again: by other backends, by other processes at the same time, and
 * made anew where what was kept is damaged. Where nothing can be kept it is made each time. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/backends.h"
#include "support/env.h"
#include "support/skip.h"

enum { N = 333, N_PATH = 128 };

typedef struct counts {
    unsigned compiled, found;
    char warning[300];
} counts;

static void count(void *ctx, ebb_log_level level, const char *line) {
    counts *c = ctx;
    double ms;
    if (level == EBB_LOG_WARN) (void)snprintf(c->warning, sizeof c->warning, "%s", line);
    if (level == EBB_LOG_INFO)
        cr_assert_eq(
            sscanf(line, "jit %*[A-Z]: %u compiled in %lf ms, %u found", &c->compiled, &ms, &c->found), 3,
            "%s", line);
}

/* y of a chain by a backend of its own, of cuda's on the host where NVRTC makes the code; what it did for
 * that. */
static ebb_status chain_run(const char *jit, float *y, counts *did, char why[256]) {
    static char body[] = "rescale(i0,times=1.7,plus=-0.3);gelu(t0);mul(t1,i1);tanh(t2)->t3";
    _Alignas(16) float x[N], b = 0.7F;
    const void *in[] = {x, &b};
    void *inputs[2], *outputs[] = {y};
    memcpy(inputs, in, sizeof in);
    for (int i = 0; i < N; i++) x[i] = (float)(i - N / 2) / 17;
    const ebb_type types[] = {{.dtype = EBB_F32, .rank = 1, .dim = {N}}, {.dtype = EBB_F32}};
    const ebb_attr attr = {.text = body};
    const ebb_call call = {
        .op = &ebb_op_fused, .in = types, .out = types, .n_in = 2, .n_out = 1, .attr = &attr};
    *did = (counts){.compiled = 99};
    const ebb_env_options options = {.log = count, .log_ctx = did};
    const ebb_backend_api *api = test_backend_api(strcmp(jit, "NVRTC") == 0 ? "cuda" : "cpu");
    const ebb_backend_options which = {.n_threads = 1, .jit = jit};
    ebb_env *env;
    ebb_backend *backend;
    ebb_kernel *kernel;
    if (!api) TEST_SKIP("this build has no such backend");
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    ebb_status status = api->create(env, &which, &backend);
    if (status == EBB_UNAVAILABLE) TEST_SKIP("who is to make this code is not here");
    TEST_OK(env, status);
    status = api->prepare(backend, &call, 0, &kernel);
    (void)snprintf(why, 256, "%s", status ? ebb_env_error(env) : "");
    if (!status) {
        const ebb_launch launch = {.in = inputs, .out = outputs};
        TEST_OK(env, api->launch(backend, kernel, &launch));
        api->release(backend, kernel);
    }
    api->destroy(backend);
    test_env_close(env);
    return status;
}

/* Of one device: by who needs no code, or by code that is made anew. */
static void expected(const char *jit, float same[N]) {
    const char *folder = getenv("XDG_CACHE_HOME");
    const bool other = strcmp(jit, "NVRTC") == 0;
    char kept[N_PATH], why[256];
    counts did;
    cr_assert_lt(snprintf(kept, N_PATH, "%s", folder), N_PATH);
    if (other) cr_assert_eq(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
    cr_assert_eq(chain_run(other ? jit : "INTERP", same, &did, why), EBB_OK, "%s", why);
    cr_assert_eq(setenv("XDG_CACHE_HOME", kept, 1), 0);
}

static void expect(const char *jit, unsigned compiled, unsigned found, const char *what) {
    _Alignas(16) float y[N], same[N];
    counts did;
    char why[256];
    expected(jit, same);
    cr_assert_eq(chain_run(jit, y, &did, why), EBB_OK, "%s", why);
    cr_expect_arr_eq(y, same, sizeof y, "%s: %s: other bits", jit, what);
    cr_expect(did.compiled == compiled && did.found == found, "%s: %s: %u compiled, %u found", jit, what,
              did.compiled, did.found);
}

static void folder_make(char folder[N_PATH]) {
    (void)snprintf(folder, N_PATH, "/tmp/ebb-jit-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
}

/* All files of FOLDER/ebb/code: damaged or removed; how many there were. */
static int entries_change(const char *folder, bool remove) {
    char path[2 * N_PATH], entry[4 * N_PATH];
    int n = 0;
    (void)snprintf(path, sizeof path, "%s/ebb/code", folder);
    DIR *entries = opendir(path);
    for (const struct dirent *d; entries && (d = readdir(entries)) != NULL;) {
        if (d->d_name[0] == '.') continue;
        n++;
        (void)snprintf(entry, sizeof entry, "%s/%s", path, d->d_name);
        const int fd = remove ? -1 : open(entry, O_WRONLY);
        if (remove) (void)unlink(entry);
        if (fd >= 0) {
            cr_assert_eq(pwrite(fd, "damaged", 7, 600), 7);
            (void)close(fd);
        }
    }
    if (entries) (void)closedir(entries);
    if (remove) {
        (void)rmdir(path);
        (void)snprintf(path, sizeof path, "%s/ebb", folder);
        (void)rmdir(path);
        cr_expect_eq(rmdir(folder), 0, "nothing else is left");
    }
    return n;
}

static void check(const char *jit) {
    char folder[N_PATH];
    folder_make(folder);
    expect(jit, 1, 0, "first");
    expect(jit, 0, 1, "second start");
    cr_expect_eq(entries_change(folder, false), 1);
    expect(jit, 1, 0, "damaged");
    expect(jit, 0, 1, "made anew");
    entries_change(folder, true);
    cr_assert_eq(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
    expect(jit, 1, 0, "no folder");
    expect(jit, 1, 0, "still none");
}

Test(jit, llvm_compiles_once, .timeout = 60) {
    check("LLVM");
}
Test(jit, mlir_compiles_once, .timeout = 60) {
    check("MLIR");
}
Test(jit, halide_compiles_once, .timeout = 60) {
    check("HALIDE");
}
Test(jit, cc_compiles_once, .timeout = 60) {
    check("CC");
}
Test(jit, nvrtc_compiles_once, .timeout = 60) {
    check("NVRTC");
}

/* An entry that is whole, and no code. */
Test(jit, what_is_kept_and_does_not_load_is_made_anew, .timeout = 60) {
    char folder[N_PATH], path[2 * N_PATH];
    ebb_shelf shelf;
    ebb_env *env = test_env_open();
    folder_make(folder);
    expect("NVRTC", 1, 0, "first");
    (void)snprintf(path, sizeof path, "%s/ebb/code", folder);
    DIR *entries = opendir(path);
    cr_assert_not_null(entries);
    ebb_shelf_open(&shelf, env, "code");
    for (const struct dirent *d; (d = readdir(entries)) != NULL;) {
        unsigned long long high, low;
        if (sscanf(d->d_name, "%16llx%16llx", &high, &low) == 2)
            ebb_shelf_keep(&shelf, &(ebb_hash){high, low}, "no code", 8);
    }
    (void)closedir(entries);
    ebb_shelf_close(&shelf);
    expect("NVRTC", 1, 0, "no code");
    expect("NVRTC", 0, 1, "made anew");
    cr_expect_eq(entries_change(folder, true), 1);
    test_env_close(env);
}

/* Before there are processes, which cannot skip the test. */
static void skip_without(const char *jit) {
    char why[256];
    _Alignas(16) float y[N];
    counts did;
    cr_assert_eq(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
    cr_assert_eq(chain_run(jit, y, &did, why), EBB_OK, "%s", why);
}

static void check_together(const char *jit) {
    enum { PROCESSES = 4 };
    char folder[N_PATH], why[256];
    _Alignas(16) float same[N], y[N];
    counts did;
    skip_without(jit);
    folder_make(folder);
    expected(jit, same);
    pid_t child[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        child[p] = fork();
        cr_assert_geq(child[p], 0);
        if (child[p] > 0) continue;
        const ebb_status status = chain_run(jit, y, &did, why);
        _exit(status ? 1 : memcmp(y, same, sizeof y) != 0 ? 2 : did.compiled + did.found == 1 ? 0 : 3);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int how = -1;
        cr_assert_eq(waitpid(child[p], &how, 0), child[p]);
        cr_expect(WIFEXITED(how) && WEXITSTATUS(how) == 0, "process %d: %d", p, how);
    }
    expect(jit, 0, 1, "afterwards");
    cr_expect_eq(entries_change(folder, true), 1);
}

Test(jit, processes_may_compile_one_body_at_once, .timeout = 60) {
    check_together("CC");
}
Test(jit, processes_may_compile_one_body_at_once_by_nvrtc, .timeout = 60) {
    check_together("NVRTC");
}
Test(jit, processes_may_compile_one_body_at_once_by_mlir, .timeout = 60) {
    check_together("MLIR");
}
Test(jit, processes_may_compile_one_body_at_once_by_halide, .timeout = 60) {
    check_together("HALIDE");
}
Test(jit, processes_may_compile_one_body_at_once_by_llvm, .timeout = 60) {
    check_together("LLVM");
}

/* A full disk, to the compiler: a folder where nothing can be made. */
Test(jit, cc_without_a_folder_to_work_in_is_one_line_where_it_is_named) {
    float y[N];
    counts did;
    char why[256];
    cr_assert_eq(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
    cr_assert_eq(setenv("TMPDIR", "/no/where", 1), 0);
    cr_expect_eq(chain_run("CC", y, &did, why), EBB_IO);
    cr_expect_not_null(strstr(why, "jit CC: no folder can be made in /no/where"), "%s", why);
    cr_assert_eq(setenv("TMPDIR", "/tmp", 1), 0);
    cr_assert_eq(setenv("CC", "cc -no-such-option", 1), 0);
    cr_expect_eq(chain_run("CC", y, &did, why), EBB_DEVICE);
    cr_expect_not_null(strstr(why, "jit CC: cc ends with 1: "), "%s", why);
}
