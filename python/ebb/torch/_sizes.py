"""What a plan takes in a call: sizes that are symbols in its graph are numbers then, and other ones than it was made by."""

from . import _graphs, _plan
from . import _private as private


class Outgrown(Exception):
    """A graph is about to take more than the budget, at sizes that it was not planned by."""


class Scaled(_plan.Bytes):
    """A planning graph with other bytes."""

    def __init__(self, values, ops, given, stay):
        self.values, self.ops, self.given, self.stay = values, ops, given, stay


class Sizes:
    """The symbols of a graph, where a call has their numbers, and the bytes that depend on them. `found` are bytes by numbers. Nothing of the
    graph itself is held."""

    def __init__(self, document, facts):
        self.facts, self.found, self.unit = facts, {}, document.rounding
        self.given, self.stay = document.given, document.stay
        self.places, hints = {}, []
        for i, node in enumerate(document.joint.primals):
            for symbol, dimension, hint in private.symbols_of(node.meta.get("val")):
                if symbol not in self.places:
                    self.places[symbol] = i, dimension
                    hints.append(hint)
        made = [(value.id, private.symbolic_bytes(node.meta["val"])) for node, value in document.joint.made.items() if value.id >= 0]
        self.bytes = {i: found for i, found in made if found}
        self.found[tuple(hints)] = facts

    def at(self, args):
        """What Graphs and share_out ask of a GraphPlan, in a call with these arguments."""
        numbers = tuple(args[i] if dimension is None else args[i].shape[dimension] for i, dimension in self.places.values())
        if numbers not in self.found:
            self.found[numbers] = At(self, dict(zip(self.places, numbers)))
        return self.found[numbers]

    def scaled(self, numbers):
        """The graph with the bytes of these numbers; what ops allocate grows as what they read and make."""
        old, parts = self.facts, {i: private.growth(*found, numbers) for i, found in self.bytes.items()}
        values = [{**v, "bytes": _plan.rounded(v["bytes"] * parts.get(i, 1), self.unit)} for i, v in enumerate(old.values)]
        ops = []
        for op in old.ops:
            before, after = (sum(of[v]["bytes"] for v in op["inputs"] + op["outputs"]) for of in (old.values, values))
            n_bytes = op.get("scratch_bytes", 0)
            ops.append({**op, "scratch_bytes": _plan.rounded(n_bytes * after / before, self.unit) if before else n_bytes})
        return Scaled(values, ops, self.given, self.stay)


class At(_graphs.Searched):
    """A GraphPlan at other sizes. Its ops and values are made when they are asked for: few calls need them."""

    def __init__(self, sizes, numbers):
        self.sizes, self.numbers = sizes, numbers
        facts, scaled = sizes.facts, sizes.scaled(numbers)
        self.free = False  # its plan was found at other sizes
        taken = _graphs.Taken(facts.plan, scaled.values, scaled.ops)
        self.plan, self.key, self.time_ns, self.starved, self.planning_seconds = facts.plan, facts.key, facts.time_ns, False, facts.planning_seconds
        self.planned_bytes, self.held_bytes, self.kept_bytes = taken.planned_bytes, taken.held_bytes, scaled.kept_bytes()
        self.bytes_in_order, self.held_in_order = scaled.bytes_in_order(), scaled.held_in_order()
        self.gradient_bytes, self.given_bytes = scaled.gradient_bytes(), scaled.given_bytes()

    @property
    def values(self):
        return self.sizes.scaled(self.numbers).values

    @property
    def ops(self):
        return self.sizes.scaled(self.numbers).ops
