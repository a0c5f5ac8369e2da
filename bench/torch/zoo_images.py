"""Models of zoo.py that read images."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations


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
