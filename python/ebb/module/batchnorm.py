"""Batch norms. Weights and statistics have MegEngine's shape [1, c, 1, 1], or [c] with param_dim="dim_c";
load_state_dict takes either."""

import numpy as np

from .._tensor import Parameter, Tensor
from ..functional import nn
from . import init
from .module import Module


class _BatchNorm(Module):
    _ranks = ()
    _ones = (1, 1)  # what follows the channels in a weight's shape

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, track_running_stats=True, freeze=False,
                 compute_mode="default", param_dim="dim_1c11", **kwargs):
        super().__init__(**kwargs)
        if freeze and not track_running_stats:
            raise ValueError("batch norm: freeze needs track_running_stats")
        if param_dim not in ("dim_1c11", "dim_c"):
            raise ValueError(f"batch norm: param_dim {param_dim!r}: dim_1c11 or dim_c")
        self.num_features, self.eps, self.momentum, self.param_dim = num_features, eps, momentum, param_dim
        self.affine, self.track_running_stats, self.freeze = affine, track_running_stats, freeze
        shape = (num_features,) if param_dim == "dim_c" else (1, num_features, *self._ones)
        ones, zeros = np.ones(shape, np.float32), np.zeros(shape, np.float32)
        self.weight = Parameter(ones) if affine else None
        self.bias = Parameter(zeros) if affine else None
        self.running_mean = Tensor(zeros) if track_running_stats else None
        self.running_var = Tensor(ones) if track_running_stats else None

    def reset_running_stats(self):
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def forward(self, inp):
        if inp.ndim not in self._ranks:
            known = " or ".join(map(str, self._ranks))
            raise ValueError(f"{type(self).__name__}: a tensor of shape {inp.shape} has {inp.ndim} axes; it takes {known}")
        weight, bias = self.weight, self.bias
        if self.freeze and self.affine:
            weight, bias = weight.detach(), bias.detach()
        mean, variance = (self.running_mean, self.running_var) if self.track_running_stats else (None, None)
        if self.track_running_stats and mean is None:
            raise ValueError("batch norm: track_running_stats was set later: there are no running statistics")
        training = (self.training and not self.freeze) or not self.track_running_stats
        return nn.batch_norm(inp, mean, variance, weight, bias, training=training, momentum=self.momentum, eps=self.eps)

    def _module_info_string(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Of [n, c] or [n, c, l]."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Of images [n, c, h, w]."""

    _ranks = (4,)


class SyncBatchNorm(_BatchNorm):
    """A batch norm of any rank, over the batches of all devices: of the one device that a process has."""

    _ranks = (2, 3, 4)

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, track_running_stats=True, freeze=False,
                 group=None, **kwargs):
        if group is not None:
            raise ValueError("SyncBatchNorm: group: a process has one device, and no group of them")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, freeze, **kwargs)
