/* cuda/cudnn_run.c: convolutions by cuDNN: facts for the planner, execution plans, launches. */
#include <cuda_runtime.h>

#include "exec/cuda/cudnn_choices.h"
#include "exec/cuda/products_parts.h"

enum { LEAST_VERSION = 90800 };

struct cuda_dnn {
    ebb_env *env;
    cuda_description description; /* a copy, without its text */
    cuda_device *device;          /* NULL: described only */
    bool tf32, free_engines;
    dnn_set described; /* owns properties */
    cudnnBackendDescriptor_t properties;
    dnn_memo memo;
    cudnnHandle_t handle; /* NULL until something is prepared */
};

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
    *dnn = (cuda_dnn){.env = env,
                      .description = *description,
                      .device = device,
                      .tf32 = options->tf32 && description->tf32_flops_per_us > 0,
                      .free_engines = options->free_engines};
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
    return ebb_fail(env, EBB_UNAVAILABLE, "cuDNN %zu does not start: %s: %s %s", cudnnGetVersion(), what,
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
    int64_t most = ebb_type_bytes(&call->out[0]);
    for (uint32_t i = 0; i < call->n_in; i++) {
        if (!ebb_add_i64(most, ebb_type_bytes(&call->in[i]), &most)) most = INT64_MAX;
    }
    uint32_t at = 0;
    while (at + 1 < entry->n && entry->at[at].facts.scratch_bytes / 2 > most) at++;
    return at;
}

/* *n: how many the call has. */
static ebb_status find_choice(cuda_dnn *dnn, const ebb_call *call, const dnn_choice **out, uint32_t *n) {
    const dnn_entry *entry = NULL;
    const ebb_status status =
        dnn_choices_find(&dnn->memo, &dnn->description, dnn->properties, dnn->tf32, call, &entry);
    if (status != EBB_OK || !entry) return status;
    *n = dnn->free_engines ? entry->n : 1;
    if (call->choice >= *n)
        return ebb_fail(dnn->env, EBB_USAGE, "%s: choice %u of %u: plan for this device and cuDNN",
                        call->op->name, call->choice, *n);
    *out = &entry->at[dnn->free_engines ? call->choice : fixed_choice(entry, call)];
    return EBB_OK;
}

ebb_status cuda_dnn_facts(cuda_dnn *dnn, const ebb_call *call, ebb_op_facts *out) {
    const dnn_choice *choice = NULL;
    uint32_t n = 1;
    const ebb_status status = find_choice(dnn, call, &choice, &n);
    if (!choice) return status;
    *out = choice->facts;
    out->n_choices = n;
    return status;
}

/* ---- kernel objects ------------------------------------------------------------------------------- */

/* An execution plan and, for the addresses of its last launches, what it is run with: an op and its clones
 * take turns, and nothing is made anew for them. */
enum { N_PACKS = 4 };

typedef struct pack {
    dnn_set set;
    cudnnBackendDescriptor_t descriptor;
    void *at[3], *scratch;
} pack;

typedef struct convolution {
    dnn_set set;
    cudnnBackendDescriptor_t graph, plan;
    ebb_call call; /* its types and attributes are there in prepare alone */
    pack packs[N_PACKS];
    uint32_t next; /* pack to be replaced */
    char name[24];
} convolution;

/* With the handle, in the graph, too, as programs do for which that is not deprecated yet; where cuDNN
 * wants it from the device's description, as it was planned. */
static ebb_status make_plan(cuda_dnn *dnn, convolution *c, const dnn_choice *choice) {
    const struct {
        cudnnHandle_t of_graph, of_plan;
        cudnnBackendDescriptor_t device;
    } tries[] = {
        {dnn->handle, dnn->handle, NULL}, {NULL, dnn->handle, NULL}, {NULL, NULL, dnn->properties}};
    for (size_t k = 0; k < EBB_COUNT(tries) && !c->plan; k++) {
        if (k > 0) {
            const ebb_status refused = dnn_set_status(&c->set, EBB_DEVICE, choice->facts.choice);
            if (c->set.no_memory) return refused;
            ebb_log(dnn->env, EBB_LOG_INFO, "%s: tried in another way", ebb_env_error(dnn->env));
            dnn_set_reset(&c->set);
        }
        c->graph = dnn_conv_graph(&c->set, &c->call, tries[k].of_graph);
        c->plan = dnn_config_plan(&c->set, c->graph, &choice->config, tries[k].of_plan, tries[k].device);
    }
    if (!c->plan) return dnn_set_status(&c->set, EBB_DEVICE, choice->facts.choice);
    const int64_t bytes = dnn_plan_scratch(c->plan);
    if (bytes >= 0 && bytes <= choice->config.scratch_bytes) return EBB_OK;
    return ebb_fail(
        dnn->env, EBB_DEVICE, "%s: %s: cuDNN wants %lld scratch bytes on the device and said %lld before",
        c->call.op->name, choice->facts.choice, (long long)bytes, (long long)choice->config.scratch_bytes);
}

ebb_status cuda_dnn_prepare(cuda_dnn *dnn, const ebb_call *call, void **out) {
    const dnn_choice *choice = NULL;
    *out = NULL;
    uint32_t n;
    ebb_status status = find_choice(dnn, call, &choice, &n);
    if (status == EBB_OK) status = make_handle(dnn);
    if (status != EBB_OK || !choice) return status;
    convolution *c = ebb_calloc(dnn->env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    c->call = *call;
    dnn_set_init(&c->set, dnn->env);
    memcpy(c->name, choice->facts.choice, sizeof c->name);
    for (uint32_t i = 0; i < N_PACKS; i++) {
        dnn_set_init(&c->packs[i].set, dnn->env);
        if (status == EBB_OK) status = dnn_set_reserve(&c->packs[i].set, 1);
    }
    if (status == EBB_OK) status = make_plan(dnn, c, choice);
    if (status == EBB_OK)
        *out = c;
    else
        cuda_dnn_release(dnn, c);
    return status;
}

void cuda_dnn_release(cuda_dnn *dnn, void *product) {
    convolution *c = product;
    if (!c) return;
    for (uint32_t i = 0; i < N_PACKS; i++) dnn_set_deinit(&c->packs[i].set);
    dnn_set_deinit(&c->set);
    ebb_cfree(dnn->env, c, 1, sizeof *c);
}

/* ---- launch --------------------------------------------------------------------------------------- */

static ebb_status fill_pack(convolution *c, pack *p) {
    static const int64_t ids[3] = {DNN_X, DNN_W, DNN_Y};
    dnn_set_reset(&p->set);
    p->descriptor = dnn_new(&p->set, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    dnn_put(&p->set, p->descriptor, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
    dnn_put(&p->set, p->descriptor, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, p->at);
    dnn_put(&p->set, p->descriptor, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &p->scratch);
    dnn_finish(&p->set, p->descriptor);
    if (!dnn_ok(&p->set)) p->descriptor = NULL;
    return dnn_set_status(&p->set, EBB_DEVICE, c->call.op->name);
}

static ebb_status find_pack(convolution *c, void *const at[3], void *scratch, pack **out) {
    for (uint32_t i = 0; i < N_PACKS; i++) {
        pack *p = *out = &c->packs[i];
        if (p->descriptor && memcmp(p->at, at, sizeof p->at) == 0 && p->scratch == scratch) return EBB_OK;
    }
    pack *p = *out = &c->packs[c->next];
    c->next = (c->next + 1) % N_PACKS;
    memcpy(p->at, at, sizeof p->at);
    p->scratch = scratch;
    return fill_pack(c, p);
}

ebb_status cuda_dnn_launch(cuda_dnn *dnn, void *product, const ebb_launch *launch) {
    convolution *c = product;
    void *at[3];
    pack *p;
    dnn_conv_pointers(&c->call, launch, at);
    const ebb_status status = find_pack(c, at, launch->scratch, &p);
    if (status != EBB_OK) return status;
    const cudnnStatus_t ran = cudnnBackendExecute(dnn->handle, c->plan, p->descriptor);
    if (ran == CUDNN_STATUS_SUCCESS) return EBB_OK;
    char text[256] = "";
    cudnnGetLastErrorString(text, sizeof text);
    return ebb_fail(dnn->env, EBB_DEVICE, "%s by %s: cuDNN: %s %s", c->call.op->name, c->name,
                    cudnnGetErrorString(ran), text);
}
