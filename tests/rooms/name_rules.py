#!/usr/bin/env python3
"""One name, one meaning, over every header of the tree.

    name_rules.py ROOT     checks the headers under src and include of ROOT
    name_rules.py --test   checks that planted violations are found

A type, function, variable, enum constant or macro that two headers declare is declared alike. Forward declarations,
include guards and macros that a header, or a table it includes, undefines again do not count."""
import re
import sys

import sources

GUARD = re.compile(r'^\s*#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+\1\b')
DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)(.*)$', re.M)
UNDEF = re.compile(r'^[ \t]*#[ \t]*undef[ \t]+(\w+)', re.M)
TAGGED = re.compile(r'\b(struct|union|enum)\s+(\w+)\s*\{')
ENUM = re.compile(r'\benum\b\s*\w*\s*\{([^{}]*)\}')
POINTER = re.compile(r'\(\s*\*\s*(\w+)\s*(?:\[[^]]*\]\s*)*\)\s*\(')
CALL = re.compile(r'\b(\w+)\s*\(')
SHOUTED = re.compile(r'\b[A-Z][A-Z0-9_]*\s*\((?:[^()]|\([^()]*\))*\)')  # a macro with arguments
ATTRIBUTE = re.compile(r'__(?:attribute__|declspec)\s*\(\((?:[^()]|\([^()]*\))*\)\)|\b_Static_assert\s*\([^;]*\)')


def plain(text):
    return re.sub(r'\s*(\W)\s*', r'\1', re.sub(r'\s+', ' ', text.strip()))


def matching(text, start):
    """The position after the brace that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += {'{': 1, '}': -1}.get(text[at], 0)
        if not depth:
            return at + 1
    return len(text)


def chunks(text):
    """The declarations at the outermost level of a header without comments and directives."""
    start = at = 0
    while at < len(text):
        if text[at] == '{':
            is_body = text[start:at].rstrip().endswith(')')
            at = matching(text, at)
            if is_body:
                yield text[start:at]
                start = at
        elif text[at] == ';':
            yield text[start:at]
            at += 1
            start = at
        else:
            at += 1


def outer(chunk):
    """The chunk without what stands between its braces."""
    while '{' in chunk:
        at = chunk.index('{')
        chunk = chunk[:at] + ' ' + chunk[matching(chunk, at):]
    return chunk


def declared(chunk):
    """(name, kind, meaning) of each name that one declaration gives."""
    for match in TAGGED.finditer(chunk):
        end = matching(chunk, match.end() - 1)
        yield match.group(2), 'type', plain(chunk[match.start():end])
    for match in ENUM.finditer(chunk):
        for constant in filter(None, (part.strip() for part in match.group(1).split(','))):
            name = re.match(r'\w*', constant).group()
            yield name, 'enum constant', plain(match.group())
    head = SHOUTED.sub('', outer(chunk)).strip()
    if head.startswith('typedef'):
        pointer = POINTER.search(head)
        last = re.search(r'(\w+)\s*(?:\[[^]]*\]\s*)*$', head)
        name = pointer.group(1) if pointer else last and last.group(1)
        alias = re.fullmatch(r'typedef\s+(?:struct|union|enum)\s+(\w+)\s+(\w+)', head)
        if name and not (alias and alias.group(1) == alias.group(2)):
            yield name, 'type', plain(chunk)
    elif '(' in head:
        call = POINTER.search(head) if head.startswith('extern') else None
        call = call or CALL.search(head)
        if call:
            yield call.group(1), 'function', plain(chunk)
    elif head.startswith('extern'):
        last = re.search(r'(\w+)\s*(?:\[[^]]*\]\s*)*$', head)
        if last:
            yield last.group(1), 'variable', plain(chunk)


def names(text, tables=None):
    """Every (name, kind, meaning) of a header. `tables` maps what may be included to its text."""
    included = [(tables or {}).get(name, '') for name in sources.INCLUDE.findall(text)]
    text = sources.bare(text, strings=False).replace('\\\n', ' ')
    guard = GUARD.match(text)
    passing = set(UNDEF.findall('\n'.join([text] + included))) | ({guard.group(1)} if guard else set())
    for match in DEFINE.finditer(text):
        if match.group(1) not in passing:
            yield match.group(1), 'macro', plain(match.group(2))
    text = re.sub(r'^[ \t]*#.*$', '', sources.bare(text), flags=re.M)
    text = re.sub(r'\bextern\s*""\s*\{', '', text)
    for chunk in chunks(ATTRIBUTE.sub('', text)):
        yield from declared(chunk)


def judge(texts, tables=None):
    """Violations over {path: text of a header}, and the number of names."""
    known, faults = {}, []
    for path, text in texts.items():
        for name, kind, meaning in names(text, tables):
            first = known.setdefault(name, (path, kind, meaning))
            if first[0] != path and first[1:] != (kind, meaning):
                faults.append('%s: %s in %s, %s in %s' % (name, first[1], first[0], kind, path))
    return sorted(set(faults)), len(known)


# name, headers, what is said of them
CASES = [
    ('a struct twice', ['struct a { int x; };', 'struct a { int y; };'], 'a: type'),
    ('a struct and its forward declaration', ['struct a { int x; };', 'struct a;\ntypedef struct a a;'], None),
    ('a typedef twice', ['typedef int a;', 'typedef long a;'], 'a: type'),
    ('a struct and a typedef of another', ['struct a { int x; };', 'typedef struct { int y; } a;'], 'a: type'),
    ('a function pointer type', ['typedef int (*a)(int);', 'typedef int (*a)(long);'], 'a: type'),
    ('a function twice', ['int f(int x);', 'int f(long x);'], 'f: function'),
    ('a function declared alike', ['int f(int x);', '/* of the other */\nint  f(int x) ;'], None),
    ('an inline function', ['static inline int f(int x) { return x; }', 'static inline int f(int x) { return -x; }'], 'f: function'),
    ('a function and a type', ['int f(int x);', 'struct f { int x; };'], 'f: function'),
    ('an enum constant', ['enum a { ONE, TWO };', 'typedef enum { ZERO, TWO = 2 } b;'], 'TWO: enum constant'),
    ('a macro', ['#define M 1\n', '#define M 2\n'], 'M: macro'),
    ('a macro and an enum constant', ['#define M 1\n', 'enum a { M };'], 'M: macro'),
    ('a macro over lines', ['#define M(x) \\\n    (x)\n', '#define M(x) \\\n    (-x)\n'], 'M: macro'),
    ('a macro undefined again', ['#define X(a) a,\n#undef X\n', '#define X(a) #a,\n#undef X\n'], None),
    ('macros for a table', ['#define X(a) a,\n#include "t.def"\n', '#define X(a) #a,\n#include "t.def"\n'], None),
    ('a macro before another table', ['#define Y(a) a,\n#include "t.def"\n', '#define Y(a) #a,\n#include "t.def"\n'], 'Y: macro'),
    ('a printf', ['void f(int x, ...) EBB_PRINTF(1, 2);', 'EBB_PRINTF(1, 2) void g(int x, ...);'], None),
    ('a row of a table', ['#define ROW(a, b) a(b)\nROW(x, f(int))', 'ROW(x, f(long))'], None),
    ('guards', ['#ifndef G\n#define G\nint f(void);\n#endif\n', '#ifndef G\n#define G 1\n#endif\n'], None),
    ('inside extern "C"', ['extern "C" {\nint f(int);\n}', 'int f(long);'], 'f: function'),
    ('a variable', ['extern const int v[2];', 'extern const long v[2];'], 'v: variable'),
    ('members and parameters', ['struct a { int f; };', 'struct b { long f; };\nint g(int f);'], None),
]


def main():
    if len(sys.argv) != 2:
        print('usage: name_rules.py ROOT | --test', file=sys.stderr)
        return 2
    if sys.argv[1] == '--test':
        cases = [(name, judge(dict(zip('12', headers)), {'t.def': '#undef X\n'})[0], words) for name, headers, words in CASES]
        return sources.report(sources.missed(cases), len(cases), 22, 'cases')
    root = sys.argv[1]
    paths = sources.files(root, ['include', 'src'], lambda path: path.endswith(('.h', '.cuh')))
    tables = sources.files(root, ['src'], lambda path: path.endswith('.def'))
    faults, n = judge({path: sources.read(root, path) for path in paths}, {path[len('src/'):]: sources.read(root, path) for path in tables})
    return sources.report(faults, n, 500, 'names')


if __name__ == '__main__':
    sys.exit(main())
