#!/usr/bin/env python3
"""Compiles families of kernels: compile.py LOG [CCACHE] NVCC ARGUMENTS... What the assembler says of registers, spills and
stack frames (-Xptxas -v) goes to LOG, and how many 64-bit divisions each kernel has, which are calls of some hundred
instructions: "divisions NAME ARCHITECTURE N". To standard error only when it fails.

The divisions stand in PTX that nvcc keeps in a folder, which ccache refuses: it runs compile.py NVCC ARGUMENTS... as its
prefix, and remembers what that prints, until this file changes."""
import os
import re
import subprocess
import sys
import tempfile

ENTRY = re.compile(r'\.entry cuda_kernel_(\w+)')
DIVISION = re.compile(r'^\s*(?:@\S+\s+)?(?:div|rem)\.[su]64\b', re.MULTILINE)
TARGET = re.compile(r'^\.target sm_(\d+)', re.MULTILINE)


def divisions(folder):
    """Lines of every file of PTX that nvcc kept. A division by a constant is none."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.ptx'):
            continue
        with open(os.path.join(folder, name)) as file:
            text = file.read()
        architecture = TARGET.search(text).group(1)
        parts = ENTRY.split(text)
        for kernel, body in zip(parts[1::2], parts[2::2]):
            yield 'divisions %s %s %d\n' % (kernel, architecture, len(DIVISION.findall(body)))


def compile_and_count(command):
    """Runs nvcc; what it says and the divisions go to standard error."""
    with tempfile.TemporaryDirectory() as kept:
        status = subprocess.call(command + ['--keep', '--keep-dir', kept], stdout=sys.stderr)
        sys.stderr.writelines(divisions(kept))
    return status


def main():
    if os.path.basename(sys.argv[1]).startswith('nvcc'):
        sys.exit(compile_and_count(sys.argv[1:]))
    log, command = sys.argv[1], sys.argv[2:]
    me = os.path.realpath(__file__)
    cached = os.path.basename(command[0]).startswith('ccache')
    done = subprocess.run(command if cached else [sys.executable, me] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=dict(os.environ, CCACHE_PREFIX=me, CCACHE_EXTRAFILES=me))
    with open(log, 'w') as file:
        file.write(done.stdout)
    if done.returncode:
        sys.stderr.write(done.stdout)
    sys.exit(done.returncode)


main()
