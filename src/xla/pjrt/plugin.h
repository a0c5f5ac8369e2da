/* xla/pjrt/plugin.h: defines an open plugin, and calls its functions. Private to the folder. */
#ifndef EBB_XLA_PJRT_PLUGIN_H
#define EBB_XLA_PJRT_PLUGIN_H

#include "xla/pjrt/abi.h"

struct ebb_pjrt {
    ebb_env *env;
    const pjrt_api *api;
    ebb_pjrt_facts facts;
    pjrt_client *client; /* NULL: described */
    pjrt_device *device;
    void *topology; /* described, else NULL */
};

/* Calls a function of the table with its struct, whose own size is set here. `what` begins the error:
 * "compile the step". */
#define PJRT_CALL(plugin, what, place, args) \
    ((args)->bytes = sizeof *(args), pjrt_call((plugin), (what), (place), (args)))
EBB_CHECKED ebb_status pjrt_call(ebb_pjrt *plugin, const char *what, int place, void *args);
/* Calls a function that destroys an object; its errors are ignored, as nothing could be done. NULL:
 * nothing. */
void pjrt_drop(ebb_pjrt *plugin, int place, void *object);
/* Waits for an event, and destroys it. NULL: nothing to wait for. */
EBB_CHECKED ebb_status pjrt_wait(ebb_pjrt *plugin, const char *what, pjrt_event *event);

#endif
