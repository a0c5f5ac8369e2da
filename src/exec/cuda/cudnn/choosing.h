/* cuda/cudnn/choosing.h: choosing in progress. Private to choices.c, which says in how many pieces,
 * and choose.c. */
#ifndef EBB_EXEC_CUDA_CUDNN_CHOOSING_H
#define EBB_EXEC_CUDA_CUDNN_CHOOSING_H

#include "exec/cuda/cudnn/choices.h"

typedef struct dnn_choosing {
    ebb_env *env;
    const cuda_description *description;
    const ebb_call *call;
    cudnnBackendDescriptor_t device;
    cudnnHandle_t handle; /* NULL: described only */
    dnn_allowed allowed;
    bool ranked; /* by speeds that are known */
    int64_t
        saving_bytes; /* of scratch that is worth another choice: a 32nd of what the step holds anyway */
    int64_t n_pieces;
    cudnnBackendDescriptor_t graph; /* of the largest piece */
    dnn_choice at[DNN_MOST_CONFIGS];
    uint32_t n;
    dnn_configs offered[2]; /* by mode A, by FALLBACK */
    dnn_config *order[2 * DNN_MOST_CONFIGS];
    uint32_t n_order;
} dnn_choosing;

/* Fills at and n with the batch in so many pieces, best time first. What cuDNN does not take has no choice.
 */
EBB_CHECKED ebb_status dnn_choose(dnn_choosing *c, int64_t n_pieces);

#endif
