"""Models of zoo.py that are put together in unusual ways: several losses, loops, functions of gradients, layers of one's own."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class ConvLstm(nn.Module):
    """Cells in a loop over time, each layer's state made as it goes."""

    def __init__(self, width=12, depth=2):
        super().__init__()
        self.cells = nn.ModuleList([nn.Conv2d((width if i else 3) + width, 4 * width, 3, padding=1) for i in range(depth)])
        self.head, self.width = nn.Conv2d(width, 3, 1), width

    def forward(self, clips):
        xs = clips.unbind(1)
        for cell in self.cells:
            h = c = clips.new_zeros(len(clips), self.width, *clips.shape[-2:])
            outs = []
            for x in xs:
                i, f, g, o = cell(torch.cat([x, h], 1)).chunk(4, 1)
                c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
                outs.append(h)
            xs = outs
        made = torch.stack([self.head(x) for x in xs[:-1]], 1)
        return {"next": (made - clips[:, 1:]).abs().mean(), "state": {"h": h, "c": c.detach()}}


class Words(nn.Module):
    """nn.LSTM, two layers with dropout between them, and tied words."""

    def __init__(self, words=120, width=64):
        super().__init__()
        self.words, self.drop = nn.Embedding(words, width), nn.Dropout(0.2)
        self.layers = nn.LSTM(width, width, 2, dropout=0.2, batch_first=True)

    def forward(self, tokens):
        x, _ = self.layers(self.drop(self.words(tokens)))
        return F.cross_entropy((self.drop(x)[:, :-1] @ self.words.weight.t()).flatten(0, 1), tokens[:, 1:].flatten())


class Speech(nn.Module):
    """Convolutions over time, an LSTM in both directions, CTC."""

    def __init__(self, bands=20, width=48, letters=16):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(bands, width, 5, 2, 2), nn.BatchNorm1d(width), nn.GELU())
        self.layers, self.head = nn.LSTM(width, width, bidirectional=True), nn.Linear(2 * width, letters)

    def forward(self, sound, letters):
        x, _ = self.layers(self.front(sound).permute(2, 0, 1))
        n = x.shape[1]
        lengths, spoken = torch.full((n,), x.shape[0], dtype=torch.long), torch.full((n,), letters.shape[1], dtype=torch.long)
        return F.ctc_loss(self.head(x).log_softmax(-1), letters, lengths, spoken, zero_infinity=True)


class Clicks(nn.Module):
    """DLRM: bags of embeddings beside numbers, products of all pairs."""

    def __init__(self, tables=5, rows=300, width=16):
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables)])
        self.low = nn.Sequential(nn.Linear(13, 64), nn.ReLU(True), nn.Linear(64, width), nn.ReLU(True))
        n = tables + 1
        self.high = nn.Sequential(nn.Linear(width + n * (n - 1) // 2, 64), nn.ReLU(True), nn.Linear(64, 1))
        self.register_buffer("places", torch.tril_indices(n, n, -1))

    def forward(self, numbers, indices):
        offsets = torch.arange(0, indices.shape[1], indices.shape[1] // len(numbers), device=indices.device)
        x = self.low(numbers)
        every = torch.stack([x, *(table(i, offsets) for table, i in zip(self.tables, indices))], 1)
        pairs = torch.bmm(every, every.transpose(1, 2))[:, self.places[0], self.places[1]]
        logits = self.high(torch.cat([x, pairs], 1))
        return F.binary_cross_entropy_with_logits(logits, (numbers[:, :1] > 0).float(), pos_weight=torch.tensor(2.0))


class Volume(nn.Module):
    """A U-Net of volumes: instance norms, strided and transposed convolutions, trilinear steps, two depths of supervision, a Dice loss."""

    def __init__(self, width=8, classes=3):
        super().__init__()
        self.first, self.down = self.twice(1, width), self.twice(width, 2 * width, 2)
        self.bottom, self.up = self.twice(2 * width, 4 * width, 2), nn.ConvTranspose3d(4 * width, 2 * width, 2, 2)
        self.join, self.last = self.twice(4 * width, 2 * width), self.twice(3 * width, width)
        self.heads = nn.ModuleList([nn.Conv3d(2 * width, classes, 1), nn.Conv3d(width, classes, 1)])

    @staticmethod
    def twice(a, b, stride=1):
        return nn.Sequential(nn.Conv3d(a, b, 3, stride, 1), nn.InstanceNorm3d(b, affine=True), nn.LeakyReLU(0.01, True), nn.Conv3d(b, b, 3, 1, 1),
                             nn.InstanceNorm3d(b, affine=True), nn.LeakyReLU(0.01, True), nn.Dropout3d(0.1))

    def forward(self, x):
        a = self.first(x)
        b = self.down(a)
        y = self.join(torch.cat([b, self.up(self.bottom(b))], 1))
        z = self.last(torch.cat([a, F.interpolate(y, scale_factor=2, mode="trilinear", align_corners=False)], 1))
        losses = []
        for head, made in zip(self.heads, (y, z)):
            p = head(made).softmax(1)
            goal = F.adaptive_avg_pool3d((x > 0).float(), p.shape[2:])
            losses.append(1 - 2 * (p[:, 1:2] * goal).sum() / (p[:, 1:2].square().sum() + goal.square().sum() + 1))
        return losses


class Pair(nn.Module):
    """A generator and its critic, one step: the critic sees the made images twice, once without a gradient to the generator."""

    def __init__(self, width=16):
        super().__init__()
        self.make = nn.Sequential(nn.Linear(8, 32 * 16), nn.Unflatten(1, (32, 4, 4)), nn.BatchNorm2d(32), nn.ReLU(),
                                  nn.Upsample(scale_factor=2), nn.Conv2d(32, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(width, 3, 3, padding=1), nn.Tanh())
        self.judge = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, width, 4, 2, 1)), nn.LeakyReLU(0.2),
                                   nn.utils.parametrizations.spectral_norm(nn.Conv2d(width, 2 * width, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(),
                                   nn.Linear(32 * 16, 1))

    def forward(self, real):
        made = self.make(torch.randn(len(real), 8, device=real.device))
        critic = F.relu(1 - self.judge(real)).mean() + F.relu(1 + self.judge(made.detach())).mean()
        return {"critic": critic, "maker": -self.judge(made).mean(), "images": made.detach()}


class Rays(nn.Module):
    """Points along rays at drawn depths, sines of their places, products along each ray."""

    def __init__(self, width=48, points=16):
        super().__init__()
        self.points = points
        self.net = nn.Sequential(nn.Linear(63, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.skip, self.head = nn.Linear(width + 63, width), nn.Linear(width, 4)

    def forward(self, rays):
        start, way = rays.chunk(2, -1)
        depth = (torch.arange(self.points, device=rays.device) + torch.rand(len(rays), self.points, device=rays.device)) / self.points
        places = start[:, None] + way[:, None] * depth[..., None]
        angles = places[..., None] * 2.0 ** torch.arange(10, device=rays.device)
        x = torch.cat([places, angles.sin().flatten(-2), angles.cos().flatten(-2)], -1)
        colour, density = self.head(F.relu(self.skip(torch.cat([self.net(x), x], -1)))).split([3, 1], -1)
        far = torch.full_like(depth[:, :1], 1e10)
        clear = torch.exp(-F.softplus(density[..., 0]) * torch.cat([depth.diff(dim=-1), far], -1))
        weight = (1 - clear) * torch.cumprod(torch.cat([torch.ones_like(far), clear[:, :-1] + 1e-10], -1), -1)
        return (weight[..., None] * torch.sigmoid(colour)).sum(1), weight.sum(-1)


class Flow(nn.Module):
    """A differential equation by Runge and Kutta; each step is a checkpoint of the user's own."""

    def __init__(self, width=48, steps=4):
        super().__init__()
        self.net, self.steps = nn.Sequential(nn.Linear(width + 1, 2 * width), nn.Softplus(), nn.Linear(2 * width, width)), steps

    def slope(self, t, x):
        return self.net(torch.cat([x, t.expand(len(x), 1)], 1))

    def step(self, t, x):
        h = 1 / self.steps
        a = self.slope(t, x)
        b = self.slope(t + h / 2, x + h / 2 * a)
        c = self.slope(t + h / 2, x + h / 2 * b)
        return x + h / 6 * (a + 2 * b + 2 * c + self.slope(t + h, x + h * c))

    def forward(self, x):
        for i in range(self.steps):
            x = checkpoint(self.step, torch.full((1, 1), i / self.steps), x, use_reentrant=False)
        return x


class Meta(nn.Module):
    """A step of learning within the loss: gradients of gradients."""

    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        self.rate = nn.Parameter(torch.tensor(0.1))

    def loss(self, parameters, x):
        return (torch.func.functional_call(self.net, parameters, (x,)) - x[:, :1].sin()).square().mean()

    def forward(self, x):
        one, other = x.chunk(2)
        parameters = dict(self.net.named_parameters())
        for _ in range(2):
            slopes = torch.func.grad(self.loss)(parameters, one)
            parameters = {name: p - self.rate * slopes[name] for name, p in parameters.items()}
        return self.loss(parameters, other)


class Half(torch.autograd.Function):
    """Of a reversible pair: keeps no input, computes it from the result."""

    @staticmethod
    def forward(ctx, x, y, weight):
        made = y + torch.tanh(x @ weight)
        ctx.save_for_backward(x, weight)
        return x * 1, made

    @staticmethod
    def backward(ctx, gx, gy):
        x, weight = ctx.saved_tensors
        inner = gy * (1 - torch.tanh(x @ weight).square())
        return gx + inner @ weight.t(), gy, x.t() @ inner


class Reversible(nn.Module):
    def __init__(self, width=64, depth=6):
        super().__init__()
        self.weights = nn.ParameterList([torch.randn(width, width) / width for _ in range(depth)])

    def forward(self, x):
        x, y = x.chunk(2, 1)
        for weight in self.weights:
            y, x = Half.apply(x, y, weight)
        return x, y


class Queue(nn.Module):
    """Contrast with a queue of keys: a slower twin that the forward moves, a buffer and a place in it that each step rewrites."""

    def __init__(self, width=32, n=64):
        super().__init__()
        self.query, self.keys = (nn.Sequential(nn.Linear(48, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, width)) for _ in range(2))
        for p in self.keys.parameters():
            p.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(width, n), dim=0))
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        q = F.normalize(self.query(x + 0.1 * torch.randn_like(x)), dim=1)
        with torch.no_grad():
            for a, b in zip(self.query.parameters(), self.keys.parameters()):
                b.mul_(0.9).add_(a, alpha=0.1)
            k = F.normalize(self.keys(x), dim=1)
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ self.queue.clone()], 1) / 0.2
        with torch.no_grad():
            where = (self.place + torch.arange(len(x), device=x.device)) % self.queue.shape[1]
            self.queue.index_copy_(1, where, k.t())
            self.place.add_(len(x)).remainder_(self.queue.shape[1])
        return F.cross_entropy(logits, torch.zeros(len(x), dtype=torch.long, device=x.device))
