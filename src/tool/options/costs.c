/* costs: whose times a plan is made with. */
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An empty variable counts as not set. */
const char *tool_cache_folder(const tool_args *args) {
    const char *variable = getenv("EBB_CACHE");
    if (args->cache) return args->cache;
    return variable && *variable != '\0' ? variable : NULL;
}

/* The cache's folder, else that of the XDG base directory specification. Folders above it are there on any
 * system that people work on. */
static ebb_status read_host(tool *t, ebb_options *out) {
    char path[PATH_MAX];
    const char *folder = out->cache, *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool named = base && *base == '/';
    if (!folder && !named && !(home && *home))
        return tool_fail(t, EBB_USAGE,
                         "--costs host is kept in a folder: name one with --cache, or set HOME");
    if (!folder) {
        const int n = snprintf(path, sizeof path, "%s%s/ebb", named ? base : home, named ? "" : "/.cache");
        if (n < 0 || (size_t)n >= sizeof path)
            return tool_fail(t, EBB_USAGE,
                             "HOME or XDG_CACHE_HOME is too long: name a folder with --cache");
        folder = path;
    }
    ebb_costs_destroy(t->costs);
    t->costs = NULL;
    ebb_status status = ebb_measure_host(t->env, out, folder, &t->costs);
    out->costs = t->costs;
    if (status == EBB_OK) tool_note_busy(t->costs, "its times are not kept");
    return status;
}

/* Times of a machine that does other work too predict no quiet one's. */
void tool_note_busy(const ebb_costs *costs, const char *advice) {
    ebb_costs_summary s;
    ebb_costs_summarize(costs, &s);
    const double ratio = s.least_ns > 0 ? (double)s.median_ns / (double)s.least_ns : 1;
    if (ratio > 1.3)
        fprintf(stderr, "ebb: the medians are %.1f times the shortest times: this machine was busy; %s\n",
                ratio, advice);
}

ebb_status tool_calibration_path(const tool *t, const ebb_options *options, const char *folder, char *path,
                                 size_t size) {
    const char *backend = options->direct_conv ? "cpu direct-conv" : options->device;
    return ebb_costs_path(t->env, folder, backend, options->n_threads, path, size);
}

/* `machine` is the calibration in the cache's folder, `host` a look at this machine; files of these names
 * are ./machine,
 * ./host. */
ebb_status tool_costs_read(tool *t, ebb_options *out) {
    char machine[PATH_MAX];
    const char *path = t->args.costs, *folder = out->cache;
    if (!path) return EBB_OK;
    if (strcmp(path, "host") == 0) return read_host(t, out);
    if (strcmp(path, "machine") == 0) {
        if (!folder)
            return tool_fail(
                t, EBB_USAGE,
                "--costs machine is a calibration in the cache's folder: name it with --cache, "
                "or a costs file itself");
        ebb_status status = tool_calibration_path(t, out, folder, machine, sizeof machine);
        if (status != EBB_OK) return status;
        if (access(machine, F_OK) != 0)
            return tool_fail(t, EBB_USAGE,
                             "this machine is not calibrated for these threads (no %.300s): run `ebb bench "
                             "--calibrate --cache %.200s%s` first",
                             machine, folder, out->direct_conv ? " --direct-conv" : "");
        path = machine;
    }
    ebb_costs_destroy(t->costs);
    t->costs = NULL;
    ebb_status status = ebb_costs_read(t->env, path, &t->costs);
    out->costs = t->costs;
    return status;
}

tool_costs_text tool_costs_line(const ebb_plan_summary *s) {
    tool_costs_text line;
    char machine[100];
    out_clean(machine, sizeof machine, s->costs_machine);
    snprintf(line.text, sizeof line.text,
             "%lld ops measured, %lld by lines fitted to measurements, %lld by the built-in model (%s)",
             (long long)s->n_measured, (long long)s->n_calibrated, (long long)s->n_built_in, machine);
    return line;
}

void tool_note_costs(const tool *t, const ebb_plan *plan) {
    ebb_plan_summary summary;
    ebb_costs_summary costs;
    if (!t->costs || !plan) return;
    ebb_plan_summarize(plan, &summary);
    ebb_costs_summarize(t->costs, &costs);
    fprintf(stderr, "ebb: costs: %s%s\n", tool_costs_line(&summary).text,
            costs.this_machine ? "" : ": another machine than this one");
}
