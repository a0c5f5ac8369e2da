"""Functions of tensors, named as in megengine.functional."""

from . import elemwise, loss, math, metric, nn, tensor
from .elemwise import *
from .math import *
from .metric import *
from .nn import *
from .tensor import *

from .elemwise import __all__ as _elemwise
from .math import __all__ as _math
from .metric import __all__ as _metric
from .nn import __all__ as _nn
from .tensor import __all__ as _tensor

for _name in loss.__all__:  # they are found there, too
    setattr(nn, _name, getattr(loss, _name))

__all__ = ["elemwise", "loss", "math", "metric", "nn", "tensor"] + _elemwise + _math + _metric + _nn + _tensor
