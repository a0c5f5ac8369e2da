"""Peaks and bits of models within budgets: one row a line of JSON, each made by a process of its own.

    python bench/torch/budgets.py -o rows.json [--models resnet50,gpt] [--backends eager,inductor] [--budgets 0.8,0.6] [--jobs 2]
    python bench/torch/budgets.py --table rows.json [times.json]
    python bench/torch/times.py -o times.json       # on a quiet machine
    python bench/torch/frontier.py times.json frontier.svg

Rows that the file has already are not made again: an interrupted run goes on where it stopped, and a row without an answer is tried
again. At the end, and by --table, the rows are printed as Markdown.

Models are those of models.py, and by name those of zoo.py (`--models zoo`: all of them). Peaks are of what PyTorch's allocator gave out
during one step, gradients included, above what was there before it. `bits` is a hash of the loss, all gradients, buffers and the
generator's state after a step from the same start: `equal` says whether it is that of the same backend without a budget.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import sys
import threading

HERE = pathlib.Path(__file__).parent
BUDGETS = "0.8,0.6,0.45,0.35"


def row_of(name, backend, means, variant):
    sys.path.insert(0, str(HERE))
    from case import Case, digest, facts, others, within

    case = Case(name, "autocast" in variant, 2 if "accumulate" in variant else 1)
    row = {"model": name, "backend": backend, "means": means, "variant": variant}
    kind, _, share = means.partition(" ")
    if kind != "ebb":
        run, result = others(case, backend, means)
        return {**row, "bits": digest(result), "peak": case.peak(run)}
    found, run, result = within(case, backend, budget=float(share) if share else None)
    return {**row, "means": means + found, "bits": digest(result), "peak": case.peak(run), **facts(run)}


def table(rows, times):
    seconds = {key(r): r for r in times if "seconds" in r}
    first = {(r["model"], r["backend"], r["variant"]): r for r in rows if r["means"] == "ebb" and "bits" in r}
    print("| model, backend | means | planned MB | peak MB | peak/planned | equal | predicted | measured | planning s (ops) |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        variant = f", {r['variant']}" if r["variant"] else ""
        head = f"| {r['model']}, {r['backend']}{variant} | {r['means']} |"
        if "peak" not in r:
            print(f"{head} {r['error']} | | | | | | |")
            continue
        base = first.get((r["model"], r["backend"], r["variant"]))
        equal = "" if r is base or base is None else "yes" if r["bits"] == base["bits"] else "no" if "planned" in r else "other sums"
        mine, from_ = seconds.get(key(r)), seconds.get((r["model"], r["backend"], "ebb"))
        measured = f"{mine['seconds'] / from_['seconds'] - 1:+.1%}" if mine and from_ and not r["variant"] else ""
        if "planned" in r:
            print(f"{head} {r['planned'] / 1e6:.1f} | {r['peak'] / 1e6:.1f} | {r['peak'] / r['planned']:.3f} | {equal} | {r['predicted']:+.1%} | "
                  f"{measured} | {r['planning_s']:.1f} ({r['ops']}) |")
        else:
            print(f"{head} | {r['peak'] / 1e6:.1f} | | {equal} | | {measured} | |")
    summary(rows, first)


def summary(rows, first):
    for backend in dict.fromkeys(r["backend"] for r in rows):
        made = [r for r in rows if r["backend"] == backend and r["means"].split()[0] == "ebb"]
        done = [r for r in made if "peak" in r]
        budgets = [(r, first.get((r["model"], backend, r["variant"]))) for r in done if r["means"] != "ebb"]
        over = [r for r in done if r["peak"] > (1.01 if backend == "eager" else 1.10) * r["planned"]]
        most = max((r["peak"] / r["planned"] for r in done), default=0)
        print(f"\n{backend}: {len(done)} rows of {len({r['model'] for r in done})} models with a plan, {len(made) - len(done)} without an answer; "
              f"peak/planned at most {most:.4f}, above the promise {len(over)}; {sum(b is not None and r['bits'] == b['bits'] for r, b in budgets)} of "
              f"{len(budgets)} within a budget have the bits of the same backend without one.")


def key(row):
    return row["model"], row["backend"], row["means"].partition(" (")[0]


class File:
    """Rows are added one by one, by several threads."""

    def __init__(self, path):
        self.path, self.lock = pathlib.Path(path), threading.Lock()
        self.rows = []
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            self.take(json.loads(line))

    def take(self, row):
        """The last row of its name counts."""
        self.rows = [r for r in self.rows if key(r) != key(row) or r.get("variant") != row.get("variant")] + [row]

    def has(self, name, backend, means, variant):
        return any(key(r) == (name, backend, means) and r["variant"] == variant and "peak" in r for r in self.rows)

    def add(self, row):
        with self.lock:
            self.take(row)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), file=sys.stderr, flush=True)


def answer(pipe, *wanted):
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    import torch

    torch.set_num_threads(1)
    try:
        pipe.send(row_of(*wanted))
    except Exception as error:  # noqa: BLE001: whatever it is, it is this row's answer
        pipe.send(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:300]}")


def in_process(context, wanted, timeout):
    """The row that a process gave, or one that says why there is none."""
    receive, send = context.Pipe(False)
    process = context.Process(target=answer, args=(send, *wanted))
    process.start()
    send.close()
    try:
        found = receive.recv() if receive.poll(timeout) else f"no answer within {timeout:.0f} s"
    except EOFError:
        process.join()
        found = f"the process ended with {process.exitcode}"
    if process.is_alive():
        process.join(1)
        process.kill()
    name, backend, means, variant = wanted
    return found if isinstance(found, dict) else {"model": name, "backend": backend, "means": means, "variant": variant, "error": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="by name; `zoo`: those of zoo.py")
    parser.add_argument("--backends", default="eager,inductor")
    parser.add_argument("--budgets", default=BUDGETS)
    parser.add_argument("--others", default="plain,blocks,torch 0.5", help="selective, too")
    parser.add_argument("--variant", default="", help="autocast, accumulate, or both")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--table", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output", default="rows.json")
    args = parser.parse_args()
    if args.table:
        return table(File(args.table[0]).rows, [r for path in args.table[1:] for r in File(path).rows])
    sys.path.insert(0, str(HERE))
    from models import MODELS
    from zoo import ZOO

    names = list(MODELS) if not args.models else list(ZOO) if args.models == "zoo" else args.models.split(",")
    means = [*(m for m in args.others.split(",") if m), "ebb", *(f"ebb {b}" for b in args.budgets.split(",") if b)]
    os.environ["OMP_NUM_THREADS"] = "1"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["case", "torchvision", "ebb.torch", "torch._inductor.compile_fx"])  # what each row would import
    file = File(args.output)
    wanted = [(n, b, m, args.variant) for n in names for b in args.backends.split(",") for m in means if not file.has(n, b, m, args.variant)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one in [pool.submit(lambda w=w: file.add(in_process(context, w, args.timeout))) for w in wanted]:
            one.result()
    order = [(n, b, m) for n in names for b in args.backends.split(",") for m in means]
    return table(sorted((r for r in file.rows if key(r) in order), key=lambda r: order.index(key(r))), [])


if __name__ == "__main__":
    main()
