"""Modules of several layers under one name. The compiler fuses what it can, whether layers are written so or not."""

from .. import functional as F
from .batchnorm import BatchNorm1d, BatchNorm2d
from .conv import Conv2d, ConvTranspose2d
from .linear import Linear
from .module import Module


class ConvRelu2d(Conv2d):
    """A convolution and relu."""

    def forward(self, inp):
        return F.nn.relu(super().forward(inp))


class LinearRelu(Linear):
    """A linear layer and relu."""

    def forward(self, x):
        return F.nn.relu(super().forward(x))


class ConvBn2d(Module):
    """A convolution and its batch norm: `conv` and `bn`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 conv_mode="cross_correlation", compute_mode="default", padding_mode="zeros", eps=1e-5, momentum=0.9,
                 affine=True, track_running_stats=True, **kwargs):
        super().__init__(**kwargs)
        self.conv = Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, conv_mode,
                           compute_mode, padding_mode)
        self.bn = BatchNorm2d(out_channels, eps, momentum, affine, track_running_stats)

    def forward(self, inp):
        return self.bn(self.conv(inp))


class ConvBnRelu2d(ConvBn2d):
    """A convolution, its batch norm and relu."""

    def forward(self, inp):
        return F.nn.relu(super().forward(inp))


class ConvTransposeRelu2d(ConvTranspose2d):
    """A transposed convolution and relu."""

    def forward(self, inp):
        return F.nn.relu(super().forward(inp))


class ConvTransposeBn2d(Module):
    """A transposed convolution and its batch norm: `conv_transpose2d` and `bn`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1,
                 groups=1, bias=True, conv_mode="cross_correlation", compute_mode="default", eps=1e-5, momentum=0.9,
                 affine=True, track_running_stats=True, **kwargs):
        super().__init__(**kwargs)
        self.conv_transpose2d = ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding,
                                                dilation, groups, bias, conv_mode, compute_mode)
        self.bn = BatchNorm2d(out_channels, eps, momentum, affine, track_running_stats)

    def forward(self, inp):
        return self.bn(self.conv_transpose2d(inp))


class ConvTransposeBnRelu2d(ConvTransposeBn2d):
    """A transposed convolution, its batch norm and relu."""

    def forward(self, inp):
        return F.nn.relu(super().forward(inp))


class LinearBn1d(Module):
    """A linear layer and its batch norm: `linear` and `bn`."""

    def __init__(self, in_features, out_features, bias=True, compute_mode="default", eps=1e-5, momentum=0.9,
                 affine=True, track_running_stats=True, **kwargs):
        super().__init__(**kwargs)
        self.linear = Linear(in_features, out_features, bias, compute_mode)
        self.bn = BatchNorm1d(out_features, eps, momentum, affine, track_running_stats)

    def forward(self, x):
        return self.bn(self.linear(x))


class LinearBnRelu1d(LinearBn1d):
    """A linear layer, its batch norm and relu."""

    def forward(self, x):
        return F.nn.relu(super().forward(x))
