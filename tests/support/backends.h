/* Backends by name, for tests: those of this build, and "cuda": its kernels on the host (../cuda/twin.h).
 * The program that uses it takes create_twin.c and what it needs, and the library of cuda's ops. */
#ifndef EBB_TESTS_SUPPORT_BACKENDS_H
#define EBB_TESTS_SUPPORT_BACKENDS_H

#include "exec/cuda/cuda.h"

static inline const ebb_backend_api *test_backend_api(const char *name) {
    return strcmp(name, "cuda") == 0 ? &ebb_backend_cuda : ebb_backend_find(name);
}

#endif
