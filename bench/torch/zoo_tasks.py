"""Models of zoo.py: pictures made and found, graphs, two towers, long convolutions, layers that draw, and losses that look twice."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations


class CrossBlock(nn.Module):
    """Attention to itself, to words, and a gated feed-forward, over the places of a picture."""

    def __init__(self, width, words, heads=4):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.own, self.ask, self.tell = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False), nn.Linear(words, 2 * width, bias=False)
        self.outs, self.up, self.down = nn.ModuleList([nn.Linear(width, width) for _ in range(2)]), nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def look(self, q, k, v):
        q, k, v = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)

    def forward(self, picture, words):
        n, c, h, w = picture.shape
        x = picture.flatten(2).transpose(1, 2)
        x = x + self.outs[0](self.look(*self.own(self.norms[0](x)).chunk(3, -1)))
        x = x + self.outs[1](self.look(self.ask(self.norms[1](x)), *self.tell(words).chunk(2, -1)))
        y, gate = self.up(self.norms[2](x)).chunk(2, -1)
        x = x + self.down(y * F.gelu(gate))
        return picture + x.transpose(1, 2).reshape(n, c, h, w)


class Residual(nn.Module):
    def __init__(self, a, b, time):
        super().__init__()
        self.first, self.second = nn.Sequential(nn.GroupNorm(8, a), nn.SiLU(), nn.Conv2d(a, b, 3, padding=1)), nn.Sequential(
            nn.GroupNorm(8, b), nn.SiLU(), nn.Dropout(0.1), nn.Conv2d(b, b, 3, padding=1))
        self.time, self.skip = nn.Linear(time, 2 * b), nn.Conv2d(a, b, 1) if a != b else nn.Identity()

    def forward(self, x, time):
        scale, shift = self.time(F.silu(time))[..., None, None].chunk(2, 1)
        return self.skip(x) + self.second(self.first(x) * (1 + scale) + shift)


class Latent(nn.Module):
    """Diffusion in a latent: a U-Net with an embedding of the time, attention to words that are left out now and then, the velocity as goal."""

    def __init__(self, width=32, words=24, time=64):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, time), nn.SiLU(), nn.Linear(time, time))
        self.first, self.nothing = nn.Conv2d(4, width, 3, padding=1), nn.Parameter(torch.randn(1, 1, words) / 10)
        self.down = nn.ModuleList([Residual(width, width, time), Residual(width, 2 * width, time)])
        self.shrink, self.twice = nn.Conv2d(width, width, 3, 2, 1), nn.Conv2d(2 * width, width, 3, padding=1)
        self.cross = nn.ModuleList([CrossBlock(2 * width, words), CrossBlock(width, words)])
        self.up, self.last = nn.ModuleList([Residual(2 * width, 2 * width, time), Residual(2 * width, width, time)]), nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, latent, words):
        t = torch.randint(0, 1000, (len(latent),), device=latent.device)
        keep = torch.cos(t / 1000 * torch.pi / 2)[:, None, None, None]
        noise = torch.randn_like(latent)
        lost = (1 - keep.square()).sqrt()
        angles = t[:, None] * torch.exp(-torch.arange(16, device=t.device) / 2)
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        words = torch.where(torch.rand(len(latent), 1, 1, device=t.device) < 0.2, self.nothing, words)
        a = self.down[0](self.first(keep * latent + lost * noise), time)
        b = self.cross[0](self.up[0](self.down[1](self.shrink(a), time), time), words)
        x = self.twice(F.interpolate(b, scale_factor=2.0, mode="nearest"))
        x = self.cross[1](self.up[1](torch.cat([x, a], 1), time), words)
        return F.mse_loss(self.last(x), keep * noise - lost * latent)


class Molecules(nn.Module):
    """Graphs in one batch: edges with features, sums, largest and spread of neighbours (PNA), norms of what is there, one result a graph."""

    def __init__(self, width=32, depth=3, graphs=8):
        super().__init__()
        self.graphs, self.atoms, self.bonds = graphs, nn.Embedding(10, width), nn.Linear(4, width)
        self.talk = nn.ModuleList([nn.Linear(3 * width, width) for _ in range(depth)])
        self.update = nn.ModuleList([nn.Sequential(nn.Linear(5 * width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2)) for _ in range(depth)])
        self.cell, self.head = nn.GRUCell(width, width), nn.Linear(width, 1)

    def forward(self, atoms, edges, features, graph):
        x, (source, target) = self.atoms(atoms), edges
        count = torch.zeros(len(x), 1, device=x.device).index_add(0, target, torch.ones(len(target), 1, device=x.device)).clamp(min=1)
        bonds = self.bonds(features)
        for talk, update in zip(self.talk, self.update):
            message = talk(torch.cat([x[source], x[target], bonds], -1)).relu()
            where = target[:, None].expand_as(message)
            total = torch.zeros_like(x).scatter_add(0, where, message)
            squares = torch.zeros_like(x).scatter_add(0, where, message.square())
            largest = torch.zeros_like(x).scatter_reduce(0, where, message, "amax", include_self=True)
            spread = (squares / count - (total / count).square()).clamp(min=0).add(1e-5).sqrt()
            x = self.cell(update(torch.cat([x, total, total / count, largest, spread], -1)), x)
        pooled = torch.zeros(self.graphs, x.shape[1], device=x.device).index_add(0, graph, x)
        return self.head(pooled)


class Towers(nn.Module):
    """Pictures and words, each with a tower; all pairs compared, both ways, by a temperature that is learnt and kept in bounds."""

    def __init__(self, width=48):
        super().__init__()
        self.pictures = nn.Sequential(nn.Conv2d(3, width, 4, 4), nn.GELU(), nn.Conv2d(width, width, 3, padding=1, groups=width), nn.BatchNorm2d(width),
                                      nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, width))
        self.words = nn.EmbeddingBag(200, width, mode="mean")
        self.text = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))
        self.scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, pictures, words):
        a, b = F.normalize(self.pictures(pictures), dim=-1), F.normalize(self.text(self.words(words)), dim=-1)
        logits = self.scale.clamp(max=4.6).exp() * a @ b.T
        goal = torch.arange(len(a), device=a.device)
        return (F.cross_entropy(logits, goal, label_smoothing=0.1) + F.cross_entropy(logits.T, goal)) / 2


class Voice(nn.Module):
    """A generator of sound: weight-normed transposed convolutions, dilated ones that are summed, and a loss on its spectrum."""

    def __init__(self, width=32):
        super().__init__()
        norm = parametrizations.weight_norm
        self.first = norm(nn.Conv1d(16, width, 7, padding=3))
        self.ups = nn.ModuleList([norm(nn.ConvTranspose1d(width >> i, width >> (i + 1), 8, 4, 2)) for i in range(2)])
        self.rows = nn.ModuleList([nn.ModuleList([norm(nn.Conv1d(width >> (i + 1), width >> (i + 1), 3, dilation=d, padding=d)) for d in (1, 3, 5)])
                                   for i in range(2)])
        self.last = norm(nn.Conv1d(width >> 2, 1, 7, padding=3))
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, bands, sound):
        x = self.first(bands)
        for up, rows in zip(self.ups, self.rows):
            x = up(F.leaky_relu(x, 0.1))
            x = sum(x + row(F.leaky_relu(x, 0.1)) for row in rows) / len(rows)
        x = torch.tanh(self.last(F.leaky_relu(x))).squeeze(1)
        mine, other = (torch.stft(s, 64, 16, window=self.window, return_complex=True).abs() for s in (x, sound))
        return F.l1_loss(mine, other) + F.l1_loss((mine + 1e-5).log(), (other + 1e-5).log())


class Long(nn.Module):
    """Convolutions as long as the sequence, by transforms; their filters come from a network of places, under a window that is learnt."""

    def __init__(self, width=24, length=64, depth=3):
        super().__init__()
        self.length = length
        self.filters = nn.ModuleList([nn.Sequential(nn.Linear(5, 16), nn.SiLU(), nn.Linear(16, width)) for _ in range(depth)])
        self.fall = nn.ParameterList([torch.rand(width) * 4 for _ in range(depth)])
        self.open, self.close = (nn.ModuleList([nn.Linear(width, n * width) for _ in range(depth)]) for n in (3, 1))

    def forward(self, x):
        t = torch.linspace(0, 1, self.length, device=x.device)
        places = torch.stack([t, *(f(2 * torch.pi * k * t) for k in (1, 2) for f in (torch.sin, torch.cos))], -1)
        for make, fall, open_, close in zip(self.filters, self.fall, self.open, self.close):
            a, b, v = open_(x).chunk(3, -1)
            taps = make(places) * torch.exp(-fall * t[:, None])
            long = 2 * self.length
            y = torch.fft.irfft(torch.fft.rfft((a * v).transpose(1, 2), long) * torch.fft.rfft(taps.T, long), long)[..., :self.length]
            x = x + close(b * y.transpose(1, 2))
        return x


class Chance(nn.Module):
    """Layers that draw, of every kind: rows, channels, alphas, random slopes, drawn pools, masks by Bernoulli, noise, choices."""

    def __init__(self, width=24):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.layers = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in range(4)])
        self.norm = nn.InstanceNorm2d(width, affine=True, track_running_stats=True)
        self.pool, self.slope = nn.FractionalMaxPool2d(2, output_ratio=0.6), nn.RReLU()
        self.head = nn.Sequential(nn.Linear(width, width), nn.SELU(), nn.AlphaDropout(0.2), nn.Linear(width, 10))

    def forward(self, x):
        x = F.dropout2d(self.slope(self.first(x)), 0.2, self.training)
        x = self.pool(self.slope(self.norm(self.layers[0](x))))
        keep = torch.bernoulli(torch.full((len(x), 1, 1, 1), 0.8, device=x.device))
        x = x + keep * F.feature_alpha_dropout(torch.selu(self.layers[1](x)), 0.1, self.training)
        x = x * torch.normal(1.0, 0.1, x.shape, device=x.device) + self.layers[2](x).tanh()
        weights = torch.softmax(self.layers[3](x).mean((2, 3)), -1)
        chosen = torch.multinomial(weights, 2)
        shuffled = x[torch.randperm(len(x), device=x.device)]
        pooled = (0.7 * x + 0.3 * shuffled).mean((2, 3))
        return self.head(pooled + torch.gather(pooled, 1, chosen).mean(1, keepdim=True)), weights.log().mean()


class Style(nn.Module):
    """Transfer of a style: a frozen network sees the made picture and the real one, Gram matrices of its layers, total variation."""

    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(3, width, 5), nn.InstanceNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU(),
                                 nn.Upsample(scale_factor=2, mode="bilinear"), nn.ConvTranspose2d(width, 3, 3, padding=1), nn.Sigmoid())
        self.eyes = nn.ModuleList([nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2)) for a, b in ((3, 16), (16, 32), (32, 32))])
        self.eyes.requires_grad_(False)

    def forward(self, x):
        made, total = self.net(x), 0
        a, b = made, x
        for eye in self.eyes:
            a = eye(a)
            with torch.no_grad():
                b = eye(b)
            gram = lambda z: torch.einsum("nchw,ndhw->ncd", z, z) / z[0].numel()  # noqa: E731
            total = total + F.mse_loss(a, b) + 10 * (gram(a) - gram(b)).square().sum()
        return total + 1e-3 * (made.diff(dim=2).abs().mean() + made.diff(dim=3).abs().mean())
