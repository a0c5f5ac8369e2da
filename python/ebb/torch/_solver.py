"""ebb.torch.solver: Ebb behind PyTorch's own knob, `activation_memory_budget`, with PyTorch's own partitioner.

It chooses which values are saved, and that is all that this door lets through. PyTorch orders the ops, recomputes each value at most
once, in its own order, and counts saved values alone: how many bytes a step takes at its peak is not promised.
"""

from .. import _core
from .._errors import OverBudget
from . import _costs, _joint, _plan
from . import _private as private
from ._plan import BORDER, STATE

UNIT = 64
STEPS = 7  # of halving
SECONDS = 0.3  # for each of them


class Solver(private.CustomKnapsackSolver):
    """The values that a plan of Ebb's keeps for the backward half, the plan being as roomy as what it keeps may be."""

    def __call__(self, memory, joint_graph, max_memory, node_info, all_recomputable_banned_nodes):
        nodes = list(all_recomputable_banned_nodes)
        joint = _joint.Joint(joint_graph.owning_module, n_forward(joint_graph))
        _costs.estimate(joint)
        document = _plan.Document(joint, UNIT)
        saved = self.saved(document, joint, nodes, memory, max_memory)
        return saved, [i for i in range(len(nodes)) if i not in set(saved)]

    def saved(self, document, joint, nodes, memory, most):
        def within(kept):
            return sum(memory[i] for i in kept) <= most

        text, low, high, best = document.text("step"), document.kept_bytes(), document.bytes_in_order(), None
        for step in range(STEPS):
            limit = high if step == 0 else (low + high) // 2
            try:
                plan = _plan.make_plan(text, {**_plan.within(limit), "time_limit": SECONDS})
            except OverBudget:
                low = limit
                continue
            kept = kept_by(document, joint, plan, nodes)
            if within(kept):
                best, low = kept, limit
                if step == 0:
                    return filled(kept, memory, most)
            else:
                high = limit
        return filled(best or [], memory, most)

    def uuid(self):
        return f"ebb {_core.version}"


def kept_by(document, joint, plan, nodes):
    """Of the nodes, those whose bytes the plan holds from the forward to the backward half."""
    rows = document.rows
    border = next(i for i, step in enumerate(plan["steps"]) if rows[step["op"]] is BORDER)
    early = {b for step in plan["steps"][:border] if rows[step["op"]] is not STATE for b in step["writes"]}
    read = {b for step in plan["steps"][border + 1:] for b in step["reads"]}
    held = {plan["buffers"][b]["value"] for b in early & read}
    return [i for i, node in enumerate(nodes) if any(joint.made[r].id in held for r in joint.roots(node) if r in joint.made)]


def filled(kept, memory, most):
    """Also those that still fit, the largest first: they cost nothing."""
    kept, total = list(kept), sum(memory[i] for i in kept)
    for i in sorted(set(range(len(memory))) - set(kept), key=lambda i: (-memory[i], i)):
        if total + memory[i] <= most:
            kept.append(i)
            total += memory[i]
    return kept


def n_forward(graph):
    """How many of a joint graph's results are the forward half's: those before the first gradient."""
    results = graph.output_node()
    kinds = results.meta.get("desc") or []
    for i, kind in enumerate(kinds):
        if kind is not None and kind.is_grad():
            return i
    raise ValueError("ebb.torch.solver: the joint graph does not say which of its results are gradients")


solver = Solver()
