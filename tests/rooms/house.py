"""The plan of the house: rooms, their folders, and what each may see. Read by include_rules.py and folder_rules.py."""
import re

# Rooms from the ground up: face headers, rooms below that may be seen, public headers, other libraries.
ROOMS = {
    'base': {
        'faces': {'base/base.h', 'base/half.h', 'base/philox.h'},
        'sees': set(),
        'public': {'ebb/base.h'},
        'libraries': {'jansson.h', 'jemalloc/jemalloc.h'},
    },
    'graph': {
        'faces': {'graph/graph.h', 'graph/op.h', 'graph/ops.def', 'graph/dtypes.def', 'graph/pgraph.h', 'graph/walk.h'},
        'sees': {'base'},
        'public': {'ebb/base.h', 'ebb/build.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    'pack': {
        'faces': {'pack/pack.h'},
        'sees': {'base'},
        'public': {'ebb/base.h', 'ebb/pack.h'},
        'libraries': set(),
    },
    'plan': {
        'faces': {'plan/plan.h'},
        'sees': {'base', 'graph'},
        'public': {'ebb/base.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    'planner': {
        'faces': {'planner/planner.h'},
        'sees': {'base', 'graph', 'pack', 'plan'},
        'public': {'ebb/base.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    # The check of a plan: never the planner, never the packers.
    'audit': {
        'faces': set(),
        'sees': {'base', 'graph', 'plan'},
        'public': {'ebb/base.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    'sublinear': {
        'faces': {'sublinear/sublinear.h'},
        'sees': {'base', 'graph'},
        'public': {'ebb/base.h', 'ebb/plan.h', 'ebb/config.h'},
        'libraries': {'glpk.h'},
    },
    'exec': {
        'faces': {'exec/exec.h', 'exec/backend.h', 'exec/conformance.h', 'exec/costs.h', 'exec/device_file.h', 'exec/kernels.h',
                  'exec/module.h', 'exec/dropout.h'},
        'sees': {'base', 'graph'},
        'extra': {'plan/plan.h'},
        'public': {'ebb/base.h', 'ebb/check.h', 'ebb/costs.h', 'ebb/device.h', 'ebb/plan.h'},
        'libraries': set(),
    },
    # A step by XLA: draws as exec's, and nothing else of it.
    'xla': {
        'faces': {'xla/xla.h'},
        'sees': {'base', 'graph', 'plan'},
        'extra': {'exec/draws.h', 'exec/dropout.h'},
        'public': {'ebb/base.h'},
        'libraries': set(),
    },
    # Tensors in files: no graphs, no engine.
    'keep': {
        'faces': {'keep/keep.h'},
        'sees': {'base'},
        'public': {'ebb/base.h', 'ebb/tensors.h'},
        'libraries': set(),
    },
    # Pictures and labels in folders and files, and the threads that make batches of them: no graphs, no engine.
    'data': {
        'faces': set(),
        'sees': {'base'},
        'public': {'ebb/base.h', 'ebb/data.h', 'ebb/run.h'},
        'libraries': {'jpeglib.h', 'jerror.h', 'spng.h', 'zlib.h'},
    },
    'report': {
        'faces': {'report/report.h'},
        'sees': {'base', 'graph', 'plan'},
        'public': {'ebb/base.h', 'ebb/plan.h', 'ebb/report.h'},
        'libraries': set(),
    },
    'engine': {
        'faces': {'engine/engine.h'},
        'sees': {'base', 'graph', 'plan', 'planner', 'sublinear', 'exec', 'xla', 'keep'},
        'public': {'ebb/base.h', 'ebb/check.h', 'ebb/costs.h', 'ebb/plan.h', 'ebb/config.h', 'ebb/engine.h', 'ebb/ebb.h',
                   'ebb/device.h', 'ebb/fit.h', 'ebb/frontier.h', 'ebb/keep.h', 'ebb/measure.h', 'ebb/model.h', 'ebb/options.h', 'ebb/run.h', 'ebb/schedule.h', 'ebb/search.h',
                   'ebb/tune.h'},
        'libraries': set(),
    },
    # Ops that run when they are called: beside the engine, which it does not see.
    'eager': {
        'faces': {'eager/eager.h', 'eager/tape.h'},
        'sees': {'base', 'graph', 'exec'},
        'public': {'ebb/base.h', 'ebb/build.h', 'ebb/eager.h', 'ebb/options.h', 'ebb/run.h'},
        'libraries': set(),
    },
    # Files in, through the public builder; and out, from a model's graph.
    'onnx': {
        'faces': set(),
        'sees': {'base', 'graph', 'engine'},
        'public': {'ebb/base.h', 'ebb/build.h', 'ebb/model.h', 'ebb/onnx.h', 'ebb/run.h', 'ebb/tensors.h'},
        'libraries': set(),
    },
    'trace': {
        'faces': {'trace/trace.h'},
        'sees': {'base', 'graph', 'exec', 'xla', 'engine', 'eager'},
        'public': {'ebb/base.h', 'ebb/build.h', 'ebb/eager.h', 'ebb/options.h', 'ebb/plan.h', 'ebb/run.h', 'ebb/trace.h'},
        'libraries': set(),
    },
}

# What a backend, src/exec/<name>, may see beside its own folder and base: never another backend.
BACKEND_SEES = {'base/half.h', 'exec/backend.h', 'exec/device_file.h', 'exec/kernels.h', 'exec/code_module.h', 'exec/emit/emit.h', 'exec/emit/parts.h', 'exec/emit/ops.def', 'exec/module.h', 'exec/dropout.h', 'exec/draws.h',
                'exec/roofline.h', 'graph/op.h', 'graph/ops.def', 'graph/dtypes.def', 'base/base.h', 'base/philox.h', 'ebb/base.h'}
# The conformance suite, src/exec/conformance, sees what a backend sees: it asks backends through their table alone.
CONFORMANCE_SEES = BACKEND_SEES | {'exec/conformance.h', 'ebb/check.h'}
MLIR_DIALECTS = ('Arith', 'Func', 'LLVM', 'Math', 'NVVM', 'SCF', 'Vector')
BACKEND_LIBRARIES = {
    'mlir': {'mlir-c/%s.h' % part for part in ('Conversion', 'Diagnostics', 'IR', 'Pass', 'RegisterEverything')}
            | {'mlir-c/Dialect/%s.h' % part for part in MLIR_DIALECTS},
    'halide': {'Halide.h', 'algorithm', 'cstdlib', 'cstring', 'exception', 'map', 'new', 'sstream', 'stdexcept', 'string', 'utility', 'vector'},
    'cpu': {'dnnl.h', 'omp.h', 'sanitizer/tsan_interface.h'},
    'cuda': {'cuda.h', 'cuda_runtime.h', 'cuda_runtime_api.h', 'cudnn.h', 'cublas_v2.h', 'cublasLt.h'},
}

# Op families share their own helpers and see what they emit into; nothing else of the room.
FAMILY_FILE = re.compile(r'^graph/ops/\w+\.[ch]$')
FAMILY_SEE = re.compile(r'^(graph/ops/\w+\.h|graph/emit/emit\.h|graph/(graph|op_info|pgraph|walk)\.h|graph/\w+\.def|base/base\.h|ebb/pack\.h)$')

# Folders inside a room, from the ground up, and the folders beside them that each may see, by their face alone:
# <folder>/<folder>.h. What lies in the room itself sees them all, and none of them sees it.
GRAPH = {'graph.h', 'pgraph.h', 'op_info.h', 'walk.h', 'ops.def', 'families.def', 'dtypes.def', 'dtype.h'}  # shared by the folders of graph
FOLDERS = {
    'graph': {'planning': {'pgraph.h'}, 'ir': GRAPH, 'emit': GRAPH | {'ir'}, 'ops': GRAPH | {'emit'},
              'passes': GRAPH | {'op.h', 'ir', 'emit'}, 'text': GRAPH | {'op.h', 'ir'}},
    'base': {'plain': {'philox.h'}, 'env': {'plain'}, 'os': {'plain', 'env'}, 'json': {'plain', 'env', 'os'}},
    'tool': {'session': set(), 'out': {'session'}, 'line': {'session', 'out'}, 'options': {'session', 'out', 'line'},
             'commands': {'session', 'out', 'line', 'options'}},
    'pack': {'rows': {'pack.h'}, 'problem': {'pack.h'}, 'heuristics': {'pack.h', 'problem'}, 'fit': {'pack.h', 'problem', 'heuristics'},
             'solve': {'pack.h', 'problem', 'heuristics', 'fit'}},
    'sublinear': {'space': {'sublinear.h'}, 'score': {'space'}, 'order': set(), 'pool': {'sublinear.h', 'space', 'score', 'order'},
                  'bound': {'sublinear.h'}, 'chain': {'space', 'score', 'pool'}, 'seeds': {'space', 'score', 'pool', 'bound', 'chain'},
                  'exact': {'space', 'score', 'pool'}, 'search': {'space', 'score', 'order', 'pool', 'seeds'}},
    'onnx': {'fold': {'import.h'}, 'rules': {'import.h'}, 'export': {'file.h', 'batch.h'}},
    'xla': {'pjrt': set(), 'hlo': set()},
    'engine': {'inputs': set(), 'study': {'inputs'}, 'run': {'inputs', 'study'}, 'compile': {'inputs', 'study', 'run'},
               'sweep': {'inputs', 'study', 'run', 'compile'}, 'check': {'inputs', 'study', 'run', 'compile'}},
    'report': {'value': set(), 'words': {'value'}, 'make': {'value', 'words'}, 'views': {'value', 'words'}, 'html': {'value', 'words'},
               'diff': {'value', 'words', 'make', 'views', 'html'}},
}

# Second faces, each with the folders that may see it: the exact search plays candidates step by step, as a scorer does.
SECOND_FACES = {'sublinear': {'score/play.h': {'exact'}}}

# Includes whose header a macro names: the lists of kernels, by the build.
NAMED_BY_MACRO = {('src/exec/cuda/launch.inc', 'CUDA_FAMILY')}

# Standard C and POSIX.
LIBC = set('''assert.h ctype.h errno.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h stdalign.h stdarg.h
    stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h time.h dirent.h dlfcn.h fcntl.h
    poll.h pthread.h sched.h spawn.h strings.h unistd.h sys/file.h sys/ioctl.h sys/mman.h sys/resource.h sys/stat.h sys/sysinfo.h
    sys/time.h sys/types.h sys/utsname.h sys/wait.h termios.h'''.split())
GENERATED = {'functions_hash.h', 'halide_hash.h', 'mlir_hash.h', 'ebb_build.h', 'probe_models.h', 'report_page.h'}
OUTSIDE_LIBRARIES = {'zlib.h', 'openssl/evp.h', 'openssl/sha.h'}  # of examples
PYTHON_LIBRARIES = {'Python.h'}  # of the package
