"""Ebb for Python, with MegEngine's names: `import ebb as mge`, `import ebb.functional as F`.

Tensors and ops run when they are called; `jit.trace` makes plans of what was called, within a budget of bytes.
"""

from . import _core
from ._errors import OverBudget, TraceError
from ._tensor import Parameter, Tensor, tensor

from .device import get_default_device, get_device_count, is_cuda_available, set_default_device
from .logger import get_logger, set_log_level
from .serialization import load, save

from . import amp, autodiff, data, device, functional, hub, jit, module, optimizer, random, utils

__version__ = _core.version
