"""ONNX files of traced functions: the graph without fused ops, and its weights."""

import os
import re
import tempfile

import safetensors.numpy

from .. import _core


def bytes_of(text, weights, inputs, outputs):
    """The bytes of an ONNX file. inputs, outputs: (name, value) of each."""
    names = {}
    for name, value in [*inputs, *outputs]:
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or value in names or name in names.values():
            raise ValueError(f"dump: {name}: in ONNX a name of its own for each value, of letters, digits and _")
        names[value] = name
    taken = [name for name in names.values() if re.search(rf"%{name}(?![\w.])", text)]
    if taken:
        raise ValueError(f"dump: a value of the graph is called {taken[0]} already")
    text = re.sub(r"%([\w.]+)", lambda found: "%" + names.get(found[1], found[1]), text)
    with tempfile.TemporaryDirectory() as folder:
        tensors, made = os.path.join(folder, "weights"), os.path.join(folder, "graph.onnx")
        with open(tensors, "wb") as out:
            out.write(safetensors.numpy.save(weights))
        _core.export_onnx(text, tensors, made)
        with open(made, "rb") as file:
            return file.read()


def is_meant(file, dump_format):
    """Whether dump is to write ONNX to the file."""
    return dump_format == "ONNX" or (dump_format is None and not hasattr(file, "write") and os.fspath(file).endswith(".onnx"))
