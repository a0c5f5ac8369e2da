/* Plugins that are none, or that fail, by FAKE: 1 an older API, 2 of another major version, 3 a short
 * table, 4 without what a plugin shows, 5 cannot start, 6 has no client, 7 compiles nothing, 8 has no
 * memory for it, 9 compiles what has three results and runs nothing, 10 runs it and gives one result. */
#include "xla/pjrt/abi.h"

extern EBB_API const pjrt_api *GetPjrtApi(void);
extern EBB_API const int something_else;
const int something_else = 1;

#if FAKE != 4
static void *table[sizeof(pjrt_api) / sizeof(void *) + PJRT_N_FUNCTIONS]; /* a pjrt_api */

static int failure; /* what errors point to */

static void put(int place, pjrt_error *(*f)(void *)) {
    memcpy(&((pjrt_api *)(void *)table)->function[place], &f, sizeof f);
}

static pjrt_error *fine(void *args) {
    (void)args;
    return NULL;
}
static pjrt_error *fails(void *args) {
    (void)args;
    return (pjrt_error *)&failure;
}
static pjrt_error *says(void *args) {
    pjrt_message *message = args;
    message->text = "the dog ate it\nand a stack of calls";
    message->n = strlen(message->text);
    return NULL;
}
static pjrt_error *codes(void *args) {
    ((pjrt_code *)args)->code = FAKE == 8 ? PJRT_CODE_EXHAUSTED : 13;
    return NULL;
}
static pjrt_error *makes_client(void *args) {
    ((pjrt_client_create *)args)->client = (pjrt_client *)&failure;
    return NULL;
}
static pjrt_error *names(void *args) {
    ((pjrt_platform *)args)->name = "paper";
    ((pjrt_platform *)args)->n = strlen("paper");
    return NULL;
}
static pjrt_error *counts(void *args) {
    ((pjrt_n_outputs *)args)->n = 3;
    return NULL;
}
static pjrt_error *gives_one(void *args) {
    static int n;
    (void)args;
    return n++ == 0 ? NULL : fails(args);
}
static pjrt_error *lists(void *args) {
    static pjrt_device *const devices[] = {(pjrt_device *)&failure};
    ((pjrt_devices *)args)->at = devices;
    ((pjrt_devices *)args)->n = 1;
    return NULL;
}

const pjrt_api *GetPjrtApi(void) {
    for (int i = 0; i < PJRT_N_FUNCTIONS; i++) put(i, fine);
    put(PJRT_ERROR_MESSAGE, says);
    put(PJRT_ERROR_CODE, codes);
    put(PJRT_PLUGIN_INITIALIZE, FAKE == 5 ? fails : fine);
    put(PJRT_CLIENT_CREATE, FAKE == 6 ? fails : makes_client);
    put(PJRT_CLIENT_PLATFORM, names);
    put(PJRT_CLIENT_DEVICES, lists);
    put(PJRT_CLIENT_COMPILE, FAKE < 9 ? fails : fine);
    put(PJRT_EXECUTABLE_N_OUTPUTS, counts);
    put(PJRT_LOADED_EXECUTE, FAKE == 9 ? fails : fine);
    put(PJRT_BUFFER_TO_HOST, gives_one);
    pjrt_api *api = (pjrt_api *)(void *)table;
    api->bytes = offsetof(pjrt_api, function) + (FAKE == 3 ? 5 : PJRT_N_FUNCTIONS) * sizeof(void *);
    api->version.major = FAKE == 2;
    api->version.minor = FAKE == 1 ? 40 : 90;
    return api;
}
#endif
