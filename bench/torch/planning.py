"""What planning adds to a compile, part by part: seconds of the compiling thread's processor time, and of the clock.

    python bench/torch/planning.py [--blocks 56] [--backend eager|inductor] [--budget 0.6]

The model is a transformer of so many blocks: 56 make some 2,000 ops. `plain` compiles the same model with PyTorch's aot_eager.
"""

import argparse
import time

import torch
from models import Transformer

PARTS = (("_joint", "Joint", "__init__"), ("_costs", None, "measure"), ("_plan", "Document", "__init__"), ("_graphs", None, "planned"),
         ("_graphs", "GraphPlan", "__init__"), ("_emit", "Emitter", "emit"), ("_run", None, "make_function"))


def watched(place, name, spent):
    inner = getattr(place, name)

    def outer(*args, **kwargs):
        began = time.thread_time(), time.monotonic()
        try:
            return inner(*args, **kwargs)
        finally:
            worked, passed = spent.get(outer, (0, 0))
            spent[outer] = worked + time.thread_time() - began[0], passed + time.monotonic() - began[1]

    setattr(place, name, outer)
    return outer


def compiled_in(run, x):
    """A first step, without what its ops take: that of a second one."""
    began = time.process_time(), time.monotonic()
    run(x).square().mean().backward()
    first = time.process_time() - began[0], time.monotonic() - began[1]
    began = time.process_time(), time.monotonic()
    run(x).square().mean().backward()
    return first[0] - time.process_time() + began[0], first[1] - time.monotonic() + began[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=56)
    parser.add_argument("--backend", default="eager")
    parser.add_argument("--budget", type=float, default=0.6)
    args = parser.parse_args()
    import ebb.torch

    torch.set_num_threads(1)
    model, x = Transformer(True, 100, 32, 2, args.blocks, 32), torch.randint(0, 100, (2, 32))
    first = Transformer(True, 100, 32, 2, 1, 32)
    for run in (torch.compile(first, backend="aot_eager"), ebb.torch.compile(first, backend=args.backend, costs="roofline")):  # what it imports
        compiled_in(run, x)
    torch._dynamo.reset()
    plain = compiled_in(torch.compile(model, backend="aot_eager"), x)
    torch._dynamo.reset()
    spent, names = {}, {}
    for room, kind, name in PARTS:
        place = getattr(ebb.torch, room)
        names[watched(getattr(place, kind) if kind else place, name, spent)] = f"{room}.{kind or name}"
    run = ebb.torch.compile(model, budget=args.budget, backend=args.backend)
    whole = compiled_in(run, x)
    print(f"{sum(len(p.ops) for p in run.plans)} ops, {args.backend}, budget {args.budget}, {sum(p.n_recomputed for p in run.plans)} run again: processor, clock")
    for outer, label in names.items():
        print("{:24} {:6.2f} s {:6.2f} s".format(label, *spent.get(outer, (0, 0))))
    print("{:24} {:6.2f} s {:6.2f} s".format("all parts", *map(sum, zip(*spent.values()))))
    print("{:24} {:6.2f} s {:6.2f} s".format("compile, all threads", *whole))
    print("{:24} {:6.2f} s {:6.2f} s".format("plain", *plain))


if __name__ == "__main__":
    main()
