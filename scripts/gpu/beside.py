"""The part of gpu-check that measures PyTorch: each variant a process of its own (torch_worker.py), beside Ebb."""
import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import time

import machine
from machine import Failed, NoTime, collect

HERE = pathlib.Path(__file__).resolve().parent


class Worker:
    """A process of one variant; its log is beside the record."""

    def __init__(self, check, variant, batch):
        command = [check.python, HERE / "torch_worker.py", variant, batch, check.size, check.torch_device]
        self.log = check.logs / f"torch-{variant}.log"
        self.errors = open(self.log, "wb")
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        start_new_session=True)

    def read(self, check, limit_s):
        limit_s = check.left(limit_s)
        timer_end = time.monotonic() + limit_s
        while time.monotonic() < timer_end:
            ready, _, _ = select.select([self.process.stdout], [], [], 1)
            if ready:
                line = self.process.stdout.readline()
                if not line:
                    raise Failed(f"it ended: {machine.last_line(self.log.read_bytes())} ({self.log})")
                return json.loads(line)
        raise NoTime(f"no answer in {limit_s:.0f} s ({self.log})")

    def steps(self, check, n, limit_s=90):
        self.process.stdin.write(f"{n}\n".encode())
        self.process.stdin.flush()
        return self.read(check, limit_s)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # compilers of torch.compile are its children
        except ProcessLookupError:
            pass
        self.process.wait()
        self.errors.close()
        if self.log.stat().st_size == 0:
            self.log.unlink()


def ask(workers, found, name, work):
    """What a worker answers; one that fails or is too slow is ended, and asked no more."""
    with collect(found, name):
        try:
            return work(workers[name])
        except Exception:
            workers.pop(name).end()
            raise
    return None


def measure_ebb(check, name, batch, found):
    with collect(found, name):
        told = check.run(check.model(batch), [*(["--tf32"] if name.endswith("-tf32") else []), "--steps", check.steps(batch)])
        row = found["rows"].setdefault(name, {"ns": []})
        row["ns"] += [step["ns"] for step in told["steps"][2:]]
        row["block_bytes"] = told["allocated_bytes"]


def measure(check, group, ebb, batch, found):
    """Adds the rows of these variants, and of Ebb unless it is None, in turn."""
    workers = {}
    try:
        for name in group:  # they start side by side, but warm up, which times algorithms, one after the other
            with collect(found, name):
                workers[name] = Worker(check, name, batch)
        for name in list(workers):
            found["torch"] = ask(workers, found, name, lambda worker: worker.read(check, 120)) or found.get("torch")
        for name in list(workers):
            ask(workers, found, name, lambda worker: worker.steps(check, 3, 150))
        for _ in range(check.rounds if workers else 0):
            if ebb:
                measure_ebb(check, ebb, batch, found)
            for name in list(workers):
                told = ask(workers, found, name, lambda worker: worker.steps(check, check.steps(batch)))
                if told:
                    found["rows"].setdefault(name, {"ns": []})["ns"] += told.pop("ns")
                    found["rows"][name].update(told)
    finally:
        for worker in workers.values():
            worker.end()


def conclude(found):
    """Medians of what was measured so far, and Ebb's images a second against the best of PyTorch's."""
    rows, batch = found["rows"], found["batch"]
    for told in rows.values():
        if told["ns"]:
            ns = statistics.median(told["ns"])
            told.update(steps=len(told["ns"]), median_ms=round(ns / 1e6, 3), img_per_s=round(batch * 1e9 / ns, 1))
    for kind in ("", "-tf32"):
        best = max((told.get("img_per_s", 0) for name, told in rows.items() if not name.startswith("ebb") and name.endswith("-tf32") == bool(kind)), default=0)
        if best and "img_per_s" in rows.get("ebb" + kind, {}):
            found["times_best" + kind.replace("-", "_")] = round(rows["ebb" + kind]["img_per_s"] / best, 3)


def pytorch(check, found):
    """PyTorch and Ebb at one batch, in turn on one device: each variant's steps, then the next's, three times."""
    probe = "import torch; assert not %r or torch.cuda.is_available()" % (not check.dry)
    code, _, _ = machine.run([check.python, "-c", probe], check.left(60))
    if code is None:
        raise Failed(f"{check.python} imports torch for longer than 60 s")
    if code != 0:
        found["skipped"] = f"{check.python} has no torch for this device: name another with --python"
        return
    found.update(batch=check.torch_batch, rows={})
    groups = [(["eager"], "ebb")] if check.dry else [(["eager", "compile"], "ebb"), (["eager-tf32", "compile-tf32"], "ebb-tf32")]
    if not check.dry and not check.args.quick:
        groups.append((["checkpoint", "checkpoint-tf32"], None))
    for group, ebb in groups:  # one after the other: each of their processes keeps its memory
        measure(check, group, ebb, check.torch_batch, found)
        conclude(found)
        check.save()
