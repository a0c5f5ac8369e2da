/* What kind of machine this is, for files that hold its measurements. */
#include "base/os/os.h"

#include <stdio.h>
#include <sys/utsname.h>

/* What follows "key : " of /proc/cpuinfo's first processor; false when this line has another key. */
static bool is_key(const char *line, const char *key, char *out, size_t size) {
    size_t n = strlen(key);
    const char *at = line + n;
    if (strncmp(line, key, n) != 0 || (*at != '\t' && *at != ' ' && *at != ':')) return false;
    at += strspn(at, "\t :");
    (void)snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
    return false;
}

/* Where a machine's processor has no model (other systems, other architectures) its system is named
 * instead. */
void ebb_machine_text(char text[EBB_MACHINE_TEXT]) {
    char line[8192], name[64] = "", family[16] = "", model[16] = "", flags[sizeof line] = "";
    struct utsname system;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file) && *line != '\n') {
        if (is_key(line, "model name", name, sizeof name) || is_key(line, "model", model, sizeof model) ||
            is_key(line, "cpu family", family, sizeof family))
            continue;
        (void)is_key(line, "flags", flags, sizeof flags);
    }
    if (file) fclose(file);
    const char *vectors = has_word(flags, "avx512f") ? "avx512" : has_word(flags, "avx2") ? "avx2" : "";
    if (*name != '\0')
        (void)snprintf(text, EBB_MACHINE_TEXT, "%s %s.%s %s", name, family, model, vectors);
    else if (uname(&system) == 0)
        (void)snprintf(text, EBB_MACHINE_TEXT, "%.40s %.40s", system.sysname, system.machine);
    else
        (void)snprintf(text, EBB_MACHINE_TEXT, "unknown");
}
