/* bench/engines/engines.c: every engine that cuDNN offers for the convolutions of a model, measured on the
 * device.
 *
 *     engines MODEL N H LIMIT_S
 *
 * Prints a tab-separated row for each configuration of each distinct convolution of a training step, in the
 * order of cuDNN's heuristics: the call, how many of the step's ops it is, the mode (A, B, FALLBACK), its
 * place there, engine and knobs as dnn_config has them, numerical and behavior notes, scratch bytes on the
 * device and from its description (-1: no plan), and the median of five runs in microseconds. Operands are
 * random numbers; configurations that want more than 6 GiB of scratch are left out.
 */
#include <cuda_runtime.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "exec/cuda/cudnn/graph.h"
#include "exec/cuda/products_parts.h"

enum { MOST_CONFIGS = 96, MOST_NOTES = 32, RUNS = 5, MOST_CALLS = 512 };
static const int64_t most_scratch = INT64_C(6) << 30;

typedef struct bench {
    ebb_env *env;
    cudnnHandle_t handle;
    dnn_set described;
    cudnnBackendDescriptor_t properties;
    void *operand[3], *scratch;
    cudaEvent_t begin, end;
    const char *text;
    int count;
} bench;

static void need(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "engines: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

static int by_float(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median of the plan's runs in us; negative: it failed. */
static double run_us(bench *b, cudnnBackendDescriptor_t plan) {
    static const int64_t ids[3] = {DNN_X, DNN_W, DNN_Y};
    float ms[RUNS];
    dnn_set set;
    dnn_set_init(&set, b->env);
    cudnnBackendDescriptor_t pack = dnn_new(&set, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    dnn_put(&set, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
    dnn_put(&set, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, b->operand);
    dnn_put(&set, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &b->scratch);
    dnn_finish(&set, pack);
    bool ok = dnn_ok(&set);
    for (int i = -1; i < RUNS && ok; i++) {
        float spent = 0;
        (void)cudaEventRecord(b->begin, NULL);
        ok = cudnnBackendExecute(b->handle, plan, pack) == CUDNN_STATUS_SUCCESS;
        (void)cudaEventRecord(b->end, NULL);
        ok = cudaEventSynchronize(b->end) == cudaSuccess && ok;
        (void)cudaEventElapsedTime(&spent, b->begin, b->end);
        if (i >= 0) ms[i] = spent;
        if (i < 0 && spent > 1000) { /* not one that anybody would take */
            dnn_set_deinit(&set);
            return 1e3 * (double)spent;
        }
    }
    dnn_set_deinit(&set);
    if (!ok) return -1;
    qsort(ms, RUNS, sizeof *ms, by_float);
    return 1e3 * (double)ms[RUNS / 2];
}

static int64_t described_scratch(bench *b, const ebb_call *call, const dnn_config *config) {
    dnn_set set;
    dnn_set_init(&set, b->env);
    cudnnBackendDescriptor_t graph = dnn_conv_graph(&set, call, false, NULL);
    cudnnBackendDescriptor_t plan = dnn_config_plan(&set, graph, config, NULL, b->properties);
    const int64_t bytes = plan ? dnn_plan_scratch(plan) : -1;
    dnn_set_deinit(&set);
    return bytes;
}

static void print_notes(cudnnBackendDescriptor_t engine) {
    cudnnBackendNumericalNote_t notes[MOST_NOTES];
    cudnnBackendBehaviorNote_t ways[MOST_NOTES];
    const int64_t n =
        dnn_get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES, notes);
    const int64_t m =
        dnn_get(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, MOST_NOTES, ways);
    printf("\tn");
    for (int64_t i = 0; i < n; i++) printf(",%d", (int)notes[i]);
    printf("\tb");
    for (int64_t i = 0; i < m; i++) printf(",%d", (int)ways[i]);
}

static void try_config(bench *b, const ebb_call *call, cudnnBackendDescriptor_t from, const char *mode,
                       int64_t place) {
    dnn_config config = {0};
    dnn_set set;
    dnn_set_init(&set, b->env);
    cudnnBackendDescriptor_t engine = dnn_new(&set, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (dnn_get(from, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine) == 1) {
        (void)dnn_get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &config.engine);
        (void)dnn_config_knobs(&set, from, &config);
        cudnnBackendDescriptor_t plan = dnn_new(&set, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        dnn_put(&set, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->handle);
        dnn_put_one(&set, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, from);
        dnn_finish(&set, plan);
        const int64_t bytes = dnn_ok(&set) ? dnn_plan_scratch(plan) : -1;
        printf("%s\t%d\t%s\t%" PRId64 "\t%" PRId64 "\t", b->text, b->count, mode, place, config.engine);
        for (uint32_t i = 0; i < config.n_knobs; i++)
            printf("%d=%" PRId64 ";", config.knob[i], config.value[i]);
        print_notes(engine);
        printf("\t%" PRId64 "\t%" PRId64, bytes, described_scratch(b, call, &config));
        printf("\t%.1f\n", bytes >= 0 && bytes <= most_scratch ? run_us(b, plan) : -1);
        fflush(stdout);
    }
    dnn_set_deinit(&set);
}

static void try_call(bench *b, const ebb_call *call) {
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B,
                                                   CUDNN_HEUR_MODE_FALLBACK};
    static const char *const names[] = {"A", "B", "F"};
    for (int m = 0; m < 3; m++) {
        cudnnBackendDescriptor_t found[MOST_CONFIGS];
        dnn_set set;
        dnn_set_init(&set, b->env);
        cudnnBackendDescriptor_t graph = dnn_conv_graph(&set, call, false, b->handle),
                                 h = dnn_new(&set, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        dnn_put_one(&set, h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
        dnn_put(&set, h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &modes[m]);
        dnn_finish(&set, h);
        int64_t n = dnn_ok(&set)
                        ? dnn_get(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, NULL)
                        : 0;
        if (n > MOST_CONFIGS) n = MOST_CONFIGS;
        for (int64_t i = 0; i < n; i++) found[i] = dnn_new(&set, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        if (n > 0) n = dnn_get(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, found);
        for (int64_t i = 0; i < n; i++) try_config(b, call, found[i], names[m], i);
        dnn_set_deinit(&set);
    }
}

/* Random numbers in [-1, 1) into n bytes of the device. */
static void *filled(size_t n, const float *random, size_t n_random) {
    char *at;
    need(cudaMalloc((void **)&at, n) == cudaSuccess, "operand");
    for (size_t done = 0; done < n; done += n_random)
        need(cudaMemcpy(at + done, random, n - done < n_random ? n - done : n_random,
                        cudaMemcpyHostToDevice) == cudaSuccess,
             "copy");
    return at;
}

static void run_call(bench *b, const ebb_call *call, const float *random, size_t n_random) {
    void *in[EBB_MAX_OPERANDS], *out[1];
    const ebb_launch launch = {.in = in, .out = out};
    for (uint32_t i = 0; i < call->n_in; i++)
        in[i] = filled((size_t)ebb_type_bytes(&call->in[i]), random, n_random);
    out[0] = filled((size_t)ebb_type_bytes(&call->out[0]), random, n_random);
    dnn_conv_pointers(call, &launch, b->operand);
    try_call(b, call);
    for (uint32_t i = 0; i < call->n_in; i++) (void)cudaFree(in[i]);
    (void)cudaFree(out[0]);
}

static void open_device(bench *b) {
    cuda_description description;
    need(cuda_description_of_device(b->env, 0, &description) == EBB_OK, "description");
    dnn_set_init(&b->described, b->env);
    b->properties = dnn_device(&b->described, description.properties);
    need(cudaSetDevice(0) == cudaSuccess && cudnnCreate(&b->handle) == CUDNN_STATUS_SUCCESS, "cudnnCreate");
    need(cudaMalloc(&b->scratch, (size_t)most_scratch) == cudaSuccess, "scratch");
    need(cudaEventCreate(&b->begin) == cudaSuccess && cudaEventCreate(&b->end) == cudaSuccess, "events");
}

int main(int argc, char **argv) {
    enum { N_RANDOM = 1 << 24 };
    if (argc != 5) return fprintf(stderr, "usage: engines MODEL N H LIMIT_S\n"), 2;
    bench b = {0};
    ebb_model *model;
    ebb_graph *graph;
    ebb_options options;
    need(ebb_env_create(NULL, &b.env) == EBB_OK, "env");
    const ebb_dim_binding dims[] = {{"N", atoll(argv[2])}, {"H", atoll(argv[3])}};
    ebb_options_init(&options);
    need(ebb_model_open(b.env, argv[1], &model) == EBB_OK, "model");
    need(ebb_compile_graph(b.env, model, dims, 2, &options, NULL, &graph) == EBB_OK, ebb_env_error(b.env));
    open_device(&b);
    float *random = malloc(N_RANDOM * sizeof *random);
    need(random, "64 MiB of random numbers");
    for (uint32_t i = 0, x = 1; i < N_RANDOM; i++, x = x * 1664525u + 1013904223u)
        random[i] = (float)(int32_t)x * 0x1p-31f;
    const uint64_t start = ebb_clock_ns(b.env);
    static char *texts[MOST_CALLS];
    static int counts[MOST_CALLS];
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0;
             i < graph->n_nodes && ebb_clock_ns(b.env) - start < 1000000000ull * (uint64_t)atoll(argv[4]);
             i++) {
            ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
            ebb_id ids[EBB_MAX_OPERANDS];
            const ebb_call call = ebb_node_call(graph, &graph->nodes[i], 0, ids, in, out);
            if (!cuda_is_convolution(&call)) continue;
            ebb_text text;
            int k = 0;
            ebb_text_init(&text, b.env);
            ebb_call_print(&text, &call);
            while (k < MOST_CALLS - 1 && texts[k] && strcmp(texts[k], text.at) != 0) k++;
            if (!texts[k]) texts[k] = strdup(text.at);
            ebb_text_deinit(&text);
            if (pass == 0) {
                counts[k]++;
            } else if (counts[k] > 0) {
                b.text = texts[k];
                b.count = counts[k];
                counts[k] = 0;
                run_call(&b, &call, random, N_RANDOM * sizeof *random);
            }
        }
    }
    return 0;
}
