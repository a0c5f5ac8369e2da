/* graph/text/declare.h: the inside of the public builder (ebb/build.h). Private to it.
 *
 *     declare.c      the calls, each checked as it comes and kept
 *     declare_with.c the call that takes attributes by value
 *     declaration.c  one kept call as a node, now or again
 */
#ifndef EBB_GRAPH_TEXT_DECLARE_H
#define EBB_GRAPH_TEXT_DECLARE_H

#include "graph/text/text.h"

typedef enum ebb_declaration_kind {
    EBB_DECLARE_GIVEN,
    EBB_DECLARE_OP,
    EBB_DECLARE_OUTPUT,
    EBB_DECLARE_LOSS
} ebb_declaration_kind;

typedef struct ebb_declaration {
    ebb_declaration_kind kind;
    const char *names[EBB_MAX_RESULTS]; /* NULL: made */
    uint32_t n_names;
    const char *type, *init; /* of given values; init NULL: zero */
    ebb_role role;
    double fill;
    const char *op, *attributes; /* of ops; attributes NULL: defaults */
    const ebb_id *in;            /* of ops; of an output or a loss, the one value */
    uint32_t n_in;
    uint32_t at; /* among the declarations: the random key of an op without a name */
} ebb_declaration;

struct ebb_build {
    ebb_env *env;
    ebb_arena arena; /* the declarations' */
    const char *name;
    EBB_ARRAY(const ebb_declaration *) made;
    ebb_parser parser; /* its dims, and the builder that checks; NULL after the end */
    char error[1024];  /* the latched one's text */
};

/* Looks at the first token of a declaration's text. */
static inline bool ebb_declaration_text_begin(ebb_parser *p, const char *text) {
    ebb_lex_init(&p->lexer, text, strlen(text));
    return ebb_parse_next(p);
}
/* Gives the declaration to the parser's builder. false: the parser latched an error. */
bool ebb_declaration_make(ebb_parser *p, const ebb_declaration *d, const char *graph);

/* Keeps the text of an error that the parser has just latched. */
void ebb_build_latch(ebb_build *b);
void ebb_build_out_of_memory(ebb_build *b);

#endif
