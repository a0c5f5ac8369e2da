"""What of a step fits where: a described device's memory, and the largest size within a budget."""

import os

from .. import _core
from .._errors import OverBudget
from ..device import check_device


def description(device):
    """The path where a device's description is named, whose steps are planned only; None: the process's own device."""
    path = "" if device is None else os.fspath(device)
    if os.sep in path or path.endswith(".json"):
        room(path)  # it can be read
        return path
    if device is not None:
        check_device(device)
    return None


def room(path):
    """(bytes that are left beside the context, name) of a described device."""
    name, memory, context = _core.device_memory(path)
    return memory - context, name


def total(core):
    """Bytes of the largest of a call's programs."""
    return max((core.plan(i)["total_bytes"] for i in range(core.facts()["n_programs"])), default=0)


def check(core, path):
    left, name = room(path)
    if total(core) > left:
        raise OverBudget(f"the plan takes {total(core)} bytes, more than the {left} that {name} has beside its context", total(core))


def largest(plan_of, budget_bytes, most):
    """The largest n up to `most` whose plan fits, on the way by doubling and halving: {n, budget_bytes, plan, tried}.
    plan_of(n): (bytes, figures)."""
    tried, plans, low, high = {}, {}, 0, 1

    def fits(n):
        try:
            tried[n], plans[n] = plan_of(n)
        except OverBudget:
            tried[n] = None
        return tried[n] is not None and tried[n] <= budget_bytes

    while high <= most and fits(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return {"n": low, "budget_bytes": budget_bytes, "plan": plans.get(low), "tried": dict(sorted(tried.items()))}
