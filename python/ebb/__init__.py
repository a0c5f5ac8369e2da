"""Ebb for Python, with MegEngine's names: `import ebb as mge`, `import ebb.functional as F`.

Tensors and ops run when they are called; `jit.trace` makes plans of what was called, within a budget of bytes.
"""

from . import _core
from ._errors import OverBudget, TraceError
from ._tensor import Parameter, Tensor, tensor

from .device import (get_default_device, get_device_count, is_atlas_available, is_cambricon_available, is_cuda_available,
                     is_rocm_available, set_default_device)
from .logger import get_logger, set_log_level
from .serialization import load, save

from . import amp, autodiff, config, core, data, device, distributed, functional, hub, jit, module, optimizer, random, utils
from .utils import comp_graph_tools
from .version import __version__

from . import _absent, _paths

_paths.name_all(__name__)
_absent.name_all(__name__)
