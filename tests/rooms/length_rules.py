#!/usr/bin/env python3
"""No file is longer than 300 lines, no function longer than 60; files of tables may be longer, but no function in them.

    length_rules.py ROOT     checks the files of src, include, python, tests, examples, bench and scripts under ROOT
    length_rules.py --test   checks that planted violations are found

A function of C counts from the line that names it to its closing brace, one of Python from its def, a macro with all
its lines."""
import ast
import itertools
import re
import sys

import sources

FILE_LINES, FUNCTION_LINES = 300, 60
TOPS = ['src', 'include', 'python', 'tests', 'examples', 'bench', 'scripts']
CODE = re.compile(r'\.(c|cpp|h|def|inc|cu|cuh|py|sh|js|css|html)$|(^|/)meson\.build$')
TABLE = re.compile(r'\.(def|ebb|csv|json)$|^tests/.*_rows\.h$')


MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\n]*\\\n)*[^\n]*', re.M)
# A closing parenthesis and, perhaps, attributes.
HEAD = re.compile(r'\)\s*(?:[A-Z][A-Z0-9_]*\s*)*$')


def is_python(path, text):
    return path.endswith('.py') or re.match(r'#!.*\bpython', text) is not None


def c_functions(text):
    """(name, first line, lines) of each function of C: a brace at the outermost level after a closing parenthesis."""
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', lambda m: '\n' * m.group().count('\n'), sources.bare(text), flags=re.M)
    text = re.sub(r'\bextern\s*""\s*\{', '', text)
    depth, start, name = 0, 0, None
    for match in re.finditer(r'[{};]', text):
        at = match.start()
        if match.group() == '{':
            head = text[start:at]
            if not depth and HEAD.search(head):
                first = start + len(head) - len(head.lstrip())
                found = re.search(r'(\w+)\s*\(', head)
                name = (' '.join(head[found.start():].split()) if found.group(1) == 'Test' else found.group(1)) if found else '?'
                line = text.count('\n', 0, first) + 1
            depth += 1
        elif match.group() == '}':
            depth -= 1
            if not depth:
                if name:
                    yield name, line, text.count('\n', 0, at) + 2 - line
                start, name = at + 1, None
        elif not depth:
            start = at + 1


def python_functions(text):
    for found in ast.walk(ast.parse(text)):
        if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield found.name, found.lineno, found.end_lineno + 1 - found.lineno


def judge(path, text):
    """Violations of one file, and the number of its functions."""
    faults, n, n_lines = [], 0, len(text.splitlines())
    if n_lines > FILE_LINES and not TABLE.search(path):
        faults.append('%s: %d lines, at most %d' % (path, n_lines, FILE_LINES))
    found = ()
    if is_python(path, text):
        found = python_functions(text)
    elif re.search(r'\.(c|cpp|h|def|inc|cu|cuh)$', path):
        macros = ((m.group(1), text.count('\n', 0, m.start()) + 1, m.group().count('\n') + 1) for m in MACRO.finditer(text))
        found = itertools.chain(c_functions(text), macros)
    for name, line, lines in found:
        n += 1
        if lines > FUNCTION_LINES:
            faults.append('%s:%d: %s has %d lines, at most %d' % (path, line, name, lines, FUNCTION_LINES))
    return faults, n


def c_body(n):
    return 'static int f(int a,\n             int b)\n{\n' + '    if (a) { b = \'{\'; }\n' * n + '}\n'


# name, path, text, what is said of it
CASES = [
    ('a short file', 'x.c', 'int x;\n' * 300, None),
    ('a long file', 'x.c', 'int x;\n' * 301, 'x.c: 301 lines'),
    ('a long script', 'x', '#!/bin/sh\n' + 'true\n' * 300, 'x: 301 lines'),
    ('a short function', 'x.c', c_body(56), None),
    ('a long function', 'x.c', 'int y;\n' + c_body(57), 'x.c:2: f has 61 lines'),
    ('a long function in extern "C"', 'x.h', 'extern "C" {\n' + c_body(57) + '}\n', 'f has 61 lines'),
    ('a long test', 'x.c', 'Test(a, b) {\n' + '    g();\n' * 59 + '}\n', 'Test(a, b) has 61 lines'),
    ('a long kernel', 'x.cu', '__global__ void k(int a) {\n' + '    g();\n' * 59 + '}\n', 'k has 61 lines'),
    ('a long function after braces in text', 'x.c', 'const char *s = "{{{";\n/* { */\n' + c_body(57), 'f has 61 lines'),
    ('a long function with an attribute', 'x.c', c_body(57).replace('int b)', 'int b) EBB_COLD'), 'f has 61 lines'),
    ('a long function in an .inc', 'x.inc', c_body(57), 'f has 61 lines'),
    ('a long function in a table', 'tests/x_rows.h', c_body(57), 'f has 61 lines'),
    ('a long macro', 'x.h', '#define M(a) \\\n' + '    (a)++; \\\n' * 59 + '    (a)++\n', 'x.h:1: M has 61 lines'),
    ('a long table of tests', 'tests/x_rows.h', '    {1},\n' * 301, None),
    ('a long file named like one', 'src/x_rows.h', '    {1},\n' * 301, 'src/x_rows.h: 301 lines'),
    ('a long file in a folder named like one', 'src/records/x.c', 'int x;\n' * 301, 'src/records/x.c: 301 lines'),
    ('a table', 'x.c', 'static const int rows[] = {\n' + '    1,\n' * 100 + '};\n', None),
    ('a struct', 'x.h', 'struct s {\n' + '    int x;\n' * 100 + '};\n', None),
    ('a short function of Python', 'x.py', 'def f():\n' + '    g()\n' * 59, None),
    ('a long function of Python', 'x.py', 'class a:\n    def f(self):\n' + '        g()\n' * 60, 'x.py:2: f has 61 lines'),
    ('a long function of a script', 'x', '#!/usr/bin/env python3\ndef f():\n' + '    g()\n' * 60, 'x:2: f has 61 lines'),
]


def main():
    if len(sys.argv) != 2:
        print('usage: length_rules.py ROOT | --test', file=sys.stderr)
        return 2
    if sys.argv[1] == '--test':
        cases = [(name, judge(path, text)[0], words) for name, path, text, words in CASES]
        return sources.report(sources.missed(cases), len(cases), 21, 'cases')
    root, faults, n = sys.argv[1], [], 0
    for path in sources.files(root, TOPS, lambda path: path.endswith('.def') or not re.search(r'\.(ebb|csv|json)$', path)):
        if not CODE.search(path):
            with open(root + '/' + path, 'rb') as source:
                if source.read(2) != b'#!':
                    continue
        found, n_functions = judge(path, sources.read(root, path))
        faults += found
        n += n_functions
    return sources.report(faults, n, 1000, 'functions')


if __name__ == '__main__':
    sys.exit(main())
