"""Compiles one family of kernels: compile.py LOG NVCC ARGUMENTS... What the assembler says of registers, spills and
stack frames (-Xptxas -v) goes to LOG; to standard error only when it fails."""
import subprocess
import sys

log, command = sys.argv[1], sys.argv[2:]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
with open(log, 'w') as file:
    file.write(done.stdout)
if done.returncode:
    sys.stderr.write(done.stdout)
sys.exit(done.returncode)
