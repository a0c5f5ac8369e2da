"""Ebb for Python, with MegEngine's names: `import ebb as mge`, `import ebb.functional as F`.

Tensors and ops run when they are called; `jit.trace` makes plans of what was called, within a budget of bytes.
"""

from ._threads import asleep

with asleep():
    from . import _core
from ._errors import OverBudget, TraceError
from ._tensor import Parameter, Tensor, tensor

from .device import *
from .logger import enable_debug_log, get_logger, set_log_level
from .serialization import load, save

from . import amp, autodiff, config, core, data, device, distributed, functional, hub, jit, module, optimizer, random, utils
from .utils import comp_graph_tools, comp_graph_tools as cgtools
from .version import __version__

from . import _absent, _paths

_paths.name_all(__name__)
_absent.name_all(__name__)
get_cuda_compute_capability, set_log_file = device.get_cuda_compute_capability, logger.set_log_file
