#!/usr/bin/env python3
"""The passes have their names and their order from the pages of src/engine/compile/compile.c; whatever else lists them agrees: what
--dump takes, what options.h says of `dump`, and docs/passes.md, which has a paragraph on each.

    pass_rules.py ROOT     pass_rules.py --test
"""
import re
import sys

from sources import read, report

WORD = re.compile(r'"([a-z ]+)"')
# Not passes over a step's graph: what is read, what is asked of the backend, and the plan.
AROUND = (["parse"], ["query", "schedule"])


def passes_of(compile_c):
    return re.findall(r'PASS\("(\w+)"', compile_c)


def faults(compile_c, flags, options, docs):
    passes = passes_of(compile_c)
    dumped = AROUND[0] + passes + AROUND[1]
    found = []
    flag = flags[flags.index('{"dump"'):]
    flag = flag[flag.index("0, 0,"):flag.index('"print a pass')]
    listed = " ".join(WORD.findall(flag)).split()
    if listed != dumped:
        found.append(f"src/tool/line/flags.c: --dump takes {' '.join(listed)}; the passes are {' '.join(dumped)}")
    said = options[options.index("const char *dump;"):]
    said = WORD.findall(said[:said.index("*/")])
    if said != dumped:
        found.append(f"include/ebb/options.h: dump names {' '.join(said)}; the passes are {' '.join(dumped)}")
    order = re.findall(r"\w+", re.search(r"In this order: ([^.]*)\.", docs).group(1).replace(" or ", ", "))
    if order != passes:
        found.append(f"docs/passes.md: the order {' '.join(order)}; the passes are {' '.join(passes)}")
    paragraphs = [name for name in re.findall(r"^\*\*(\w+)\*\*", docs, re.M) if name in passes]
    if paragraphs != passes:
        found.append(f"docs/passes.md: paragraphs on {' '.join(paragraphs)}; the passes are {' '.join(passes)}")
    return found, len(passes)


def test():
    compile_c = 'PASS("lower", a);\nPASS("grad", b);'
    flags = '{"dump", 0, X, "PASS", 0, 0,\n "parse lower "\n "grad query schedule",\n "print a pass"}'
    options = 'const char *dump; /* "parse", "lower", "grad", "query", "schedule" */'
    docs = "In this order: lower or grad.\n\n**lower** x\n\n**grad** y\n\n**share** z\n"
    assert faults(compile_c, flags, options, docs) == ([], 2)
    for changed in ((compile_c + 'PASS("late", c);', flags, options, docs), (compile_c, flags.replace("grad ", ""), options, docs),
                    (compile_c, flags, options.replace('"grad", ', ""), docs), (compile_c, flags, options, docs.replace("**grad**", "grad")),
                    (compile_c, flags, options, docs.replace("lower or grad", "grad, lower"))):
        assert faults(*changed)[0], changed


if __name__ == "__main__":
    if sys.argv[1] == "--test":
        sys.exit(test())
    root = sys.argv[1]
    lines, n = faults(*(read(root, path) for path in ("src/engine/compile/compile.c", "src/tool/line/flags.c", "include/ebb/options.h", "docs/passes.md")))
    sys.exit(report(lines, n, 10, "passes"))
