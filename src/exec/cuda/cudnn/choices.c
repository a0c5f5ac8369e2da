/* cuda/cudnn/choices.c: a call's choices, found once: in how many pieces of its batch, and which few.
 *
 * Where the first choice wants more than MOST_SCRATCH, the batch is cut in 2, 4, 8, ... pieces.
 */
#include "exec/cuda/cudnn/choosing.h"

/* Pieces of fewer pixels (of the larger picture) would leave multiprocessors idle; and pieces may be so
 * much slower, by estimate. */
enum { MOST_SCRATCH = 256 << 20, LEAST_PIXELS = 16 * 28 * 28, MOST_PIECES = 64, SLOWER_PERCENT = 12 };
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

static int64_t pixels_of(const ebb_type *type) {
    return type->dim[2] * type->dim[3];
}

/* Whether an image is whole units of the alignment that plans are promised: pieces begin at any image. */
static bool is_aligned(const ebb_type *type) {
    return ebb_type_bytes(type) / type->dim[0] % DNN_ALIGNMENT == 0;
}

static int64_t most_pieces(const ebb_call *call) {
    const bool adds = dnn_pieces_add(call);
    if (adds && ebb_dtype_low(call->out[0].dtype)) return 1;
    const ebb_type *x = &call->in[0], *y = adds ? &call->in[1] : &call->out[0];
    if (!is_aligned(x) || !is_aligned(y)) return 1;
    const int64_t n = dnn_images(call), pixels = ebb_max_i64(pixels_of(x), pixels_of(y));
    return ebb_min_i64(ebb_min_i64(MOST_PIECES, n), n * pixels / LEAST_PIXELS);
}

/* More pieces until the first choice wants little scratch: of those that cost little time, the one with the
 * least. */
static ebb_status choose_anew(dnn_memo *memo, dnn_choosing *c, const ebb_hash *hash,
                              const dnn_entry **out) {
    ebb_status status = dnn_choose(c, 1);
    const int64_t most = most_pieces(c->call), whole_ns = c->n > 0 ? c->at[0].facts.time_ns : 0;
    const int64_t most_ns = whole_ns + whole_ns / 100 * SLOWER_PERCENT;
    int64_t best = 1, n = 1, least = c->n > 0 ? c->at[0].config.scratch_bytes : 0;
    while (status == EBB_OK && least > MOST_SCRATCH && 2 * n <= most) {
        n *= 2;
        status = dnn_choose(c, n);
        if (status != EBB_OK || c->n == 0 || c->at[0].facts.time_ns > most_ns ||
            c->at[0].config.scratch_bytes >= least)
            continue;
        best = n;
        least = c->at[0].config.scratch_bytes;
    }
    if (status == EBB_OK && best != n) status = dnn_choose(c, best);
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
                            cudnnBackendDescriptor_t device, cudnnHandle_t handle,
                            const cuda_products_options *options, const ebb_call *call,
                            const dnn_entry **out) {
    const bool low = ebb_dtype_low(call->in[0].dtype);
    const dnn_choosing from = {.env = memo->env,
                               .description = description,
                               .call = call,
                               .device = device,
                               .handle = handle,
                               .allowed = {.tensor_cores = low || options->tf32,
                                           .winograd = !low,
                                           .uncompared = options->free_engines},
                               .ranked = dnn_speed_measured(description, call, options->tf32),
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
