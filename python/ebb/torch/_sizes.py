"""What a plan takes in a call: sizes that are symbols in its graph are numbers then, and other ones than it was made by."""

import copy

from . import _graphs
from . import _private as private


class Outgrown(Exception):
    """A graph is about to take more than the budget, at sizes that it was not planned by."""


class Sizes:
    """The symbols of a graph, and where a call has their numbers. `found` are bytes by numbers."""

    def __init__(self, document, facts):
        self.document, self.facts, self.found = document, facts, {}
        self.places, hints = {}, []
        for i, node in enumerate(document.joint.primals):
            for symbol, dimension, hint in private.symbols_of(node.meta.get("val")):
                if symbol not in self.places:
                    self.places[symbol] = i, dimension
                    hints.append(hint)
        self.found[tuple(hints)] = facts

    def at(self, args):
        """What share_out and Graphs ask of a GraphPlan, in a call with these arguments."""
        numbers = tuple(args[i] if dimension is None else args[i].shape[dimension] for i, dimension in self.places.values())
        if numbers not in self.found:
            self.found[numbers] = At(self._scaled(dict(zip(self.places, numbers))), self.facts.plan)
        return self.found[numbers]

    def _scaled(self, numbers):
        """The document with the bytes of these numbers; what ops allocate grows as what they read and make."""
        old, scaled = self.document, copy.copy(self.document)
        parts = {value.id: private.growth(node.meta["val"], numbers) for node, value in old.joint.made.items() if value.id >= 0}
        scaled.values = [{**v, "bytes": old.rounded(v["bytes"] * parts.get(i, 1))} for i, v in enumerate(old.values)]
        scaled.ops = []
        for op in old.ops:
            before, after = (sum(values[v]["bytes"] for v in op["inputs"] + op["outputs"]) for values in (old.values, scaled.values))
            n_bytes = op.get("scratch_bytes", 0)
            scaled.ops.append({**op, "scratch_bytes": old.rounded(n_bytes * after / before) if before else n_bytes})
        return scaled


class At:
    """The bytes of a GraphPlan at other sizes."""

    def __init__(self, document, plan):
        taken = _graphs.Taken(plan, document.values, document.ops)
        self.planned_bytes, self.held_bytes, self.kept_bytes = taken.peak, taken.held, document.kept_bytes()
        self.bytes_in_order, self.held_in_order = document.bytes_in_order(), document.held_in_order()
        self.gradient_bytes = document.gradient_bytes()
