/* graph/parse.h: the inside of the parser. Private to the room. */
#ifndef EBB_GRAPH_PARSE_H
#define EBB_GRAPH_PARSE_H

#include "graph/build.h"
#include "graph/lex.h"

#define EBB_MAX_DIMS 64 /* declared in one file */

typedef struct ebb_parser {
    ebb_env *env;
    const char *file;
    const ebb_parse_options *options;
    ebb_lexer lexer;
    ebb_token token; /* the one that is looked at */
    ebb_builder *builder;
    ebb_status status;     /* the first error; its text is in the env */
    EBB_ARRAY(char) names; /* the line's result names, terminated */
    struct {
        ebb_token name;
        int64_t size;
    } dim[EBB_MAX_DIMS];
    uint32_t n_dims;
} ebb_parser;

/* All of these give false after an error. */

/* Latches "file:line:column: reason". Always false, so that `return ebb_parse_fail(...)` reads well. */
EBB_PRINTF(3, 4) bool ebb_parse_fail(ebb_parser *parser, const ebb_token *at, const char *format, ...);
/* Latches the status and the env's text, with a place when the text is about the input. */
bool ebb_parse_relay(ebb_parser *parser, const ebb_token *at, ebb_status status);
/* "expected X, found ...": the token that is looked at is not it. */
bool ebb_parse_expected(ebb_parser *parser, const char *what);
bool ebb_parse_next(ebb_parser *parser); /* false on a bad token */
bool ebb_parse_mark(ebb_parser *parser, char mark);
bool ebb_parse_line_end(ebb_parser *parser);

/* parse_number.c */
/* 12, N, N*2, H/32: a product of integers and dims, left to right, each quotient whole. */
bool ebb_parse_size(ebb_parser *parser, int64_t *out);
bool ebb_parse_real(ebb_parser *parser, double *out);
bool ebb_parse_u64(ebb_parser *parser, uint64_t *out);
bool ebb_parse_type(ebb_parser *parser, ebb_type *out);
/* The value of one attribute of op, checked against its schema. */
bool ebb_parse_attr(ebb_parser *parser, const ebb_op_info *op, const ebb_attr_info *info, ebb_attr *out);

/* parse_node.c: a line that begins with %. */
bool ebb_parse_definition(ebb_parser *parser);
/* A value that is defined above. */
bool ebb_parse_value(ebb_parser *parser, ebb_id *out);

const char *ebb_init_name(ebb_init init);

/* How a token is shown in an error. */
#define EBB_SHOWN(token) (int)((token)->n < 60 ? (token)->n : 60), (token)->text

#endif
