#!/usr/bin/env python3
"""ebb plan for a GPU that is not there, by its description.

    test_described.py EBB SOURCE-ROOT
"""
import json
import os
import re
import sys

import harness
from tester import Skip, holds, main


def megengines_sample_of_resnet50_on_a_described_rtx_2080_ti(t):
    """100 images fit; 200 do not, and the numbers are told; 200 with 20 generations do."""
    root = sys.argv[2]
    device = os.path.join(root, "examples", "devices", "rtx2080ti.json")
    plan = ("plan", os.path.join(root, "examples", "models", "resnet50.ebb"), "--device", device, "--json")
    if harness.run(t.ebb, (*plan, "--dim", "N=1"), t.folder).returncode == 5:
        raise Skip("this build has no cuda")
    beside_context = 11017846784
    small, large = (t.ebb_run(*plan, "--dim", f"N={n}") for n in (100, 200))
    holds(json.loads(small.stdout)["total_bytes"] < beside_context and b"takes" not in small.stderr, small.stderr)
    total = json.loads(large.stdout)["total_bytes"]
    holds(f"the plan takes {total} bytes, more than the {beside_context} that" in large.stderr.decode(), large.stderr)
    searched = t.ebb_run(*plan, "--dim", "N=200", "--genetic-nr-iter", "20")
    holds(json.loads(searched.stdout)["total_bytes"] < beside_context and b"takes" not in searched.stderr, searched.stderr)


def every_op_of_a_model_has_a_kernel_in_each_precision(t):
    """What convolutions of which sizes have a plan, tests/cuda/products holds: here a model whose ops others have, too, is left out."""
    models, device = (os.path.join(sys.argv[2], "examples", folder) for folder in ("models", "devices/h100.json"))
    names = sorted(name for name in os.listdir(models) if name.endswith(".ebb"))
    holds(names, models)
    tried = set()
    for name in names:
        with open(os.path.join(models, name), encoding="utf-8") as file:
            ops = set(re.findall(r" = ([a-z]\w*)", file.read()))
        if ops <= tried:
            continue
        tried |= ops
        for precision in "f32", "bf16", "f16":
            args = ("plan", os.path.join(models, name), "--device", device, "--precision", precision, "--json")
            done = harness.run(t.ebb, args, t.folder)
            if done.returncode == 5:
                raise Skip("this build has no cuda")
            holds(done.returncode == 0, f"{name} in {precision}: {done.stderr}")
    holds(len(tried) > 10, tried)


TESTS = [megengines_sample_of_resnet50_on_a_described_rtx_2080_ti, every_op_of_a_model_has_a_kernel_in_each_precision]


if __name__ == "__main__":
    sys.exit(main(TESTS))
