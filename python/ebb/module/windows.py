"""Layers made of windows of images."""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from . import init
from .conv import _Conv
from .module import Module, positive, whole


class Conv3d(_Conv):
    """A convolution of volumes [n, in_channels, d, h, w]."""

    @staticmethod
    def _pair(x):
        return F.windows._several(x, 3, "Conv3d")

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 conv_mode="cross_correlation", **kwargs):
        self.conv_mode = conv_mode
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **kwargs)

    def forward(self, inp):
        return F.nn.conv3d(inp, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups,
                           self.conv_mode)


class ConvTranspose3d(_Conv):
    """The gradient of a convolution of volumes by its image."""

    _pair = staticmethod(Conv3d._pair)

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1,
                 groups=1, bias=True, **kwargs):
        self.output_padding = self._pair(output_padding)
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **kwargs)

    def _channels(self):
        return self.in_channels, self.out_channels

    def forward(self, inp):
        return F.nn.conv_transpose3d(inp, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                     self.dilation, self.groups)


class LocalConv2d(Module):
    """A convolution of images of one size whose kernel is another one at each place. Its weight is [groups, oh, ow,
    in_channels / groups, kh, kw, out_channels / groups]."""

    def __init__(self, in_channels, out_channels, input_height, input_width, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, conv_mode="cross_correlation", **kwargs):
        super().__init__(**kwargs)
        positive("LocalConv2d", in_channels=in_channels, out_channels=out_channels, input_height=input_height, input_width=input_width,
                 kernel_size=kernel_size, stride=stride, dilation=dilation, groups=groups)
        whole("LocalConv2d", 0, padding=padding)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels are not multiples of groups {groups}")
        self.in_channels, self.out_channels, self.groups, self.conv_mode = in_channels, out_channels, groups, conv_mode
        self.kernel_size, self.stride, self.padding, self.dilation = (
            F.windows._several(x, 2, "LocalConv2d") for x in (kernel_size, stride, padding, dilation)
        )
        self.output_height, self.output_width = F.windows._windows_of(
            (input_height, input_width), self.kernel_size, self.padding, self.stride, self.dilation, "LocalConv2d")
        inside = in_channels // groups
        shape = (groups, self.output_height, self.output_width, inside, *self.kernel_size, out_channels // groups)
        self.weight = Parameter(np.zeros(shape, np.float32))
        init.normal_(self.weight, 0.0, math.sqrt(1 / (inside * math.prod(self.kernel_size))))

    def forward(self, inp):
        return F.local_conv2d(inp, self.weight, None, self.stride, self.padding, self.dilation, self.conv_mode)


class SlidingWindow(Module):
    """Windows of images: [n, c, h, w] -> [n, c, oh, ow, kh, kw]."""

    def __init__(self, kernel_size, padding=0, stride=1, dilation=1, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size, self.padding, self.stride, self.dilation = kernel_size, padding, stride, dilation

    def forward(self, inp):
        return F.nn.sliding_window(inp, self.kernel_size, self.padding, self.stride, self.dilation)


class SlidingWindowTranspose(Module):
    """What SlidingWindow turned about gives: places of several windows are added up."""

    def __init__(self, output_size, kernel_size, padding=0, stride=1, dilation=1, **kwargs):
        super().__init__(**kwargs)
        self.output_size, self.kernel_size = output_size, kernel_size
        self.padding, self.stride, self.dilation = padding, stride, dilation

    def forward(self, inp):
        return F.nn.sliding_window_transpose(inp, self.output_size, self.kernel_size, self.padding, self.stride,
                                             self.dilation)


class PixelShuffle(Module):
    """[..., c r r, h, w] -> [..., c, h r, w r]."""

    def __init__(self, upscale_factor, **kwargs):
        super().__init__(**kwargs)
        self.upscale_factor = upscale_factor

    def forward(self, x):
        return F.nn.pixel_shuffle(x, self.upscale_factor)


class LocalResponseNorm(Module):
    """Divides by what the channels near by have."""

    def __init__(self, kernel_size=5, k=2.0, alpha=1e-4, beta=0.75, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size, self.k, self.alpha, self.beta = kernel_size, k, alpha, beta

    def forward(self, inp):
        return F.nn.local_response_norm(inp, self.kernel_size, self.k, self.alpha, self.beta)
