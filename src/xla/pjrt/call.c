/* xla/pjrt/call.c: calls of a plugin's functions, and their errors as ours. */
#include "xla/pjrt/plugin.h"

typedef pjrt_error *function(void *args);

static function *function_at(const ebb_pjrt *plugin, int place) {
    function *f;
    memcpy(&f, &plugin->api->function[place], sizeof f);
    return f;
}

/* The first line of the plugin's words; those behind it are stacks and advice for others. */
static ebb_status refused(ebb_pjrt *plugin, const char *what, pjrt_error *error) {
    enum { WORDS = 400 };
    pjrt_message message = {.bytes = sizeof message, .error = error};
    pjrt_code code = {.bytes = sizeof code, .error = error};
    (void)function_at(plugin, PJRT_ERROR_MESSAGE)(&message);
    pjrt_error *none = function_at(plugin, PJRT_ERROR_CODE)(&code);
    pjrt_drop(plugin, PJRT_ERROR_DESTROY, none);
    size_t n = 0;
    while (n < message.n && n < WORDS && message.text[n] != '\n') n++;
    const ebb_status status = code.code == PJRT_CODE_EXHAUSTED ? EBB_NO_MEMORY : EBB_DEVICE;
    const ebb_status failed = ebb_fail(plugin->env, status, "backend xla: the plugin cannot %s: %.*s", what,
                                       (int)n, message.text ? message.text : "");
    pjrt_drop(plugin, PJRT_ERROR_DESTROY, error);
    return failed;
}

ebb_status pjrt_call(ebb_pjrt *plugin, const char *what, int place, void *args) {
    pjrt_error *error = function_at(plugin, place)(args);
    return error ? refused(plugin, what, error) : EBB_OK;
}

void pjrt_drop(ebb_pjrt *plugin, int place, void *object) {
    pjrt_object args = {.bytes = sizeof args, .object = object};
    if (!object) return;
    pjrt_error *error = function_at(plugin, place)(&args);
    /* What destroys errors returns nothing. */
    if (place != PJRT_ERROR_DESTROY && error) pjrt_drop(plugin, PJRT_ERROR_DESTROY, error);
}

ebb_status pjrt_wait(ebb_pjrt *plugin, const char *what, pjrt_event *event) {
    pjrt_object args = {.object = event};
    if (!event) return EBB_OK;
    const ebb_status status = PJRT_CALL(plugin, what, PJRT_EVENT_AWAIT, &args);
    pjrt_drop(plugin, PJRT_EVENT_DESTROY, event);
    return status;
}
