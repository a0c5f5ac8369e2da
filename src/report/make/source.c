/* source: a document of another command, read whole and known by its schema. */
#include "report/make/make.h"

#define MAX_FILE_BYTES ((size_t)1 << 28)

static ebb_status check_schema(const ebb_report_maker *m, const ebb_json *json, const char *path,
                               const char *schema) {
    const char *found = NULL;
    ebb_status status = ebb_json_text(m->env, json, path, "schema", NULL, &found);
    if (status != EBB_OK || strcmp(found, schema) == 0) return status;
    return ebb_fail(m->env, EBB_BAD_INPUT, "%s: schema is \"%.80s\" and must be \"%s\"", path, found,
                    schema);
}

ebb_status ebb_report_source(const ebb_report_maker *m, const char *path, const char *schema,
                             ebb_json **out) {
    ebb_status status = ebb_json_read_file(m->env, path, MAX_FILE_BYTES, out);
    if (status == EBB_OK) status = check_schema(m, *out, path, schema);
    if (status == EBB_OK) return EBB_OK;
    ebb_json_free(*out);
    *out = NULL;
    return status;
}
