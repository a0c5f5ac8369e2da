/* The cuda backend on the host: its own table, ops, launches and kernel bodies, with the host for a device
 * and plain loops for libraries. What it computes is what a device computes, but for the last bits of exp
 * and the like, and for the products. */
#ifndef EBB_TESTS_CUDA_HOST_H
#define EBB_TESTS_CUDA_HOST_H

#include "exec/cuda/cuda.h"

/* Runs bodies block by block; what is put into the stream is done at once. */
EBB_CHECKED ebb_status test_device_host_open(ebb_env *env, cuda_device **out);
/* Which block and which thread of a phase comes first must not matter: the same bits backwards. */
void test_device_host_turn(cuda_device *device, bool backwards);
/* Of each launch only so many blocks are run, its last ones; 0: all again. */
void test_device_host_last(cuda_device *device, int64_t n_blocks);
/* The reference's kernels. */
EBB_CHECKED ebb_status test_products_host_open(ebb_env *env, cuda_products **out);
/* Code for a device that is the host, of a text in C and, where `with` is not NULL, of an object file
 * (compiler_host.c). */
EBB_CHECKED ebb_status test_host_code(ebb_env *env, const ebb_text *text, const void *with, size_t n_with,
                                      char **out, size_t *n);
/* MLIR, whose IR LLVM compiles for the host (compiler_mlir_host.c). */
EBB_CHECKED ebb_status test_mlir_host_open(ebb_env *env, cuda_compiler **out);
/* A device of round numbers. */
cuda_description test_description(void);

#endif
