/* Which formats there are, and which of them this build reads. */
#include "data/data.h"
#include "ebb_build.h"

#define JPEG_WHY "install libjpeg62-turbo-dev (libjpeg-turbo) and build again"
#define PNG_WHY  "install libspng-dev and build again"
#define ZLIB_WHY "install zlib1g-dev and build again"

static const struct {
    const char *name;
    bool available;
    const char *why;
} formats[] = {
    {"JPEG", EBB_HAVE_JPEG, JPEG_WHY}, /* the order of folder.c's suffixes */
    {"PNG", EBB_HAVE_SPNG, PNG_WHY},     {"records", true, NULL},
    {"npz", EBB_HAVE_ZLIB, ZLIB_WHY},    {"csv", true, NULL},
    {"csv.gz", EBB_HAVE_ZLIB, ZLIB_WHY},
};

const char *ebb_data_format_at(uint32_t i, bool *available, const char **why) {
    *available = i < EBB_COUNT(formats) && formats[i].available;
    *why = i < EBB_COUNT(formats) && !formats[i].available ? formats[i].why : NULL;
    return i < EBB_COUNT(formats) ? formats[i].name : NULL;
}

ebb_status data_need_zlib(ebb_env *env, const char *path) {
    if (EBB_HAVE_ZLIB) return EBB_OK;
    return ebb_fail(env, EBB_UNAVAILABLE, "%s needs zlib, which this build lacks: %s", path, ZLIB_WHY);
}
