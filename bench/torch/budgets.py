"""Peaks and times of models within budgets, beside PyTorch's own means: one row a line of JSON.

    python bench/torch/budgets.py [--models resnet50,gpt] [--backends eager,inductor] [--budgets 0.8,0.6] [-o rows.json]
    python bench/torch/budgets.py --table rows.json
    python bench/torch/frontier.py rows.json frontier.svg

Rows that the file has already are not measured again: an interrupted run goes on where it stopped, and a row without an answer is tried
again. Times are worth something on a quiet machine only; `--note` says in each row what it ran on.

Models are those of models.py, and by name those of zoo.py. Each row is a process of its own but those of Ebb's budgets for a model, which
share one. Peaks are of what PyTorch's allocator gave out during one step, gradients included, above what was
there before. A row's `equal` says whether loss, gradients, buffers and the generator's state after the step are, to the bit, those of
the same compile without a budget; `off` is the largest difference over the largest gradient.
"""

import argparse
import copy
import functools
import json
import pathlib
import subprocess
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from models import MODELS  # noqa: E402
from zoo import ZOO  # noqa: E402

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

    def forward(self, *args):
        found = [t for t in tree_leaves(self.inner(*args)) if isinstance(t, torch.Tensor) and t.requires_grad]
        return sum((t.abs() if t.is_complex() else t).float().square().mean() for t in found)


class Case:
    """A model, its step, and what a step leaves behind."""

    def __init__(self, name):
        torch.manual_seed(0)
        model, x, self.blocks = {**MODELS, **ZOO}[name]()
        self.args = x if isinstance(x, tuple) else (x,)
        self.model = WithLoss(model).train()
        self.before = copy.deepcopy(self.model.state_dict())

    def start(self):
        self.model.load_state_dict(self.before)
        for p in self.model.parameters():
            p.grad = None
        torch.manual_seed(7)

    def result(self, run):
        self.start()
        loss = run(*self.args)
        loss.backward()
        gradients = [p.grad.clone() for p in self.model.parameters() if p.grad is not None]
        return [loss.detach(), *gradients, *(b.clone() for b in self.model.buffers()), torch.get_rng_state()]

    def step(self, run):
        for p in self.model.parameters():
            p.grad = None
        run(*self.args).backward()

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


PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "convolution", "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math"}


def products_are_saved(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op._schema.name.split("::")[1] in PRODUCTS else CheckpointPolicy.PREFER_RECOMPUTE


def blocks_checkpointed(case, selective):
    """Each block runs again in backward; selectively: all of it but products."""
    more = {"context_fn": functools.partial(create_selective_checkpoint_contexts, products_are_saved)} if selective else {}
    for block in case.blocks:
        block.forward = (lambda inner: lambda *a, **k: checkpoint(inner, *a, use_reentrant=False, **more, **k))(block.forward)
    return case.model


def rows_of(name, backend, means):
    """means: "plain", "blocks", "selective", "torch 0.5"; or several, all of Ebb: "ebb", "ebb 0.5"."""
    case = Case(name)
    if means[0].split()[0] != "ebb":
        yield {"model": name, "backend": backend, "means": means[0], **other(case, backend, means[0])}
        return
    base = None
    for one in means:
        share = one.partition(" ")[2]
        if base is None and share:
            base = case.result(compiled(case, backend, None))
        found, run, (result, peak, seconds) = within(case, backend, float(share) if share else None)
        row = {"model": name, "backend": backend, "means": one + found, "peak": peak, "seconds": seconds}
        if base is not None:
            row["equal"], row["off"] = differences(result, base)
        base = base or result
        row.update(planned=run.planned_bytes, in_order=sum(p.bytes_in_order for p in run.plans), graphs=len(run.plans),
                   ops=sum(len(p.ops) for p in run.plans), recomputed=sum(p.n_recomputed for p in run.plans),
                   planning_s=sum(p.planning_seconds for p in run.plans),
                   predicted=sum(p.plan["time_ns"] for p in run.plans) / sum(op["time_ns"] for p in run.plans for op in p.ops) - 1)
        yield row


def compiled(case, backend, share):
    import ebb.torch

    torch._dynamo.reset()
    return ebb.torch.compile(case.model, budget=share, backend=backend)


def within(case, backend, share):
    """A share that is below the least of a graph becomes that least."""
    found = ""
    while True:
        run = compiled(case, backend, share)
        try:
            return found, run, case.measure(run)
        except RuntimeError as error:
            if type(error).__name__ != "OverBudget" or share == 1:
                raise
            share = min(1.0, 1.01 * max(share, error.least_share))
            found = f" (the smallest found: {share:.2f})"


def other(case, backend, means):
    kind, _, share = means.partition(" ")
    own = "inductor" if backend == "inductor" else "aot_eager"
    if share:
        torch._functorch.config.activation_memory_budget = float(share)
    if kind in ("blocks", "selective"):
        run = blocks_checkpointed(case, kind == "selective")
        run = torch.compile(run, backend=own) if backend == "inductor" else run
    elif kind == "plain" and backend == "eager":
        run = case.model
    else:
        run = torch.compile(case.model, backend="aot_eager_decomp_partition" if share and backend == "eager" else own)
    _, peak, seconds = case.measure(run)
    return {"peak": peak, "seconds": seconds}


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
    parser.add_argument("--others", default="plain,blocks,selective,torch 0.8,torch 0.6,torch 0.45,torch 0.35,torch 0.2")
    parser.add_argument("--note", default="", help="kept in each row: which machine, and what else it was doing")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--one", nargs=3, metavar=("MODEL", "BACKEND", "MEANS"), help="rows in this process; MEANS joined by commas")
    parser.add_argument("--table", help="rows as a table")
    parser.add_argument("-o", "--output", default="rows.json")
    args = parser.parse_args()
    if args.table:
        return table([json.loads(line) for line in open(args.table, encoding="utf-8")])
    if args.one:
        for row in rows_of(args.one[0], args.one[1], args.one[2].split(",")):
            print("ROW " + json.dumps(row), flush=True)
        return None
    means = [[m] for m in args.others.split(",") if m] + [["ebb"] + [f"ebb {b}" for b in args.budgets.split(",") if b]]
    there = rows_there(args.output)
    with open(args.output, "a", encoding="utf-8") as file:
        for name in args.models.split(","):
            for backend in args.backends.split(","):
                for group in means:
                    wanted = [m for m in group if (name, backend, m) not in there]
                    for row in in_process(name, backend, ",".join(wanted), args.timeout) if wanted else []:
                        file.write(json.dumps({**row, "note": args.note} if args.note else row) + "\n")
                    file.flush()
    return None


def rows_there(path):
    """(model, backend, means) of the rows that have an answer."""
    if not pathlib.Path(path).exists():
        return set()
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    return {(r["model"], r["backend"], r["means"].partition(" (")[0]) for r in rows if "peak" in r}


def in_process(name, backend, means, timeout):
    """The rows that a process gave, and one that says why any are missing."""
    command = [sys.executable, __file__, "--one", name, backend, means]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        text, why = done.stdout, (done.stderr.strip().splitlines() or ["nothing said"])[-1][:200]
    except subprocess.TimeoutExpired as error:
        text, why = (error.stdout or b"").decode(), f"no answer within {timeout:.0f} s"
    found = [json.loads(line[4:]) for line in text.splitlines() if line.startswith("ROW ")]
    missing = means.split(",")[len(found):]
    return found + ([{"model": name, "backend": backend, "means": ", ".join(missing), "error": why}] if missing else [])


if __name__ == "__main__":
    main()
