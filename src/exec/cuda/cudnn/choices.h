/* cuda/cudnn/choices.h: the few configurations of a call that the planner chooses among, remembered. */
#ifndef EBB_EXEC_CUDA_CUDNN_CHOICES_H
#define EBB_EXEC_CUDA_CUDNN_CHOICES_H

#include "exec/cuda/cudnn/graph.h"
#include "exec/cuda/products.h"

typedef struct dnn_choice {
    dnn_config config;  /* of each piece */
    int64_t n_pieces;   /* of the batch, one after the other */
    ebb_op_facts facts; /* all but choice's number */
} dnn_choice;

typedef struct dnn_entry {
    uint32_t n; /* 0: no plan */
    dnn_choice at[CUDA_MOST_CHOICES];
} dnn_entry;

typedef struct dnn_known {
    ebb_hash call; /* of its text */
    dnn_entry *entry;
} dnn_known;

int64_t dnn_operand_bytes(const ebb_call *call); /* of all of them; INT64_MAX: more than fit in 63 bits */

/* Models ask for the same call many times: by each of its nodes, when planning, preparing and measuring. */
typedef struct dnn_memo {
    ebb_env *env;
    EBB_ARRAY(dnn_known) entries; /* sorted by hash */
} dnn_memo;
void dnn_memo_init(dnn_memo *memo, ebb_env *env);
void dnn_memo_deinit(dnn_memo *memo);
/* NULL: not known yet. Valid until the next dnn_memo_keep. */
const dnn_entry *dnn_memo_find(const dnn_memo *memo, const ebb_hash *call);
/* Of a call that is not known yet; n 0: it has none. */
EBB_CHECKED ebb_status dnn_memo_keep(dnn_memo *memo, const ebb_hash *call, const dnn_choice *choices,
                                     uint32_t n, const dnn_entry **out);

/* The call's choices; *out is valid until the next call. Their scratch is what plans with the handle take,
 * which can be more than from the same device's description; without a device it is NULL. EBB_BAD_INPUT:
 * there is none. EBB_UNAVAILABLE: cuDNN does not work here. */
EBB_CHECKED ebb_status dnn_choices_find(dnn_memo *memo, const cuda_description *description,
                                        cudnnBackendDescriptor_t device, cudnnHandle_t handle,
                                        const cuda_products_options *options, const ebb_call *call,
                                        const dnn_entry **out);

/* ---- engines' speeds where cuDNN's order does not tell (speed.c) ----------------------------- */

bool dnn_speed_measured(const cuda_description *description, const ebb_call *call, bool tf32);
/* Of the f32 peak, per cent; may be above 100: Winograd's multiplies less than is counted. */
int32_t dnn_speed_percent(const ebb_call *call, const dnn_config *config);

#endif
