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
PARTS = ["conformance", "bits", "capped", "pytorch", "table", "questions", "compare", "costs", "kinds", "sanitizer"]


def check(t, *args, ebb=None):
    """(exit code, stdout, stderr, record or None) of a dry run, which finds its device itself."""
    record = t.folder / "out/record.json"
    command = [sys.executable, SCRIPT, "--dry", "--ebb", ebb or t.ebb, "--build", t.folder / "build", "-o", record, *args]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=280, check=False,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    return done.returncode, done.stdout.decode(), done.stderr.decode(), json.loads(record.read_text(), parse_constant=refuse) if record.exists() else None


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


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
    equal({len(told["losses"]) for told in record["parts"]["bits"]["hashes"].values()}, {3}, "losses")
    equal(record["parts"]["bits"]["choices"], {}, "ops whose choice differs")


def what_was_found_before_a_fault_is_kept(t):
    lines = ("if told and 'params_hash' in told and '--budget' in sys.argv: sys.exit('no more')\n"
             "if told and 'steps' in told and told['steps']: told['steps'][-1]['loss'] = float('nan')")
    code, _, _, record = check(t, "--parts", "bits,table", "--commit", "abc", ebb=wrapped(t, lines))
    equal((code, record["machine"]["commit"]), (1, "abc"))
    bits = record["parts"]["bits"]
    equal((sorted(bits["hashes"]), bits["why"]), (["in place", "once more"], "recomputed: exit code 1: no more"))
    equal(bits["hashes"]["in place"]["losses"][-1], "nan", "a loss that is no number")
    equal(len(record["parts"]["table"]["rows"]), 4)


def a_dry_run_takes_ref_where_there_is_no_cpu(t):
    lines = "if told and 'devices' in told:\n    for one in told['devices']: one['available'] = one['name'] == 'ref'"
    code, _, _, record = check(t, "--parts", "kinds", ebb=wrapped(t, lines))
    equal((code, record["device"]), (0, "ref"), record["parts"])


FAKE_TORCH = """
import json, sys
if sys.argv[1] == "-c": sys.exit(0)
print("of no use", file=sys.stderr)
print(json.dumps({"torch": "0"}), flush=True)
for i, line in enumerate(sys.stdin):
    if i == FAILS_AT: sys.exit("it is too large")
    print(json.dumps({"ns": [2000000] * int(line), "peak_bytes": 7}), flush=True)
"""


def pytorch_is_measured_beside(t, fails_at=9):
    python = t.folder / "python"
    python.write_text(f"#!{sys.executable}\n" + FAKE_TORCH.replace("FAILS_AT", str(fails_at)))
    python.chmod(0o755)
    code, _, _, record = check(t, "--parts", "pytorch", "--python", python)
    part = record["parts"]["pytorch"]
    if fails_at == 9:
        equal((code, part["rows"]["eager"]["img_per_s"], part["rows"]["eager"]["steps"]), (0, 1000.0, 4), part)
        equal(part["times_best"], round(part["rows"]["ebb"]["img_per_s"] / 1000, 3))
    return code, part


def a_worker_that_ends_is_told_with_its_log_and_asked_no_more(t):
    code, part = pytorch_is_measured_beside(t, fails_at=0)
    equal((code, part["rows"]), (1, {}), part)
    log = t.folder / "out/torch-eager.log"
    equal(part["why"], f"eager: it ended: it is too large ({log})")
    holds("of no use" in log.read_text(), log)


def within_the_cap_it_tries_more_reserve_and_no_watch(t):
    """The attempts of one batch on a device: CUPTI is missing, 256 MiB are too few."""
    sys.path.insert(0, str(SCRIPT.parent / "gpu"))
    import machine
    import parts

    class Check:
        dry, effort, asked = False, 9, []

        def model(self, batch):
            return [batch]

        def run(self, _, flags):
            self.asked.append((flags[1], "--watch-memory" in flags))
            if self.asked[-1][1] or flags[1] == parts.CAP_BYTES - 256 * parts.MIB:
                raise machine.Failed("no")
            return {"steps": [{"ns": 5}], "planned_bytes": 1, "allocated_bytes": 1, "predicted_step_ns": 1}

    found, one = {}, Check()
    told = parts.capped_run(one, 500, None, [], found)
    equal((told["reserve_bytes"], len(told["failed_before"])), (512 * parts.MIB, 3), told)
    equal([watch for _, watch in one.asked], [True, False, True, False])
    holds("watch_fault" in found, found)


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
    what_was_found_before_a_fault_is_kept,
    a_dry_run_takes_ref_where_there_is_no_cpu,
    pytorch_is_measured_beside,
    a_worker_that_ends_is_told_with_its_log_and_asked_no_more,
    within_the_cap_it_tries_more_reserve_and_no_watch,
    a_kernel_that_does_not_hold_is_named,
    bytes_that_were_not_planned_are_found,
    its_own_clock_ends_it,
    without_a_gpu_it_says_so_in_one_line,
]

if __name__ == "__main__":
    sys.exit(main(TESTS))
