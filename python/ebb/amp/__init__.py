"""Mixed precision by MegEngine's names.

with autocast(): convolutions, linear and matmul compute in 16 bits; exponentials, logarithms, powers, softmax, losses
and sums in float32; others in what they are given. GradScaler keeps small gradients from becoming 0 in float16.
"""

import sys
import types

from .. import _precision
from .autocast import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "enabled"]


class _Amp(types.ModuleType):
    @property
    def enabled(self):
        """Whether autocast is on; may be set."""
        return _precision.now() is not None

    @enabled.setter
    def enabled(self, on):
        _precision.set(("float16", "float32") if on else None)


sys.modules[__name__].__class__ = _Amp
