/* budget: the bytes that plans may take, and where that number comes from. */
#include "tool/commands/fit/fit.h"
#include "tool/out/out.h"

#include <string.h>

ebb_status tool_fit_budget_find(tool *t, tool_fit_budget *out) {
    tool_args *args = &t->args;
    *out = (tool_fit_budget){.reserve_bytes = args->reserve_bytes > 0 ? args->reserve_bytes : 0};
    bool described = ebb_device_is_file(args->device);
    out->stated = args->budget_bytes >= 0;
    if (!described && args->budget_bytes < 0)
        return tool_fail(
            t, EBB_USAGE,
            "fit needs --budget or a device's description: write --budget 11GiB, or --device gpu.json");
    int64_t all = args->budget_bytes;
    if (described) {
        ebb_status status = ebb_device_memory_read(t->env, args->device, &out->device);
        if (status != EBB_OK) return status;
        if (!out->stated) all = out->device.memory_bytes - out->device.context_bytes;
        if (!out->device.computes)
            args->device = NULL; /* its memory is all that is known: planned for the default backend */
    }
    out->bytes = all - out->reserve_bytes;
    if (out->bytes > 0) return EBB_OK;
    return tool_fail(t, EBB_USAGE, "--reserve of %lld bytes leaves nothing of %lld: reserve less",
                     (long long)out->reserve_bytes, (long long)all);
}

void tool_fit_budget_print(const tool_fit_budget *b) {
    if (b->device.memory_bytes > 0 && !b->stated) {
        out_safe(stdout, b->device.name);
        printf(": %s, less %s of context", out_bytes(b->device.memory_bytes).text,
               out_bytes(b->device.context_bytes).text);
        printf("%s%s%s\n", b->reserve_bytes > 0 ? " and " : "",
               b->reserve_bytes > 0 ? out_bytes(b->reserve_bytes).text : "",
               b->reserve_bytes > 0 ? " in reserve" : "");
        return;
    }
    if (b->device.memory_bytes > 0) {
        out_safe(stdout, b->device.name);
        printf(", but --budget says how much there is\n");
    }
    if (b->reserve_bytes > 0) printf("%s kept in reserve\n", out_bytes(b->reserve_bytes).text);
}

void tool_fit_times_print(const tool_fit_budget *b, const char *backend) {
    if (b->device.memory_bytes > 0 && !b->device.computes)
        printf("\ntimes are predicted for the backend %s on a machine like this one, not for the device\n",
               backend);
}

void tool_fit_budget_json(out_json *json, const tool_fit_budget *b) {
    out_integer(json, "budget_bytes", b->bytes);
    out_integer(json, "reserve_bytes", b->reserve_bytes);
    if (b->device.memory_bytes == 0) {
        out_text(json, "device", NULL);
        return;
    }
    out_open(json, "device", '{');
    out_text(json, "name", b->device.name);
    out_integer(json, "memory_bytes", b->device.memory_bytes);
    out_integer(json, "context_bytes", b->device.context_bytes);
    out_close(json, '}');
}

out_word tool_fit_rate(int64_t n, int64_t time_ns) {
    out_word word = out_time(time_ns);
    size_t used = strlen(word.text);
    double per_s = time_ns > 0 ? (double)n * 1e9 / (double)time_ns : 0;
    if (time_ns > 0)
        snprintf(word.text + used, sizeof word.text - used, per_s < 100 ? ", %.3g/s" : ", %.0f/s", per_s);
    return word;
}
