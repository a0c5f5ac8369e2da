"""Groups of ops that Inductor compiles as one: the plan is of what is materialised, and runs in its own order, because between the
groups nothing is left for Inductor to reorder or to fuse.

A group is convex (no path leaves it and comes back), lies within one half, and loops over one number of elements, or over that and a
reduction of it. It does not wait for a later operand where more bytes would wait with it than it makes: gradients of a weight that is
used at each time step are added as they come. Matrix products, convolutions, attention and ops that draw stay PyTorch's own, as under Inductor on a CPU.
"""

import heapq

import torch
from torch import fx

from . import _joint
from . import _private as private

aten = torch.ops.aten
FEWER = 8  # a reduction's results are at most this part of its operand
MOST_NODES = 48
COMPILED = {}  # key -> the group's function
DECOMPOSED = (
    "native_layer_norm", "native_layer_norm_backward", "native_group_norm", "native_group_norm_backward", "native_batch_norm",
    "native_batch_norm_backward", "_native_batch_norm_legit_functional", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training",
    "_softmax", "_softmax_backward_data", "_log_softmax", "_log_softmax_backward_data", "gelu", "gelu_backward", "silu", "silu_backward",
    "hardswish", "hardswish_backward", "hardsigmoid", "hardsigmoid_backward", "hardtanh", "hardtanh_backward", "sigmoid_backward",
    "tanh_backward", "threshold_backward", "leaky_relu", "leaky_relu_backward", "elu", "elu_backward", "softplus", "softplus_backward",
    "mish", "mish_backward", "native_dropout_backward", "mse_loss", "mse_loss_backward", "smooth_l1_loss", "smooth_l1_loss_backward",
    "addcmul", "addcdiv", "_fused_rms_norm", "_fused_rms_norm_backward",
)
OTHERS = ("sum", "mean", "amax", "amin", "var_mean", "var", "full", "full_like", "zeros_like", "ones_like", "scalar_tensor", "arange",
          "zeros", "ones", "clone", "_to_copy", "convert_element_type", "new_zeros", "new_full", "iota")


def decompositions():
    named = [getattr(aten, name) for name in DECOMPOSED if hasattr(aten, name)]
    return private.get_decompositions(named)


def fusible(node):
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or not _joint.known(node) or private.is_random(node):
        return False
    tensors = _joint.tensors_of(node.meta.get("val"))
    if not tensors or any(t.is_complex() or t.layout is not torch.strided for t in tensors) or private.saved_marks(node)[0]:
        return False
    return torch.Tag.pointwise in target.tags or target._schema.name.split("::")[1] in OTHERS


class Groups:
    """Makes groups greedily, in the graph's order: an op joins the latest group that it reads, if no path goes round."""

    def __init__(self, joint):
        self.joint = joint
        self.members, self.kind, self.size, self.above = [], [], [], []  # by group
        self.group_of = {}
        self.place_of = {node: i for i, node in enumerate(joint.fresh)}
        self.made_by = {}  # node -> the roots that it makes
        for root, value in joint.made.items():
            self.made_by.setdefault(value.node, []).append(root)
        self.reads = {node: [r for a in joint.read_operands(node) for r in joint.roots(a)] for node in joint.fresh}
        self.last = self.last_places()  # root -> the place of its last reader

    def make(self):
        for node in self.joint.fresh:
            self.place(node)
        order = sorted_groups([bool(m) for m in self.members], self.above, [self.place_of[m[0]] if m else 0 for m in self.members])
        return [self.unit(self.members[g], self.kind[g]) for g in order]

    def last_places(self):
        last = {}
        for place, node in enumerate(self.joint.fresh):
            last.update((root, place) for root in self.reads[node])
        results = [n for n in (*self.joint.forward_outputs, *self.joint.backward_outputs) if isinstance(n, fx.Node)]
        last.update((root, len(self.joint.fresh)) for n in results for root in self.joint.roots(n))
        return last

    def place(self, node):
        roots = self.reads[node]
        sources = {self.group_of[self.owner(r)] for r in roots if self.owner(r) in self.group_of}
        kind, size = self.describe(node, roots)
        above = 0
        for g in sources:
            above |= self.above[g] | 1 << g
        for g in sorted(sources, reverse=True):
            others = 0
            for other in sources:
                others |= 0 if other == g else self.above[other] | 1 << other
            if kind and self.kind[g] == kind and not others >> g & 1 and self.fits(g, size) and self.may_wait(self.members[g], [node]):
                self.join(g, node, size, above & ~(1 << g))
                for other in sources - {g}:
                    self.merge(other, g)
                return
        self.group_of[node] = len(self.members)
        self.members.append([node])
        self.kind.append(kind)
        self.size.append(size)
        self.above.append(above)

    def owner(self, root):
        value = self.joint.made.get(root)
        return root if value is None else value.node

    def describe(self, node, roots):
        """What it may be fused with, and the elements that it loops over."""
        if not fusible(node):
            return None, 0
        size = max(private.hint(t.numel()) for t in _joint.tensors_of(node.meta["val"]))
        if node not in self.joint.early:
            return "backward", size
        return "pinned" if any(r in self.joint.mutated for r in roots) else "forward", size

    def fits(self, g, size):
        most = self.size[g]
        return len(self.members[g]) < MOST_NODES and (size == most or size * FEWER <= most or most * FEWER <= size)

    def may_wait(self, members, others):
        """Until what else `others` read is made: what would have died with the members is no more than what they make for later."""
        inside = {*members, *others}
        needed = [self.place_of.get(self.owner(r), -1) for n in others for r in self.reads[n] if self.owner(r) not in inside]
        until = max(needed, default=-1)
        if until <= self.place_of[members[-1]]:
            return True
        read = {r for n in members for r in self.reads[n]}
        made = [r for n in members for r in self.made_by.get(n, ())]
        held = sum(self.joint.made[r].bytes for r in made if self.last.get(r, -1) >= until)
        dying = sum(self.joint.made[r].bytes for r in read if r in self.joint.made and r not in made and self.last[r] < until)
        return dying <= held

    def join(self, g, node, size, above):
        self.members[g].append(node)
        self.group_of[node] = g
        self.size[g] = max(self.size[g], size)
        if above & ~self.above[g]:
            self.above[g] |= above
            for other in range(len(self.above)):
                if self.above[other] >> g & 1:
                    self.above[other] |= above

    def share(self, a, b):
        """A tensor about as large as their loop: what only hands on a statistic would be fused for nothing, and run again with all operands there."""
        met = {r for n in self.members[a] for r in (*self.reads[n], *self.made_by.get(n, ()))}
        met &= {r for n in self.members[b] for r in self.reads[n]}
        return any(private.hint(t.numel()) * FEWER > self.size[b] for r in met for t in _joint.tensors_of(r.meta.get("val")))

    def merge(self, a, b):
        """Group a, which b reads, becomes a part of b, if no path goes round and both loop alike, over something that both have."""
        if self.kind[a] != self.kind[b] or self.size[a] != self.size[b] or len(self.members[a]) + len(self.members[b]) > MOST_NODES:
            return
        if any(self.above[b] >> u & 1 and self.above[u] >> a & 1 for u in range(len(self.above)) if u != a):
            return
        if not self.share(a, b) or not self.may_wait(self.members[a], self.members[b]):
            return
        self.members[b] = sorted(self.members[a] + self.members[b], key=self.place_of.get)
        self.group_of.update((node, b) for node in self.members[a])
        self.members[a], self.kind[a] = [], None
        taken = self.above[a]
        self.above[b] = (self.above[b] | taken) & ~(1 << a)
        for u, mask in enumerate(self.above):
            if u != b and (mask >> a & 1 or mask >> b & 1):
                self.above[u] = (mask | self.above[b] | 1 << b) & ~(1 << a)

    def unit(self, members, kind):
        unit = _joint.Unit(members)
        if kind:
            unit.fused = True  # outputs_of looks at what is read outside only
            unit.fused = fused_function(self.joint, unit)
        return unit


def sorted_groups(there, above, places):
    """Each after those above it, else in the order of their first nodes."""
    left = {g: bin(mask).count("1") for g, mask in enumerate(above) if there[g]}
    below = [[] for _ in above]
    for g in left:
        for other in left:
            if above[g] >> other & 1:
                below[other].append(g)
    ready, done = [(places[g], g) for g, n in left.items() if n == 0], []
    heapq.heapify(ready)
    while ready:
        _, g = heapq.heappop(ready)
        done.append(g)
        for other in below[g]:
            left[other] -= 1
            if left[other] == 0:
                heapq.heappush(ready, (places[other], other))
    if len(done) != len(left):
        raise AssertionError("groups in a circle")
    return done


def fused_function(joint, unit):
    """The group as a function of its roots; groups of the same ops on tensors of the same kind share their code."""
    from ._layouts import describe

    inside = set(unit.nodes)
    unit.outputs = joint.outputs_of(unit)
    seen = dict.fromkeys(r for n in unit.nodes for a in joint.read_operands(n) for r in joint.roots(a))
    roots = [r for r in seen if r not in inside and joint.owner_inside(r, inside) is None]
    graph, map_ = fx.Graph(), {}
    for root in roots:
        map_[root] = graph.placeholder(f"x{len(map_)}")
        map_[root].meta["val"] = root.meta["val"]

    def load(node):
        if node not in map_:
            map_[node] = graph.node_copy(node, load)
        return map_[node]

    for node in unit.nodes:
        load(node)
    graph.output(tuple(load(node) for node, _ in unit.outputs))
    names = {node: f"n{i}" for i, node in enumerate(graph.nodes)}
    lines = [(names[n], str(n.target) if n.op == "call_function" else n.op, repr(fx.map_arg((n.args, n.kwargs), lambda m: Name(names[m]))),
              repr(describe(n.meta.get("val")))) for n in graph.nodes]
    key = str(lines)
    if key not in COMPILED:
        COMPILED[key] = function_of(fx.GraphModule(joint.module, graph), [r.meta["val"] for r in roots], key, unit)
    return COMPILED[key]


class Name(str):
    def __repr__(self):
        return str(self)


def function_of(module, examples, key, unit):
    compiled, source = [], [module, examples]

    def fused(*args):
        if not compiled:
            with private.no_modes():
                compiled.append(private.compile_fused(*source))
            source.clear()
        return compiled[0](list(args))

    fused.key = key
    fused.__name__ = fused.__qualname__ = "fused_" + "_".join(n.target._schema.name.split("::")[1] for n in unit.nodes[:3])
    return fused


def groups(joint):
    return Groups(joint).make()
