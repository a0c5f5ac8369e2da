#!/usr/bin/env python3
"""The traced example: three steps op by op and three planned, each with less loss, within the budget.

    test_traced.py TRACED
"""
import re
import subprocess
import sys

STEP = re.compile(r"step (\d), (eager|recorded|planned): loss (\d+\.\d{6})$")
PLANNED = re.compile(r"planned: (\d+) bytes of (\d+)$")
WAYS = ["eager"] * 3 + ["recorded"] + ["planned"] * 2


def main(traced):
    out = subprocess.run([traced], check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    steps = [STEP.match(line) for line in out[:-1]]
    assert all(steps), out
    assert [step.group(2) for step in steps] == WAYS, out
    losses = [float(step.group(3)) for step in steps]
    assert all(later < earlier for earlier, later in zip(losses, losses[1:])), losses
    total, budget = map(int, PLANNED.match(out[-1]).groups())
    assert 0 < total <= budget, out[-1]


if __name__ == "__main__":
    main(sys.argv[1])
