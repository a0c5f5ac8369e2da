/* device_memory: of devices with memory of their own, what it looks like beside what was planned. */
#include "tool/commands/run/run.h"
#include "tool/out/out.h"

void device_memory_print(const ebb_engine *engine) {
    ebb_memory_facts f;
    if (ebb_engine_memory(engine, &f) != EBB_OK) return;
    const struct {
        const char *name;
        int64_t bytes;
    } rows[] = {{"device", f.total_bytes},        {"free", f.free_bytes},
                {"context", f.context_bytes},     {"process", f.process_bytes},
                {"all taken", f.taken_bytes},     {"ballast", f.ballast_bytes},
                {"host staging", f.staging_bytes}};
    for (size_t i = 0; i < TOOL_COUNT(rows); i++) {
        if (rows[i].bytes < 0)
            printf("%-16s not known\n", rows[i].name);
        else
            printf("%-16s %lld bytes (%s)\n", rows[i].name, (long long)rows[i].bytes,
                   out_bytes(rows[i].bytes).text);
    }
    if (f.n_hidden < 0)
        printf("hidden           not watched: see --watch-memory\n");
    else
        printf("hidden           %lld bytes in %lld allocations of libraries\n", (long long)f.hidden_bytes,
               (long long)f.n_hidden);
}

void device_memory_json(out_json *json, const ebb_engine *engine) {
    ebb_memory_facts f;
    if (ebb_engine_memory(engine, &f) != EBB_OK) return;
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {{"total_bytes", f.total_bytes},     {"free_bytes", f.free_bytes},
                {"taken_bytes", f.taken_bytes},     {"process_bytes", f.process_bytes},
                {"context_bytes", f.context_bytes}, {"block_bytes", f.block_bytes},
                {"ballast_bytes", f.ballast_bytes}, {"staging_bytes", f.staging_bytes},
                {"hidden_bytes", f.hidden_bytes},   {"n_hidden", f.n_hidden}};
    out_open(json, "device_memory", '{');
    for (size_t i = 0; i < TOOL_COUNT(rows); i++) {
        if (rows[i].value >= 0)
            out_integer(json, rows[i].name, rows[i].value);
        else
            out_text(json, rows[i].name, NULL);
    }
    out_close(json, '}');
}
