#!/usr/bin/env python3
"""What of ONNX is read, and whether it computes the same: a table, on standard output.

check.py EBB EVALUATE node [WORD]      the node tests of the onnx package, whose names have the word
check.py EBB EVALUATE out FILE.onnx ...   models that Ebb wrote (out.py): outputs beside onnxruntime's, folded ones in both
check.py EBB EVALUATE [--batch N] FILE.onnx ...   models: outputs beside onnxruntime's; trained in place and within half the arena,
    or the least that is found, beside the share of the arena that the refusal proves to be needed

EVALUATE is bench/onnx/evaluate.c, compiled. Needs onnx, onnxruntime and numpy.
"""
import collections
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

RATES = ("0.001", "0.0001", "0.00001", "0.000001", "1e-8", "1e-10", "1e-12", "1e-14")
EBB_TYPES = {"int64": np.int32, "int32": np.int32, "float16": np.float32, "bfloat16": np.float32}


def ebb_name(name):
    return re.sub(r"[^0-9A-Za-z_.\-/]", "_", name.lstrip("/")) or "v"


def evaluate(program, path, feeds, fixed, folder):
    """(exit code, line, outputs as flat arrays of bytes)"""
    args = []
    for i, (name, data) in enumerate(feeds):
        file = folder / f"in{i}.bin"
        file.write_bytes(np.ascontiguousarray(data.astype(EBB_TYPES.get(str(data.dtype), data.dtype))).tobytes())
        args.append(f"{ebb_name(name)}={file}")
    done = subprocess.run([program, path, str(0 if fixed else len(feeds[0][1])), *args, folder], capture_output=True, text=True, timeout=300, check=False)
    outputs = []
    while (folder / f"{len(outputs)}.bin").exists():
        outputs.append((folder / f"{len(outputs)}.bin").read_bytes())
    return done.returncode, done.stderr.strip(), outputs


def distance(ours, theirs):
    """The largest difference over the largest value; inf where bytes do not match."""
    array = np.frombuffer(ours, EBB_TYPES.get(str(theirs.dtype), theirs.dtype))
    if array.size != theirs.size:
        return float("inf")
    a, b = array.astype("float64"), theirs.astype("float64").ravel()
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    keep = np.isfinite(b) & np.isfinite(a)
    scale = max(np.abs(b[keep]).max(initial=0), 1e-6)
    return float(np.abs(a[keep] - b[keep]).max(initial=0) / scale)


def node_test(program, model, feeds):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        onnx.save(model, folder / "model.onnx")
        return evaluate(program, folder / "model.onnx", feeds, True, folder)


def with_known_operands(model, feeds):
    """All but the first input as initializers, as exporters write shapes, axes, pads and scales; the tests feed them."""
    names = {name for name, _ in feeds[1:]}
    known = onnx.ModelProto()
    known.CopyFrom(model)
    for port in [port for port in known.graph.input if port.name in names]:
        known.graph.input.remove(port)
    known.graph.initializer.extend(numpy_helper.from_array(np.ascontiguousarray(data), name) for name, data in feeds[1:])
    return known


def node_tests(program, word=""):
    from onnx.backend.test.case.node import collect_testcases
    rows, wrong, crashed, why = collections.Counter(), [], [], collections.Counter()
    for test in collect_testcases(None):
        if word not in test.name:
            continue
        model = test.model
        op = model.graph.node[-1].op_type if len(model.graph.node) else "-"
        given, wanted = ([numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in side] for side in
                         (test.data_sets[0] if test.data_sets else ([], [])))
        plain = all(isinstance(v, (np.ndarray, np.generic)) and (v.dtype.kind in "fiub" or v.dtype.name == "bfloat16") for v in [*given, *wanted])
        feeds = [(v.name, data) for v, data in zip(model.graph.input, map(np.asarray, given))] if plain else []
        for o in model.opset_import:
            if not o.domain:
                o.version = min(o.version, 23)  # a newer one said to be the newest that is read
        code, line, outputs = node_test(program, model, feeds)
        if code == 3 and len(feeds) > 1:
            again = node_test(program, with_known_operands(model, feeds), feeds[:1])
            if again[0] != 3 or "known numbers are needed" in line:
                code, line, outputs = again
                rows["known"] += code == 0
        draws = any(node.op_type.startswith("Random") for node in model.graph.node) or (op == "Dropout" and len(given) == 3 and given[2])
        if draws and code == 0:  # other bits than the test's
            rows["drawn"] += 1
        elif code == 0 and len(outputs) == len(wanted) and all(distance(a, b) <= (1e-2 if b.dtype.name == "bfloat16" else 1e-3) for a, b in zip(outputs, map(np.asarray, wanted))):
            rows["passing"] += 1
        elif code == 0:
            rows["wrong"] += 1
            wrong.append(test.name)
        elif code == 3 and line.count("\n") == 0:
            rows["refused"] += 1
            why[(op, re.sub(r"^.*?imported; |^.*?model\.onnx: ", "", line)[:110])] += 1
        else:
            rows["crashed"] += 1
            crashed.append(f"{test.name} ({code}): {line[:100]}")
    print(f"claimed {rows['passing'] + rows['wrong']}, {rows['known']} of them with operands that must be known as initializers; "
          f"passing {rows['passing']}, drawn at random {rows['drawn']}, refused {rows['refused']}, crashed {rows['crashed']}\n")
    print("wrong:", *wrong, "crashed:", *crashed, sep="\n  ")
    print("\nrefused, how many, op, why:")
    for (op, line), n in sorted(why.items()):
        print(f"  {n} {op}: {line}")


def train(ebb, path, batch, rate, *args):
    done = subprocess.run([ebb, "run", path, "--dim", f"N={batch}", "--lr", rate, "--steps", "3", "--hash", "--json", *args], capture_output=True,
                          text=True, timeout=1800, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()}


def losses_of(run):
    return [math.inf if step["loss"] is None else step["loss"] for step in run.get("steps", [])]  # none: not finite


def falls(run):
    losses = losses_of(run)
    return all(b < a for a, b in zip(losses, losses[1:])) and math.isfinite(losses[0])


def train_falling(ebb, path, batch):
    """With the first rate by which the loss falls: norms that an exporter folded into weights leave random ones ill-scaled."""
    for rate in RATES:
        run = train(ebb, path, batch, rate)
        if "error" in run or falls(run):
            break
    return run, rate


def train_within(ebb, path, batch, rate, plan):
    """At half the arena or, where no plan of so few bytes is found, at the fewest that are: the run, its share of the arena, and the share
    that is proved to be needed, if the planner had to say so."""
    arena = plan["arena_bytes"]
    outside = plan["total_bytes"] - arena
    part = train(ebb, path, batch, rate, "--budget", str(plan["total_bytes"] - arena // 2))
    least = re.search(r"the smallest found needs (\d+)", part.get("error", ""))
    if not least:
        return part, 50, None
    proved = re.search(r"no plan needs fewer than (\d+)", part["error"])
    shares = [100 * (int(found[1]) - outside) / arena if found else None for found in (least, proved)]
    return train(ebb, path, batch, rate, "--budget", least[1]), *shares


def feeds_of(session, batch=1):
    """Inputs by name; of whole numbers, such as every table has."""
    rng = np.random.default_rng(1)
    for v in session.get_inputs():
        shape = [d if isinstance(d, int) else batch for d in v.shape]
        whole = rng.integers(0, 4, shape, dtype="int32" if "int32" in v.type else "int64")
        yield v.name, whole if "int" in v.type else rng.standard_normal(shape, dtype="float32")


def differences(program, path):
    """How far outputs are from onnxruntime's, over the largest; or the line of a refusal."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = list(feeds_of(session))
    wanted = session.run(None, dict(feeds))
    with tempfile.TemporaryDirectory() as name:
        code, line, outputs = evaluate(program, path, feeds, False, pathlib.Path(name))
    if code != 0:
        return None, line
    return max(distance(a, b) for a, b in zip(outputs, wanted, strict=True)), ""


def out_models(program, paths):
    far = {}
    for path in paths:
        far[path], line = differences(program, path)
        if far[path] is None:
            print(f"{path}: not read back: {line[-200:]}", flush=True)
        elif far[path] > 1e-6 or "/op" not in path:
            print(f"{path}: {far[path]:.1e}", flush=True)
    print(f"{len(far)} files, {sum(d is not None and d <= 1e-4 for d in far.values())} within 1e-4")


def in_place(ebb, path, batch):
    with tempfile.NamedTemporaryFile() as file:
        args = [ebb, "plan", path, "--dim", f"N={batch}", "-o", file.name, "--json"]
        return json.loads(subprocess.run(args, capture_output=True, text=True, check=True).stdout)


def trained(ebb, path, batch):
    """A row's cells from the arena on."""
    whole, rate = train_falling(ebb, path, batch)
    if "error" in whole:
        return ["", "", "", "", "", whole["error"][-160:], ""]
    plan = in_place(ebb, path, batch)
    part, share, proved = train_within(ebb, path, batch, rate, plan)
    added = f"{100 * part['predicted_step_ns'] / whole['predicted_step_ns'] - 100:.1f} %" if "steps" in part else ""
    same = "steps" in part and whole["params_hash"] == part["params_hash"] and losses_of(whole) == losses_of(part)
    losses = " ".join("-" if s["loss"] is None else f"{s['loss']:.7g}" for s in whole["steps"])
    return [f"{plan['arena_bytes'] / 2**20:.1f}", f"{share:.4g} %", "" if proved is None else f"{proved:.4g} %", added, rate,
            losses if falls(whole) else losses + " NOT FALLING", "equal" if same else "DIFFERENT " + part.get("error", "")[-90:]]


def models(ebb, program, batch, paths):
    print("| model | difference | arena MiB | within | proved | added | rate | losses | bits |\n|---|---|---|---|---|---|---|---|---|")
    for path in paths:
        far, line = differences(program, path)
        cells = [f"refused: {line[-160:]}"] if far is None else [f"{far:.1e}", *trained(ebb, path, batch)]
        print("|", " | ".join([pathlib.Path(path).stem, *cells]), "|", flush=True)


def main(ebb, program, *rest):
    if rest[:1] == ("node",):
        node_tests(program, *rest[1:])
    elif rest[:1] == ("out",):
        out_models(program, rest[1:])
    elif rest[:1] == ("--batch",):
        models(ebb, program, int(rest[1]), rest[2:])
    else:
        models(ebb, program, 4, rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
