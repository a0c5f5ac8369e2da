#!/usr/bin/env python3
"""Exports the models of the table in docs/records to a folder: torchvision's with random weights, a small GPT and a U-Net, by both of
PyTorch's exporters. zoo.py DIR [NAME ...]

Pictures are as small as each network allows. Needs torch, torchvision, onnx and onnxscript; check.py reads what this writes."""
import contextlib
import io
import pathlib
import sys
import warnings

import torch
import torchvision
from torch import nn
from torch.nn import functional as F

VISION = {  # and the side of its pictures
    "alexnet": 224, "vgg19": 224, "resnet50": 64, "densenet121": 64, "googlenet": 64, "inception_v3": 96, "shufflenet_v2_x1_0": 64,
    "squeezenet1_1": 64, "mobilenet_v2": 64, "mobilenet_v3_small": 64, "efficientnet_b0": 64, "convnext_tiny": 64, "regnet_y_400mf": 64}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (y.reshape(n, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, words=211, width=64, heads=4, layers=3, places=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(places, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def convs(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(),
                         nn.Conv2d(b, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, widths=(16, 32, 64), classes=3):
        super().__init__()
        self.down = nn.ModuleList(convs(a, b) for a, b in zip((3, *widths[:-1]), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths[:-1], widths[1:]))
        self.join = nn.ModuleList(convs(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for i in reversed(range(len(self.up))):
            x = self.join[i](torch.cat([kept[i], self.up[i](x)], 1))
        return self.head(x)


def made(name):
    torch.manual_seed(1)
    if name == "gpt":
        return Gpt(), torch.zeros(2, 16, dtype=torch.int64)
    if name == "unet":
        return UNet(), torch.zeros(2, 3, 32, 32)
    more = {"aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = getattr(torchvision.models, name)(weights=None, num_classes=100, **more)
    return net, torch.zeros(2, 3, VISION[name], VISION[name])


def main(folder, *names):
    for name in names or [*VISION, "gpt", "unet"]:
        net, x = made(name)
        for module in net.modules():  # statistics that are not those of no data
            if isinstance(module, nn.BatchNorm2d):
                nn.init.uniform_(module.running_mean, -0.1, 0.1)
                nn.init.uniform_(module.running_var, 0.5, 1.5)
        for kind in ("old", "dynamo"):
            path = pathlib.Path(folder) / f"{name}-{kind}.onnx"
            try:
                with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                    warnings.simplefilter("ignore")
                    if kind == "old":
                        torch.onnx.export(net.eval(), (x,), str(path), dynamo=False, opset_version=17, input_names=["x"])
                    else:
                        torch.onnx.export(net.eval(), (x,), str(path), dynamo=True, external_data=False, input_names=["x"], verbose=False)
            except Exception as error:  # the exporter's own limits are rows of the table, too
                print(f"{name}-{kind}: not exported: {str(error).splitlines()[0][:150]}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
