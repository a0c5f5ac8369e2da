"""What a program that uses a file sees of it, its inputs and outputs, is the same of the file that comes out. usage: test_border.py EBB"""
import pathlib
import subprocess
import sys
import tempfile

from written import FLOAT, INT64, graph, node, port, tensor

EBB = sys.argv[1]
F, I = ["N", 4], ["N"]
TENSORS = [*(tensor(name, [4, 4], [float(i) for i in range(16)], floats=True) for name in ("w", ":w")),
           tensor("v", [1, 4], [1.0, 2.0, 3.0, 4.0], floats=True), tensor("k", [1], [5]), tensor("four", [1], [4])]


def fields(data):
    """(number, value) of each field of a message: bytes or an integer."""
    at = 0

    def varint():
        nonlocal at
        n, shift = 0, 0
        while True:
            byte, at = data[at], at + 1
            n, shift = n | (byte & 127) << shift, shift + 7
            if byte < 128:
                return n

    while at < len(data):
        key = varint()
        if key & 7 == 5:
            value, at = data[at:at + 4], at + 4
        else:
            value = varint()
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def every(data, number):
    return [value for n, value in fields(data) if n == number]


def ports(data, number):
    """(name, type) of the inputs, 11, or outputs, 12."""
    return [(every(p, 1)[0].decode(), every(every(every(p, 2)[0], 1)[0], 1)[0]) for p in every(every(data, 7)[0], number)]


def misnamed(data):
    """A name that two nodes give, or that is read before it is there."""
    inside = every(data, 7)[0]
    known = {name.decode() for name, _ in ((every(t, 8)[0], t) for t in every(inside, 5))} | {name for name, _ in ports(data, 11)}
    for n in every(inside, 1):
        for name in every(n, 1):
            if name.decode() not in known:
                return f"{name.decode()} is read before it is there"
        for name in every(n, 2):
            if name.decode() in known:
                return f"{name.decode()} is there twice"
            known.add(name.decode())
    return "".join(f"{name} is not there" for name, _ in ports(data, 12) if name not in known)


def row(what, nodes, x, y):
    """x, y: names of inputs and outputs of floats, with # before those of int64."""
    def made(names):
        return [port(name.lstrip("#"), I if name[0] == "#" else F, INT64 if name[0] == "#" else FLOAT) for name in names]
    return what, graph(nodes, TENSORS, made(x), made(y))


PRODUCT = [node("Relu", ["x"], "a"), node("MatMul", ["a", "w"], "b")]  # several ops, of which the last is b.3
PLACES = [node("ArgMax", ["x"], "i", axis=1, keepdims=0), node("Identity", ["i"], "j"), node("Add", ["i", "k"], "s")]
ROWS = [
    row("outputs in another order than they are computed in", PRODUCT, ["x"], ["b", "a"]),
    row("an output that is another one", [*PRODUCT, node("Identity", ["a"], "i")], ["x"], ["i", "b", "a"]),
    row("an output that is there twice", PRODUCT, ["x"], ["a", "b", "a"]),
    row("an output turned there and back", [*PRODUCT, node("Transpose", ["a"], "t", perm=[1, 0]), node("Transpose", ["t"], "u", perm=[1, 0])], ["x"], ["u", "b", "a"]),
    row("names that the text does not have", [node("Relu", ["input:0"], "a"), node("MatMul", ["a", "w"], "/y:0,é")], ["input:0"], ["/y:0,é"]),
    row("names that others have in the text", [node("MatMul", ["x", "w"], "y"), node("MatMul", ["y", "w"], "y.3"), node("Relu", ["y.3"], "y:known0")], ["x"], ["y:known0", "y", "y.3"]),
    row("a name of a weight in the text", [node("MatMul", ["x", "w"], "h"), node("Relu", ["h"], "w:0"), node("Relu", ["w:0"], "w.1")], ["x"], ["w.1", "w:0"]),
    row("a weight that makes way", [node("MatMul", ["x", ":w"], "h"), node("Relu", ["h"], "_w")], ["x"], ["_w"]),
    row("int64 in", [node("Gather", ["w", "ids"], "y")], ["#ids"], ["y"]),
    row("int64 out", PLACES, ["x"], ["#s", "#i"]),
    row("int64 out, one of them twice", PLACES, ["x"], ["#j", "#s", "#i", "#i"]),
    row("int64 in for its size alone", [node("Shape", ["ids"], "n"), node("Concat", ["n", "four"], "s", axis=0), node("Expand", ["v", "s"], "y")], ["#ids"], ["y"]),
    row("an input that nothing reads", [node("Relu", ["x"], "y")], ["x", "mask", "#more"], ["y"]),
    row("an input as it is", [*PRODUCT, node("Identity", ["x"], "i")], ["x"], ["i", "b"]),
    row("inputs of whole numbers as they are", [*PRODUCT, node("Identity", ["ids"], "i"), node("Identity", ["ids"], "j")], ["x", "#ids"], ["b", "#i", "#j"]),
    row("a weight as it is", [*PRODUCT, node("Identity", ["w"], "i")], ["x"], ["b", "i"]),
    row("a Softmax at the end", [*PRODUCT, node("Softmax", ["b"], "p", axis=1)], ["x"], ["p", "b"]),
]

wrong = []
with tempfile.TemporaryDirectory() as folder:
    given, out, weights = (pathlib.Path(folder, name) for name in ("m.onnx", "out.onnx", "w.safetensors"))
    for what, data in ROWS:
        given.write_bytes(data)
        for more in ([], ["--weights", weights]):
            done = subprocess.run([EBB, "import", given, "-o", pathlib.Path(folder, "m.ebb"), "--weights", weights], capture_output=True, text=True, timeout=60)
            done = done if done.returncode else subprocess.run([EBB, "export", given, "-o", out, *more], capture_output=True, text=True, timeout=60)
            if done.returncode:
                wrong.append(f"{what}: {done.stderr}")
                continue
            came = out.read_bytes()
            for number, name in ((11, "inputs"), (12, "outputs")):
                if ports(data, number) != ports(came, number):
                    wrong.append(f"{what}: {name} {ports(data, number)} became {ports(came, number)}")
            if misnamed(came):
                wrong.append(f"{what}: {misnamed(came)}")
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
