"""The beginning of all texts of chains (fused.h), as C: text.py ROOT HEADER OUTPUT DEPFILE

HEADER and what it includes, one behind the other and each once, without comments and empty lines. Of the C library a
device's compiler has no headers: what bodies use of them is said here. The list of kernels is left out."""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
LEFT_OUT = {'exec/cuda/kernels.def'}
BEGIN = """\
#ifdef __CUDACC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_C(x) x##LL
#define UINT32_C(x) x##U
#define UINT64_C(x) x##ULL
#else
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#endif
"""


def bare(text):
    """Without comments; none of these headers has a string with the marks of one."""
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def flat(root, name, seen):
    """Lines of a header, with those that it includes."""
    guarded = name.endswith('.h')
    if guarded and name in seen:
        return
    seen.append(name)
    with open(os.path.join(root, name), encoding='utf-8') as file:
        text = bare(file.read())
    for line in text.splitlines():
        match = INCLUDE.match(line)
        if not match:
            if line.strip():
                yield line.rstrip()
        elif match.group(1) not in LEFT_OUT and os.path.exists(os.path.join(root, match.group(1))):
            yield from flat(root, match.group(1), seen)


def main():
    root, header, output, depfile = sys.argv[1:]
    seen = []
    text = BEGIN + '\n'.join(flat(root, header, seen)) + '\n'
    code = text.encode('ascii')
    rows = [', '.join(map(str, code[at:at + 24])) for at in range(0, len(code), 24)]
    with open(output, 'w', encoding='ascii') as file:
        file.write('/* Made by text.py of %s. */\n#include "exec/cuda/fused.h"\n\n' % header)
        file.write('const char cuda_fused_prelude[] = {\n%s, 0};\n' % ',\n'.join(rows))
        file.write('const size_t cuda_fused_prelude_bytes = %d;\n' % len(code))
    with open(depfile, 'w', encoding='utf-8') as file:
        file.write('%s: %s\n' % (output, ' '.join(os.path.join(root, name) for name in dict.fromkeys(seen))))


main()
