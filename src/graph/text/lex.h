/* graph/text/lex.h: splits the text IR into tokens. Private to the folder. */
#ifndef EBB_GRAPH_TEXT_LEX_H
#define EBB_GRAPH_TEXT_LEX_H

#include "base/base.h"

typedef enum ebb_token_kind {
    EBB_TOKEN_END,    /* of the text */
    EBB_TOKEN_LINE,   /* end of a line */
    EBB_TOKEN_WORD,   /* conv2d */
    EBB_TOKEN_VALUE,  /* %conv1.w, text without the % */
    EBB_TOKEN_NUMBER, /* 12, -0.5, 1e-05 */
    EBB_TOKEN_TEXT,   /* "add(i0,i1)->t0", text without the marks */
    EBB_TOKEN_MARK,   /* one of = , : [ ] * / */
    EBB_TOKEN_BAD,    /* text is the reason, a constant of ours */
} ebb_token_kind;

typedef struct ebb_token {
    ebb_token_kind kind;
    const char *text; /* in the source, not terminated */
    size_t n;
    size_t line, column; /* from 1; columns are bytes */
} ebb_token;

typedef struct ebb_lexer {
    const char *text;
    size_t n, at;
    size_t line, line_at; /* from 1; where the line begins */
} ebb_lexer;

void ebb_lex_init(ebb_lexer *lexer, const char *text, size_t n);
ebb_token ebb_lex_next(ebb_lexer *lexer);
/* Reads the graph's name: the next token by the rules of values' names, without a %. A word when it is one.
 */
ebb_token ebb_lex_name(ebb_lexer *lexer);
/* Skips past the end of this line. */
void ebb_lex_skip_line(ebb_lexer *lexer);

static inline bool ebb_token_is(const ebb_token *token, char mark) {
    return token->kind == EBB_TOKEN_MARK && token->text[0] == mark;
}
bool ebb_token_equal(const ebb_token *token, const char *text);

#endif
