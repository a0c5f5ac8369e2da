"""Modules, named as in megengine.module."""

from . import init
from .activation import GELU, LeakyReLU, PReLU, ReLU, Sigmoid, SiLU, Softmax
from .batchnorm import BatchNorm1d, BatchNorm2d, SyncBatchNorm
from .conv import Conv1d, Conv2d, ConvTranspose2d
from .elemwise import Concat, Elemwise
from .fused import (ConvBn2d, ConvBnRelu2d, ConvRelu2d, ConvTransposeBn2d, ConvTransposeBnRelu2d, ConvTransposeRelu2d,
                    LinearBn1d, LinearBnRelu1d, LinearRelu)
from .linear import Dropout, Embedding, Linear
from .module import Module
from .normalization import GroupNorm, InstanceNorm, LayerNorm
from .padding import Pad
from .pooling import AdaptiveAvgPool2d, AdaptiveMaxPool2d, AvgPool2d, MaxPool2d
from .sequential import Identity, Sequential
from .rnn import RNN, GRUCell, LSTM, LSTMCell, MultiHeadAttention, RNNCell
from .windows import (Conv3d, ConvTranspose3d, LocalConv2d, LocalResponseNorm, PixelShuffle, SlidingWindow,
                      SlidingWindowTranspose)
