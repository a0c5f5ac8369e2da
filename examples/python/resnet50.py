#!/usr/bin/env python3
"""ResNet-50 by modules, on scanned digits: a training step that becomes a plan within a budget by being called.

    resnet50.py [--batch 32] [--image 32] [--steps 20] [--budget 75%] [--eager] [--report step.html]

Run the cells one after the other in a notebook, or the file as it is. The digits are those of ../resnet50.
"""

# %% The network, after He et al., "Deep residual learning for image recognition", CVPR 2016
import argparse
import csv
import gzip
import pathlib
import time

import numpy as np

import ebb
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb.autodiff import GradManager
from ebb.jit import trace


class Bottleneck(M.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.narrow = M.Sequential(M.Conv2d(inputs, width, 1, bias=False), M.BatchNorm2d(width), M.ReLU())
        self.middle = M.Sequential(
            M.Conv2d(width, width, 3, stride=stride, padding=1, bias=False), M.BatchNorm2d(width), M.ReLU()
        )
        self.widen = M.Sequential(M.Conv2d(width, 4 * width, 1, bias=False), M.BatchNorm2d(4 * width))
        self.skip = M.Identity()
        if stride != 1 or inputs != 4 * width:
            self.skip = M.Sequential(
                M.Conv2d(inputs, 4 * width, 1, stride=stride, bias=False), M.BatchNorm2d(4 * width)
            )

    def forward(self, x):
        return F.relu(self.widen(self.middle(self.narrow(x))) + self.skip(x))


class ResNet50(M.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.stem = M.Sequential(
            M.Conv2d(channels, 64, 7, stride=2, padding=3, bias=False), M.BatchNorm2d(64), M.ReLU(),
            M.MaxPool2d(3, stride=2, padding=1),
        )  # fmt: skip
        blocks, inputs = [], 64
        for stage, (n, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
            for i in range(n):
                blocks.append(Bottleneck(inputs, width, 2 if i == 0 and stage > 0 else 1))
                inputs = 4 * width
        self.blocks = M.Sequential(*blocks)
        self.fc = M.Linear(inputs, classes)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.fc(F.mean(F.mean(x, axis=3), axis=2))


# %% The digits: 8 x 8 scans, each pixel repeated
def digits(path, image):
    with gzip.open(path, "rt") as file:
        rows = np.array([[float(x) for x in row] for row in csv.reader(file)], dtype="float32")
    scans = rows[:, :64].reshape(-1, 1, 8, 8) / 16 - 0.5
    times = -(-image // 8)
    return scans.repeat(times, 2).repeat(times, 3)[:, :, :image, :image], rows[:, 64].astype("int32")


# %% Flags
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--image", type=int, default=32)
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--budget", default=None, help="11GiB: all bytes of a step, parameters included; or a share of what it takes in place, 75%%")
parser.add_argument("--eager", action="store_true", help="op by op, without a plan")
parser.add_argument("--report", default=None, help="a page that shows where each byte lives")
args = parser.parse_args()

# %% The training step, as for any other framework
ebb.random.seed(1)
net = ResNet50(1, 10)
net.train()
params = list(net.parameters())
gm = GradManager().attach(params)
opt = optim.SGD(params, lr=0.005, momentum=0.9, weight_decay=1e-4)


def step(images, labels):
    with gm:
        loss = F.nn.cross_entropy(net(images), labels)
        gm.backward(loss)
    opt.step().clear_grad()
    return loss


if not args.eager:
    step = trace(step, symbolic=True, budget=args.budget)

# %% Training
data = pathlib.Path(__file__).resolve().parent.parent / "resnet50" / "data" / "digits.csv.gz"
images, labels = digits(data, args.image)
order = np.random.default_rng(1).permutation(len(images))
began, losses = time.perf_counter(), []
for i in range(args.steps):
    at = order[[(i * args.batch + k) % len(order) for k in range(args.batch)]]
    losses.append(step(ebb.tensor(images[at]), ebb.tensor(labels[at])).item())
    print(f"step {i + 1}: loss {losses[-1]:.4f}, {time.perf_counter() - began:.1f} s", flush=True)

# %% What it took
if not args.eager:
    plan = step.plan()
    mib = 1 / 2**20
    print(f"planned: {plan['total_bytes'] * mib:.1f} MiB ({plan['baseline_total_bytes'] * mib:.1f} without recomputation), "
          f"{plan['n_recomputed']} of {plan['n_steps']} ops run again, "
          f"+{100 * (plan['time_ns'] / plan['baseline_time_ns'] - 1):.1f} % of time by the plan")  # fmt: skip
    if args.report:
        step.report(args.report)
