"""Files of traced functions: the graph as text and its weights, one safetensors file; or an ONNX file.

`__metadata__` holds the text ("graph", docs/ir.md) and, as JSON, which of its values are the inputs, outputs and
named parameters. Everything that the graph is given besides its inputs is a tensor of the file, by the value's
name.
"""

import collections
import hashlib
import json
import re
import warnings

import safetensors.numpy

from .._errors import InputError
from .._files import whole
from . import onnx as _onnx

FORMAT = "ebb.trace/1"
DumpInfo = collections.namedtuple(
    "DumpInfo", "nr_opr tot_bytes tensor_value_bytes content_hash inputs outputs params")

_NO_HALF = "products are summed in float32: enable_io16xc32 stores 16 bits"
_NO_LAYOUT = "the layout is channels last on every device"
_REFUSED = {"enable_ioc16": _NO_HALF}
_REFUSED.update(dict.fromkeys(
    [f"enable_{name}" for name in (
        "hwcd4", "nhwcd4", "nchw4", "nchw88", "nchw44", "nchw44_dot", "nchw32", "nchw64", "chwn4")],
    _NO_LAYOUT))
_LOW = "enable_io16xc32"  # the file is planned and run in the precision f16
# What plans do by themselves, without a change of a bit.
_DONE = {"enable_fuse_conv_bias_nonlinearity", "enable_fuse_conv_bias_with_z", "enable_fuse_preprocess",
         "enable_fuse_conv_bias", "enable_fuse_grain", "weight_preprocess"}


# Of test cases and notes that MegEngine writes into its files.
_OF_CASES = {"enable_metadata", "input_data", "repeat", "silent", "no_assert", "maxerr", "resize_input", "input_transform"}


def precision_of(flags, file, dump_format=None, optimize=True):
    """Checks the flags; in which precision the file is to be run. optimize False: flags change nothing, as in MegEngine."""
    if dump_format not in (None, "FBS", "FBS_V2", "ONNX"):
        raise ValueError(f"dump: dump_format {dump_format!r}: ONNX, or FBS or FBS_V2, in place of which there is one of "
                         "Ebb's own")
    flags = dict(flags)
    cases = {name: flags.pop(name) for name in _OF_CASES & set(flags)}
    if dump_format in ("FBS", "FBS_V2") or cases.get("input_data"):
        warnings.warn("dump: the file is Ebb's own, for jit.load and GraphInference, and has no test cases", stacklevel=3)
    for name, value in flags.items():
        if name not in _REFUSED and name not in _DONE and name != _LOW:
            raise TypeError(f"dump: there is no option {name!r}")
        if value and optimize and name in _REFUSED:
            raise ValueError(f"dump: {name}: {_REFUSED[name]}")
    if flags.get(_LOW) and optimize and _onnx.is_meant(file, dump_format):
        raise ValueError(f"dump: {_LOW}: ONNX has the dtypes of the call: amp.autocast makes them float16")
    return "f16" if flags.get(_LOW) and optimize else "f32"


def _names(given, default, what):
    if given is None:
        return default
    given = [given] if isinstance(given, str) else list(given)
    if len(given) != len(default):
        raise ValueError(f"dump: {len(given)} {what} for {len(default)}")
    if len(set(given)) != len(given):
        raise ValueError(f"dump: {what} repeat: {given}")
    return given


def _input_names(arg_names, places, named):
    own = iter(_names(arg_names, [f"arg_{i}" for i in places if i not in named], "arg_names"))
    names = [named.get(i) or next(own) for i in places]
    if len(set(names)) != len(names):
        raise ValueError(f"dump: names of arguments repeat: {names}")
    return names


def _output_names(values, onnx):
    """ADD, ADD[1] (in ONNX ADD_1), ...: an output's default name is its op's."""
    seen, names = collections.Counter(), []
    for value in values:
        name = value.split(".", 1)[1].upper()
        number = f"_{seen[name]}" if onnx else f"[{seen[name]}]"
        names.append(name + number if seen[name] else name)
        seen[name] += 1
    return names


def _text(core, returned, unfused):
    """The text of the one program, whose outputs are what was returned."""
    text = core.text(0, unfused)
    try:
        core.text(1)
    except Exception:  # noqa: BLE001 - there is no second one
        pass
    else:
        raise ValueError("dump: the function reads values on the way: its graph is in parts; return them instead")
    lines = [line for line in text.splitlines() if not line.startswith("output ")]
    made = [value for value in dict.fromkeys(returned) if any(f"%{value}" in values_made(line) for line in lines)]
    return "\n".join(lines + [f"output %{value}" for value in made if not _given(lines, value)]) + "\n"


def values_made(line):
    """The values that a line of text makes."""
    return [part.strip() for part in line.split(" = ", 1)[0].split(",")] if " = " in line else []


def _given(lines, value):
    return any(line.startswith((f"%{value} = input ", f"%{value} = param ")) for line in lines)


def _trains(lines):
    """Whether there are gradients, or an optimizer's updates by such as come from elsewhere."""
    return any(re.search(r" phase=(backward|update)\b| = (sgd|sgd_momentum|adamw) %", line) for line in lines)


def dump(core, named, n_returned, file, arg_names, output_names, keep_param_name, dump_format=None, precision="f32"):
    """Writes the file; DumpInfo. named: by their places, the names of arguments that were given by name, and keep those."""
    onnx = _onnx.is_meant(file, dump_format)
    returned = [core.returned(i) for i in range(n_returned)]
    if not returned or "" in returned:
        raise ValueError("dump: the function must return tensors that it has made")
    text = _text(core, returned, onnx)
    if " = bn_track " in text and "_grad" not in text:
        raise InputError("dump: a batch norm is in training, and nothing is trained: eval() comes before the call")
    lines = text.splitlines()
    if precision == "f16" and _trains(lines):
        raise InputError(f"dump: {_LOW}: the graph trains, and a file's loss is not scaled, as gradients in float16 "
                         "need: leave it out; amp.autocast and amp.GradScaler train in 16 bits")
    there = {value[1:] for line in lines for value in values_made(line)}
    arguments, weights, params = [], {}, {}
    for name, kind, index, tensor in core.given():
        if kind == "argument":
            arguments.append((index, name))
        elif name in there and kind == "import":
            raise ValueError(f"dump: {name} comes from an excluded region")
        elif name in there and tensor is not None:
            weights[name] = tensor.numpy()
            own = getattr(tensor, "name", "")
            params[name] = own if keep_param_name and own else name
    inputs = _input_names(arg_names, [index for index, _ in arguments], named)
    outputs = _names(output_names, _output_names(returned, onnx), "output_names")
    facts = {"inputs": [[n, v] for n, (_, v) in zip(inputs, arguments)],
             "outputs": [[n, v] for n, v in zip(outputs, returned)], "params": params}
    if precision != "f32":
        facts["precision"] = precision
    if onnx:
        data = _onnx.bytes_of(text, weights, facts["inputs"], facts["outputs"])
    else:
        data = safetensors.numpy.save(weights, {"format": FORMAT, "graph": text, "facts": json.dumps(facts)})
    _write(file, data)
    n_ops = sum(" = " in line and not _is_weight(line) for line in lines)
    return DumpInfo(n_ops, len(data), sum(w.nbytes for w in weights.values()), hashlib.sha256(data).hexdigest(),
                    inputs, outputs, sorted(params.values()))


def _is_weight(line):
    return line.split(" = ", 1)[1].startswith("param ")


def _write(file, data):
    """To an open file, or whole or not at all to a path."""
    if hasattr(file, "write"):
        file.write(data)
        return
    with whole(file) as out:
        out.write(data)
