/* fuzz_tensors: any bytes as a safetensors file, whose tensors are then read. */
#include "ebb/tensors.h"
#include "fuzz.h"

static ebb_status read_tensors(ebb_env *env, const char *path) {
    ebb_tensors *file = NULL;
    char bytes[256];
    ebb_status status = ebb_tensors_open(env, path, &file);
    for (uint32_t i = 0; status == EBB_OK && i < ebb_tensors_count(file); i++) {
        const ebb_tensor_row *row = ebb_tensors_at(file, i);
        if (ebb_tensors_find(file, row->name) != row) abort();
        const int64_t n = row->bytes < (int64_t)sizeof bytes ? row->bytes : (int64_t)sizeof bytes;
        status = ebb_tensors_read(file, row, row->bytes - n, n, bytes);
    }
    ebb_tensors_close(file);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    fuzz_one(data, n, read_tensors);
    return 0;
}
