#!/usr/bin/env python3
"""ResNet-50 training steps in Ebb and in PyTorch, alternating in one run: images per second and peak memory.

    vs_torch.py EBB [--batch 16,32] [--size 224] [--rounds 3] [--steps 3] [--threads N] [--python PYTHON ...]
                [--costs FILE] [--work DIR] [-o FILE.json] [--markdown]

Needs a python with torch and torchvision. Debian 12: apt-get install python3-torch python3-torchvision, and
--python /usr/bin/python3; any newer one that imports will do, and several may be given: each is compared.

A round runs every variant once, each in a process of its own: one step to warm up, then --steps that are timed.
Variants: PyTorch {plain, channels_last, checkpoint (per block, channels last)}; Ebb {in place, 50 %, 30 %}: shares of
Ebb's own in-place arena, parameters and states on top; plans are made before, from ops that are measured before (or
--costs FILE), and kept in --work. Memory is the process's peak (VmHWM) less what such a process holds after it trained
something tiny. Times are medians over all timed steps. Other work on the machine falls on all variants alike, so
under load only the ratios mean something.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE.parent.parent / "examples" / "models" / "resnet50.ebb"
TORCH, SHARES = ["plain", "channels_last", "checkpoint"], [("in place", 1.0), ("50 %", 0.5), ("30 %", 0.3)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("ebb")
    parser.add_argument("--batch", default="16,32")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--python", action="append", help="with torch and torchvision (default: this one, else /usr/bin/python3)")
    parser.add_argument("--costs", help="a costs file of these batches, else they are measured first")
    parser.add_argument("--effort", type=int, help="of the search (default: Ebb's)")
    parser.add_argument("--work", help="folder for plans and costs, kept from run to run (default: a temporary one)")
    parser.add_argument("-o", "--output", help="the record, as JSON")
    parser.add_argument("--markdown", action="store_true", help="the table as Markdown")
    return parser.parse_args()


def run_json(command, what):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"vs_torch: {what}: {done.stderr.decode(errors='replace').strip().splitlines()[-1:] or done.returncode}")
    return json.loads(done.stdout)


def find_torch(pythons):
    """[(python, version)] of those that can import torch and torchvision; those named must."""
    found = []
    for python in pythons or dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        done = subprocess.run([python, HERE / "worker.py", "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode == 0:
            found.append((python, json.loads(done.stdout)["torch"]))
        elif pythons:
            sys.exit(f"vs_torch: {python} cannot import torch and torchvision: {done.stderr.decode().strip().splitlines()[-1]}")
    if not found:
        sys.exit("vs_torch: no python here has torch and torchvision: apt-get install python3-torch python3-torchvision, or name one with --python")
    return found if pythons else found[:1]


class Ebb:
    def __init__(self, args, work, batch):
        self.args, self.batch, self.work = args, batch, work
        self.model = [str(MODEL), "--dim", f"N={batch}", "--dim", f"H={args.size}"]
        self.common = ["--threads", str(args.threads), "--cache", str(work)]
        if args.effort:
            self.common += ["--effort", str(args.effort)]
        self.costs = args.costs or str(work / f"costs-{batch}-{args.size}-{args.threads}.json")
        if not os.path.exists(self.costs):
            subprocess.run([args.ebb, "bench", "--ops", *self.model, "--threads", str(args.threads), "-o", self.costs],
                           stdout=subprocess.DEVNULL, check=True)
        tiny = run_json([args.ebb, "run", str(HERE / "tiny.ebb"), "--threads", str(args.threads), "--json"], "ebb run tiny")
        self.idle_bytes = tiny["process_peak_bytes"]
        self.in_place = self.plan([])

    def flags(self, share):
        if share == 1:
            return []
        bytes_ = self.in_place["total_bytes"] - round((1 - share) * self.in_place["arena_bytes"])
        return ["--budget", str(bytes_)]

    def plan(self, flags):
        out = str(self.work / "plan.json")
        return run_json([self.args.ebb, "plan", *self.model, *self.common, "--costs", self.costs, *flags, "--json", "-o", out], "ebb plan")

    def run(self, share):
        run = run_json([self.args.ebb, "run", *self.model, *self.common, "--costs", self.costs, *self.flags(share),
                        "--steps", str(self.args.steps + 1), "--json"], "ebb run")
        return {"ns": [step["ns"] for step in run["steps"]], "idle_bytes": self.idle_bytes, "peak_bytes": run["process_peak_bytes"],
                "block_bytes": run["planned_bytes"], "predicted_ns": run["predicted_step_ns"]}


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return name


def compare(args, work, pythons, batch):
    """{variant: its figures} of one batch, in rounds."""
    ebb = Ebb(args, work, batch)
    for _, share in SHARES:
        ebb.plan(ebb.flags(share))  # searched once, before anything is timed
    variants = {f"PyTorch {version} {name}": ("torch", python, name) for python, version in pythons for name in TORCH}
    variants.update({f"Ebb {name}": ("ebb", None, share) for name, share in SHARES})
    runs = {name: [] for name in variants}
    for round_ in range(args.rounds):
        for name, (kind, python, what) in variants.items():
            print(f"batch {batch}, round {round_ + 1} of {args.rounds}: {name}", file=sys.stderr)
            if kind == "ebb":
                runs[name].append(ebb.run(what))
            else:
                command = [python, HERE / "worker.py", what, batch, args.size, args.steps + 1, args.threads]
                runs[name].append(run_json([str(word) for word in command], name))
    rows = {}
    for name, parts in runs.items():
        ns = [step for part in parts for step in part["ns"][1:]]
        rows[name] = {"median_ns": round(statistics.median(ns)), "steps": len(ns), "spread": round(max(ns) / min(ns), 3),
                      "img_per_s": round(batch * 1e9 / statistics.median(ns), 3),
                      "peak_bytes": max(part["peak_bytes"] for part in parts),
                      "above_idle_bytes": max(part["peak_bytes"] - part["idle_bytes"] for part in parts)}
        for key in ("block_bytes", "predicted_ns"):
            if key in parts[0]:
                rows[name][key] = parts[0][key]
    return rows


def best_torch(rows, version):
    """The fastest variant of one PyTorch, and its figures."""
    return min(((name, row) for name, row in rows.items() if name.startswith(f"PyTorch {version} ")), key=lambda item: item[1]["median_ns"])


def print_table(batch, rows, versions, markdown):
    width = max(len(name) for name in rows)
    head = ["", "ms a step", "img/s", "above idle MB"] + [f"speed, memory against {v}'s best" for v in versions]
    body = []
    for name, row in rows.items():
        cells = [name, f"{row['median_ns'] / 1e6:.0f}", f"{row['img_per_s']:.2f}", f"{row['above_idle_bytes'] / 1e6:.0f}"]
        for version in versions:
            _, best = best_torch(rows, version)
            cells.append(f"{row['img_per_s'] / best['img_per_s']:.2f}x, {row['above_idle_bytes'] / best['above_idle_bytes']:.2f}x")
        body.append(cells)
    if markdown:
        print(f"\nBatch {batch}:\n\n| " + " | ".join(head) + " |\n|---" + "|---:" * (len(head) - 1) + "|")
        for cells in body:
            print("| " + " | ".join(cells) + " |")
        return
    print(f"\nbatch {batch}")
    for cells in [head, *body]:
        print(cells[0].ljust(width) + "".join("  " + cell.rjust(len(title)) for cell, title in zip(cells[1:], head[1:])))


def main():
    args = arguments()
    pythons = find_torch(args.python)
    versions = [version for _, version in pythons]
    record = {"schema": "ebb.bench-vs-torch/1", "date": datetime.date.today().isoformat(), "machine": machine(), "n_threads": args.threads,
              "size": args.size, "rounds": args.rounds, "steps": args.steps, "load_before": os.getloadavg()[0], "batches": {}}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(args.work or folder)
        work.mkdir(exist_ok=True)
        for batch in (int(word) for word in args.batch.split(",")):
            rows = compare(args, work, pythons, batch)
            record["batches"][str(batch)] = rows
            print_table(batch, rows, versions, args.markdown)
    record["load_after"] = os.getloadavg()[0]
    note = f"{record['machine']}, {args.threads} threads, {args.size}x{args.size}, {record['date']}; load {record['load_before']:.1f} to {record['load_after']:.1f}"
    print(("\n" + note) if args.markdown else f"\n{note}")
    if args.output:
        pathlib.Path(args.output).write_text(json.dumps(record, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
