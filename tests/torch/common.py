"""What the tests share: small models, a step's results, and its peak."""

import copy

import torch
from torch import nn

import ebb.torch

torch.set_num_threads(1)


def convolutions(n=6, width=16):
    layers = [nn.Conv2d(3, width, 3, padding=1)]
    for _ in range(n):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout(0.3)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * 256, 3))


class Attention(nn.Module):
    """Views in every way: chunks, transposes, slices, an in-place op on a slice of a copy."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (z.view(n, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.norm(x)).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, c)
        y = self.out(y).clone()
        y[:, ::2].mul_(2)
        return x + nn.functional.dropout(nn.functional.gelu(y), 0.2, self.training)


def result(model, run, x):
    """Loss, gradients, buffers and the generator's state after one step from the same seed."""
    torch.manual_seed(5)
    for p in model.parameters():
        p.grad = None
    loss = run(x).float().square().mean()
    loss.backward()
    return [loss.detach(), *(p.grad.clone() for p in model.parameters()), *(b.clone() for b in model.buffers()), torch.get_rng_state()]


def same(a, b):
    return len(a) == len(b) and all(map(torch.equal, a, b))


def pair(model, **options):
    """A copy to run as it is, and one compiled within a budget: (model, run) each."""
    torch._dynamo.reset()
    twin = copy.deepcopy(model)
    return (model, model), (twin, ebb.torch.compile(twin, **options))


def peak_of_step(model, run, x):
    def step():
        run(x).float().square().mean().backward()

    for p in model.parameters():
        p.grad = None
    return ebb.torch.peak_bytes(step)
