#!/usr/bin/env python3
"""Searches a folder of planning graphs at several budgets, one row for each graph, budget and method.

    bench/search/search.py EBB FOLDER [--budgets 0.8,0.6,0.4,0.3] [--methods budget,megengine] [--effort N]
                           [--num-worker N] [--seed N] [--time-limit S] [--json FILE]

EBB is the command. A budget is bytes ("16.7MB") or, without a unit, a part of the graph's total without
recomputation. `time` and `bound` are over the time without recomputation; `gap` is their difference in points;
MegEngine's mode takes no budget: its row is the least peak that it finds, as a budget. Every plan is verified.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time


def plan(args, graph, out, *options):
    """Returns the plan, or the line that says why there is none, and the seconds."""
    command = [args.ebb, "plan", str(graph), "-o", str(out), *options]
    for name in ("effort", "num_worker", "seed", "time_limit"):
        value = getattr(args, name)
        if value is not None and options:
            command += ["--" + name.replace("_", "-"), str(value)]
    begin = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if ended.returncode == 1:
        return ended.stderr.strip().splitlines()[-1], seconds
    if ended.returncode != 0:
        sys.exit(ended.stderr.strip())
    checked = subprocess.run([args.ebb, "verify", str(out)], capture_output=True, text=True, check=False)
    if checked.returncode != 0:
        sys.exit(f"{graph}: the plan does not hold: {checked.stdout}{checked.stderr}")
    return json.loads(out.read_text()), seconds


def budget_bytes(text, total):
    return text if text[-1:].isalpha() else str(int(float(text) * total))


def rows_of(args, graph, out):
    base, _ = plan(args, graph, out)
    for method in args.methods:
        for text in args.budgets if method == "budget" else [None]:
            options = ["--method", method]
            if text is not None:
                options += ["--budget", budget_bytes(text, base["total_bytes"])]
            found, seconds = plan(args, graph, out, *options)
            row = {"graph": graph.stem, "ops": len(base["steps"]), "method": method, "seconds": round(seconds, 2)}
            if isinstance(found, str):
                row |= {"budget": options[-1], "none": found}
            else:
                ratio = found["time_ns"] / base["time_ns"]
                bound = found["certificate"]["time_ns_lower_bound"] / base["time_ns"]
                row |= {"budget": found["budget_bytes"] or found["total_bytes"], "bytes": found["total_bytes"],
                        "time": round(ratio, 4), "bound": round(bound, 4), "gap": round(100 * (ratio - bound), 2)}
            yield row


def show(row):
    head = f"{row['graph'][:32]:32} {row['ops']:6} {row['method']:10} {row['budget']!s:>14} {row['seconds']:8.2f} s"
    if "none" in row:
        print(f"{head}  {row['none']}", flush=True)
    else:
        print(f"{head}  time {row['time']:.4f}  bound {row['bound']:.4f}  gap {row['gap']:6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ebb")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--budgets", type=lambda text: text.split(","), default=["0.8", "0.6", "0.4", "0.3"])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["budget", "megengine"])
    parser.add_argument("--effort", type=int)
    parser.add_argument("--num-worker", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    graphs = sorted(args.folder.glob("*.json"))
    if not graphs:
        sys.exit(f"{args.folder}: no planning graph (*.json) in it")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for graph in graphs:
            for row in rows_of(args, graph, pathlib.Path(folder) / "plan.json"):
                rows.append(row)
                show(row)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
