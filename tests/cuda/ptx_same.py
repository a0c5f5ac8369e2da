#!/usr/bin/env python3
"""PTX that MLIR or Halide makes of a chain gives what NVRTC's gives, bit by bit, on random bodies and on operands with NaNs, infinities and
subnormal numbers: both are run by ptx.py, a few threads of each, the last one among them.

    ptx_same.py BODY_PTX MLIR|HALIDE [FIRST N]

CUDA's functions are part of both: so that libdevice's are NVRTC's, but for what the processor computes in one instruction,
is seen, too. EBB_TEST_COMPILED_CUDA sets how many bodies there are."""
import ctypes
import os
import struct
import subprocess
import sys
import tempfile

import ptx

COMPUTES = {'MLIR': (750, 900), 'HALIDE': (750, 860)}
OPTIONS = ('--std=c++17', '--device-as-default-execution-space', '--fmad=false', '--ftz=false', '--prec-div=true', '--prec-sqrt=true',
           '--diag-suppress=177')
CHANGES = {'MLIR': (('mul.rn.f32', 'add.rn.f32'), ('add.rn.f32', 'add.rz.f32'), ('fma.rn.f32', 'fma.rz.f32')),
           'HALIDE': (('mul.rn.f32', 'add.rn.f32'), ('add.rn.f32', 'add.rz.f32'))}  # each must be seen
SKIPPED = 77
EACH = 1024  # results of a block
ENOUGH, ROUNDS = 12, 5  # bodies, among which each of a few instructions is seen, or among the next: a new op draws others


def library():
    for name in ('libnvrtc.so.13', 'libnvrtc.so.12', 'libnvrtc.so'):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def nvrtc(lib, text, compute):
    program, n = ctypes.c_void_p(), ctypes.c_size_t()
    options = [b'--gpu-architecture=compute_%d' % (compute // 10)] + [o.encode() for o in OPTIONS]
    assert lib.nvrtcCreateProgram(ctypes.byref(program), text, b'body.cu', 0, None, None) == 0
    code = lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    assert code == 0, 'NVRTC: %d' % code
    lib.nvrtcGetPTXSize(program, ctypes.byref(n))
    out = ctypes.create_string_buffer(n.value)
    lib.nvrtcGetPTX(program, out)
    lib.nvrtcDestroyProgram(ctypes.byref(program))
    return out.value.decode()


def memory_of(path):
    """{address: bytes}, and the addresses of results."""
    with open(path, 'rb') as file:
        data = file.read()
    memory, results, at = {}, [], 0
    while at < len(data):
        address, n, given = struct.unpack_from('<QQQ', data, at)
        at += 24
        memory[address] = bytearray(data[at:at + n]) if given else bytearray(b'\xa5' * n)
        at += n if given else 0
        if not given:
            results.append(address)
    return memory, results


def ran(texts, args, path, threads):
    memory, results = memory_of(path)
    thread = ptx.Thread(texts, args, memory)
    for t in threads:
        thread.run(*t)
    return [thread.memory[r] for r in results]


def differ(a, b, size):
    """The first element that differs; a NaN is a NaN."""
    for at in range(0, len(a), size):
        x, y = (int.from_bytes(m[at:at + size], 'little') for m in (a, b))
        nan = {4: lambda v: v & 0x7FFFFFFF > 0x7F800000, 2: lambda v: v & 0x7FFF > 0x7C00}.get(size, lambda v: False)
        if x != y and not (nan(x) and nan(y)):
            return '%d: %x, not %x' % (at // size, x, y)
    return None


def compare(lib, folder, seed, compute, change=None):
    """change: an instruction, and another one that ours has instead."""
    path = os.path.join(folder, str(seed))
    with open(path + '.cu', 'rb') as file:
        nv = nvrtc(lib, file.read(), compute)
    with open(path + '.ptx') as file:
        ours = file.read()
    if change and change[0] not in ours:
        return
    ours = ours.replace(*change) if change else ours
    with open(os.path.join(folder, 'functions.ptx')) as file:
        functions = file.read()
    with open(path + '.args', 'rb') as file:
        args = file.read()
    memory, results = memory_of(path + '.mem')
    n = struct.unpack_from('<q', args, struct.calcsize('<q') * 343)[0]
    threads = [(at // EACH, at % EACH // 4) for at in sorted({0, n // 8 * 4, max(n - 1, 0) // 4 * 4})] if n else []
    for r, a, b in zip(results, ran([ours, functions], args, path + '.mem', threads), ran([nv], args, path + '.mem', threads)):
        size = len(memory[r]) // n if n else 1
        where = differ(a, b, size)
        assert where is None, 'seed %d, sm_%d, result %d: element %s' % (seed, compute // 10, results.index(r), where)
        assert not n or any(byte != 0xA5 for byte in a), 'seed %d: nothing was written' % seed


def sees(lib, folder, seeds, compute, *change):
    for seed in seeds:
        try:
            compare(lib, folder, seed, compute, change)
        except AssertionError:
            return True
    return False


def written(first, n, compute, folder):
    """Writes so many bodies; the exit code and what was said."""
    done = subprocess.run([*sys.argv[1:3], str(first), str(n), str(compute), folder], stderr=subprocess.PIPE, text=True)
    assert done.returncode in (0, SKIPPED), done.stderr
    return done.returncode, done.stderr.strip()


def seen(lib, folder, first, n, compute, *change):
    """Among the bodies that are there, or the next ones."""
    for begin in range(first, first + ROUNDS * n, n):
        if not os.path.exists(os.path.join(folder, '%d.ptx' % begin)):
            written(begin, n, compute, folder)
            for seed in range(begin, begin + n):
                compare(lib, folder, seed, compute)
        if sees(lib, folder, range(begin, begin + n), compute, *change):
            return True
    return False


def main():
    first, n = (int(x) for x in (sys.argv[3:] or (1, os.environ.get('EBB_TEST_COMPILED_CUDA', 12))))
    lib = library()
    if lib is None:
        print('SKIP NVRTC is not here')
        return SKIPPED
    for compute in COMPUTES[sys.argv[2]]:
        with tempfile.TemporaryDirectory() as folder:
            code, said = written(first, n, compute, folder)
            if code == SKIPPED:
                print('SKIP', said)
                return SKIPPED
            for seed in range(first, first + n):
                compare(lib, folder, seed, compute)
            for change in () if n < ENOUGH else CHANGES[sys.argv[2]]:
                assert seen(lib, folder, first, n, compute, *change), 'nobody sees %s for %s' % change[::-1]
    print('%d bodies on %d architectures: the same' % (n, len(COMPUTES[sys.argv[2]])))
    return 0


if __name__ == '__main__':
    sys.exit(main())
