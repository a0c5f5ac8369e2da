"""PyTorch's side of gpu-check: one process a variant, which stays and runs steps when it is asked to.

    torch_worker.py VARIANT BATCH SIZE DEVICE     VARIANT: eager, compile, checkpoint; + "-tf32"
    stdin: a number of steps a line    stdout: a line of JSON each: {"ns": [...], "peak_bytes", "reserved_bytes"}

ResNet-50 v1.5 is written out here: torchvision is not everywhere.
"""
import json
import sys
import time

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, n_in, width, stride):
        super().__init__()
        n_out = 4 * width

        def conv(a, b, k, s):
            return [nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b)]

        relu = nn.ReLU(inplace=True)
        self.body = nn.Sequential(*conv(n_in, width, 1, 1), relu, *conv(width, width, 3, stride), relu, *conv(width, n_out, 1, 1))
        self.skip = nn.Sequential(*conv(n_in, n_out, 1, stride)) if n_in != n_out or stride > 1 else nn.Identity()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + self.skip(x))


class ResNet50(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.again = again
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        blocks, n_in = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Block(n_in, width, stride if i == 0 else 1))
                n_in = 4 * width
        self.blocks = nn.ModuleList(blocks)
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
        return self.fc(x.mean((2, 3)))


def main():
    variant, batch, size, device = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    tf32, cuda = variant.endswith("-tf32"), device.startswith("cuda")
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    model = ResNet50(variant.startswith("checkpoint")).to(device, memory_format=torch.channels_last).train()
    forward = torch.compile(model) if variant.startswith("compile") else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    x = torch.randn(batch, 3, size, size, device=device).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (batch,), device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(forward(x), labels).backward()
        optimizer.step()

    def wait():
        if cuda:
            torch.cuda.synchronize()

    print(json.dumps({"torch": torch.__version__, "n_params": sum(p.numel() for p in model.parameters())}), flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            wait()
            begin = time.perf_counter_ns()
            step()
            wait()
            times.append(time.perf_counter_ns() - begin)
        told = {"ns": times}
        if cuda:
            told.update(peak_bytes=torch.cuda.max_memory_allocated(), reserved_bytes=torch.cuda.max_memory_reserved())
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
