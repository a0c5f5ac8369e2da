"""What the assembler said of the kernels: ptxas.py KERNELS.def ARCHITECTURES FILE.ptxas...
Every kernel of the list is there for each architecture ("75,80,90"), without spills and without a stack frame."""
import re
import sys

ENTRY = re.compile(r"Compiling entry function 'cuda_kernel_(\w+)' for 'sm_(\d+)'")
BYTES = re.compile(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads')


def read(text):
    """{(kernel, architecture): (stack, stores, loads)}"""
    found, entry = {}, None
    for line in text.splitlines():
        match = ENTRY.search(line)
        if match:
            entry = (match.group(1), match.group(2))
        match = BYTES.search(line)
        if match and entry:
            found[entry] = tuple(int(n) for n in match.groups())
            entry = None
    return found


def kernels(path):
    """Names of a list and of those that it includes, which lie below its own folder's grandparents."""
    names = []
    root = path.split('exec/cuda/')[0]
    with open(path) as file:
        for line in file:
            match = re.match(r'#include "(.*)"', line)
            if match:
                names += kernels(root + match.group(1))
            match = re.match(r'CUDA_KERNEL(S?|_LOOPS?)\((\w+),', line)
            if match:
                names += [match.group(2) + end for end in (('', '_f16', '_bf16') if match.group(1).endswith('S') else ('',))]
    return names


def faults(names, architectures, found):
    for name in names:
        for architecture in architectures:
            told = found.get((name, architecture))
            if told is None:
                yield '%s for sm_%s was not compiled' % (name, architecture)
            elif any(told):
                yield '%s for sm_%s: %d bytes of stack, %d stored and %d loaded by spills' % (
                    (name, architecture) + told)


def test():
    text = """ptxas info    : Compiling entry function 'cuda_kernel_a' for 'sm_90'
ptxas info    : Function properties for cuda_kernel_a
    8 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'cuda_kernel_b' for 'sm_75'
ptxas info    : Function properties for cuda_kernel_b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""
    got = list(faults(['a', 'b'], ['90', '75'], read(text)))
    want = ['a for sm_90: 8 bytes of stack, 0 stored and 4 loaded by spills', 'a for sm_75 was not compiled',
            'b for sm_90 was not compiled']
    assert got == want, got


def main():
    test()
    names, found = kernels(sys.argv[1]), {}
    for path in sys.argv[3:]:
        with open(path) as file:
            found.update(read(file.read()))
    lines = list(faults(names, sys.argv[2].split(','), found))
    for line in lines:
        print(line)
    print('%d kernels, %d entries, %d faults' % (len(names), len(found), len(lines)))
    return 1 if lines or not names else 0


sys.exit(main())
