#!/usr/bin/env python3
"""What an op of a few numbers costs from Python: Ebb's and PyTorch's eager mode, alternating in one process.

    overhead.py [ROUNDS]     needs the packages ebb and torch; prints a row an op, the median of the rounds in ns
"""
import statistics
import sys
import time

import ebb
import ebb.functional as F
import torch

CALLS = 20_000
SIZE = 32


def libraries():
    """For each library: its name and its ops, each a function without arguments."""
    x, y = ebb.Tensor([0.5] * SIZE), ebb.Tensor([0.25] * SIZE)
    yield "ebb", {"x + y": lambda: x + y, "x * 2.0": lambda: x * 2.0, "relu(x)": lambda: F.relu(x)}
    torch.set_num_threads(1)
    a, b = torch.full((SIZE,), 0.5), torch.full((SIZE,), 0.25)
    yield "torch", {"x + y": lambda: a + b, "x * 2.0": lambda: a * 2.0, "relu(x)": lambda: torch.relu(a)}


def ns_a_call(op):
    began = time.perf_counter_ns()
    for _ in range(CALLS):
        op()
    return (time.perf_counter_ns() - began) / CALLS


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    made = dict(libraries())
    seen = {(name, op): [] for name, ops in made.items() for op in ops}
    for ops in made.values():
        for op in ops.values():
            ns_a_call(op)
    for _ in range(rounds):
        for name, ops in made.items():
            for op, call in ops.items():
                seen[name, op].append(ns_a_call(call))
    print(f"{'op':10}{'ebb':>8}{'torch':>8}{'ratio':>8}   ns a call, {SIZE} floats, torch {torch.__version__}")
    for op in made["ebb"]:
        ours, theirs = (statistics.median(seen[name, op]) for name in ("ebb", "torch"))
        print(f"{op:10}{ours:8.0f}{theirs:8.0f}{ours / theirs:8.2f}")


if __name__ == "__main__":
    main()
