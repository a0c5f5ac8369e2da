"""ONNX files for tests, written field by field as onnx.proto3 numbers them, so that no package is needed."""
import pathlib
import struct
import subprocess
import tempfile

FLOAT, INT64 = 1, 7


def varint(n):
    n, out = n & (1 << 64) - 1, b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, dims, values, floats=False):
    data = struct.pack(f"<{len(values)}{'f' if floats else 'q'}", *values)
    return b"".join(field(1, d) for d in dims) + field(2, 1 if floats else 7) + field(8, name) + field(9, data)


class Branch(bytes):
    """A graph as an attribute."""


def branch(nodes, outputs, tensors=(), inputs=()):
    """outputs: names."""
    return Branch(b"".join(field(1, n) for n in nodes) + field(2, "b") + b"".join(field(5, t) for t in tensors)
                  + b"".join(field(11, field(1, x)) for x in inputs) + b"".join(field(12, field(1, y)) for y in outputs))


def attribute(name, value):
    if isinstance(value, Branch):
        return field(1, name) + field(6, value) + field(20, 5)
    if isinstance(value, float):
        return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    if isinstance(value, list) and value and isinstance(value[0], float):
        return field(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + field(20, 6)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return field(1, name) + b"".join(field(9, v) for v in value) + field(20, 8)
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)
    if isinstance(value, bytes):  # a tensor
        return field(1, name) + field(5, value) + field(20, 4)
    kind, number = (2, 3) if isinstance(value, int) else (3, 4)
    return field(1, name) + field(number, value) + field(20, kind)


def node(op, inputs, outputs, domain=None, **attributes):
    """outputs: names with blanks between them."""
    return ((field(7, domain) if domain else b"") + b"".join(field(1, x) for x in inputs) + b"".join(field(2, y) for y in outputs.split(" ")) + field(4, op)
            + b"".join(field(5, attribute(k, v)) for k, v in attributes.items()))


def port(name, dims, kind=FLOAT):
    shape = b"".join(field(1, field(1 if isinstance(d, int) else 2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def graph(nodes, tensors, inputs, outputs, opset=17, more=b""):
    """inputs, outputs: ports; more: further fields of the graph."""
    body = (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, t) for t in tensors)
            + b"".join(field(11, x) for x in inputs) + b"".join(field(12, y) for y in outputs) + more)
    return field(1, 8) + field(7, body) + field(8, field(1, "") + field(2, opset))


def model(nodes, tensors, x, y):
    return graph(nodes, tensors, [port("x", x)], [port("y", y)])


def number(name, n):
    return tensor(name, [1], [n])


def constant(name, dims, values):
    return node("Constant", [], name, value=tensor("", dims, values))


def beside(nodes, tensors):
    """c, int64, cast and added to x."""
    return model([*nodes, node("Cast", ["c"], "f", to=1), node("Add", ["x", "f"], "y")], tensors, ["N", 4], ["N", 4])


def failures(ebb, rows):
    """Of rows (what, a file, words): those whose imported text, or one line of refusal where they begin with "!", lacks the words."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for what, data, wanted in rows:
            path = pathlib.Path(folder, "m.onnx")
            path.write_bytes(data)
            done = subprocess.run([ebb, "import", path, "-o", "-"], capture_output=True, text=True)
            fails = wanted.startswith("!")
            text = done.stderr if fails else done.stdout
            if done.returncode != (3 if fails else 0) or wanted.lstrip("!") not in text or (fails and done.stderr.count("\n") != 1):
                wrong.append(f"{what}: {done.returncode}: {done.stderr}{done.stdout}")
    return wrong
