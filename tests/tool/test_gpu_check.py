#!/usr/bin/env python3
"""`scripts/gpu-check` where there is no GPU: dry, on a backend of the host.

    test_gpu_check.py EBB ROOT
"""
import json
import os
import pathlib
import subprocess
import sys

from tester import Skip, equal, holds, main

SCRIPT = pathlib.Path(sys.argv[2]) / "scripts/gpu-check"
PARTS = ["conformance", "bits", "capped", "table", "questions", "compare", "pytorch", "costs", "kinds", "sanitizer"]


def check(t, *args, ebb=None):
    """(exit code, stdout, stderr, record or None) of a dry run."""
    device = next(d["name"] for d in t.json("doctor")["devices"] if d["available"] and d["name"] in ("cpu", "ref"))
    record = t.folder / "record.json"
    command = [sys.executable, SCRIPT, "--dry", "--ebb", ebb or t.ebb, "--device", device, "--build", t.folder / "build", "-o", record, *args]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=280, check=False,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    return done.returncode, done.stdout.decode(), done.stderr.decode(), json.loads(record.read_text()) if record.exists() else None


def wrapped(t, lines):
    """A command that is Ebb, but for what `lines` do to its document `told` (argv: sys.argv)."""
    path = t.folder / "ebb"
    path.write_text(f"#!{sys.executable}\nimport json, subprocess, sys\n"
                    f"done = subprocess.run([{t.ebb!r}, *sys.argv[1:]], stdout=subprocess.PIPE)\n"
                    "told = json.loads(done.stdout) if done.stdout[:1] == b'{' else None\n" + lines +
                    "\nsys.stdout.write(json.dumps(told) if told else done.stdout.decode())\nsys.exit(done.returncode)\n")
    path.chmod(0o755)
    return path


def every_part_runs_without_a_gpu(t):
    code, out, err, record = check(t)
    equal((code, err), (0, ""), out)
    equal(list(record["parts"]), PARTS, "parts")
    for name, part in record["parts"].items():
        holds(part["status"] in ("ok", "skipped"), f"{name}: {part['why']}")
    for name in ("conformance", "bits", "capped", "table", "compare", "costs", "kinds"):
        equal(record["parts"][name]["status"], "ok", name)
    rows = record["parts"]["table"]["rows"] + record["parts"]["capped"]["rows"]
    holds(len(rows) >= 5 and all(row["planned_bytes"] == row["allocated_bytes"] > 0 and row["ms"] > 0 for row in rows), rows)
    equal(len(record["parts"]["costs"]["rows"]), 2, "added times")
    equal(record["parts"]["compare"]["small"]["verdict"], "agree")
    holds(len(set(told["params"] for told in record["parts"]["bits"]["hashes"].values())) == 1, "hashes")
    holds(record["dry"] and record["schema"] == "ebb.gpu-check/1" and "seconds" in record, record["schema"])


def other_bits_are_found_and_stop_no_other_part(t):
    lines = "if told and 'params_hash' in told and '--budget' in sys.argv: told['params_hash'] = 'f' * 32"
    code, out, _, record = check(t, "--parts", "bits,kinds", ebb=wrapped(t, lines))
    equal(code, 1, out)
    holds("different bits" in record["parts"]["bits"]["why"], record["parts"]["bits"])
    equal([record["parts"][name]["status"] for name in ("bits", "kinds")], ["failed", "ok"])


def a_kernel_that_does_not_hold_is_named(t):
    lines = ("if told and 'verdict' in told and '--full' in sys.argv:\n    told['verdict'], told['faults'] = 'fails', 1\n"
             "    told['rows'][3].update(faults=1, fault='relu is off')")
    code, _, _, record = check(t, "--parts", "conformance", ebb=wrapped(t, lines))
    equal(code, 1)
    holds("relu is off" in record["parts"]["conformance"]["why"], record["parts"])


def bytes_that_were_not_planned_are_found(t):
    lines = "if told and 'allocated_bytes' in told: told['allocated_bytes'] += 256"
    code, _, _, record = check(t, "--parts", "capped", ebb=wrapped(t, lines))
    equal(code, 1)
    holds("planned" in record["parts"]["capped"]["why"], record["parts"])


def its_own_clock_ends_it(t):
    code, _, _, record = check(t, "--minutes", "0.01", "--parts", "bits,table")
    equal(code, 1)
    equal({part["status"] for part in record["parts"].values()}, {"failed"})
    holds(record["seconds"] < 30, record["seconds"])


def without_a_gpu_it_says_so_in_one_line(t):
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("there is a GPU here")
    done = subprocess.run([sys.executable, SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, cwd=t.folder)
    equal((done.returncode, done.stdout), (5, b""))
    holds(done.stderr.startswith(b"gpu-check: no GPU here: ") and done.stderr.count(b"\n") == 1, done.stderr)


TESTS = [
    every_part_runs_without_a_gpu,
    other_bits_are_found_and_stop_no_other_part,
    a_kernel_that_does_not_hold_is_named,
    bytes_that_were_not_planned_are_found,
    its_own_clock_ends_it,
    without_a_gpu_it_says_so_in_one_line,
]

if __name__ == "__main__":
    sys.exit(main(TESTS))
