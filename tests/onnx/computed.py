"""Rows of what ops of ONNX compute: files, what they are fed, and numbers worked out by hand, or words of a refusal.

Tests are called with EVALUATE, bench/onnx/evaluate.c, compiled, and perhaps a FOLDER, in which the files stay."""
import pathlib
import struct
import subprocess
import sys
import tempfile

from written import FLOAT, INT64, graph, node, port, tensor

EVALUATE = sys.argv[1]


def row(what, op, given, wanted, known=(), ints=(), opset=23, **attributes):
    """given: (dims, numbers) of each operand that is fed, ints: which of them are whole; known: further operands; wanted: (dims, numbers)."""
    names = [f"x{i}" for i in range(len(given))]
    tensors = [tensor(f"k{i}", dims, numbers, floats=any(isinstance(n, float) for n in numbers)) for i, (dims, numbers) in enumerate(known) if dims is not None]
    operands = names + ["" if dims is None else f"k{i}" for i, (dims, _) in enumerate(known)]
    outs = [f"y{i}" for i in range(len(wanted))]
    ports = [port(name, dims, INT64 if i in ints else FLOAT) for i, (name, (dims, _)) in enumerate(zip(names, given))]
    data = graph([node(op, operands, " ".join(outs), **attributes)], tensors, ports, [port(y, dims) for y, (dims, _) in zip(outs, wanted)], opset)
    fed = {name: struct.pack(f"<{len(numbers)}{'i' if i in ints else 'f'}", *numbers) for i, (name, (_, numbers)) in enumerate(zip(names, given))}
    return what, data, fed, [numbers for _, numbers in wanted]


def unpacked(data, n):
    kind = "?" if len(data) == n else "f"
    return list(struct.unpack(f"<{n}{kind}", data)) if len(data) == n * struct.calcsize(kind) else None


def near(data, wanted):
    got = unpacked(data, len(wanted))
    whole = list(struct.unpack(f"<{len(wanted)}i", data)) if len(data) == 4 * len(wanted) else None
    return whole == wanted or (got is not None and all(a == b or abs(a - b) <= 1e-4 * max(1, abs(b)) for a, b in zip(got, wanted)))


def held(what, data, fed, wanted, folder):
    path = folder / (what.replace(" ", "_") + ".onnx")
    path.write_bytes(data)
    for name, numbers in fed.items():
        (folder / name).write_bytes(numbers)
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([EVALUATE, path, "0", *(f"{name}={folder / name}" for name in fed), out], capture_output=True, text=True, check=False)
        outputs = [file.read_bytes() for file in sorted(pathlib.Path(out).iterdir())]
    for name in fed:
        (folder / name).unlink()
    if isinstance(wanted, str) and done.returncode == 3 and wanted in done.stderr and done.stderr.count("\n") == 1:
        return []
    if not isinstance(wanted, str) and done.returncode == 0 and len(outputs) == len(wanted) and all(map(near, outputs, wanted)):
        return []
    return [f"{what}: {done.returncode} {done.stderr} {[unpacked(o, len(w)) for o, w in zip(outputs, wanted)]}, not {wanted}"]


def check(rows):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else name)
        wrong = [line for each in rows for line in held(*each, folder)]
    print("\n".join(wrong) or f"ok: {len(rows)}")
    sys.exit(bool(wrong))
