"""Recurrent layers in graphs as PyTorch runs them on a CPU: LSTMs layer by layer by oneDNN, with the workspace that their gradients read;
other ones cell by cell. PyTorch's own decomposition forgets the dropout between layers, and an LSTM's workspace."""

import contextlib
import functools

import torch

from . import _private as private

OP = torch.ops.aten.mkldnn_rnn_layer.default
ROWS = 16
LSTM = 2  # oneDNN's number of the kind, which mkldnn_rnn_layer takes


def lstm_layer(x, hidden, params, has_biases, reverse=False, exported=False):
    biases = params[2:4] if has_biases else [x.new_zeros(len(params[0])) for _ in range(2)]
    if exported:
        biases = [biases[0], biases[1].view(1, -1).view(-1)]  # the op gives both one gradient, and an export has each tensor once
    h, c = (state.unsqueeze(0).contiguous() for state in hidden)
    y, h, c, _ = OP(
        x.contiguous(), params[0], params[1], *biases, h, c, reverse, [], LSTM, h.size(2), 1, has_biases, False, False, torch.is_grad_enabled())
    return y, (h.squeeze(0), c.squeeze(0))


def with_workspace(*args):
    """The op gives its workspace only where gradients are on; graphs run where they are off."""
    with torch.enable_grad():
        return OP(*(a.detach() if isinstance(a, torch.Tensor) else a for a in args))


def callable_of(target):
    """What runs a node with this target."""
    return with_workspace if target is OP else target


def workspace_bytes(args):
    """Of the op with these FakeTensors, by a run of it on a few short rows: it grows with their number, and is a little larger for few."""
    long, n, width = args[0].shape
    few = min(long, ROWS), min(n, ROWS)
    tensors = [torch.zeros(*few, width), *(torch.zeros(tuple(a.shape)) for a in args[1:5]), *(torch.zeros(1, few[1], a.shape[2]) for a in args[5:7])]
    return with_workspace(*tensors, *args[7:])[3].nbytes * long * n // (few[0] * few[1])


def choose_lstm(exported, x, hx, params):
    tensors = [x, *hx, *(p for layer in params for p in layer)]
    known = all(t.device.type == "cpu" and t.dtype is torch.float32 for t in tensors)
    projected = hx[0].size(2) != hx[1].size(2)
    if known and not projected and x.numel() and torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled:
        return functools.partial(lstm_layer, exported=exported)
    return private.rnn_decompositions.one_layer_lstm


def layers(one_layer):
    """_rnn_helper, with the dropout between layers."""

    def helper(x, hidden, params, has_biases, n_layers, dropout, train, bidirectional, batch_first, layer):
        x, finals, wide = x.transpose(0, 1) if batch_first else x, [], 2 if bidirectional else 1
        for i in range(n_layers):
            part = slice(wide * i, wide * (i + 1))
            x, last = one_layer(x, hidden[part], params[part], has_biases, 1, 0.0, train, bidirectional, False, layer)
            finals += last
            if dropout and train and i < n_layers - 1:
                x = torch.dropout(x, dropout, train=True)
        return x.transpose(0, 1) if batch_first else x, finals

    return helper


@contextlib.contextmanager
def in_graphs(exported=False):
    """While a graph is traced."""
    module = private.rnn_decompositions
    kept = module._rnn_helper, module.select_one_layer_lstm_function
    module._rnn_helper, module.select_one_layer_lstm_function = layers(kept[0]), functools.partial(choose_lstm, exported)
    try:
        yield
    finally:
        module._rnn_helper, module.select_one_layer_lstm_function = kept
