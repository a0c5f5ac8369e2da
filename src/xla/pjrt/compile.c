/* xla/pjrt/compile.c: programs: compiled, asked for their memory, run. */
#include "xla/pjrt/plugin.h"

struct ebb_pjrt_program {
    ebb_pjrt *plugin;
    pjrt_loaded *loaded; /* NULL: of a described device */
    pjrt_executable *executable;
    ebb_pjrt_memory memory;
    uint32_t n_outputs;
};

/* Options that every step is compiled with; each is a truth, and false.
 *     xla_cpu_enable_fast_min_max                       a NaN shows in a maximum
 *     xla_cpu_enable_concurrency_optimized_scheduler    steps are ordered for the least memory
 *     xla_allow_excess_precision                        what is stored in 16 bits is rounded */
static const char *const turned_off[] = {"xla_cpu_enable_fast_min_max",
                                         "xla_cpu_enable_concurrency_optimized_scheduler",
                                         "xla_allow_excess_precision"};
enum { OPTIONS_BYTES = 256 };

/* CompileOptionsProto, serialized: executable_build_options (3) {num_replicas (4): 1, num_partitions (5):
 * 1}, and for each option an entry of env_option_overrides (7) {key (1), value (2) {bool_field (2):
 * false}}.
 */
static size_t put_options(char to[OPTIONS_BYTES]) {
    static const char build[] = {0x1a, 4, 0x20, 1, 0x28, 1}, off[] = {0x12, 2, 0x10, 0};
    size_t n = sizeof build;
    memcpy(to, build, sizeof build);
    for (size_t i = 0; i < EBB_COUNT(turned_off); i++) {
        const size_t n_name = strlen(turned_off[i]); /* below 128: a length is one byte */
        to[n++] = 0x3a;
        to[n++] = (char)(2 + n_name + sizeof off);
        to[n++] = 0x0a;
        to[n++] = (char)n_name;
        memcpy(to + n, turned_off[i], n_name);
        n += n_name;
        memcpy(to + n, off, sizeof off);
        n += sizeof off;
    }
    return n;
}

static ebb_status compile_loaded(ebb_pjrt *plugin, const pjrt_program *text, ebb_pjrt_program *program) {
    char bytes[OPTIONS_BYTES];
    pjrt_client_compile args = {
        .client = plugin->client, .program = text, .options = bytes, .n_options = put_options(bytes)};
    ebb_status status = PJRT_CALL(plugin, "compile the step", PJRT_CLIENT_COMPILE, &args);
    if (status) return status;
    program->loaded = args.loaded;
    pjrt_of_loaded of = {.loaded = args.loaded};
    status = PJRT_CALL(plugin, "show what it compiled", PJRT_LOADED_EXECUTABLE, &of);
    program->executable = of.executable;
    return status;
}

static ebb_status compile_described(ebb_pjrt *plugin, const pjrt_program *text, ebb_pjrt_program *program) {
    char bytes[OPTIONS_BYTES];
    pjrt_compile args = {
        .topology = plugin->topology, .program = text, .options = bytes, .n_options = put_options(bytes)};
    const ebb_status status = PJRT_CALL(plugin, "compile the step", PJRT_COMPILE, &args);
    program->executable = args.executable;
    return status;
}

static ebb_status read_facts(ebb_pjrt *plugin, ebb_pjrt_program *program) {
    pjrt_n_outputs outputs = {.executable = program->executable};
    pjrt_memory memory = {.executable = program->executable};
    ebb_status status = PJRT_CALL(plugin, "count the step's outputs", PJRT_EXECUTABLE_N_OUTPUTS, &outputs);
    if (!status) status = PJRT_CALL(plugin, "tell the step's memory", PJRT_EXECUTABLE_MEMORY, &memory);
    program->n_outputs = (uint32_t)outputs.n;
    program->memory =
        (ebb_pjrt_memory){memory.arguments, memory.outputs, memory.alias, memory.temp, memory.code};
    return status;
}

ebb_status ebb_pjrt_compile(ebb_pjrt *plugin, const char *text, size_t n, ebb_pjrt_program **out) {
    *out = NULL;
    ebb_pjrt_program *program = ebb_calloc(plugin->env, 1, sizeof *program);
    char *copy = ebb_calloc(plugin->env, n, 1); /* the API's text is not const */
    ebb_status status = program && copy ? EBB_OK : EBB_NO_MEMORY;
    if (program) program->plugin = plugin;
    if (!status) {
        memcpy(copy, text, n);
        const pjrt_program of = {
            .bytes = sizeof of, .code = copy, .n_code = n, .format = "mlir", .n_format = strlen("mlir")};
        status =
            plugin->client ? compile_loaded(plugin, &of, program) : compile_described(plugin, &of, program);
    }
    if (!status) status = read_facts(plugin, program);
    ebb_cfree(plugin->env, copy, n, 1);
    if (status)
        ebb_pjrt_program_destroy(program);
    else
        *out = program;
    return status;
}

void ebb_pjrt_program_destroy(ebb_pjrt_program *program) {
    if (!program) return;
    ebb_pjrt *plugin = program->plugin;
    pjrt_drop(plugin, PJRT_EXECUTABLE_DESTROY, program->executable);
    pjrt_drop(plugin, PJRT_LOADED_DESTROY, program->loaded);
    ebb_cfree(plugin->env, program, 1, sizeof *program);
}

const ebb_pjrt_memory *ebb_pjrt_program_memory(const ebb_pjrt_program *program) {
    return &program->memory;
}

uint32_t ebb_pjrt_program_n_outputs(const ebb_pjrt_program *program) {
    return program->n_outputs;
}

/* ---- buffers, and a run ---------------------------------------------------------------------- */

ebb_status ebb_pjrt_buffer_make(ebb_pjrt *plugin, ebb_pjrt_type type, const int64_t *dims, uint32_t rank,
                                const void *data, ebb_pjrt_buffer **out) {
    pjrt_from_host args = {.client = plugin->client,
                           .data = data,
                           .type = (int)type,
                           .dims = dims,
                           .n_dims = rank,
                           .semantics = PJRT_ONLY_DURING_CALL,
                           .device = plugin->device};
    *out = NULL;
    ebb_status status = PJRT_CALL(plugin, "take a tensor", PJRT_BUFFER_FROM_HOST, &args);
    if (!status) status = pjrt_wait(plugin, "take a tensor", args.done);
    if (status)
        ebb_pjrt_buffer_destroy(plugin, args.buffer);
    else
        *out = args.buffer;
    return status;
}

void ebb_pjrt_buffer_destroy(ebb_pjrt *plugin, ebb_pjrt_buffer *buffer) {
    pjrt_drop(plugin, PJRT_BUFFER_DESTROY, buffer);
}

ebb_status ebb_pjrt_buffer_read(ebb_pjrt *plugin, ebb_pjrt_buffer *buffer, void *to, int64_t bytes) {
    pjrt_to_host args = {.from = buffer, .to = to, .n = (size_t)bytes};
    const ebb_status status = PJRT_CALL(plugin, "give a tensor", PJRT_BUFFER_TO_HOST, &args);
    return status ? status : pjrt_wait(plugin, "give a tensor", args.event);
}

ebb_status ebb_pjrt_run(ebb_pjrt_program *program, ebb_pjrt_buffer *const *arguments, uint32_t n_arguments,
                        ebb_pjrt_buffer **outputs) {
    ebb_pjrt *plugin = program->plugin;
    pjrt_execute_options options = {.bytes = sizeof options};
    pjrt_event *done = NULL;
    pjrt_execute args = {.loaded = program->loaded,
                         .options = &options,
                         .arguments = &arguments,
                         .n_devices = 1,
                         .n_arguments = n_arguments,
                         .outputs = &outputs,
                         .events = &done};
    memset(outputs, 0, program->n_outputs * sizeof(ebb_pjrt_buffer *));
    ebb_status status = PJRT_CALL(plugin, "run the step", PJRT_LOADED_EXECUTE, &args);
    if (!status) status = pjrt_wait(plugin, "run the step", done);
    for (uint32_t i = 0; status && i < program->n_outputs; i++) {
        ebb_pjrt_buffer_destroy(plugin, outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}
