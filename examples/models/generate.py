#!/usr/bin/env python3
"""Writes the example models as text graphs (docs/ir.md).

    generate.py            writes <model>.ebb beside this file
    generate.py --check    writes nothing; exit 1 when a file is not what would be written

The networks, their value names and their parameter counts are torchvision's, so that weights can be carried
over by name: `layer1.0.conv1.weight` is what it is there. Sizes that a user binds: N images of H by H
pixels in K classes; a model's first lines name any others.
"""
import pathlib
import sys

from convolutional import basic_block, bottleneck, densenet121, mobilenet_v2, resnet, unet, vgg16
from transformer import gpt2_small


def models():
    return {
        "resnet18": resnet("resnet18", ["ResNet-18: 11,689,512 parameters at K=1000."], basic_block, (2, 2, 2, 2)),
        "resnet50": resnet(
            "resnet50",
            ["ResNet-50 v1.5 (the stride in the 3x3 convolution): 25,557,032 parameters at K=1000."],
            bottleneck,
            (3, 4, 6, 3),
        ),
        "resnet101": resnet(
            "resnet101",
            ["ResNet-101 v1.5 (the stride in the 3x3 convolution): 44,549,160 parameters at K=1000."],
            bottleneck,
            (3, 4, 23, 3),
        ),
        "mobilenet_v2": mobilenet_v2(),
        "vgg16": vgg16(),
        "densenet121": densenet121(),
        "unet": unet(),
        "gpt2_small": gpt2_small(),
    }


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for name, text in models().items():
        path = pathlib.Path(__file__).parent / f"{name}.ebb"
        if not arguments:
            path.write_text(text, encoding="ascii")
        elif not path.exists() or path.read_text(encoding="ascii") != text:
            print(f"{path} is not what {pathlib.Path(__file__).name} writes: run it", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
