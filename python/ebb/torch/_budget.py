"""What a budget is, and what of it is left for a graph's activations and gradients."""

import inspect
import math

import torch

from .. import _core
from .._errors import OverBudget
from . import _private as private


def parse_bytes(text):
    return _core.parse_bytes(text)


class Budget:
    """How many bytes a graph may take. A float up to 1 is a share of what its step takes in PyTorch's order beyond what the
    caller keeps of it (gradients of parameters, results), at least what the largest step so far was `granted`. Bytes are a total: `fixed` (parameters, buffers, optimizer states)
    and `reserve` are taken off; `activations` are bytes for activations and gradients alone."""

    def __init__(self, budget, fixed=0, reserve=0, activations=None, gradients=0):
        if budget is not None and activations is not None:
            raise ValueError("ebb.torch: budget and activations: one of them")
        self.activations = parse_bytes(activations) if isinstance(activations, str) else activations
        if isinstance(budget, bool) or budget is not None and not isinstance(budget, (int, float, str)):
            raise TypeError(f"budget {budget!r}: write \"11GiB\", a number of bytes, a share such as 0.5, or None")
        if isinstance(activations, float) and activations <= 1:
            raise ValueError(f"activations {activations!r}: these are bytes; for a share write budget={activations!r}")
        if self.activations is not None and self.activations <= 0:
            raise ValueError(f"activations {activations!r}: bytes are above 0")
        self.share = budget if isinstance(budget, float) else None
        self.bytes = parse_bytes(budget) if isinstance(budget, str) else budget if isinstance(budget, int) else None
        if self.share is not None and not 0 < self.share <= 1:
            raise ValueError(f"budget {budget!r}: a share is above 0 and at most 1")
        if self.bytes is not None and self.bytes <= 0:
            raise ValueError(f"budget {budget!r}: bytes are above 0")
        self.fixed, self.reserve, self.gradients = fixed, parse_bytes(reserve) if isinstance(reserve, str) else reserve, gradients
        self.present = 0  # of the fixed bytes: gradients that were there
        self.granted = 0  # by a share: bytes of the largest step so far

    def of(self, document, in_order, held):
        """Bytes for the activations and gradients of one graph; None: no limit. Graphs run one in another: there is what those
        before it hold until their backward halves, and the gradients that those after it have made."""
        others = held + max(0, self.gradients - document.gradient_bytes())
        if self.share is not None:
            kept = document.kept_bytes()
            return max(kept + int(self.share * (in_order - kept)), self.granted - others)
        total = self.total()
        if total is None:
            return None
        if total <= 0:
            raise OverBudget(f"ebb.torch: budget {self.bytes} bytes: parameters, buffers and optimizer states take {self.fixed}, "
                             f"the reserve {self.reserve}: nothing is left for activations; raise the budget")
        return total - others

    def total(self):
        """Bytes for activations and gradients; None: no limit in bytes."""
        if self.bytes is None:
            return self.activations
        return self.bytes - self.fixed - self.reserve

    def of_step(self, together):
        """Bytes for the Graphs of a step together; None: no limit."""
        if self.share is not None:
            return max(self.granted, int(together.kept + self.share * (together.in_order - together.kept)))
        return self.total()

    def grant(self, together):
        """Later steps that are smaller may take as much."""
        if self.share is not None:
            self.granted = self.of_step(together)

    def outgrown(self, planned, model):
        """Bytes of gradients that are there before a step and were not when they were counted, if with them it takes more than the total."""
        if self.bytes is None:
            return 0
        more = present_gradients(model) - self.present
        return more if more > 0 and self.fixed + self.reserve + planned + more > self.bytes else 0

    def holds(self, together):
        limit = self.of_step(together)
        return limit is None or together.planned <= limit

    def refuse(self, needs, in_order, kept):
        """The error that names the least: `needs` are bytes of activations and gradients; `least_bytes` is in the budget's own terms."""
        share, least = share_of(needs, in_order, kept), needs
        head, tail = f"activations {self.activations} bytes", f", a share of {share}"
        if self.share is not None:
            head = f"budget {self.share}"
        elif self.bytes is not None:
            least += self.fixed + self.reserve
            head = f"budget {self.bytes} bytes"
            tail = f": parameters, buffers and optimizer states take {self.fixed}, the reserve {self.reserve}, activations and gradients {needs}"
        error = OverBudget(f"ebb.torch: {head}: the smallest found needs {least} bytes{tail}; PyTorch's order takes {in_order}")
        error.least_bytes, error.least_share = least, share
        return error


def share_of(n_bytes, in_order, kept):
    """Rounded up to four digits."""
    return min(1.0, math.ceil(1e4 * (n_bytes - kept) / max(1, in_order - kept)) / 1e4)


def tensor_bytes(tensors):
    """By storage: what shares bytes counts once."""
    return sum({private.storage_key(t): private.storage_bytes(t) for t in tensors}.values())


def fixed_bytes(model, optimizer):
    """Parameters, buffers, gradients that are there already, and the optimizer's states, those to come included."""
    if not isinstance(model, torch.nn.Module):
        return 0
    total = tensor_bytes([*model.parameters(), *model.buffers()]) + present_gradients(model)
    if optimizer is None:
        return total
    states = [t for state in optimizer.state.values() for t in state.values() if isinstance(t, torch.Tensor)]
    return total + (tensor_bytes(states) if states else states_to_come(optimizer))


def present_gradients(model):
    parameters = model.parameters() if isinstance(model, torch.nn.Module) else ()
    return sum(private.storage_bytes(p.grad) for p in parameters if p.grad is not None)


def gradients_to_come(model):
    parameters = model.parameters() if isinstance(model, torch.nn.Module) else ()
    return tensor_bytes([p for p in parameters if p.requires_grad and p.grad is None])


def states_to_come(optimizer):
    """One step of an optimizer of the same kind on a small parameter tells how many states it keeps for each."""
    probe = torch.nn.Parameter(torch.zeros(64, 64))
    probe.grad = torch.zeros(64, 64)
    try:
        known = inspect.signature(type(optimizer)).parameters
        twin = type(optimizer)([probe], **{k: v for k, v in optimizer.defaults.items() if k in known})
        twin.step()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"ebb.torch: the states of {type(optimizer).__name__} are not known before its first step ({error}): "
                         "call compile after it, or leave optimizer out and give reserve=") from None
    n = sum(t.numel() for state in twin.state.values() for t in state.values() if isinstance(t, torch.Tensor)) / probe.numel()
    return int(n * sum(private.storage_bytes(p) for group in optimizer.param_groups for p in group["params"]))
