"""Convolutions. Weights are [out, in, h, w], and of several groups [groups, out, in, h, w] of one group's channels, as in
MegEngine; load_state_dict takes [groups * out, in, h, w] as well."""

import math

import numpy as np

from .._tensor import Parameter
from ..functional import nn
from . import init
from .module import Module, positive, whole


def _check_padding(mode):
    if mode not in ("zeros", "reflect", "replicate"):
        raise ValueError(f"padding_mode {mode!r}: zeros, reflect or replicate")


class _Conv(Module):
    """What convolutions share; sizes are of `_pair`'s form."""

    _pair = staticmethod(nn.pair)

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **kwargs):
        super().__init__(**kwargs)
        positive(type(self).__name__, in_channels=in_channels, out_channels=out_channels, kernel_size=kernel_size, groups=groups,
                 stride=stride, dilation=dilation)
        whole(type(self).__name__, 0, padding=padding)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels are not multiples of groups {groups}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = self._pair(kernel_size), self._pair(stride)
        self.padding, self.dilation = self._pair(padding), self._pair(dilation)
        kernel = self.kernel_size if isinstance(self.kernel_size, tuple) else (self.kernel_size,)
        channels = [n // groups for n in self._channels()]
        self.weight = Parameter(np.zeros(([groups] if groups > 1 else []) + channels + list(kernel), np.float32))
        ones = (1,) * len(kernel)
        self.bias = Parameter(np.zeros((1, out_channels, *ones), np.float32)) if bias else None
        self.reset_parameters()

    def _channels(self):
        """The weight's first axes, of all groups; the second one counts as the fan."""
        return self.out_channels, self.in_channels

    def reset_parameters(self):
        fan_in = math.prod(self.weight.shape[2 if self.groups > 1 else 1 :])
        init.normal_(self.weight, 0.0, math.sqrt(1 / fan_in))
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

    def _channels(self):
        return self.in_channels, self.out_channels

    def forward(self, inp):
        return nn.conv_transpose2d(inp, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                   self.dilation, self.groups, self.conv_mode, self.compute_mode)
