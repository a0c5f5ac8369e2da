"""The parts of gpu-check that are about the machine: what is built there, and what its device says of itself. A part
takes the check (device, command, model, clock) and fills `found`, which is kept whatever happens to it: "faults" are why
it is not well, "unproven" is what could not be tried."""
import json
import pathlib
import sys

import facts
import machine
from machine import ROOT, Failed, Unproven, collect, run_json

HERE = pathlib.Path(__file__).resolve().parent


def logged(check, name, command, limit_s):
    """(exit code, text) of a command, which is beside the record too."""
    code, out, err = machine.run(command, limit_s)
    (check.logs / name).write_bytes(out + err)
    return code, (out + err).decode(errors="replace")


def options_of(check, found):
    options = ["-Dtests=disabled", "-Dexamples=disabled", "--buildtype=release"]
    if check.dry:
        return options
    if check.toolkit is None:
        raise Failed("no nvcc: name the toolkit's folder with --toolkit")
    found["architecture"] = machine.architecture(check.device)
    options += ["-Dcuda=enabled", f"-Dtoolkit={check.toolkit}"]
    if found["architecture"]:  # one of three: a third of nvcc's time
        options.append(f"-Darchitectures={found['architecture']}")
    if check.cudnn and check.cudnn not in (check.toolkit, pathlib.Path("/usr")):
        options.append(f"-Dcudnn={check.cudnn}")
    return options


def build(check, found):
    meson, ninja = machine.builders()
    # A folder of an earlier build may have other options, or another toolkit.
    again = ["--reconfigure"] if (check.build / "build.ninja").exists() else []
    code, text = logged(check, "meson.log", [*meson, "setup", *again, check.build, *options_of(check, found)], check.left(120))
    if code != 0:
        raise Failed(f"meson setup: {'too slow' if code is None else machine.last_line(text)} (meson.log)")
    code, text = logged(check, "ninja.log", [ninja, "-C", check.build, "src/tool/ebb", *([] if check.dry else ["src/libebb_cuda.so"])],
                        check.left(400))
    if code != 0:
        why = "; ".join(line for line in text.splitlines() if "error" in line)[:600]
        raise Failed(f"ninja: {'too slow' if code is None else why} (ninja.log)")
    check.is_whole = True
    with collect(found, "doctor"):
        found["doctor"] = run_json([check.ebb, "doctor", "--json"], check.left(90), codes=(0, 1, 5))


def questions(check, found):
    """cuDNN's own description of the device, and its copies."""
    if check.dry:
        raise Unproven("a dry run has no device to ask")
    files = facts.libraries(check)
    folders = [check.toolkit, check.cudnn, pathlib.Path("/usr"), *check.wheels]
    patterns = ("include/cudnn_graph.h", "include/*/cudnn_graph.h", "cudnn/include/cudnn_graph.h")
    header = next((path for folder in folders if folder for pattern in patterns for path in sorted(folder.glob(pattern))), None)
    if not (files["cudnn"] and header and files["cudart"]):
        raise Unproven(f"not found: cuDNN {files['cudnn']}, its header {header}, the runtime {files['cudart']}")
    found.update(run_json([sys.executable, HERE / "device.py", files["cudnn"], header, files["cudart"], check.ordinal], check.left(40)))
    for key in ("deviceprop", "copies"):
        if "error" in found[key]:
            raise Failed(f"{key}: {found[key]['error']}")
    found["differs_from"] = differences(found["deviceprop"])
    check.goals.judge("device", True, f"{found['copies']['to_device_gb_s']} GB/s in")


def differences(told):
    """What descriptions written by hand say otherwise than this device of the same architecture."""
    known, found = ROOT / "examples/devices", {}
    for file in sorted(known.glob("*.json")) if known.is_dir() else []:
        ours = json.loads(file.read_text())
        if ours.get("deviceVer") == told.get("deviceVer"):
            found[file.name] = {key: [ours[key], told[key]] for key in ours if key in told and ours[key] != told[key]}
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
