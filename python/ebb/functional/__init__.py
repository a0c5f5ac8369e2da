"""Functions of tensors, named as in megengine.functional."""

from . import angles, choice, ctc, elemwise, loss, math, metric, nn, tensor, vision, windows
from .angles import *
from .choice import *
from .einsum import einsum
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

from .angles import __all__ as _angles
from .choice import __all__ as _choice

# They are found there, too.
for _there, _room in ((nn, loss), (nn, windows), (nn, vision), (nn, ctc), (loss, ctc), (elemwise, angles), (tensor, choice)):
    for _name in _room.__all__:
        setattr(_there, _name, getattr(_room, _name))
for _name in ("indexing_one_hot", "one_hot"):
    setattr(nn, _name, getattr(tensor, _name))

__all__ = ["einsum", "elemwise", "loss", "math", "metric", "nn", "tensor", "vision"]
__all__ += _angles + _choice + _elemwise + _math + _metric + _nn + _tensor
