#!/usr/bin/env python3
"""The rules of the folders inside a room, src/<room>/<folder>, and of those inside such a folder.

    folder_rules.py ROOT BUILD   checks the sources under ROOT and the objects of them under BUILD
    folder_rules.py --test       checks that planted violations are found

A folder has one face header, <folder>/<folder>.h, which is all that files outside of it may include. No circle passes
through a folder, by includes or by symbols: the linker knows of calls that a shared header hides. A folder that calls
another also includes it, if only by way of a header it sees. Files beside the folders count one by one, a header apart from the source of its name."""
import json
import os
import re
import subprocess
import sys

import house
import sources

# Folders whose face is not named after them, or that have several: what files outside may include.
FACES = {
    'exec/conformance': {'exec/conformance.h'},
    'exec/emit': {'exec/emit/emit.h', 'exec/emit/parts.h'},
}
# Folders without a face: each file is for one that launches it.
OPEN = {'exec/cuda/kernels'}
DEFINED = re.compile(r'^[0-9a-f]* ?[TDRBVWC] (\w+)$')
UNDEFINED = re.compile(r'^ *[Uw] (\w+)$')


def node(path, depth):
    """The folder `depth` below src that holds `path` (from src), or the path itself when it lies above."""
    parts = path.split('/')
    return '/'.join(parts[:depth]) if len(parts) > depth else path


def above(path, depth):
    """The room, or the folder that has folders, of which `path`'s node at `depth` is a part."""
    return path.split('/')[:depth - 1]


def is_folder(name):
    return not re.search(r'\.\w+$', name)


def faces(folder):
    return FACES.get(folder, set()) | {'%s/%s.h' % (folder, folder.split('/')[-1])}


def second_face(source, header):
    """Is `header` declared as one that the folder `source` may see, too?"""
    room, _, rest = header.partition('/')
    return source.partition('/')[2] in house.SECOND_FACES.get(room, {}).get(rest, set())


def include_arrows(texts, depth):
    """Faults, and {(from, to): where} inside each room. `texts` maps paths from src to their text."""
    faults, arrows = [], {}
    for path, text in texts.items():
        for match in sources.INCLUDE.finditer(text):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), match.group(1)))
            header = beside if beside in texts else match.group(1)
            source, target = node(path, depth), node(header, depth)
            if header not in texts or source == target or above(header, depth) != above(path, depth):
                continue
            arrows.setdefault((source, target), '%s includes %s' % (path, header))
            if is_folder(target) and target not in OPEN and header not in faces(target) and not second_face(source, header):
                faults.append('src/%s includes %s, which is private to %s' % (path, header, target))
    return faults, arrows


def symbol_arrows(objects, depth):
    """{(from, to): where} inside each room. `objects` maps paths from src to (defined, undefined) symbols."""
    homes, arrows = {}, {}
    for path, (defined, _) in objects.items():
        for symbol in defined:
            homes.setdefault(symbol, path)
    for path, (_, undefined) in objects.items():
        for symbol in sorted(undefined):
            home = homes.get(symbol, path)
            if node(home, depth) != node(path, depth) and above(home, depth) == above(path, depth):
                arrows.setdefault((node(path, depth), node(home, depth)), '%s calls %s of %s' % (path, symbol, home))
    return arrows


def way_back(arrows, start, end):
    """The shortest chain of nodes from `start` to `end`, or None."""
    chains, seen = [[start]], {start}
    for chain in chains:
        if chain[-1] == end:
            return chain
        for target in sorted(b for a, b in arrows if a == chain[-1] and b not in seen):
            seen.add(target)
            chains.append(chain + [target])
    return None


def seen(texts, folder, depth):
    """The nodes whose headers the files of `folder` include, one by way of another too."""
    waiting = [path for path in texts if node(path, depth) == folder]
    reached = set(waiting)
    while waiting:
        path = waiting.pop()
        for name in sources.INCLUDE.findall(texts[path]):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            header = beside if beside in texts else name
            if header in texts and header not in reached:
                reached.add(header)
                waiting.append(header)
    return {node(path, depth) for path in reached}


def judge_at(texts, objects, depth):
    """Every violation of the folders `depth` below src, and the number of arrows."""
    faults, by_include = include_arrows(texts, depth)
    by_symbol = symbol_arrows(objects, depth)
    for (a, b), where in sorted(by_symbol.items()):
        if is_folder(a) and is_folder(b) and b not in seen(texts, a, depth):
            faults.append('%s, but nothing of %s includes %s' % (where, a, b))
    arrows = {**by_symbol, **by_include}
    told = set()
    for a, b in sorted(arrows):
        back = way_back(arrows, b, a)
        if not back or frozenset(back) in told or not any(map(is_folder, back)):
            continue
        told.add(frozenset(back))
        chain = [a] + back
        faults.append('circle: ' + '; '.join(arrows[pair] for pair in zip(chain, chain[1:])))
    return faults, len(arrows)


def judge(texts, objects):
    """Every violation of the given sources and objects, and the number of arrows."""
    found = [judge_at(texts, objects, depth) for depth in (2, 3)]
    return sum((faults for faults, _ in found), []), sum(n for _, n in found)


def symbols(outputs):
    """Of each object: the symbols it defines for others, and those it needs."""
    lines = subprocess.run(['nm', '-A', *outputs], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {output: (set(), set()) for output in outputs}
    for output, _, line in (line.partition(':') for line in lines):
        for pattern, symbols_of in zip((DEFINED, UNDEFINED), found[output]):
            symbols_of.update(pattern.findall(line))
    return found


def read_objects(root, build):
    """Faults, and the symbols of each source of src that this build compiles."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as commands:
        rows = json.load(commands)
    outputs = {}
    for row in rows:
        path = os.path.relpath(os.path.join(row['directory'], row['file']), os.path.join(root, 'src'))
        if not path.startswith('..') and row['output'].startswith('src/'):
            outputs.setdefault(path, os.path.join(row['directory'], row['output']))
    missing = [path for path, output in outputs.items() if not os.path.exists(output)]
    found = symbols([outputs[path] for path in outputs if path not in missing])
    return ['src/%s: %s is not built' % (path, outputs[path]) for path in missing], \
        {path: found[output] for path, output in outputs.items() if output in found}


# name, {path from src: text}, {path from src: (defined, undefined)}, what is said of it
CASES = [
    ('a face', {'r/a/x.c': '#include "r/b/b.h"\n', 'r/b/b.h': ''}, {}, None),
    ('a private header', {'r/a/x.c': '#include "r/b/y.h"\n', 'r/b/y.h': ''}, {}, 'private to r/b'),
    ('a private header from beside', {'r/x.c': '#include "r/b/y.h"\n', 'r/b/y.h': ''}, {}, 'private to r/b'),
    ('a second face', {'sublinear/exact/x.h': '#include "sublinear/score/play.h"\n', 'sublinear/score/play.h': ''}, {}, None),
    ('a second face, of others', {'sublinear/search/x.c': '#include "sublinear/score/play.h"\n', 'sublinear/score/play.h': ''}, {}, 'private'),
    ('its own private header', {'r/b/x.c': '#include "r/b/y.h"\n', 'r/b/y.h': ''}, {}, None),
    ('a circle by includes', {'r/a/a.h': '#include "r/b/b.h"\n', 'r/b/b.h': '', 'r/b/x.c': '#include "r/a/a.h"\n'}, {}, 'circle'),
    ('a circle of three', {'r/a/a.h': '#include "r/b/b.h"\n', 'r/b/b.h': '#include "r/c/c.h"\n', 'r/c/c.h': '', 'r/c/x.c': '#include "r/a/a.h"\n'},
     {}, 'circle'),
    ('a circle by way of the room', {'r/r.h': '', 'r/x.c': '#include "r/a/a.h"\n', 'r/a/a.h': '', 'r/a/y.c': '#include "r/r.h"\n'},
     {'r/x.c': ({'up'}, {'down'}), 'r/a/y.c': ({'down'}, {'up'})}, 'r/a/y.c calls up of r/x.c'),
    ('the room above its folder', {'r/r.h': '', 'r/x.c': '#include "r/a/a.h"\n', 'r/a/a.h': '', 'r/a/y.c': '#include "r/r.h"\n'},
     {'r/x.c': ({'up'}, {'down'}), 'r/a/y.c': ({'down'}, {'memcpy'})}, None),
    ('a hidden call', {'r/r.h': '', 'r/a/x.c': '#include "r/r.h"\n', 'r/b/y.c': ''},
     {'r/a/x.c': (set(), {'f'}), 'r/b/y.c': ({'f'}, set())}, 'nothing of r/a includes r/b'),
    ('a call by way of another face', {'r/a/x.c': '#include "r/c/c.h"\n', 'r/c/c.h': '#include "r/b/b.h"\n', 'r/b/b.h': '', 'r/b/y.c': ''},
     {'r/a/x.c': (set(), {'f'}), 'r/b/y.c': ({'f'}, set())}, None),
    ('a private header of an inner folder', {'r/a/x.c': '#include "r/a/b/y.h"\n', 'r/a/b/y.h': ''}, {}, 'private to r/a/b'),
    ('an inner folder from another room', {'q/x.c': '#include "r/a/b/y.h"\n', 'r/a/b/y.h': ''}, {}, None),
    ('a circle through an inner folder', {'r/a/x.c': '#include "r/a/b/b.h"\n', 'r/a/b/b.h': '', 'r/a/b/y.c': '#include "r/a/a.h"\n', 'r/a/a.h': ''},
     {'r/a/x.c': ({'up'}, {'down'}), 'r/a/b/y.c': ({'down'}, {'up'})}, 'r/a/b/y.c calls up of r/a/x.c'),
    ('a call through the face', {'r/a/x.c': '#include "r/b/b.h"\n', 'r/b/b.h': '', 'r/b/y.c': ''},
     {'r/a/x.c': (set(), {'f'}), 'r/b/y.c': ({'f'}, set())}, None),
]


def main():
    if sys.argv[1:] == ['--test']:
        cases = [(name, judge(texts, objects)[0], words) for name, texts, objects, words in CASES]
        return sources.report(sources.missed(cases), len(cases), 16, 'cases')
    if len(sys.argv) != 3:
        print('usage: folder_rules.py ROOT BUILD | --test', file=sys.stderr)
        return 2
    root, build = sys.argv[1:]
    paths = sources.files(root, ['src'], sources.C_SOURCE.search)
    texts = {os.path.relpath(path, 'src'): sources.read(root, path) for path in paths}
    missing, objects = read_objects(root, build)
    faults, n = judge(texts, objects)
    return sources.report(missing + faults, n, 50, 'arrows')


if __name__ == '__main__':
    sys.exit(main())
