"""What the house tests share: the files of the tree, and C without its comments."""
import os
import re

C_SOURCE = re.compile(r'\.(c|cpp|h|inc|cu|cuh)$')
SKIPPED = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.M)


def files(root, tops, wanted):
    """Paths from `root` of the files under `tops` for which wanted(path) holds, in order."""
    found = []
    for top in tops:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(f for f in folders if not f.startswith(('.', '__')))
            paths = (os.path.relpath(os.path.join(folder, name), root) for name in sorted(names))
            found += [path for path in paths if wanted(path)]
    return found


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as source:
        return source.read()


def bare(text, strings=True):
    """C text without comments, and with empty strings where `strings`; every line stays where it was."""
    def blank(match):
        token = match.group()
        if token[0] == '/':
            return ' ' + '\n' * token.count('\n')
        return token if not strings else token[0] + token[0]
    return SKIPPED.sub(blank, text)


def report(faults, n, least, what):
    """Prints one line per violation; the exit code. Fewer than `least` things looked at is a fault: the wrong root."""
    for line in faults:
        print(line)
    if n < least:
        print('only %d %s found, at least %d expected: is this the root?' % (n, what, least))
        return 1
    print('%d %s looked at, %d against the rules' % (n, what, len(faults)))
    return 1 if faults else 0


def missed(cases):
    """Of (name, faults found, words expected or None): one line per planted case that was not judged so."""
    wrong = []
    for name, faults, words in cases:
        if words is None and faults:
            wrong.append('%s: nothing is wrong, but found: %s' % (name, '; '.join(faults)))
        if words is not None and not any(words in fault for fault in faults):
            wrong.append('%s: "%s" expected, found: %s' % (name, words, '; '.join(faults) or 'nothing'))
    return wrong
