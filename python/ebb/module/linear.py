"""Linear, Embedding, Dropout."""

import math

import numpy as np

from .._tensor import Parameter
from ..functional import nn
from . import init
from .module import Module, positive


class Linear(Module):
    """inp times the transpose of weight[out_features, in_features], plus bias."""

    def __init__(self, in_features, out_features, bias=True, compute_mode="default", **kwargs):
        super().__init__(**kwargs)
        positive("Linear", in_features=in_features, out_features=out_features)
        self.in_features, self.out_features, self.compute_mode = in_features, out_features, compute_mode
        self.weight = Parameter(np.zeros((out_features, in_features), np.float32))
        self.bias = Parameter(np.zeros(out_features, np.float32)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        init.normal_(self.weight, 0.0, math.sqrt(1 / self.in_features))
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, x):
        return nn.linear(x, self.weight, self.bias, self.compute_mode)

    def _module_info_string(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """Rows of weight[num_embeddings, embedding_dim] by number."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=None,
                 initial_weight=None, freeze=False, **kwargs):
        super().__init__(**kwargs)
        if padding_idx is not None or max_norm is not None or norm_type is not None:
            raise ValueError("Embedding: padding_idx, max_norm and norm_type are not supported")
        self.num_embeddings, self.embedding_dim, self.freeze = num_embeddings, embedding_dim, freeze
        shape = (num_embeddings, embedding_dim)
        given = np.zeros(shape, np.float32) if initial_weight is None else initial_weight
        if tuple(given.shape) != shape:
            raise ValueError(f"Embedding: initial_weight of shape {tuple(given.shape)} is not of {shape}")
        self.weight = Parameter(given)
        if initial_weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=None):
        """One whose rows are those of embeddings, a tensor of two axes."""
        if embeddings.ndim != 2:
            raise ValueError(f"Embedding: embeddings of shape {embeddings.shape}: two axes")
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, embeddings, freeze)

    def reset_parameters(self):
        init.normal_(self.weight)

    def forward(self, inputs):
        return nn.embedding(inputs, self.weight.detach() if self.freeze else self.weight)

    def _module_info_string(self):
        return f"{self.num_embeddings}, {self.embedding_dim}"


class Dropout(Module):
    """In training a share of drop_prob becomes 0, and the others grow."""

    def __init__(self, drop_prob=0.0, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= drop_prob < 1:
            raise ValueError(f"Dropout: drop_prob {drop_prob} is not in [0, 1)")
        self.drop_prob = drop_prob

    def forward(self, inputs):
        return nn.dropout(inputs, self.drop_prob, self.training)

    def _module_info_string(self):
        return f"drop_prob={self.drop_prob}"
