#!/usr/bin/env python3
"""The drawing of the house and the chain of its rooms say what the rules say.

    drawing_rules.py ROOT     checks docs/README.md's drawing and CONTRIBUTING.md's chain against house.py
    drawing_rules.py --test   checks that planted faults are found

Both have each room once, on a floor above those of all rooms that it sees."""
import os
import re
import sys

from house import ROOMS


def drawn(text):
    """Floors of docs/README.md's drawing, from the ground up: lists of rooms."""
    found = re.search(r'^## The house\n.*?^```\n(.*?)^```', text, re.M | re.S)
    lines = found.group(1).splitlines() if found else []
    return [re.findall(r'\bsrc/(\w+)', line) for line in reversed(lines)]


def chained(text):
    """The same of CONTRIBUTING.md's chain: `base` <- `graph`, `pack` <- ..."""
    found = re.search(r'^`base` ←.*?\.', text, re.M | re.S)
    return [re.findall(r'`(\w+)`', part) for part in found.group().split('←')] if found else []


def judge(where, floors, rooms):
    names = [name for floor in floors for name in floor if name != 'tool']
    faults = ['%s: %s is there %d times' % (where, name, names.count(name)) for name in rooms if names.count(name) != 1]
    faults += ['%s: there is no room %s' % (where, name) for name in sorted(set(names) - set(rooms))]
    at = {name: i for i, floor in enumerate(floors) for name in floor}
    for name, room in rooms.items():
        faults += ['%s: %s sees %s, which does not lie below it' % (where, name, seen) for seen in sorted(room['sees'])
                   if name in at and seen in at and at[seen] >= at[name]]
    return faults


def check(root):
    faults = []
    for name, read in (('docs/README.md', drawn), ('CONTRIBUTING.md', chained)):
        with open(os.path.join(root, name), encoding='utf-8') as file:
            faults += judge(name, read(file.read()), ROOMS)
    return faults


def test():
    rooms = {'base': {'sees': set()}, 'graph': {'sees': {'base'}}, 'exec': {'sees': {'base', 'graph'}}}
    picture = '## The house\n\n```\nsrc/tool    users\n%s\nsrc/base    text\n```\n'
    chain = '`base` ← %s ← `tool`, examples. Rooms `engine`'
    rows = [(drawn, picture, 'src/exec\nsrc/graph', 0), (drawn, picture, 'src/graph\nsrc/exec', 1), (drawn, picture, 'src/graph src/exec', 1),
            (drawn, picture, 'src/graph', 1), (drawn, picture, 'src/exec\nsrc/graph src/attic', 1), (drawn, '', '', 3),
            (chained, chain, '`graph` ← `exec`', 0), (chained, chain, '`graph`, `exec`', 1), (chained, chain, '`exec` ← `graph`', 1),
            (chained, chain, '`graph`', 1), (chained, '', '', 3)]
    return ['row %d: %s' % (i, faults) for i, (read, text, inner, n) in enumerate(rows)
            if len(faults := judge('x', read(text % inner if text else ''), rooms)) != n]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults = test() if sys.argv[1] == '--test' else check(sys.argv[1])
    for line in faults:
        print(line, file=sys.stderr)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
