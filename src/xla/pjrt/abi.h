/* xla/pjrt/abi.h: declares the parts of the PJRT C API that we use, by its layout at version 0.81, which is
 * the same at 0.115 and 0.116. Private to the folder.
 *
 * The API is a table of functions that only grows; each takes one struct, whose first member is its own
 * size. Later versions add members at a struct's end and read them as far as that size says, so every
 * struct here has zeroed room after the known members, which means "not given" in all versions. */
#ifndef EBB_XLA_PJRT_ABI_H
#define EBB_XLA_PJRT_ABI_H

#include "xla/pjrt/pjrt.h"

typedef struct pjrt_error pjrt_error;
typedef struct pjrt_event pjrt_event;
typedef struct pjrt_client pjrt_client;
typedef struct pjrt_device pjrt_device;
typedef struct pjrt_loaded pjrt_loaded;
typedef struct pjrt_executable pjrt_executable;

/* Places in the table, after its head. */
enum {
    PJRT_ERROR_DESTROY = 0,
    PJRT_ERROR_MESSAGE = 1,
    PJRT_ERROR_CODE = 2,
    PJRT_PLUGIN_INITIALIZE = 3,
    PJRT_EVENT_DESTROY = 5,
    PJRT_EVENT_AWAIT = 8,
    PJRT_CLIENT_CREATE = 10,
    PJRT_CLIENT_DESTROY = 11,
    PJRT_CLIENT_PLATFORM = 12,
    PJRT_CLIENT_DEVICES = 16, /* those that this process may use */
    PJRT_CLIENT_COMPILE = 20,
    PJRT_BUFFER_FROM_HOST = 22,
    PJRT_EXECUTABLE_DESTROY = 40,
    PJRT_EXECUTABLE_N_OUTPUTS = 44,
    PJRT_LOADED_DESTROY = 50,
    PJRT_LOADED_EXECUTABLE = 51,
    PJRT_LOADED_EXECUTE = 55,
    PJRT_BUFFER_DESTROY = 58,
    PJRT_BUFFER_TO_HOST = 70,
    PJRT_TOPOLOGY_CREATE = 82,
    PJRT_TOPOLOGY_DESTROY = 83,
    PJRT_COMPILE = 89,
    PJRT_EXECUTABLE_MEMORY = 96,
    PJRT_N_FUNCTIONS /* that a table must have */
};

typedef struct pjrt_api {
    size_t bytes;
    void *extensions;
    struct {
        size_t bytes;
        void *extensions;
        int major, minor;
    } version;
    void *function[]; /* all are pjrt_error *(*)(void *), except the first two, which return nothing */
} pjrt_api;

enum { PJRT_ROOM = 8 };
#define PJRT_ARGS(...)         \
    struct {                   \
        size_t bytes;          \
        void *extensions;      \
        __VA_ARGS__            \
        void *room[PJRT_ROOM]; \
    }

typedef PJRT_ARGS(void *object;) pjrt_object; /* destroy, await, initialize (object NULL) */
typedef PJRT_ARGS(const pjrt_error *error; const char *text; size_t n;) pjrt_message;
typedef PJRT_ARGS(const pjrt_error *error; int code;) pjrt_code;
enum { PJRT_CODE_EXHAUSTED = 8 };

typedef struct pjrt_named {
    size_t bytes;
    void *extensions;
    const char *name;
    size_t n_name;
    int type; /* 0: text, 1: an integer, 4: a truth */
    union {
        const char *text;
        int64_t whole;
        bool truth;
    } value;
    size_t n_value; /* a text's bytes, else 1 */
} pjrt_named;

typedef PJRT_ARGS(const pjrt_named *options; size_t n_options; void *get, *get_arg, *put, *put_arg;
                  pjrt_client * client; void *try_get, *try_get_arg;) pjrt_client_create;
typedef PJRT_ARGS(pjrt_client *client; const char *name; size_t n;) pjrt_platform;
typedef PJRT_ARGS(pjrt_client *client; pjrt_device *const *at; size_t n;) pjrt_devices;

typedef PJRT_ARGS(char *code; size_t n_code; const char *format; size_t n_format;) pjrt_program;
typedef PJRT_ARGS(pjrt_client *client; const pjrt_program *program; const char *options; size_t n_options;
                  pjrt_loaded * loaded;) pjrt_client_compile;
typedef PJRT_ARGS(const void *topology; const pjrt_program *program; const char *options; size_t n_options;
                  pjrt_client * client; pjrt_executable * executable;) pjrt_compile;
typedef PJRT_ARGS(const char *name; size_t n_name; const pjrt_named *options; size_t n_options;
                  void *topology;) pjrt_topology;
typedef PJRT_ARGS(pjrt_loaded *loaded; pjrt_executable * executable;) pjrt_of_loaded;
typedef PJRT_ARGS(pjrt_executable *executable; size_t n;) pjrt_n_outputs;
typedef PJRT_ARGS(pjrt_executable *executable; int64_t code, arguments, outputs, alias, temp;
                  int64_t host[5]; int64_t peak;) pjrt_memory;

typedef PJRT_ARGS(pjrt_client *client; const void *data; int type; const int64_t *dims; size_t n_dims;
                  const int64_t *strides; size_t n_strides; int semantics; pjrt_device * device;
                  void *memory, *layout; pjrt_event * done; ebb_pjrt_buffer * buffer;) pjrt_from_host;
enum { PJRT_ONLY_DURING_CALL = 0 };
typedef PJRT_ARGS(ebb_pjrt_buffer *from; void *layout; void *to; size_t n;
                  pjrt_event * event;) pjrt_to_host;

typedef PJRT_ARGS(void *send, *receive; size_t n_send, n_receive; int launch; const int64_t *kept;
                  size_t n_kept; void *context;) pjrt_execute_options;
typedef PJRT_ARGS(pjrt_loaded *loaded; pjrt_execute_options * options;
                  ebb_pjrt_buffer *const *const *arguments; size_t n_devices, n_arguments;
                  ebb_pjrt_buffer * *const *outputs; pjrt_event * *events;
                  pjrt_device * device;) pjrt_execute;

#endif
