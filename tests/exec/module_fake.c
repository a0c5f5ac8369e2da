/* Modules that are none, by FAKE: 1 right, 2 of another version, 3 of other structs, 4 of other ops, 5
 * without what a module shows. */
#include "exec/module.h"

#if FAKE == 5
extern EBB_API const int something_else;
const int something_else = 1;
#else
static const ebb_backend_api fake = {.name = "fake"};

extern EBB_API const ebb_module ebb_module_cuda;
const ebb_module ebb_module_cuda = {.bytes = sizeof(ebb_module),
                                    .version = FAKE == 2 ? "0.0.7" : EBB_VERSION,
                                    .ops = FAKE == 4 ? "conv2d" : ebb_module_ops,
#if FAKE == 3
                                    .sizes = {1},
#else
                                    .sizes = EBB_MODULE_SIZES,
#endif
                                    .api = &fake};
#endif
