/* cuda/cudnn/launch.c: kernel objects of convolutions: execution plans, and launches of their pieces. */
#include "exec/cuda/cudnn/parts.h"

/* ---- kernel objects ------------------------------------------------------------------------------- */

/* What an execution plan was run with at some addresses: an op and its clones take turns, and nothing is
 * made anew for them. */
enum { N_PACKS = 4 };

typedef struct pack {
    dnn_set set;
    cudnnBackendDescriptor_t descriptor;
    void *at[3], *scratch;
} pack;

typedef struct piece {
    cudnnBackendDescriptor_t plan;
    int64_t offset[3]; /* bytes, of x, w and y */
    pack packs[N_PACKS];
    uint32_t next; /* pack to be replaced */
} piece;

typedef struct convolution {
    dnn_set sets[DNN_N_PLANS]; /* hold the plans that pieces share */
    cudnnBackendDescriptor_t plans[DNN_N_PLANS];
    ebb_call call; /* its types and attributes are there in prepare alone */
    piece *pieces;
    int64_t n_pieces;
    char name[24];
} convolution;

static ebb_status make_plan(cuda_dnn *dnn, convolution *c, const dnn_choice *choice, uint32_t which,
                            int64_t n_images) {
    dnn_piece part;
    if (c->plans[which]) return EBB_OK;
    dnn_piece_make(&c->call, n_images, &part);
    c->plans[which] = dnn_call_plan(&c->sets[which], &part.call, which & DNN_PLAN_ADDS, &choice->config,
                                    dnn->handle, dnn->properties);
    if (!c->plans[which]) return dnn_set_status(&c->sets[which], EBB_DEVICE, choice->facts.choice);
    const int64_t bytes = dnn_plan_scratch(c->plans[which]);
    if (bytes >= 0 && bytes <= choice->config.scratch_bytes) return EBB_OK;
    return ebb_fail(
        dnn->env, EBB_DEVICE, "%s: %s: cuDNN wants %lld scratch bytes on the device and said %lld before",
        c->call.op->name, choice->facts.choice, (long long)bytes, (long long)choice->config.scratch_bytes);
}

static ebb_status make_piece(cuda_dnn *dnn, convolution *c, const dnn_choice *choice, int64_t i) {
    piece *p = &c->pieces[i];
    int64_t n;
    const uint32_t which = dnn_piece_plan(&c->call, c->n_pieces, i, &n);
    ebb_status status = make_plan(dnn, c, choice, which, n);
    for (uint32_t k = 0; k < N_PACKS && status == EBB_OK; k++)
        status = dnn_set_reserve(&p->packs[k].set, 1);
    p->plan = c->plans[which];
    if (status == EBB_OK && i > 0)
        dnn_conv_steps(&c->call, cuda_piece_images(dnn_images(&c->call), c->n_pieces, i - 1), p[-1].offset,
                       p->offset);
    return status;
}

static ebb_status make_pieces(cuda_dnn *dnn, convolution *c, const dnn_choice *choice) {
    c->pieces = ebb_calloc(dnn->env, (size_t)choice->n_pieces, sizeof *c->pieces);
    if (!c->pieces) return EBB_NO_MEMORY;
    c->n_pieces = choice->n_pieces;
    for (int64_t i = 0; i < c->n_pieces; i++) {
        for (uint32_t k = 0; k < N_PACKS; k++) dnn_set_init(&c->pieces[i].packs[k].set, dnn->env);
    }
    ebb_status status = EBB_OK;
    for (int64_t i = 0; i < c->n_pieces && status == EBB_OK; i++) status = make_piece(dnn, c, choice, i);
    return status;
}

ebb_status cuda_dnn_prepare(cuda_dnn *dnn, const ebb_call *call, void **out) {
    const dnn_choice *choice = NULL;
    *out = NULL;
    uint32_t n;
    ebb_status status = dnn_find_choice(dnn, call, &choice, &n);
    if (status != EBB_OK || !choice) return status;
    convolution *c = ebb_calloc(dnn->env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    c->call = *call;
    for (int i = 0; i < DNN_N_PLANS; i++) dnn_set_init(&c->sets[i], dnn->env);
    memcpy(c->name, choice->facts.choice, sizeof c->name);
    status = make_pieces(dnn, c, choice);
    if (status == EBB_OK)
        *out = c;
    else
        cuda_dnn_release(dnn, c);
    return status;
}

void cuda_dnn_release(cuda_dnn *dnn, void *product) {
    convolution *c = product;
    if (!c) return;
    for (int64_t i = 0; i < c->n_pieces; i++) {
        for (uint32_t k = 0; k < N_PACKS; k++) dnn_set_deinit(&c->pieces[i].packs[k].set);
    }
    ebb_cfree(dnn->env, c->pieces, (size_t)c->n_pieces, sizeof *c->pieces);
    for (int i = 0; i < DNN_N_PLANS; i++) dnn_set_deinit(&c->sets[i]);
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

static ebb_status find_pack(convolution *c, piece *of, void *const at[3], void *scratch, pack **out) {
    for (uint32_t i = 0; i < N_PACKS; i++) {
        pack *p = *out = &of->packs[i];
        if (p->descriptor && memcmp(p->at, at, sizeof p->at) == 0 && p->scratch == scratch) return EBB_OK;
    }
    pack *p = *out = &of->packs[of->next];
    of->next = (of->next + 1) % N_PACKS;
    memcpy(p->at, at, sizeof p->at);
    p->scratch = scratch;
    return fill_pack(c, p);
}

static ebb_status launch_piece(cuda_dnn *dnn, convolution *c, piece *of, const ebb_launch *launch) {
    void *at[3];
    pack *p;
    dnn_conv_pointers(&c->call, launch, at);
    for (int k = 0; k < 3; k++) at[k] = (char *)at[k] + of->offset[k];
    const ebb_status status = find_pack(c, of, at, launch->scratch, &p);
    if (status != EBB_OK) return status;
    const cudnnStatus_t ran = cudnnBackendExecute(dnn->handle, of->plan, p->descriptor);
    if (ran == CUDNN_STATUS_SUCCESS) return EBB_OK;
    char text[256] = "";
    cudnnGetLastErrorString(text, sizeof text);
    return ebb_fail(dnn->env, EBB_DEVICE, "%s by %s: cuDNN: %s %s", c->call.op->name, c->name,
                    cudnnGetErrorString(ran), text);
}

ebb_status cuda_dnn_launch(cuda_dnn *dnn, void *product, const ebb_launch *launch) {
    convolution *c = product;
    ebb_status status = EBB_OK;
    for (int64_t i = 0; i < c->n_pieces && status == EBB_OK; i++)
        status = launch_piece(dnn, c, &c->pieces[i], launch);
    return status;
}
