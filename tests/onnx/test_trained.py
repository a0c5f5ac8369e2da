"""Which floats of a file become params, and which are numbers. usage: test_trained.py EBB"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

from written import field, graph, model, node, port, tensor

EBB = sys.argv[1]
KIND = "pkg.torch.export.graph_signature.InputSpec.kind"
TIMES = "%y = rescale %x times=0.5"


def constant(name, values):
    return node("Constant", [], name, value=tensor("", [len(values)], values, floats=True))


def norm(scale, bias):
    nodes = [constant("w", scale), constant("b", bias), node("InstanceNormalization", ["x", "w", "b"], "y")]
    return model(nodes, [], ["N", 2, 3], ["N", 2, 3])


def said(name, *properties):
    """A ValueInfoProto with properties."""
    return field(13, b"".join(field(4, field(1, key) + field(2, value)) for key, value in properties) + field(1, name))


def scaled(name, value, more=b""):
    """x times a tensor of rank 0; more: of the graph."""
    known = tensor(name, [], [value], floats=True)
    return graph([node("Mul", ["x", name], "y")], [known], [port("x", ["N", 4])], [port("y", ["N", 4])], more=more)


def joined(op, values, *properties):
    """x and a tensor w [2,2]; what the file says of that."""
    shape = ["N", 2] if op == "MatMul" else ["N", 2, 2]
    return graph([node(op, ["x", "w"], "y")], [tensor("w", [2, 2], values, floats=True)], [port("x", shape)], [port("y", shape)], more=said("w", *properties))


MADE = ("val_5", "onnx::Mul_5", "/a/Constant_1_output_0", "a_output_0", "_v", "27", "scalar_tensor_default", "const_2")
ROWS = [
    *((f"a number named {name}", scaled(name, 0.5), TIMES) for name in MADE),
    *((f"a parameter named {name}", scaled(name, 0.5), f"%{name} = param f32[]") for name in ("logit_scale", "half", "val", "a.val_5")),
    ("computed, says the file", scaled("sqrt", 0.5, said("sqrt", ("pkg.onnxscript.optimizer.folded_from", "['a']"))), TIMES),
    ("a buffer, says the file", scaled("m.scale", 0.5, said("m.scale", (KIND, "BUFFER"))), TIMES),
    ("a parameter, says the file", scaled("_scale", 0.5, said("_scale", ("other", ""), (KIND, "PARAMETER"))), "%_scale = param f32[]"),
    ("a parameter in a file of Ebb's", scaled("val_5", 0.5) + field(2, "ebb"), "%val_5 = param f32[]"),
    *((f"{op} of {what}, {kind}", joined(op, values, (KIND, kind)), f"%w = {word} f32[2,2]")
      for op, what, values, kind, word in (
          ("Add", "a table", [0.0, 1.0, 2.0, 3.0], "BUFFER", "state"), ("Add", "a table", [0.0, 1.0, 2.0, 3.0], "CONSTANT_TENSOR", "state"), ("Add", "a table", [0.0, 1.0, 2.0, 3.0], "PARAMETER", "param"),
          ("MatMul", "a table", [0.0, 1.0, 2.0, 3.0], "BUFFER", "state"), ("Add", "equal numbers", [1.0] * 4, "BUFFER", "state"), ("MatMul", "equal numbers", [1.0] * 4, "BUFFER", "param"))),
    ("a table of which the file says something else", joined("Add", [0.0, 1.0, 2.0, 3.0], ("pkg.onnxscript.optimizer.folded_from", "['a']")), "%w = param f32[2,2]"),
    ("infinity in a file of Ebb's", scaled("m.c", math.inf) + field(2, "ebb"), "%m.c = state f32[]"),
    ("a mask's filling", scaled("m.lifted", -3e38), "%m.lifted = constant f32[] fill=-3"),
    ("a constant with NaN", model([constant("k", [1.0, math.nan]), node("Add", ["x", "k"], "y")], [], ["N", 2], ["N", 2]), "%k = state f32[2]"),
    ("an exponent", model([node("Pow", ["x", "k"], "y")], [tensor("k", [], [3.0], floats=True)], ["N", 4], ["N", 4]), "%y.1 = mul %x, %y\n"),
    ("statistics of a copy", model([node("ReduceMean", ["copy"], "m", axes=[0, 2], keepdims=0), node("BatchNormalization", ["w", "s", "s", "m", "m"], "n", training_mode=1), node("Mul", ["x", "n"], "y")],
                                   [tensor(name, [1, 2, 3], [float(i) for i in range(6)], floats=True) for name in ("w", "copy")] + [tensor("s", [2], [1.0, 2.0], floats=True)], ["N", 2, 3], ["N", 2, 3]),
     "%x = input f32[N,2,3]\n%w = param f32[1,2,3]\n%s = param f32[2]\n%n = reduce_mean %w axis=[0,2]\n"),
    ("a norm without a scale", norm([1.0, 1.0], [0.0, 0.0]), "%w = constant f32[2] fill=1\n%b = constant f32[2] fill=0\n"),
    ("a norm's scale as a constant", norm([1.0, 2.0], [0.0, 0.5]), "%w = param f32[2]\n%b = param f32[2]\n"),
]


def imported(path):
    return subprocess.run([EBB, "import", path, "-o", "-"], capture_output=True, text=True, check=False)


def written_by_ebb(folder):
    """A param of a text, exported and imported: is it one still?"""
    text, weights, onnx = (folder / name for name in ("m.ebb", "m.safetensors", "m.onnx"))
    text.write_text("ebb 1\ngraph m\n%x = input f32[2,4]\n%scale = param f32[]\n%y = mul %x, %scale\noutput %y\n")
    head = json.dumps({"scale": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}).encode()
    weights.write_bytes(struct.pack("<Q", len(head)) + head + struct.pack("<f", 2.5))
    done = subprocess.run([EBB, "export", text, "--weights", weights, "-o", onnx], capture_output=True, text=True, check=False)
    return imported(onnx) if done.returncode == 0 else done


wrong = []
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    results = [("exported and imported", written_by_ebb(folder), "%scale = param f32[]")]
    for what, data, wanted in ROWS:
        (folder / "m.onnx").write_bytes(data)
        results.append((what, imported(folder / "m.onnx"), wanted))
for what, done, wanted in results:
    if done.returncode != 0 or wanted not in done.stdout:
        wrong.append(f"{what}: {done.returncode}: {done.stderr}{done.stdout}")
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
