/* exec/module.h: loads backends from their own shared objects, so that nothing else links their libraries.
 * They are opened when one of their devices is requested, and stay open until the process ends.
 *
 *     libebb.so                      libebb_<name>.so
 *     ebb_module_find("cuda") --->   const ebb_module ebb_module_<name>    (module_head, its table)
 *
 * Both sides use each other's structs, so both must be of one build: the module states its version, ops and
 * sizes, and one that differs is refused.
 */
#ifndef EBB_EXEC_MODULE_H
#define EBB_EXEC_MODULE_H

#include "exec/backend.h"
#include "graph/op.h"

/* The interface: the sizes of its structs, and every op in order. */
#define EBB_MODULE_SIZES                                                                          \
    {                                                                                             \
        sizeof(ebb_backend_api), sizeof(ebb_backend), sizeof(ebb_backend_options),                \
            sizeof(ebb_memory_facts), sizeof(ebb_op_facts), sizeof(ebb_call), sizeof(ebb_launch), \
            sizeof(ebb_run), sizeof(ebb_type), sizeof(ebb_attr), sizeof(ebb_op_info),             \
            sizeof(ebb_env_options)                                                               \
    }
enum { EBB_MODULE_N_SIZES = 12 };

typedef struct ebb_module {
    size_t bytes; /* of this struct; first */
    const char *version;
    const char *ops; /* "conv2d conv2d_dgrad ..." */
    size_t sizes[EBB_MODULE_N_SIZES];
    const ebb_backend_api *api;
} ebb_module;

/* A module's one exported object: EBB_MODULE_DEFINE(cuda, &ebb_backend_cuda); */
#define EBB_MODULE_DEFINE(name, table)                                 \
    extern EBB_API const ebb_module ebb_module_##name;                 \
    const ebb_module ebb_module_##name = {.bytes = sizeof(ebb_module), \
                                          .version = EBB_VERSION,      \
                                          .ops = ebb_module_ops,       \
                                          .sizes = EBB_MODULE_SIZES,   \
                                          .api = (table)}

static const char ebb_module_ops[] =
#define EBB_OP(name, family) #name " "
#include "graph/ops.def"
    ;

/* Gets the backend of libebb_<name>.so, searched for beside this library, then where the loader looks; the
 * variable EBB_<NAME>_MODULE names another file, and only that is then tried. EBB_UNAVAILABLE: there is
 * none, the loader cannot open it (with its message, such as a missing library), or it is of another build.
 * Never closed. */
EBB_CHECKED ebb_status ebb_module_find(ebb_env *env, const char *name, const ebb_backend_api **out);
/* Opens libebb_<name>.so itself, found the same way, for modules that are not backends; `of` begins the
 * error texts: "jit MLIR".
 */
EBB_CHECKED ebb_status ebb_module_open(ebb_env *env, const char *of, const char *name, void **library);

#endif
