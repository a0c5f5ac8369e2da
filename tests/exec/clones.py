"""One binary for every processor: wide vectors stand only in functions that are chosen when the program starts,
and loops between 16 bits and 32 have them there: each stands in a macro, of which gcc's report tells no lines.

    clones.py LIBRARY
"""
import collections
import re
import subprocess
import sys

BETWEEN = re.compile(r"b?f16_\w+\.avx2")
LEAST_BETWEEN = 18  # for each of two dtypes: six of low_span.c and low_norm.c, three of fused_interp.c
NAME = re.compile(r"^[0-9a-f]+ <(.*)>:")
VEX = re.compile(r"\tv[a-z0-9]+ .*%xmm")


def width(line):
    return 64 if "%zmm" in line or "{%k" in line else 32 if "%ymm" in line else 16 if VEX.search(line) else 0


def allowed(name):
    return 64 if ".avx512f" in name else 32 if ".avx2" in name else 0


def main():
    dump = subprocess.run(["objdump", "-d", "--no-show-raw-insn", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    name, seen, wrong = "", collections.Counter(), {}
    between = []  # functions and whether they have wide vectors
    for line in dump.splitlines():
        match = NAME.match(line)
        if match:
            name = match[1]
            if BETWEEN.fullmatch(name):
                between.append([name, False])
        elif width(line):
            seen[allowed(name), width(line)] += 1
            if BETWEEN.fullmatch(name) and width(line) == 32:
                between[-1][1] = True
            if width(line) > allowed(name):
                wrong.setdefault(name, line.strip())
    if wrong:
        sys.exit("\n".join(f"{name}: {line}" for name, line in list(wrong.items())[:20]))
    if not (seen[64, 64] and seen[32, 32]):
        sys.exit(f"no loop in wide vectors was seen: {dict(seen)}")
    scalar = [name for name, wide in between if not wide]
    if scalar or len(between) < LEAST_BETWEEN:
        sys.exit(f"of {len(between)} loops between 16 bits and 32 without wide vectors: {scalar}")


main()
