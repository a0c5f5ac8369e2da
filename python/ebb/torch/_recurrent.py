"""Recurrent layers in graphs as PyTorch runs them on a CPU: LSTMs layer by layer by oneDNN, with the workspace that their gradients read;
other ones cell by cell. PyTorch's own decomposition forgets the dropout between layers, and an LSTM's workspace."""

import contextlib

import torch

from . import _private as private

OP = torch.ops.aten.mkldnn_rnn_layer.default
LSTM = 2  # oneDNN's number of the kind, which mkldnn_rnn_layer takes


def lstm_layer(x, hidden, params, has_biases, reverse=False):
    biases = params[2:4] if has_biases else [x.new_zeros(len(params[0])) for _ in range(2)]
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


def choose_lstm(x, hx, params):
    tensors = [x, *hx, *(p for layer in params for p in layer)]
    known = all(t.device.type == "cpu" and t.dtype is torch.float32 for t in tensors)
    projected = hx[0].size(2) != hx[1].size(2)
    if known and not projected and x.numel() and torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled:
        return lstm_layer
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
def in_graphs():
    """While a graph is traced."""
    module = private.rnn_decompositions
    kept = module._rnn_helper, module.select_one_layer_lstm_function
    module._rnn_helper, module.select_one_layer_lstm_function = layers(kept[0]), choose_lstm
    try:
        yield
    finally:
        module._rnn_helper, module.select_one_layer_lstm_function = kept
