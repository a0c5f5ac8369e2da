/* graph/text/text.h: declares the parser's internals. Private to the folder. */
#ifndef EBB_GRAPH_TEXT_TEXT_H
#define EBB_GRAPH_TEXT_TEXT_H

#include "graph/ir/ir.h"
#include "graph/op.h"
#include "graph/text/lex.h"

#define EBB_MAX_DIMS 64 /* declared in one file */

typedef struct ebb_parser {
    ebb_env *env;
    const char *file;
    const char *subject; /* for calls: what errors name instead of a place; NULL: a file is parsed */
    const ebb_parse_options *options;
    ebb_lexer lexer;
    ebb_token token; /* the current one */
    ebb_builder *builder;
    ebb_status status;     /* the first error; its text is in the env */
    EBB_ARRAY(char) names; /* the line's result names, terminated */
    struct {
        ebb_token name;
        int64_t size;
    } dim[EBB_MAX_DIMS];
    uint32_t n_dims;
} ebb_parser;

/* All of these return false after an error. */

/* Latches "file:line:column: reason". Always false, so that `return ebb_parse_fail(...)` reads well. */
EBB_PRINTF(3, 4) bool ebb_parse_fail(ebb_parser *parser, const ebb_token *at, const char *format, ...);
/* Latches the status and the env's text, with a place when the text is about the input. */
bool ebb_parse_relay(ebb_parser *parser, const ebb_token *at, ebb_status status);
/* Latches "expected X, found ..." for the current token. */
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

/* Whether the token may name another dim. */
bool ebb_parse_dim_name(ebb_parser *parser, const ebb_token *name);
/* Adds a dim, at its default or the options' size. The name's text is borrowed. */
void ebb_parse_dim(ebb_parser *parser, const ebb_token *name, int64_t size);
/* EBB_USAGE: the options bind a dim to less than 1; they bind one that is not declared. */
EBB_CHECKED ebb_status ebb_parse_sizes_check(ebb_env *env, const char *file,
                                             const ebb_parse_options *options);
EBB_CHECKED ebb_status ebb_parse_dims_check(ebb_parser *parser);

/* parse_node.c: a line that begins with %. */
bool ebb_parse_definition(ebb_parser *parser);
bool ebb_parse_init(ebb_parser *parser, ebb_init *out, double *fill);
/* A node while it is read. */
typedef struct ebb_node_text {
    const ebb_op_info *op;
    ebb_id in[EBB_MAX_OPERANDS];
    uint32_t n_in;
    ebb_attr attr[EBB_MAX_ATTRS];
    uint64_t set; /* bit i: attribute i was given */
    bool has_phase, has_seed;
    ebb_phase phase;
    uint64_t seed;
} ebb_node_text;
/* The op of that name; NULL after an error: there is none. */
const ebb_op_info *ebb_parse_op(ebb_parser *parser, const ebb_token *name);
/* Reads "stride=2 pad=[1,0]"; missing attributes get their defaults. `at`: the place for errors about
 * missing ones. */
bool ebb_parse_attributes(ebb_parser *parser, const ebb_token *at, ebb_node_text *node);
/* Reads a value that is defined above. */
bool ebb_parse_value(ebb_parser *parser, ebb_id *out);

const char *ebb_init_name(ebb_init init);

/* How a token is shown in an error. */
#define EBB_SHOWN(token) (int)((token)->n < 60 ? (token)->n : 60), (token)->text

#endif
