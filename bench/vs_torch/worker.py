"""PyTorch's side of vs_torch: a process of one variant. Prints one JSON line.

    worker.py VARIANT BATCH SIZE STEPS THREADS [--version]
"""
import json
import sys
import time

import torch
import torchvision
from torch.utils.checkpoint import checkpoint


def status(name):
    """Bytes of a line of /proc/self/status: VmRSS, VmHWM."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


class Again(torch.nn.Module):
    """A block whose inner activations are made again in backward."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)


def step(model, optimizer, x, labels):
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
    return loss


def train(model, x, labels, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    times = []
    for _ in range(steps):
        begin = time.perf_counter_ns()
        step(model, optimizer, x, labels).item()
        times.append(time.perf_counter_ns() - begin)
    return times


def idle():
    """What a process holds that has trained something tiny: libraries, threads, caches of kernels."""
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    train(model, torch.randn(1, 3, 8, 8), torch.zeros(1, dtype=torch.long), 2)
    return status("VmRSS")


def main():
    if "--version" in sys.argv:
        print(json.dumps({"torch": torch.__version__, "torchvision": torchvision.__version__}))
        return
    variant, batch, size, steps, threads = sys.argv[1], *(int(word) for word in sys.argv[2:6])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    idle_bytes = idle()
    model = torchvision.models.resnet50().train()
    x, labels = torch.randn(batch, 3, size, size), torch.randint(0, 1000, (batch,))
    if variant != "plain":
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    if variant == "checkpoint":
        for layer in (model.layer1, model.layer2, model.layer3, model.layer4):
            for i, block in enumerate(layer):
                layer[i] = Again(block)
    times = train(model, x, labels, steps)
    print(json.dumps({"ns": times, "idle_bytes": idle_bytes, "peak_bytes": status("VmHWM")}))


main()
