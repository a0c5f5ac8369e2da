#!/usr/bin/env python3
"""`ebb doctor --full`: the conformance suite as a command.

    test_doctor.py EBB SANITIZE      SANITIZE: none, or the build's sanitizers, with which kernels are slow
"""
import json
import sys

from tester import equal, holds, main

USAGE, UNAVAILABLE = 2, 5


def devices(t):
    return [d["name"] for d in t.json("doctor")["devices"] if d["available"]]


def every_device_holds(t):
    """tests/exec tries every kernel of each of them, sanitized too: the command does so of one, and some of the others."""
    tried = [name for name in devices(t) if name not in ("shadow", "cuda")]
    quick = "cpu" if "cpu" in tried else "ref"
    for device in tried:
        whole = device == quick and sys.argv[2] == "none"
        some = [] if whole else ["--op", "conv2d", "--op", "softmax", "--op", "add"]
        suite = ("doctor", "--full", "--device", device, *some)
        text = t.ebb_run(*suite, "--threads", "3", "-o", "conformance.json").stdout.decode()
        told = json.loads((t.folder / "conformance.json").read_text())
        equal(told["schema"], "ebb.conformance/1")
        equal((told["verdict"], told["faults"], told["device"]), ("holds", 0, device))
        equal(sum(row["calls"] for row in told["rows"]), told["calls"], "calls")
        equal(len({row["op"] for row in told["rows"]}), told["ops"], "ops")
        holds(told["calls"] > 400 and told["ops"] > 60 if whole else told["ops"] == 3, "a suite of some size")
        holds(0 < told["worst"] <= 1 and told["peak_bytes"] < 64 << 20, told["worst"])
        equal({row["fault"] for row in told["rows"]}, {None})
        for family in {row["family"] for row in told["rows"]}:
            holds(f"\n{family} " in text, family)
        holds(text.endswith(": all hold\n"), text[-200:])


def ops_are_tried_by_name(t):
    some = ("doctor", "--full", "--device", "ref", "--op", "silu", "--op", "fill")
    told = t.json(*some)
    equal([row["op"] for row in told["rows"]], ["silu", "fill"], "in the table's order")
    t.ebb_run(*some, "-o", "some.json")
    equal(json.loads((t.folder / "some.json").read_text()), told, "as on standard output")
    t.ebb_run(*some, "--threads", "1")


def what_cannot_be_tried_is_told_in_one_line(t):
    for code, words, *args in ((USAGE, b"computes nothing", "--full", "--device", "shadow"),
                               (USAGE, b"--full", "--device", "ref"), (USAGE, b"--full", "--threads", "3"),
                               (UNAVAILABLE, b"\"abacus\"", "--full", "--device", "abacus")):
        done = t.ebb_run("doctor", *args, code=code)
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)


TESTS = [every_device_holds, ops_are_tried_by_name, what_cannot_be_tried_is_told_in_one_line]

if __name__ == "__main__":
    sys.exit(main(TESTS))
