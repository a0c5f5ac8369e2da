"""Activations."""

import numpy as np

from .._tensor import Parameter
from ..functional import nn
from .module import Module


class Softmax(Module):
    def __init__(self, axis=None, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def forward(self, inputs):
        return nn.softmax(inputs, self.axis)


class Sigmoid(Module):
    def forward(self, inputs):
        return nn.sigmoid(inputs)


class SiLU(Module):
    def forward(self, inputs):
        return nn.silu(inputs)


class GELU(Module):
    def forward(self, inputs):
        return nn.gelu(inputs)


class ReLU(Module):
    def forward(self, inputs):
        return nn.relu(inputs)


class PReLU(Module):
    """x where it is positive, else weight times x: one weight, or one a channel."""

    def __init__(self, num_parameters=1, init=0.25, **kwargs):
        super().__init__(**kwargs)
        self.num_parameters = num_parameters
        shape = (1,) if num_parameters == 1 else (1, num_parameters, 1, 1)
        self.weight = Parameter(np.full(shape, init, np.float32))

    def forward(self, inputs):
        return nn.prelu(inputs, self.weight)


class LeakyReLU(Module):
    def __init__(self, negative_slope=0.01, **kwargs):
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def forward(self, inputs):
        return nn.leaky_relu(inputs, self.negative_slope)
