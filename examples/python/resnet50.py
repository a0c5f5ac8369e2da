"""ResNet-50 with MegEngine's names, trained in fewer bytes:

    python resnet50.py --batch 32 --size 224                       # in place
    python resnet50.py --batch 32 --size 224 --budget 2GiB         # the least added time within 2 GiB
    python resnet50.py --batch 32 --size 224 --sublinear 20        # MegEngine's search: fewest bytes

A program for MegEngine runs when its imports say `megengine` here; --budget and plan() are Ebb's own.
"""

import argparse
import time

import numpy as np

import ebb as mge
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb.autodiff import GradManager
from ebb.jit import SublinearMemoryConfig, trace


class Bottleneck(M.Module):
    def __init__(self, in_channels, channels, stride):
        super().__init__()
        self.conv1 = M.Conv2d(in_channels, channels, 1, bias=False)
        self.bn1 = M.BatchNorm2d(channels)
        self.conv2 = M.Conv2d(channels, channels, 3, stride, padding=1, bias=False)
        self.bn2 = M.BatchNorm2d(channels)
        self.conv3 = M.Conv2d(channels, 4 * channels, 1, bias=False)
        self.bn3 = M.BatchNorm2d(4 * channels)
        self.downsample = M.Identity()
        if stride != 1 or in_channels != 4 * channels:
            self.downsample = M.Sequential(
                M.Conv2d(in_channels, 4 * channels, 1, stride, bias=False), M.BatchNorm2d(4 * channels)
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + self.downsample(x))


class ResNet50(M.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = M.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = M.BatchNorm2d(64)
        self.maxpool = M.MaxPool2d(3, 2, 1)
        blocks, in_channels = [], 64
        for stage, n in enumerate((3, 4, 6, 3)):
            for i in range(n):
                channels = 64 << stage
                blocks.append(Bottleneck(in_channels, channels, 2 if stage and not i else 1))
                in_channels = 4 * channels
        self.blocks = M.Sequential(*blocks)
        self.fc = M.Linear(in_channels, num_classes)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = F.avg_pool2d(self.blocks(x), x.shape[2] // 8)
        return self.fc(F.flatten(x, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=224, help="pixels, a multiple of 32")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--budget", help="bytes of the whole step, such as 2GiB")
    parser.add_argument("--sublinear", type=int, metavar="N", help="MegEngine's search, of N generations")
    parser.add_argument("--eager", action="store_true", help="op by op")
    args = parser.parse_args()

    mge.random.seed(1)
    net = ResNet50()
    gm = GradManager().attach(net.parameters())
    opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

    def train_step(image, label, *, net, gm, opt):
        with gm:
            loss = F.loss.cross_entropy(net(image), label)
            gm.backward(loss)
        opt.step().clear_grad()
        return loss

    if not args.eager:
        config = None if args.sublinear is None else SublinearMemoryConfig(genetic_nr_iter=args.sublinear)
        train_step = trace(train_step, symbolic=True, sublinear_memory_config=config, budget=args.budget)

    rng = np.random.default_rng(1)
    for step in range(args.steps):
        image = mge.tensor(rng.standard_normal((args.batch, 3, args.size, args.size)).astype(np.float32))
        label = mge.tensor(rng.integers(0, 1000, args.batch))
        begin = time.perf_counter()
        loss = train_step(image, label, net=net, gm=gm, opt=opt).item()
        print(f"step {step}: loss {loss:.4f}, {time.perf_counter() - begin:.3f} s")
    if args.eager:
        print(f"peak {mge.device.get_max_allocated_memory() / 2**20:.1f} MiB")
        return
    plan = train_step.plan()
    print(
        f"planned {plan['total_bytes'] / 2**20:.1f} MiB ({plan['baseline_total_bytes'] / 2**20:.1f} in place), "
        f"{plan['n_recomputed']} of {plan['n_steps']} ops run again, "
        f"time +{100 * (plan['time_ns'] / plan['baseline_time_ns'] - 1):.1f} % by the plan"
    )


if __name__ == "__main__":
    main()
