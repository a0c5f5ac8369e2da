/* pjrt: a plugin that compiles and runs programs of XLA, opened by dlopen: nothing is linked to XLA, and
 * none of its headers is needed to build this.
 *
 *     find     EBB_PJRT_PLUGIN, else the packages that are known to hold a plugin
 *     open     the table of its functions, its version, a client and its first device
 *     compile  text of StableHLO -> an executable, and what memory it says it takes
 *     run      buffers in, buffers out
 *
 * It knows nothing of graphs and plans. A plugin stays in the process once it is opened: it has threads.
 *
 * Errors: EBB_UNAVAILABLE: no plugin, another library, or one of another version; EBB_DEVICE: the plugin
 * refused or failed, with its words; EBB_NO_MEMORY: its own memory is out.
 */
#ifndef EBB_XLA_PJRT_PJRT_H
#define EBB_XLA_PJRT_PJRT_H

#include "base/base.h"

typedef struct ebb_pjrt ebb_pjrt;                 /* an open plugin */
typedef struct ebb_pjrt_program ebb_pjrt_program; /* compiled, and loaded where there is a device */
typedef struct ebb_pjrt_buffer ebb_pjrt_buffer;   /* a tensor of the plugin's; its own type */

#define EBB_PJRT_PATH 1024
/* The plugin's file. EBB_UNAVAILABLE: there is none; the error says where it was looked for. */
EBB_CHECKED ebb_status ebb_pjrt_find(ebb_env *env, char path[EBB_PJRT_PATH]);

typedef struct ebb_pjrt_facts {
    int major, minor;  /* of the API */
    char platform[32]; /* "cpu"; "" without a device */
} ebb_pjrt_facts;

/* What a file is, without making a client of it. */
EBB_CHECKED ebb_status ebb_pjrt_look(ebb_env *env, const char *path, ebb_pjrt_facts *out);
/* With a client, on its first device. The caller's. */
EBB_CHECKED ebb_status ebb_pjrt_open(ebb_env *env, const char *path, ebb_pjrt **out);
/* Without one: programs are compiled for the described device (the text of a GpuTargetConfigProto) and
 * cannot be run. */
EBB_CHECKED ebb_status ebb_pjrt_open_described(ebb_env *env, const char *path, const char *target,
                                               ebb_pjrt **out);
void ebb_pjrt_close(ebb_pjrt *plugin); /* after its programs and buffers; NULL is allowed */
const ebb_pjrt_facts *ebb_pjrt_facts_of(const ebb_pjrt *plugin);

/* Bytes as the compiler counts them. alias: of the outputs, those that lie in donated arguments. */
typedef struct ebb_pjrt_memory {
    int64_t arguments, outputs, alias, temp, code;
} ebb_pjrt_memory;

EBB_CHECKED ebb_status ebb_pjrt_compile(ebb_pjrt *plugin, const char *text, size_t n,
                                        ebb_pjrt_program **out);
void ebb_pjrt_program_destroy(ebb_pjrt_program *program); /* NULL is allowed */
const ebb_pjrt_memory *ebb_pjrt_program_memory(const ebb_pjrt_program *program);
uint32_t ebb_pjrt_program_n_outputs(const ebb_pjrt_program *program);

/* Of an element, as the API counts its types. */
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

/* A copy of dense, row-major data. The caller's. */
EBB_CHECKED ebb_status ebb_pjrt_buffer_make(ebb_pjrt *plugin, ebb_pjrt_type type, const int64_t *dims,
                                            uint32_t rank, const void *data, ebb_pjrt_buffer **out);
void ebb_pjrt_buffer_destroy(ebb_pjrt *plugin, ebb_pjrt_buffer *buffer); /* NULL is allowed */
/* All of it, `bytes` long, row-major. */
EBB_CHECKED ebb_status ebb_pjrt_buffer_read(ebb_pjrt *plugin, ebb_pjrt_buffer *buffer, void *to,
                                            int64_t bytes);

/* Runs to the end. Outputs are the caller's; arguments that the text donates are spent, but still to be
 * destroyed. After an error there are no outputs, and donated arguments may be spent. */
EBB_CHECKED ebb_status ebb_pjrt_run(ebb_pjrt_program *program, ebb_pjrt_buffer *const *arguments,
                                    uint32_t n_arguments, ebb_pjrt_buffer **outputs);

#endif
