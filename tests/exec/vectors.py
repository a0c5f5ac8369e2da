"""Do the hot loops of the cpu backend run in lanes of AVX2? gcc's own report says so.

    vectors.py BUILD_ROOT FILE...      the files' loops, compiled as in the build
    vectors.py --test BUILD_ROOT       without -fno-trapping-math some do not: the reader sees it
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

LANES = 32  # bytes
LOOP = re.compile(r'omp simd|^CPU_(?:UNARY|BINARY|PLACES_REAL|PLACES_NUMBERS)(?:_OF)?\((?:[12], )?(\w+)')
REPORT = re.compile(r'/([^/\s]+\.c):(\d+):\d+: optimized: loop vectorized using (\d+) byte')
# By the C library, an element at a time.
SCALAR = {'mod', 'pow', 'sin', 'cos'}
WITH_OUTPUT = {'-MQ', '-MF', '-o'}


def command_of(build, name):
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        entries = json.load(file)
    [entry] = [e for e in entries if e['file'].endswith('exec/cpu/' + name) and 'ebb_exec_cpu.a' in e['output']]
    words = [w for w in shlex.split(entry['command']) if w not in ('ccache', '-MD')]
    kept = [w for i, w in enumerate(words) if w not in WITH_OUTPUT and (i == 0 or words[i - 1] not in WITH_OUTPUT)]
    return kept, entry


def slow_loops(build, name, without=()):
    command, entry = command_of(build, name)
    command = [w for w in command if w not in without]
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            command + ['-fdiagnostics-color=never', '-fopt-info-vec-optimized', '-o', os.path.join(folder, 'o')],
            cwd=entry['directory'], capture_output=True, text=True, check=True)
    widths = {}
    for file, line, width in REPORT.findall(run.stderr):
        if file == name:
            widths.setdefault(int(line), set()).add(int(width))
    with open(os.path.join(entry['directory'], entry['file']), encoding='utf-8') as file:
        lines = file.read().split('\n')
    loops, slow = 0, []
    for number, text in enumerate(lines, 1):
        match = LOOP.search(text)
        if not match or match[1] in SCALAR:
            continue
        loops += 1
        # A pragma's loop is told of by its own line, just below.
        if not any(LANES in widths.get(number + i, ()) for i in range(3)):
            slow.append(f'{name}:{number}: no loop in lanes of {LANES} bytes: {text.strip()[:80]}')
    if loops == 0:
        slow.append(f'{name}: no hot loop is marked in it')
    return slow


def main():
    if sys.argv[1] == '--test':
        slow = slow_loops(sys.argv[2], 'activation.c', without=('-fno-trapping-math',))
        missing = [op for op in ('gelu,', 'gelu_grad,', 'silu,', 'silu_grad,') if not any('(' + op in s for s in slow)]
        if missing:
            sys.exit(f'not seen to be scalar: {missing} in {slow}')
        return
    slow = [s for name in sys.argv[2:] for s in slow_loops(sys.argv[1], name)]
    if slow:
        sys.exit('\n'.join(slow))


main()
