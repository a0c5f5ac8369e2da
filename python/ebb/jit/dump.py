"""Files of traced functions: the graph as text and its weights, one safetensors file; or an ONNX file.

`__metadata__` holds the text ("graph", docs/ir.md) and, as JSON, which of its values are the inputs, outputs and
named parameters. Everything that the graph is given besides its inputs is a tensor of the file, by the value's
name.
"""

import collections
import hashlib
import json
import os
import re
import stat
import tempfile
import threading
import warnings

import numpy as np
import safetensors
import safetensors.numpy

from .. import _core, _dtype
from .._errors import InputError
from .._tensor import Tensor
from . import onnx as _onnx
from .options import memory_options

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
    made = [value for value in dict.fromkeys(returned) if any(f"%{value}" in _left(line) for line in lines)]
    return "\n".join(lines + [f"output %{value}" for value in made if not _given(lines, value)]) + "\n"


def _left(line):
    """The values that a line of text makes."""
    return [part.strip() for part in line.split(" = ", 1)[0].split(",")] if " = " in line else []


def _given(lines, value):
    return any(line.startswith((f"%{value} = input ", f"%{value} = param ")) for line in lines)


def _trains(lines):
    """Whether there are gradients, or an optimizer's updates by such as come from elsewhere."""
    return any(re.search(r" phase=(backward|update)\b| = (sgd|sgd_momentum|adamw) %", line) for line in lines)


def dump(core, n_returned, file, arg_names, output_names, keep_param_name, dump_format=None, precision="f32"):
    """Writes the file; DumpInfo."""
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
    there = {value[1:] for line in lines for value in _left(line)}
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
    inputs = _names(arg_names, [f"arg_{index}" for index, _ in arguments], "arg_names")
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


def _mode(path):
    """That of the file that is replaced, or of any new one."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _write(file, data):
    """To an open file, or whole or not at all to a path."""
    if hasattr(file, "write"):
        file.write(data)
        return
    path = os.fspath(file)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".dump-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# ---- back


class Loaded:
    """A function that dump wrote: called with its inputs, by position or name, it gives its output, or a tuple of
    them. What its graph updates (running statistics, parameters) it keeps; state_dict() has it.

    Its parameters and memory are its own. plan() tells the bytes.
    """

    def __init__(self, name, data, options):
        try:
            self._weights = _weights_of(data)
        except Exception as error:  # noqa: BLE001 - the library's own, of which there are several
            raise ValueError(f"{name}: no safetensors file: {error}") from None
        text, facts = _header(name, data)
        self.inputs = [n for n, _ in facts["inputs"]]
        self.outputs = [n for n, _ in facts["outputs"]]
        self.text = text
        self.output_values = [value for _, value in facts["outputs"]]
        self._facts = facts
        self._lock = threading.Lock()  # a run is its feeds, step and fetches together
        self._program = _core.Program(text, {"precision": facts.get("precision", "f32"), **options})
        self._feedable = {value for _, value in facts["inputs"] if f"\n%{value} = input " in text}
        params = [_left(line)[0][1:] for line in text.splitlines() if " = param " in line]
        missing = [value for value in params if value not in self._weights]
        if missing:
            raise ValueError(f"{name}: it has no tensor {missing[0]}, which its graph is given")
        for value, array in self._weights.items():
            self._feed(f"{name}: {value}", value, array)

    def _feed(self, what, value, array):
        element, shape = self._program.tensor(value)
        if array.shape != shape or _dtype.element_of(array.dtype) != element:
            raise ValueError(f"{what} is {array.dtype.name}{list(array.shape)}, and the graph has "
                             f"{_dtype.DTYPES[element].name}{list(shape)}")
        self._program.feed(value, _dtype.buffer_of(array))
        return array

    def run(self, args, named):
        """Arrays by output name."""
        if len(args) + len(named) != len(self.inputs):
            raise TypeError(f"{len(args) + len(named)} inputs for {len(self.inputs)}: {', '.join(self.inputs)}")
        unknown = set(named) - set(self.inputs[len(args):])
        if unknown:
            raise TypeError(f"no input {sorted(unknown)[0]!r}: there are {', '.join(self.inputs)}")
        arrays = [_dtype.array_of(args[i] if i < len(args) else named[name], None)
                  for i, (name, _) in enumerate(self._facts["inputs"])]
        with self._lock:
            return self._run(arrays)

    def _run(self, arrays):
        fed = {}
        for (name, value), array in zip(self._facts["inputs"], arrays):
            fed[value] = self._feed(f"input {name}", value, array) if value in self._feedable else array
        self._program.step()
        return collections.OrderedDict((n, fed[v] if v in fed else self._fetch(v)) for n, v in self._facts["outputs"])

    def _fetch(self, value):
        element, shape = self._program.tensor(value)
        array = np.empty(shape, _dtype.DTYPES[element])
        self._program.fetch(value, _dtype.buffer_of(array))
        return array

    def __call__(self, *args, **named):
        found = [Tensor(array) for array in self.run(args, named).values()]
        return found[0] if len(found) == 1 else tuple(found)

    def state_dict(self):
        """Arrays of what the graph keeps, by the names that dump gave."""
        return collections.OrderedDict((self._facts["params"].get(v, v), self._fetch(v)) for v in self._weights)

    def plan(self):
        """The figures of its plan, as trace.plan."""
        return self._program.plan()


_NAMES = {"F32": "float32", "F64": "float64", "I32": "int32", "U8": "uint8", "BOOL": "bool", "F16": "float16",
          "BF16": "bfloat16", "I8": "int8", "I16": "int16"}


def _weights_of(data):
    """Arrays by name; safetensors.numpy has no bfloat16."""
    return {name: np.frombuffer(bytearray(part["data"]), _NAMES[part["dtype"]]).reshape(part["shape"])
            for name, part in safetensors.deserialize(data)}


def _header(name, data):
    """Text and facts of a file whose safetensors header is known to be good."""
    facts = json.loads(data[8:8 + int.from_bytes(data[:8], "little")]).get("__metadata__", {})
    if facts.get("format") != FORMAT:
        raise ValueError(f"{name}: no file of trace.dump: its format is {facts.get('format')!r}, not {FORMAT!r}")
    try:
        parsed = json.loads(facts["facts"])
        pairs = [pair for key in ("inputs", "outputs") for pair in parsed[key]]
        good = all(len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in pairs)
        good = good and isinstance(parsed["params"], dict) and isinstance(facts["graph"], str)
        good = good and parsed.get("precision", "f32") in ("f32", "bf16", "f16")
    except (KeyError, TypeError, ValueError, RecursionError):
        good = False
    if not good:
        raise ValueError(f"{name}: its metadata does not say inputs, outputs and graph")
    return facts["graph"], parsed


def load(file, *, budget=None, memory=None, effort=None, time_limit=None, cache=None):
    """Reads what trace.dump has written, from a path or an open file. Options as trace's."""
    name = getattr(file, "name", "file") if hasattr(file, "read") else os.fspath(file)
    if hasattr(file, "read"):
        data = file.read()
    else:
        with open(file, "rb") as opened:
            data = opened.read()
    said = {"effort": effort, "time_limit": time_limit, "cache": cache and os.fspath(cache)}
    options = memory_options(None, None, budget, memory)
    options.update({k: v for k, v in said.items() if v is not None})
    return Loaded(name, data, options)
