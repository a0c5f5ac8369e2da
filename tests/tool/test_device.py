#!/usr/bin/env python3
"""--device cuda and descriptions of devices: what is said where there is none, and, on a module whose device is the host
(../cuda/twin_module.c), what is planned, run, capped and reported.

    test_device.py EBB TWIN
"""
import json
import os
import re
import sys

import harness
from tester import equal, holds, main, Skip

MIB = 1 << 20
TWIN = os.path.abspath(sys.argv[2])
ON_TWIN = {"EBB_CUDA_MODULE": TWIN}
# As cuDNN writes it, of a device of 10 MiB.
DEVICE = {"deviceName": "Small", "totalGlobalMem": 10 * MIB, "context_bytes": 2 * MIB, "deviceVer": 900}
FORWARD = """ebb 1
graph forward
dim N = 64
%x = input f32[N,96]
%w1 = param f32[96,96] init=kaiming
%w2 = param f32[96,96] init=kaiming
%a = linear %x, %w1
%r = relu %a
%b = linear %r, %w2
%s = add %b, %x
%y = relu %s
output %y
"""


def forward(t):
    (t.folder / "forward.ebb").write_text(FORWARD)
    (t.folder / "gpu.json").write_text(json.dumps(DEVICE))
    return "forward.ebb"


def refused(t, *args, code=5, env=None):
    done = t.ebb_run(*args, code=code, env=env)
    equal(done.stderr.count(b"\n"), 1, f"lines of {args}: {done.stderr}")
    equal(done.stdout, b"", str(args))
    return done.stderr.decode()


def every_command_says_in_one_line_that_there_is_no_module(t):
    model = forward(t)
    commands = [("plan", model), ("inspect", model), ("frontier", model), ("tune", model, "--budget", "1MB"), ("run", model),
                ("fit", model, "--budget", "1MB"), ("bench", "--ops", model), ("bench", "--calibrate", "-o", "c.json")]
    for command in commands:
        for device in ("cuda", "cuda:0") + (("gpu.json",) if command[0] not in ("run", "bench", "fit") else ()):
            said = refused(t, *command, "--eval", "--device", device, env={"EBB_CUDA_MODULE": "/no/such.so"})
            holds(re.search(r"its module cannot be opened: /no/such\.so", said), said)
    equal((t.folder / "c.json").exists(), False, "costs")


def without_a_device_the_answer_is_one_line(t):
    """By the module of this build, if it has one."""
    done = {d["name"]: d for d in t.json("doctor")["devices"]}["cuda"]
    if done["available"]:
        raise Skip("this machine has a device")
    said = refused(t, "plan", forward(t), "--eval", "--device", "cuda")
    holds(re.search(r"module cannot be opened|no NVIDIA driver|no device|driver knows|no kernels", said), said)
    holds(done["why"] in said, f"doctor says {done['why']}, plan {said}")


def a_description_runs_nothing(t):
    model = forward(t)
    for command in (("run", model), ("bench", "--ops", model)):
        for env in (None, ON_TWIN):
            holds("runs nothing" in refused(t, *command, "--eval", "--device", "gpu.json", env=env), str(command))


def devices_have_numbers(t):
    model = forward(t)
    holds("cuda:1" in refused(t, "plan", model, "--eval", "--device", "cuda:1", env=ON_TWIN), "cuda:1")
    for device in ("cuda:x", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"):
        holds("write cuda" in refused(t, "plan", model, "--eval", "--device", device, code=2, env=ON_TWIN), device)
    holds("not in this build" in refused(t, "plan", model, "--eval", "--device", "cudax", env=ON_TWIN), "cudax")


def what_only_a_device_has_is_refused_elsewhere(t):
    model = forward(t)
    for flags in (["--tf32"], ["--cap", "1MB"], ["--watch-memory"], ["--auto"]):
        said = refused(t, "run", model, "--eval", "--device", "ref", *flags, code=2)
        holds(re.search("cuda|memory of their own", said), said)
    equal("device_memory" in t.json("run", model, "--eval", "--device", "ref", "--steps", "1"), False, "device_memory on ref")
    for flags in (["--cap", "1MB"], ["--watch-memory"]):
        refused(t, "run", model, "--eval", "--device", "gpu.json", *flags, env=ON_TWIN)


def plans_are_the_devices(t):
    model = forward(t)
    for device in ("cuda", "cuda:0", "gpu.json", "./gpu.json"):
        plan = t.json("plan", model, "--eval", "--device", device, env=ON_TWIN)
        equal((plan["backend"], plan["n_threads"], plan["alignment"]), ("cuda", 1, 256), device)


def a_run_takes_what_was_planned_recorded_or_not(t):
    model = forward(t)
    for flags in ([], ["--no-graph"], ["--phased"], ["--poison"], ["--profile"]):
        run = t.json("run", model, "--eval", "--device", "cuda", "--steps", "5", *flags, env=ON_TWIN)
        equal(len(run["steps"]), 5)
        equal(run["allocated_bytes"], run["planned_bytes"], str(flags))
        memory = run["device_memory"]
        equal((memory["block_bytes"], memory["hidden_bytes"]), (run["planned_bytes"], None), str(flags))
        equal(memory["total_bytes"] - memory["free_bytes"], run["planned_bytes"], str(flags))
    text = t.ebb_run("run", model, "--eval", "--device", "cuda", env=ON_TWIN).stdout.decode()
    for line in (r"^planned block +(\d+) bytes", r"^allocated block +(\d+) bytes", r"^context +0 bytes", r"^process +not known",
                 r"^hidden +not watched"):
        holds(re.search(line, text, re.M), f"{line} in {text}")


def a_cap_leaves_so_much(t):
    model = forward(t)
    run = t.json("run", model, "--eval", "--device", "cuda", "--cap", "1MiB", env=ON_TWIN)
    memory = run["device_memory"]
    equal(memory["ballast_bytes"], memory["total_bytes"] - MIB)
    equal(memory["free_bytes"], MIB - run["planned_bytes"])
    need = run["planned_bytes"]
    t.ebb_run("run", model, "--eval", "--device", "cuda", "--cap", str(need), env=ON_TWIN)
    said = refused(t, "run", model, "--eval", "--device", "cuda", "--cap", str(need - 1), code=4, env=ON_TWIN)
    for number in (need, need - 1):
        holds(re.search(rf"\b{number}\b", said), f"{number} in {said}")
    holds(re.search(r"persistent.*transient.*free.*context.*ballast", said), said)
    refused(t, "run", model, "--eval", "--device", "cuda", "--cap", "2TiB", code=2, env=ON_TWIN)


def a_description_is_a_budget_less_what_is_reserved(t):
    model = forward(t)
    left = 8 * MIB
    for reserve in (0, 4096, left - 512 * 1024):
        plan = t.json("plan", model, "--eval", "--device", "gpu.json", "--reserve", str(reserve), env=ON_TWIN)
        equal(plan["budget_bytes"], left - reserve)
        holds(plan["total_bytes"] <= left - reserve, plan["total_bytes"])
    equal(t.json("plan", model, "--eval", "--device", "gpu.json", env=ON_TWIN)["budget_bytes"], None, "without it: in place")
    (t.folder / "tiny.json").write_text(json.dumps({**DEVICE, "deviceName": "Tiny", "context_bytes": DEVICE["totalGlobalMem"] - 4096}))
    for file, words in (("gpu.json", []), ("tiny.json", [b"more than the 4096 that Tiny has beside its context: --budget 4096 plans"])):
        said = t.ebb_run("plan", model, "--eval", "--device", file, "--budget", "99MiB", "--effort", "200", env=ON_TWIN).stderr
        equal(said, t.ebb_run("plan", model, "--eval", "--device", file, env=ON_TWIN).stderr, "with a budget or without")
        holds(all(word in said for word in words) and said.count(b"\n") == len(words), said)
    equal(t.json("plan", model, "--eval", "--device", "ref", "--budget", "2MiB", "--reserve", "1MiB")["budget_bytes"], MIB)
    refused(t, "plan", model, "--eval", "--device", "gpu.json", "--reserve", str(left), code=2, env=ON_TWIN)
    holds("give --budget" in refused(t, "plan", model, "--eval", "--reserve", "1MiB", code=2), "nothing to leave unused")
    holds("gpux.json" in refused(t, "plan", model, "--device", "gpux.json", "--reserve", "1MiB", code=7), "no such file")


def fit_plans_for_the_device_that_a_description_says_computes(t):
    model = forward(t)
    only_memory = {key: DEVICE[key] for key in ("deviceName", "totalGlobalMem", "context_bytes")}
    (t.folder / "memory.json").write_text(json.dumps(only_memory))
    asked = ("fit", model, "--eval", "--effort", "500", "--plans", "p", "--device")
    for file, backend in (("gpu.json", {"cuda"}), ("memory.json", {"cpu", "ref"})):
        answer = t.json(*asked, file, env=ON_TWIN)
        equal(answer["budget_bytes"], 8 * MIB)
        for row in answer["rows"]:
            plan = json.loads((t.folder / row["plan"]).read_text())
            holds(plan["backend"] in backend, f"{file}: {plan['backend']}")
        answer = t.json(*asked, file, "--budget", "2MiB", "--reserve", "4096", env=ON_TWIN)
        equal((answer["budget_bytes"], answer["device"]["memory_bytes"]), (2 * MIB - 4096, DEVICE["totalGlobalMem"]), "stated")
        told = t.ebb_run(*asked, file, "--budget", "2MiB", env=ON_TWIN).stdout.decode()
        holds("--budget says how much there is" in told and "less" not in told.splitlines()[0], told)
    said = refused(t, *asked, "gpu.json", env={"EBB_CUDA_MODULE": "/no/such.so"})
    holds("module cannot be opened" in said, said)
    t.json(*asked, "memory.json", env={"EBB_CUDA_MODULE": "/no/such.so"})


def doctor_says_why_not(t):
    devices = {d["name"]: d for d in t.json("doctor", env=ON_TWIN)["devices"]}
    equal((devices["cuda"]["available"], devices["cuda"]["why"]), (True, None))
    devices = {d["name"]: d for d in t.json("doctor", env={"EBB_CUDA_MODULE": "/no/such.so"})["devices"]}
    equal(devices["cuda"]["available"], False)
    holds("/no/such.so" in devices["cuda"]["why"], devices["cuda"]["why"])


def trains(t, *args, **env):
    args = ("run", "conv.ebb", "--device", "cuda", "--steps", "6", "--effort", "2000", *args)
    return harness.run(t.ebb, args, t.folder, env={**ON_TWIN, **env})


def training_is_the_same_recorded_or_not_and_however_little_memory(t):
    budget = ("--budget", "85%")
    for precision in "f32", "bf16", "f16":
        low = ("--precision", precision, "--dim", "N=8")
        losses = []
        ways = ([], ["--no-graph"], budget) + ((["--poison"], ["--phased"], (*budget, "--no-graph")) if precision == "f32" else ())
        for flags in ways:
            done = trains(t, "--json", *low, *flags)
            equal(done.returncode, 0, f"{precision} {flags}: {done.stderr}")
            told = json.loads(done.stdout)
            losses.append([step["loss"] for step in told["steps"] if not step.get("skipped")])
            equal(losses[-1], losses[0], f"{precision} {flags}")
            replayed = 0 if "--no-graph" in flags else 3 * 5 if "--phased" in flags else 5
            equal((told["n_replayed"], told["n_recomputed"] > 0), (replayed, "--budget" in flags), f"{precision} {flags}")
        equal((len(losses[0]) > 1, len(set(losses[0]))), (True, len(losses[0])), f"{precision}: it trains")


def with_auto_what_does_not_fit_is_planned_again(t):
    need = json.loads(trains(t, "--json").stdout)["planned_bytes"]
    less = need * 9 // 10
    done = trains(t, EBB_TWIN_MEMORY=str(less))
    equal(done.returncode, 4, str(done.stderr))
    done = trains(t, "--auto", "--reserve", "0", "--json", EBB_TWIN_MEMORY=str(less))
    equal(done.returncode, 0, str(done.stderr))
    run = json.loads(done.stdout)
    holds(run["planned_bytes"] <= less and run["planned_bytes"] == run["allocated_bytes"], run["planned_bytes"])
    holds(f"planning again within {less} bytes" in done.stderr.decode(), done.stderr)


def with_auto_the_reserve_stays_free(t):
    need = json.loads(trains(t, "--json").stdout)["planned_bytes"]
    room, reserve = need + 1000, need // 10
    for flags in ([], ["--budget", str(need)]):
        done = trains(t, "--auto", "--reserve", str(reserve), "--json", *flags, EBB_TWIN_MEMORY=str(room))
        equal(done.returncode, 0, str(done.stderr))
        holds("the plan leaves 1000 bytes of the device free" in done.stderr.decode(), done.stderr)
        holds(f"planning again within {room - reserve} bytes" in done.stderr.decode(), done.stderr)
        holds(json.loads(done.stdout)["planned_bytes"] <= room - reserve, done.stdout)
    done = trains(t, "--auto", "--reserve", "1000", "--json", EBB_TWIN_MEMORY=str(room))
    equal((done.returncode, done.stderr), (0, b""))
    done = trains(t, "--auto", "--reserve", str(room), EBB_TWIN_MEMORY=str(room))
    equal((done.returncode, done.stderr.count(b"\n")), (4, 1), done.stderr)
    holds("nothing of it is left beside the reserve" in done.stderr.decode(), done.stderr)


if __name__ == "__main__":
    sys.exit(main([
        every_command_says_in_one_line_that_there_is_no_module,
        without_a_device_the_answer_is_one_line,
        a_description_runs_nothing,
        devices_have_numbers,
        what_only_a_device_has_is_refused_elsewhere,
        plans_are_the_devices,
        a_run_takes_what_was_planned_recorded_or_not,
        a_cap_leaves_so_much,
        a_description_is_a_budget_less_what_is_reserved,
        fit_plans_for_the_device_that_a_description_says_computes,
        doctor_says_why_not,
        training_is_the_same_recorded_or_not_and_however_little_memory,
        with_auto_what_does_not_fit_is_planned_again,
        with_auto_the_reserve_stays_free,
    ]))
