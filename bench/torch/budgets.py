"""Peaks and times of models within budgets, beside PyTorch's own means: one row a line of JSON.

    python bench/torch/budgets.py [--models resnet50,gpt] [--backends eager,inductor] [--budgets 0.8,0.6] [-o rows.json]
    python bench/torch/budgets.py --table rows.json

Each row is a process of its own. Peaks are of what PyTorch's allocator gave out during one step, gradients included, above what was
there before. A row's `equal` says whether loss, gradients, buffers and the generator's state after the step are, to the bit, those of
the same compile without a budget; `off` is the largest difference over the largest gradient.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from models import MODELS  # noqa: E402

BUDGETS = "0.8,0.6,0.45,0.35"


def peak_bytes(step):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as session:
        step()
    changes = sorted((e.start_ns(), e.nbytes()) for e in session.profiler.kineto_results.events() if e.name() == "[memory]")
    live = peak = 0
    for _, n_bytes in changes:
        live += n_bytes
        peak = max(peak, live)
    return peak


class WithLoss(torch.nn.Module):
    """The loss is a part of what is compiled."""

    def __init__(self, model):
        super().__init__()
        self.inner = model

    def forward(self, x):
        return self.inner(x).float().square().mean()


class Case:
    """A model, its step, and what a step leaves behind."""

    def __init__(self, name):
        torch.manual_seed(0)
        model, self.x, self.blocks = MODELS[name]()
        self.model = WithLoss(model).train()
        self.before = {k: v.clone() for k, v in self.model.state_dict().items()}

    def start(self):
        self.model.load_state_dict(self.before)
        for p in self.model.parameters():
            p.grad = None
        torch.manual_seed(7)

    def result(self, run):
        self.start()
        loss = run(self.x)
        loss.backward()
        gradients = [p.grad.clone() for p in self.model.parameters() if p.grad is not None]
        return [loss.detach(), *gradients, *(b.clone() for b in self.model.buffers()), torch.get_rng_state()]

    def step(self, run):
        for p in self.model.parameters():
            p.grad = None
        run(self.x).backward()

    def measure(self, run, steps=5):
        result = self.result(run)
        for p in self.model.parameters():
            p.grad = None
        peak = peak_bytes(lambda: self.step(run))
        times = []
        for _ in range(steps):
            began = time.perf_counter()
            self.step(run)
            times.append(time.perf_counter() - began)
        return result, peak, min(times)


def differences(a, b):
    equal = len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b))
    most = max((float(x.abs().max()) for x in b if x.is_floating_point() and x.numel()), default=0) or 1
    off = max((float((x - y).abs().max()) for x, y in zip(a, b) if x.is_floating_point() and x.numel()), default=0)
    return equal, off / most


def blocks_checkpointed(case):
    for block in case.blocks:
        block.forward = (lambda inner: lambda *a, **k: checkpoint(inner, *a, use_reentrant=False, **k))(block.forward)
    return case.model


def row(name, backend, means):
    """means: "plain", "blocks", "torch 0.5", "ebb" or "ebb 0.5"."""
    case = Case(name)
    kind, _, share = means.partition(" ")
    own = "inductor" if backend == "inductor" else "aot_eager"
    out = {"model": name, "backend": backend, "means": means}
    if kind == "ebb":
        import ebb.torch

        base = None
        if share:
            case_base = ebb.torch.compile(case.model, backend=backend)
            base = case.result(case_base)
            torch._dynamo.reset()
        run = ebb.torch.compile(case.model, budget=float(share) if share else None, backend=backend)
    elif kind == "blocks":
        run, base = blocks_checkpointed(case), None
        run = torch.compile(run, backend=own) if backend == "inductor" else run
    else:
        base = None
        if share:
            torch._functorch.config.activation_memory_budget = float(share)
        partition = "aot_eager_decomp_partition" if share and backend == "eager" else own
        run = case.model if kind == "plain" and backend == "eager" else torch.compile(case.model, backend=partition)
    began = time.perf_counter()
    try:
        result, peak, seconds = case.measure(run)
    except RuntimeError as error:
        if type(error).__name__ != "OverBudget":
            raise
        least = error.least_bytes
        torch._dynamo.reset()
        run = ebb.torch.compile(case.model, activations=least + least // 100, backend=backend)
        out["means"] += " (the smallest found)"
        result, peak, seconds = case.measure(run)
    out.update(peak=peak, seconds=seconds, total_s=time.perf_counter() - began)
    if base is not None:
        out["equal"], out["off"] = differences(result, base)
    if kind == "ebb":
        out.update(planned=run.planned_bytes, in_order=sum(p.bytes_in_order for p in run.plans), graphs=len(run.plans),
                   ops=sum(len(p.ops) for p in run.plans), recomputed=sum(p.n_recomputed for p in run.plans),
                   planning_s=sum(p.planning_seconds for p in run.plans),
                   predicted=sum(p.plan["time_ns"] for p in run.plans) / sum(op["time_ns"] for p in run.plans for op in p.ops) - 1)
    return out


def table(rows):
    print("| model, backend | means | planned MB | peak MB | peak/planned | ms | predicted | equal | planning s (ops) |\n|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        head = f"| {r['model']}, {r['backend']} | {r['means']} |"
        if "over" in r or "error" in r:
            print(f"{head} {r.get('over') or r['error']} | | | | | | |")
            continue
        planned = r.get("planned")
        equal = {None: "", True: "yes"}.get(r.get("equal"), f"off {r.get('off') or 0:.1e}")
        print(f"{head} {planned / 1e6:.1f} | {r['peak'] / 1e6:.1f} | {r['peak'] / planned:.3f} | {r['seconds'] * 1e3:.0f} | "
              f"{r['predicted']:+.1%} | {equal} | {r['planning_s']:.1f} ({r['ops']}) |" if planned else
              f"{head} | {r['peak'] / 1e6:.1f} | | {r['seconds'] * 1e3:.0f} | | | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--backends", default="eager,inductor")
    parser.add_argument("--budgets", default=BUDGETS)
    parser.add_argument("--others", default="plain,blocks,torch 0.5,torch 0.2")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--one", nargs=3, metavar=("MODEL", "BACKEND", "MEANS"), help="one row, in this process")
    parser.add_argument("--table", help="rows as a table")
    parser.add_argument("-o", "--output", default="rows.json")
    args = parser.parse_args()
    if args.table:
        return table([json.loads(line) for line in open(args.table, encoding="utf-8")])
    if args.one:
        return print("ROW " + json.dumps(row(*args.one)))
    means = [m for m in args.others.split(",") if m] + ["ebb"] + [f"ebb {b}" for b in args.budgets.split(",") if b]
    with open(args.output, "a", encoding="utf-8") as file:
        for name in args.models.split(","):
            for backend in args.backends.split(","):
                for m in means:
                    file.write(json.dumps(in_process(name, backend, m, args.timeout)) + "\n")
                    file.flush()


def in_process(name, backend, means, timeout):
    command = [sys.executable, __file__, "--one", name, backend, means]
    out = {"model": name, "backend": backend, "means": means}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {**out, "error": f"no answer within {timeout:.0f} s"}
    found = [line[4:] for line in done.stdout.splitlines() if line.startswith("ROW ")]
    return json.loads(found[0]) if found else {**out, "error": (done.stderr.strip().splitlines() or ["nothing said"])[-1][:200]}


main()
