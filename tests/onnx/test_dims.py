"""Each size of an input that is no number can be given, by a name that the refusal says. usage: test_dims.py EBB"""
import pathlib
import re
import subprocess
import sys
import tempfile

from written import FLOAT, field, graph, node, port, tensor

EBB = sys.argv[1]
NONE = None


def axes(name, dims):
    """As port, with None for an axis that has neither a number nor a name."""
    if NONE not in dims:
        return port(name, dims)
    shape = b"".join(field(1, b"" if d is NONE else field(1 if isinstance(d, int) else 2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


# Names and axes of inputs; the names of their sizes, in the order in which they are asked for; the first input then.
ROWS = [
    ("a name", [("x", ["batch", "length", 3])], ["length"], "[N,1001,3]"),
    ("N on another axis", [("x", ["B", "N", 3])], ["N_1"], "[N,1001,3]"),
    ("N on other axes, too", [("x", ["N", "N", "N"])], ["N_1"], "[N,1001,1001]"),
    ("N and its new name", [("x", ["B", "N", "N_1"])], ["N_2", "N_1"], "[N,1001,1002]"),
    ("blanks", [("x", ["B", "seq len"]), ("m", ["B", "seq len"])], ["seq_len"], "[N,1001]"),
    ("blanks beside the name without", [("x", ["B", "seq len", "seq_len", "seq-len"])], ["seq_len_1", "seq_len", "seq_len_2"], "[N,1001,1002,1003]"),
    ("expressions", [("x", ["B", "2*s", "past_sequence_length + 1", "(T)"])], ["_2_s", "past_sequence_length_1", "T"], "[N,1001,1002,1003]"),
    ("a digit alone, a mark alone, other letters", [("x", ["B", "7", "?", "é"])], ["_7", "d", "d_1"], "[N,1001,1002,1003]"),
    ("no name", [("x", ["B", 3, NONE, NONE]), ("m", ["B", NONE])], ["x_2", "x_3", "m_1"], "[N,3,1001,1002]"),
    ("-1 and 0", [("x", ["B", -1, 0])], ["x_1", "x_2"], "[N,1001,1002]"),
    ("no name, which is taken", [("x", ["B", NONE, "x_1"])], ["x_1_1", "x_1"], "[N,1001,1002]"),
    ("an input that is no word", [("input:0", ["B", 3, NONE])], ["input_0_2"], "[N,3,1001]"),
    ("a long name", [("x", ["B", "s" * 99])], ["s" * 40], "[N,1001]"),
    ("no name of the first axis", [("x", [NONE, 3])], [], "[N,3]"),
]
wrong = []
with tempfile.TemporaryDirectory() as folder:
    path, out = pathlib.Path(folder, "m.onnx"), pathlib.Path(folder, "out.onnx")
    for what, inputs, names, wanted in ROWS:
        given = []
        path.write_bytes(graph([node("Mul", [inputs[0][0], "w"], "y")], [tensor("w", [1], [2.0], floats=True)], [axes(*x) for x in inputs], [port("y", ["N"])]))

        def ebb(*args):
            return subprocess.run([EBB, *args, *(f"--dim={d}" for d in given)], capture_output=True, text=True, timeout=60)

        for i, name in enumerate(names):
            done = ebb("import", path, "-o", "-")
            asked = re.search(r"input \S+: axis \d+ has no size: give it with --dim (\w+)=SIZE\n$", done.stderr)
            if done.returncode != 3 or not asked or asked[1] != name or done.stderr.count("\n") != 1:
                wrong.append(f"{what}: {name}: {done.returncode}: {done.stderr}")
            given.append(f"{name}={1001 + i}")
        done = ebb("import", path, "-o", "-")
        if done.returncode or f"= input f32{wanted}\n" not in done.stdout:
            wrong.append(f"{what}: {given}: {done.returncode}: {done.stderr}{done.stdout}")
        for args in (("plan", path, "--dim=N=2"), ("export", path, "-o", out)):
            if ebb(*args).returncode:
                wrong.append(f"{what}: {args[0]}: {ebb(*args).stderr}")
        given.append("other=3")
        done = ebb("import", path, "-o", "-")
        if done.returncode != 2 or not all(f" {name}" in done.stderr for name in names[:4]):
            wrong.append(f"{what}: another: {done.returncode}: {done.stderr}")
    # More than can be given are refused in one line, too.
    path.write_bytes(graph([node("Relu", ["x"], "y")], [], [port("x", ["N", 4]), *(axes(f"p{i}", ["N", *[NONE] * 7]) for i in range(200))], [port("y", ["N", 4])]))
    done = subprocess.run([EBB, "import", path, *(f"--dim=p{i}_{d}=2" for i in range(9) for d in range(1, 8))], capture_output=True, text=True, timeout=60)
    if done.returncode not in (2, 3) or done.stderr.count("\n") != 1:
        wrong.append(f"many: {done.returncode}: {done.stderr}")
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
