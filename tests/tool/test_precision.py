#!/usr/bin/env python3
"""`--precision`: 16 bits for activations and gradients, with the same bits whatever memory is saved.

    test_precision.py EBB
"""
import sys

from tester import equal, holds, main

MODEL = """ebb 1
graph halves
dim N = 4
%x = input f32[N,3,16,16]
%labels = input i32[N]
%w1 = param f32[16,3,3,3] init=kaiming
%g1 = param f32[16] init=one
%b1 = param f32[16]
%m1 = state f32[16]
%v1 = state f32[16] init=one
%w2 = param f32[16,16,3,3] init=kaiming
%g2 = param f32[16] init=one
%b2 = param f32[16]
%m2 = state f32[16]
%v2 = state f32[16] init=one
%u = param f32[5,16] init=uniform
%c1 = conv2d %x, %w1 pad=1
%n1 = batch_norm %c1, %g1, %b1, %m1, %v1
%r1 = relu %n1
%c2 = conv2d %r1, %w2 pad=1
%n2 = batch_norm %c2, %g2, %b2, %m2, %v2
%s = add %n2, %r1
%r2 = relu %s
%p = global_avg_pool %r2
%l = linear %p, %u
%loss = softmax_xent %l, %labels
output %l
loss %loss
"""
RUN = ("run", "halves.ebb", "--steps", "3", "--lr", "0.05")
LOW = ("--precision", "bf16")


def device(name):
    return () if name == "cpu" else ("--device", name)


def a_step_in_bf16_learns_as_one_in_f32_does(t):
    (t.folder / "halves.ebb").write_text(MODEL)
    for name in "cpu", "ref":
        full, low = ([s["loss"] for s in t.json(*RUN, *device(name), *p)["steps"]] for p in ((), LOW))
        holds(low != full and all(abs(a - b) < 0.03 * b for a, b in zip(low, full)), f"{name}: {low} beside {full}")
        holds(low[-1] < low[0], low)


def memory_that_is_saved_changes_no_bit_of_bf16(t):
    (t.folder / "halves.ebb").write_text(MODEL)
    n_recomputed = 0
    for name in "cpu", "ref":
        ways = (), ("--no-reuse",), ("--no-fuse",), ("--phased",), ("--method", "megengine"), ("--threads", "2", "--poison")
        runs = [t.json(*RUN, *device(name), *LOW, *way, "--hash") for way in ways]
        equal(len({run["params_hash"] for run in runs}), 1, f"{name}: hashes")
        n_recomputed += sum(run["n_recomputed"] for run in runs)
    holds(n_recomputed > 0, "nothing was recomputed")


def f16_evaluates_and_does_not_train(t):
    (t.folder / "halves.ebb").write_text(MODEL)
    full, low = (t.json(*RUN, "--eval", *p)["steps"][0]["loss"] for p in ((), ("--precision", "f16")))
    holds(low != full and abs(low - full) < 0.01 * full, f"{low} beside {full}")
    refused = t.ebb_run(*RUN, "--precision", "f16", code=2)
    holds(not refused.stdout and refused.stderr.count(b"\n") == 1 and b"train in bf16" in refused.stderr, refused.stderr)


def what_is_fed_may_be_of_16_bits(t):
    for dtype in "f16", "bf16":
        (t.folder / "halves.ebb").write_text(
            f"ebb 1\ngraph fed\n%x = input {dtype}[4,8]\n%labels = input i32[4]\n%w = param {dtype}[3,8] init=uniform\n"
            "%l = linear %x, %w\n%loss = softmax_xent %l, %labels\nloss %loss\n")
        cpu, ref = (t.json(*RUN, *device(name), "--eval")["steps"][0]["loss"] for name in ("cpu", "ref"))
        holds(abs(cpu - ref) < 0.01 and cpu != 0, f"{dtype}: {cpu} and {ref}")


if __name__ == "__main__":
    sys.exit(main([a_step_in_bf16_learns_as_one_in_f32_does, memory_that_is_saved_changes_no_bit_of_bf16,
                   f16_evaluates_and_does_not_train, what_is_fed_may_be_of_16_bits]))
