"""The part of gpu-check that measures PyTorch: each variant a process of its own (torch_worker.py), beside Ebb."""
import json
import os
import pathlib
import re
import select
import signal
import statistics
import subprocess
import time

import machine
from goals import UNPROVEN
from machine import NoTime, Unproven, collect
from meter import Meter

HERE = pathlib.Path(__file__).resolve().parent
LOG, SKIPPING = "torch.log", re.compile(r"skipping cudagraph.{0,180}", re.I)
FUSED = ("fused", "compile", "graphs")  # variants that ask for fused SGD
FLAGS = {"tf32": ["--tf32"], "bf16": ["--precision", "bf16"], "f16": ["--precision", "f16"]}  # of Ebb, by a variant's end


class Worker:
    """A process of one variant. What it says beside its answers goes to one log of all, with its name."""

    def __init__(self, check, variant, batch):
        command = [check.python, HERE / "torch_worker.py", variant, batch, check.size, check.torch_device]
        self.variant, self.log, self.all = variant, check.work / f"torch-{variant}.log", check.logs / LOG
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
                    raise Unproven(f"it ended: {machine.last_line(self.log.read_bytes())} ({LOG})")
                return json.loads(line)
        raise NoTime(f"no answer in {limit_s:.0f} s ({LOG})")

    def steps(self, check, n, limit_s=90):
        try:
            self.process.stdin.write(f"{n}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended: what it said last is told by read
        told = self.read(check, limit_s)
        if told.get("cudagraph_skips"):
            told["skipped"] = self.why_skipped()
        return told

    def why_skipped(self):
        """What the compiler says of graphs that it does not record: it goes on without them."""
        lines = self.log.read_text(errors="replace").splitlines()
        at = next((found for found in map(SKIPPING.search, lines) if found), None)
        return at.group() if at else f"it does not say why ({LOG})"

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # compilers of torch.compile are its children
        except ProcessLookupError:
            pass
        self.process.wait()
        self.errors.close()
        text = self.log.read_bytes()
        if text:
            with open(self.all, "ab") as log:
                log.write(f"=== {self.variant}\n".encode() + text)


def ask(workers, found, name, work):
    """What a worker answers; one that fails or is too slow is ended, and asked no more."""
    with collect(found, name):
        try:
            return work(workers[name])
        except Exception:
            workers.pop(name).end()
            raise
    return None


def greet(worker, check, name):
    """What it starts with: versions, and flags, which must be told and those of its group."""
    told = worker.read(check, 120)
    if set(told.get("tf32") or []) != {name.endswith("-tf32")}:
        raise Unproven(f"its flags for TF32 are {told.get('tf32')}")
    end = name.partition("-")[2]
    if told.get("amp") != (end if end in ("bf16", "f16") else None):
        raise Unproven(f"its autocast is {told.get('amp')}")
    return told


def measure_ebb(check, name, batch, found, meter):
    with collect(found, name), meter.of(name):
        told = check.run(check.model(batch), [*FLAGS.get(name.partition("-")[2], []), "--steps", check.steps(batch)])
        row = found["rows"].setdefault(name, {"ns": []})
        row["ns"] += [step["ns"] for step in told["steps"][2:]]
        row["block_bytes"] = told["allocated_bytes"]


def measure_torch(check, workers, name, batch, found, meter):
    with meter.of(name):
        told = ask(workers, found, name, lambda worker: worker.steps(check, check.steps(batch)))
    if told:
        row = found["rows"].setdefault(name, {"ns": []})
        row["ns"] += told.pop("ns")
        row.update(told)


def measure(check, group, ebb, batch, found, meter):
    """Adds the rows of these variants, and of Ebb unless it is None, in turn. Returns those that lasted to the end."""
    workers = {}
    try:
        for name in group:  # they start side by side, but warm up, which times algorithms, one after the other
            with collect(found, name):
                workers[name] = Worker(check, name, batch)
        for name in list(workers):
            told = ask(workers, found, name, lambda worker, name=name: greet(worker, check, name))
            if told:
                found["torch"] = {key: told.get(key) for key in ("torch", "cuda", "cudnn")}
                found["optimizers"][name] = told.get("optimizer")
        for name in list(workers):
            ask(workers, found, name, lambda worker: worker.steps(check, 3, 180))
        for _ in range(check.rounds if workers else 0):
            if ebb:
                measure_ebb(check, ebb, batch, found, meter)
            for name in list(workers):
                measure_torch(check, workers, name, batch, found, meter)
        return list(workers)
    finally:
        for worker in workers.values():
            worker.end()


def medians(found, meter):
    for name, told in found["rows"].items():
        if told["ns"]:
            ns = statistics.median(told["ns"])
            told.update(steps=len(told["ns"]), median_ms=round(ns / 1e6, 3), img_per_s=round(found["batch"] * 1e9 / ns, 1),
                        device=meter.told(name))


def notes(group, found):
    """What variants did otherwise than they are called."""
    for name in group:
        kind, row = name.partition("-")[0], found["rows"][name]
        if row.get("skipped"):
            yield f"{name} recorded no graphs and does not count: {row['skipped']}"
        elif kind == "graphs" and row.get("cudagraph_skips") is None:
            yield f"whether {name} recorded its graphs is not known"
        if kind in FUSED and found["optimizers"].get(name) != "fused":
            yield f"{name} has no fused SGD: {found['optimizers'].get(name)}"


def judge(check, goal, group, lasted, ebb, found, least=1):
    """Ebb's images a second against so many times the best of PyTorch's: only of a group of which each variant lasted. One that was to
    record graphs, and did not, is not counted."""
    rows, dead = found["rows"], [name for name in group if name not in lasted or "img_per_s" not in found["rows"].get(name, {})]
    if dead:
        check.goals.say(goal, UNPROVEN, f"of PyTorch's variants {', '.join(dead)} did not last: no ratio")
        return
    if "img_per_s" not in rows.get(ebb, {}):
        check.goals.say(goal, UNPROVEN, "Ebb was not measured")
        return
    best = min((name for name in group if not rows[name].get("skipped")), key=lambda name: statistics.median(rows[name]["ns"]))
    ratio = statistics.median(rows[best]["ns"]) / statistics.median(rows[ebb]["ns"])
    found["times_best"][goal] = round(ratio, 3)
    why = f"{ratio:.3f} times: Ebb {rows[ebb]['img_per_s']}, PyTorch's {best} {rows[best]['img_per_s']} images a second"
    check.goals.judge(goal, ratio >= least, "; ".join([why, *notes(group, found)]))


def multiplies(check, goal, end):
    """Whether the device has what the group is about; asked before its workers start, which takes a minute."""
    try:
        if end:
            check.plan(check.model(check.torch_batch), ["--tf32"])
        return True
    except NoTime:
        raise
    except Unproven as why:
        check.goals.say(goal, UNPROVEN, str(why))
        return False


def probe(check):
    """Raises where PyTorch cannot be asked."""
    words = "import torch; assert not %r or torch.cuda.is_available()" % (not check.dry)
    code, _, _ = machine.run([check.python, "-c", words], check.left(60))
    if code is None:
        raise NoTime("--python imports torch for longer than 60 s")
    if code != 0:
        raise Unproven("--python has no torch for this device: name another")


def pytorch(check, found):
    """PyTorch and Ebb at one batch, in turn on one device: each variant's steps, then the next's, three times."""
    probe(check)
    found.update(batch=check.torch_batch, rows={}, optimizers={}, times_best={})
    (check.logs / LOG).unlink(missing_ok=True)
    meter, variants = Meter(check.torch_device), ["eager"] if check.dry else ["eager", "fused", "compile", "graphs"]
    groups = [("ratio_fp32", "", variants, "ebb")]
    if not check.dry:
        groups.append(("ratio_tf32", "-tf32", variants, "ebb-tf32"))
    rest = []  # for their memory: no goal is about them
    for goal, end, names, ebb in groups:  # one after the other: each of their processes keeps its memory
        if not multiplies(check, goal, end):
            continue
        rest.append("checkpoint" + end)
        group = [name + end for name in names]
        lasted = measure(check, group, ebb, check.torch_batch, found, meter)
        medians(found, meter)
        judge(check, goal, group, lasted, ebb, found)
        check.save()
    if check.dry or check.args.quick:
        return
    if check.spare_s() < 60:
        found["left_out"] = rest
        return
    aside = {**found, "faults": [], "unproven": []}
    measure(check, rest, None, check.torch_batch, aside, meter)
    found["left_out"] = aside["faults"] + aside["unproven"]
    medians(found, meter)
