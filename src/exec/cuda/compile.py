"""Compiles families of kernels: compile.py LOG NVCC ARGUMENTS... What the assembler says of registers, spills and
stack frames (-Xptxas -v) goes to LOG, and how many 64-bit divisions each kernel has, which are calls of some hundred
instructions: "divisions NAME ARCHITECTURE N". To standard error only when it fails."""
import os
import re
import subprocess
import sys
import tempfile

ENTRY = re.compile(r'\.entry cuda_kernel_(\w+)')
DIVISION = re.compile(r'^\s*(?:@\S+\s+)?(?:div|rem)\.[su]64\b', re.MULTILINE)


def divisions(folder):
    """Lines of every file of PTX that nvcc kept. A division by a constant is none."""
    for name in sorted(os.listdir(folder)):
        architecture = re.search(r'compute_(\d+)\.ptx$', name)
        if not architecture:
            continue
        with open(os.path.join(folder, name)) as file:
            parts = ENTRY.split(file.read())
        for kernel, body in zip(parts[1::2], parts[2::2]):
            yield 'divisions %s %s %d\n' % (kernel, architecture.group(1), len(DIVISION.findall(body)))


log, command = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory() as kept:
    done = subprocess.run(command + ['--keep', '--keep-dir', kept], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    with open(log, 'w') as file:
        file.write(done.stdout)
        file.writelines(divisions(kept))
if done.returncode:
    sys.stderr.write(done.stdout)
sys.exit(done.returncode)
