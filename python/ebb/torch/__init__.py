"""A byte budget that holds inside PyTorch (docs/torch.md): ebb.torch.compile(model, budget="11GiB")."""

import importlib.util

if importlib.util.find_spec("torch") is None:
    raise ModuleNotFoundError("ebb.torch is for PyTorch, which is not installed: pip install '.[torch]'", name="torch")

from .._errors import OverBudget
from ._budget import Budget
from ._compile import Compiled, compile
from ._fit import Fit, fit
from ._model import Model, to_model
from ._peak import peak_bytes
from ._report import report
from ._solver import solver

__all__ = ["Budget", "Compiled", "Fit", "Model", "OverBudget", "compile", "fit", "peak_bytes", "report", "solver", "to_model"]
