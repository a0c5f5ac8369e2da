/* cuda/cudnn/run.c: convolutions by cuDNN: the library opened, facts for the planner. */
#include <cuda_runtime.h>

#include "exec/cuda/cudnn/parts.h"

enum { LEAST_VERSION = 90800 };

/* ---- open ----------------------------------------------------------------------------------------- */

ebb_status cuda_dnn_open(ebb_env *env, const cuda_description *description, cuda_device *device,
                         const cuda_products_options *options, cuda_dnn **out) {
    *out = NULL;
    if (cudnnGetVersion() < LEAST_VERSION)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "cuDNN %zu is too old: plans from descriptions need %d or later", cudnnGetVersion(),
                        LEAST_VERSION);
    cuda_dnn *dnn = ebb_calloc(env, 1, sizeof *dnn);
    if (!dnn) return EBB_NO_MEMORY;
    *dnn = (cuda_dnn){.env = env, .description = *description, .device = device, .options = *options};
    dnn->description.properties = NULL;
    dnn_memo_init(&dnn->memo, env);
    dnn_set_init(&dnn->described, env);
    dnn->properties = dnn_device(&dnn->described, description->properties);
    const ebb_status status = dnn_set_status(&dnn->described, EBB_UNAVAILABLE, description->name);
    if (status == EBB_OK)
        *out = dnn;
    else
        cuda_dnn_close(dnn);
    return status;
}

void cuda_dnn_close(cuda_dnn *dnn) {
    if (!dnn) return;
    dnn_memo_deinit(&dnn->memo);
    dnn_set_deinit(&dnn->described);
    if (dnn->handle) (void)cudnnDestroy(dnn->handle);
    ebb_cfree(dnn->env, dnn, 1, sizeof *dnn);
}

static ebb_status handle_failed(ebb_env *env, const char *what, cudnnStatus_t status) {
    char text[256] = "";
    cudnnGetLastErrorString(text, sizeof text);
    return ebb_fail(env, dnn_full(status) ? EBB_DEVICE : EBB_UNAVAILABLE,
                    "cuDNN %zu does not start: %s: %s %s", cudnnGetVersion(), what,
                    cudnnGetErrorString(status), text);
}

static ebb_status make_handle(cuda_dnn *dnn) {
    if (dnn->handle) return EBB_OK;
    cudnnHandle_t handle;
    cudnnStatus_t status = cudnnCreate(&handle);
    if (status != CUDNN_STATUS_SUCCESS) return handle_failed(dnn->env, "cudnnCreate", status);
    status = cudnnSetStream(handle, (cudaStream_t)dnn->device->stream);
    if (status != CUDNN_STATUS_SUCCESS) {
        (void)cudnnDestroy(handle);
        return handle_failed(dnn->env, "cudnnSetStream", status);
    }
    dnn->handle = handle;
    return EBB_OK;
}

/* ---- facts ---------------------------------------------------------------------------------------- */

/* Other engines sum in another order. So a call has one, whatever memory there is, unless plans may choose:
 * the fastest whose scratch is not more than twice the operands that its step holds anyway (engines that
 * convert layouts copy them); else the one with the least. */
static uint32_t fixed_choice(const dnn_entry *entry, const ebb_call *call) {
    const int64_t most = dnn_operand_bytes(call);
    uint32_t at = 0;
    while (at + 1 < entry->n && entry->at[at].facts.scratch_bytes / 2 > most) at++;
    return at;
}

ebb_status dnn_find_choice(cuda_dnn *dnn, const ebb_call *call, const dnn_choice **out, uint32_t *n) {
    const dnn_entry *entry = NULL;
    ebb_status status = dnn->device ? make_handle(dnn) : EBB_OK;
    if (status == EBB_OK)
        status = dnn_choices_find(&dnn->memo, &dnn->description, dnn->properties, dnn->handle,
                                  &dnn->options, call, &entry);
    if (status != EBB_OK || !entry) return status;
    *n = dnn->options.free_engines ? entry->n : 1;
    if (call->choice >= *n)
        return ebb_fail(dnn->env, EBB_USAGE, "%s: choice %u of %u: plan for this device and cuDNN",
                        call->op->name, call->choice, *n);
    *out = &entry->at[dnn->options.free_engines ? call->choice : fixed_choice(entry, call)];
    return EBB_OK;
}

ebb_status cuda_dnn_facts(cuda_dnn *dnn, const ebb_call *call, ebb_op_facts *out) {
    const dnn_choice *choice = NULL;
    uint32_t n = 1;
    const ebb_status status = dnn_find_choice(dnn, call, &choice, &n);
    if (!choice) return status;
    *out = choice->facts;
    out->n_choices = n;
    return status;
}
