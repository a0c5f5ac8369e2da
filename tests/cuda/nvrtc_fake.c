/* A libnvrtc that is made up, of major version FAKE: it works (901), is of another version (902), lacks
 * functions (903), fails (904), or gives no bytes (905). Its code is "good" and the options that it has
 * been asked for with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((visibility("default")))
enum { SYNTAX = 6, BROKEN = 3, MOST = 400 };

FUNCTION int nvrtcVersion(int *major, int *minor);
FUNCTION int nvrtcVersion(int *major, int *minor) {
    *major = FAKE;
    *minor = FAKE == 902 ? 7 : 4;
    return FAKE == 904 ? BROKEN : 0;
}

#if FAKE != 903
typedef struct program {
    char code[MOST];
    const char *log;
    int fails;
} program;

FUNCTION const char *nvrtcGetErrorString(int code);
FUNCTION int nvrtcGetNumSupportedArchs(int *n);
FUNCTION int nvrtcGetSupportedArchs(int *each);
FUNCTION int nvrtcCreateProgram(void **out, const char *text, const char *name, int n,
                                const char *const *headers, const char *const *names);
FUNCTION int nvrtcDestroyProgram(void **p);
FUNCTION int nvrtcCompileProgram(void *p, int n, const char *const *options);
FUNCTION int nvrtcGetCUBINSize(void *p, size_t *n);
FUNCTION int nvrtcGetCUBIN(void *p, char *cubin);
FUNCTION int nvrtcGetProgramLogSize(void *p, size_t *n);
FUNCTION int nvrtcGetProgramLog(void *p, char *log);

const char *nvrtcGetErrorString(int code) {
    return code == SYNTAX ? "made up 6" : "made up 3";
}
int nvrtcGetNumSupportedArchs(int *n) {
    *n = 2;
    return 0;
}
int nvrtcGetSupportedArchs(int *each) {
    each[0] = 75;
    each[1] = 90;
    return 0;
}
int nvrtcCreateProgram(void **out, const char *text, const char *name, int n, const char *const *headers,
                       const char *const *names) {
    (void)name, (void)n, (void)headers, (void)names;
    program *p = calloc(1, sizeof *p);
    p->fails = strcmp(text, "REFUSE") == 0;
    p->log = p->fails ? "body.cu(3): warning: first\nbody.cu(7): error: of a made up kind\nmore\n" : "";
    *out = p;
    return 0;
}
int nvrtcDestroyProgram(void **p) {
    free(*p);
    *p = NULL;
    return 0;
}
int nvrtcCompileProgram(void *p, int n, const char *const *options) {
    program *of = p;
    (void)snprintf(of->code, MOST, "good%s", n > 0 ? options[0] : "");
    for (int k = 1; k < n; k++) {
        const size_t at = strlen(of->code);
        if (strstr(options[k], "fmad")) (void)snprintf(of->code + at, MOST - at, " %s", options[k]);
    }
    return of->fails ? SYNTAX : 0;
}
int nvrtcGetCUBINSize(void *p, size_t *n) {
    *n = FAKE == 905 ? 0 : strlen(((program *)p)->code) + 1;
    return 0;
}
int nvrtcGetCUBIN(void *p, char *cubin) {
    memcpy(cubin, ((program *)p)->code, strlen(((program *)p)->code) + 1);
    return 0;
}
int nvrtcGetProgramLogSize(void *p, size_t *n) {
    *n = strlen(((program *)p)->log) + 1;
    return 0;
}
int nvrtcGetProgramLog(void *p, char *log) {
    memcpy(log, ((program *)p)->log, strlen(((program *)p)->log) + 1);
    return 0;
}
#endif
