/* plans: the files of a command that answers with several plans. */
#include "tool/out/out.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* "models/resnet50.ebb" -> "resnet50". */
static void model_stem(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    const char *stem = slash ? slash + 1 : path;
    snprintf(out, size, "%s", strcmp(stem, "-") == 0 || *stem == '\0' ? "model" : stem);
    char *dot = strrchr(out, '.');
    if (dot && dot != out) *dot = '\0';
}

ebb_status tool_plans_folder(tool *t) {
    const char *folder = t->args.plans;
    if (!folder || mkdir(folder, 0777) == 0 || errno == EEXIST) return EBB_OK;
    return tool_fail(t, EBB_IO, "cannot make folder %.400s: %s: name a folder that can be written", folder,
                     strerror(errno));
}

ebb_status tool_plans_write(tool *t, const ebb_plan *plan, const char *which, char path[PATH_MAX]) {
    const char *folder = t->args.plans;
    char stem[256];
    model_stem(t->args.operand, stem, sizeof stem);
    int n = snprintf(path, PATH_MAX, "%s%s%s.%s.plan.json", folder ? folder : "", folder ? "/" : "", stem,
                     which);
    if (n < 0 || n >= PATH_MAX)
        return tool_fail(t, EBB_IO, "cannot write %.60s...: the path is longer than %d bytes", path,
                         PATH_MAX);
    return ebb_plan_write(t->env, plan, path);
}
