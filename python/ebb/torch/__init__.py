"""A byte budget that holds inside PyTorch (docs/torch.md): ebb.torch.compile(model, budget="11GiB")."""

from .._errors import OverBudget
from ._compile import Budget, Compiled, compile
from ._fit import Fit, fit
from ._report import report

__all__ = ["Budget", "Compiled", "Fit", "OverBudget", "compile", "fit", "report"]
