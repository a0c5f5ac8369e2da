/* inputs: found in the text IR (docs/ir.md), where an input is a line "%x = input TYPE" and the loss a line
 * "loss %loss"; and the state of f16's loss scale. */
#include "tool/commands/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEARNING_RATE 0.01F /* of a model whose rate has another name than lr */

/* The name after '%' at text, up to `end` of it; false when it is too long. */
static bool copy_name(const char *text, const char *end, char out[INPUTS_NAME_MAX]) {
    size_t n = (size_t)(end - text);
    if (n == 0 || n >= INPUTS_NAME_MAX) return false;
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

/* "%loss = softmax_xent %logits, %labels": its operands, where the loss is this line's. */
static void read_xent(inputs *in, const char *line, const char *space, const char *end) {
    static const char op[] = " = softmax_xent %", between[] = ", %";
    const size_t n = strlen(op), n_between = strlen(between);
    char name[INPUTS_NAME_MAX];
    if ((size_t)(end - space) < n || memcmp(space, op, n) != 0) return;
    if (!copy_name(line + 1, space, name) || strcmp(name, in->loss) != 0) return;
    const char *comma = memchr(space + n, ',', (size_t)(end - space) - n);
    if (!comma || (size_t)(end - comma) < n_between || memcmp(comma, between, n_between) != 0) return;
    const char *labels = comma + n_between, *behind = memchr(labels, ' ', (size_t)(end - labels));
    if (!copy_name(space + n, comma, in->logits) || !copy_name(labels, behind ? behind : end, in->labels))
        in->logits[0] = in->labels[0] = '\0';
}

static void read_loss(inputs *in, const char *line, size_t n) {
    static const char is_loss[] = "loss %";
    if (n <= strlen(is_loss) || memcmp(line, is_loss, strlen(is_loss)) != 0) return;
    if (!copy_name(line + strlen(is_loss), line + n, in->loss)) in->too_many = true;
}

static bool ends_with(const char *space, const char *end, const char *word) {
    const size_t n = strlen(word);
    return (size_t)(end - space) >= n && memcmp(end - n, word, n) == 0;
}

/* " = param f32[10,64] init=uniform": a weight, where it has two axes or more; begun where it is not zero.
 */
static void read_param(inputs *in, const char *space, const char *end) {
    static const char is_param[] = " = param ";
    const size_t n = strlen(is_param);
    if ((size_t)(end - space) < n || memcmp(space, is_param, n) != 0) return;
    if (!memchr(space, ',', (size_t)(end - space))) return;
    in->n_weights++;
    in->n_begun += !ends_with(space, end, " init=zero") && !ends_with(space, end, " init=0");
}

static void read_line(inputs *in, const char *line, size_t n) {
    static const char is_input[] = " = input ", is_scale[] = "%scaler.scale = state ";
    const char *end = line + n;
    if (n > strlen(is_scale) && memcmp(line, is_scale, strlen(is_scale)) == 0) in->scaled = true;
    const char *space = n > 0 && line[0] == '%' ? memchr(line, ' ', n) : NULL;
    if (space) read_xent(in, line, space, end);
    if (space) read_param(in, space, end);
    if (!space || (size_t)(end - space) < strlen(is_input)) return;
    if (memcmp(space, is_input, strlen(is_input)) != 0) return;
    if (in->n == INPUTS_MAX || !copy_name(line + 1, space, in->name[in->n]))
        in->too_many = true;
    else
        in->n++;
}

static void each_line(inputs *in, const char *text, void (*read)(inputs *in, const char *line, size_t n)) {
    while (*text != '\0') {
        const size_t n = strcspn(text, "\n");
        read(in, text, n);
        text += n + (text[n] == '\n');
    }
}

/* The line that names the loss stands behind the one that makes it. */
static void read_text(void *ctx, const char *pass, const char *text) {
    (void)pass;
    ((inputs *)ctx)->read = true;
    each_line(ctx, text, read_loss);
    each_line(ctx, text, read_line);
}

ebb_status inputs_find(tool *t, const ebb_model *model, const ebb_options *options, inputs *out) {
    ebb_options watch = *options;
    ebb_model_facts facts;
    *out = (inputs){.n = 0};
    if (ebb_device_is_apart(options->device)) { /* the text is the same everywhere: no device is opened */
        watch.device = "ref";
        watch.costs = NULL;
        watch.jit = NULL;
        watch.tf32 = watch.direct_conv = watch.free_engines = watch.watch_memory = false;
        watch.cap_bytes = 0;
    }
    watch.on_dump = read_text;
    watch.dump_ctx = out;
    /* The optimizer adds an input, the learning rate. Evaluation and a model without a loss do without. */
    watch.dump = options->evaluate ? "lower" : "optimizer";
    ebb_status status = ebb_model_inspect(t->env, model, t->args.dims, t->args.n_dims, &watch, &facts);
    if (status == EBB_OK && !out->read) {
        watch.dump = "lower";
        status = ebb_model_inspect(t->env, model, t->args.dims, t->args.n_dims, &watch, &facts);
    }
    if (status == EBB_OK && out->too_many)
        return tool_fail(t, EBB_BAD_INPUT,
                         "%.200s: more than %d inputs, or a name of more than %d bytes: run it from C",
                         t->args.operand, INPUTS_MAX, INPUTS_NAME_MAX - 1);
    return status;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) of the index. */
static uint64_t mixed(uint64_t i) {
    uint64_t z = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Where an input's numbers begin: each has its own (FNV-1a of its name). */
static uint64_t stream(const char *name) {
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (; *name != '\0'; name++) h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
    return h;
}

static double noise(uint64_t i) {
    return (double)(mixed(i) >> 11) * 0x1p-52 - 1;
}

/* Of at most 1 in size, towards zero, to a number of 16 bits that is not subnormal. */
static uint16_t half_of(double x, ebb_element element) {
    const int n_fraction = element == EBB_FLOAT16 ? 10 : 7, bias = element == EBB_FLOAT16 ? 15 : 127;
    int exponent;
    const double fraction = frexp(fabs(x), &exponent); /* in [0.5, 1) */
    if (fraction == 0 || exponent + bias < 2) return 0;
    const unsigned below = (unsigned)ldexp(fraction, n_fraction + 1) & ((1U << n_fraction) - 1);
    return (uint16_t)((x < 0 ? 0x8000U : 0U) | (unsigned)(exponent + bias - 1) << n_fraction | below);
}

static void fill(const ebb_tensor_info *info, void *data, size_t bytes) {
    float *f32 = data;
    double *f64 = data;
    int32_t *i32 = data;
    uint16_t *u16 = data;
    const int64_t below = info->below > 0 ? info->below : 1;
    const uint64_t from = stream(info->name);
    switch (info->element) {
    case EBB_FLOAT32:
        for (size_t i = 0; i < bytes / sizeof *f32; i++)
            f32[i] = info->rank == 0 ? LEARNING_RATE : (float)noise(from + i);
        break;
    case EBB_FLOAT64:
        for (size_t i = 0; i < bytes / sizeof *f64; i++)
            f64[i] = info->rank == 0 ? (double)LEARNING_RATE : noise(from + i);
        break;
    case EBB_FLOAT16:
    case EBB_BFLOAT16:
        for (size_t i = 0; i < bytes / sizeof *u16; i++)
            u16[i] = half_of(info->rank == 0 ? (double)LEARNING_RATE : noise(from + i), info->element);
        break;
    case EBB_INT32:
        for (size_t i = 0; i < bytes / sizeof *i32; i++)
            i32[i] = (int32_t)(mixed(from + i) % (uint64_t)below);
        break;
    case EBB_UINT8:
    case EBB_BOOL8:
    case EBB_INT8:
    case EBB_INT16:
        memset(data, 0, bytes);
        break;
    }
}

/* Numbers made in the order in which a block holds them (rank 4: n,h,w,c) in logical order. */
static void to_logical(const ebb_tensor_info *info, const char *stored, char *logical) {
    const int64_t *d = info->dim, plane = d[2] * d[3];
    const size_t size = (size_t)(info->bytes / (d[0] * d[1] * plane));
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++)
            for (int64_t i = 0; i < plane; i++, logical += size)
                memcpy(logical, stored + (size_t)((n * plane + i) * d[1] + c) * size, size);
}

/* The bytes of an input that the device has no host bytes of: made once, the same for every step, and the
 * same as elsewhere. */
static ebb_status make(tool *t, const ebb_tensor_info *info, void **held) {
    const size_t bytes = (size_t)info->bytes;
    if (*held) return EBB_OK;
    *held = malloc(bytes);
    void *stored = info->rank == 4 ? malloc(bytes) : NULL;
    if (!*held || (info->rank == 4 && !stored)) {
        free(stored);
        return tool_fail(t, EBB_NO_MEMORY, "no memory for input %s: %zu bytes", info->name, bytes);
    }
    fill(info, stored ? stored : *held, bytes);
    if (stored) to_logical(info, stored, *held);
    free(stored);
    return EBB_OK;
}

static ebb_status feed_rate(ebb_program *program, const ebb_tensor_info *info, double rate) {
    const float f32 = (float)rate;
    if (info->element == EBB_FLOAT64) return ebb_feed(program, info->name, &rate, sizeof rate);
    return ebb_feed(program, info->name, &f32, sizeof f32);
}

static ebb_status feed(tool *t, ebb_program *program, const char *name, void **held, double rate) {
    ebb_tensor_info info;
    void *data = NULL;
    size_t bytes = 0;
    ebb_status status = ebb_program_tensor(program, name, &info);
    if (status != EBB_OK) return status;
    if (info.rank == 0 && strcmp(name, "lr") == 0 &&
        (info.element == EBB_FLOAT32 || info.element == EBB_FLOAT64))
        return feed_rate(program, &info, rate);
    if (ebb_input_bytes(program, name, &data, &bytes) == EBB_OK) {
        fill(&info, data, bytes);
        return EBB_OK;
    }
    status = make(t, &info, held);
    return status == EBB_OK ? ebb_feed(program, name, *held, (size_t)info.bytes) : status;
}

ebb_status inputs_feed_rate(const inputs *in, ebb_program *program, double rate) {
    ebb_tensor_info info;
    for (uint32_t i = 0; i < in->n; i++) {
        if (strcmp(in->name[i], "lr") != 0) continue;
        const ebb_status status = ebb_program_tensor(program, in->name[i], &info);
        return status == EBB_OK ? feed_rate(program, &info, rate) : status;
    }
    return EBB_OK;
}

ebb_status inputs_feed(tool *t, inputs *in, ebb_program *program, double rate) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < in->n && status == EBB_OK; i++)
        status = feed(t, program, in->name[i], &in->held[i], rate);
    return status;
}

void inputs_drop(inputs *in) {
    for (uint32_t i = 0; i < INPUTS_MAX; i++) {
        free(in->held[i]);
        in->held[i] = NULL;
    }
}
