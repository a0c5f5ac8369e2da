/* cuda/cuda.c: the cuda backend's table of functions: facts, kernel objects, device memory, runs. */
#include "exec/cuda/cuda.h"

#include <stdio.h>

/* NULL for composites and views: they have no kernel. */
static const ebb_kernel_info *const kernels[EBB_N_OPS] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) [EBB_OP_##name] = &ebb_cuda_##name,
#include "graph/ops.def"
};

/* ---- the thread's device -------------------------------------------------------------------------- */

static ebb_status enter(ebb_backend *backend, int *before) {
    cuda_device *device = cuda_of(backend)->device;
    *before = -1;
    return device ? device->api->enter(device, before) : EBB_OK;
}

static ebb_status leave(ebb_backend *backend, int before, ebb_status status) {
    cuda_device *device = cuda_of(backend)->device;
    if (device) device->api->leave(device, before);
    return status;
}

/* Returns the status of a call that a device is asked for, or that of entering. */
#define WITHIN(backend, call)                                      \
    do {                                                           \
        int before;                                                \
        const ebb_status entered = enter(backend, &before);        \
        return entered ? entered : leave(backend, before, (call)); \
    } while (0)
/* Of what cannot fail. Where the device is lost, so is what is to be freed. */
#define WITHIN_ANYWAY(backend, call)                        \
    do {                                                    \
        int before;                                         \
        const ebb_status entered = enter(backend, &before); \
        (call);                                             \
        (void)leave(backend, before, entered);              \
    } while (0)

/* ---- creation ------------------------------------------------------------------------------------- */

static void cuda_destroy(ebb_backend *backend) {
    if (!backend) return;
    cuda_backend *cuda = cuda_of(backend);
    WITHIN_ANYWAY(backend, cuda_jit_close(&cuda->jit, cuda->device));
    if (cuda->products) WITHIN_ANYWAY(backend, cuda->products->api->close(cuda->products));
    if (cuda->device) cuda->device->api->close(cuda->device);
    cuda_description_deinit(backend->env, &cuda->description);
    ebb_cfree(backend->env, cuda, 1, sizeof *cuda);
}

ebb_status cuda_backend_create(ebb_env *env, cuda_description description, cuda_device *device,
                               cuda_products *products, ebb_backend **out) {
    *out = NULL;
    cuda_backend *cuda = ebb_calloc(env, 1, sizeof *cuda);
    if (!cuda) {
        if (products) products->api->close(products);
        if (device) device->api->close(device);
        cuda_description_deinit(env, &description);
        return EBB_NO_MEMORY;
    }
    cuda->base = (ebb_backend){&ebb_backend_cuda, env, 1};
    cuda->description = description;
    cuda->device = device;
    cuda->products = products;
    *out = &cuda->base;
    return EBB_OK;
}

/* ---- facts and kernels ---------------------------------------------------------------------------- */

ebb_status cuda_kernel_find(ebb_backend *backend, const ebb_call *call, const ebb_kernel_info **out) {
    return ebb_kernel_find(backend, kernels, call, out);
}

static ebb_status cuda_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    *out = (ebb_op_facts){.n_choices = 1};
    const ebb_kernel_info *info;
    ebb_status status = cuda_kernel_find(backend, call, &info);
    if (status != EBB_OK) return status;
    if (info->facts) WITHIN(backend, info->facts(backend, call, out)); /* libraries know */
    cuda_cost_kernel(backend, &cuda_of(backend)->description, info, call, out);
    return info->scratch ? info->scratch(backend, call, &out->scratch_bytes) : EBB_OK;
}

/* Statuses of what needs a device. */
static ebb_status check_device(ebb_backend *backend) {
    if (cuda_of(backend)->device) return EBB_OK;
    return ebb_fail(backend->env, EBB_UNAVAILABLE,
                    "%s is a description: plans can be made for it but not run; give --device cuda to run",
                    cuda_of(backend)->description.name);
}

static ebb_status cuda_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                               ebb_kernel **out) {
    *out = NULL;
    const ebb_kernel_info *info;
    ebb_status status = check_device(backend);
    if (status == EBB_OK) status = cuda_kernel_find(backend, call, &info);
    if (status != EBB_OK) return status;
    WITHIN(backend, ebb_kernel_make(backend, info, call, seed_key, out));
}

static void cuda_release(ebb_backend *backend, ebb_kernel *kernel) {
    WITHIN_ANYWAY(backend, ebb_kernel_release(backend, kernel));
}

static ebb_status cuda_launch_kernel(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    WITHIN(backend, ebb_kernel_launch(backend, kernel, launch));
}

ebb_status cuda_launch(ebb_backend *backend, cuda_kernel_id kernel, int64_t n_blocks, const void *args) {
    cuda_device *device = cuda_of(backend)->device;
    return n_blocks == 0 ? EBB_OK : device->api->launch(device, kernel, n_blocks, args);
}

static void cuda_machine(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]) {
    const cuda_backend *cuda = (const cuda_backend *)backend;
    (void)snprintf(text, EBB_MACHINE_TEXT, "%s, %s", cuda->description.name, cuda->tf32 ? "TF32" : "f32");
}

/* ---- memory and runs ------------------------------------------------------------------------------ */

static ebb_status cuda_block_alloc(ebb_backend *backend, int64_t bytes, void **out) {
    *out = NULL;
    const ebb_status status = check_device(backend);
    if (status != EBB_OK) return status;
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, device->api->alloc(device, bytes, out));
}

static void cuda_block_free(ebb_backend *backend, void *block, int64_t bytes) {
    cuda_device *device = cuda_of(backend)->device;
    if (block) WITHIN_ANYWAY(backend, device->api->free(device, block, bytes));
}

static ebb_status cuda_copy_in(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, bytes ? device->api->copy_in(device, to, from, bytes) : EBB_OK);
}

static ebb_status cuda_copy_out(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, bytes ? device->api->copy_out(device, to, from, bytes) : EBB_OK);
}

static ebb_status cuda_fill_bytes(ebb_backend *backend, void *to, int byte, int64_t bytes) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, bytes ? device->api->fill(device, to, byte, bytes) : EBB_OK);
}

static ebb_status move(cuda_device *device, void *to, const void *from, int64_t bytes) {
    if (!bytes) return EBB_OK;
    const ebb_status status = device->api->move(device, to, from, bytes);
    return status == EBB_OK ? device->api->finish(device) : status;
}

static ebb_status cuda_move(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    WITHIN(backend, move(cuda_of(backend)->device, to, from, bytes));
}

static ebb_status cuda_memory_facts(ebb_backend *backend, ebb_memory_facts *out) {
    const ebb_status status = check_device(backend);
    if (status != EBB_OK) return status;
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, device->api->memory(device, out));
}

static ebb_status cuda_begin(ebb_backend *backend, const ebb_run *run) {
    cuda_device *device = cuda_of(backend)->device;
    const cuda_scalars scalars = {.seed = run->seed, .step = run->step};
    WITHIN(backend, device->api->copy_in(device, device->scalars, &scalars, sizeof scalars));
}

static ebb_status fault_text(ebb_backend *backend, const cuda_scalars *s) {
    const bool label = s->fault == CUDA_FAULT_LABEL;
    if (s->fault == CUDA_FAULT_INDEX)
        return ebb_fail(backend->env, EBB_BAD_INPUT,
                        "take, pick or sort_grad: index %lld is outside [-%lld, %lld): correct the indices",
                        (long long)s->fault_value, (long long)s->fault_limit, (long long)s->fault_limit);
    return ebb_fail(backend->env, EBB_BAD_INPUT, "%s %lld is outside [0, %lld): correct the %s",
                    label ? "softmax_xent: label" : "embedding: id", (long long)s->fault_value,
                    (long long)s->fault_limit, label ? "labels" : "ids");
}

static ebb_status finish(ebb_backend *backend) {
    cuda_device *device = cuda_of(backend)->device;
    cuda_scalars scalars;
    ebb_status status = device->api->finish(device);
    if (status == EBB_OK) status = device->api->copy_out(device, &scalars, device->scalars, sizeof scalars);
    return status == EBB_OK && scalars.fault ? fault_text(backend, &scalars) : status;
}

static ebb_status cuda_end(ebb_backend *backend) {
    WITHIN(backend, finish(backend));
}

static ebb_status cuda_record_begin(ebb_backend *backend) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, device->api->record_begin(device));
}

static ebb_status record_end(cuda_device *device, ebb_recording **out) {
    cuda_recording *recording;
    const ebb_status status = device->api->record_end(device, &recording);
    *out = (ebb_recording *)recording;
    return status;
}

static ebb_status cuda_record_end(ebb_backend *backend, ebb_recording **out) {
    *out = NULL;
    WITHIN(backend, record_end(cuda_of(backend)->device, out));
}

static ebb_status cuda_replay(ebb_backend *backend, ebb_recording *recording) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, device->api->replay(device, (cuda_recording *)recording));
}

static void cuda_record_free(ebb_backend *backend, ebb_recording *recording) {
    cuda_device *device = cuda_of(backend)->device;
    if (recording) WITHIN_ANYWAY(backend, device->api->record_free(device, (cuda_recording *)recording));
}

static ebb_status cuda_marks_reserve(ebb_backend *backend, uint32_t n_marks) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, device->api->marks_reserve(device, n_marks));
}

static ebb_status cuda_mark(ebb_backend *backend, uint32_t i) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, device->api->mark(device, i));
}

static ebb_status cuda_marks_read(ebb_backend *backend, uint32_t n_marks, uint64_t *ns) {
    cuda_device *device = cuda_of(backend)->device;
    WITHIN(backend, device->api->marks_read(device, n_marks, ns));
}

const ebb_backend_api ebb_backend_cuda = {
    .name = "cuda",
    .computes = true,
    .fuses = cuda_fuses,
    .alignment = CUDA_ALIGNMENT,
    .create = cuda_create,
    .destroy = cuda_destroy,
    .facts = cuda_facts,
    .prepare = cuda_prepare,
    .release = cuda_release,
    .launch = cuda_launch_kernel,
    .machine = cuda_machine,
    .block_alloc = cuda_block_alloc,
    .block_free = cuda_block_free,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .fill = cuda_fill_bytes,
    .move = cuda_move,
    .memory = cuda_memory_facts,
    .begin = cuda_begin,
    .end = cuda_end,
    .record_begin = cuda_record_begin,
    .record_end = cuda_record_end,
    .replay = cuda_replay,
    .record_free = cuda_record_free,
    .marks_reserve = cuda_marks_reserve,
    .mark = cuda_mark,
    .marks_read = cuda_marks_read,
    .emitter = cuda_emitter_at,
};
