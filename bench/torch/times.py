"""Times of models within budgets beside PyTorch's own means, in turns: one row a line of JSON.

    python bench/torch/times.py -o times.json [--models ...] [--backends eager,inductor] [--rounds 5] [--seconds 20]
    python bench/torch/budgets.py --table rows.json times.json
    python bench/torch/frontier.py times.json frontier.svg [--table]

A process for each model and backend makes each means once, then takes a step of each in turns, on one thread and by processor time, and keeps
each one's median over the median of `plain` of the same rounds (`seconds` is that times plain's own). Models that the file has already are not measured again. `--prepare` makes
what Inductor keeps on disk, and measures nothing: do that first, for it needs no quiet machine.

`ebb =blocks` is Ebb within the bytes that `blocks` was measured to take, in the same process: the same peak, so that times compare.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from budgets import BUDGETS, File  # noqa: E402

OTHERS = "blocks,selective,torch 0.5,torch 0.2"


def runs_of(name, backend, means):
    """(means, Case, run, its row so far), one by one: how many bytes the others take is known when Ebb's turn comes. A means that cannot run the
    model is told and left out: selective checkpoints refuse values that are changed in place."""
    from case import Case

    peaks = {}
    for one in means:
        case = Case(name)
        kind, _, share = one.partition(" ")
        if kind in ("blocks", "selective") and not case.blocks or share[:1] == "=" and share[1:] not in peaks:
            continue
        try:
            run, facts = made_by(case, backend, one, peaks)
        except RuntimeError as error:
            if one == "plain":
                raise
            print(f"{name}, {backend}, {one}: {error}", file=sys.stderr, flush=True)
            continue
        peaks[one] = case.peak(run)
        yield one, case, run, {"model": name, "backend": backend, "means": one, "variant": "", **facts, "peak": peaks[one]}


def made_by(case, backend, means, peaks):
    """(run, what is to be said of it)."""
    from case import facts, others, within

    kind, _, share = means.partition(" ")
    if kind != "ebb":
        return others(case, backend, means)[0], {}
    limit = {"activations": peaks[share[1:]]} if share[:1] == "=" else {"budget": float(share) if share else None}
    found, run, _ = within(case, backend, **limit)
    return run, {**facts(run), "means": means + found}


def measure(name, backend, means, rounds, seconds):
    """Rows of one model: rounds of a step each, at least `rounds`, and more while they take less than `seconds`."""
    import torch

    torch.set_num_threads(1)
    made = list(runs_of(name, backend, means))
    taken, began = [[] for _ in made], time.perf_counter()
    while rounds > 0 and (len(taken[0]) < rounds or (len(taken[0]) < 10 * rounds and time.perf_counter() - began < seconds)):
        for (_, case, run, _), times in zip(made, taken):
            times.append(case.seconds(run))
    if not rounds:
        return []
    plain = statistics.median(taken[0])
    rows = []
    for (_, _, _, row), times in zip(made, taken):
        ratio = statistics.median(t / p for t, p in zip(times, taken[0]))
        rows.append({**row, "seconds": ratio * plain, "rounds": len(times), "least": min(times)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="by name")
    parser.add_argument("--backends", default="eager,inductor")
    parser.add_argument("--budgets", default=BUDGETS)
    parser.add_argument("--others", default=OTHERS)
    parser.add_argument("--rounds", type=int, default=5, help="at least so many")
    parser.add_argument("--seconds", type=float, default=10, help="more rounds while a model takes less than this")
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--prepare", action="store_true", help="no times")
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "BACKEND"), help="in this process")
    parser.add_argument("-o", "--output", default="times.json")
    args = parser.parse_args()
    named = [m for m in args.others.split(",") if m]
    means = ["plain", *named, "ebb", *(f"ebb {b}" for b in args.budgets.split(",") if b), *(f"ebb ={m}" for m in named)]
    rounds = 0 if args.prepare else args.rounds
    if args.one:
        for row in measure(*args.one, means, rounds, args.seconds):
            print("ROW " + json.dumps(row), flush=True)
        return
    from models import MODELS

    file = File(args.output)
    for backend in args.backends.split(","):
        for name in args.models.split(",") if args.models else MODELS:
            if args.prepare or not any(r["model"] == name and r["backend"] == backend for r in file.rows):
                for row in in_process(args, name, backend, rounds):
                    file.add(row)


def in_process(args, name, backend, rounds):
    command = [sys.executable, __file__, "--one", name, backend, "--budgets", args.budgets, "--others", args.others, "--rounds", str(rounds),
               "--seconds", str(args.seconds)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=args.timeout, check=False, env={"OMP_NUM_THREADS": "1", **os.environ})
    except subprocess.TimeoutExpired:
        print(f"{name}, {backend}: no answer within {args.timeout:.0f} s", file=sys.stderr)
        return []
    return [json.loads(line[4:]) for line in done.stdout.splitlines() if line.startswith("ROW ")]


if __name__ == "__main__":
    main()
