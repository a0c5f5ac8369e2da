/* cuda/cudnn/speed.c: how fast engines are where cuDNN's own order does not tell.
 *
 * For f32 without tensor cores on devices of compute capability 9.0 the heuristics put engines first that
 * take twice the time of others, which only FALLBACK offers. Part of the f32 peak that each reached, per
 * cent, as bench/engines measured it with ResNet-50's convolutions at 256 images on an H100 (cuDNN 9.19,
 * 2026-11-22): the middle of what it reached for 3x3 and strided filters. Channels of 16 and more, no
 * groups: with fewer, cuDNN's order was the best one.
 */
#include "exec/cuda/cudnn/choices.h"

enum { ANY = -1, MEASURED_COMPUTE = 900, LEAST_CHANNELS = 16, SMALL_PIXELS = 14 * 14 };
/* What an engine's speed depends on: a stride; pictures (y's) of few pixels. */
typedef enum speed_case { NOT_STRIDED = 1, STRIDED, SMALL } speed_case;

typedef struct speed {
    ebb_opcode op;
    int32_t engine, tile, index; /* knobs TILE_SIZE and IDX_MODE; ANY also where there is none */
    int32_t when;                /* a speed_case, or ANY */
    int32_t percent;
} speed;

/* The first that fits. */
static const speed speeds[] = {
    {EBB_OP_conv2d, 70, 4, 0, ANY, 55},
    {EBB_OP_conv2d, 70, 2, 0, ANY, 42},
    {EBB_OP_conv2d, 1, ANY, ANY, ANY, 41},
    {EBB_OP_conv2d, 70, 12, 0, ANY, 36},
    {EBB_OP_conv2d, 28, 4, ANY, ANY, 15},
    {EBB_OP_conv2d, 28, ANY, ANY, ANY, 29},
    {EBB_OP_conv2d, 70, ANY, ANY, ANY, 26},
    {EBB_OP_conv2d_dgrad, 1, ANY, ANY, NOT_STRIDED, 48},
    {EBB_OP_conv2d_dgrad, 74, ANY, ANY, NOT_STRIDED, 35},
    {EBB_OP_conv2d_dgrad, 2, 2, ANY, NOT_STRIDED, 32},
    {EBB_OP_conv2d_dgrad, 2, ANY, ANY, NOT_STRIDED, 25},
    {EBB_OP_conv2d_dgrad, 2, 2, ANY, STRIDED, 25},
    {EBB_OP_conv2d_dgrad, 2, ANY, ANY, STRIDED, 16},
    {EBB_OP_conv2d_dgrad, 74, ANY, ANY, STRIDED, 9},
    {EBB_OP_conv2d_dgrad, 1, ANY, ANY, STRIDED, 6},
    {EBB_OP_conv2d_wgrad, 17, ANY, ANY, ANY, 115}, /* Winograd's; cuDNN offers it where a device is */
    {EBB_OP_conv2d_wgrad, 67, ANY, ANY, SMALL, 44},
    {EBB_OP_conv2d_wgrad, 67, ANY, ANY, ANY, 20},
    {EBB_OP_conv2d_wgrad, 1, 6, ANY, ANY, 31},
    {EBB_OP_conv2d_wgrad, 1, ANY, ANY, ANY, 37},
};

static int64_t knob_of(const dnn_config *config, cudnnBackendKnobType_t knob) {
    for (uint32_t i = 0; i < config->n_knobs; i++) {
        if (config->knob[i] == (int32_t)knob) return config->value[i];
    }
    return ANY;
}

static bool is_case(const ebb_call *call, speed_case when) {
    const bool strided = call->attr[EBB_CONV_STRIDE].i[0] > 1 || call->attr[EBB_CONV_STRIDE].i[1] > 1;
    const ebb_type *y = call->op->code == EBB_OP_conv2d         ? &call->out[0]
                        : call->op->code == EBB_OP_conv2d_dgrad ? &call->in[0]
                                                                : &call->in[1];
    return when == SMALL ? y->dim[2] * y->dim[3] <= SMALL_PIXELS : strided == (when == STRIDED);
}

bool dnn_speed_measured(const cuda_description *description, const ebb_call *call, bool tf32) {
    const ebb_type *x = call->op->code == EBB_OP_conv2d_dgrad ? &call->out[0] : &call->in[0];
    return !tf32 && call->in[0].dtype == EBB_F32 && description->compute == MEASURED_COMPUTE &&
           call->attr[EBB_CONV_GROUPS].i[0] == 1 && x->dim[1] >= LEAST_CHANNELS;
}

int32_t dnn_speed_percent(const ebb_call *call, const dnn_config *config) {
    enum { GENERIC = 1, UNKNOWN = 20 };
    const int64_t tile = knob_of(config, CUDNN_KNOB_TYPE_TILE_SIZE);
    const int64_t index = knob_of(config, CUDNN_KNOB_TYPE_IDX_MODE);
    if (config->generic) return GENERIC;
    for (size_t i = 0; i < EBB_COUNT(speeds); i++) {
        const speed *s = &speeds[i];
        if (s->op == call->op->code && s->engine == config->engine && (s->tile == ANY || s->tile == tile) &&
            (s->index == ANY || s->index == index) &&
            (s->when == ANY || is_case(call, (speed_case)s->when)))
            return s->percent;
    }
    return UNKNOWN;
}
