/* session: the error line of a command. */
#include "tool/session/session.h"

#include <stdarg.h>

ebb_status tool_fail(tool *t, ebb_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(t->error, sizeof t->error, format, list);
    va_end(list);
    return status;
}
