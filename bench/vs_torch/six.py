"""The six example models in PyTorch, with the parameters of examples/models: name -> made(dims) -> (model, inputs, labels)."""
import torch
import torch.nn.functional as F
from torch import nn


def conv_norm(c_in, c_out, size, stride=1, groups=1):
    return [nn.Conv2d(c_in, c_out, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(c_out)]


class Bottleneck(nn.Module):
    """The stride is in the 3x3."""

    def __init__(self, c_in, width, stride):
        super().__init__()
        self.branch = nn.Sequential(*conv_norm(c_in, width, 1), nn.ReLU(True), *conv_norm(width, width, 3, stride), nn.ReLU(True),
                                    *conv_norm(width, 4 * width, 1))
        same = stride == 1 and c_in == 4 * width
        self.skip = nn.Identity() if same else nn.Sequential(*conv_norm(c_in, 4 * width, 1, stride))

    def forward(self, x):
        return F.relu(self.branch(x) + self.skip(x), inplace=True)


def classifier(c, dropout=0.0):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout), nn.Linear(c, 1000)]


def resnet50():
    layers, c = [*conv_norm(3, 64, 7, 2), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)], 64
    for width, depth in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(depth):
            layers.append(Bottleneck(c, width, 2 if i == 0 and width > 64 else 1))
            c = 4 * width
    return nn.Sequential(*layers, *classifier(c))


class Inverted(nn.Module):
    def __init__(self, c_in, c_out, factor, stride):
        super().__init__()
        c, wide = factor * c_in, []
        if factor > 1:
            wide = [*conv_norm(c_in, c, 1), nn.ReLU6(True)]
        self.branch = nn.Sequential(*wide, *conv_norm(c, c, 3, stride, c), nn.ReLU6(True), *conv_norm(c, c_out, 1))
        self.adds = stride == 1 and c_in == c_out

    def forward(self, x):
        return x + self.branch(x) if self.adds else self.branch(x)


def mobilenet_v2():
    layers, c = [*conv_norm(3, 32, 3, 2), nn.ReLU6(True)], 32
    for factor, c_out, depth, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(depth):
            layers.append(Inverted(c, c_out, factor, stride if i == 0 else 1))
            c = c_out
    return nn.Sequential(*layers, *conv_norm(c, 1280, 1), nn.ReLU6(True), *classifier(1280, 0.2))


def vgg16():
    layers, c = [], 3
    for width, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(depth):
            layers += [nn.Conv2d(c, width, 3, padding=1), nn.ReLU(True)]
            c = width
        layers.append(nn.MaxPool2d(2))
    for c_in, c_out in ((7 * 7 * 512, 4096), (4096, 4096)):
        layers += [*([nn.Flatten()] if c_in != 4096 else []), nn.Linear(c_in, c_out), nn.ReLU(True), nn.Dropout(0.5)]
    return nn.Sequential(*layers, nn.Linear(4096, 1000))


class Dense(nn.Module):
    def __init__(self, c_in):
        super().__init__()
        self.branch = nn.Sequential(nn.BatchNorm2d(c_in), nn.ReLU(True), *conv_norm(c_in, 128, 1), nn.ReLU(True),
                                    nn.Conv2d(128, 32, 3, padding=1, bias=False))

    def forward(self, x):
        return torch.cat([x, self.branch(x)], 1)


def densenet121():
    layers, c = [*conv_norm(3, 64, 7, 2), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)], 64
    for i, depth in enumerate((6, 12, 24, 16)):
        if i:
            layers += [nn.BatchNorm2d(c), nn.ReLU(True), nn.Conv2d(c, c // 2, 1, bias=False), nn.AvgPool2d(2)]
            c //= 2
        for _ in range(depth):
            layers.append(Dense(c))
            c += 32
    return nn.Sequential(*layers, nn.BatchNorm2d(c), nn.ReLU(True), *classifier(c))


def twice(c_in, c_out):
    return nn.Sequential(*conv_norm(c_in, c_out, 3), nn.ReLU(True), *conv_norm(c_out, c_out, 3), nn.ReLU(True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [64, 128, 256, 512, 1024]
        self.down = nn.ModuleList(twice(a, b) for a, b in zip([3, *widths], widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * c, c, 2, 2) for c in widths[:-1])
        self.join = nn.ModuleList(twice(2 * c, c) for c in widths[:-1])
        self.head = nn.Conv2d(64, 2, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for i in (3, 2, 1, 0):
            x = self.join[i](torch.cat([kept[i], self.up[i](x)], 1))
        return self.head(x)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.ln1, self.ln2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (z.view(n, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.ln1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, c))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.blocks, self.norm = nn.Sequential(*(Block(768, 12) for _ in range(12))), nn.LayerNorm(768)

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[: ids.shape[1]]
        return F.linear(self.norm(self.blocks(x)), self.words.weight).flatten(0, 1)


def made(name, dims):
    """(model, input, labels)"""
    n = dims["N"]
    if name == "gpt2_small":
        ids = torch.randint(0, 50257, (n, dims["T"]))
        return Gpt(), ids, torch.randint(0, 50257, (n * dims["T"],))
    size = dims.get("H", 224)
    labels = torch.randint(0, 2, (n, size, size)) if name == "unet" else torch.randint(0, 1000, (n,))
    makers = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "vgg16": vgg16, "densenet121": densenet121, "unet": UNet}
    return makers[name](), torch.randn(n, 3, size, size), labels
