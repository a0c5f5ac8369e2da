/* replan: the room that a device has, and the budget that follows from it. */
#include "tool/commands/run/run.h"

#include <stdio.h>

/* Kernels of libraries come to the device when they are first run. */
#define RESERVE_BYTES (INT64_C(256) << 20)

static ebb_status set_budget(tool *t, int64_t room, const char *why, ebb_options *options) {
    const bool given = options->memory == EBB_MEMORY_BUDGET;
    if (room <= 0) return tool_fail(t, EBB_NO_MEMORY, "%s: nothing of it is left beside the reserve", why);
    if (given && options->budget_bytes <= room)
        return tool_fail(t, EBB_NO_MEMORY, "%s: a budget of less than %lld bytes is needed", why,
                         (long long)options->budget_bytes);
    options->memory = EBB_MEMORY_BUDGET;
    options->budget_bytes = room;
    fprintf(stderr, "ebb: %s\nebb: planning again within %lld bytes\n", why, (long long)room);
    return EBB_OK;
}

ebb_status replan(tool *t, const ebb_engine *engine, ebb_status compiled, ebb_options *options,
                  bool *again) {
    const int64_t reserve = t->args.reserve_bytes >= 0 ? t->args.reserve_bytes : RESERVE_BYTES;
    ebb_memory_facts f;
    char why[1024];
    *again = false;
    /* Without an engine it is the host's memory that lacked. */
    if (!engine || (compiled != EBB_OK && compiled != EBB_NO_MEMORY)) return compiled;
    snprintf(why, sizeof why, "%s", ebb_env_error(t->env));
    ebb_status status = ebb_engine_memory(engine, &f);
    if (status != EBB_OK) return status;
    if (compiled == EBB_OK && f.free_bytes >= reserve) return EBB_OK;
    if (compiled == EBB_OK)
        snprintf(why, sizeof why, "the plan leaves %lld bytes of the device free, the reserve is %lld",
                 (long long)f.free_bytes, (long long)reserve);
    status = set_budget(t, f.free_bytes + ebb_engine_block_bytes(engine) - reserve, why, options);
    *again = status == EBB_OK;
    return status;
}
