/* config: flags of the example, from one table. */
#include "resnet50.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { SWITCH, INTEGER, REAL, TEXT } kind;

#define AT(field) offsetof(config, field)
static const struct flag {
    const char *name;
    kind kind;
    size_t offset;
    int64_t min, max;
    const char *help;
} flags[] = {
    {"memory", TEXT, AT(memory), 0, 0, "none | in-place | budget (default in-place; budget with --budget)"},
    {"budget", TEXT, AT(budget), 0, 0, "BYTES in all (MB = 10^6, MiB = 2^20), or N% of the in-place arena"},
    {"batch", INTEGER, AT(batch), 1, 1 << 20, "images of a step (default 32)"},
    {"image", INTEGER, AT(image), 32, 4096,
     "side of an image in pixels (default 64; other data and synthetic 224)"},
    {"epochs", INTEGER, AT(epochs), 1, 1000000, "passes over the training scans (default 6)"},
    {"steps", INTEGER, AT(steps), 1, INT32_MAX, "stop after this many steps (synthetic: 3)"},
    {"lr", REAL, AT(lr), 0, 0, "highest learning rate (default 0.008)"},
    {"warmup", INTEGER, AT(warmup), 0, INT32_MAX, "steps until the learning rate is there (default 22)"},
    {"schedule", TEXT, AT(schedule), 0, 0, "cosine | step (default cosine)"},
    {"momentum", REAL, AT(momentum), 0, 0, "of SGD (default 0.9)"},
    {"weight-decay", REAL, AT(weight_decay), 0, 0, "of SGD (default 0.0001)"},
    {"nesterov", SWITCH, AT(nesterov), 0, 0, "Nesterov's momentum"},
    {"shift", REAL, AT(shift), 0, 0,
     "training scans move by up to this many of their pixels (default 0.5)"},
    {"each-epoch", SWITCH, AT(each_epoch), 0, 0, "held-out accuracy after every epoch, not only the last"},
    {"synthetic", SWITCH, AT(synthetic), 0, 0, "made-up images of 1000 classes instead of the digits"},
    {"precision", TEXT, AT(precision), 0, 0,
     "f32 | bf16 | f16: of activations and gradients (default f32)"},
    {"device", TEXT, AT(device), 0, 0, "backend (default cpu)"},
    {"threads", INTEGER, AT(threads), 1, 4096, "width of parallel reductions (default: the processors)"},
    {"seed", INTEGER, AT(seed), 0, INT64_MAX, "of parameters, order and shifts (default 1)"},
    {"effort", INTEGER, AT(effort), 1, INT64_MAX, "candidates that the search for a plan scores"},
    {"csv", TEXT, AT(csv), 0, 0, "FILE for step, epoch, learning rate, loss, nanoseconds"},
    {"model", TEXT, AT(model), 0, 0, "FILE.ebb or FILE.onnx of the model (default ResNet-50)"},
    {"data", TEXT, AT(data), 0, 0,
     "FILE.gz of the digits, or a folder with one for each class, records or .npz (docs/data.md)"},
    {"held-out", REAL, AT(held_out), 0, 0,
     "share of each class that is not trained on (default 0.2; digits: a fifth)"},
    {"json", SWITCH, AT(json), 0, 0, "the report as JSON on standard output"},
    {"help", SWITCH, AT(help), 0, 0, "show this"},
};
enum { N_FLAGS = sizeof flags / sizeof flags[0] };

void config_help(void) {
    printf("usage: resnet50 [FLAGS]\n\nTrains ResNet-50 on handwritten digits, in the memory that you "
           "grant it.\n\n");
    for (int i = 0; i < N_FLAGS; i++) printf("  --%-14s %s\n", flags[i].name, flags[i].help);
}

static bool parse_integer(const char *text, int64_t min, int64_t max, int64_t *out) {
    char *end = NULL;
    if (*text < '0' || *text > '9' || strlen(text) > 18) return false;
    int64_t value = strtoll(text, &end, 10);
    if (*end != '\0' || value < min || value > max) return false;
    *out = value;
    return true;
}

static bool parse_real(const char *text, double *out) {
    char *end = NULL;
    if (strspn(text, "0123456789.eE+-") != strlen(text) || *text == '\0' || *text == '-') return false;
    double value = strtod(text, &end);
    if (*end != '\0' || !(value < 1e18)) return false;
    *out = value;
    return true;
}

/* "35%", "500MB", "11GiB", "1073741824". */
static bool parse_budget(config *c) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},         {"B", 1},    {"kB", 1e3},     {"KiB", 1024.0}, {"MB", 1e6},
                 {"MiB", 0x1p20}, {"GB", 1e9}, {"GiB", 0x1p30}, {"TB", 1e12},    {"TiB", 0x1p40}};
    char number[32];
    size_t n = strspn(c->budget, "0123456789.");
    double value = 0;
    if (n == 0 || n >= sizeof number) return false;
    memcpy(number, c->budget, n);
    number[n] = '\0';
    if (!parse_real(number, &value) || value <= 0) return false;
    if (strcmp(c->budget + n, "%") == 0) {
        c->budget_share = value / 100;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(c->budget + n, units[i].name) != 0) continue;
        if (value * units[i].bytes < 1 || value * units[i].bytes > 0x1p62) return false;
        c->budget_bytes = (int64_t)(value * units[i].bytes);
        return true;
    }
    return false;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static bool settle(config *c, char *error, size_t n) {
    if (c->budget && !parse_budget(c))
        return snprintf(error, n, "--budget: \"%.60s\" is no budget: write 500MB, 11GiB or 35%%",
                        c->budget),
               false;
    if (!c->memory) c->memory = c->budget ? "budget" : "in-place";
    if (!is_one_of(c->memory, "none", "in-place", "budget"))
        return snprintf(error, n, "--memory: \"%.60s\": one of none, in-place, budget", c->memory), false;
    if ((strcmp(c->memory, "budget") == 0) != (c->budget != NULL))
        return snprintf(error, n, "--memory %s: --memory budget and --budget go together", c->memory),
               false;
    if (!is_one_of(c->schedule, "cosine", "step", "step"))
        return snprintf(error, n, "--schedule: \"%.60s\": one of cosine, step", c->schedule), false;
    if (!is_one_of(c->precision, "f32", "bf16", "f16"))
        return snprintf(error, n, "--precision: \"%.60s\": one of f32, bf16, f16", c->precision), false;
    if (!(c->held_out >= 0 && c->held_out < 1))
        return snprintf(error, n, "--held-out: %g: at least 0 and less than 1", c->held_out), false;
    c->pictures = !c->synthetic && !is_digits(c->data);
    if (c->image < 0) c->image = c->synthetic || c->pictures ? 224 : 64;
    if (c->synthetic && c->steps < 0) c->steps = 3;
    return true;
}

static bool set_flag(config *c, const struct flag *f, const char *value) {
    void *field = (char *)c + f->offset;
    if (f->kind == INTEGER) return parse_integer(value, f->min, f->max, field);
    if (f->kind == REAL) return parse_real(value, field);
    *(const char **)field = value;
    return *value != '\0';
}

bool config_parse(config *out, int argc, char **argv, char *error, size_t error_size) {
    *out = (config){.model = RESNET50_MODEL,
                    .data = RESNET50_DATA,
                    .schedule = "cosine",
                    .device = "cpu",
                    .precision = "f32"};
    out->batch = 32, out->epochs = 6, out->warmup = 22, out->seed = 1;
    out->image = out->effort = out->steps = out->threads = out->budget_bytes = -1;
    out->lr = 0.008, out->momentum = 0.9, out->weight_decay = 1e-4, out->shift = 0.5, out->held_out = 0.2,
    out->budget_share = -1;
    for (int i = 1; i < argc; i++) {
        const struct flag *f = NULL;
        size_t n = strcspn(argv[i], "=");
        for (int k = 0; k < N_FLAGS && n > 2 && memcmp(argv[i], "--", 2) == 0; k++) {
            if (strlen(flags[k].name) == n - 2 && memcmp(argv[i] + 2, flags[k].name, n - 2) == 0)
                f = &flags[k];
        }
        bool has_value = argv[i][n] == '=';
        if (!f || (f->kind == SWITCH && has_value))
            return snprintf(error, error_size, "\"%.60s\": unknown: see --help", argv[i]), false;
        if (f->kind == SWITCH) {
            *(bool *)((char *)out + f->offset) = true;
            continue;
        }
        if (!has_value && i + 1 == argc)
            return snprintf(error, error_size, "--%s needs a value: see --help", f->name), false;
        const char *value = has_value ? argv[i] + n + 1 : argv[++i];
        if (!set_flag(out, f, value))
            return snprintf(error, error_size, "--%s: bad value \"%.60s\": see --help", f->name, value),
                   false;
    }
    return out->help || settle(out, error, error_size);
}
