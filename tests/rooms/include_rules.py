#!/usr/bin/env python3
"""The include rules of the house: which room may see which headers.

    include_rules.py ROOT      checks every source under ROOT; exit 1 with one line per violation
    include_rules.py --test    checks that each rule below is enforced; exit 1 when one is not

A room's face headers are what others may include, as far as the room stands above them; every other header is
private to its room. Nothing includes upward and there is no circle."""
import os
import re
import sys

import sources
from house import (BACKEND_LIBRARIES, BACKEND_SEES, CONFORMANCE_SEES, FAMILY_FILE, FAMILY_SEE, FOLDERS, GENERATED,
                   LIBC, NAMED_BY_MACRO, OUTSIDE_LIBRARIES, PYTHON_LIBRARIES, ROOMS, SECOND_FACES)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(?:([<"])([^>"\n]+)[>"]|([^\n]*))', re.M)
SOURCE = re.compile(r'\.(c|h|def|inc|cpp|cu|cuh)$')


def resolve(path, name, mark, exists):
    """The header as the rules name it: "graph/op.h", or "./x.h" for one beside the includer that is no room's."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if mark == '"' and exists(beside):
        if beside.startswith('src/'):
            return beside[len('src/'):]
        if beside.startswith('include/'):
            return beside[len('include/'):]
        return './' + name
    return name


def fault_inside(room, inside, target):
    """None when `inside`, a path in the room, may include `target`, another one there, else why not."""
    own, folder = (p.split('/')[0] if '/' in p else None for p in (inside, target))
    sees = FOLDERS.get(room, {})
    if own in sees and folder is None and target not in sees[own]:
        return 'a folder does not see the room around it'
    if folder in (None, own) or folder not in sees:
        return None
    if own in sees and folder not in sees[own]:
        return '%s/%s does not see %s' % (room, own, folder)
    if own in SECOND_FACES.get(room, {}).get(target, ()):
        return None
    return None if target == '%s/%s.h' % (folder, folder) else 'private to %s/%s' % (room, folder)


def fault(path, mark, name, exists):
    """None when `path` (from the root) may include `name`, else why not."""
    header = resolve(path, name, mark, exists)
    if '..' in name.split('/'):
        return 'a path with .. hides which room it enters'
    if mark == '<' and header in LIBC:
        return None
    parts = path.split('/')
    if parts[0] == 'include':
        return None if header.startswith('ebb/') or header.startswith('./') else 'public headers see public headers only'
    if parts[0] in ('examples', 'python') or parts[:2] == ['src', 'tool']:
        if parts[0] == 'src' and header.startswith('tool/'):
            return fault_inside('tool', '/'.join(parts[2:]), header[len('tool/'):])
        if header.startswith('ebb/') or header.startswith('./'):
            return None
        if parts[0] == 'examples' and mark == '<' and header in OUTSIDE_LIBRARIES:
            return None
        if parts[0] == 'python' and mark == '<' and header in PYTHON_LIBRARIES:
            return None
        return 'the command, the examples and the package see include/ebb only'
    room_name = parts[1]
    room = ROOMS.get(room_name)
    if room is None:
        return 'src/%s is no room of the house' % room_name
    if header in GENERATED:
        return None
    inside = '/'.join(parts[1:])
    if room_name == 'exec' and len(parts) > 3:
        own = 'exec/%s/' % parts[2]
        if parts[2] == 'conformance' and header in CONFORMANCE_SEES:
            return None
        if header.startswith(own) or header in BACKEND_SEES or header in BACKEND_LIBRARIES.get(parts[2], ()):
            return None
        return 'a backend sees exec/backend.h, exec/kernels.h, graph/op.h, base and its own folder only'
    if FAMILY_FILE.match(inside) and not FAMILY_SEE.match(header):
        return 'op families see ops/*.h, what they emit into and the headers that the room shares only'
    if header in room['libraries'] or header in room['public'] or header in room.get('extra', ()):
        return None
    target = header.split('/')[0]
    if target == room_name:
        if room_name == 'exec' and header.count('/') > 1:
            return 'exec does not look into a backend'
        return fault_inside(room_name, inside.split('/', 1)[1], header.split('/', 1)[1])
    if target == 'ebb':
        return 'public header of a higher floor'
    if target not in ROOMS:
        return 'neither libc, nor a room, nor a library of this room'
    if target not in room['sees']:
        return '%s does not see %s' % (room_name, target)
    if header not in ROOMS[target]['faces']:
        return 'private to %s' % target
    return None


def faults_of(path, text, exists):
    """(line, what it includes, why not) of each violation of one file, and the number of its includes."""
    faults, n = [], 0
    for match in INCLUDE.finditer(sources.bare(text, strings=False)):
        n += 1
        mark, name, macro = match.groups()
        if name:
            why = fault(path, mark, name, exists)
        else:
            why = None if (path, macro.strip()) in NAMED_BY_MACRO else 'write the name of the header here'
        if why:
            faults.append((text.count('\n', 0, match.start()) + 1, name or macro.strip(), why))
    return faults, n


def check(root):
    """Violations, and the number of includes looked at."""
    faults, n = [], 0
    exists = lambda path: os.path.isfile(os.path.join(root, path))
    for top in ('include', 'src', 'examples', 'python'):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders.sort()
            for file in sorted(f for f in files if SOURCE.search(f)):
                path = os.path.relpath(os.path.join(folder, file), root)
                with open(os.path.join(folder, file), encoding='utf-8') as source:
                    found, n_found = faults_of(path, source.read(), exists)
                faults += ['%s:%d: includes %s: %s' % (path, line, name, why) for line, name, why in found]
                n += n_found
    return faults, n


# includer, include, whether it is allowed
ROWS = [
    ('src/base/env.c', '"base/base.h"', True),
    ('src/base/json/read.c', '<jansson.h>', True),
    ('src/base/json/read.c', '"base/os/os.h"', True),
    ('src/base/env/env.c', '"base/json/json.h"', False),
    ('src/base/os/file.c', '"base/base.h"', False),
    ('src/base/env.c', '"graph/graph.h"', False),
    ('src/base/env.c', '"ebb/plan.h"', False),
    ('src/base/env.c', '<glpk.h>', False),
    ('src/graph/build.c', '"graph/names.h"', True),
    ('src/graph/build.c', '"base/base.h"', True),
    ('src/graph/build.c', '"base/private.h"', False),
    ('src/graph/build.c', '"planner/planner.h"', False),
    ('src/graph/build.c', '"ebb/engine.h"', False),
    ('src/graph/build.c', '<jansson.h>', False),
    ('src/graph/ops/conv.c', '"graph/ops/rule.h"', True),
    ('src/graph/ops/conv.c', '"graph/emit/emit.h"', True),
    ('src/graph/ops/conv.c', '"graph/ir/ir.h"', False),
    ('src/graph/ops/conv.c', '"graph/build.h"', False),
    ('src/graph/emit/emit.c', '"graph/ir/ir.h"', True),
    ('src/graph/emit/emit.c', '"graph/op.h"', False),
    ('src/graph/emit/emit.c', '"graph/ops/ops.h"', False),
    ('src/graph/ir/seal.c', '"graph/emit/emit.h"', False),
    ('src/planner/live.c', '"graph/pgraph.h"', True),
    ('src/planner/live.c', '"plan/plan.h"', True),
    ('src/planner/live.c', '"sublinear/sublinear.h"', False),
    ('src/planner/live.c', '"exec/exec.h"', False),
    ('src/planner/places.c', '"pack/pack.h"', True),
    ('src/planner/places.c', '"pack/solve/solve.h"', False),
    ('src/pack/heuristics/list.c', '"pack/pack.h"', True),
    ('src/pack/heuristics/list.c', '"pack/problem/problem.h"', True),
    ('src/pack/heuristics/list.c', '"pack/solve/solve.h"', False),
    ('src/pack/rows/names.c', '"graph/pgraph.h"', False),
    ('src/pack/rows/names.c', '"pack/fit/fit.h"', False),
    ('src/pack/pack.h', '"ebb/plan.h"', False),
    ('src/plan/json.c', '"planner/planner.h"', False),
    ('src/audit/bytes.c', '"plan/plan.h"', True),
    ('src/audit/bytes.c', '"planner/planner.h"', False),
    ('src/audit/bytes.c', '"pack/pack.h"', False),
    ('src/sublinear/space/space.c', '"sublinear/score/score.h"', False),
    ('src/sublinear/exact/tree.c', '"sublinear/score/play.h"', True),
    ('src/sublinear/seeds/cuts.c', '"sublinear/score/play.h"', False),
    ('src/sublinear/pool/pool.c', '"sublinear/seeds/seeds.h"', False),
    ('src/sublinear/pool/pool.c', '"sublinear/select.h"', False),
    ('src/sublinear/select.c', '"planner/planner.h"', False),
    ('src/engine/study/study.c', '"engine/inputs/inputs.h"', True),
    ('src/engine/study/study.c', '"engine/compile/compile.h"', False),
    ('src/engine/sweep/fit.c', '"engine/check/compare.h"', False),
    ('src/sublinear/bound.c', '<glpk.h>', True),
    ('src/sublinear/score.c', '"exec/exec.h"', False),
    ('src/exec/run.c', '"plan/plan.h"', True),
    ('src/exec/run.c', '"planner/planner.h"', False),
    ('src/exec/run.c', '"exec/program.h"', True),
    ('src/exec/run.c', '"exec/cpu/cpu.h"', False),
    ('src/exec/run.c', '"sublinear/sublinear.h"', False),
    ('src/exec/cpu/conv.c', '"exec/cpu/cpu.h"', True),
    ('src/exec/cpu/conv.c', '"exec/kernels.h"', True),
    ('src/exec/cpu/conv.c', '<dnnl.h>', True),
    ('src/exec/cpu/conv.c', '"exec/ref/ref.h"', False),
    ('src/exec/cpu/conv.c', '"exec/exec.h"', False),
    ('src/exec/cpu/conv.c', '"exec/program.h"', False),
    ('src/exec/cpu/conv.c', '"planner/planner.h"', False),
    ('src/exec/conformance/report.c', '"exec/conformance.h"', True),
    ('src/exec/conformance/bench.c', '"exec/backend.h"', True),
    ('src/exec/conformance/bench.c', '"exec/ref/ref.h"', False),
    ('src/exec/conformance/bench.c', '"exec/exec.h"', False),
    ('src/exec/cpu/conv.c', '"exec/conformance.h"', False),
    ('src/exec/ref/conv.c', '<dnnl.h>', False),
    ('src/exec/cuda/module.c', '"exec/module.h"', True),
    ('src/exec/cuda/device/cuda.c', '<cuda_runtime_api.h>', True),
    ('src/exec/module.c', '<cuda_runtime_api.h>', False),
    ('src/engine/options.c', '"exec/module.h"', True),
    ('src/engine/options.c', '"exec/cuda/cuda.h"', False),
    ('src/engine/compile.c', '"sublinear/sublinear.h"', True),
    ('src/engine/compile.c', '"exec/exec.h"', True),
    ('src/engine/compile.c', '"exec/program.h"', False),
    ('src/engine/compile.c', '"graph/build.h"', False),
    ('src/engine/compile.c', '"ebb/engine.h"', True),
    ('src/report/make/make.c', '"plan/plan.h"', True),
    ('src/report/make/make.c', '"report/make/make.h"', True),
    ('src/report/make/make.c', '"report/html/html.h"', False),
    ('src/report/make/make.c', '"report/report.h"', False),
    ('src/report/make/make.c', '"audit/auditor.h"', False),
    ('src/report/make/make.c', '"engine/engine.h"', False),
    ('src/report/make/make.c', '"sublinear/sublinear.h"', False),
    ('src/report/make/make.c', '<jansson.h>', False),
    ('src/engine/compile.c', '"report/report.h"', False),
    ('src/tool/main.c', '"ebb/ebb.h"', True),
    ('src/tool/main.c', '<ebb/ebb.h>', True),
    ('src/tool/main.c', '"base/base.h"', False),
    ('src/tool/main.c', '"engine/engine.h"', False),
    ('src/tool/main.c', '<zlib.h>', False),
    ('src/tool/main.c', '"tool/options/options.h"', True),
    ('src/tool/options/costs.c', '"tool/out/out.h"', True),
    ('src/tool/out/json.c', '"tool/options/options.h"', False),
    ('src/tool/commands/fit/batch.c', '"tool/commands/fit/fit.h"', True),
    ('src/tool/main.c', '"tool/commands/fit/fit.h"', False),
    ('examples/resnet50/main.c', '<ebb/ebb.h>', True),
    ('examples/resnet50/main.c', '<zlib.h>', True),
    ('examples/resnet50/main.c', '"../../src/base/base.h"', False),
    ('examples/resnet50/main.c', '"graph/graph.h"', False),
    ('python/core/core.h', '<Python.h>', True),
    ('python/core/core.h', '<ebb/trace.h>', True),
    ('python/core/op.c', '"eager/eager.h"', False),
    ('python/core/op.c', '<zlib.h>', False),
    ('include/ebb/plan.h', '"ebb/base.h"', True),
    ('include/ebb/plan.h', '"base/base.h"', False),
    ('src/engine/compile.c', '<stdio.h>', True),
    ('src/engine/compile.c', '<windows.h>', False),
    ('src/attic/x.c', '"base/base.h"', False),
    ('src/exec/cuda/launch.inc', 'CUDA_FAMILY', True),
    ('src/exec/cuda/launch.inc', '"sublinear/sublinear.h"', False),
    ('src/pack/pools.c', 'CUDA_FAMILY', False),
    ('src/pack/pools.c', '/**/"sublinear/sublinear.h"', False),
    ('src/pack/pools.c', '\\\n"sublinear/sublinear.h"', False),
]


def test():
    wrong = []
    for path, include, allowed in ROWS:
        found, n = faults_of(path, '#include ' + include, lambda _: False)
        if n != 1 or bool(found) == allowed:
            wrong.append('%s including %s should be %s' % (path, include, 'allowed' if allowed else 'refused'))
    return wrong, len(ROWS)


def main():
    if len(sys.argv) != 2:
        print('usage: include_rules.py ROOT | --test', file=sys.stderr)
        return 2
    faults, n = test() if sys.argv[1] == '--test' else check(sys.argv[1])
    for line in faults:
        print(line)
    if n < 50:
        print('only %d includes found: is %s the root?' % (n, sys.argv[1]))
        return 1
    print('%d looked at, %d against the rules' % (n, len(faults)))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
