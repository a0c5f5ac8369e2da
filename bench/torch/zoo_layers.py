"""Models of zoo.py: speech, scans, experts, adapters, masked pictures, flows, ensembles, meshes, generators, towers, chance."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class ConformerBlock(nn.Module):
    """Half a feed-forward, attention, a gated convolution over time by channel, half a feed-forward."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        half = lambda: nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Dropout(dropout), nn.Linear(4 * width, width))  # noqa: E731
        self.before, self.after = half(), half()
        self.look_norm, self.look = nn.LayerNorm(width), nn.MultiheadAttention(width, heads, dropout, batch_first=True)
        self.norm, self.open = nn.LayerNorm(width), nn.Conv1d(width, 2 * width, 1)
        self.by_channel, self.moments = nn.Conv1d(width, width, 15, padding=7, groups=width), nn.BatchNorm1d(width)
        self.close, self.last = nn.Conv1d(width, width, 1), nn.LayerNorm(width)

    def forward(self, x, padding):
        x = x + 0.5 * self.before(x)
        y = self.look_norm(x)
        x = x + self.look(y, y, y, key_padding_mask=padding, need_weights=False)[0]
        y = F.glu(self.open(self.norm(x).transpose(1, 2)), 1).masked_fill(padding[:, None], 0)
        x = x + self.close(F.silu(self.moments(self.by_channel(y)))).transpose(1, 2)
        return self.last(x + 0.5 * self.after(x))


class Conformer(nn.Module):
    """Speech: a spectrogram with masked bands, strided convolutions, conformer blocks, padding."""

    def __init__(self, bands=32, width=48, depth=3):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1), nn.ReLU())
        self.join = nn.Linear(16 * bands // 4, width)
        self.blocks = nn.ModuleList([ConformerBlock(width, 4, 0.1) for _ in range(depth)])
        self.head = nn.Linear(width, 30)

    def forward(self, sound, lengths):
        bands = torch.rand(len(sound), sound.shape[1], 1, device=sound.device) > 0.1
        x = self.stem((sound * bands)[:, None])
        x = self.join(x.flatten(1, 2).transpose(1, 2))
        padding = torch.arange(x.shape[1], device=x.device)[None] >= lengths[:, None]
        for block in self.blocks:
            x = block(x, padding)
        return F.log_softmax(self.head(x), -1).masked_fill(padding[..., None], 0)


class Selective(nn.Module):
    """A selective scan in parallel: decays as cumulative sums of logarithms, a causal convolution by channel, a gate."""

    def __init__(self, width=32, states=8, depth=3, words=64):
        super().__init__()
        self.words, self.states, self.depth = nn.Embedding(words, width), states, depth
        self.norms = nn.ModuleList([nn.RMSNorm(width) for _ in range(depth)])
        self.open, self.close = (nn.ModuleList([nn.Linear(a, b) for _ in range(depth)]) for a, b in ((width, 4 * width), (2 * width, width)))
        self.mix = nn.ModuleList([nn.Conv1d(2 * width, 2 * width, 4, groups=2 * width, padding=3) for _ in range(depth)])
        self.choose = nn.ModuleList([nn.Linear(2 * width, 2 * states + 1) for _ in range(depth)])
        self.decay = nn.ParameterList([torch.log(torch.arange(1.0, states + 1)).repeat(2 * width, 1) for _ in range(depth)])

    def scan(self, x, step, decay, write, read):
        """h[t] = exp(-step a) h[t-1] + step x write, in chunks short enough for float32."""
        found, h = [], x.new_zeros(x.shape[0], x.shape[2], self.states)
        for x, step, write, read in zip(*(t.split(8, 1) for t in (x, step, write, read))):
            fall = torch.cumsum(-step[..., None] * decay, 1)
            put = (step * x)[..., None] * write[:, :, None]
            inside = torch.cumsum(put * torch.exp(-fall.clamp(min=-30)), 1) * torch.exp(fall)
            every = inside + torch.exp(fall) * h[:, None]
            found.append(torch.einsum("btcs,bts->btc", every, read))
            h = every[:, -1]
        return torch.cat(found, 1)

    def forward(self, tokens):
        x = self.words(tokens)
        for norm, open_, mix, choose, decay, close in zip(self.norms, self.open, self.mix, self.choose, self.decay, self.close):
            y, gate = open_(norm(x)).chunk(2, -1)
            y = F.silu(mix(y.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
            write, read, step = choose(y).split([self.states, self.states, 1], -1)
            y = self.scan(y, 0.1 * F.softplus(step).expand_as(y), decay.exp(), write, read)
            x = x + close(y * F.silu(gate))
        return F.linear(x, self.words.weight)


class Placed(nn.Module):
    """Experts whose tokens are put at places in buffers (index_put with sums), those beyond their room dropped; weights of the best two."""

    def __init__(self, width=48, n=4, room=40, depth=2):
        super().__init__()
        self.room, self.n = room, n
        self.gates = nn.ModuleList([nn.Linear(width, n, bias=False) for _ in range(depth)])
        self.up = nn.ParameterList([torch.randn(n, width, 2 * width) / width ** 0.5 for _ in range(depth)])
        self.down = nn.ParameterList([torch.randn(n, 2 * width, width) / (2 * width) ** 0.5 for _ in range(depth)])

    def forward(self, x):
        balance = 0
        for gate, up, down in zip(self.gates, self.up, self.down):
            scores = F.softmax(gate(x) + 0.01 * torch.randn(len(x), self.n, device=x.device), -1)
            weights, chosen = scores.topk(2, -1)
            chosen, weights = chosen.flatten(), (weights / weights.sum(-1, keepdim=True)).flatten()
            hot = F.one_hot(chosen, self.n)
            place = (hot.cumsum(0) * hot).sum(-1) - 1
            there = place < self.room
            place = torch.where(there, place, self.room)  # one row more takes what is dropped
            rows = torch.arange(len(x), device=x.device).repeat_interleave(2)
            sent = x.new_zeros(self.n, self.room + 1, x.shape[-1]).index_put((chosen, place), x[rows], accumulate=True)
            made = torch.bmm(F.gelu(torch.bmm(sent, up)), down)[chosen, place]
            x = x.index_add(0, rows, made * (weights * there)[:, None])
            balance = balance + (scores.mean(0) * hot.float().mean(0)).sum() * self.n
        return x, balance


class Adapted(nn.Module):
    """A frozen network in eight bits, which each layer makes floats of, with small matrices beside it that are trained."""

    def __init__(self, width=96, depth=5, rank=4):
        super().__init__()
        for i in range(depth):
            self.register_buffer(f"frozen{i}", torch.randint(-127, 128, (width, width), dtype=torch.int8))
            self.register_buffer(f"scale{i}", torch.rand(width, 1) / 1000 + 1e-4)
        self.a, self.b = (nn.ParameterList([torch.randn(*shape) / 10 for _ in range(depth)]) for shape in ((rank, width), (width, rank)))
        self.norms, self.depth = nn.ModuleList([nn.LayerNorm(width).requires_grad_(False) for _ in range(depth)]), depth

    def forward(self, x):
        for i in range(self.depth):
            y = self.norms[i](x)
            weight = getattr(self, f"frozen{i}").float() * getattr(self, f"scale{i}")
            x = x + F.gelu(F.linear(y, weight) + F.linear(F.linear(F.dropout(y, 0.1, self.training), self.a[i]), self.b[i]))
        return x


class Masked(nn.Module):
    """A masked autoencoder: patches are shuffled by sorted noise, a quarter is encoded, all are decoded, the loss is of the missing ones."""

    def __init__(self, width=48, patch=4):
        super().__init__()
        layer = lambda: nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True, norm_first=True)  # noqa: E731
        self.patch, self.cut = patch, nn.Conv2d(3, width, patch, patch)
        self.place, self.token = nn.Parameter(torch.randn(64, width) / 10), nn.Parameter(torch.zeros(width))
        self.encoder, self.decoder = nn.Sequential(layer(), layer(), layer()), nn.Sequential(layer())
        self.head = nn.Linear(width, 3 * patch * patch)

    def forward(self, images):
        x = self.cut(images).flatten(2).transpose(1, 2) + self.place
        n, length, width = x.shape
        order = torch.rand(n, length, device=x.device).argsort(1)
        back, kept = order.argsort(1), length // 4
        x = self.encoder(torch.gather(x, 1, order[:, :kept, None].expand(-1, -1, width)))
        x = torch.cat([x, self.token.expand(n, length - kept, width)], 1)
        x = self.head(self.decoder(torch.gather(x, 1, back[..., None].expand(-1, -1, width)) + self.place))
        goal = F.unfold(images, self.patch, stride=self.patch).transpose(1, 2)
        goal = (goal - goal.mean(-1, keepdim=True)) / (goal.var(-1, keepdim=True) + 1e-6).sqrt()
        missing = (back >= kept).float()
        return ((x - goal).square().mean(-1) * missing).sum() / missing.sum()


class Glow(nn.Module):
    """A normalizing flow: activation norms that start from the data, invertible 1x1 convolutions with their determinants, couplings."""

    def __init__(self, channels=12, width=32, depth=3):
        super().__init__()
        self.scales, self.shifts = (nn.ParameterList([torch.randn(1, channels, 1, 1) / 10 for _ in range(depth)]) for _ in range(2))
        self.turns = nn.ParameterList([torch.linalg.qr(torch.randn(channels, channels))[0] for _ in range(depth)])
        self.nets = nn.ModuleList([nn.Sequential(nn.Conv2d(channels // 2, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU(),
                                                 nn.Conv2d(width, channels, 3, padding=1)) for _ in range(depth)])

    def forward(self, images):
        x = F.pixel_unshuffle(images, 2)
        area, log_det = x.shape[2] * x.shape[3], 0
        for scale, shift, turn, net in zip(self.scales, self.shifts, self.turns, self.nets):
            x = (x + shift) * scale.exp()
            x = F.conv2d(x, turn[:, :, None, None])
            a, b = x.chunk(2, 1)
            log_s, t = net(a).chunk(2, 1)
            s = torch.sigmoid(log_s + 2)
            x = torch.cat([a, (b + t) * s], 1)
            log_det = log_det + area * (scale.sum() + torch.linalg.slogdet(turn)[1]) + s.log().flatten(1).sum(1)
        likelihood = -0.5 * (x.square() + math.log(2 * math.pi)).flatten(1).sum(1) + log_det
        return -likelihood.mean() / images[0].numel()


class Ensemble(nn.Module):
    """Members as one: their parameters stacked, and a function of one of them mapped over all (torch.func)."""

    def __init__(self, members=4, width=48):
        super().__init__()
        nets = [nn.Sequential(nn.Linear(16, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)) for _ in range(members)]
        parameters, _ = torch.func.stack_module_state(nets)
        self.names, self.stacked = list(parameters), nn.ParameterList([p.detach().clone() for p in parameters.values()])
        self.one = [nets[0].to("meta")]

    def forward(self, x):
        call = lambda p, x: torch.func.functional_call(self.one[0], p, (x,))  # noqa: E731
        found = torch.vmap(call, (0, None))(dict(zip(self.names, self.stacked)), x)
        return found, found.var(0).mean()
