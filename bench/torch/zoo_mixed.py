"""Models of zoo.py that mix images, points and words."""

import torch
import torch.nn.functional as F
from torch import nn


class UViT(nn.Module):
    """Diffusion by a transformer: time and class are tokens, long skips join its halves."""

    def __init__(self, width=48, depth=2, places=64):
        super().__init__()
        layer = lambda: nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, F.gelu, batch_first=True, norm_first=True)  # noqa: E731
        self.patches, self.classes = nn.Conv2d(3, width, 4, 4), nn.Embedding(10, width)
        self.place = nn.Parameter(torch.zeros(1, places + 2, width))
        self.down, self.up = nn.ModuleList([layer() for _ in range(depth)]), nn.ModuleList([layer() for _ in range(depth)])
        self.middle, self.join = layer(), nn.ModuleList([nn.Linear(2 * width, width) for _ in range(depth)])
        self.head, self.last, self.width = nn.Linear(width, 48), nn.Conv2d(3, 3, 3, padding=1), width

    def forward(self, images, labels):
        t = torch.rand(len(images), device=images.device)
        noise = torch.randn_like(images)
        x = (1 - t)[:, None, None, None] * images + t[:, None, None, None] * noise
        angles = t[:, None] * torch.exp(-torch.arange(self.width // 2, device=t.device) * 0.3) * 100
        time = torch.cat([angles.cos(), angles.sin()], 1)
        x = torch.cat([time[:, None], self.classes(labels)[:, None], self.patches(x).flatten(2).transpose(1, 2)], 1) + self.place
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
        x = self.middle(x)
        for block, join in zip(self.up, self.join):
            x = block(join(torch.cat([x, kept.pop()], -1)))
        x = self.head(x[:, 2:]).transpose(1, 2).unflatten(2, (8, 8)).unflatten(1, (3, 4, 4)).permute(0, 1, 4, 2, 5, 3).reshape(images.shape)
        return {"loss": F.mse_loss(self.last(x), noise - images), "extra": {"weighted": [(t * x.square().mean((1, 2, 3))).mean()]}}


class Sloped(nn.Module):
    """Attention with a bias by distance, which is learnt, as a mask."""

    def __init__(self, width=64, heads=4, depth=2):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = (nn.ModuleList([nn.Linear(width, n * width) for _ in range(depth)]) for n in (3, 1))
        self.norms = nn.ModuleList([nn.RMSNorm(width) for _ in range(depth)])
        self.slopes = nn.Parameter(torch.rand(heads))

    def forward(self, x):
        place = torch.arange(x.shape[1], device=x.device)
        distance = place[:, None] - place[None]
        bias = (-self.slopes[:, None, None] * distance).masked_fill(distance < 0, -float("inf"))
        for norm, qkv, out in zip(self.norms, self.qkv, self.out):
            q, k, v = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in qkv(norm(x)).chunk(3, -1))
            x = x + out(F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2))
        return x


class Points(nn.Module):
    """The nearest points of each, what they differ by, the largest of it; an alignment that is learnt and kept near orthogonal."""

    def __init__(self, width=24, near=6):
        super().__init__()
        self.near, self.turn = near, nn.Linear(3, 9)
        self.edges = nn.ModuleList([nn.Sequential(nn.Conv2d(2 * a, width, 1, bias=False), nn.BatchNorm2d(width), nn.LeakyReLU(0.2))
                                    for a in (3, width, width)])
        self.head = nn.Sequential(nn.Linear(6 * width, 64), nn.Dropout(0.3), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, cloud):
        turn = self.turn(cloud.mean(1)).view(-1, 3, 3) + torch.eye(3, device=cloud.device)
        x, kept = torch.bmm(cloud, turn), []
        for edge in self.edges:
            near = torch.cdist(x, x).topk(self.near, largest=False).indices
            other = torch.gather(x[:, None].expand(-1, x.shape[1], -1, -1), 2, near[..., None].expand(-1, -1, -1, x.shape[2]))
            both = torch.cat([x[:, :, None].expand_as(other), other - x[:, :, None]], -1).permute(0, 3, 1, 2)
            x = edge(both).amax(-1).transpose(1, 2)
            kept.append(x)
        every = torch.cat(kept, -1)
        straight = (torch.linalg.matrix_norm(turn @ turn.mT - torch.eye(3, device=cloud.device)) ** 2).mean()
        return self.head(torch.cat([every.amax(1), every.mean(1)], -1)), 0.01 * straight


class Routed(nn.Module):
    """Each token goes to the experts that score highest: sorted, counted, and back to its place; a bias that follows the load is a buffer."""

    def __init__(self, width=48, n=4, depth=2):
        super().__init__()
        self.gates = nn.ModuleList([nn.Linear(width, n, bias=False) for _ in range(depth)])
        self.up = nn.ParameterList([torch.randn(n, width, 4 * width) / 7 for _ in range(depth)])
        self.down = nn.ParameterList([torch.randn(n, 2 * width, width) / 10 for _ in range(depth)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(depth)])
        self.register_buffer("bias", torch.zeros(depth, n))

    def forward(self, x):
        n, width = self.bias.shape[1], x.shape[1]
        losses = []
        for i, (gate, up, down, norm) in enumerate(zip(self.gates, self.up, self.down, self.norms)):
            y = norm(x)
            scores = torch.sigmoid(gate(y))
            chosen = (scores + self.bias[i]).topk(2, -1).indices
            weight = scores.gather(1, chosen)
            weight = (weight / weight.sum(-1, keepdim=True)).flatten()
            order = chosen.flatten().argsort(stable=True)
            hot = F.one_hot(chosen.flatten(), n).type_as(x)
            rows = y.repeat_interleave(2, 0)[order]
            parts = hot[order]
            inner = torch.einsum("tn,td,ndh->th", parts, rows, up)
            a, b = inner.chunk(2, -1)
            made = torch.einsum("tn,th,nhd->td", parts, F.silu(a) * b, down) * weight[order, None]
            x = x + torch.zeros_like(made).index_copy(0, order, made).view(-1, 2, width).sum(1)
            with torch.no_grad():
                self.bias[i].add_(0.01 * torch.sign(hot.mean() - hot.mean(0)))
            losses.append((hot.mean(0) * scores.mean(0)).sum())
        return {"out": x, "balance": torch.stack(losses).sum()}


class Retention(nn.Module):
    """A linear recurrence by chunks: decays as cumulative sums, a state handed from chunk to chunk, gates, group norms over heads."""

    def __init__(self, width=48, heads=3, chunk=16, depth=2):
        super().__init__()
        self.heads, self.chunk = heads, chunk
        self.layers = nn.ModuleList([nn.ModuleDict({"qkvg": nn.Linear(width, 4 * width), "decay": nn.Linear(width, heads),
                                                    "norm": nn.GroupNorm(heads, width), "out": nn.Linear(width, width)}) for _ in range(depth)])

    def forward(self, x):
        for p in self.layers:
            q, k, v, g = p["qkvg"](x).chunk(4, -1)
            q, k, v = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in (q, k, v))
            log = F.logsigmoid(p["decay"](x) + 3).transpose(1, 2)
            state, outs = x.new_zeros(len(x), self.heads, q.shape[-1], v.shape[-1]), []
            for i in range(0, x.shape[1], self.chunk):
                a, b, c, d = (z[:, :, i:i + self.chunk] for z in (q, k, v, log))
                s = d.cumsum(-1)
                mask = (s[..., :, None] - s[..., None, :]).tril().exp().tril()
                outs.append(((a @ b.mT) * mask) @ c + s.exp()[..., None] * (a @ state))
                state = s[..., -1:, None].exp() * state + (b * (s[..., -1:] - s).exp()[..., None]).mT @ c
            y = torch.cat(outs, 2).transpose(1, 2).flatten(2)
            y = p["norm"](y.flatten(0, 1)).view_as(y)
            x = x + p["out"](y * F.silu(g))
        return x


class Boxes(nn.Module):
    """One-stage detection: levels of features, a focal loss, boxes by their overlap; a frozen stem whose norms stand still."""

    def __init__(self, width=24, classes=4):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True))
        self.levels = nn.ModuleList([nn.Sequential(nn.Conv2d(width, width, 3, 2, 1), nn.GroupNorm(4, width), nn.ReLU(True)) for _ in range(3)])
        self.side = nn.ModuleList([nn.Conv2d(width, width, 1) for _ in range(3)])
        self.tower = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(True), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(True))
        self.kind, self.box = nn.Conv2d(width, classes, 3, padding=1), nn.Conv2d(width, 4, 3, padding=1)
        self.scales = nn.Parameter(torch.ones(3))
        self.stem.requires_grad_(False)

    def forward(self, x):
        self.stem.eval()
        x, features = self.stem(x), []
        for level in self.levels:
            x = level(x)
            features.append(x)
        top, losses = None, {}
        for i in (2, 1, 0):
            y = self.side[i](features[i])
            top = y if top is None else y + F.interpolate(top, scale_factor=2, mode="nearest")
            shared = self.tower(top)
            logits, box = self.kind(shared), F.relu(self.box(shared) * self.scales[i])
            goal = (features[i].detach().mean(1, keepdim=True) > 0.2).float().expand_as(logits)
            p = logits.sigmoid()
            cross = F.binary_cross_entropy_with_logits(logits, goal, reduction="none")
            losses[f"kind{i}"] = ((1 - (p * goal + (1 - p) * (1 - goal))) ** 2 * cross).sum() / goal.sum().clamp(min=1)
            a, b, c, d = box.unbind(1)
            inter = torch.minimum(a, c.detach() + 1) * torch.minimum(b, d.detach() + 1)
            losses[f"box{i}"] = (-(inter + 1).log() + ((a + c) * (b + d) + 1).log()).mean()
        return losses


class Splines(nn.Module):
    """Learnt functions on edges: B-splines by recursion, a step size that is learnt for rounded weights, straight-through."""

    def __init__(self, width=24, knots=8, depth=3):
        super().__init__()
        self.register_buffer("grid", torch.linspace(-1.5, 1.5, knots + 7))
        self.weights = nn.ParameterList([torch.randn(width, width, knots + 3) * 0.1 for _ in range(depth)])
        self.plain = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.size = nn.Parameter(torch.tensor(0.05))

    def bases(self, x):
        x, grid = x.unsqueeze(-1), self.grid
        made = ((x >= grid[:-1]) & (x < grid[1:])).type_as(x)
        for k in range(1, 4):
            left = (x - grid[:-(k + 1)]) / (grid[k:-1] - grid[:-(k + 1)])
            right = (grid[k + 1:] - x) / (grid[k + 1:] - grid[1:-k])
            made = left * made[..., :-1] + right * made[..., 1:]
        return made

    def forward(self, x):
        for weight, plain in zip(self.weights, self.plain):
            scaled = weight / self.size
            rounded = (scaled + (scaled.round().clamp(-8, 7) - scaled).detach()) * self.size
            x = torch.einsum("nik,oik->no", self.bases(torch.tanh(x)), rounded) + plain(F.silu(x))
        return x
