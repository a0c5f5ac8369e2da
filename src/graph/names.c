/* The names of roles and phases, for every folder of the room. */
#include "graph/pgraph.h"

const char *ebb_role_name(ebb_role role) {
    static const char *const names[EBB_N_ROLES] = {"input",      "constant", "param", "state",
                                                   "activation", "gradient", "output"};
    return (unsigned)role < EBB_N_ROLES ? names[role] : NULL;
}

const char *ebb_phase_name(ebb_phase phase) {
    static const char *const names[] = {"forward", "backward", "update"};
    return (unsigned)phase < EBB_COUNT(names) ? names[phase] : NULL;
}
