/* Data, handles on them, and the eager itself. */
#include "eager/eager.h"

#include <math.h>

_Static_assert((int)EBB_INT16 + 1 == (int)EBB_N_DTYPES && (int)EBB_FLOAT32 == EBB_F32 &&
                   (int)EBB_FLOAT64 == EBB_F64 && (int)EBB_INT32 == EBB_I32 && (int)EBB_UINT8 == EBB_U8 &&
                   (int)EBB_BOOL8 == EBB_BOOL && (int)EBB_FLOAT16 == EBB_F16 &&
                   (int)EBB_BFLOAT16 == EBB_BF16 && (int)EBB_INT8 == EBB_I8 && (int)EBB_INT16 == EBB_I16,
               "elements are dtypes");

/* ---- data ----------------------------------------------------------------------------------- */

ebb_datum *ebb_datum_create(ebb_eager *eager, const ebb_type *type) {
    ebb_datum *datum = eager->spare_data;
    if (datum)
        eager->spare_data = datum->next;
    else
        datum = ebb_calloc(eager->env, 1, sizeof *datum);
    if (!datum) return NULL;
    *datum = (ebb_datum){.n_refs = 1, .number = EBB_NONE, .serial = ++eager->serial, .type = *type};
    eager->n_data++;
    return datum;
}

ebb_status ebb_datum_create_full(ebb_eager *eager, const ebb_type *type, ebb_datum **out) {
    *out = ebb_datum_create(eager, type);
    if (!*out) return EBB_NO_MEMORY;
    const ebb_status status = ebb_pool_take(&eager->pool, ebb_type_bytes(type), &(*out)->block);
    if (!status) return EBB_OK;
    ebb_datum_drop(eager, *out);
    *out = NULL;
    return status;
}

void ebb_datum_drop(ebb_eager *eager, ebb_datum *datum) {
    if (!datum || --datum->n_refs > 0) return;
    ebb_pool_drop(&eager->pool, datum->block);
    datum->block = NULL;
    datum->serial = 0;
    datum->next = eager->spare_data;
    eager->spare_data = datum;
    eager->n_data--;
}

ebb_datum *ebb_datum_apart(ebb_eager *eager, ebb_datum *datum) {
    if (!datum->block) return ebb_datum_hold(datum);
    ebb_datum *own = ebb_datum_create(eager, &datum->type);
    if (!own) return NULL;
    own->block = datum->block;
    own->block->n_refs++;
    return own;
}

ebb_status ebb_datum_need(ebb_eager *eager, ebb_datum *datum) {
    if (datum->block) return EBB_OK;
    const ebb_status status = eager->recorder ? eager->recorder->need(eager->recorder_ctx, datum) : EBB_OK;
    if (status || datum->block) return status;
    return ebb_fail(
        eager->env, EBB_USAGE,
        "this tensor was to be made by a traced call that failed, that was planned only, or that did "
        "not know it would be read: it has no value");
}

/* ---- handles -------------------------------------------------------------------------------- */

ebb_tensor *ebb_tensor_of(ebb_eager *eager, ebb_datum *datum) {
    ebb_tensor *tensor = eager->spare;
    if (tensor)
        eager->spare = tensor->next;
    else
        tensor = ebb_calloc(eager->env, 1, sizeof *tensor);
    if (tensor)
        *tensor = (ebb_tensor){.eager = eager, .datum = datum, .n_refs = 1, .serial = ++eager->serial};
    else
        ebb_datum_drop(eager, datum);
    return tensor;
}

void ebb_tensor_destroy(ebb_tensor *tensor) {
    if (!tensor || --tensor->n_refs > 0) return;
    ebb_eager *eager = tensor->eager;
    ebb_datum_drop(eager, tensor->datum);
    tensor->next = eager->spare;
    eager->spare = tensor;
}

void ebb_tensor_set(ebb_tensor *tensor, ebb_datum *datum) {
    ebb_datum *before = tensor->datum;
    tensor->datum = datum;
    ebb_datum_drop(tensor->eager, before);
}

ebb_status ebb_tensor_share(const ebb_tensor *tensor, ebb_tensor **out) {
    *out = ebb_tensor_of(tensor->eager, ebb_datum_hold(tensor->datum));
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_tensor_assign(ebb_tensor *to, const ebb_tensor *from) {
    ebb_eager *eager = to->eager;
    char is[EBB_TYPE_TEXT], due[EBB_TYPE_TEXT];
    if (from->eager != eager)
        return ebb_fail(eager->env, EBB_USAGE, "a tensor of another device's eager cannot be assigned");
    if (!ebb_type_equal(&to->datum->type, &from->datum->type))
        return ebb_fail(eager->env, EBB_BAD_INPUT, "%s cannot be assigned to a tensor that is %s",
                        ebb_type_text(&from->datum->type, is), ebb_type_text(&to->datum->type, due));
    if (to->datum == from->datum) return EBB_OK;
    const ebb_recorder *recorder = eager->recorder;
    if (recorder) {
        const ebb_status status = recorder->assign(eager->recorder_ctx, to, from->datum);
        if (!status) ebb_tensor_set(to, ebb_datum_hold(from->datum));
        return status;
    }
    /* A tape goes on with what it has seen. Without one they are two from now on: watching one is not
     * watching the other. */
    ebb_datum *own = eager->tapes ? ebb_datum_hold(from->datum) : ebb_datum_apart(eager, from->datum);
    if (own) ebb_tensor_set(to, own);
    return own ? EBB_OK : EBB_NO_MEMORY;
}

void ebb_tensor_type_of(const ebb_tensor *tensor, ebb_tensor_type *out) {
    const ebb_type *type = &tensor->datum->type;
    *out = (ebb_tensor_type){.element = (ebb_element)type->dtype, .rank = type->rank};
    memcpy(out->dim, type->dim, type->rank * sizeof *type->dim);
}

int64_t ebb_tensor_size_bytes(const ebb_tensor *tensor) {
    return ebb_type_bytes(&tensor->datum->type);
}

/* ---- in and out ----------------------------------------------------------------------------- */

/* Host memory for a tensor on its way between logical and storage order. */
static void *room_take(ebb_eager *eager, int64_t bytes) {
    return ebb_alloc_aligned(eager->env, (size_t)bytes, 64);
}

static ebb_status bytes_in(ebb_eager *eager, ebb_datum *datum, const void *data) {
    const ebb_backend_api *api = eager->backend->api;
    const int64_t bytes = ebb_type_bytes(&datum->type);
    ebb_status status = ebb_eager_settle(eager);
    if (status) return status;
    if (!data) return api->fill(eager->backend, datum->block->at, 0, bytes);
    if (api->host_memory) {
        ebb_tensor_to_storage(&datum->type, data, datum->block->at);
        return EBB_OK;
    }
    void *room = room_take(eager, bytes);
    if (!room) return EBB_NO_MEMORY;
    ebb_tensor_to_storage(&datum->type, data, room);
    status = api->copy_in(eager->backend, datum->block->at, room, bytes);
    ebb_free_aligned(eager->env, room, (size_t)bytes, 64);
    return status;
}

ebb_status ebb_tensor_type_read(ebb_eager *eager, const ebb_tensor_type *from, ebb_type *out) {
    *out = (ebb_type){.dtype = (ebb_dtype)from->element, .rank = from->rank};
    for (uint32_t d = 0; d < from->rank && d < EBB_MAX_RANK; d++) out->dim[d] = from->dim[d];
    if (from->rank <= EBB_MAX_RANK && (uint32_t)out->dtype < EBB_N_DTYPES && ebb_type_valid(out))
        return EBB_OK;
    return ebb_fail(eager->env, EBB_BAD_INPUT,
                    "a tensor has at most %d axes, sizes of at least 1, and less than 2^63 bytes",
                    EBB_MAX_RANK);
}

ebb_status ebb_tensor_create(ebb_eager *eager, const ebb_tensor_type *public_type, const void *data,
                             ebb_tensor **out) {
    ebb_type type;
    ebb_datum *datum = NULL;
    *out = NULL;
    ebb_status status = ebb_tensor_type_read(eager, public_type, &type);
    if (!status) status = ebb_datum_create_full(eager, &type, &datum);
    if (!status) status = bytes_in(eager, datum, data);
    if (!status && eager->recorder) status = eager->recorder->made(eager->recorder_ctx, datum);
    if (status) {
        ebb_datum_drop(eager, datum);
        return status;
    }
    *out = ebb_tensor_of(eager, datum);
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_datum_fill(ebb_eager *eager, ebb_datum *datum, double value) {
    double at; /* as wide as any element */
    ebb_status status = ebb_pool_take(&eager->pool, ebb_type_bytes(&datum->type), &datum->block);
    ebb_dtypes[datum->type.dtype].store(&at, 0, value);
    if (!status) status = bytes_in(eager, datum, &at);
    return status;
}

ebb_status ebb_tensor_number(ebb_eager *eager, ebb_element element, double value, ebb_tensor **out) {
    const ebb_type type = {.dtype = (ebb_dtype)element};
    ebb_datum *datum = NULL;
    *out = NULL;
    if ((uint32_t)element >= EBB_N_DTYPES)
        return ebb_fail(eager->env, EBB_BAD_INPUT, "element %d is none", (int)element);
    double least, most;
    ebb_dtype_range(type.dtype, &least, &most);
    if (!ebb_dtype_real(type.dtype) && !(value >= least && value <= most && value == floor(value)))
        return ebb_fail(eager->env, EBB_BAD_INPUT, "%.17g is no %s: give a whole number in [%.0f, %.0f]",
                        value, ebb_dtype_name(type.dtype), least, most);
    ebb_status status = EBB_OK;
    if (eager->recorder) status = eager->recorder->number(eager->recorder_ctx, &type, value, &datum);
    if (!status && !datum) {
        datum = ebb_datum_create(eager, &type);
        status = datum ? ebb_datum_fill(eager, datum, value) : EBB_NO_MEMORY;
    }
    if (status) {
        ebb_datum_drop(eager, datum);
        return status;
    }
    *out = ebb_tensor_of(eager, datum);
    return *out ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_tensor_read(const ebb_tensor *tensor, void *data, size_t bytes) {
    ebb_eager *eager = tensor->eager;
    ebb_datum *datum = tensor->datum;
    const ebb_backend_api *api = eager->backend->api;
    const int64_t n = ebb_type_bytes(&datum->type);
    if ((int64_t)bytes != n)
        return ebb_fail(eager->env, EBB_USAGE, "a tensor of %lld bytes is read into %zu", (long long)n,
                        bytes);
    ebb_status status = ebb_datum_need(eager, datum);
    if (!status) status = ebb_eager_settle(eager);
    if (!status && eager->recorder) status = eager->recorder->read(eager->recorder_ctx, datum);
    if (status) return status;
    if (api->host_memory) {
        ebb_tensor_to_logical(&datum->type, datum->block->at, data);
        return EBB_OK;
    }
    void *room = room_take(eager, n);
    if (!room) return EBB_NO_MEMORY;
    status = api->copy_out(eager->backend, room, datum->block->at, n);
    if (!status) ebb_tensor_to_logical(&datum->type, room, data);
    ebb_free_aligned(eager->env, room, (size_t)n, 64);
    return status;
}

ebb_status ebb_tensor_bytes(const ebb_tensor *tensor, const void **data) {
    ebb_eager *eager = tensor->eager;
    *data = NULL;
    if (!eager->backend->api->host_memory)
        return ebb_fail(eager->env, EBB_USAGE, "device %s has memory of its own: read the tensor instead",
                        eager->backend->api->name);
    ebb_status status = ebb_datum_need(eager, tensor->datum);
    if (!status && eager->recorder) status = eager->recorder->read(eager->recorder_ctx, tensor->datum);
    if (!status) *data = tensor->datum->block->at;
    return status;
}
