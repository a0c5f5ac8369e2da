"""The two halves of a step, node by node as the plan has it: a value that runs again is another node, what the backward half
reads of the forward one is saved, and a value dies with its last reader."""

import operator

from torch import fx

from . import _joint, _layouts
from . import _private as private
from ._plan import BORDER, STATE


class Half:
    """One graph under construction. `nodes` has a node for each buffer, placeholder and free node so far."""

    def __init__(self, emitter):
        self.emitter, self.graph, self.nodes = emitter, fx.Graph(), {}

    def placeholder(self, key, name, meta):
        if key not in self.nodes:
            node = self.graph.placeholder(name)
            node.meta.update(meta)
            self.nodes[key] = node
        return self.nodes[key]

    def missing(self, key, like):
        raise AssertionError(f"{like.name} is read before it is made")

    def load(self, node, binding):
        """The node of this graph that stands for a joint node, read with these buffers."""
        joint = self.emitter.joint
        value = node.meta.get("val")
        if node.target is operator.getitem and node not in joint.made and isinstance(value, (int, float, bool)):
            return value
        if node in joint.made:
            key = binding[joint.made[node]]
        elif node.op == "placeholder":
            key = node
        else:
            roots = [r for r in joint.roots(node) if r in joint.made]
            key = (node, tuple(binding[joint.made[r]] for r in roots))
        if key not in self.nodes:
            if node not in joint.made and node.op != "placeholder":
                self.nodes[key] = self.copy(node, binding)
            else:
                self.nodes[key] = self.missing(key, node)
        return self.nodes[key]

    def copy(self, node, binding):
        return self.graph.node_copy(node, lambda n: self.load(n, binding))

    def call(self, target, args, kwargs, like, value=None):
        node = self.graph.create_node("call_function", target, args, kwargs, name=like.name)
        node.meta.update(like.meta)
        if value is not None:
            node.meta["val"] = value
        return node


class Backward(Half):
    """What it lacks the forward half has saved."""

    def __init__(self, emitter):
        super().__init__(emitter)
        self.saved = {}  # placeholder -> node of the forward half

    def missing(self, key, like):
        source = self.emitter.forward.nodes[key]
        node = self.graph.placeholder(source.name)  # or another name, where that is taken
        node.meta.update(source.meta)
        self.saved[node] = source
        return node


def norm_again(unit, step):
    """Whether a batch norm runs again: without its running statistics, which are changed once."""
    return unit.again == "batch_norm" and step["recompute"]


class Emitter:
    """emit() gives the two graphs of a plan for a Joint."""

    def __init__(self, joint, document, plan):
        self.joint, self.document, self.plan = joint, document, plan
        self.values = [None] * len(document.values)
        for value in joint.made.values():
            if value.id >= 0:
                self.values[value.id] = value
        self.again = {step["op"] for step in plan["steps"] if step["recompute"]}
        self.first = {}  # value -> its first buffer
        self.skipped = {}  # buffers that a run without statistics lacks -> the first life's

    def emit(self):
        self.forward, self.backward = Half(self), Backward(self)
        for node in self.joint.primals:
            self.forward.placeholder(node, node.name, node.meta)
        half, latest = self.forward, {}
        for step in self.plan["steps"]:
            unit = self.document.rows[step["op"]]
            if unit is STATE:
                continue
            buffers = self.plan["buffers"]
            binding = {self.values[buffers[b]["value"]]: self.skipped.get(b, b) for b in step["reads"]}
            written = [(self.values[buffers[b]["value"]], b) for b in step["writes"]]
            latest.update(written)
            if unit is BORDER:
                self.results = self._outputs(self.joint.forward_outputs, binding)
                half = self.backward
                for value, buffer in written:
                    half.placeholder(buffer, value.node.name, value.node.meta)
                for node in self.joint.placeholders:
                    if node in self.joint.late and node not in self.joint.made:
                        half.placeholder(node, node.name, node.meta)
            else:
                self._run(half, unit, step, binding, dict(written))
        return self._finish(latest)

    def _outputs(self, nodes, binding):
        half = self.forward
        return [half.load(n, binding) if isinstance(n, fx.Node) else n for n in nodes]

    def _run(self, half, unit, step, binding, written):
        if unit.fused is not None:
            args = tuple(half.load(root, binding) for root in unit.roots)
            made = half.call(unit.fused, args, {}, unit.node, tuple(n.meta["val"] for n in unit.results))
            for i, (node, value) in enumerate(unit.outputs):
                half.nodes[written[value]] = half.call(operator.getitem, (made, i), {}, node)
            return
        node = unit.node
        target, args, kwargs = self._arguments(half, unit, step, binding)
        if unit.random and step["op"] in self.again:
            made = self._draw(half, unit, step, target, args, kwargs)
        else:
            made = half.call(target, args, kwargs, node)
        for result, value in unit.outputs:
            if value.index is None:
                half.nodes[written[value]] = made
            elif norm_again(unit, step) and value.index > 2:
                self.skipped[written[value]] = self.first[value]
            else:
                half.nodes[written[value]] = half.call(operator.getitem, (made, value.index), {}, result)
            self.first.setdefault(value, written[value])

    def _arguments(self, half, unit, step, binding):
        node = unit.node
        args, kwargs = node.args, node.kwargs
        if node.target is _joint.BATCH_NORM_BACKWARD and args[7] is True:
            args = (*args[:3], None, None, *args[5:])
        load = lambda n: half.load(n, binding)  # noqa: E731
        if norm_again(unit, step):
            x, weight, bias, _, _, training, momentum, eps = args
            args, kwargs, target = (x, weight, bias, training, momentum, eps), {}, _joint.BATCH_NORM_AGAIN
        else:
            target = node.target
        if node in self.joint.restored:
            target = _layouts.target_of(self.joint, node, target)
        return target, fx.map_arg(args, load), fx.map_arg(kwargs, load)

    def _draw(self, half, unit, step, target, args, kwargs):
        """The first run keeps the generator's state, others run from it: the same draw."""
        node, key = unit.node, ("state", unit)
        if step["recompute"]:
            if key not in half.nodes:
                half.nodes[key] = half.missing(key, node)
            return half.call(private.run_with_rng_state, (half.nodes[key], target, *args), kwargs, node)
        pair = half.call(private.run_and_save_rng_state, (target, *args), kwargs, node)
        example = private.random_state_example(_joint.tensors_of(node.meta["val"])[0])
        pair.meta["val"] = (example, node.meta["val"])
        half.nodes[key] = half.call(operator.getitem, (pair, 0), {}, node, example)
        return half.call(operator.getitem, (pair, 1), {}, node)

    def _finish(self, latest):
        forward, backward, joint = self.forward, self.backward, self.joint
        gradients = [backward.load(n, latest) if isinstance(n, fx.Node) else n for n in joint.backward_outputs]
        sizes = [n for n, source in backward.saved.items() if not _joint.tensors_of(source.meta.get("val"))]
        tensors = [n for n, source in backward.saved.items() if _joint.tensors_of(source.meta.get("val"))]
        tail = [n for n in backward.graph.find_nodes(op="placeholder") if n not in backward.saved]
        # As AOTAutograd wants them: sizes, saved tensors, tangents; in the forward's results sizes come last.
        places = {n.name: i for i, n in enumerate(joint.placeholders)}
        order = [*sizes, *tensors, *sorted(tail, key=lambda n: places.get(n.name, len(places)))]
        anchor = next((n for n in backward.graph.nodes if n.op != "placeholder"), None)
        saved = [backward.saved[n] for n in (*tensors, *sizes)]
        descriptors = [private.SavedForBackwardsAOTOutput(i) for i in range(len(saved))]
        result = forward.graph.output((*self.results, *saved))
        result.meta["desc"] = [*joint.forward_descriptors, *descriptors]
        last = backward.graph.output(tuple(gradients))
        last.meta["desc"] = joint.backward_descriptors
        for node in order:
            (anchor or last).prepend(node)
        for node in backward.graph.nodes:
            if node.op in ("call_function", "get_attr"):
                node.meta["autograd_backward"] = True
        return fx.GraphModule(joint.module, forward.graph), fx.GraphModule(joint.module, backward.graph)
