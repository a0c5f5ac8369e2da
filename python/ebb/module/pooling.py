"""Pooling."""

from ..functional import nn
from .module import Module, positive, whole


class _Pool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        positive(type(self).__name__, kernel_size=kernel_size, stride=self.stride)
        whole(type(self).__name__, 0, padding=padding)

    def _module_info_string(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(_Pool2d):
    """The largest of each window."""

    def forward(self, inp):
        return nn.max_pool2d(inp, self.kernel_size, self.stride, self.padding)


class AvgPool2d(_Pool2d):
    """The mean of each window."""

    def __init__(self, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding", **kwargs):
        super().__init__(kernel_size, stride, padding, **kwargs)
        self.mode = mode

    def forward(self, inp):
        return nn.avg_pool2d(inp, self.kernel_size, self.stride, self.padding, self.mode)


class _AdaptivePool2d(Module):
    def __init__(self, oshp, **kwargs):
        super().__init__(**kwargs)
        self.oshp = oshp

    def _module_info_string(self):
        return f"oshp={self.oshp}"


class AdaptiveAvgPool2d(_AdaptivePool2d):
    """Means of equal windows, as many as oshp says."""

    def forward(self, inp):
        return nn.adaptive_avg_pool2d(inp, self.oshp)


class AdaptiveMaxPool2d(_AdaptivePool2d):
    """The largest of equal windows, as many as oshp says."""

    def forward(self, inp):
        return nn.adaptive_max_pool2d(inp, self.oshp)
