"""Recurrent layers, step by step, and attention."""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from . import init
from .linear import Linear
from .module import Module

__all__ = ["GRUCell", "LSTM", "LSTMCell", "MultiHeadAttention", "RNN", "RNNCell"]


def _states(module, hx, *shapes):
    """hx as a tuple of states, one of them or h and c, each of one of these shapes."""
    given = isinstance(hx, (tuple, list))
    states = tuple(hx[i] for i in range(len(hx))) if module._pair and (given or getattr(hx, "ndim", 0)) else (hx,)
    if len(states) != 1 + module._pair or any(getattr(h, "shape", None) not in shapes for h in states):
        told = [getattr(h, "shape", h) for h in hx] if given else getattr(hx, "shape", hx)
        form = "(h, c), each of" if module._pair else "a tensor of"
        raise ValueError(f"{type(module).__name__}: hx of {told}: {form} shape {shapes[0]} is needed")
    return states


class _Cell(Module):
    """One step: gates times hidden_size numbers of the input and of the last step's."""

    _gates = 1
    _pair = False  # whether a state is (h, c)

    def __init__(self, input_size, hidden_size, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.input_size, self.hidden_size = input_size, hidden_size
        n = self._gates * hidden_size
        self.weight_ih = Parameter(np.zeros((n, input_size), np.float32))
        self.weight_hh = Parameter(np.zeros((n, hidden_size), np.float32))
        self.bias_ih = Parameter(np.zeros(n, np.float32)) if bias else None
        self.bias_hh = Parameter(np.zeros(n, np.float32)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _both(self, x, h):
        return F.linear(x, self.weight_ih, self.bias_ih), F.linear(h, self.weight_hh, self.bias_hh)

    def first(self, x):
        return F.zeros((x.shape[0], self.hidden_size))

    def _before(self, x, hx):
        """The last step's states, one alone or h and c."""
        if hx is None:
            return self.first(x)
        states = _states(self, hx, (x.shape[0], self.hidden_size), (1, self.hidden_size))
        return states if self._pair else states[0]

    def _module_info_string(self):
        return f"{self.input_size}, {self.hidden_size}, bias={self.bias_ih is not None}"


class RNNCell(_Cell):
    """h' = tanh(W x + b + V h + c), or relu of it."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", **kwargs):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity {nonlinearity!r}: tanh or relu")
        self.nonlinearity = nonlinearity
        super().__init__(input_size, hidden_size, bias, **kwargs)

    def forward(self, input, hx=None):
        x, h = self._both(input, self._before(input, hx))
        return (F.tanh if self.nonlinearity == "tanh" else F.relu)(x + h)


class LSTMCell(_Cell):
    """(h, c) from gates i, f, g, o: c' = f c + i g, h' = o tanh(c')."""

    _gates = 4
    _pair = True

    def first(self, x):
        zeros = super().first(x)
        return zeros, zeros

    def forward(self, input, hx=None):
        h, c = self._before(input, hx)
        x, h = self._both(input, h)
        i, f, g, o = F.split(x + h, 4, 1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
        return F.sigmoid(o) * F.tanh(c), c


class GRUCell(_Cell):
    """From gates r, z, n: h' = (1 - z) n + z h, where n sees r times what comes of h."""

    _gates = 3

    def forward(self, input, hx=None):
        h = self._before(input, hx)
        x, y = self._both(input, h)
        (xr, xz, xn), (yr, yz, yn) = F.split(x, 3, 1), F.split(y, 3, 1)
        z, n = F.sigmoid(xz + yz), F.tanh(xn + F.sigmoid(xr + yr) * yn)
        return (1 - z) * n + z * h


class _Layers(Module):
    """num_layers cells over [t, n, input_size], or with batch_first [n, t, input_size]; bidirectional: and as many
    from the end. Gives every step's h, and the last states [layers * directions, n, hidden_size]."""

    _pair = False

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0,
                 bidirectional=False, proj_size=0, **kwargs):
        if proj_size:
            raise ValueError(f"{type(self).__name__}: proj_size {proj_size} is not supported: 0")
        cell = {k: kwargs.pop(k) for k in ("nonlinearity",) if k in kwargs}
        super().__init__(**kwargs)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.dropout, self.bidirectional = batch_first, float(dropout), bidirectional
        self.num_directions = 2 if bidirectional else 1
        sizes = [input_size] + [self.num_directions * hidden_size] * (num_layers - 1)
        self.cells = [self._cell(size, hidden_size, bias, **cell) for size in sizes for _ in range(self.num_directions)]

    def _first(self, hx, n):
        """The first state of each cell, of [cells, n, hidden_size] or [n, cells * hidden_size]."""
        cells = len(self.cells)
        if hx is None:
            return [None] * cells
        states = _states(self, hx, (cells, n, self.hidden_size), (n, cells * self.hidden_size))
        states = [h if h.ndim == 3 else F.transpose(h.reshape(n, cells, self.hidden_size), (1, 0, 2)) for h in states]
        return [tuple(h[i] for h in states) if self._pair else states[0][i] for i in range(cells)]

    def forward(self, input, hx=None):
        axis = 1 if self.batch_first else 0
        steps = [F.squeeze(s, axis) for s in F.split(input, input.shape[axis], axis)]
        first, last = self._first(hx, input.shape[1 - axis]), []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                steps = [F.nn.dropout(s, self.dropout, self.training) for s in steps]
            ways = []
            for way in range(self.num_directions):
                i = layer * self.num_directions + way
                state, out = first[i], []
                for step in steps[::-1] if way else steps:
                    state = self.cells[i](step, state)
                    out.append(state[0] if isinstance(state, tuple) else state)
                last.append(state)
                ways.append(out[::-1] if way else out)
            steps = [F.concat(list(both), 1) for both in zip(*ways)] if len(ways) > 1 else ways[0]
        if isinstance(last[0], tuple):
            return F.stack(steps, axis), tuple(F.stack(list(part), 0) for part in zip(*last))
        return F.stack(steps, axis), F.stack(last, 0)


class RNN(_Layers):
    _cell = RNNCell


class LSTM(_Layers):
    _pair = True
    _cell = LSTMCell


class MultiHeadAttention(Module):
    """softmax(q k^T / sqrt(d)) v for each of num_heads parts of embed_dim numbers; inputs [n, t, embed_dim].

    attn_mask, [t, s] or [n * heads, t, s], is added to what softmax sees, or says where it looks if it is of bool.
    """

    def __init__(self, embed_dim, num_heads, attn_dropout=0.0, out_dropout=0.0, kdim=None, vdim=None, bias=True,
                 **kwargs):
        super().__init__(**kwargs)
        if embed_dim % num_heads:
            raise ValueError(f"MultiHeadAttention: {embed_dim} numbers are no multiple of {num_heads} heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.attn_dropout, self.out_dropout = attn_dropout, out_dropout
        self.q_proj = Linear(embed_dim, embed_dim, bias)
        self.k_proj = Linear(kdim or embed_dim, embed_dim, bias)
        self.v_proj = Linear(vdim or embed_dim, embed_dim, bias)
        self.out_proj = Linear(embed_dim, embed_dim, bias)

    def _heads(self, x):
        n, t, _ = x.shape
        return F.transpose(x.reshape(n, t, self.num_heads, self.head_dim), (0, 2, 1, 3))

    def _weights(self, scores, attn_mask, is_causal):
        n, heads, t, s = scores.shape
        if is_causal:
            attn_mask = F.arange(s).reshape(1, s) <= F.arange(t).reshape(t, 1) + (s - t)
        if attn_mask is None:
            return F.softmax(scores, -1)
        if attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape(n, heads, t, s)
        if attn_mask.dtype == np.bool_:
            seen = F.broadcast_to(attn_mask, scores.shape)
            return F.where(seen, F.softmax(F.where(seen, scores, float("-inf")), -1), 0.0)
        return F.softmax(scores + attn_mask, -1)

    def forward(self, query, key=None, value=None, attn_mask=None, is_causal=False, need_weights=False,
                average_attn_weights=False):
        """The result, and the weights [n, heads, t, s] (their mean over heads with average_attn_weights) or None."""
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self._heads(self.q_proj(query)), self._heads(self.k_proj(key)), self._heads(self.v_proj(value))
        scores = F.matmul(q, k, transpose_b=True) / math.sqrt(self.head_dim)
        weights = self._weights(scores, attn_mask, is_causal)
        seen = F.nn.dropout(weights, self.attn_dropout, self.training)
        y = F.transpose(F.matmul(seen, v), (0, 2, 1, 3)).reshape(*query.shape[:2], self.embed_dim)
        y = F.nn.dropout(self.out_proj(y), self.out_dropout, self.training)
        if not need_weights:
            return y, None
        return y, weights.mean(1) if average_attn_weights else weights
