"""Models that the bridge was not made with, at small sizes: name -> (model, inputs, blocks to checkpoint), as in models.py. Each stands
for a way of writing models: masks, noise, tied or normed weights, dictionaries, complex numbers, indices, updated buffers."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations


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


class Timed(nn.Module):
    """A residual block of a diffusion U-Net: group norms, SiLU, an embedding of the time added."""

    def __init__(self, c_in, c_out, width, attention):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, c_in), nn.GroupNorm(4, c_out)
        self.conv1, self.conv2 = nn.Conv2d(c_in, c_out, 3, padding=1), nn.Conv2d(c_out, c_out, 3, padding=1)
        self.time = nn.Linear(width, 2 * c_out)
        self.skip = nn.Conv2d(c_in, c_out, 1) if c_in != c_out else nn.Identity()
        self.attention = nn.MultiheadAttention(c_out, 2, batch_first=True) if attention else None

    def forward(self, x, t):
        y = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.time(F.silu(t))[:, :, None, None].chunk(2, 1)
        y = self.conv2(F.dropout(F.silu(self.norm2(y) * (1 + scale) + shift), 0.1, self.training)) + self.skip(x)
        if self.attention is not None:
            z = y.flatten(2).transpose(1, 2)
            y = y + self.attention(z, z, z, need_weights=False)[0].transpose(1, 2).reshape(y.shape)
        return y


class Diffusion(nn.Module):
    """Draws times and noise itself and returns the loss."""

    def __init__(self, width=16, time=32):
        super().__init__()
        self.register_buffer("kept", torch.linspace(0.99, 0.01, 50))
        self.time = nn.Sequential(nn.Linear(time, time), nn.SiLU(), nn.Linear(time, time))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([Timed(width, width, time, False), Timed(width, 2 * width, time, True)])
        self.middle = Timed(2 * width, 2 * width, time, True)
        self.up = nn.ModuleList([Timed(4 * width, width, time, True), Timed(2 * width, width, time, False)])
        self.last = nn.Conv2d(width, 3, 3, padding=1)
        self.places = time

    def forward(self, images):
        t = torch.randint(0, 50, (len(images),), device=images.device)
        noise = torch.randn_like(images)
        kept = self.kept[t][:, None, None, None]
        x = self.first(kept.sqrt() * images + (1 - kept).sqrt() * noise)
        rates = torch.exp(-math.log(1000) * torch.arange(self.places // 2, device=images.device) / (self.places // 2))
        angles = t[:, None] * rates[None]
        t = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        stack = []
        for block in self.down:
            x = block(x, t)
            stack.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.middle(x, t)
        for block in self.up:
            x = F.interpolate(x, scale_factor=2, mode="nearest")
            x = block(torch.cat([x, stack.pop()], 1), t)
        return F.mse_loss(self.last(x), noise)


class Mixer(nn.Module):
    def __init__(self, width=64, places=64, depth=4):
        super().__init__()
        self.first = nn.Conv2d(3, width, 4, 4)
        self.blocks = nn.ModuleList([nn.ModuleList([
            nn.LayerNorm(width), nn.Sequential(nn.Linear(places, 2 * places), nn.GELU("tanh"), nn.Linear(2 * places, places)),
            nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))])
            for _ in range(depth)])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.first(x).flatten(2).transpose(1, 2)
        for norm, across, norm2, along in self.blocks:
            x = x + across(norm(x).transpose(1, 2)).transpose(1, 2)
            x = x + along(norm2(x))
        return self.head(x.mean(1))


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


class Vae(nn.Module):
    """The noise of the reparameterisation is drawn in the middle."""

    def __init__(self, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.ReLU(True), nn.Conv2d(width, 2 * width, 4, 2, 1), nn.ReLU(True), nn.Flatten(),
                                     nn.Linear(2 * width * 64, 32))
        self.decoder = nn.Sequential(nn.Linear(16, 2 * width * 64), nn.Unflatten(1, (2 * width, 8, 8)), nn.ReLU(True),
                                     nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU(True), nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, 1)
        made = self.decoder(mean + torch.randn_like(mean) * (0.5 * log_variance).exp())
        loss = F.binary_cross_entropy(made, x.sigmoid(), reduction="sum") - 0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum()
        return loss / len(x)


class Normed(nn.Module):
    """Weight norm and spectral norm (whose vectors are buffers that each step updates), instance norms."""

    def __init__(self, width=32, depth=4):
        super().__init__()
        wrap = (parametrizations.weight_norm, parametrizations.spectral_norm)
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.layers = nn.Sequential(*[nn.Sequential(wrap[i % 2](nn.Conv2d(width, width, 3, padding=1)),
                                                    nn.InstanceNorm2d(width, affine=True, track_running_stats=i % 2 == 0), nn.LeakyReLU(0.2, True))
                                      for i in range(depth)])

    def forward(self, x):
        return self.layers(self.first(x)).mean((2, 3))


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


class Fourier(nn.Module):
    """Complex weights between two transforms."""

    def __init__(self, width=16, modes=6, depth=3):
        super().__init__()
        self.modes = modes
        self.first, self.last = nn.Conv2d(3, width, 1), nn.Conv2d(width, 1, 1)
        self.weights = nn.ParameterList([torch.randn(width, width, modes, modes, dtype=torch.cfloat) / width for _ in range(depth)])
        self.local = nn.ModuleList([nn.Conv2d(width, width, 1) for _ in range(depth)])

    def forward(self, x):
        x = self.first(x)
        for weight, local in zip(self.weights, self.local):
            low = torch.fft.rfft2(x)
            out = torch.zeros_like(low)
            out[:, :, : self.modes, : self.modes] = torch.einsum("bixy,ioxy->boxy", low[:, :, : self.modes, : self.modes], weight)
            x = F.gelu(torch.fft.irfft2(out, s=x.shape[-2:]) + local(x))
        return self.last(x)


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


class Codes(nn.Module):
    """A quantiser with codes that follow a moving mean: buffers that are updated in the forward half, and read again."""

    def __init__(self, width=16, n=32):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1))
        self.decoder = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(width, 3, 4, 2, 1))
        self.register_buffer("codes", torch.randn(n, width))
        self.register_buffer("counts", torch.ones(n))

    def forward(self, x):
        z = self.encoder(x).permute(0, 2, 3, 1)
        flat = z.flatten(0, 2)
        hot = F.one_hot(torch.cdist(flat.detach(), self.codes).argmin(1), len(self.codes)).type_as(flat)
        with torch.no_grad():
            self.counts.mul_(0.9).add_(hot.sum(0), alpha=0.1)
            self.codes.lerp_(hot.t() @ flat / self.counts.clamp(min=1)[:, None], 0.1)
        code = (hot @ self.codes).view_as(z)
        made = self.decoder((z + (code - z).detach()).permute(0, 3, 1, 2))
        return {"image": made, "commit": F.mse_loss(z, code.detach()), "codes": hot.argmax(1)}


class InPlace(nn.Module):
    """ReLUs and sums in place, a slice that is written, views of results as results."""

    def __init__(self, width=24, depth=4):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.layers = nn.ModuleList([nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.Hardswish(True)) for _ in range(depth)])

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = F.relu_(layer(x).add_(x)) * 0.9
            x[:, 0] = x[:, 1].detach() * 0.5
        return x.mean((2, 3)), x[:, :2]


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


class Warp(nn.Module):
    """A spatial transformer: grids, samples, shuffled pixels, a 3-D convolution, sorted values."""

    def __init__(self, width=12):
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(3, 8, 5, 2), nn.MaxPool2d(2), nn.PReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 6))
        self.conv = nn.Conv2d(3, 4 * width, 3, padding=1)
        self.deep = nn.Conv3d(1, 2, 3, padding=1)

    def forward(self, x):
        grid = F.affine_grid(self.locate(x).view(-1, 2, 3), x.shape, align_corners=False)
        y = F.pixel_shuffle(self.conv(F.grid_sample(x, grid, align_corners=False)), 2)
        y = self.deep(F.max_pool2d(y, 2)[:, None]).flatten(1, 2)
        y = F.interpolate(y, size=(20, 20), mode="bilinear", align_corners=False)
        return F.local_response_norm(y, 3).flatten(2).sort(-1).values[..., ::7]


def vision(make, shape, blocks=lambda m: []):
    def made():
        model = make()
        return model, (torch.randn(*shape),), blocks(model)

    return made


def of(make, *inputs):
    def made():
        return make(), tuple(one() for one in inputs), []

    return made


def noise(*shape):
    return lambda: torch.randn(*shape)


def words(n, *shape):
    return lambda: torch.randint(0, n, shape)


def tv(name, **kwargs):
    def make():
        import torchvision

        found = torchvision.models
        for part in name.split("."):
            found = getattr(found, part)
        return found(**kwargs)

    return make


ten = {"num_classes": 10}
ZOO = {
    "mobilenet_v2": vision(tv("mobilenet_v2", **ten), (4, 3, 64, 64)),
    "shufflenet_v2": vision(tv("shufflenet_v2_x0_5", **ten), (4, 3, 64, 64)),
    "regnet": vision(tv("regnet_y_400mf", **ten), (4, 3, 64, 64)),
    "mnasnet": vision(tv("mnasnet0_5", **ten), (4, 3, 64, 64)),
    "squeezenet": vision(tv("squeezenet1_1", **ten), (4, 3, 64, 64)),
    "googlenet": vision(tv("googlenet", aux_logits=False, init_weights=False, **ten), (4, 3, 64, 64)),
    "inception_v3": vision(tv("inception_v3", aux_logits=False, init_weights=False, **ten), (2, 3, 96, 96)),
    "swin_v2_t": vision(tv("swin_v2_t", **ten), (2, 3, 64, 64)),
    "maxvit": vision(tv("maxvit.MaxVit", input_size=(64, 64), stem_channels=16, partition_size=2, block_channels=[16, 32], block_layers=[1, 1],
                        head_dim=8, stochastic_depth_prob=0.2, **ten), (2, 3, 64, 64)),
    "fcn": vision(tv("segmentation.fcn_resnet50", weights_backbone=None, num_classes=4), (2, 3, 48, 48)),
    "deeplab": vision(tv("segmentation.deeplabv3_mobilenet_v3_large", weights_backbone=None, num_classes=4), (2, 3, 64, 64)),
    "r3d_18": vision(tv("video.r3d_18", **ten), (1, 3, 4, 32, 32)),
    "padded": of(Padded, words(200, 6, 32)),
    "encoder_decoder": of(EncoderDecoder, words(100, 4, 24), words(100, 4, 20)),
    "diffusion": of(Diffusion, noise(2, 3, 16, 16)),
    "mixer": of(Mixer, noise(4, 3, 32, 32)),
    "experts": of(Experts, noise(256, 64)),
    "sparse": of(Sparse, noise(128, 48)),
    "gru": of(Gru, words(50, 4, 12)),
    "vae": of(Vae, noise(8, 3, 32, 32)),
    "normed": of(Normed, noise(4, 3, 24, 24)),
    "custom": of(Custom, noise(256, 96)),
    "fourier": of(Fourier, noise(4, 3, 24, 24)),
    "llama": of(Llama, words(128, 4, 32)),
    "codes": of(Codes, noise(4, 3, 32, 32)),
    "in_place": of(InPlace, noise(4, 3, 24, 24)),
    "graphs": of(Graphs, noise(60, 32), words(60, 2, 300)),
    "scan": of(Scan, noise(4, 16, 32)),
    "critic": of(Critic, words(100, 64, 12)),
    "warp": of(Warp, noise(4, 3, 32, 32)),
}
