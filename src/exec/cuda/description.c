/* cuda/description.c: see description.h. */
#include "exec/cuda/description.h"

void cuda_description_deinit(ebb_env *env, cuda_description *description) {
    if (description->properties)
        ebb_cfree(env, description->properties, strlen(description->properties) + 1, 1);
    *description = (cuda_description){0};
}
