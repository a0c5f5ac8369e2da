"""The parts of gpu-check: each takes the check (its device, command, model, clock) and gives what it found."""
import contextlib
import json
import pathlib
import select
import statistics
import subprocess
import sys
import tempfile
import time

import machine
from machine import ROOT, Failed, run, run_json

HERE = pathlib.Path(__file__).resolve().parent
GIB, MIB = 1 << 30, 1 << 20
# What the capped runs leave for what libraries allocate beside the block.
CAP_BYTES, CAP_RESERVE_BYTES = 11 * GIB, 256 * MIB


def median_ns(steps):
    """Of the steps behind the first two: one is launched op by op, and one is recorded."""
    times = [step["ns"] for step in steps]
    return round(statistics.median(times[2:] or times))


def row(check, batch, flags, document):
    """A line of the measured table."""
    ns, memory = median_ns(document["steps"]), document.get("device_memory") or {}
    return {"batch": batch, "flags": " ".join(map(str, flags)), "planned_bytes": document["planned_bytes"],
            "allocated_bytes": document["allocated_bytes"], "process_bytes": memory.get("process_bytes"),
            "context_bytes": memory.get("context_bytes"), "taken_bytes": memory.get("taken_bytes"), "hidden_bytes": memory.get("hidden_bytes"),
            "ms": round(ns / 1e6, 3), "img_per_s": round(batch * 1e9 / ns, 1), "predicted_ms": round(document["predicted_step_ns"] / 1e6, 3),
            "loss": document["steps"][-1].get("loss")}


# ---- build, facts ---------------------------------------------------------------------------------------

def build(check):
    meson, ninja = machine.builders()
    options = ["-Dtests=disabled", "-Dexamples=disabled", "--buildtype=release"]
    if not check.dry:
        nvcc = machine.toolkit(check.args.toolkit)
        if nvcc is None:
            raise Failed("no nvcc: name the toolkit's folder with --toolkit")
        check.toolkit = nvcc.parent.parent
        check.cudnn = machine.cudnn(check.args.cudnn, check.toolkit)
        options += ["-Dcuda=enabled", f"-Dtoolkit={check.toolkit}"]
        if check.cudnn and check.cudnn not in (check.toolkit, pathlib.Path("/usr")):
            options.append(f"-Dcudnn={check.cudnn}")
    if not (check.build / "build.ninja").exists():
        code, out, err = run([*meson, "setup", check.build, *options], check.left(120))
        if code != 0:
            raise Failed(f"meson setup: {machine.last_line(out + err)}")
    code, out, _ = run([ninja, "-C", check.build, "src/tool/ebb", *([] if check.dry else ["src/libebb_cuda.so"])], check.left(400))
    if code != 0:
        raise Failed("ninja: " + "; ".join(line for line in out.decode(errors="replace").splitlines() if "error" in line)[:600])
    return {"toolkit": str(check.toolkit), "cudnn": str(check.cudnn), "doctor": run_json([check.ebb, "doctor", "--json"], check.left(30))}


def conformance(check):
    told = run_json([check.ebb, "doctor", "--full", "--device", check.device, "--json"], check.left(120), codes=(0, 1, 5))
    told["failing"] = [f"{line['op']}: {line['fault']}" for line in told["rows"] if line["faults"]]
    told["worst_rows"] = sorted(((line["worst"], line["op"]) for line in told["rows"] if line["worst"] is not None), reverse=True)[:8]
    told["n_faults"] = told.pop("faults")
    del told["rows"]
    if told["verdict"] != "holds":
        raise Failed(f"{told['n_faults']} calls do not hold: {'; '.join(told['failing'])[:900]}")
    return told


# ---- the same bits --------------------------------------------------------------------------------------

def bits(check):
    """20 steps: with and without recomputation, recorded and not, and once more the same."""
    model = check.model(check.bits_batch)
    plan = check.plan(model, [])
    budget = plan["total_bytes"] - plan["arena_bytes"] * 35 // 100
    again = ["--budget", budget, "--effort", check.effort]
    variants = {"in place": [], "once more": [], "recomputed": again}
    if not check.dry:
        variants.update({"unrecorded": ["--no-graph"], "recomputed, unrecorded": [*again, "--no-graph"],
                         "tf32": ["--tf32"], "tf32, recomputed": ["--tf32", *again]})
    found = {"steps": check.bits_steps, "batch": check.bits_batch, "hashes": {}}
    for name, flags in variants.items():
        told = check.run(model, [*flags, "--hash", "--steps", check.bits_steps])
        found["hashes"][name] = {"params": told["params_hash"], "loss": told["steps"][-1].get("loss")}
    for kind in ({False, True} if not check.dry else {False}):
        hashes = {name: told["params"] for name, told in found["hashes"].items() if name.startswith("tf32") == kind}
        if len(set(hashes.values())) != 1:
            raise Failed(f"different bits: {hashes}")
    return found


# ---- measured -------------------------------------------------------------------------------------------

def capped(check):
    """Batches that must fit 11 GiB, in a device of which no more is left."""
    rows, faults = [], []
    for batch in check.capped_batches:
        budget = CAP_BYTES - CAP_RESERVE_BYTES if not check.dry else check.plan(check.model(batch), [])["total_bytes"] * 4 // 5
        cap = ["--cap", CAP_BYTES, "--watch-memory"] if not check.dry else []
        flags = ["--budget", budget, "--effort", check.effort]
        with collect(faults, f"batch {batch}"):
            told = check.run(check.model(batch), [*flags, *cap, "--steps", 5])
            rows.append(row(check, batch, flags, told))
            if told["planned_bytes"] != told["allocated_bytes"]:
                raise Failed(f"planned {told['planned_bytes']}, allocated {told['allocated_bytes']}")
    return finish({"cap_bytes": CAP_BYTES, "rows": rows}, faults)


def table(check):
    """Batch by budget, in fp32 and TF32."""
    rows, faults = [], []
    for batch in check.batches:
        plan = check.plan(check.model(batch), [])
        part = plan["total_bytes"] - plan["arena_bytes"] * 2 // 5
        for flags in ([], ["--tf32"], ["--budget", part, "--effort", check.effort]):
            if check.dry and "--tf32" in flags:
                continue
            with collect(faults, f"batch {batch} {flags}"):
                rows.append(row(check, batch, flags, check.run(check.model(batch), [*flags, "--steps", check.steps])))
    return finish({"rows": rows}, faults)


def costs(check):
    """Ops measured in their steps, and the added time that they foretell against what it is."""
    model, file = check.model(check.costs_batch), check.work / "costs.json"
    code, _, err = run([check.ebb, "bench", "--ops", *model, "--device", check.device, "--steps", 7, "-o", file], check.left(90))
    if code != 0:
        raise Failed(f"bench: {machine.last_line(err) if code is not None else 'too slow'}")
    plan = check.plan(model, ["--costs", file])
    times, faults, rows = {}, [], []
    for share in (100, 80, 60):
        budget = plan["total_bytes"] - plan["arena_bytes"] * (100 - share) // 100
        flags = ["--costs", file, *([] if share == 100 else ["--budget", budget, "--effort", check.effort])]
        with collect(faults, f"{share} %"):
            told = check.run(model, [*flags, "--steps", check.steps])
            times[share] = (told["predicted_step_ns"], median_ns(told["steps"]))
    for share in (80, 60):
        if share in times and 100 in times:
            predicted, measured = (100 * (times[share][i] / times[100][i] - 1) for i in (0, 1))
            rows.append({"arena_percent": share, "predicted_added_percent": round(predicted, 2), "measured_added_percent": round(measured, 2),
                         "off_points": round(measured - predicted, 2)})
    return finish({"batch": check.costs_batch, "rows": rows, "step_ns": {str(k): v for k, v in times.items()}}, faults)


def kinds(check):
    """What kinds of ops take the time of a step."""
    told = check.run(check.model(check.batches[-1]), ["--profile", "--steps", check.steps])
    sums = {}
    for step in told["profile"]:
        sums.setdefault(step["kind"], [0, 0, 0])
        for i, value in enumerate((1, step["median_ns"], step["predicted_ns"])):
            sums[step["kind"]][i] += value
    rows = sorted(([kind, n, round(ns / 1e6, 3), round(foretold / 1e6, 3)] for kind, (n, ns, foretold) in sums.items()), key=lambda r: -r[2])
    return {"batch": check.batches[-1], "columns": ["kind", "steps", "ms", "predicted ms"], "rows": rows[:24]}


# ---- wrong numbers --------------------------------------------------------------------------------------

def compare(check):
    """Models at small sizes, op by op against ref; and the same with dead bytes poisoned."""
    found, faults = {}, []
    for name, dims in check.compared:
        model = [check.file(name), *[word for dim in dims for word in ("--dim", dim)]]
        with collect(faults, name):
            told = run_json([check.ebb, "run", *model, "--device", check.device, "--compare", "ref", "--json"], check.left(60), codes=(0, 1))
            found[name] = {key: told[key] for key in ("verdict", "ops", "over", "first")}
            found[name]["worst"] = told["worst"][:3]
            if told["verdict"] != "agree":
                raise Failed(f"{told['over']} of {told['ops']} ops differ, first {told['first']['op']} ({told['first']['kind']})")
    model = check.model(check.bits_batch)
    with collect(faults, "poison"):
        hashes = {more: check.run(model, [*([more] if more else []), "--hash", "--steps", 2])["params_hash"] for more in ("", "--poison", "--check-finite")}
        if len(set(hashes.values())) != 1:
            raise Failed(f"different bits: {hashes}")
    return finish(found, faults)


def sanitizer(check):
    program = None if check.dry else machine.first([check.toolkit / "bin/compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"])
    if program is None:
        return {"skipped": "no compute-sanitizer" + (" in a dry run" if check.dry else "")}
    found, faults = {}, []
    model = [ROOT / "examples/models/resnet18.ebb", "--dim", "N=2", "--dim", "H=33"]
    for tool in ("memcheck", "racecheck", "initcheck"):
        with collect(faults, tool):
            code, out, err = run([program, "--tool", tool, "--error-exitcode", 9, check.ebb, "run", *model, "--device", check.device, "--no-graph",
                                  "--steps", 1], check.left(60))
            found[tool] = "too slow" if code is None else machine.last_line(out + err)
            if code not in (0, None):
                raise Failed(f"exit code {code}: {found[tool]}")
    return finish(found, faults)


# ---- PyTorch --------------------------------------------------------------------------------------------

class Worker:
    """A process of one variant; begin() returns at once."""

    def __init__(self, check, variant, batch):
        command = [check.python, HERE / "torch_worker.py", variant, batch, check.size, check.torch_device]
        self.errors = open(check.work / f"torch-{variant}.log", "wb")
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def read(self, check, limit_s):
        timer_end = time.monotonic() + check.left(limit_s)
        while time.monotonic() < timer_end:
            ready, _, _ = select.select([self.process.stdout], [], [], 1)
            if ready:
                line = self.process.stdout.readline()
                if not line:
                    raise Failed("it ended: see its log in the work folder")
                return json.loads(line)
        raise Failed(f"no answer in {limit_s} s")

    def steps(self, check, n, limit_s=90):
        self.process.stdin.write(f"{n}\n".encode())
        self.process.stdin.flush()
        return self.read(check, limit_s)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.errors.close()


def measure(check, group, batch, found, faults):
    """Adds the rows of these variants and of Ebb, step by step in turn."""
    rows, workers = found["rows"], {}
    ebb, flags = ("ebb-tf32", ["--tf32"]) if group[0].endswith("-tf32") else ("ebb", [])
    try:
        for name in group:
            with collect(faults, name):
                worker = Worker(check, name, batch)
                workers[name] = worker
                found["torch"] = worker.read(check, 60)
                worker.steps(check, 3, 120)  # to warm up, and to compile
        for _ in range(check.rounds):
            with collect(faults, ebb):
                told = check.run(check.model(batch), [*flags, "--steps", check.steps])
                rows.setdefault(ebb, {"ns": []})["ns"] += [step["ns"] for step in told["steps"][2:]]
                rows[ebb]["block_bytes"] = told["allocated_bytes"]
            for name, worker in workers.items():
                with collect(faults, name):
                    told = worker.steps(check, check.steps)
                    rows.setdefault(name, {"ns": []})["ns"] += told.pop("ns")
                    rows[name].update(told)
    finally:
        for worker in workers.values():
            worker.end()


def pytorch(check):
    """PyTorch and Ebb at one batch, in turn on one device: each variant's steps, then the next's, three times."""
    if subprocess.run([check.python, "-c", "import torch; assert not %r or torch.cuda.is_available()" % (not check.dry)], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return {"skipped": f"{check.python} has no torch for this device: name another with --python"}
    batch, rows, faults = check.torch_batch, {}, []
    found = {"batch": batch, "rows": rows}
    groups = [["eager"]] if check.dry else [["eager-tf32", "compile-tf32"], ["eager"]] if check.args.quick else \
        [["eager-tf32", "checkpoint-tf32", "compile-tf32"], ["eager", "checkpoint", "compile"]]
    for group in groups:  # one after the other: each of their processes keeps its memory
        measure(check, group, batch, found, faults)
    for told in rows.values():
        told["steps"], told["median_ms"] = len(told["ns"]), round(statistics.median(told["ns"]) / 1e6, 3)
        told["img_per_s"] = round(batch * 1e9 / statistics.median(told.pop("ns")), 1)
    for kind in ("", "-tf32"):
        best = max((told["img_per_s"] for name, told in rows.items() if not name.startswith("ebb") and name.endswith("-tf32") == bool(kind)), default=None)
        if best and "ebb" + kind in rows:
            found["times_best" + kind.replace("-", "_")] = round(rows["ebb" + kind]["img_per_s"] / best, 3)
    return finish(found, faults)


# ---- open questions -------------------------------------------------------------------------------------

def questions(check):
    """cuDNN's own description of the device, its copies, and what libraries allocate out of sight."""
    if check.dry:
        return {"skipped": "a dry run has no device to ask"}
    folders = [check.toolkit, check.cudnn, pathlib.Path("/usr"), *machine.environments()]
    def find(*patterns):
        return next((str(path) for folder in folders if folder for pattern in patterns for path in sorted(folder.glob(pattern))), None)
    cudnn = find("lib*/libcudnn.so.9", "lib/*/libcudnn.so.9", "cudnn/lib/libcudnn.so.9")
    header = find("include/cudnn_graph.h", "include/*/cudnn_graph.h", "cudnn/include/cudnn_graph.h")
    cudart = find("lib*/libcudart.so.1*", "*/lib/libcudart.so.1*", "cuda_runtime/lib/libcudart.so.1*")
    if not (cudnn and header and cudart):
        raise Failed(f"not found: cuDNN {cudnn}, its header {header}, the runtime {cudart}")
    told = run_json([sys.executable, HERE / "device.py", cudnn, header, cudart], check.left(60))
    known = ROOT / "examples/devices"
    told["differs_from"] = {}
    for file in sorted(known.glob("*.json")) if known.is_dir() else []:
        ours = json.loads(file.read_text())
        if ours.get("deviceVer") == told["deviceprop"].get("deviceVer"):
            told["differs_from"][file.name] = {key: [ours[key], told["deviceprop"].get(key)] for key in ours if key in told["deviceprop"]
                                               and ours[key] != told["deviceprop"][key]}
    watched = check.run(check.model(check.bits_batch), ["--watch-memory", "--steps", 3])
    told["device_memory"] = watched.get("device_memory")
    errors = [f"{key}: {told[key]['error']}" for key in ("deviceprop", "copies") if "error" in told[key]]
    return finish(told, errors)


# ---- helpers --------------------------------------------------------------------------------------------

@contextlib.contextmanager
def collect(faults, what):
    """What fails of a part does not stop the rest of it."""
    try:
        yield
    except (Failed, OSError, ValueError, KeyError) as fault:
        faults.append(f"{what}: {fault}")


def finish(found, faults):
    if faults:
        found["faults"] = faults
    return found


def small_model():
    """What a dry run trains: six convolutions, whose activations are more than their weights."""
    lines = ["ebb 1", "graph small", "dim N = 4", "dim H = 33", "%x = input f32[N,3,H,H]", "%labels = input i32[N]"]
    value, channels = "x", 3
    for i in range(6):
        lines += [f"%w{i} = param f32[16,{channels},3,3] init=kaiming", f"%g{i} = param f32[16] init=one", f"%b{i} = param f32[16]",
                  f"%m{i} = state f32[16]", f"%v{i} = state f32[16] init=one", f"%c{i} = conv2d %{value}, %w{i} pad=1",
                  f"%n{i} = batch_norm %c{i}, %g{i}, %b{i}, %m{i}, %v{i}", f"%r{i} = relu %n{i}"]
        value, channels = f"r{i}", 16
    lines += [f"%pool = global_avg_pool %{value}", "%fc = param f32[10,16] init=uniform", "%logits = linear %pool, %fc",
              "%loss = softmax_xent %logits, %labels", "loss %loss", ""]
    return "\n".join(lines)


def work_folder():
    return tempfile.mkdtemp(prefix="ebb-gpu-check-")
