"""Models of models.py as programs on Ebb's kernels (ebb.torch.to_model), beside PyTorch: a row a model, as a table.

    python bench/torch/programs.py [--models resnet50,vgg16_bn,densenet121,mobilenet_v3,gpt] [--budget 0.7] [--steps 3]

`Ebb's error` and `PyTorch's`: the distance of all gradients together from those in float64, over these' norm, without dropout. `bits`:
whether losses and parameters after some steps within the budget, a share of what the in-place plan takes beyond parameters and states, or
the smallest found, are those of the plan in place. Times are each program's fastest step, alternating; on a quiet machine they say something.
"""

import argparse
import copy
import re
import time

import torch
import torch.nn.functional as F
from models import MODELS

import ebb.torch


class Entropy(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.inner = model

    def forward(self, x, labels):
        found = self.inner(x)
        return F.cross_entropy(found.reshape(-1, found.shape[-1]), labels.reshape(-1))


def case(name):
    torch.manual_seed(0)
    model, x, _ = MODELS[name]()
    model = Entropy(model).train()
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        if isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0
    found = model.inner(x)
    labels = torch.randint(0, found.shape[-1], found.shape[:-1])
    return model, (x, labels)


def gradients(model, args):
    for p in model.parameters():
        p.grad = None
    model(*args).backward()
    return {n: p.grad for n, p in model.named_parameters()}


def error(found, true):
    away = sum(float((found[n].double() - g).square().sum()) for n, g in true.items())
    return (away / sum(float(g.square().sum()) for g in true.values())) ** 0.5


def least_of(program, memory):
    try:
        ebb.torch.to_model(program, budget=1, **memory)
    except ebb.OverBudget as refused:
        return int(re.search(r"needs (\d+) bytes", str(refused))[1])
    raise AssertionError("a budget of one byte")


def within(program, whole, share, memory):
    plan = whole.plan()
    kept = plan["total_bytes"] - plan["arena_bytes"]
    wanted = kept + int(share * plan["arena_bytes"])
    try:
        return ebb.torch.to_model(program, budget=wanted, **memory)
    except ebb.OverBudget:
        least = least_of(program, memory)
        return ebb.torch.to_model(program, budget=least + (plan["total_bytes"] - least) // 8, **memory)


def fastest(runs, n):
    """Of each run: the least of n seconds, alternating."""
    best = [float("inf")] * len(runs)
    for _ in range(n):
        for i, run in enumerate(runs):
            began = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def row(name, share, steps):
    model, args = case(name)
    program, memory = torch.export.export(copy.deepcopy(model), args), {"momentum": 0.9, "time_limit": 3.0}
    net = ebb.torch.to_model(program, gradients=True)
    net.step(*args, lr=0.0)
    true = gradients(copy.deepcopy(model).double(), [a.double() if a.is_floating_point() else a for a in args])
    errors = error(net.gradients(), true), error(gradients(copy.deepcopy(model), args), true)
    whole = ebb.torch.to_model(program, **memory)
    tight = within(program, whole, share, memory)
    losses = [[float(run.step(*args, lr=0.05)) for _ in range(steps)] for run in (whole, tight)]
    same = losses[0] == losses[1] and all(torch.equal(a, b) for a, b in zip(whole.tensors().values(), tight.tensors().values()))
    allocated = all(n.block_bytes == n.plan()["total_bytes"] for n in (whole, tight))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def torch_step():
        optimizer.zero_grad()
        model(*args).backward()
        optimizer.step()

    times = fastest([torch_step, lambda: whole.step(*args, lr=0.05), lambda: tight.step(*args, lr=0.05)], steps)
    milliseconds = " | ".join(f"{1e3 * t:.0f}" for t in times)
    return (f"| {name} | {errors[0]:.1e} | {errors[1]:.1e} | {whole.block_bytes / 1e6:.1f} | {tight.block_bytes / 1e6:.1f} | "
            f"{'yes' if allocated else 'no'} | {'yes' if same else 'no'} | {milliseconds} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="resnet50,vgg16_bn,densenet121,mobilenet_v3,gpt")
    parser.add_argument("--budget", type=float, default=0.7)
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    print("| model | Ebb's error | PyTorch's | block MB in place | within the budget | planned = allocated | bits | ms PyTorch | in place | within |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in args.models.split(","):
        print(row(name, args.budget, args.steps), flush=True)


if __name__ == "__main__":
    main()
