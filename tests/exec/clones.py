"""One binary for every processor: wide vectors stand only in functions that are chosen when the program starts.

    clones.py LIBRARY
"""
import collections
import re
import subprocess
import sys

NAME = re.compile(r"^[0-9a-f]+ <(.*)>:")
VEX = re.compile(r"\tv[a-z0-9]+ .*%xmm")


def width(line):
    return 64 if "%zmm" in line or "{%k" in line else 32 if "%ymm" in line else 16 if VEX.search(line) else 0


def allowed(name):
    return 64 if ".avx512f" in name else 32 if ".avx2" in name else 0


def main():
    dump = subprocess.run(["objdump", "-d", "--no-show-raw-insn", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    name, seen, wrong = "", collections.Counter(), {}
    for line in dump.splitlines():
        match = NAME.match(line)
        if match:
            name = match[1]
        elif width(line):
            seen[allowed(name), width(line)] += 1
            if width(line) > allowed(name):
                wrong.setdefault(name, line.strip())
    if wrong:
        sys.exit("\n".join(f"{name}: {line}" for name, line in list(wrong.items())[:20]))
    if not (seen[64, 64] and seen[32, 32]):
        sys.exit(f"no loop in wide vectors was seen: {dict(seen)}")


main()
