"""ebb.torch.fit: the largest batch within a budget. Tensors of the steps that are tried are FakeTensors. What ops allocate beyond their results
is measured op by op: at two small batches, between and beyond which it is taken as linear, and at the batch that is found."""

import dataclasses

import torch

from .._errors import OverBudget
from . import _backend, _budget, _costs, _joint, _plan, _recurrent
from . import _private as private

MOST = 1 << 20
ANCHORS = (2, 3)  # one image alone is laid out otherwise by some convolutions
SECONDS = 1.0


@dataclasses.dataclass
class Fit:
    """The batch, what its step takes beside `fixed_bytes`, and the time that recomputation adds by the plan. Large batches are found to within one part in 64."""

    batch: int
    planned_bytes: int
    fixed_bytes: int
    budget_bytes: int
    predicted_added: float


class Loss(torch.nn.Module):
    def __init__(self, model, loss):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, *example):
        found = self.loss(self.model, *example)
        if not isinstance(found, torch.Tensor):
            raise ValueError(f"loss returned {type(found).__name__}, not a tensor")
        return (found,)


def resized(value, n):
    if isinstance(value, torch.Tensor) and value.dim():
        return torch.empty((n, *value.shape[1:]), dtype=value.dtype, device=value.device)
    return value


def trace(model, example, loss, n):
    """The joint graph of a step with n images."""
    with private.FakeTensorMode(allow_non_fake_inputs=True):
        inputs = [resized(value, n) for value in example]
        try:
            with _recurrent.in_graphs(exported=True):
                module, _ = private.aot_export_module(Loss(model, loss), inputs, trace_joint=True, output_loss_index=0, decompositions={})
        except (RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"ebb.torch.fit: no step with gradients can be traced of this model and loss: {reason}") from None
    n_results = len(module.graph.output_node().args[0])
    return _joint.Joint(module, n_results)


def document_of(joint):
    device = next((t.device.type for p in joint.placeholders for t in _joint.tensors_of(p.meta.get("val"))), "cpu")
    return _plan.Document(joint, _backend.ROUNDING.get(device, _plan.UNIT))


class Step:
    """Planning graphs of one step with any number of images."""

    def __init__(self, model, example, loss):
        self.model, self.example, self.loss = model, example, loss
        self.scratch = {}  # number of images -> {name of a unit: bytes}

    def measured(self, n):
        joint = trace(self.model, self.example, self.loss, n)
        _costs.measure(joint)
        self.scratch[n] = {unit.node.name: unit.scratch_bytes for unit in joint.units}
        return document_of(joint)

    def estimated(self, n):
        for few in () if self.scratch else ANCHORS:
            self.measured(few)
        joint = trace(self.model, self.example, self.loss, n)
        near = [(m, self.scratch[m]) for m in sorted(self.scratch, key=lambda m: abs(m - n))[:2]]
        if any({unit.node.name for unit in joint.units} != known.keys() for _, known in near):
            return self.measured(n)  # a step of other ops
        _costs.estimate(joint)
        for unit in joint.units:
            unit.scratch_bytes = line([(m, known[unit.node.name]) for m, known in near], n)
        return document_of(joint)


def line(points, n):
    """At n on the line through two points, where that is above 0."""
    (m, at), (other, beyond) = points
    return max(0, round(at + (beyond - at) * (n - m) / (other - m)))


def largest(good, low, high):
    """The largest n in low..high - 1 that is good, to within one part in 64; low is."""
    n = max(1, low + max(1, low // 64))
    while n < high and good(n):
        low, n = n, 2 * n
    high = min(high, n)
    while high - low > max(1, low // 64):
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def fits(document, limit):
    """The plan within the limit; None: there is none."""
    kept = document.kept_bytes()
    if kept > limit:
        return None
    try:
        return _plan.make_plan(document.text("fit"), {**_plan.within(limit), "time_limit": SECONDS})
    except OverBudget:
        return None


def fit(model, example, loss, budget, *, optimizer=None, reserve=0, most=MOST):
    """The largest batch whose step fits the budget: a Fit.

    example  the arguments of loss after the model; tensors' first axis is the batch
    loss     loss(model, *example): a scalar
    budget   as that of compile, in bytes: parameters, buffers and, with `optimizer`, its states are taken off
    """
    if callable(example):
        raise TypeError("ebb.torch.fit: example is a function: give the arguments of one step; their first axis is the batch")
    example = list(example) if isinstance(example, (list, tuple)) else [example]
    if isinstance(budget, float) and budget <= 1:
        raise ValueError(f"ebb.torch.fit: budget={budget!r} is a share of what a step takes, whatever its size: write \"11GiB\" or bytes")
    total = _budget.parse_bytes(budget) if isinstance(budget, str) else int(budget)
    reserve = _budget.parse_bytes(reserve) if isinstance(reserve, str) else reserve
    fixed = _budget.fixed_bytes(model, optimizer)
    step, found = Step(model, example, loss), {}
    inputs = sum(t.numel() // len(t) * t.element_size() for t in example if isinstance(t, torch.Tensor) and t.dim())

    def holds(n, document):
        plan = fits(document(n), total - fixed - reserve - n * inputs)
        if plan is not None:
            found[n] = plan
        return plan is not None

    low, high, n = 0, most + 1, None
    while n != low:  # what is thought to fit is measured, until nothing more is thought to
        n = largest(lambda n: holds(n, step.estimated), low, high) or min(1, high - 1)
        if n != low:
            low, high = (n, high) if holds(n, step.measured) else (low, n)
    if not low:
        raise OverBudget(f"ebb.torch: budget {total} bytes: one image does not fit: parameters, buffers and states take {fixed}, "
                         f"the reserve {reserve}; raise the budget")
    plan = found[low]
    return Fit(low, plan["max_live_bytes"], fixed, total, plan["time_ns"] / plan["baseline"]["time_ns"] - 1)
