/* The table of all ops, from ops.def. */
#include "graph/ops/ops.h"

const ebb_op_info *const ebb_ops[EBB_N_OPS] = {
#define EBB_OP(name, family) [EBB_OP_##name] = &ebb_op_##name,
#include "graph/ops.def"
};

const ebb_op_info *ebb_op_find(const char *name, size_t n) {
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        const char *own = ebb_ops[i]->name;
        if (strlen(own) == n && memcmp(own, name, n) == 0) return ebb_ops[i];
    }
    return NULL;
}

const char *ebb_family_title(ebb_family family) {
    static const char *const titles[EBB_N_FAMILIES] = {
#define EBB_FAMILY(name, title) [EBB_FAMILY_##name] = (title),
#include "graph/families.def"
    };
    return titles[family];
}
