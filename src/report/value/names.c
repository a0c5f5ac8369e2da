/* names: of categories, joins, fates and drops, as files and views have them. */
#include "report/value/value.h"

/* By the order of the enum. */
static const struct category {
    const char *name, *about;
} categories[EBB_N_CATEGORIES] = {
    [EBB_CATEGORY_FIXED] = {"fixed", "counted besides the plan's regions"},
    [EBB_CATEGORY_PARAMS] = {"params", "parameters and constants"},
    [EBB_CATEGORY_STATE] = {"state", "optimizer state, running statistics"},
    [EBB_CATEGORY_IO] = {"io", "inputs and outputs"},
    [EBB_CATEGORY_RECOMPUTED] = {"recomputed", "made again"},
    [EBB_CATEGORY_GRADIENTS] = {"gradients", "made in backward and update"},
    [EBB_CATEGORY_KEPT] = {"kept", "activations held from forward into backward"},
    [EBB_CATEGORY_TRANSIENT] = {"transient", "other activations"},
    [EBB_CATEGORY_SCRATCH] = {"scratch", "of the running op"},
    [EBB_CATEGORY_PADDING] = {"padding", "rounding up to the alignment"},
};

const char *ebb_category_name(ebb_category category) {
    return categories[category].name;
}

const char *ebb_category_about(ebb_category category) {
    return categories[category].about;
}

const char *ebb_join_name(ebb_join join) {
    static const char *const names[] = {"", "view of", "written over", "update of"};
    return names[join];
}

const char *ebb_fate_name(ebb_fate fate) {
    static const char *const names[] = {"empty", "given", "lasts", "dropped", "kept", "used_up"};
    return names[fate];
}

const char *ebb_drop_name(ebb_drop drop) {
    static const char *const names[] = {"can be dropped", "given", "its op runs once", "in use at the peak",
                                        "needed after the last step"};
    return names[drop];
}

const char *ebb_batch_mode_name(uint32_t mode) {
    static const char *const names[EBB_N_BATCH_MODES] = {"none", "in_place", "sublinear", "budget"};
    return names[mode];
}
