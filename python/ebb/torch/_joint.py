"""What a joint graph of AOTAutograd is to the planner: units (ops, or groups that Inductor fuses), the storages that they make
and read, and what may run again.

A *root* is a node that owns a storage: a placeholder, or a result that is no view. Views, getitem and sizes are *free*: they
take no bytes and no time, and are made anew wherever they are read.
"""

import operator

import torch

from . import _gradients
from . import _private as private

aten = torch.ops.aten
BATCH_NORM = aten._native_batch_norm_legit_functional.default
BATCH_NORM_AGAIN = aten._native_batch_norm_legit.no_stats
BATCH_NORM_BACKWARD = aten.native_batch_norm_backward.default
OWN_NAMESPACES = ("aten", "prims")


class Value:
    """A storage: `node` is the unit's node that makes it, `index` the place in a tuple of results or None."""

    def __init__(self, node, index, n_bytes):
        self.node, self.index, self.bytes = node, index, n_bytes
        self.id = -1


class Unit:
    """Runs in one piece. `nodes` are in order; `outputs` are the values that it makes, `results` their nodes."""

    def __init__(self, nodes):
        self.nodes, self.outputs, self.fused = nodes, [], None
        self.reads = []  # values
        self.random = self.ordered = self.backward = self.pinned = False
        self.recomputable = True
        self.time_ns, self.scratch_bytes = 1000, 0

    @property
    def node(self):
        return self.nodes[0]


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for one in value for tensor in tensors_of(one)]
    return []


class Joint:
    """The study of one joint graph."""

    def __init__(self, module, n_forward, fuse=None, leaves=()):
        self.module, self.graph = module, module.graph
        (self.forward_outputs, self.backward_outputs, self.forward_descriptors, self.backward_descriptors) = private.joint_outputs(
            module, num_fwd_outputs=n_forward
        )
        self.placeholders = self.graph.find_nodes(op="placeholder")
        self.tangents = [n for n in self.placeholders if private.is_tangent(n)]
        self.late = set(self.tangents) | {n for n in self.placeholders if private.is_backward_seed(n) or private.is_backward_state(n)}
        self.primals = [n for n in self.placeholders if n not in self.late]
        self._lay_gradients(leaves)
        self.made = {}  # root node -> Value
        self.layouts = {}  # node -> what it returns, where that lies otherwise than the graph says
        self.actual = {}  # the same of symbolic sizes, by the numbers that they stand for
        self.restored = set()  # nodes whose results are copied to where the graph says
        self.free = set()
        self.backward_nodes = set()
        self._needed = self._find_needed()
        self._sort_nodes()
        self._find_mutated()
        self.early = self._find_early()
        self.units = fuse(self) if fuse else [Unit([node]) for node in self.fresh]
        for unit in self.units:
            self._describe(unit)

    def _lay_gradients(self, leaves):
        laid = _gradients.lay(self.graph, self.primals, self.backward_outputs, leaves)
        output = self.graph.output_node()
        if laid is not self.backward_outputs:
            self.backward_outputs, output.args = laid, ((*self.forward_outputs, *laid),)

    # ---- facts of nodes ----

    def _find_needed(self):
        """Nodes that something is made of which leaves the graph or has an effect."""
        needed, stack = set(), [n for n in self.graph.nodes if n.op == "output" or (n.op == "call_function" and has_effect(n))]
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack.extend(operands(node))
        return needed

    def _sort_nodes(self):
        self.fresh = []
        for node in self.graph.nodes:
            if node.op == "placeholder":
                if node in self.late:
                    self.backward_nodes.add(node)
                if node in self.tangents and isinstance(node.meta.get("val"), torch.Tensor):
                    self.made[node] = Value(node, None, private.storage_bytes(node.meta["val"]))
                continue
            if node.op == "output" or node not in self._needed:
                continue
            if node.op != "get_attr" and any(n in self.backward_nodes for n in operands(node)):
                self.backward_nodes.add(node)
            if node.op == "get_attr" or self._is_free(node):
                self.free.add(node)
            else:
                self.fresh.append(node)
                self._add_made(node)

    def _is_free(self, node):
        results = tensors_of(node.meta.get("val"))
        if node.target is operator.getitem:
            return True
        if has_effect(node):
            return False
        if not results:
            return node.op == "call_function" and not isinstance(node.target, torch._ops.HigherOrderOperator)
        sources = {private.storage_key(t) for n in operands(node) for t in tensors_of(n.meta.get("val"))} - {None}
        return all(private.storage_key(t) in sources for t in results)

    def _add_made(self, node):
        value = node.meta.get("val")
        sources = {private.storage_key(t) for n in operands(node) for t in tensors_of(n.meta.get("val"))} - {None}
        if isinstance(value, torch.Tensor):
            if private.storage_key(value) not in sources:  # what a mutation returns is its operand's
                self.made[node] = Value(node, None, private.storage_bytes(value))
        elif isinstance(value, (list, tuple)):
            for user in node.users:
                if user.target is operator.getitem and user in self._needed and isinstance(user.meta.get("val"), torch.Tensor):
                    self.made[user] = Value(node, user.args[1], private.storage_bytes(user.meta["val"]))

    def _find_mutated(self):
        """Placeholders whose bytes are replaced when the forward half has run."""
        indices = {d.mutated_input for d in self.forward_descriptors if isinstance(d, private.InputMutationAOTOutput)}
        self.mutated = {n for n in self.primals if n.meta.get("desc") in indices or n.meta.get("aot_runtime_epilogue_input_mutation")}
        for node in self.fresh:
            if has_effect(node):
                self.mutated |= {n for n in mutated_operands(node) for n in self.roots(n) if n.op == "placeholder"}

    def _find_early(self):
        """Nodes of the forward half: what its results and effects are made of, and what reads that which it replaces. Others wait for the
        backward half, also those that depend on no gradient, as a checkpoint's do."""
        early, stack = set(), [n for n in self.forward_outputs if isinstance(n, torch.fx.Node)]
        for node in self.graph.nodes:
            if node in self.backward_nodes or node.op != "call_function":
                continue
            reads = [r for n in self.read_operands(node) for r in self.roots(n)] if node in self._needed else []
            if has_effect(node) and not asked_for_late(node) or node not in self.free and any(r in self.mutated for r in reads):
                stack.append(node)
        while stack:
            node = stack.pop()
            if node not in early:
                early.add(node)
                stack.extend(operands(node))
        return early

    def value_of(self, node):
        return self.layouts.get(node, node.meta.get("val"))

    def roots(self, node):
        """The roots that a node is made of, itself if it is one."""
        if node in self.made or node.op == "placeholder":
            return [node]
        if node.op == "get_attr":
            return []
        if node in self.free or node.target is operator.getitem:
            return [root for n in operands(node) for root in self.roots(n)]
        return [node]

    # ---- units ----

    def _describe(self, unit):
        inside = set(unit.nodes)
        unit.outputs = self.outputs_of(unit)
        unit.results = [node for node, _ in unit.outputs]
        seen = dict.fromkeys(r for n in unit.nodes for a in self.read_operands(n) for r in self.roots(a))
        unit.roots = [r for r in seen if r not in inside and self.owner_inside(r, inside) is None]
        unit.reads = list(dict.fromkeys(self.made[r] for r in unit.roots if r in self.made))
        unit.backward = any(n in self.backward_nodes for n in unit.nodes)
        unit.random = any(private.is_random(n) for n in unit.nodes)
        unit.ordered = any(has_effect(n) for n in unit.nodes)
        unit.late = any(n not in self.early for n in unit.nodes)
        unit.pinned = not unit.late and any(r in self.mutated for r in unit.roots)
        unit.recomputable = not unit.ordered and all(map(known, unit.nodes)) and not any(private.saved_marks(n)[0] for n in unit.nodes)
        again_without_statistics = len(unit.nodes) == 1 and unit.node.target is BATCH_NORM and unit.node.args[5] is True
        if unit.pinned and not again_without_statistics:
            unit.recomputable, unit.ordered = False, True
        unit.again = "batch_norm" if again_without_statistics else None

    def owner_inside(self, root, inside):
        value = self.made.get(root)
        return value if value is not None and value.node in inside else None

    def outputs_of(self, unit):
        """(node, Value) of what the unit makes and something outside of it reads, or which an op alone makes anyway."""
        inside, alone = set(unit.nodes), len(unit.nodes) == 1 and unit.fused is None
        found = []
        for node in unit.nodes:
            candidates = [node] if node in self.made else [u for u in node.users if u in self.made and self.made[u].node is node]
            for candidate in candidates:
                if alone or self.read_outside(candidate, inside):
                    found.append((candidate, self.made[candidate]))
        return found

    def read_outside(self, node, inside):
        for user in node.users:
            if user not in self._needed or user in inside:
                continue
            if user in self.free:
                if self.read_outside(user, inside):
                    return True
            else:
                return True
        return False

    def read_operands(self, node):
        """Operands but those that are only named: a batch norm's gradient does not read running statistics in training."""
        if node.target is BATCH_NORM_BACKWARD and node.args[7] is True:
            return [a for i, a in enumerate(node.args) if isinstance(a, torch.fx.Node) and i not in (3, 4)]
        return operands(node)

    def unread_bytes(self, unit):
        """Of results in a tuple that nothing reads: there while the op runs."""
        if unit.fused is not None:
            return 0
        read = {value.index for _, value in unit.outputs}
        value = unit.node.meta.get("val")
        if not isinstance(value, (list, tuple)):
            return 0
        return sum(private.storage_bytes(t) for i, t in enumerate(value) if i not in read and isinstance(t, torch.Tensor))


def asked_for_late(node):
    """By a backward half, whether it depends on gradients or not."""
    return node.meta.get("partitioner_tag") in ("is_backward", "must_be_in_backward")


def operands(node):
    return node.all_input_nodes


def known(node):
    """An op of PyTorch's own that is a function of its operands; others never run twice."""
    target = node.target
    if target is operator.getitem:
        return True
    return isinstance(target, torch._ops.OpOverload) and target.namespace in OWN_NAMESPACES and not target._schema.is_mutable


def tells(target):
    """One of PyTorch's own ops that makes nothing: it checks what it is given."""
    return isinstance(target, torch._ops.OpOverload) and target.namespace in OWN_NAMESPACES and not target._schema.returns


def has_effect(node):
    target = node.target
    if node.op in ("placeholder", "get_attr", "output") or target is operator.getitem:
        return False
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.is_mutable or target.namespace not in OWN_NAMESPACES or (
            not target._schema.returns) or "assert" in target._schema.name
    return isinstance(target, torch._ops.HigherOrderOperator)


def mutated_operands(node):
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return operands(node)
    named = [a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    places = {a.name: i for i, a in enumerate(schema.arguments)}
    given = [node.kwargs.get(name, node.args[places[name]] if places[name] < len(node.args) else None) for name in named]
    return [n for n in given if isinstance(n, torch.fx.Node)]
