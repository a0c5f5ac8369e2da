"""Twelve models at sizes that two processors train in about a second a step: name -> (model, inputs, blocks to checkpoint)."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """A transformer's block, pre-norm; `causal` for GPT."""

    def __init__(self, width, heads, dropout, causal):
        super().__init__()
        self.heads, self.dropout, self.causal = heads, dropout, causal
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (z.view(n, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.ln1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + F.dropout(self.out(y.transpose(1, 2).reshape(n, t, c)), self.dropout, self.training)
        return x + self.mlp(self.ln2(x))


class Transformer(nn.Module):
    def __init__(self, causal, words=1000, width=192, heads=6, depth=6, length=128, dropout=0.1):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList([Block(width, heads, dropout, causal) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Twice(nn.Sequential):
    def __init__(self, c_in, c_out):
        layers = []
        for c in (c_in, c_out):
            layers += [nn.Conv2d(c, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU()]
        super().__init__(*layers)


class UNet(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        widths = [width << i for i in range(depth + 1)]
        self.down = nn.ModuleList([Twice(a, b) for a, b in zip([3, *widths], widths)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:])])
        self.join = nn.ModuleList([Twice(2 * a, a) for a in widths[:-1]])
        self.head = nn.Conv2d(width, 4, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for i in reversed(range(len(self.up))):
            x = self.join[i](torch.cat([kept[i], self.up[i](x)], 1))
        return self.head(x)


class Recurrent(nn.Module):
    """Prints its state between the layers: two graphs."""

    def __init__(self, width=128):
        super().__init__()
        self.words = nn.Embedding(500, width)
        self.cells = nn.ModuleList([nn.LSTMCell(width, width) for _ in range(2)])
        self.head = nn.Linear(width, 500)

    def layer(self, cell, xs):
        h = c = xs.new_zeros(xs.shape[1], xs.shape[2])
        outs = []
        for x in xs:
            h, c = cell(x, (h, c))
            outs.append(h)
        return torch.stack(outs)

    def forward(self, tokens):
        x = self.layer(self.cells[0], self.words(tokens))
        torch._dynamo.graph_break()
        return self.head(self.layer(self.cells[1], x))


def vision(name, batch, size, blocks, **kwargs):
    import torchvision

    def make():
        model = getattr(torchvision.models, name)(weights=None, num_classes=10, **kwargs)
        return model, torch.randn(batch, 3, size, size), blocks(model)

    return make


def tokens(model, words, shape, blocks):
    def make():
        made = model()
        return made, torch.randint(0, words, shape), blocks(made)

    return make


def images(model, shape, blocks):
    def make():
        made = model()
        return made, torch.randn(*shape), blocks(made)

    return make


def stages(model):
    return [b for stage in (model.layer1, model.layer2, model.layer3, model.layer4) for b in stage]


def between_pools(model):
    """VGG's layers from one pool to the next, each as one."""
    blocks = [[]]
    for layer in model.features:
        blocks[-1].append(layer)
        if isinstance(layer, nn.MaxPool2d):
            blocks.append([])
    model.features = nn.Sequential(*[nn.Sequential(*block) for block in blocks if block])
    return list(model.features)


MODELS = {
    "resnet50": vision("resnet50", 16, 64, stages),
    "vgg16_bn": vision("vgg16_bn", 8, 64, between_pools),
    "densenet121": vision("densenet121", 4, 64, lambda m: [b for n, b in m.features.named_children() if n.startswith("denseblock")]),
    "mobilenet_v3": vision("mobilenet_v3_large", 16, 64, lambda m: list(m.features)[1:-1]),
    "efficientnet_b0": vision("efficientnet_b0", 8, 64, lambda m: [b for s in list(m.features)[1:-1] for b in s]),
    "convnext_tiny": vision("convnext_tiny", 8, 64, lambda m: [b for s in list(m.features)[1::2] for b in s]),
    "swin_t": vision("swin_t", 8, 64, lambda m: [b for s in list(m.features)[1::2] for b in s]),
    "vit_b_16": vision("vit_b_16", 16, 64, lambda m: list(m.encoder.layers), image_size=64),
    "unet": images(UNet, (4, 3, 64, 64), lambda m: [*m.down, *m.join]),
    "gpt": tokens(lambda: Transformer(True), 1000, (8, 128), lambda m: list(m.blocks)),
    "bert": tokens(lambda: Transformer(False, length=96), 1000, (8, 96), lambda m: list(m.blocks)),
    "lstm": tokens(Recurrent, 500, (24, 32), lambda m: []),
}
