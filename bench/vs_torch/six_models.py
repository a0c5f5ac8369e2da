#!/usr/bin/env python3
"""Training steps of six models in Ebb (in place) and PyTorch (eager, channels last, torch.compile), alternating.

    six_models.py EBB --python PYTHON [--only MODEL,MODEL] [--variants eager,channels_last,compile] [--rounds 3] [--steps 2]
                  [--threads N] [-o FILE.json] [--prepare]

PYTHON has torch. A model's variants are processes that live side by side and take turns, round by round: --steps each; the
first steps, with torch.compile's compilation, are not timed. Ebb is one process a round: as it is, with 92 % of its bytes, and with --direct-conv.
Times are medians; memory is a process's peak above an idle one's. Prints each model's ratio to the best of PyTorch's, and their geometric mean.
--prepare only fills torch.compile's cache, which later runs find (TORCHINDUCTOR_CACHE_DIR). For a quiet machine: about eight
minutes on two processors, once prepared.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {"resnet50": {"N": 8}, "mobilenet_v2": {"N": 16}, "vgg16": {"N": 4}, "densenet121": {"N": 8}, "unet": {"N": 2, "H": 128},
          "gpt2_small": {"N": 1, "T": 128}}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("ebb")
    parser.add_argument("--python", required=True)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--variants", default="eager,channels_last,compile")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("-o", "--output")
    return parser.parse_args()


class Torch:
    def __init__(self, args, name, variant):
        words = [f"{key}={size}" for key, size in MODELS[name].items()]
        self.what = f"{name}, {variant}"
        self.process = subprocess.Popen([args.python, HERE / "six_worker.py", name, variant, str(args.threads), *words], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ns, self.above_bytes, self.version = [], 0, None

    def steps(self, n):
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"six_models: {self.what}: the process ended")
        answer = json.loads(line)
        self.above_bytes, self.version = answer["above_bytes"], answer["torch"]
        return answer["ns"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


OVER_BUDGET = 1  # an exit code


def ebb_json(args, *words):
    """None where no plan has so few bytes."""
    done = subprocess.run([args.ebb, *words, "--threads", str(args.threads), "--json"], check=False, stdout=subprocess.PIPE)
    if done.returncode == OVER_BUDGET:
        return None
    done.check_returncode()
    return json.loads(done.stdout)


FORMS = {"Ebb": [], "--budget 92%": ["--budget", "92%"], "--direct-conv": ["--direct-conv"]}


def ebb_steps(args, name, form):
    dims = [word for key, size in MODELS[name].items() for word in ("--dim", f"{key}={size}")]
    run = ebb_json(args, "run", str(HERE.parent.parent / "examples" / "models" / f"{name}.ebb"), *dims, *FORMS[form], "--steps",
                   str(args.steps + 1))
    return ([step["ns"] for step in run["steps"]][1:], run["process_peak_bytes"]) if run else ([], None)


def compare(args, name, idle_bytes):
    workers = {variant: Torch(args, name, variant) for variant in args.variants.split(",")}
    for worker in workers.values():
        worker.steps(2)
    ns, peak = {form: [] for form in FORMS}, {}
    for round_ in range(0 if args.prepare else args.rounds):
        print(f"{name}: round {round_ + 1} of {args.rounds}", file=sys.stderr)
        for worker in workers.values():
            worker.ns += worker.steps(args.steps)
        for form in FORMS:
            more, peak[form] = ebb_steps(args, name, form)
            ns[form] += more
    for worker in workers.values():
        worker.end()
    if args.prepare:
        return None
    times = {variant: statistics.median(worker.ns) for variant, worker in workers.items()}
    best = min(times, key=times.get)
    ebb = {form: {"ns": round(statistics.median(ns[form])), "bytes": peak[form] - idle_bytes,
                  "ratio": times[best] / statistics.median(ns[form])} for form in FORMS if ns[form]}
    return {"ebb": ebb, "torch_ns": {v: round(t) for v, t in times.items()}, "best": best, "torch_bytes": workers[best].above_bytes,
            "torch": workers[best].version}


def line(name, row, variants):
    dims = " ".join(f"{key}={size}" for key, size in MODELS[name].items())
    forms = [row["ebb"].get(form) for form in FORMS]
    cells = [name, dims, *(f"{row['torch_ns'][v] / 1e6:.0f}" for v in variants),
             *(f"{form['ns'] / 1e6:.0f}, {form['ratio']:.2f}x" if form else "none" for form in forms), f"{row['torch_bytes'] / 1e6:.0f}",
             *(f"{form['bytes'] / 1e6:.0f}, {form['bytes'] / row['torch_bytes']:.2f}" if form else "none" for form in forms)]
    return f"| {' | '.join(cells)} |"


def summary(rows, form):
    ratios = {name: row["ebb"][form]["ratio"] for name, row in rows.items() if form in row["ebb"]}
    if not ratios:
        return f"{form}: no plan"
    mean, worst = math.exp(statistics.mean(map(math.log, ratios.values()))), min(ratios, key=ratios.get)
    return f"{form}: geometric mean {mean:.2f}x of {len(ratios)}, least {ratios[worst]:.2f}x ({worst})"


def main():
    args = arguments()
    tiny = HERE / "tiny.ebb"
    idle_bytes = ebb_json(args, "run", str(tiny))["process_peak_bytes"]
    rows, variants = {}, args.variants.split(",")
    head = [*(f"{v}, ms" for v in variants), *(f"{form}, ms" for form in FORMS), "PyTorch, MB", *(f"{form}, MB" for form in FORMS)]
    print(f"| model | dims | {' | '.join(head)} |")
    print("|---|---|" + "---:|" * len(head))
    for name in args.only.split(","):
        row = compare(args, name, idle_bytes)
        if row is None:
            continue
        rows[name] = row
        print(line(name, row, variants), flush=True)
    if not rows:
        return
    print("\n" + "; ".join(summary(rows, form) for form in FORMS) + f"; PyTorch {next(iter(rows.values()))['torch']}, "
          f"{args.threads} threads, load {os.getloadavg()[0]:.1f}")
    if args.output:
        record = {"schema": "ebb.bench-six-models/2", "n_threads": args.threads, "rounds": args.rounds, "steps": args.steps, "models": rows}
        pathlib.Path(args.output).write_text(json.dumps(record, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
