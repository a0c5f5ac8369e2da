/* A libLLVM of a version that nobody knows: it has the functions, none of which may be called. */
#include "exec/cpu/emit/llvm.h"

#include <stdlib.h>

#define FUNCTION __attribute__((visibility("default")))
#define STUB(name, result, parameters) \
    FUNCTION void name(void);          \
    FUNCTION void name(void) {         \
        abort();                       \
    }
LLVM_FUNCTIONS(STUB)

FUNCTION void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch);
FUNCTION void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
    *major = 99;
    *minor = *patch = 0;
}
