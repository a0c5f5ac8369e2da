/* How a trace is made: a dict whose entries are named as the fields of ebb_trace_options and ebb_options.
 */
#include "core.h"

typedef enum core_field { BOOL, UINT, INT32, INT, REAL, BYTES, TEXT, WORD } core_field;

typedef struct core_entry {
    const char *name;
    core_field field;
    size_t offset;
    const char *const *words; /* of a WORD: what its values are called, from 0 on; NULL ends them */
} core_entry;

static const char *const memory_words[] = {[EBB_MEMORY_NONE] = "none",
                                           [EBB_MEMORY_IN_PLACE] = "in_place",
                                           [EBB_MEMORY_MEGENGINE] = "sublinear",
                                           [EBB_MEMORY_BUDGET] = "budget",
                                           NULL};
static const char *const optimizer_words[] = {[EBB_SGD] = "sgd", [EBB_ADAMW] = "adamw", NULL};
static const char *const precision_words[] = {
    [EBB_PRECISION_F32] = "f32", [EBB_PRECISION_BF16] = "bf16", [EBB_PRECISION_F16] = "f16", NULL};

#define OF(name)   offsetof(ebb_trace_options, name)
#define PLAN(name) OF(plan) + offsetof(ebb_options, name)
#define TRY(name)  PLAN(sublinear) + offsetof(ebb_sublinear_config, name)
static const core_entry entries[] = {
    {"memory", WORD, PLAN(memory), memory_words},
    {"symbolic", BOOL, OF(symbolic), NULL},
    {"record_only", BOOL, OF(record_only), NULL},
    {"plan_only", BOOL, OF(plan_only), NULL},
    {"device", TEXT, PLAN(device), NULL},
    {"keep", BOOL, OF(keep), NULL},
    {"strict", BOOL, OF(strict), NULL},
    {"algebra", BOOL, OF(algebra), NULL},
    {"arguments_stay", BOOL, OF(arguments_stay), NULL},
    {"n_profiled", UINT, OF(n_profiled), NULL},
    {"n_most", UINT, OF(n_most), NULL},
    {"budget", BYTES, PLAN(budget_bytes), NULL},
    {"budget_share", REAL, PLAN(budget_share), NULL},
    {"unpacked", BOOL, PLAN(unpacked), NULL},
    {"thresh_nr_try", INT, TRY(thresh_nr_try), NULL},
    {"genetic_nr_iter", INT, TRY(genetic_nr_iter), NULL},
    {"genetic_pool_size", INT, TRY(genetic_pool_size), NULL},
    {"lb_memory_bytes", BYTES, TRY(lb_memory_bytes), NULL},
    {"num_worker", INT, TRY(num_worker), NULL},
    {"effort", INT, PLAN(effort), NULL},
    {"search_seed", INT, PLAN(search_seed), NULL},
    {"time_limit", REAL, PLAN(time_limit_s), NULL},
    {"opt_level", INT32, PLAN(opt_level), NULL},
    {"unfused", BOOL, PLAN(unfused), NULL},
    {"xla", BOOL, PLAN(xla), NULL},
    {"verify", BOOL, PLAN(verify), NULL},
    {"cache", TEXT, PLAN(cache), NULL},
    /* Of programs, whose updates are the engine's: a trace has its own. */
    {"seed", INT, PLAN(seed), NULL},
    {"optimizer", WORD, PLAN(optimizer), optimizer_words},
    {"precision", WORD, PLAN(precision), precision_words},
    {"momentum", REAL, PLAN(momentum), NULL},
    {"weight_decay", REAL, PLAN(weight_decay), NULL},
    {"nesterov", BOOL, PLAN(nesterov), NULL},
    {"decay_weights", BOOL, PLAN(decay_weights), NULL},
    {"beta1", REAL, PLAN(beta1), NULL},
    {"beta2", REAL, PLAN(beta2), NULL},
    {"adam_eps", REAL, PLAN(adam_eps), NULL},
    {"clip_norm", REAL, PLAN(clip_norm), NULL},
    {"label_smoothing", REAL, PLAN(label_smoothing), NULL},
    {"evaluate", BOOL, PLAN(evaluate), NULL},
    {"n_threads", UINT, PLAN(n_threads), NULL},
};

#define PROGRESS "progress"

static int text_read(PyObject *value, const char **out) {
    *out = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    if (!*out && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "expected a string, got %R", value);
    return *out ? 0 : -1;
}

/* "11GiB", or a number of bytes. */
static int bytes_read(PyObject *value, int64_t *out) {
    const char *text;
    if (!PyUnicode_Check(value)) {
        *out = PyLong_AsLongLong(value);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (text_read(value, &text)) return -1;
    if (ebb_parse_bytes(text, out)) return 0;
    PyErr_Format(PyExc_ValueError, "%R is no size: write \"11GiB\", \"500 MB\" or a number of bytes",
                 value);
    return -1;
}

static int word_read(const core_entry *entry, PyObject *value, char *to) {
    const char *text;
    if (text_read(value, &text)) return -1;
    _Static_assert(sizeof(ebb_memory_mode) == sizeof(int) && sizeof(ebb_optimizer) == sizeof(int) &&
                       sizeof(ebb_precision) == sizeof(int),
                   "a word is kept as an int");
    for (int i = 0; entry->words[i]; i++) {
        if (strcmp(text, entry->words[i]) != 0) continue;
        memcpy(to, &i, sizeof i);
        return 0;
    }
    char known[96];
    size_t n = 0;
    for (int i = 0; entry->words[i] && n < sizeof known; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s\"%s\"",
                              i == 0                ? ""
                              : entry->words[i + 1] ? ", "
                                                    : " or ",
                              entry->words[i]);
    PyErr_Format(PyExc_ValueError, "%s is %s, not %R", entry->name, known, value);
    return -1;
}

static int entry_read(const core_entry *entry, PyObject *value, char *to) {
    int64_t whole = 0;
    double real = 0;
    const char *text = NULL;
    if (entry->field == WORD) return word_read(entry, value, to);
    if (entry->field == TEXT) {
        if (text_read(value, &text)) return -1;
        memcpy(to, &text, sizeof text);
        return 0;
    }
    if (entry->field != BYTES && PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is %s, not %R", entry->name,
                     entry->field == BOOL ? "True or False" : "a number", value);
        return -1;
    }
    if (entry->field == REAL)
        real = PyFloat_AsDouble(value);
    else if (bytes_read(value, &whole))
        return -1;
    if (PyErr_Occurred()) return -1;
    if (entry->field == BOOL) *(bool *)to = whole != 0;
    if (entry->field == UINT) {
        const uint32_t number = whole < 0 ? 0 : whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
        memcpy(to, &number, sizeof number);
    }
    if (entry->field == INT32) {
        const int32_t number = whole < INT32_MIN   ? INT32_MIN
                               : whole > INT32_MAX ? INT32_MAX
                                                   : (int32_t)whole;
        memcpy(to, &number, sizeof number);
    }
    if (entry->field == INT || entry->field == BYTES) memcpy(to, &whole, sizeof whole);
    if (entry->field == REAL) memcpy(to, &real, sizeof real);
    return 0;
}

/* MegEngine's environment variables override what the program says. */
static int sublinear_finish(ebb_sublinear_config *config) {
    ebb_status status =
        ebb_sublinear_config_from_env(core.env, (const char *(*)(const char *))getenv, config);
    if (!status) status = ebb_sublinear_config_check(core.env, config);
    if (status) core_raise(status);
    return status ? -1 : 0;
}

/* ctx(aim, done, total, best, least), by any thread. What is raised in there, by a signal's handler too,
 * ends the search. */
static void on_progress(void *ctx, const ebb_progress *p) {
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *done = PyObject_CallFunction(ctx, "sLLdd", p->aim, (long long)p->done, (long long)p->total,
                                           p->best_added_ratio, p->least_added_ratio);
    if (!done) core_raise_later();
    Py_XDECREF(done);
    PyGILState_Release(gil);
}

int core_trace_options_read(PyObject *dict, ebb_trace_options *out) {
    Py_ssize_t at = 0, n_known = 0;
    PyObject *value = NULL;
    ebb_trace_options_init(out);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        value = PyDict_GetItemString(dict, entries[i].name);
        if (!value) continue;
        n_known++;
        if (entry_read(&entries[i], value, (char *)out + entries[i].offset)) return -1;
    }
    value = PyDict_GetItemString(dict, PROGRESS);
    if (value) {
        n_known++;
        out->plan.on_progress = on_progress;
        out->plan.progress_ctx = value; /* the dict's */
    }
    if (n_known != PyDict_Size(dict)) {
        PyObject *key = NULL;
        while (PyDict_Next(dict, &at, &key, &value)) {
            bool known = PyUnicode_CompareWithASCIIString(key, PROGRESS) == 0;
            for (size_t i = 0; !known && i < sizeof entries / sizeof *entries; i++)
                known = PyUnicode_CompareWithASCIIString(key, entries[i].name) == 0;
            if (!known) break;
        }
        PyErr_Format(PyExc_TypeError, "a trace has no option %R", key);
        return -1;
    }
    return sublinear_finish(&out->plan.sublinear);
}
