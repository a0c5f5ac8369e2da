/* Tensors on memory of others. */
#include "eager/eager.h"

static void nothing(void *ctx) {
    (void)ctx;
}

ebb_status ebb_tensor_borrow(ebb_eager *eager, const ebb_tensor_type *public_type, const void *data,
                             void (*release)(void *ctx), void *ctx, ebb_tensor **out) {
    const ebb_backend_api *api = eager->backend->api;
    ebb_type type;
    *out = NULL;
    ebb_status status = ebb_tensor_type_read(eager, public_type, &type);
    if (!status && !api->host_memory)
        status = ebb_fail(eager->env, EBB_USAGE,
                          "device %s has memory of its own: create the tensor instead", api->name);
    if (!status && (!data || !release || (uintptr_t)data % EBB_TENSOR_ALIGNMENT != 0))
        status = ebb_fail(eager->env, EBB_USAGE, "memory for a tensor is aligned to %d bytes, and released",
                          EBB_TENSOR_ALIGNMENT);
    if (status) return status;
    ebb_datum *datum = ebb_datum_create(eager, &type);
    if (!datum) return EBB_NO_MEMORY;
    status = ebb_pool_borrow(&eager->pool, (void *)(uintptr_t)data, ebb_type_bytes(&type), release, ctx,
                             &datum->block);
    if (!status && eager->recorder) status = eager->recorder->made(eager->recorder_ctx, datum);
    ebb_tensor *handle = status ? NULL : ebb_tensor_of(eager, ebb_datum_hold(datum));
    if (!handle && !status) status = EBB_NO_MEMORY;
    if (status && datum->block) datum->block->release = nothing; /* it stays the caller's */
    *out = handle;
    ebb_datum_drop(eager, datum);
    return status;
}
