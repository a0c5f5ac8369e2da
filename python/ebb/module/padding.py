"""Pad."""

from ..functional import nn
from .module import Module


class Pad(Module):
    """constant_val around the input: pad_width has (before, after) of each axis."""

    def __init__(self, pad_width, mode="constant", constant_val=0.0, **kwargs):
        super().__init__(**kwargs)
        self.pad_width, self.mode, self.constant_val = pad_width, mode, constant_val

    def forward(self, src):
        return nn.pad(src, self.pad_width, self.mode, self.constant_val)

    def _module_info_string(self):
        return f"{self.pad_width}, mode={self.mode}, constant_val={self.constant_val}"
