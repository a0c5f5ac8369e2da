/* pjrt: opens a plugin that compiles and runs XLA programs, by dlopen: nothing links XLA, and the build
 * needs none of its headers.
 *
 *     find     EBB_PJRT_PLUGIN, else known packages that have a plugin
 *     open     the table of its functions, its version, a client and its first device
 *     compile  text of StableHLO -> an executable, and its memory use
 *     run      buffers in, buffers out
 *
 * It knows nothing of graphs and plans. A plugin is never unloaded, because it has threads.
 *
 * Errors: EBB_UNAVAILABLE: no plugin, another library, or one of another version; EBB_DEVICE: the plugin
 * refused or failed, with its message; EBB_NO_MEMORY: its own memory is out.
 */
#ifndef EBB_XLA_PJRT_PJRT_H
#define EBB_XLA_PJRT_PJRT_H

#include "base/base.h"

typedef struct ebb_pjrt ebb_pjrt;                 /* an open plugin */
typedef struct ebb_pjrt_program ebb_pjrt_program; /* compiled, and loaded if there is a device */
typedef struct ebb_pjrt_buffer ebb_pjrt_buffer;   /* a plugin's tensor; opaque */

#define EBB_PJRT_PATH 1024
/* Finds the plugin's file. EBB_UNAVAILABLE: there is none; the error lists the searched places. */
EBB_CHECKED ebb_status ebb_pjrt_find(ebb_env *env, char path[EBB_PJRT_PATH]);

typedef struct ebb_pjrt_facts {
    int major, minor;  /* of the API */
    char platform[32]; /* "cpu"; "" without a device */
} ebb_pjrt_facts;

/* Reads a plugin's facts, without making a client. */
EBB_CHECKED ebb_status ebb_pjrt_look(ebb_env *env, const char *path, ebb_pjrt_facts *out);
/* Opens a plugin with a client, on its first device. The caller owns it. */
EBB_CHECKED ebb_status ebb_pjrt_open(ebb_env *env, const char *path, ebb_pjrt **out);
/* Opens a plugin without a client: programs are compiled for the described device (the text of a
 * GpuTargetConfigProto) and cannot be run. */
EBB_CHECKED ebb_status ebb_pjrt_open_described(ebb_env *env, const char *path, const char *target,
                                               ebb_pjrt **out);
void ebb_pjrt_close(ebb_pjrt *plugin); /* after its programs and buffers; NULL is allowed */
const ebb_pjrt_facts *ebb_pjrt_facts_of(const ebb_pjrt *plugin);

/* Bytes as counted by the compiler. alias: the outputs placed in donated arguments. */
typedef struct ebb_pjrt_memory {
    int64_t arguments, outputs, alias, temp, code;
} ebb_pjrt_memory;

EBB_CHECKED ebb_status ebb_pjrt_compile(ebb_pjrt *plugin, const char *text, size_t n,
                                        ebb_pjrt_program **out);
void ebb_pjrt_program_destroy(ebb_pjrt_program *program); /* NULL is allowed */
const ebb_pjrt_memory *ebb_pjrt_program_memory(const ebb_pjrt_program *program);
uint32_t ebb_pjrt_program_n_outputs(const ebb_pjrt_program *program);

/* An element's type, with the API's numbers. */
typedef enum ebb_pjrt_type {
    EBB_PJRT_PRED = 1,
    EBB_PJRT_S8 = 2,
    EBB_PJRT_S16 = 3,
    EBB_PJRT_S32 = 4,
    EBB_PJRT_U8 = 6,
    EBB_PJRT_U64 = 9,
    EBB_PJRT_F16 = 10,
    EBB_PJRT_F32 = 11,
    EBB_PJRT_F64 = 12,
    EBB_PJRT_BF16 = 13
} ebb_pjrt_type;

/* Makes a buffer from a copy of dense, row-major data. The caller owns it. */
EBB_CHECKED ebb_status ebb_pjrt_buffer_make(ebb_pjrt *plugin, ebb_pjrt_type type, const int64_t *dims,
                                            uint32_t rank, const void *data, ebb_pjrt_buffer **out);
void ebb_pjrt_buffer_destroy(ebb_pjrt *plugin, ebb_pjrt_buffer *buffer); /* NULL is allowed */
/* Reads the whole buffer, `bytes` long, row-major. */
EBB_CHECKED ebb_status ebb_pjrt_buffer_read(ebb_pjrt *plugin, ebb_pjrt_buffer *buffer, void *to,
                                            int64_t bytes);

/* Runs a program and waits for it. The caller owns the outputs; arguments that the text donates are spent,
 * but must still be destroyed. After an error there are no outputs, and donated arguments may be spent. */
EBB_CHECKED ebb_status ebb_pjrt_run(ebb_pjrt_program *program, ebb_pjrt_buffer *const *arguments,
                                    uint32_t n_arguments, ebb_pjrt_buffer **outputs);

#endif
