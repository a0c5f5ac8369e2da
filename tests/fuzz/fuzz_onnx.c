/* fuzz_onnx: any bytes as an ONNX file. */
#include "ebb/onnx.h"
#include "fuzz.h"

static ebb_status read_onnx(ebb_env *env, const char *path) {
    ebb_onnx *onnx = NULL;
    const ebb_status status = ebb_onnx_open(env, path, NULL, &onnx);
    ebb_onnx_close(onnx);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    fuzz_one(data, n, read_onnx);
    return 0;
}
