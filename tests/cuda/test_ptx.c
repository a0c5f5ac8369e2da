/* Code for a GPU by MLIR and by Halide, without one: this build's, for several architectures, of random
 * chains and of those of whole models. But for CUDA's own functions nothing in it is contracted,
 * approximated or flushed to zero. MLIR's spills nothing and has no stack, but for what CUDA's own
 * reduction of large angles needs. EBB_TEST_COMPILED_CUDA sets how many are drawn, EBB_TEST_FIRST from
 * which seed on. */
#include "exec/code_module.h"
#include "exec/module.h"
#include "graph/graph.h"
#include "host.h"
#include "support/count.h"
#include "support/env.h"
#include "support/random_body.h"
#include "support/skip.h"

#include <dlfcn.h>
#include <stdio.h>

#ifdef CUDA_NVCC_MAJOR

enum { N_COMPUTES = 3 };
typedef struct maker {
    const char *name, *module, *of;
    int32_t compute[N_COMPUTES];
    bool calls; /* CUDA's functions, which have a stack where they are called */
} maker;
static const maker mlir = {"MLIR", "mlir", "jit MLIR", {750, 800, 900}, false},
                   halide = {"HALIDE", "halide", "jit HALIDE", {750, 800, 860}, true};

typedef struct bench {
    ebb_env *env;
    const maker *by;
    ebb_backend *cuda; /* described */
    const ebb_code_module *module;
    cuda_compiler *compiler[N_COMPUTES];
    char said[400];
    bool angles; /* the body has a sine: its reduction has an array */
    uint32_t n;  /* bodies */
} bench;

/* What the assembler warns of. */
static void hear(void *ctx, ebb_log_level level, const char *line) {
    bench *b = ctx;
    (void)level;
    const char *stack = strstr(line, "Local memory"), *spills = strstr(line, "spilled");
    if (!b->by->calls && (spills || (stack && !b->angles)))
        (void)snprintf(b->said, sizeof b->said, "%s", line);
}

static void bench_open(bench *b, const maker *by) {
    void *library;
    const cuda_functions functions = cuda_functions_here();
    *b = (bench){.by = by};
    const ebb_env_options options = {.log = hear, .log_ctx = b};
    cr_assert_eq(ebb_env_create(&options, &b->env), EBB_OK);
    for (size_t k = 0; k < N_COMPUTES; k++) {
        const ebb_status status =
            cuda_code_open(b->env, by->name, CUDA_NVCC_MAJOR, &functions, by->compute[k], &b->compiler[k]);
        if (status == EBB_UNAVAILABLE) TEST_SKIP(ebb_env_error(b->env));
        TEST_OK(b->env, status);
    }
    TEST_OK(b->env, ebb_module_open(b->env, by->of, by->module, &library));
    b->module = dlsym(library, "ebb_code_module_face");
    TEST_OK(b->env, cuda_backend_create(b->env, test_description(), NULL, NULL, &b->cuda));
}

static void bench_close(bench *b) {
    b->cuda->api->destroy(b->cuda);
    for (size_t k = 0; k < N_COMPUTES; k++) b->compiler[k]->api->close(b->compiler[k]);
    test_env_close(b->env);
}

/* Additions, products, quotients and roots with their rounding alone; no step's sum is of a product. */
static bool line_is_plain(const char *line, size_t n) {
    static const char *const never[] = {".ftz", ".approx", "fma.", "mad.f32", ".full."};
    static const char *const rounded[] = {"add", "sub", "mul", "div", "sqrt", "rcp"};
    char text[200], start[24];
    (void)snprintf(text, sizeof text, "%.*s", (int)n, line);
    for (size_t k = 0; k < EBB_COUNT(never); k++) {
        if (strstr(text, never[k])) return false;
    }
    const char *word = text + strspn(text, " \t");
    for (size_t k = 0; k < EBB_COUNT(rounded); k++) {
        (void)snprintf(start, sizeof start, "%s.", rounded[k]);
        if (strncmp(word, start, strlen(start)) != 0 || !strstr(word, ".f32")) continue;
        if (strncmp(word + strlen(start), "rn.f32", 6) != 0) return false;
    }
    return true;
}

/* With CUDA's functions left as calls: all else is ours. */
static void check_ptx(bench *b, const ebb_text *text, int32_t compute, const char *of) {
    const ebb_code_gpu gpu = {.compute = compute, .functions = ""};
    char why[EBB_CODE_WHY];
    size_t n;
    char *ptx = b->module->ptx(text->at, text->n, &gpu, &n, why);
    cr_assert_not_null(ptx, "%s: %s", of, why);
    cr_assert_not_null(strstr(ptx, ".entry cuda_fused("), "%s", of);
    for (const char *line = ptx; *line; line += strcspn(line, "\n"), line += *line == '\n')
        cr_assert(line_is_plain(line, strcspn(line, "\n")), "%s, %d: %.*s", of, compute,
                  (int)strcspn(line, "\n"), line);
    b->module->release(ptx);
}

static void check_call(bench *b, const ebb_call *call, const char *of) {
    ebb_fused_body body;
    TEST_OK(b->env, ebb_fused_read(b->env, call, &body));
    b->angles = false;
    for (uint32_t k = 0; k < body.n_steps; k++)
        b->angles = b->angles || body.step[k].op == &ebb_op_sin || body.step[k].op == &ebb_op_cos;
    for (size_t c = 0; c < N_COMPUTES; c++) {
        ebb_text text;
        char *code;
        size_t n;
        ebb_text_init(&text, b->env);
        b->compiler[c]->api->write(b->compiler[c], &text, call, &body);
        TEST_OK(b->env, ebb_text_status(&text));
        TEST_OK(b->env, b->compiler[c]->api->compile(b->compiler[c], &text, &code, &n));
        cr_assert_eq(b->said[0], '\0', "%s, %d: %s: %s", of, b->by->compute[c],
                     call->attr[EBB_FUSED_BODY].text, b->said);
        cr_assert(n > 4 && memcmp(code,
                                  "\x7f"
                                  "ELF",
                                  4) == 0);
        check_ptx(b, &text, b->by->compute[c], of);
        ebb_cfree(b->env, code, 1, n);
        ebb_text_deinit(&text);
    }
    b->n++;
}

static void check_random(const maker *by, uint32_t otherwise) {
    bench b;
    char of[32];
    bench_open(&b, by);
    const uint32_t n = count_from_env("EBB_TEST_COMPILED_CUDA", otherwise);
    const uint64_t first = count_from_env("EBB_TEST_FIRST", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        random_body body;
        ebb_op_facts facts;
        random_body_draw(b.env, seed, false, &body);
        TEST_OK(b.env, b.cuda->api->facts(b.cuda, &body.call, &facts));
        (void)snprintf(of, sizeof of, "seed %llu", (unsigned long long)seed);
        check_call(&b, &body.call, of);
    }
    bench_close(&b);
}

Test(ptx, mlirs_code_has_no_spills_for_each_architecture, .timeout = 36000) {
    check_random(&mlir, 6);
}
Test(ptx, halides_code_is_made_for_each_architecture_that_it_knows, .timeout = 36000) {
    check_random(&halide, 4);
}

/* What the other tests see nothing of: the same PTX with a few registers alone. */
Test(ptx, spills_are_seen) {
    bench b;
    random_body body = {.text = ""};
    const ebb_type type = {.rank = 1, .dim = {4096}}, in[] = {type, type, type};
    static char steps[] = "pow(i0,i1);gelu_grad(t0,i2);pow(t1,i0);mul(t2,t0);pow(t3,t1)->t4,t1,t2";
    ebb_text text;
    char why[EBB_CODE_WHY], *code;
    size_t n;
    bench_open(&b, &mlir);
    body.attr.text = steps;
    body.call = (ebb_call){.op = &ebb_op_fused, .in = in, .n_in = 3, .attr = &body.attr};
    TEST_OK(b.env, ebb_fused_read(b.env, &body.call, &body.body));
    ebb_text_init(&text, b.env);
    cuda_mlir_write(&text, 900, &body.call, &body.body);
    const cuda_bytes bitcode = cuda_functions_here().bitcode;
    const ebb_code_gpu gpu = {900, bitcode.at, bitcode.n};
    char *ptx = b.module->ptx(text.at, text.n, &gpu, &n, why);
    cr_assert_not_null(ptx, "%s", why);
    char *at = strstr(ptx, ".maxntid");
    cr_assert_not_null(at);
    memcpy(at, ".maxnreg 16\n//", 14); /* over ".maxntid 256, ..." */
    cuda_linker *linker;
    TEST_OK(b.env, cuda_linker_open(b.env, "jit X", CUDA_NVCC_MAJOR, 900, &linker));
    TEST_OK(b.env, cuda_linker_link(linker, &(cuda_bytes){ptx, n}, 1, &code, &n));
    cr_expect(strstr(b.said, "spilled"), "%s", b.said);
    ebb_cfree(b.env, code, 1, n);
    cuda_linker_close(linker);
    b.module->release(ptx);
    ebb_text_deinit(&text);
    bench_close(&b);
}

/* A training step's graph, as --opt-level 3 makes it. */
static ebb_graph *step_of(ebb_env *env, const char *path, bool low) {
    const ebb_sgd sgd = {.momentum = 0.9};
    const ebb_parse_options options = {0};
    ebb_graph *graph = NULL, *made = NULL;
    char *text;
    size_t n;
    TEST_OK(env, ebb_file_read(env, path, 16 << 20, &text, &n));
    TEST_OK(env, ebb_graph_parse(env, path, text, n, &options, &graph));
    ebb_file_free(env, text, n);
#define PASS(call)      \
    TEST_OK(env, call); \
    ebb_graph_destroy(graph), graph = made
    PASS(ebb_lower(env, graph, EBB_TRAIN, &made));
    if (low) {
        PASS(ebb_lower_precision(env, graph, EBB_BF16, &made));
    }
    PASS(ebb_fuse(env, graph, NULL, 0, &made));
    PASS(ebb_grad(env, graph, &made));
    if (low) {
        PASS(ebb_recast_params(env, graph, &made));
    }
    PASS(ebb_add_sgd(env, graph, &sgd, false, &made));
    PASS(ebb_simplify(env, graph, &made));
    PASS(ebb_keep_bits(env, graph, &made));
    PASS(ebb_fuse_pointwise(env, graph, &made));
#undef PASS
    return graph;
}

/* Those that differ in their text alone. */
static uint32_t check_model(bench *b, const char *path, bool low) {
    enum { MOST = 256 };
    const char *seen[MOST];
    uint32_t n_seen = 0;
    ebb_graph *graph = step_of(b->env, path, low);
    for (uint32_t k = 0; k < graph->n_nodes; k++) {
        ebb_id ids[EBB_MAX_OPERANDS];
        ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
        const ebb_node *node = &graph->nodes[k];
        bool known = false;
        if (node->op != &ebb_op_fused) continue;
        const ebb_call call = ebb_node_call(graph, node, 0, ids, in, out);
        for (uint32_t s = 0; s < n_seen; s++)
            known = known || strcmp(seen[s], call.attr[EBB_FUSED_BODY].text) == 0;
        if (known || n_seen == MOST) continue;
        seen[n_seen++] = call.attr[EBB_FUSED_BODY].text;
        check_call(b, &call, path);
    }
    ebb_graph_destroy(graph);
    return n_seen;
}

/* One model of EBB_TEST_ROWS=1 in f32 alone: what takes the time is MLIR's and Halide's own code. */
static void check_models(const maker *by) {
    static const char *const models[] = {"gpt2_small", "resnet50", "unet"};
    const uint32_t n = count_from_env("EBB_TEST_ROWS", EBB_COUNT(models));
    bench b;
    char path[400];
    bench_open(&b, by);
    for (size_t k = 0; k < EBB_COUNT(models) && k < n; k++) {
        (void)snprintf(path, sizeof path, EBB_ROOT "/examples/models/%s.ebb", models[k]);
        for (int low = 0; low < (n == 1 ? 1 : 2); low++)
            (void)fprintf(stderr, "%s: %s%s: %u chains\n", by->of, models[k], low ? ", bf16" : "",
                          check_model(&b, path, low));
    }
    cr_expect_gt(b.n, 0);
    bench_close(&b);
}

Test(ptx, mlirs_code_of_whole_models_has_no_spills, .timeout = 36000) {
    check_models(&mlir);
}
Test(ptx, halides_code_of_whole_models_is_made, .timeout = 36000) {
    check_models(&halide);
}

#endif
