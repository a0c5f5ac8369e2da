#!/usr/bin/env python3
"""A training step of ResNet-50 by `ebb run`, traced from Python, and op by op: times in turns, and what the pool holds.

    steps.py EBB MODEL [--batch 4] [--image 224] [--rounds 3]     MODEL: examples/models/resnet50.ebb
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import numpy as np

import ebb
import ebb.functional as F
import ebb.optimizer as optim
from ebb.autodiff import GradManager
from ebb.jit import trace

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "python" / "resnet50.py"
STEPS = 4


def network():
    """Of the example, whose first cell it is."""
    names = {}
    exec(compile("#" + EXAMPLE.read_text().split("# %%")[1], str(EXAMPLE), "exec"), names)
    return names["ResNet50"](3, 1000)


def training(batch, image):
    net = network()
    gm, opt = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    rng = np.random.default_rng(1)
    x = ebb.tensor(rng.standard_normal((batch, 3, image, image)).astype(np.float32))
    y = ebb.tensor(rng.integers(0, 1000, batch).astype(np.int32))

    def step(x, y):
        with gm:
            loss = F.loss.cross_entropy(net(x), y)
            gm.backward(loss)
        opt.step().clear_grad()
        return loss

    return step, x, y


def times(step, x, y):
    step(x, y).item()  # plans, or fills the pool
    spent = []
    for _ in range(STEPS):
        began = time.perf_counter()
        step(x, y).item()
        spent.append(1e3 * (time.perf_counter() - began))
    return statistics.median(spent)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ebb")
    parser.add_argument("model")
    for name, value in (("batch", 4), ("image", 224), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    step, x, y = training(args.batch, args.image)
    traced = trace(step, symbolic=True)
    command = [args.ebb, "run", args.model, "--dim", f"N={args.batch}", "--dim", f"H={args.image}", "--steps", str(1 + STEPS), "--json"]
    rows = {"ebb run": [], "traced": [], "op by op": []}
    for _ in range(args.rounds):
        done = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        rows["ebb run"].append(statistics.median(s["ns"] / 1e6 for s in done["steps"][1:]))
        rows["traced"].append(times(traced, x, y))
        rows["op by op"].append(times(step, x, y))
    for name, found in rows.items():
        print(f"{name:10}", *(f"{ms:8.1f}" for ms in found), "ms")
    print(f"traced / ebb run {statistics.median(rows['traced']) / statistics.median(rows['ebb run']):.3f}; "
          f"op by op / traced {statistics.median(rows['op by op']) / statistics.median(rows['traced']):.3f}")
    ebb.device.coalesce_free_memory()
    ebb._core.reset_peak()
    step(x, y).item()
    memory = ebb._core.memory()
    print(f"op by op the pool holds {memory['pool_bytes']:,} bytes; most live {memory['peak_live_bytes']:,}")


main()
