"""Files that dump wrote, read back and run (dump.py says what they hold)."""

import collections
import json
import os
import threading

import numpy as np
import safetensors

from .. import _core, _dtype
from .._tensor import Tensor
from .dump import FORMAT, values_made
from .options import memory_options


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
        params = [values_made(line)[0][1:] for line in text.splitlines() if " = param " in line]
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
    except (KeyError, TypeError, ValueError, RecursionError):
        good = False
    if not good:
        raise ValueError(f"{name}: its metadata does not say inputs, outputs and graph")
    if (precision := parsed.get("precision", "f32")) not in ("f32", "bf16", "f16"):
        raise ValueError(f"{name}: its precision is {precision!r}, not 'f32', 'bf16' or 'f16'")
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
    options = memory_options(None, None, budget, memory, "load")
    options.update({k: v for k, v in said.items() if v is not None})
    return Loaded(name, data, options)
