/* cuda/cudnn_choices.c: a call's choices, found once: in how many pieces of its batch, and which few.
 *
 * Where the first choice wants more than MOST_SCRATCH, the batch is cut in 2, 4, 8, ... pieces.
 */
#include "exec/cuda/cudnn_choosing.h"

/* Pieces of fewer images would leave multiprocessors idle; and pieces may be so much slower, by estimate.
 */
enum { MOST_SCRATCH = 256 << 20, LEAST_IMAGES = 16, MOST_PIECES = 64, SLOWER_PERCENT = 12 };
enum { LEAST_SAVING = 64 << 10 };

int64_t dnn_operand_bytes(const ebb_call *call) {
    int64_t sum = ebb_type_bytes(&call->out[0]);
    for (uint32_t i = 0; i < call->n_in; i++) {
        if (!ebb_add_i64(sum, ebb_type_bytes(&call->in[i]), &sum)) return INT64_MAX;
    }
    return sum;
}

/* Leaves out, of those in the middle, the ones that save the least against the one before. */
static void thin(dnn_choosing *c) {
    while (c->n > CUDA_MOST_CHOICES) {
        uint32_t least = 1;
        int64_t least_saved = INT64_MAX;
        for (uint32_t i = 1; i + 1 < c->n; i++) {
            const int64_t saved = c->at[i - 1].config.scratch_bytes - c->at[i].config.scratch_bytes;
            if (saved >= least_saved) continue;
            least = i;
            least_saved = saved;
        }
        memmove(&c->at[least], &c->at[least + 1], (c->n - least - 1) * sizeof *c->at);
        c->n--;
    }
}

/* ---- finding -------------------------------------------------------------------------------------- */

/* More pieces as long as the first choice wants much scratch, and they cost little time. */
static ebb_status choose_anew(dnn_memo *memo, dnn_choosing *c, const ebb_hash *hash,
                              const dnn_entry **out) {
    ebb_status status = dnn_choose(c, 1);
    const int64_t most_pieces = ebb_min_i64(MOST_PIECES, dnn_images(c->call) / LEAST_IMAGES);
    const int64_t whole_ns = c->n > 0 ? c->at[0].facts.time_ns : 0;
    int64_t n_pieces = 1;
    while (status == EBB_OK && c->n > 0 && c->at[0].config.scratch_bytes > MOST_SCRATCH &&
           2 * n_pieces <= most_pieces) {
        status = dnn_choose(c, 2 * n_pieces);
        if (status != EBB_OK) break;
        if (c->n == 0 || c->at[0].facts.time_ns - whole_ns > whole_ns / 100 * SLOWER_PERCENT) {
            status = dnn_choose(c, n_pieces);
            break;
        }
        n_pieces *= 2;
    }
    thin(c);
    return status == EBB_OK ? dnn_memo_keep(memo, hash, c->at, c->n, out) : status;
}

static ebb_status find_or_choose(dnn_memo *memo, const dnn_choosing *from, const char *text, size_t n,
                                 const dnn_entry **out) {
    ebb_hash hash;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, text, n);
    ebb_status status = EBB_OK;
    *out = dnn_memo_find(memo, &hash);
    if (!*out) {
        dnn_choosing *c = ebb_calloc(memo->env, 1, sizeof *c);
        if (!c) return EBB_NO_MEMORY;
        *c = *from;
        status = choose_anew(memo, c, &hash, out);
        ebb_cfree(memo->env, c, 1, sizeof *c);
    }
    if (status != EBB_OK || (*out)->n > 0) return status;
    return ebb_fail(memo->env, EBB_BAD_INPUT,
                    "%.200s: cuDNN %zu has no plan for it on %s that gives the same bits each time", text,
                    cudnnGetVersion(), from->description->name);
}

ebb_status dnn_choices_find(dnn_memo *memo, const cuda_description *description,
                            cudnnBackendDescriptor_t device, cudnnHandle_t handle, bool tf32,
                            const ebb_call *call, const dnn_entry **out) {
    const dnn_choosing from = {.env = memo->env,
                               .description = description,
                               .call = call,
                               .device = device,
                               .handle = handle,
                               .tf32 = tf32,
                               .ranked = dnn_speed_measured(description, call, tf32),
                               .saving_bytes = ebb_max_i64(dnn_operand_bytes(call) / 32, LEAST_SAVING)};
    ebb_text text;
    *out = NULL;
    ebb_text_init(&text, memo->env);
    ebb_call_print(&text, call);
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) status = find_or_choose(memo, &from, text.at, text.n, out);
    ebb_text_deinit(&text);
    return status;
}
