/* How a trace is made: a dict whose entries are named as the fields of ebb_trace_options and ebb_options.
 */
#include "core.h"

typedef enum core_field { BOOL, UINT, INT, REAL, BYTES, TEXT } core_field;

typedef struct core_entry {
    const char *name;
    core_field field;
    size_t offset;
} core_entry;

#define OF(name)   offsetof(ebb_trace_options, name)
#define PLAN(name) OF(plan) + offsetof(ebb_options, name)
#define TRY(name)  PLAN(sublinear) + offsetof(ebb_sublinear_config, name)
static const core_entry entries[] = {
    {"symbolic", BOOL, OF(symbolic)},
    {"record_only", BOOL, OF(record_only)},
    {"keep", BOOL, OF(keep)},
    {"strict", BOOL, OF(strict)},
    {"n_profiled", UINT, OF(n_profiled)},
    {"n_most", UINT, OF(n_most)},
    {"budget", BYTES, PLAN(budget_bytes)},
    {"thresh_nr_try", INT, TRY(thresh_nr_try)},
    {"genetic_nr_iter", INT, TRY(genetic_nr_iter)},
    {"genetic_pool_size", INT, TRY(genetic_pool_size)},
    {"lb_memory_bytes", BYTES, TRY(lb_memory_bytes)},
    {"num_worker", INT, TRY(num_worker)},
    {"effort", INT, PLAN(effort)},
    {"search_seed", INT, PLAN(search_seed)},
    {"time_limit", REAL, PLAN(time_limit_s)},
    {"opt_level", UINT, PLAN(opt_level)},
    {"unfused", BOOL, PLAN(unfused)},
    {"verify", BOOL, PLAN(verify)},
    {"cache", TEXT, PLAN(cache)},
};

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

static int entry_read(const core_entry *entry, PyObject *value, char *to) {
    int64_t whole = 0;
    double real = 0;
    const char *text = NULL;
    if (entry->field == TEXT) {
        if (text_read(value, &text)) return -1;
        memcpy(to, &text, sizeof text);
        return 0;
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
    if (entry->field == INT || entry->field == BYTES) memcpy(to, &whole, sizeof whole);
    if (entry->field == REAL) memcpy(to, &real, sizeof real);
    return 0;
}

static int memory_read(PyObject *value, ebb_memory_mode *out) {
    static const char *const names[] = {[EBB_MEMORY_NONE] = "none",
                                        [EBB_MEMORY_IN_PLACE] = "in_place",
                                        [EBB_MEMORY_MEGENGINE] = "sublinear",
                                        [EBB_MEMORY_BUDGET] = "budget"};
    const char *text;
    if (text_read(value, &text)) return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = (ebb_memory_mode)i;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "memory is \"none\", \"in_place\", \"sublinear\" or \"budget\", not %R",
                 value);
    return -1;
}

/* MegEngine's environment variables override what the program says. */
static int sublinear_finish(ebb_sublinear_config *config) {
    ebb_status status =
        ebb_sublinear_config_from_env(core.env, (const char *(*)(const char *))getenv, config);
    if (!status) status = ebb_sublinear_config_check(core.env, config);
    if (status) core_raise(status);
    return status ? -1 : 0;
}

int core_trace_options_read(PyObject *dict, ebb_trace_options *out) {
    Py_ssize_t at = 0, n_known = 0;
    PyObject *value = PyDict_GetItemString(dict, "memory");
    ebb_trace_options_init(out);
    if (value) n_known++;
    if (value && memory_read(value, &out->plan.memory)) return -1;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        value = PyDict_GetItemString(dict, entries[i].name);
        if (!value) continue;
        n_known++;
        if (entry_read(&entries[i], value, (char *)out + entries[i].offset)) return -1;
    }
    if (n_known != PyDict_Size(dict)) {
        PyObject *key = NULL;
        while (PyDict_Next(dict, &at, &key, &value)) {
            bool known = PyUnicode_CompareWithASCIIString(key, "memory") == 0;
            for (size_t i = 0; !known && i < sizeof entries / sizeof *entries; i++)
                known = PyUnicode_CompareWithASCIIString(key, entries[i].name) == 0;
            if (!known) break;
        }
        PyErr_Format(PyExc_TypeError, "a trace has no option %R", key);
        return -1;
    }
    return sublinear_finish(&out->plan.sublinear);
}
