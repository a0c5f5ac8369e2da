#!/usr/bin/env python3
"""`bench --backend xla --compile-only` for an H100 that is only described (h100.txtpb), by a CUDA plugin if one is installed.

    test_xla_cuda.py EBB
"""
import os
import pathlib
import sys

from tester import Skip, equal, holds, main

TARGET = pathlib.Path(__file__).with_name("h100.txtpb")
PLUGIN = "lib/python3*/*-packages/jax_plugins/xla_cuda*/xla_cuda_plugin.so"
LAYERS, CHANNELS = 12, 16
DIM = ("--dim", "N=64")


def model():
    """A chain in whose backward all activations are read: what recomputation is for."""
    lines = ["ebb 1", "graph chain", "dim N = 1", "%x = input f32[N,16,32,32]", "%labels = input i32[N]"]
    last = "x"
    for i in range(LAYERS):
        lines += [f"%k{i} = param f32[{CHANNELS},{CHANNELS},3,3] init=kaiming",
                  f"%c{i} = conv2d %{last}, %k{i} pad=1", f"%r{i} = gelu %c{i}"]
        last = f"r{i}"
    lines += ["%w = param f32[10,16] init=uniform", f"%a = global_avg_pool %{last}", "%logits = linear %a, %w",
              "%loss = softmax_xent %logits, %labels", "loss %loss"]
    return "\n".join(lines) + "\n"


def here(t):
    """The environment that compiles for the described device."""
    (t.folder / "chain.ebb").write_text(model())
    prefixes = [os.environ.get("VIRTUAL_ENV"), pathlib.Path.home() / ".local", "/usr/local", "/usr"]
    found = [f for prefix in prefixes if prefix for f in sorted(pathlib.Path(prefix).glob(PLUGIN))]
    if not found:
        raise Skip("no CUDA plugin is here (scripts/install-deps --xla-cuda): nothing is compiled for a described H100")
    return {"EBB_PJRT_PLUGIN": str(found[-1]), "EBB_PJRT_TARGET": str(TARGET)}


def repeated_steps_are_not_merged_for_a_described_gpu(t):
    env = here(t)
    plan = t.json("plan", "chain.ebb", *DIM, "--no-fuse", "-o", "plan.json")
    budget = plan["total_bytes"] - plan["arena_bytes"] * 6 // 10
    told = t.json("bench", "chain.ebb", *DIM, "--backend", "xla", "--compile-only", "--budget", str(budget), env=env)
    equal((told["steps"], told["baseline_arena_bytes"]), (0, plan["arena_bytes"]), "compiled, not run")
    holds(told["n_recomputed"] > 0 and told["arena_bytes"] <= plan["arena_bytes"] * 2 // 5, told)
    holds(0 < told["temp_bytes"] <= told["merged_temp_bytes"] * 3 // 5, told)


def what_is_described_does_not_run(t):
    env = here(t)
    done = t.ebb_run("run", "chain.ebb", *DIM, "--backend", "xla", code=5, env=env)
    holds(done.stderr.count(b"\n") == 1 and b"describes a device" in done.stderr, done.stderr)


TESTS = [repeated_steps_are_not_merged_for_a_described_gpu, what_is_described_does_not_run]

if __name__ == "__main__":
    sys.exit(main(TESTS))
