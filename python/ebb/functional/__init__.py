"""Functions of tensors, named as in megengine.functional."""

from . import angles, choice, ctc, elemwise, loss, math, metric, nn, tensor, utils, vision, windows
from .angles import *
from .choice import *
from .ctc import *
from .einsum import einsum
from .elemwise import *
from .loss import *
from .math import *
from .metric import *
from .nn import *
from .tensor import *
from .vision import *
from .windows import *

__all__ = ["einsum", "elemwise", "loss", "math", "metric", "nn", "tensor", "utils", "vision"]
for _room in (angles, choice, ctc, elemwise, loss, math, metric, nn, tensor, vision, windows):
    __all__ += [_name for _name in _room.__all__ if _name not in __all__]

# They are found there, too.
for _there, _names in (
    (nn, (*loss.__all__, *windows.__all__, *vision.__all__, *ctc.__all__, "indexing_one_hot", "one_hot")),
    (loss, ctc.__all__), (elemwise, (*angles.__all__, "sigmoid")), (tensor, (*choice.__all__, "cumsum")),
    (math, ("isinf", "isnan", "sign")), (utils, ("topk_accuracy",)),
):
    for _name in _names:
        setattr(_there, _name, globals()[_name])
