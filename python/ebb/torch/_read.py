"""A program of torch.export as text: its parameters and buffers, its nodes in order, its loss."""

import operator
import re

import torch

from . import _ops_layers, _ops_losses, _ops_numbers, _ops_pointwise, _ops_shapes, _table  # noqa: F401: their rules
from ._places import place_of
from ._text import Refused, Text

MOST_NAMED = 6


class Kept:
    """A parameter or buffer: its Value, its tensor in the program, and whether it is trained."""

    def __init__(self, value, tensor, trained):
        self.value, self.tensor, self.trained = value, tensor, trained


class Reading:
    """lines: the text. inputs: (name, Value or None where nothing reads it). outputs: (Value, torch dtype). loss: Value. kept: by name."""

    def __init__(self, program, loss, outputs):
        self.program = program.run_decompositions(_table.decompositions())
        self.signature, self.text, self.values = self.program.graph_signature, Text("step"), {}
        self.inputs, self.kept, self.refused, self.bad = [], {}, [], set()
        self._declare()
        for node in self.program.graph.nodes:
            if node.op == "call_function":
                self._convert(node)
            elif node.op == "get_attr":
                self._refuse(node, "a graph within the graph")
        if self.refused:
            raise ValueError(self._line())
        self._finish(loss, outputs)

    # ---- given ----

    def _declare(self):
        nodes = {n.name: n for n in self.program.graph.nodes if n.op == "placeholder"}
        twins = {}
        for spec in self.signature.input_specs:
            kind, node = spec.kind.name, nodes[spec.arg.name]
            if not isinstance(node.meta.get("val"), torch.Tensor):
                self.values[node] = node.meta.get("val")
                self.inputs += [(node.name, None)] if kind == "USER_INPUT" else []
                continue
            try:
                if kind == "USER_INPUT":
                    value = self.text.declare("input", node.name, node.meta["val"].shape, _table.dtype_of(node.meta["val"].dtype))
                    self.inputs.append((node.name, value))
                else:
                    value = self._keep(spec, twins)
            except Refused as error:
                raise ValueError(f"ebb.torch.to_model: {spec.target or node.name}: {error}") from None
            self.values[node] = value

    def _keep(self, spec, twins):
        name = spec.target
        tensor = self.program.state_dict.get(name, self.program.constants.get(name))
        if not isinstance(tensor, torch.Tensor):
            raise Refused("its value is not in the program")
        value = twins.get(id(tensor))
        trained = isinstance(tensor, torch.nn.Parameter) and tensor.requires_grad
        if value is None:
            dtype = _table.dtype_of(tensor.dtype)
            if dtype in ("f16", "bf16"):
                raise Refused("what is kept is float32: precision=\"bf16\" computes in 16 bits")
            value = self.text.declare("param" if trained else "state", name, tensor.shape, dtype)
            twins[id(tensor)] = value
        self.kept[name] = Kept(value, tensor, trained)
        return value

    # ---- nodes ----

    def _convert(self, node):
        self.text.node, self.text.source = node.name, node
        if node.target is operator.getitem:
            source = self.values.get(node.args[0])
            if node.args[0] in self.bad:
                self.bad.add(node)
            self.values[node] = source[node.args[1]] if isinstance(source, (list, tuple)) and node.args[1] < len(source) else None
            return
        if not node.users and not _table.has_effect(node.target):
            return
        if not isinstance(node.target, torch._ops.OpOverload):
            self._refuse(node, "no op")
            return
        try:
            self.values[node] = _table.apply(self.text, node, self._value)
        except Refused as error:
            self._refuse(node, str(error))

    def _value(self, node):
        found = self.values.get(node)
        if found is None:
            raise Refused(f"its operand {node.name} has no value here")
        return found

    def _refuse(self, node, why):
        if not any(n in self.bad for n in node.all_input_nodes):
            self.refused.append((node, why))
        self.bad.add(node)

    def _line(self):
        named = [f"node {node.name}, {node.target}, {place_of(node) or 'no line of Python is known'}: {why}" for node, why in self.refused]
        more = f"; and {len(named) - MOST_NAMED} others" if len(named) > MOST_NAMED else ""
        return "ebb.torch.to_model: " + "; ".join(named[:MOST_NAMED]) + more

    # ---- results ----

    def _finish(self, loss, outputs):
        nodes = {n.name: n for n in self.program.graph.nodes}
        results = []
        for spec in self.signature.output_specs:
            node = nodes.get(getattr(spec.arg, "name", None))
            kind = spec.kind.name
            if kind == "BUFFER_MUTATION":
                self._update(self.kept[spec.target].value, self.values.get(node))
            elif kind in ("USER_OUTPUT", "LOSS_OUTPUT"):
                results.append((self.values.get(node), node))
            else:
                raise ValueError(f"ebb.torch.to_model: result {spec.arg.name} changes {spec.target}: only buffers may be changed")
        self.loss = self._loss(loss, results)
        kept = [(value, node) for value, node in results if value is not None and value is not self.loss] if outputs else []
        self.outputs = [(value, node.meta["val"].dtype) for value, node in kept]
        self.lines, self.sources = self.text.lines(list(dict.fromkeys(v for v, _ in self.outputs)), self.loss)

    def _update(self, state, value):
        if value is not None and value is not state:
            self.text.node, self.text.source = f"{state.name}.next", None
            self.text.op("assign", state, self.text.cast(self.text.reshape(value, state.shape), state.dtype))

    def _loss(self, loss, results):
        if loss is False:
            return None
        first, node = results[0] if results else (None, None)
        if first is None:
            raise ValueError("ebb.torch.to_model: the program has no result that could be the loss")
        if loss == "cross_entropy":
            return self._cross_entropy(first)
        if first.shape or not first.real:
            raise ValueError(f"ebb.torch.to_model: the first result, {node.name}, is {first!r}, no scalar: export the model with its loss, or "
                             "name loss=\"cross_entropy\", or loss=False")
        return first

    def _cross_entropy(self, logits):
        """Classes are the second axis; of rank 3 the last one, as of a language model."""
        if len(logits.shape) not in (2, 3, 4) or not logits.real:
            raise ValueError(f"ebb.torch.to_model: loss=\"cross_entropy\" of {logits!r}: rank 2 to 4")
        last = len(logits.shape) == 3
        self.text.node, self.text.source = "loss", None
        labels = self.text.declare("input", "labels", logits.shape[:2] if last else (logits.shape[0], *logits.shape[2:]), "i32")
        self.inputs.append(("labels", labels))
        rows, classes = labels.count, logits.shape[2 if last else 1]
        turned = logits if last else self.text.permute(logits, (0, *range(2, len(logits.shape)), 1))
        return self.text.op("softmax_xent", self.text.reshape(turned, (rows, classes)), self.text.reshape(labels, (rows,)), result=())

    # ---- errors ----

    def error(self, text):
        """The library's line, with the node that its line of text is of."""
        found = re.search(r":(\d+):", text)
        node = self.sources[int(found[1]) - 1] if found and int(found[1]) <= len(self.sources) else None
        where = f"node {node.name}, {node.target}, {place_of(node)}: " if node is not None else ""
        return f"ebb.torch.to_model: {where}{text}"
