/* Lexer of the text IR: one pass over the bytes, no state but the place. */
#include "graph/text/lex.h"

#include "graph/ir/ir.h"

void ebb_lex_init(ebb_lexer *lexer, const char *text, size_t n) {
    *lexer = (ebb_lexer){.text = text, .n = n, .line = 1};
}

bool ebb_token_equal(const ebb_token *token, const char *text) {
    return token->n == strlen(text) && memcmp(token->text, text, token->n) == 0;
}

static bool digit(char c) {
    return c >= '0' && c <= '9';
}
static bool word_begins(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char byte_at(const ebb_lexer *l, size_t i) {
    if (i >= l->n) return '\0';
    return l->text[i];
}

static ebb_token make(const ebb_lexer *l, ebb_token_kind kind, size_t from, size_t to) {
    return (ebb_token){.kind = kind,
                       .text = l->text + from,
                       .n = to - from,
                       .line = l->line,
                       .column = from - l->line_at + 1};
}

static ebb_token bad(const ebb_lexer *l, size_t at, const char *reason) {
    return (ebb_token){.kind = EBB_TOKEN_BAD,
                       .text = reason,
                       .n = strlen(reason),
                       .line = l->line,
                       .column = at - l->line_at + 1};
}

/* Steps over blanks and a comment. false with a bad token when the comment is not text. */
static bool skip_blank(ebb_lexer *l, ebb_token *token) {
    while (l->at < l->n && (l->text[l->at] == ' ' || l->text[l->at] == '\t' || l->text[l->at] == '\r'))
        l->at++;
    if (byte_at(l, l->at) != '#') return true;
    while (l->at < l->n && l->text[l->at] != '\n') {
        uint32_t code = 0;
        size_t n = ebb_utf8_decode(l->text + l->at, l->n - l->at, &code);
        if (n == 0 || code == 0) {
            *token = bad(l, l->at, n ? "a NUL byte in a comment" : "invalid UTF-8 in a comment");
            return false;
        }
        l->at += n;
    }
    return true;
}

/* The grammar of numbers is checked by who reads the token; here: where it ends. */
static ebb_token number(ebb_lexer *l, size_t from) {
    size_t at = from + 1;
    while (digit(byte_at(l, at)) || byte_at(l, at) == '.' || byte_at(l, at) == '_' ||
           word_begins(byte_at(l, at)) ||
           ((byte_at(l, at) == '-' || byte_at(l, at) == '+') &&
            (l->text[at - 1] == 'e' || l->text[at - 1] == 'E'))) {
        at++;
    }
    l->at = at;
    return make(l, EBB_TOKEN_NUMBER, from, at);
}

static ebb_token line_end(ebb_lexer *l) {
    ebb_token token = make(l, EBB_TOKEN_LINE, l->at, l->at + 1);
    l->at++;
    l->line++;
    l->line_at = l->at;
    return token;
}

/* From a " to the next one on its line. What may stand between is the attribute's to say. */
static ebb_token quoted(ebb_lexer *l, size_t from) {
    size_t at = from + 1;
    while (byte_at(l, at) != '\0' && byte_at(l, at) != '\n' && byte_at(l, at) != '"') at++;
    l->at = at;
    if (byte_at(l, at) != '"') return bad(l, from, "a text without its second \"");
    l->at++;
    ebb_token token = make(l, EBB_TOKEN_TEXT, from, l->at);
    token.text++;
    token.n -= 2;
    return token;
}

ebb_token ebb_lex_next(ebb_lexer *l) {
    ebb_token token;
    if (!skip_blank(l, &token)) return token;
    size_t from = l->at;
    if (from == l->n) return make(l, EBB_TOKEN_END, from, from);
    char c = l->text[from];
    if (c == '\n') return line_end(l);
    if (digit(c) || (c == '-' && digit(byte_at(l, from + 1)))) return number(l, from);
    if (word_begins(c)) {
        while (word_begins(byte_at(l, l->at)) || digit(byte_at(l, l->at))) l->at++;
        return make(l, EBB_TOKEN_WORD, from, l->at);
    }
    if (c == '"') return quoted(l, from);
    if (c == '%') {
        l->at++;
        while (ebb_name_char(byte_at(l, l->at))) l->at++;
        if (l->at == from + 1) return bad(l, from, "% needs a name: letters, digits and any of _ . - /");
        token = make(l, EBB_TOKEN_VALUE, from, l->at);
        token.text++;
        token.n--;
        return token;
    }
    l->at++;
    if (c != '\0' && strchr("=,:[]*/", c)) return make(l, EBB_TOKEN_MARK, from, l->at);
    if (c == '\0') return bad(l, from, "a NUL byte");
    if ((unsigned char)c >= 0x80)
        return bad(l, from, "a byte outside ASCII: only comments may hold other text");
    if ((unsigned char)c < 0x20 && from == 0)
        return bad(l, from, "a control byte: this is no text (a model in ONNX is named FILE.onnx)");
    return bad(l, from,
               (unsigned char)c < 0x20 || c == 0x7f ? "a control byte"
                                                    : "a character with no meaning here");
}

ebb_token ebb_lex_name(ebb_lexer *l) {
    ebb_token token;
    if (!skip_blank(l, &token)) return token;
    size_t from = l->at;
    while (ebb_name_char(byte_at(l, l->at))) l->at++;
    return l->at == from ? ebb_lex_next(l) : make(l, EBB_TOKEN_WORD, from, l->at);
}

void ebb_lex_skip_line(ebb_lexer *l) {
    const char *end = memchr(l->text + l->at, '\n', l->n - l->at);
    l->at = end ? (size_t)(end - l->text) : l->n;
    if (end) line_end(l);
}
