#!/usr/bin/env python3
"""Tunes models at several budgets and shows what is recommended beside the defaults, as a Markdown table.

    bench/tune/tune.py EBB MODEL[,DIM=SIZE...]... [--shares 0.75,0.5,0.35] [--time-limit S] [--json FILE]

EBB is the command. A budget is what the model's plan in place has besides its arena, and so much of that arena. Each
recommended config is planned again, from its file, and must give the row's bytes and time. The exit code is 1 when a
recommended row is worse than a default: over the budget where that fits, slower, or as fast in more bytes.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def ebb(args, *options):
    """The document of a command, or the line that says why there is none."""
    ended = subprocess.run([args.ebb, *options, "--json"], capture_output=True, text=True, check=False,
                           env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    if ended.returncode == 1:
        return ended.stderr.strip().splitlines()[-1]
    if ended.returncode != 0:
        sys.exit(ended.stderr.strip())
    return json.loads(ended.stdout)


def worse(best, default):
    """Is the recommended row worse than this default?"""
    if not default["fits"]:
        return False
    return not best["fits"] or (best["time_ns"], best["total_bytes"]) > (default["time_ns"], default["total_bytes"])


def again(args, model, budget, config, best):
    """Does the file give the row's plan?"""
    options = ["--budget", str(budget)] if best["config"]["method"] == "budget" else []
    plan = ebb(args, "plan", *model, *options, "--config", str(config), "-o", os.devnull)
    return (plan["total_bytes"], plan["time_ns"]) == (best["total_bytes"], best["time_ns"])


def cell(row, base_ns):
    if not row["found"]:
        return "none found"
    over = "" if row["fits"] else ", over"
    return (f"{row['total_bytes'] / 2**20:.1f} MiB{over}, {100 * (row['time_ns'] / base_ns - 1):+.2f} %, "
            f"{row['planning_ns'] / 1e9:.2f} s")


def tune(args, model, share, folder):
    """One line of the table, and whether it is as it must be."""
    base = ebb(args, "plan", *model, "-o", os.devnull)
    budget = base["total_bytes"] - base["arena_bytes"] + int(share * base["arena_bytes"])
    config = folder / "config.json"
    answer = ebb(args, "tune", *model, "--budget", str(budget), "--time-limit", str(args.time_limit), "-o", str(config))
    name = pathlib.Path(model[0]).stem
    if isinstance(answer, str):
        return {"model": name, "budget_bytes": budget, "none": answer}, True
    rows, best = answer["rows"], answer["rows"][answer["recommended"]]
    base_ns = answer["baseline"]["time_ns"]
    defaults = [row for row in rows if row["default"]]
    good = not any(worse(best, row) for row in defaults) and again(args, model, budget, config, best)
    bound = 100 * (answer["time_ns_lower_bound"] / base_ns - 1)
    print(f"| {name} | {budget / 2**20:.0f} MiB | {' | '.join(cell(row, base_ns) for row in defaults)} | "
          f"{cell(best, base_ns)} ({best['what']}) | {bound:+.2f} % |", flush=True)
    return {"model": name, "answer": answer}, good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ebb")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--shares", default="0.75,0.5,0.35")
    parser.add_argument("--time-limit", default=60, type=float)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    done, all_good = [], True
    print("| model | budget | default, off | MegEngine's, on | default (Ebb's, on) | recommended | bound |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for model in args.models:
            path, *dims = model.split(",")
            for share in args.shares.split(","):
                answer, good = tune(args, [path, *(part for dim in dims for part in ("--dim", dim))], float(share),
                                    pathlib.Path(name))
                done.append(answer)
                all_good = all_good and good
                if not good:
                    print(f"{model} at {share}: the recommended config is worse than a default, or its file does not give "
                          "its plan", file=sys.stderr)
                if "none" in answer:
                    print(f"| {answer['model']} | {answer['budget_bytes'] / 2**20:.0f} MiB | {answer['none']} |")
    if args.json:
        args.json.write_text(json.dumps(done))
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
