"""The parts of gpu-check: each takes the check (its device, command, model, clock) and fills `found`, which is kept
whatever happens to it: "faults" are why it is not well, "skipped" is why it had nothing to do."""
import json
import pathlib
import statistics
import sys
import tempfile

import machine
from beside import pytorch  # noqa: F401 (a part, called by its name)
from machine import ROOT, Failed, NoTime, collect, run, run_json

HERE = pathlib.Path(__file__).resolve().parent
GIB, MIB = 1 << 30, 1 << 20
# What the capped runs leave for what libraries allocate beside the block: the first that fits is told.
CAP_BYTES, CAP_RESERVES = 11 * GIB, (256 * MIB, 512 * MIB, 1024 * MIB)


def median_ns(steps):
    """Of the steps behind the first two: one is launched op by op, and one is recorded."""
    times = [step["ns"] for step in steps]
    return round(statistics.median(times[2:] or times))


def row(batch, flags, document):
    """A line of the measured table."""
    ns, memory = median_ns(document["steps"]), document.get("device_memory") or {}
    ballast = memory.get("ballast_bytes") or 0  # of the cap, and not the process's own

    def without(key):
        return memory[key] - ballast if memory.get(key) is not None else None

    return {"batch": batch, "flags": " ".join(map(str, flags)), "planned_bytes": document["planned_bytes"],
            "allocated_bytes": document["allocated_bytes"], "process_bytes": without("process_bytes"),
            "context_bytes": memory.get("context_bytes"), "taken_bytes": without("taken_bytes"), "hidden_bytes": memory.get("hidden_bytes"),
            "ms": round(ns / 1e6, 3), "img_per_s": round(batch * 1e9 / ns, 1), "predicted_ms": round(document["predicted_step_ns"] / 1e6, 3),
            "loss": document["steps"][-1].get("loss")}


# ---- build, facts ---------------------------------------------------------------------------------------

def logged(check, name, command, limit_s):
    """(exit code, text) of a command, which is beside the record too."""
    code, out, err = run(command, limit_s)
    (check.logs / name).write_bytes(out + err)
    return code, (out + err).decode(errors="replace")


def build(check, found):
    meson, ninja = machine.builders()
    options = ["-Dtests=disabled", "-Dexamples=disabled", "--buildtype=release"]
    if not check.dry:
        nvcc = machine.toolkit(check.args.toolkit)
        if nvcc is None:
            raise Failed("no nvcc: name the toolkit's folder with --toolkit")
        check.toolkit = nvcc.parent.parent
        check.cudnn = machine.cudnn(check.args.cudnn, check.toolkit)
        found["architecture"] = machine.architecture(check.device)
        options += ["-Dcuda=enabled", f"-Dtoolkit={check.toolkit}"]
        if found["architecture"]:  # one of three: a third of nvcc's time
            options.append(f"-Darchitectures={found['architecture']}")
        if check.cudnn and check.cudnn not in (check.toolkit, pathlib.Path("/usr")):
            options.append(f"-Dcudnn={check.cudnn}")
    found.update(toolkit=str(check.toolkit), cudnn=str(check.cudnn), options=options)
    if not (check.build / "build.ninja").exists():
        code, text = logged(check, "meson.log", [*meson, "setup", check.build, *options], check.left(120))
        if code != 0:
            raise Failed(f"meson setup: {machine.last_line(text.encode())}")
    code, text = logged(check, "ninja.log", [ninja, "-C", check.build, "src/tool/ebb", *([] if check.dry else ["src/libebb_cuda.so"])], check.left(400))
    if code != 0:
        why = "; ".join(line for line in text.splitlines() if "error" in line)[:600]
        raise Failed(f"ninja: {'too slow' if code is None else why} ({check.logs / 'ninja.log'})")
    with collect(found, "doctor"):
        found["doctor"] = run_json([check.ebb, "doctor", "--json"], check.left(90), codes=(0, 1, 5))


def conformance(check, found):
    told = run_json([check.ebb, "doctor", "--full", "--device", check.device, "--json"], check.left(120), codes=(0, 1, 5))
    rows = told.pop("rows")
    found.update(told, n_faults=told["faults"], failing=[f"{line['op']}: {line['fault']}" for line in rows if line["faults"]])
    del found["faults"]
    found["worst_rows"] = sorted(((line["worst"], line["op"]) for line in rows if line["worst"] is not None), reverse=True)[:8]
    if told["verdict"] != "holds":
        raise Failed(f"{found['n_faults']} calls do not hold: {'; '.join(found['failing'])[:900]}")


# ---- the same bits --------------------------------------------------------------------------------------

def choices(check, model, flags):
    """{op: alternative} of the plan of these flags."""
    check.plan(model, [flag for flag in flags if flag != "--no-graph"])
    plan = json.loads((check.work / "plan.json").read_text())
    names = [op["name"] for op in plan["graph"]["ops"]]
    return {names[step["op"]]: step["alternative"] for step in plan["steps"] if step["alternative"] is not None}


def tell_choices(check, model, variants, found):
    """Where bits differ: the ops that do not take the same choice in all variants."""
    told = {}
    for name, flags in variants.items():
        with collect(found, f"choices {name}"):
            told[name] = choices(check, model, flags)
    ops = sorted({op for chosen in told.values() for op in chosen})
    found["choices"] = {op: {name: chosen.get(op) for name, chosen in told.items()} for op in ops
                        if len({chosen.get(op) for chosen in told.values()}) > 1}


def bits(check, found):
    """20 steps: with and without recomputation, recorded and not, and once more the same."""
    model = check.model(check.bits_batch)
    found.update(steps=check.bits_steps, batch=check.bits_batch, hashes={})
    variants = {"in place": [], "once more": []}
    with collect(found, "plan"):
        plan = check.plan(model, [])
        again = ["--budget", plan["total_bytes"] - plan["arena_bytes"] * 35 // 100, "--effort", check.effort]
        variants["recomputed"] = again
        if not check.dry:
            variants.update({"unrecorded": ["--no-graph"], "recomputed, unrecorded": [*again, "--no-graph"],
                             "tf32": ["--tf32"], "tf32, recomputed": ["--tf32", *again]})
    for name, flags in variants.items():
        with collect(found, name):
            told = check.run(model, [*flags, "--hash", "--steps", check.bits_steps])
            found["hashes"][name] = {"params": told["params_hash"], "losses": [step.get("loss") for step in told["steps"]]}
    for tf32 in (False, True):
        hashes = {name: told["params"] for name, told in found["hashes"].items() if name.startswith("tf32") == tf32}
        if len(set(hashes.values())) > 1:
            found.setdefault("faults", []).append(f"different bits: {hashes}")
            tell_choices(check, model, {name: variants[name] for name in hashes}, found)
    if len(found["hashes"]) < len(variants) and "faults" not in found:
        raise Failed("not every variant was run")


# ---- measured -------------------------------------------------------------------------------------------

def capped_run(check, batch, budget, more, found):
    """One batch within 11 GiB: the row, of which attempts that failed before are part."""
    failed = []
    for reserve in [None] if check.dry else CAP_RESERVES:
        flags = ["--budget", budget if check.dry else CAP_BYTES - reserve, "--effort", check.effort, *more]
        for watch in [[]] if check.dry else [["--watch-memory"], []]:
            if watch and "watch_fault" in found:  # CUPTI is missing, or takes too much itself
                continue
            cap = ["--cap", CAP_BYTES, *watch] if not check.dry else []
            watched = not check.dry and not watch and "watch_fault" not in found  # and failed
            try:
                told = check.run(check.model(batch), [*flags, *cap, "--steps", 3])
            except NoTime as fault:
                raise NoTime("; ".join([*failed, str(fault)])) from fault
            except Failed as fault:
                failed.append(f"{' '.join(map(str, [*flags, *cap]))}: {fault}")
                continue
            if watched:
                found["watch_fault"] = failed[-1]
            return {**row(batch, flags, told), "reserve_bytes": reserve, "failed_before": failed}
    raise Failed("; ".join(failed))


def capped(check, found):
    """Batches that must fit 11 GiB, in a device of which no more is left."""
    found.update(cap_bytes=CAP_BYTES, rows=[])
    for more in check.engine_flags():
        for batch in check.capped_batches:
            if more and check.spare_s() < 60:
                found.setdefault("left_out", []).append(f"batch {batch} {more}")
                continue
            with collect(found, " ".join([f"batch {batch}", *more])):
                budget = check.plan(check.model(batch), [])["total_bytes"] * 4 // 5 if check.dry else None
                told = capped_run(check, batch, budget, more, found)
                found["rows"].append(told)
                check.save()
                if told["planned_bytes"] != told["allocated_bytes"]:
                    raise Failed(f"planned {told['planned_bytes']}, allocated {told['allocated_bytes']}")


def table(check, found):
    """Batch by budget, in fp32 and TF32."""
    found["rows"] = []
    for more in check.engine_flags():
        for batch in check.batches:
            variants = [[]] if check.dry else [[], ["--tf32"]]
            with collect(found, f"plan of batch {batch}"):
                plan = check.plan(check.model(batch), more)
                variants.append(["--budget", plan["total_bytes"] - plan["arena_bytes"] * 2 // 5, "--effort", check.effort])
            for flags in variants:
                if more and check.spare_s() < 30:
                    found.setdefault("left_out", []).append(f"batch {batch} {[*flags, *more]}")
                    continue
                with collect(found, f"batch {batch} {flags}"):
                    found["rows"].append(row(batch, [*flags, *more], check.run(check.model(batch), [*flags, *more, "--steps", check.steps(batch)])))
            check.save()


def costs(check, found):
    """Ops measured in their steps, and the added time that they foretell against what it is."""
    model, file = check.model(check.costs_batch), check.work / "costs.json"
    found.update(batch=check.costs_batch, rows=[], step_ns={})
    code, _, err = run([check.ebb, "bench", "--ops", *model, "--device", check.device, "--steps", 7, "-o", file], check.left(90))
    if code != 0:
        raise Failed(f"bench: {'too slow; ' if code is None else ''}{machine.last_line(err)}")
    plan = check.plan(model, ["--costs", file])
    times = found["step_ns"]
    for share in (100, 80, 60):
        budget = plan["total_bytes"] - plan["arena_bytes"] * (100 - share) // 100
        flags = ["--costs", file, *([] if share == 100 else ["--budget", budget, "--effort", check.effort])]
        with collect(found, f"{share} %"):
            told = check.run(model, [*flags, "--steps", check.steps(check.costs_batch)])
            times[str(share)] = (told["predicted_step_ns"], median_ns(told["steps"]))
    for share in ("80", "60"):
        if share in times and "100" in times:
            predicted, measured = (100 * (times[share][i] / times["100"][i] - 1) for i in (0, 1))
            found["rows"].append({"arena_percent": int(share), "predicted_added_percent": round(predicted, 2),
                                  "measured_added_percent": round(measured, 2), "off_points": round(measured - predicted, 2)})


def kinds(check, found):
    """What kinds of ops take the time of a step."""
    batch, sums = check.batches[-1], {}
    told = check.run(check.model(batch), ["--profile", "--steps", check.steps(batch)])
    for step in told["profile"]:
        sums.setdefault(step["kind"], [0, 0, 0])
        for i, value in enumerate((1, step["median_ns"], step["predicted_ns"])):
            sums[step["kind"]][i] += value
    rows = sorted(([kind, n, round(ns / 1e6, 3), round(foretold / 1e6, 3)] for kind, (n, ns, foretold) in sums.items()), key=lambda r: -r[2])
    found.update(batch=batch, columns=["kind", "steps", "ms", "predicted ms"], rows=rows[:24])


# ---- wrong numbers --------------------------------------------------------------------------------------

def compare(check, found):
    """Models at small sizes, op by op against ref; and the same with dead bytes poisoned."""
    for name, dims in check.compared:
        model = [check.file(name), *[word for dim in dims for word in ("--dim", dim)]]
        with collect(found, name):
            told = run_json([check.ebb, "run", *model, "--device", check.device, "--compare", "ref", "--json"], check.left(60), codes=(0, 1))
            found[name] = {key: told[key] for key in ("verdict", "ops", "over", "first")}
            found[name]["worst"] = told["worst"][:3]
            if told["verdict"] != "agree":
                raise Failed(f"{told['over']} of {told['ops']} ops differ, first {told['first']['op']} ({told['first']['kind']})")
    model = check.model(check.bits_batch)
    with collect(found, "poison"):
        hashes = {more: check.run(model, [*([more] if more else []), "--hash", "--steps", 2])["params_hash"] for more in ("", "--poison", "--check-finite")}
        found["poison"] = hashes
        if len(set(hashes.values())) != 1:
            raise Failed(f"different bits: {hashes}")


def sanitizer(check, found):
    program = None if check.dry else machine.first([check.toolkit and check.toolkit / "bin/compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"])
    if program is None:
        found["skipped"] = "no compute-sanitizer" + (" in a dry run" if check.dry else "")
        return
    model = [ROOT / "examples/models/resnet18.ebb", "--dim", "N=2", "--dim", "H=33"]
    for tool in ("memcheck", "racecheck", "initcheck"):
        with collect(found, tool):
            code, out, err = run([program, "--tool", tool, "--error-exitcode", 9, check.ebb, "run", *model, "--device", check.device, "--no-graph",
                                  "--steps", 1], check.left(60))
            found[tool] = "too slow" if code is None else machine.last_line(out + err)
            if code not in (0, None):
                raise Failed(f"exit code {code}: {found[tool]}")


# ---- open questions -------------------------------------------------------------------------------------

def questions(check, found):
    """cuDNN's own description of the device, its copies, and what libraries allocate out of sight."""
    if check.dry:
        found["skipped"] = "a dry run has no device to ask"
        return
    folders = [check.toolkit, check.cudnn, pathlib.Path("/usr"), *machine.environments()]
    def find(*patterns):
        return next((str(path) for folder in folders if folder for pattern in patterns for path in sorted(folder.glob(pattern))), None)
    cudnn = find("lib*/libcudnn.so.9", "lib/*/libcudnn.so.9", "cudnn/lib/libcudnn.so.9")
    header = find("include/cudnn_graph.h", "include/*/cudnn_graph.h", "cudnn/include/cudnn_graph.h")
    cudart = find("lib*/libcudart.so.1*", "*/lib/libcudart.so.1*", "cuda_runtime/lib/libcudart.so.1*")
    with collect(found, "libraries"):
        if not (cudnn and header and cudart):
            raise Failed(f"not found: cuDNN {cudnn}, its header {header}, the runtime {cudart}")
        found.update(run_json([sys.executable, HERE / "device.py", cudnn, header, cudart], check.left(60)))
    for key in ("deviceprop", "copies"):
        with collect(found, key):
            if "error" in found.get(key, {}):
                raise Failed(found[key]["error"])
    with collect(found, "descriptions"):
        found["differs_from"] = differences(found.get("deviceprop", {}))
    for flags in (["--watch-memory"], []):
        with collect(found, " ".join(["device memory", *flags])):
            found["device_memory"] = check.run(check.model(check.bits_batch), [*flags, "--steps", 3]).get("device_memory")
            break


def differences(told):
    """What descriptions written by hand say otherwise than this device of the same architecture."""
    known, found = ROOT / "examples/devices", {}
    for file in sorted(known.glob("*.json")) if known.is_dir() else []:
        ours = json.loads(file.read_text())
        if ours.get("deviceVer") == told.get("deviceVer"):
            found[file.name] = {key: [ours[key], told[key]] for key in ours if key in told and ours[key] != told[key]}
    return found


# ---- helpers --------------------------------------------------------------------------------------------

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
