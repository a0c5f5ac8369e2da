#!/usr/bin/env python3
"""The include rules of the house: which room may see which headers.

    include_rules.py ROOT      checks every source under ROOT; exit 1 with one line per violation
    include_rules.py --test    checks that each rule below is enforced; exit 1 when one is not

A room's face headers are what others may include, as far as the room stands above them; every other header is
private to its room. Nothing includes upward and there is no circle."""
import os
import re
import sys

# Rooms from the ground up: face headers, rooms below that may be seen, public headers, other libraries.
ROOMS = {
    'base': {
        'faces': {'base/base.h', 'base/philox.h'},
        'sees': set(),
        'public': {'ebb/base.h'},
        'libraries': {'jansson.h', 'jemalloc/jemalloc.h'},
    },
    'graph': {
        'faces': {'graph/graph.h', 'graph/op.h', 'graph/ops.def', 'graph/pgraph.h'},
        'sees': {'base'},
        'public': {'ebb/base.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    'planner': {
        'faces': {'planner/planner.h', 'planner/rows.h'},
        'sees': {'base', 'graph'},
        'public': {'ebb/base.h', 'ebb/pack.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    'sublinear': {
        'faces': {'sublinear/sublinear.h'},
        'sees': {'base', 'graph', 'planner'},
        'public': {'ebb/base.h', 'ebb/plan.h', 'ebb/config.h'},
        'libraries': {'glpk.h'},
    },
    'exec': {
        'faces': {'exec/exec.h', 'exec/backend.h', 'exec/conformance.h', 'exec/costs.h', 'exec/device_file.h', 'exec/kernels.h',
                  'exec/module.h'},
        'sees': {'base', 'graph'},
        'extra': {'planner/planner.h'},
        'public': {'ebb/base.h', 'ebb/check.h', 'ebb/costs.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    'report': {
        'faces': {'report/report.h'},
        'sees': {'base', 'graph', 'planner'},
        'public': {'ebb/base.h', 'ebb/plan.h', 'ebb/report.h'},
        'libraries': set(),
    },
    'engine': {
        'faces': {'engine/engine.h'},
        'sees': {'base', 'graph', 'planner', 'sublinear', 'exec'},
        'public': {'ebb/base.h', 'ebb/check.h', 'ebb/costs.h', 'ebb/plan.h', 'ebb/config.h', 'ebb/engine.h', 'ebb/ebb.h'},
        'libraries': set(),
    },
}

# What a backend, src/exec/<name>, may see beside its own folder and base: never another backend.
BACKEND_SEES = {'exec/backend.h', 'exec/device_file.h', 'exec/kernels.h', 'exec/module.h', 'exec/dropout.h', 'exec/roofline.h',
                'graph/op.h', 'graph/ops.def', 'graph/dtypes.def', 'base/base.h', 'base/philox.h', 'ebb/base.h'}
# The conformance suite, src/exec/conformance, sees what a backend sees: it asks backends through their table alone.
CONFORMANCE_SEES = BACKEND_SEES | {'exec/conformance.h', 'ebb/check.h'}
BACKEND_LIBRARIES = {
    'cpu': {'dnnl.h', 'omp.h', 'sanitizer/tsan_interface.h'},
    'cuda': {'cuda.h', 'cuda_runtime.h', 'cuda_runtime_api.h', 'cudnn.h', 'cublas_v2.h', 'cublasLt.h'},
}

# The packers and the row checker see rows, not graphs.
ROWS_FILE = re.compile(r'^planner/(pack|rows)\w*\.[ch]$')
ROWS_SEE = re.compile(r'^(planner/(pack|rows)\w*\.h|base/base\.h|ebb/pack\.h)$')

# Op families share their own helpers and nothing of the room but its faces.
FAMILY_FILE = re.compile(r'^graph/ops/\w+\.[ch]$')
FAMILY_SEE = re.compile(r'^(graph/ops/\w+\.h|graph/(graph|op|pgraph)\.h|base/base\.h|ebb/pack\.h)$')

# Standard C and POSIX.
LIBC = set('''assert.h ctype.h errno.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h stdalign.h stdarg.h
    stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h time.h dirent.h dlfcn.h fcntl.h
    poll.h pthread.h sched.h strings.h unistd.h sys/ioctl.h sys/mman.h sys/resource.h sys/stat.h sys/sysinfo.h
    sys/time.h sys/types.h sys/utsname.h sys/wait.h termios.h'''.split())
GENERATED = {'ebb_build.h', 'probe_models.h', 'report_page.h'}
OUTSIDE_LIBRARIES = {'zlib.h', 'openssl/evp.h', 'openssl/sha.h'}  # of examples

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
SOURCE = re.compile(r'\.(c|h|def|cu|cuh)$')


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
    if parts[0] == 'examples' or parts[:2] == ['src', 'tool']:
        if header.startswith('ebb/') or header.startswith('tool/') or header.startswith('./'):
            return None
        if parts[0] == 'examples' and mark == '<' and header in OUTSIDE_LIBRARIES:
            return None
        return 'the command and the examples see include/ebb only'
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
    if ROWS_FILE.match(inside) and not ROWS_SEE.match(header):
        return 'packers and the row checker see rows and base only'
    if FAMILY_FILE.match(inside) and not FAMILY_SEE.match(header):
        return 'op families see the faces of graph, base and ops/*.h only'
    if header in room['libraries'] or header in room['public'] or header in room.get('extra', ()):
        return None
    target = header.split('/')[0]
    if target == room_name:
        if room_name == 'exec' and header.count('/') > 1:
            return 'exec does not look into a backend'
        return None
    if target == 'ebb':
        return 'public header of a higher floor'
    if target not in ROOMS:
        return 'neither libc, nor a room, nor a library of this room'
    if target not in room['sees']:
        return '%s does not see %s' % (room_name, target)
    if header not in ROOMS[target]['faces']:
        return 'private to %s' % target
    return None


def check(root):
    """Violations, and the number of includes looked at."""
    faults, n = [], 0
    exists = lambda path: os.path.isfile(os.path.join(root, path))
    for top in ('include', 'src', 'examples'):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders.sort()
            for file in sorted(f for f in files if SOURCE.search(f)):
                path = os.path.relpath(os.path.join(folder, file), root)
                with open(os.path.join(folder, file), encoding='utf-8') as source:
                    text = source.read()
                for match in INCLUDE.finditer(text):
                    n += 1
                    why = fault(path, match.group(1), match.group(2), exists)
                    if why:
                        line = text.count('\n', 0, match.start()) + 1
                        faults.append('%s:%d: includes %s: %s' % (path, line, match.group(2), why))
    return faults, n


# includer, include, whether it is allowed
ROWS = [
    ('src/base/env.c', '"base/base.h"', True),
    ('src/base/json.c', '<jansson.h>', True),
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
    ('src/graph/ops/conv.c', '"graph/build.h"', False),
    ('src/planner/live.c', '"graph/pgraph.h"', True),
    ('src/planner/live.c', '"graph/op.h"', True),
    ('src/planner/live.c', '"graph/build.h"', False),
    ('src/planner/live.c', '"sublinear/sublinear.h"', False),
    ('src/planner/live.c', '"exec/exec.h"', False),
    ('src/planner/pack_first_fit.c', '"planner/rows.h"', True),
    ('src/planner/pack_first_fit.c', '"planner/pack.h"', True),
    ('src/planner/pack_first_fit.c', '"planner/planner.h"', False),
    ('src/planner/rows_check.c', '"graph/pgraph.h"', False),
    ('src/planner/rows.h', '"ebb/plan.h"', False),
    ('src/sublinear/score.c', '"planner/planner.h"', True),
    ('src/sublinear/score.c', '"planner/rows.h"', True),
    ('src/sublinear/score.c', '"planner/pack.h"', False),
    ('src/sublinear/bound.c', '<glpk.h>', True),
    ('src/sublinear/score.c', '"exec/exec.h"', False),
    ('src/exec/run.c', '"planner/planner.h"', True),
    ('src/exec/run.c', '"planner/rows.h"', False),
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
    ('src/exec/cuda/device_cuda.c', '<cuda_runtime_api.h>', True),
    ('src/exec/module.c', '<cuda_runtime_api.h>', False),
    ('src/engine/options.c', '"exec/module.h"', True),
    ('src/engine/options.c', '"exec/cuda/cuda.h"', False),
    ('src/engine/compile.c', '"sublinear/sublinear.h"', True),
    ('src/engine/compile.c', '"exec/exec.h"', True),
    ('src/engine/compile.c', '"exec/program.h"', False),
    ('src/engine/compile.c', '"graph/build.h"', False),
    ('src/engine/compile.c', '"ebb/engine.h"', True),
    ('src/report/make.c', '"planner/planner.h"', True),
    ('src/report/make.c', '"report/model.h"', True),
    ('src/report/make.c', '"planner/audit.h"', False),
    ('src/report/make.c', '"engine/engine.h"', False),
    ('src/report/make.c', '"sublinear/sublinear.h"', False),
    ('src/report/make.c', '<jansson.h>', False),
    ('src/engine/compile.c', '"report/report.h"', False),
    ('src/tool/main.c', '"ebb/ebb.h"', True),
    ('src/tool/main.c', '<ebb/ebb.h>', True),
    ('src/tool/main.c', '"base/base.h"', False),
    ('src/tool/main.c', '"engine/engine.h"', False),
    ('src/tool/main.c', '<zlib.h>', False),
    ('examples/resnet50/main.c', '<ebb/ebb.h>', True),
    ('examples/resnet50/main.c', '<zlib.h>', True),
    ('examples/resnet50/main.c', '"../../src/base/base.h"', False),
    ('examples/resnet50/main.c', '"graph/graph.h"', False),
    ('include/ebb/plan.h', '"ebb/base.h"', True),
    ('include/ebb/plan.h', '"base/base.h"', False),
    ('src/engine/compile.c', '<stdio.h>', True),
    ('src/engine/compile.c', '<windows.h>', False),
    ('src/attic/x.c', '"base/base.h"', False),
]


def test():
    wrong = []
    for path, include, allowed in ROWS:
        match = INCLUDE.match('#include ' + include)
        why = fault(path, match.group(1), match.group(2), lambda _: False)
        if (why is None) != allowed:
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
