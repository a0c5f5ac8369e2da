/* graph/text/declare.h: declares the internals of the public builder (ebb/build.h). Private to it.
 *
 *     declare.c      the calls, each checked at once and stored
 *     declare_with.c the call that takes attributes by value
 *     declaration.c  turns a stored call into a node, now or again
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
    const char *names[EBB_MAX_RESULTS]; /* NULL: generated */
    uint32_t n_names;
    const char *type, *init; /* of given values; init NULL: zero */
    ebb_role role;
    double fill;
    const char *op, *attributes; /* of ops; attributes NULL: defaults */
    const ebb_id *in;            /* of ops; for an output or a loss, the one value */
    uint32_t n_in;
    uint32_t at; /* among the declarations: the random key of an op without a name */
} ebb_declaration;

struct ebb_build {
    ebb_env *env;
    ebb_arena arena; /* the declarations' */
    const char *name;
    EBB_ARRAY(const ebb_declaration *) made;
    ebb_parser parser; /* its dims, and the checking builder; NULL after the end */
    char error[1024];  /* the latched one's text */
};

/* Begins to parse a declaration's text, at its first token. */
static inline bool ebb_declaration_text_begin(ebb_parser *p, const char *text) {
    ebb_lex_init(&p->lexer, text, strlen(text));
    return ebb_parse_next(p);
}
/* Adds the declaration to the parser's builder. false: the parser latched an error. */
bool ebb_declaration_make(ebb_parser *p, const ebb_declaration *d, const char *graph);

/* Stores the text of an error that the parser has just latched. */
void ebb_build_latch(ebb_build *b);
void ebb_build_out_of_memory(ebb_build *b);

#endif
