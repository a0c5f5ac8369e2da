#!/usr/bin/env python3
"""Measures the figures of docs/records/performance.md and writes them there, between its marks. For a quiet machine.

    bench/performance.py BUILD [--python PYTHON ...] [--batch 16,32] [--rounds 3] [--steps 3] [--only NAME,NAME]
                         [--costs-batch 16] [--effort N] [--work DIR] [--document FILE]

BUILD is a release build with bench/budgets/bench_budgets and bench/cpu/bench_cpu_kernels. Parts: vs_torch, budgets,
profile, small, kernels. Each part is one command, printed above its table; parts that are not asked for are left as they are.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = "examples/models/resnet50.ebb"
PARTS = ["vs_torch", "budgets", "profile", "small", "kernels"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--python", action="append")
    parser.add_argument("--batch", default="16,32", help="of vs_torch")
    parser.add_argument("--rounds", default="3", help="of vs_torch")
    parser.add_argument("--steps", default="3", help="of vs_torch")
    parser.add_argument("--costs-batch", default="16", help="of the other parts")
    parser.add_argument("--effort", help="of the search")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--work", help="folder for plans and costs that are kept")
    parser.add_argument("--document", type=pathlib.Path, default=ROOT / "docs" / "records" / "performance.md")
    return parser.parse_args()


def output(command):
    print("$", " ".join(str(word) for word in command), file=sys.stderr)
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"performance: exit code {done.returncode}: {command[0]}")
    return done.stdout.decode()


def block(text):
    return "```\n" + text.strip("\n") + "\n```"


def vs_torch(args, ebb, work):
    command = [sys.executable, "bench/vs_torch/vs_torch.py", ebb, "--batch", args.batch, "--rounds", args.rounds, "--steps", args.steps,
               "--work", work, "--markdown"]
    for python in args.python or []:
        command += ["--python", python]
    return output(command + (["--effort", args.effort] if args.effort else [])).strip("\n")


def costs_of(args, ebb, work):
    """Ops of the model, measured once for all parts."""
    path = work / f"costs-{args.costs_batch}-224-{len(os.sched_getaffinity(0))}.json"
    if not path.exists():
        output([ebb, "bench", "--ops", MODEL, "--dim", f"N={args.costs_batch}", "-o", path])
    return path


def bench_budgets(args, ebb, work, *more):
    bench = args.build.resolve() / "bench" / "budgets" / "bench_budgets"
    effort = [f"effort={args.effort}"] if args.effort else []
    return block(output([bench, MODEL, f"N={args.costs_batch}", f"cache={work}", f"costs={costs_of(args, ebb, work)}", *effort, *more]))


def budgets(args, ebb, work):
    return bench_budgets(args, ebb, work)


def profile(args, ebb, work):
    return bench_budgets(args, ebb, work, "shares=", "profile", "rounds=21")


def small(args, ebb, work):
    """ResNet-50 at batch 16 within 600 MB, parameters and momentum counted."""
    effort = ["--effort", args.effort] if args.effort else []
    return block(output([ebb, "run", MODEL, "--dim", "N=16", "--budget", "600MB", "--steps", "5", "--cache", work, *effort]))


def kernels(args, ebb, work):
    bench = args.build.resolve() / "bench" / "cpu" / "bench_cpu_kernels"
    return block(output([bench, MODEL, f"N={args.costs_batch}"]))


def replace(text, name, body):
    mark = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.S)
    if not mark.search(text):
        sys.exit(f"performance: the document has no marks for {name}")
    return mark.sub(lambda found: f"{found.group(1)}{body}\n{found.group(2)}", text)


def main():
    args = arguments()
    ebb = args.build.resolve() / "src" / "tool" / "ebb"
    names = args.only.split(",")
    if set(names) - set(PARTS):
        sys.exit(f"performance: parts are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(args.work or folder).resolve()
        work.mkdir(exist_ok=True)
        for name in names:
            load = os.getloadavg()[0]
            body = globals()[name](args, ebb, work)
            facts = json.loads(output([ebb, "doctor", "--json"]))
            machine = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
            stamp = (f"{datetime.date.today().isoformat()}, {machine.group(1) if machine else 'unknown'}, {facts['n_usable_processors']} "
                     f"processors, load {load:.1f} before")
            # Read again for each part: one that fails takes none of the others with it.
            text = args.document.read_text(encoding="utf-8")
            args.document.write_text(replace(text, name, f"{body}\n\n({stamp})"), encoding="utf-8")


if __name__ == "__main__":
    main()
