#!/usr/bin/env python3
"""Chains of pointwise ops on the device cuda: on a module whose device is the host and whose compiler is the host's
(../cuda/compiler_host.c), the same bits as of ops one by one; what is named and not there; plans for a described device.

    test_jit_cuda.py EBB TWIN
"""
import json
import os
import sys

from tester import Skip, equal, holds, main
from test_jit import MODEL, USAGE, UNAVAILABLE

TWIN = os.path.abspath(sys.argv[2])
MLIR = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1]))), "libebb_mlir.so")
RUN = ("run", "gated.ebb", "--device", "cuda", "--steps", "3", "--lr", "0.05", "--hash")
DEVICE = {"deviceName": "Some", "totalGlobalMem": 1 << 30, "context_bytes": 2 << 20, "deviceVer": 900}


def write(t, **env):
    (t.folder / "gated.ebb").write_text(MODEL)
    (t.folder / "gpu.json").write_text(json.dumps(DEVICE))
    return {"EBB_CUDA_MODULE": TWIN, "EBB_MLIR_MODULE": MLIR, "XDG_CACHE_HOME": str(t.folder / "cache"), **env}


def no_level_changes_a_bit(t):
    env = write(t)
    for precision in (), ("--precision", "bf16"):
        ways = [(), ("--opt-level", "3"), ("--opt-level", "3", "--jit", "NVRTC", "--no-graph"), ("--opt-level", "3", "--no-fuse")]
        equal(len({t.json(*RUN, *precision, *way, env=env)["params_hash"] for way in ways}), 1, f"hashes {precision}")
    tight = [t.json(*RUN, "--dim", "N=700", "--budget", "560kB", "--opt-level", level, env=env)["params_hash"] for level in "23"]
    equal(*tight, "within a budget")
    equal(*(t.json(*RUN, "--opt-level", "3", env={**env, "XDG_CACHE_HOME": folder})["params_hash"]
            for folder in ("/dev/null", env["XDG_CACHE_HOME"])), "nowhere to keep code")


def nor_does_mlir(t):
    """The text that a GPU's code is made of, compiled for the twin (../cuda/compiler_mlir_host.c)."""
    env = write(t)
    row = next(e for e in t.json("doctor", env=env)["emitters"] if (e["name"], e["device"]) == ("MLIR", "cuda"))
    if not row["available"]:
        raise Skip(row["why"])
    for precision in (), ("--precision", "bf16"), ("--precision", "f16"):
        ways = [(), ("--opt-level", "3", "--jit", "MLIR"), ("--opt-level", "3", "--jit", "MLIR", "--no-graph")]
        equal(len({t.json(*RUN, *precision, *way, env=env)["params_hash"] for way in ways}), 1, f"hashes {precision}")
    tight = [t.json(*RUN, "--dim", "N=700", "--budget", "560kB", *way, env=env)["params_hash"] for way in ways[:2]]
    equal(*tight, "within a budget")


def fused(t, env, *args):
    return b"= fused %" in t.ebb_run("plan", "gated.ebb", *args, "--dump", "pointwise", "-o", "plan.json", env=env).stderr


def without_a_compiler_ops_run_one_by_one(t):
    env, none = write(t), write(t, EBB_TWIN_CC="no-such-cc")
    holds(fused(t, env, "--device", "cuda", "--opt-level", "3") and not fused(t, env, "--device", "cuda"), "at level 3 alone")
    t.ebb_run("verify", "plan.json")
    holds(not fused(t, none, "--device", "cuda", "--opt-level", "3"), "no compiler")
    equal(*(t.json(*RUN, "--opt-level", "3", env=each)["params_hash"] for each in (env, none)), "hashes")
    for code, words, env, *args in ((UNAVAILABLE, b"no C compiler at", none, "--jit", "NVRTC"),
                                    (UNAVAILABLE, b"jit LLVM is not of the device cuda: it has NVRTC", env, "--jit", "LLVM"),
                                    (UNAVAILABLE, b"jit MLIR: its module cannot be opened: /nowhere.so",
                                     {**env, "MGB_JIT_BACKEND": "MLIR", "EBB_MLIR_MODULE": "/nowhere.so"}),
                                    (UNAVAILABLE, b"jit HALIDE: it makes code for sm_75 to sm_86, and this device is of sm_90", env, "--jit", "HALIDE"),
                                    (USAGE, b'jit "TCC" is not known', env, "--jit", "TCC")):
        done = t.ebb_run(*RUN, "--opt-level", "3", *args, code=code, env=env)
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)


def moved(plan):
    """Bytes that its steps read and write."""
    values = [value["bytes"] for value in plan["graph"]["values"]]
    ops = plan["graph"]["ops"]
    return sum(values[v] for step in plan["steps"] for v in ops[step["op"]]["inputs"] + ops[step["op"]]["outputs"])


def a_described_device_is_taken_to_have_a_compiler(t):
    env = write(t, EBB_TWIN_CC="no-such-cc")
    plans = [t.json("plan", "gated.ebb", "--dim", "N=7000", "--device", "gpu.json", "--opt-level", level, env=env) for level in "23"]
    holds(moved(plans[1]) < 0.85 * moved(plans[0]), [moved(plan) for plan in plans])
    holds(plans[1]["time_ns"] < plans[0]["time_ns"], [plan["time_ns"] for plan in plans])
    for name in "NVRTC", "MLIR":
        t.json("plan", "gated.ebb", "--device", "gpu.json", "--opt-level", "3", "--jit", name, env=env)
    done = t.ebb_run("plan", "gated.ebb", "--device", "gpu.json", "--opt-level", "3", "--jit", "HALIDE", env=env, code=UNAVAILABLE)
    holds(done.stderr.count(b"\n") == 1 and b"to sm_86, and this device is of sm_90: take NVRTC or MLIR" in done.stderr, done.stderr)


def doctor_tells_of_it(t):
    for env, available, key, words in ((write(t), True, "version", "cc"), (write(t, EBB_TWIN_CC="no-such-cc"), False, "why", "no-such-cc")):
        row = next(e for e in t.json("doctor", env=env)["emitters"] if e["name"] == "NVRTC")
        equal((row["device"], row["available"]), ("cuda", available))
        holds(words in row[key], row)
        holds(b"jit NVRTC" in t.ebb_run("doctor", env=env).stdout, "as text")


TESTS = [no_level_changes_a_bit, nor_does_mlir, without_a_compiler_ops_run_one_by_one, a_described_device_is_taken_to_have_a_compiler, doctor_tells_of_it]

if __name__ == "__main__":
    sys.exit(main(TESTS))
