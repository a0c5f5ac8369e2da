/* exec/module.h: backends in shared objects of their own, so that nothing else links what they need. They
 * are opened when a device of theirs is asked for, and stay for as long as the process does.
 *
 *     libebb.so                      libebb_<name>.so
 *     ebb_module_find("cuda") --->   const ebb_module ebb_module_<name>    (module_head, its table)
 *
 * Both sides see one another's structs, so both must be of one build: the module says what it was made of,
 * and one that differs is refused.
 */
#ifndef EBB_EXEC_MODULE_H
#define EBB_EXEC_MODULE_H

#include "exec/backend.h"
#include "graph/op.h"

/* What crosses the seam: sizes of its structs, and every op in order. */
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

/* The backend of libebb_<name>.so, which is looked for beside this library, then where the loader looks;
 * the variable EBB_<NAME>_MODULE names another file, and nothing else is tried then. EBB_UNAVAILABLE: there
 * is none, the loader cannot open it (its words: a library that it needs is absent, say), or it is of
 * another build. Nothing is to be closed. */
EBB_CHECKED ebb_status ebb_module_find(ebb_env *env, const char *name, const ebb_backend_api **out);
/* libebb_<name>.so itself, found the same way, for what is no backend; `of` leads what is said: "jit MLIR".
 */
EBB_CHECKED ebb_status ebb_module_open(ebb_env *env, const char *of, const char *name, void **library);

#endif
