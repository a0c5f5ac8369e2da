/* Models that are made by calls (ebb/build.h), each with its text: one model, said in two ways. */
#ifndef EBB_TESTS_SUPPORT_TWINS_H
#define EBB_TESTS_SUPPORT_TWINS_H

#include "ebb/build.h"

typedef struct twin_model {
    const char *name, *text;
    void (*say)(ebb_build *build);
} twin_model;
extern const twin_model twin_models[];
enum { N_TWIN_MODELS = 2 };

#endif
