"""Convolutions. Weights of groups are kept as [groups * out, in, h, w], so that nothing is moved in a step;
load_state_dict takes MegEngine's [groups, out, in, h, w] as well."""

import math

import numpy as np

from .._tensor import Parameter
from ..functional import nn
from . import init
from .module import Module


def _check_padding(mode):
    if mode not in ("zeros", "reflect", "replicate"):
        raise ValueError(f"padding_mode {mode!r}: zeros, reflect or replicate")


class _Conv(Module):
    """What convolutions share; sizes are of `_pair`'s form."""

    _pair = staticmethod(nn.pair)

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **kwargs):
        super().__init__(**kwargs)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels are not multiples of groups {groups}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = self._pair(kernel_size), self._pair(stride)
        self.padding, self.dilation = self._pair(padding), self._pair(dilation)
        self.weight = Parameter(np.zeros(self._weight_shape(), np.float32))
        ones = (1,) * (self.weight.ndim - 2)
        self.bias = Parameter(np.zeros((1, out_channels, *ones), np.float32)) if bias else None
        self.reset_parameters()

    def _weight_shape(self):
        kernel = self.kernel_size if isinstance(self.kernel_size, tuple) else (self.kernel_size,)
        return (self.out_channels, self.in_channels // self.groups, *kernel)

    def _fan_in(self):
        return math.prod(self._weight_shape()[1:])

    def reset_parameters(self):
        init.normal_(self.weight, 0.0, math.sqrt(1 / self._fan_in()))
        if self.bias is not None:
            init.zeros_(self.bias)

    def _within(self, inp):
        """The input and its padding by zeros; other padding is put around the input."""
        if self.padding_mode == "zeros":
            return inp, self.padding
        pads = self.padding if isinstance(self.padding, tuple) else (self.padding,)
        return nn.pad(inp, ((0, 0), (0, 0), *((p, p) for p in pads)), self.padding_mode), 0

    def _module_info_string(self):
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}"
        )


class Conv1d(_Conv):
    """A convolution of [n, in_channels, l]."""

    _pair = staticmethod(int)

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 conv_mode="cross_correlation", compute_mode="default", padding_mode="zeros", **kwargs):
        _check_padding(padding_mode)
        self.conv_mode, self.compute_mode, self.padding_mode = conv_mode, compute_mode, padding_mode
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **kwargs)

    def forward(self, inp):
        inp, padding = self._within(inp)
        return nn.conv1d(inp, self.weight, self.bias, self.stride, padding, self.dilation, self.groups,
                         self.conv_mode, self.compute_mode)


class Conv2d(_Conv):
    """A convolution of images [n, in_channels, h, w]."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 conv_mode="cross_correlation", compute_mode="default", padding_mode="zeros", **kwargs):
        _check_padding(padding_mode)
        self.conv_mode, self.compute_mode, self.padding_mode = conv_mode, compute_mode, padding_mode
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **kwargs)

    def forward(self, inp):
        inp, padding = self._within(inp)
        return nn.conv2d(inp, self.weight, self.bias, self.stride, padding, self.dilation, self.groups,
                         self.conv_mode, self.compute_mode)


class ConvTranspose2d(_Conv):
    """The gradient of a convolution by its image."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1,
                 groups=1, bias=True, conv_mode="cross_correlation", compute_mode="default", **kwargs):
        self.conv_mode, self.compute_mode, self.output_padding = conv_mode, compute_mode, nn.pair(output_padding)
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **kwargs)

    def _weight_shape(self):
        return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)

    def _fan_in(self):
        return self.out_channels // self.groups * math.prod(self.kernel_size)

    def forward(self, inp):
        return nn.conv_transpose2d(inp, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                   self.dilation, self.groups, self.conv_mode, self.compute_mode)
