/* exec/look.c: looks into a program that runs: where buffers are, and a step once more. For checks. */
#include "exec/program.h"

void *ebb_exec_buffer(const ebb_exec *exec, ebb_id buffer, int64_t *bytes) {
    *bytes = 0;
    if (!exec->bound || buffer >= exec->plan->n_buffers) return NULL;
    *bytes = exec->plan->buffers[buffer].bytes;
    return ebb_program_address(exec, buffer);
}

bool ebb_exec_runs(const ebb_exec *exec, uint32_t step) {
    return step < exec->plan->n_steps && exec->steps[step].kernel;
}

ebb_status ebb_exec_again(ebb_exec *exec, uint32_t step) {
    return exec->backend->api->launch(exec->backend, exec->steps[step].kernel, &exec->steps[step].launch);
}
