/* graph/real.h: real numbers as text, the same in every locale. Private to the room. */
#ifndef EBB_GRAPH_REAL_H
#define EBB_GRAPH_REAL_H

#include <stdbool.h>
#include <stddef.h>

#define EBB_REAL_TEXT 32
/* The fewest digits that read back to the same number: "0.1", "1e-05". */
const char *ebb_real_text(double f, char text[EBB_REAL_TEXT]);
/* n bytes of [-]digits[.digits][e[+-]digits]. false when they are no such number, too long (64 bytes) or
 * too large for a double. */
bool ebb_real_parse(const char *text, size_t n, double *out);

#endif
