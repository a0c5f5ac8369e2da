#!/usr/bin/env python3
"""ebb inspect, doctor, help and version: what the command says of models, of machines and of itself.

    test_inspect.py EBB
"""
import sys

from models import SMALL
from tester import equal, holds, main


def version_and_help_go_to_standard_output(t):
    holds(t.ebb_run("--version").stdout.startswith(b"ebb "), "version")
    commands = ["inspect", "plan", "fit", "frontier", "tune", "run", "verify", "report", "diff", "pack", "doctor"]
    overview = t.ebb_run("help").stdout.decode()
    for command in commands:
        holds(f"  {command} " in overview, f"help lists {command}")
        once = t.ebb_run("help", command).stdout
        equal(t.ebb_run(command, "--help").stdout, once, command)
        holds(b"--json" in once, f"{command} lists --json")


def a_model_without_a_loss_goes_forward_only(t):
    (t.folder / "forward.ebb").write_text(SMALL.replace("loss %loss", "output %loss"))
    facts = t.json("inspect", "forward.ebb")
    equal((facts["n_forward"], facts["n_backward"], facts["n_update"]), (facts["n_ops"], 0, 0))


def inspect_counts_parameters(t):
    facts = t.json("inspect", "small.ebb")
    equal(facts["n_param_elements"], 33 * 3 + 33 + 5 * 33)
    equal(facts["n_ops"], facts["n_forward"] + facts["n_backward"] + facts["n_update"])
    holds(t.json("inspect", "small.ebb", "--eval")["n_backward"] == 0, "evaluation has no backward")


def doctor_lists_devices(t):
    report = t.json("doctor")
    names = [device["name"] for device in report["devices"]]
    for name in ("ref", "shadow"):
        holds(name in names, name)
    holds(report["n_usable_processors"] >= 1, "processors")


TESTS = [
    version_and_help_go_to_standard_output,
    a_model_without_a_loss_goes_forward_only,
    inspect_counts_parameters,
    doctor_lists_devices,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
