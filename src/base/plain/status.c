/* Status names, exit codes, the version, and checked arithmetic. */
#include "base/plain/plain.h"

static const struct {
    const char *name;
    int exit_code;
} statuses[] = {
    [EBB_OK] = {"OK", 0},
    [EBB_OVER_BUDGET] = {"OVER_BUDGET", 1},
    [EBB_VIOLATION] = {"VIOLATION", 1},
    [EBB_USAGE] = {"USAGE", 2},
    [EBB_BAD_INPUT] = {"BAD_INPUT", 3},
    [EBB_NO_MEMORY] = {"NO_MEMORY", 4},
    [EBB_UNAVAILABLE] = {"UNAVAILABLE", 5},
    [EBB_DEVICE] = {"DEVICE", 5},
    [EBB_INTERNAL] = {"INTERNAL", 6},
    [EBB_IO] = {"IO", 7},
    [EBB_INTERRUPTED] = {"INTERRUPTED", 130},
    [EBB_STALE] = {"STALE", 5},
    [EBB_MISMATCH] = {"MISMATCH", 3},
};

const char *ebb_status_name(ebb_status status) {
    size_t i = (size_t)status;
    return i < EBB_COUNT(statuses) ? statuses[i].name : "UNKNOWN";
}

int ebb_status_exit_code(ebb_status status) {
    size_t i = (size_t)status;
    return i < EBB_COUNT(statuses) ? statuses[i].exit_code : statuses[EBB_INTERNAL].exit_code;
}

const char *ebb_version(void) {
    return EBB_VERSION;
}

bool ebb_mul_i64(int64_t a, int64_t b, int64_t *out) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

bool ebb_add_i64(int64_t a, int64_t b, int64_t *out) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}
