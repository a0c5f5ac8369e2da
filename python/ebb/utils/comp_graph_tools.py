"""Files of trace.dump: GraphInference runs one, load_graph gives its graph to look at."""

import re

from .. import _dtype
from ..jit.loaded import load

__all__ = [
    "GraphInference", "get_dep_vars", "get_opr_type", "get_oprs_seq", "get_owner_opr_inputs",
    "get_owner_opr_type", "load_graph",
]

_LINE = re.compile(r"(%\S+(?:, %\S+)*) = (\w+)((?: %[^ ,]+,?)*)")
_TYPE = re.compile(r"(\w+)\[([\d,]*)\]")
_NO_OPS = {"input": "Host2DeviceCopy", "param": "ImmutableTensor"}  # what is given, as MegEngine calls it


class VarNode:
    """A value of a graph: its name, dtype and shape, and the op that makes it."""

    def __init__(self, name, owner, dtype, shape):
        self.name, self.owner, self.dtype, self.shape = name, owner, dtype, shape

    def __repr__(self):
        return f"<{self.name} of {self.owner.type}>"


class OperatorNode:
    """An op of a graph, or what a value is given by: its type, inputs and outputs, and its number in their order."""

    def __init__(self, id, type, inputs):
        self.id, self.type, self.inputs, self.outputs, self.name = id, type, inputs, [], f"{type}[{id}]"


class Graph:
    """What load_graph gives. A view that gives a value another name is no op."""

    def __init__(self, loaded):
        self.all_oprs, values = [], {}
        for line in loaded.text.splitlines():
            found = _LINE.match(line)
            if not found:
                continue
            results, type, operands = (part.replace("%", "").replace(",", "").split() for part in found.groups())
            inputs = [values[name] for name in operands]
            types = [(_dtype.NAMES[t], tuple(int(n) for n in sizes.split(",") if n))
                     for t, sizes in _TYPE.findall(line.rpartition(" : ")[2] if inputs or " : " in line else line[found.end():])]
            if type == ["reshape"] and types[0] == (inputs[0].dtype, inputs[0].shape):
                values[results[0]] = inputs[0]
                continue
            op = OperatorNode(len(self.all_oprs), _NO_OPS.get(type[0], type[0]), inputs)
            op.outputs = [VarNode(name, op, *of) for name, of in zip(results, types)]
            self.all_oprs.append(op)
            values.update(zip(results, op.outputs))
        self.output_vars_list = [values[name] for name in loaded.output_values]
        self.output_vars_map = dict(zip(loaded.outputs, self.output_vars_list))


def load_graph(file):
    """The graph of a file of trace.dump: output_vars_list, output_vars_map and all_oprs."""
    return Graph(load(file))


def get_owner_opr_type(var):
    return var.owner.type


def get_owner_opr_inputs(var):
    return var.owner.inputs


def get_opr_type(op):
    return op.type


def get_oprs_seq(outputs, prune_reshape=False, prune_immtensor=True):
    """The ops that values need, in order, without what gives weights (prune_immtensor) and without views
    (prune_reshape)."""
    pruned = {type for type, on in (("ImmutableTensor", prune_immtensor), ("reshape", prune_reshape)) if on}
    return [op for op in _needed(outputs) if op.type not in pruned]



def get_dep_vars(var, var_type=None):
    """The values that one or several need, of one type of op or several if told."""
    wanted = (var_type,) if isinstance(var_type, str) else var_type
    return [v for op in _needed(var if isinstance(var, (list, tuple)) else [var]) for v in op.outputs
            if wanted is None or op.type in wanted]


def _needed(outputs):
    found, left = {}, [var.owner for var in outputs]
    while left:
        op = left.pop()
        if op.id not in found:
            found[op.id] = op
            left += [var.owner for var in op.inputs]
    return [found[id] for id in sorted(found)]


class GraphInference:
    """run(*inputs, inp_dict={name: value}) gives an OrderedDict of arrays by output name; outputs: the names of
    those that are wanted."""

    def __init__(self, file, outputs=None, profiling=False, optimize_for_inference=False, **kwargs):
        if profiling or kwargs:
            raise ValueError(f"GraphInference: {', '.join(['profiling'] * bool(profiling) + sorted(kwargs))}: not there")
        self._loaded = load(file)
        self._outputs = self._loaded.outputs if outputs is None else list(outputs)
        missing = [name for name in self._outputs if name not in self._loaded.outputs]
        if missing:
            raise ValueError(f"no output {missing[0]!r}: there are {', '.join(self._loaded.outputs)}")

    def run(self, *inp_args, inp_dict=None):
        found = self._loaded.run(inp_args, inp_dict or {})
        return type(found)((name, found[name]) for name in self._outputs)
