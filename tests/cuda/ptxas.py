"""What the assembler said of the kernels: ptxas.py KERNELS.def ARCHITECTURES FILE.ptxas...
Every kernel of the list is there for each architecture ("75,80,90"), without spills and without a stack frame; enough of its
threads are resident on a multiprocessor; and it has no more 64-bit divisions than are listed here, most of them none."""
import glob
import os
import re
import sys

ENTRY = re.compile(r"Compiling entry function 'cuda_kernel_(\w+)' for 'sm_(\d+)'")
BYTES = re.compile(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads')
USED = re.compile(r'Used (\d+) registers(?:.*?, (\d+) bytes smem)?')
DIVISIONS = re.compile(r'divisions (\w+) (\d+) (\d+)')

# Of a multiprocessor (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
REGISTERS, UNIT = 65536, 8
MOST_THREADS = {'75': 1024, '86': 1536, '87': 1536, '89': 1536}  # others: 2048
SHARED = {'75': 64, '80': 164, '86': 100, '87': 164, '89': 100, '90': 228}  # KiB; others: 228
RESERVED = 1024  # of shared bytes, for each block

# Resident threads at least, as a part of the most: enough to keep memory busy where each has several loads on the way; of tiles
# of products, fewer.
LEAST_PART = 4
FEWER_THREADS = [(r'attention', 8)]
# All blocks of a grid of CUDA_LANES_STAT_BLOCKS are resident: two to a multiprocessor.
LEAST_BLOCKS = [(r'norm_stats', 2)]
# Bytes of stack: CUDA's own reduction of large angles.
MOST_STACK = [(r'(sin|cos)_(f32|f16|bf16)$', 32)]
# 64-bit divisions, the first that fits. Walks over broadcast dimensions and indices divide only where sizes need it
# (cuda_divide); sums do so once a thread, not for each element.
MOST_DIVISIONS = [(r'norm_|max_pool|avg_pool|plane_|upsample|sgd|adamw|mask|pointwise|softmax_xent', 0), (r'gn_sums', 25),
                  (r'where_|reduce_block', 21), (r'take_sums', 17), (r'gn_grad', 16), (r'pick_grad', 15),
                  (r'argmax|argmin|reduce_', 12), (r'expand|bias', 10), (r'gn_stats', 8), (r'iota|uniform|normal', 7), (r'lattice|gn_', 6),
                  (r'attention_inner', 2), (r'attention|copy_|embed', 5), (r'planes|half_planes|byte_planes|ln_grad', 4), (r'merge_', 3),
                  (r'sums_join|strip_sums|part_sums|dropout|spread|cumsum|merged|softmax|ln_stats|row_sums', 2),
                  (r'move_|take_|\w+_(f32|f16|bf16|i32|i16|i8|u8|bool)$', 7)]


def first_of(rows, name, otherwise):
    return next((value for pattern, value in rows if re.match(pattern, name)), otherwise)


def read(text):
    """{(kernel, architecture): (stack, stores, loads)}, the same of (registers, shared bytes) and of divisions"""
    found, used, divisions, entry, told = {}, {}, {}, None, None
    for line in text.splitlines():
        match = ENTRY.search(line)
        if match:
            entry = told = (match.group(1), match.group(2))
        match = BYTES.search(line)
        if match and entry:
            found[entry] = tuple(int(n) for n in match.groups())
            entry = None
        match = USED.search(line)
        if match and told:
            used[told] = int(match.group(1)), int(match.group(2) or 0)
            told = None
        match = DIVISIONS.match(line)
        if match:
            divisions[match.group(1), match.group(2)] = int(match.group(3))
    return found, used, divisions


def kernels(path, sizes):
    """{name: threads} of a list and of those that it includes, which lie below its own folder's grandparents."""
    names = {}
    root = path.split('exec/cuda/')[0]
    with open(path) as file:
        for line in file:
            match = re.match(r'#include "(.*)"', line)
            if match:
                names.update(kernels(root + match.group(1), sizes))
            match = re.match(r'CUDA_KERNEL(S?|_LOOPS?)\((\w+), *(\w+)', line)
            if match:
                threads = int(match.group(3)) if match.group(3).isdigit() else sizes[match.group(3)]
                for end in (('', '_f16', '_bf16') if match.group(1).endswith('S') else ('',)):
                    names[match.group(2) + end] = threads
    return names


def thread_counts(folder):
    """{macro: number} of the headers of bodies."""
    sizes = {}
    for path in glob.glob(os.path.join(folder, '*.h')):
        with open(path) as file:
            sizes.update((name, int(n)) for name, n in re.findall(r'#define (CUDA_\w+_THREADS) +(\d+)', file.read()))
    return sizes


def resident(threads, registers, shared, architecture):
    """Blocks of a kernel on one multiprocessor."""
    each = -(-registers // UNIT) * UNIT * threads
    return min(REGISTERS // each, MOST_THREADS.get(architecture, 2048) // threads,
               SHARED.get(architecture, 228) * 1024 // (shared + RESERVED))


def faults(names, architectures, told):
    found, used, divisions = told
    for name, threads in names.items():
        for architecture in architectures:
            here = '%s for sm_%s' % (name, architecture)
            spills = found.get((name, architecture))
            if spills is None:
                yield here + ' was not compiled'
                continue
            if any(spills[1:]) or spills[0] > first_of(MOST_STACK, name, 0):
                yield '%s: %d bytes of stack, %d stored and %d loaded by spills' % ((here,) + spills)
            blocks = resident(threads, *used[name, architecture], architecture)
            least = MOST_THREADS.get(architecture, 2048) // first_of(FEWER_THREADS, name, LEAST_PART)
            if blocks * threads < least or blocks < first_of(LEAST_BLOCKS, name, 1):
                yield '%s: %d blocks of %d threads are resident, by %d registers and %d shared bytes' % (
                    (here, blocks, threads) + used[name, architecture])
            most = first_of(MOST_DIVISIONS, name, 0)
            if divisions.get((name, architecture), most + 1) > most:
                yield '%s: %s 64-bit divisions, at most %d' % (here, divisions.get((name, architecture), 'unknown'), most)


def test():
    text = """ptxas info    : Compiling entry function 'cuda_kernel_a' for 'sm_90'
ptxas info    : Function properties for cuda_kernel_a
    8 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 18432 bytes smem
ptxas info    : Compiling entry function 'cuda_kernel_b' for 'sm_75'
ptxas info    : Function properties for cuda_kernel_b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, 380 bytes cmem[0]
divisions a 90 0
divisions b 75 1
"""
    got = list(faults({'a': 256, 'b': 256}, ['90', '75'], read(text)))
    want = ['a for sm_90: 8 bytes of stack, 0 stored and 4 loaded by spills',
            'a for sm_90: 1 blocks of 256 threads are resident, by 255 registers and 18432 shared bytes', 'a for sm_75 was not compiled',
            'b for sm_90 was not compiled', 'b for sm_75: 1 64-bit divisions, at most 0']
    assert got == want, got
    assert resident(256, 104, 18432, '90') == 2 and resident(256, 32, 0, '75') == 4 and resident(256, 32, 40 << 10, '86') == 2


def main():
    test()
    sizes, told = thread_counts(os.path.join(os.path.dirname(sys.argv[1]), 'kernels')), ({}, {}, {})
    names = kernels(sys.argv[1], sizes)
    for path in sys.argv[3:]:
        with open(path) as file:
            for into, of in zip(told, read(file.read())):
                into.update(of)
    for name, _ in told[0]:  # those that macros list (broadcast.def) walk over places
        names.setdefault(name, sizes['CUDA_PLACES_THREADS'])
    lines = list(faults(names, sys.argv[2].split(','), told))
    for line in lines:
        print(line)
    print('%d kernels, %d entries, %d faults' % (len(names), len(told[0]), len(lines)))
    return 1 if lines or not names else 0


sys.exit(main())
