/* A libnvJitLink that is made up, of major version FAKE: it works (901), is of another version (902), lacks
 * functions (903), takes no options (904), or gives no bytes (905). Its code is "good", the options that it
 * has been asked for with and how long its PTX is. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((visibility("default")))
enum { OPTION = 1, PTX_COMPILE = 4, MOST = 400 };

FUNCTION int nvJitLinkVersion(unsigned *major, unsigned *minor);
FUNCTION int nvJitLinkVersion(unsigned *major, unsigned *minor) {
    *major = FAKE == 902 ? 13 : FAKE;
    *minor = 4;
    return 0;
}

#if FAKE != 903
typedef struct made {
    char code[MOST];
    int fails;
} made;

FUNCTION int nvJitLinkCreate(void **link, uint32_t n, const char **options);
FUNCTION int nvJitLinkDestroy(void **link);
FUNCTION int nvJitLinkAddData(void *link, int type, const void *data, size_t n, const char *name);
FUNCTION int nvJitLinkComplete(void *link);
FUNCTION int nvJitLinkGetLinkedCubinSize(void *link, size_t *n);
FUNCTION int nvJitLinkGetLinkedCubin(void *link, void *cubin);
FUNCTION int nvJitLinkGetErrorLogSize(void *link, size_t *n);
FUNCTION int nvJitLinkGetErrorLog(void *link, char *log);
FUNCTION int nvJitLinkGetInfoLogSize(void *link, size_t *n);
FUNCTION int nvJitLinkGetInfoLog(void *link, char *log);

static const char log_text[] = "first\nptxas body.ptx, line 7; error   : of a made up kind\nmore\n";

int nvJitLinkCreate(void **link, uint32_t n, const char **options) {
    if (FAKE == 904) return OPTION;
    made *m = calloc(1, sizeof *m);
    (void)snprintf(m->code, MOST, "good");
    for (uint32_t k = 0; k < n; k++) {
        const size_t at = strlen(m->code);
        (void)snprintf(m->code + at, MOST - at, " %s", options[k]);
    }
    *link = m;
    return 0;
}
int nvJitLinkDestroy(void **link) {
    free(*link);
    *link = NULL;
    return 0;
}
int nvJitLinkAddData(void *link, int type, const void *data, size_t n, const char *name) {
    made *m = link;
    const size_t at = strlen(m->code);
    (void)name;
    (void)snprintf(m->code + at, MOST - at, " type %d, %zu", type, n);
    m->fails = strcmp(data, "REFUSE") == 0;
    return 0;
}
int nvJitLinkComplete(void *link) {
    return ((made *)link)->fails ? PTX_COMPILE : 0;
}
int nvJitLinkGetLinkedCubinSize(void *link, size_t *n) {
    *n = FAKE == 905 ? 0 : strlen(((made *)link)->code) + 1;
    return 0;
}
int nvJitLinkGetLinkedCubin(void *link, void *cubin) {
    memcpy(cubin, ((made *)link)->code, strlen(((made *)link)->code) + 1);
    return 0;
}
int nvJitLinkGetErrorLogSize(void *link, size_t *n) {
    *n = ((made *)link)->fails ? sizeof log_text : 0;
    return 0;
}
int nvJitLinkGetErrorLog(void *link, char *log) {
    (void)link;
    memcpy(log, log_text, sizeof log_text);
    return 0;
}
int nvJitLinkGetInfoLogSize(void *link, size_t *n) {
    (void)link;
    *n = 0;
    return 0;
}
int nvJitLinkGetInfoLog(void *link, char *log) {
    (void)link, (void)log;
    return 0;
}
#endif
