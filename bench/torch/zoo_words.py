"""Models of zoo.py that read words, vectors or graphs."""

import torch
import torch.nn.functional as F
from torch import nn


class Padded(nn.Module):
    """BERT with words of padding, tied embeddings, and a loss over masked words only."""

    def __init__(self, words=200, width=64, depth=3):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width, padding_idx=0), nn.Embedding(32, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.1, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        logits = self.head(self.layers(x, src_key_padding_mask=tokens == 0))
        labels = tokens.masked_fill(tokens % 7 != 0, -100)
        return {"loss": F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100), "logits": logits}


class Relative(nn.Module):
    """Attention with T5's bias by distance, written out; `memory` makes it look at the encoder."""

    def __init__(self, width, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.bias = nn.Embedding(32, heads)

    def forward(self, x, memory=None):
        source = x if memory is None else memory
        q, k, v = (f(z).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f, z in ((self.q, x), (self.k, source), (self.v, source)))
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        if memory is None:
            place = torch.arange(x.shape[1], device=x.device)
            distance = place[None, :] - place[:, None]
            scores = scores + self.bias(distance.clamp(-15, 15) + 15).permute(2, 0, 1)
            if self.causal:
                scores = scores.masked_fill(distance > 0, float("-inf"))
        weights = F.dropout(scores.float().softmax(-1), 0.1, self.training)
        return self.o(torch.einsum("bhij,bhjd->bhid", weights, v).transpose(1, 2).flatten(2))


class EncoderDecoder(nn.Module):
    def __init__(self, width=64, heads=4, depth=2, words=100):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.encoder = nn.ModuleList([nn.ModuleList([nn.RMSNorm(width), Relative(width, heads), nn.RMSNorm(width), self.mlp(width)])
                                      for _ in range(depth)])
        self.decoder = nn.ModuleList([nn.ModuleList([nn.RMSNorm(width), Relative(width, heads, True), nn.RMSNorm(width),
                                                     Relative(width, heads), nn.RMSNorm(width), self.mlp(width)]) for _ in range(depth)])

    def mlp(self, width):
        return nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(4 * width, width))

    def forward(self, tokens, targets):
        x, y = self.words(tokens), self.words(targets)
        for norm, attention, norm2, mlp in self.encoder:
            x = x + attention(norm(x))
            x = x + mlp(norm2(x))
        for norm, attention, norm2, cross, norm3, mlp in self.decoder:
            y = y + attention(norm(y))
            y = y + cross(norm2(y), x)
            y = y + mlp(norm3(y))
        return F.cross_entropy((y @ self.words.weight.t()).flatten(0, 1), targets.flatten(), label_smoothing=0.1)


class Experts(nn.Module):
    """A mixture of experts with room for a fixed number of tokens each, and a loss for their balance."""

    def __init__(self, width=64, n=4, most=2, depth=3):
        super().__init__()
        self.n, self.most = n, most
        self.layers = nn.ModuleList([nn.ParameterDict({
            "gate": nn.Parameter(torch.randn(width, n) * 0.1), "up": nn.Parameter(torch.randn(n, width, 2 * width) * 0.1),
            "down": nn.Parameter(torch.randn(n, 2 * width, width) * 0.1)}) for _ in range(depth)])

    def layer(self, x, p):
        tokens, width = x.shape
        room = self.most * tokens // self.n
        scores = (x @ p["gate"] + torch.randn(tokens, self.n, device=x.device) / self.n).softmax(-1)
        weight, chosen = scores.topk(self.most, -1)
        chosen = chosen.t().flatten()
        hot = F.one_hot(chosen, self.n)
        place = ((hot.cumsum(0) - 1) * hot).sum(-1)
        slot = torch.where(place < room, chosen * room + place, self.n * room)
        source = torch.arange(tokens, device=x.device).repeat(self.most)
        sent = x.new_zeros(self.n * room + 1, width).index_copy(0, slot, x[source])[:-1].view(self.n, room, width)
        done = torch.bmm(F.gelu(torch.bmm(sent, p["up"])), p["down"]).flatten(0, 1)
        done = torch.cat([done, done.new_zeros(1, width)])[slot] * weight.t().flatten()[:, None]
        balance = (hot.float().mean(0) * scores.mean(0)).sum() * self.n
        return x.index_add(0, source, done), balance

    def forward(self, x):
        balance = 0
        for p in self.layers:
            x, one = self.layer(x, p)
            balance = balance + one
        return x, 0.01 * balance


class Sparse(nn.Module):
    """Experts that gather the tokens of theirs: sizes that the data decide."""

    def __init__(self, width=48, n=3):
        super().__init__()
        self.gate = nn.Linear(width, n)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(n)])

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            (mine,) = torch.where(chosen == i)
            out.index_add_(0, mine, expert(x[mine]) * weight[mine, None])
        return x + out


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 48)
        self.layers, self.head = nn.GRU(48, 48, 2, batch_first=True, bidirectional=True, dropout=0.1), nn.Linear(96, 50)

    def forward(self, tokens):
        return self.head(self.layers(self.words(tokens))[0])


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return gradient * (s + x * s * (1 - s))


class Straight(torch.autograd.Function):
    """Rounds; its gradient passes through."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Custom(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(6)])

    def forward(self, x):
        for layer in self.layers:
            x = x + Straight.apply(8 * Swish.apply(layer(x))) / 8
        return x


class Llama(nn.Module):
    """Rotations as complex products, grouped heads, RMS norms, gated MLPs; the cosines are buffers."""

    def __init__(self, width=64, heads=4, groups=2, depth=3, words=128, length=32):
        super().__init__()
        self.heads, self.groups, size = heads, groups, width // heads
        angles = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(0, size, 2) / size))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles), persistent=False)
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList([nn.ModuleDict({
            "norm1": nn.RMSNorm(width), "q": nn.Linear(width, width, False), "kv": nn.Linear(width, 2 * groups * size, False),
            "o": nn.Linear(width, width, False), "norm2": nn.RMSNorm(width), "gate": nn.Linear(width, 2 * width, False),
            "up": nn.Linear(width, 2 * width, False), "down": nn.Linear(2 * width, width, False)}) for _ in range(depth)])

    def turned(self, x):
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * self.turns[None, : x.shape[1], None]).flatten(3).type_as(x)

    def forward(self, tokens):
        x = self.words(tokens)
        for p in self.layers:
            y = p["norm1"](x)
            q = self.turned(p["q"](y).unflatten(-1, (self.heads, -1))).transpose(1, 2)
            k, v = p["kv"](y).unflatten(-1, (2, self.groups, -1)).unbind(2)
            k, v = self.turned(k).transpose(1, 2), v.transpose(1, 2)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + p["o"](y.transpose(1, 2).flatten(2))
            y = p["norm2"](x)
            x = x + p["down"](F.silu(p["gate"](y)) * p["up"](y))
        return F.cross_entropy(F.linear(x, self.words.weight)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


class Graphs(nn.Module):
    """Messages along edges: gathers, scatters, a softmax by node, some weights frozen."""

    def __init__(self, width=32, depth=3):
        super().__init__()
        self.edge = nn.ModuleList([nn.Linear(2 * width, width) for _ in range(depth)])
        self.node = nn.ModuleList([nn.GRUCell(width, width) for _ in range(depth)])
        self.edge[0].weight.requires_grad_(False)

    def forward(self, x, edges):
        a, b = edges
        for edge, node in zip(self.edge, self.node):
            message = F.elu(edge(torch.cat([x[a], x[b]], -1)))
            top = x.new_full((len(x), 1), -1e9).scatter_reduce(0, b[:, None], message.mean(-1, True).detach(), "amax")
            weight = (message.mean(-1, True) - top[b]).exp()
            total = torch.zeros_like(x[:, :1]).index_add(0, b, weight)
            x = node(torch.zeros_like(x).scatter_add(0, b[:, None].expand_as(message), message * weight / (total[b] + 1e-6)), x)
        return x


class Scan(nn.Module):
    """A state-space layer by a loop over time, softplus, a depthwise convolution."""

    def __init__(self, width=32, states=4, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleDict({
            "norm": nn.LayerNorm(width), "in": nn.Linear(width, 2 * width), "conv": nn.Conv1d(width, width, 4, padding=3, groups=width),
            "x": nn.Linear(width, width + 2 * states), "out": nn.Linear(width, width)}) for _ in range(depth)])
        self.a = nn.Parameter(torch.log(torch.arange(1, states + 1).float()).repeat(width, 1))

    def forward(self, x):
        for p in self.layers:
            y, gate = p["in"](p["norm"](x)).chunk(2, -1)
            y = F.silu(p["conv"](y.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
            step, b, c = p["x"](y).split([y.shape[-1], self.a.shape[1], self.a.shape[1]], -1)
            step = F.softplus(step)
            decay = torch.exp(-step[..., None] * self.a.exp())
            drive = step[..., None] * b[:, :, None] * y[..., None]
            state, outs = torch.zeros_like(drive[:, 0]), []
            for t in range(x.shape[1]):
                state = decay[:, t] * state + drive[:, t]
                outs.append((state * c[:, t, None]).sum(-1))
            x = x + p["out"](torch.stack(outs, 1) * F.silu(gate))
        return x


class Critic(nn.Module):
    """Two heads and a result that no gradient goes through, a Gumbel softmax, indices as inputs."""

    def __init__(self, width=64):
        super().__init__()
        self.bag = nn.EmbeddingBag(100, width, mode="mean")
        self.body = nn.Sequential(nn.Linear(width, 2 * width), nn.Tanh(), nn.AlphaDropout(0.1), nn.Linear(2 * width, width), nn.SELU())
        self.actor, self.value = nn.Linear(width, 8), nn.Linear(width, 1)

    def forward(self, indices, weight=None):
        x = self.body(self.bag(indices))
        chosen = F.gumbel_softmax(self.actor(x), 0.7, hard=True)
        value = self.value(x).squeeze(-1)
        return (chosen.logsumexp(-1), {"value": value, "stopped": value.detach(), "best": chosen.argmax(-1)}, indices)
