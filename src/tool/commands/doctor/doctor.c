/* ebb doctor: what this build and this machine offer. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "tool/commands/commands.h"
#include "tool/commands/doctor/doctor.h"
#include "tool/out/out.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct machine {
    int64_t n_processors, n_usable;      /* of the machine; that this process may run on */
    int64_t memory_bytes, address_bytes; /* physical; limit of the address space, -1: none */
    char allocator[EBB_ALLOCATOR_TEXT];
    char quota[64];                      /* the control group's processors, "" when there is no limit */
    const char *omp_threads, *omp_limit; /* environment variables or NULL */
} machine;

static void read_quota(char *out, size_t size) {
    char text[64] = "";
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    out[0] = '\0';
    if (!file) return;
    if (fgets(text, sizeof text, file) && strncmp(text, "max", 3) != 0) {
        char *end = NULL;
        double quota = strtod(text, &end), period = strtod(end, NULL);
        if (period > 0) snprintf(out, size, "%.2f", quota / period);
    }
    fclose(file);
}

static void look(machine *m) {
    cpu_set_t set;
    struct rlimit limit;
    *m = (machine){.n_processors = sysconf(_SC_NPROCESSORS_ONLN), .address_bytes = -1};
    m->n_usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : m->n_processors;
    m->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        m->address_bytes = (int64_t)limit.rlim_cur;
    read_quota(m->quota, sizeof m->quota);
    m->omp_threads = getenv("OMP_NUM_THREADS");
    m->omp_limit = getenv("OMP_THREAD_LIMIT");
}

/* How what is said of XLA begins. */
#define XLA "backend xla: "

static void print_text(tool *t, const machine *m) {
    bool available = false;
    const char *why = NULL, *name, *device;
    printf("ebb %s\nallocator        %s\n", ebb_version(), m->allocator);
    printf("processors       %lld of %lld usable\n", (long long)m->n_usable, (long long)m->n_processors);
    printf("processor quota  %s\n", m->quota[0] != '\0' ? m->quota : "none");
    printf("OMP_NUM_THREADS  %s\nOMP_THREAD_LIMIT %s\n", m->omp_threads ? m->omp_threads : "not set",
           m->omp_limit ? m->omp_limit : "not set");
    printf("memory           %s\n", out_bytes(m->memory_bytes).text);
    printf("address space    %s\n", m->address_bytes >= 0 ? out_bytes(m->address_bytes).text : "no limit");
    for (uint32_t i = 0; (name = ebb_device_at(t->env, i, &available, &why)) != NULL; i++)
        printf("device %-9s %s%s%s\n", name, available ? "available" : "not available",
               why && *why != '\0' ? ": " : "", why ? why : "");
    char what[EBB_EMITTER_WHAT];
    for (uint32_t i = 0; (name = ebb_emitter_at(t->env, i, &device, &available, what)) != NULL; i++)
        printf("jit %-7s %-4s %s%s%s\n", name, device, available ? "available" : "not available",
               *what ? ": " : "", what);
    char plugin[EBB_XLA_WHAT];
    available = ebb_xla_here(t->env, plugin);
    why = strncmp(plugin, XLA, strlen(XLA)) == 0 ? plugin + strlen(XLA)
                                                 : plugin; /* the row says it already */
    printf("backend xla      %s: %s\n", available ? "available" : "not available", why);
    for (uint32_t i = 0; (name = ebb_data_format_at(i, &available, &why)) != NULL; i++)
        printf("data %-11s %s%s%s\n", name, available ? "available" : "not available", why ? ": " : "",
               why ? why : "");
}

static ebb_status print_json(tool *t, const machine *m) {
    out_json json;
    bool available = false;
    const char *why = NULL, *name, *device;
    out_json_begin(&json, "ebb.doctor/1");
    out_text(&json, "version", ebb_version());
    out_text(&json, "allocator", m->allocator);
    out_integer(&json, "n_processors", m->n_processors);
    out_integer(&json, "n_usable_processors", m->n_usable);
    out_text(&json, "processor_quota", m->quota[0] != '\0' ? m->quota : NULL);
    out_text(&json, "omp_num_threads", m->omp_threads);
    out_text(&json, "omp_thread_limit", m->omp_limit);
    out_integer(&json, "memory_bytes", m->memory_bytes);
    if (m->address_bytes >= 0)
        out_integer(&json, "address_space_bytes", m->address_bytes);
    else
        out_text(&json, "address_space_bytes", NULL);
    out_open(&json, "devices", '[');
    for (uint32_t i = 0; (name = ebb_device_at(t->env, i, &available, &why)) != NULL; i++) {
        out_open(&json, NULL, '{');
        out_text(&json, "name", name);
        out_bool(&json, "available", available);
        out_text(&json, "why", why && *why != '\0' ? why : NULL);
        out_close(&json, '}');
    }
    out_close(&json, ']');
    out_open(&json, "data_formats", '[');
    for (uint32_t i = 0; (name = ebb_data_format_at(i, &available, &why)) != NULL; i++) {
        out_open(&json, NULL, '{');
        out_text(&json, "name", name);
        out_bool(&json, "available", available);
        out_text(&json, "why", why);
        out_close(&json, '}');
    }
    out_close(&json, ']');
    char what[EBB_EMITTER_WHAT];
    out_open(&json, "emitters", '[');
    for (uint32_t i = 0; (name = ebb_emitter_at(t->env, i, &device, &available, what)) != NULL; i++) {
        out_open(&json, NULL, '{');
        out_text(&json, "name", name);
        out_text(&json, "device", device);
        out_bool(&json, "available", available);
        out_text(&json, available ? "version" : "why", *what ? what : NULL);
        out_close(&json, '}');
    }
    out_close(&json, ']');
    char plugin[EBB_XLA_WHAT];
    out_open(&json, "xla", '{');
    out_bool(&json, "available", available = ebb_xla_here(t->env, plugin));
    out_text(&json, available ? "plugin" : "why", plugin);
    out_close(&json, '}');
    return out_json_end(t, &json);
}

ebb_status tool_doctor(tool *t) {
    machine m;
    ebb_status status = EBB_OK;
    if (t->args.full) return conformance_print(t);
    if (t->args.device || t->args.threads > 0 || t->args.tf32 || t->args.direct_conv || t->args.only.n > 0)
        return tool_fail(
            t, EBB_USAGE,
            "--device, --op, --threads, --tf32 and --direct-conv say what --full tries: add it");
    look(&m);
    ebb_env_allocator(t->env, m.allocator);
    if (t->args.json || t->args.output) status = print_json(t, &m);
    if (status == EBB_OK && !t->args.json) print_text(t, &m);
    return status;
}
