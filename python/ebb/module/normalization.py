"""LayerNorm, GroupNorm, InstanceNorm."""

import numpy as np

from .._tensor import Parameter
from ..functional import nn
from . import init
from .module import Module


class _Norm(Module):
    def __init__(self, shape, eps, affine, **kwargs):
        super().__init__(**kwargs)
        self.eps, self.affine = eps, affine
        self.weight = Parameter(np.ones(shape, np.float32)) if affine else None
        self.bias = Parameter(np.zeros(shape, np.float32)) if affine else None

    def reset_parameters(self):
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)


class LayerNorm(_Norm):
    """The last axes, of normalized_shape, with mean 0 and variance 1."""

    def __init__(self, normalized_shape, eps=1e-5, affine=True, **kwargs):
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        super().__init__(shape, eps, affine, **kwargs)
        self.normalized_shape = shape

    def forward(self, x):
        return nn.layer_norm(x, self.normalized_shape, self.affine, self.weight, self.bias, self.eps)

    def _module_info_string(self):
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, affine={self.affine}"


class GroupNorm(_Norm):
    """Each image's groups of channels with mean 0 and variance 1."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, **kwargs):
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels are no multiple of {num_groups} groups")
        super().__init__((num_channels,), eps, affine, **kwargs)
        self.num_groups, self.num_channels = num_groups, num_channels

    def forward(self, x):
        return nn.group_norm(x, self.num_groups, self.affine, self.weight, self.bias, self.eps)

    def _module_info_string(self):
        return f"groups={self.num_groups}, channels={self.num_channels}, eps={self.eps}, affine={self.affine}"


class InstanceNorm(_Norm):
    """Each image's channels with mean 0 and variance 1."""

    def __init__(self, num_channels, eps=1e-5, affine=True, **kwargs):
        super().__init__((num_channels,), eps, affine, **kwargs)
        self.num_channels = num_channels

    def forward(self, x):
        return nn.instance_norm(x, self.affine, self.weight, self.bias, self.eps)
