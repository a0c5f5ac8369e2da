#!/usr/bin/env python3
"""`scripts/gpu-check` where there is no GPU: dry, on a backend of the host, with planted faults.

    test_gpu_check.py EBB ROOT
"""
import json
import os
import subprocess
import sys

import gpu_check_devices
import gpu_check_others
import gpu_check_units
from gpu_check_fakes import (HELD, MISSED, NOT_ASKED, PROVEN, SCRIPT, UNPROVEN, canned, check, fake_toolkit, fake_torch,
                             like_a_gpu, program, verdicts, wrapped)
from tester import Skip, equal, holds, main

PARTS = ["conformance", "bits", "capped", "low", "chains", "full", "costs", "engines", "compare", "questions", "pytorch", "amp", "sanitizer", "table",
         "kinds"]


def every_part_runs_without_a_gpu(t):
    code, out, err, record = check(t)
    equal((code, err), (8, ""), out)
    equal(list(record["parts"]), PARTS, "parts")
    for name in ("conformance", "low", "chains", "costs", "compare", "table", "kinds"):
        equal((record["parts"][name]["status"], record["parts"][name]["why"]), ("ok", ""), name)
    for name in ("bits", "capped", "full", "engines", "questions", "pytorch", "amp", "sanitizer"):
        equal(record["parts"][name]["status"], "unproven", name)
    rows = record["parts"]["table"]["rows"] + record["parts"]["capped"]["rows"]
    holds(len(rows) >= 5 and all(row["planned_bytes"] == row["allocated_bytes"] > 0 and row["ms"] > 0 for row in rows), rows)
    equal(len(record["parts"]["costs"]["rows"]), 2, "added times")
    told = verdicts(record)
    equal({goal for goal, verdict in told.items() if verdict == HELD},
          {"conformance", "bits_fp32", "capped", "capped_bits", "bits_bf16", "bits_f16", "compare_bf16", "compare_f16", "capped_bf16",
           "bits_chains", "added_time", "compare", "poison", "planned"}, told)
    equal(set(told.values()), {HELD, UNPROVEN}, told)
    holds(record["dry"] and record["schema"] == "ebb.gpu-check/2" and record["exit_code"] == 8 and "seconds" in record, record["schema"])
    text = (t.folder / "out/record.json").read_text()
    for path in (str(t.folder), str(SCRIPT.parent.parent), sys.prefix + "/", "/tmp/"):
        holds(path not in text, path)
    equal(os.listdir(t.folder / "out"), ["record.json"])


def where_nothing_is_wrong_all_goals_hold(t):
    code, out, _, record = check(t, "--parts", "bits,capped,full,engines,pytorch,sanitizer", "--toolkit", fake_toolkit(t),
                               ebb=like_a_gpu(t),
                               python=fake_torch(t, ns=10**12))
    told = verdicts(record)
    for goal in ("bits_fp32", "bits_tf32", "capped", "capped_bits", "full", "engines", "ratio_fp32", "memcheck",
                 "racecheck", "initcheck", "libraries", "planned"):
        equal(told[goal], HELD, f"{goal}: {out}")
    for goal in ("hidden", "ratio_tf32", "recorded"):  # a dry run cannot
        equal(told[goal], UNPROVEN, goal)
    equal((code, told["added_time"], told["compare"], record["not_asked"]),
          (8, NOT_ASKED, NOT_ASKED, ["build", "conformance", "low", "chains", "costs", "compare", "questions", "amp", "table", "kinds"]))
    found = record["parts"]["sanitizer"]
    equal((found["memcheck"][0]["filter"], found["initcheck"][0]["filter"]), ("--kernel-regex kns=cuda_kernel_", ""), found)
    equal(record["versions"]["nvcc"], "V13.0.88")
    holds(len(os.listdir(t.folder / "out")) <= 6, os.listdir(t.folder / "out"))


def with_a_gpu_and_nothing_wrong_it_is_proven(t):
    """Of a device and libraries that are canned: all that the script does beside them."""
    parts = [part for part in PARTS if part not in ("questions", "amp")]
    code, out, err, record = check(t, "--parts", ",".join(parts), "--minutes", 30, "--device", "cuda:1",
                                   "--toolkit", fake_toolkit(t, ORDINAL="1"), ebb=canned(t),
                                   python=fake_torch(t, device="cuda:1"), dry=False)
    told = verdicts(record)
    equal((code, err, {part["status"] for part in record["parts"].values()}), (0, "", {"ok"}), out)
    equal({goal for goal, verdict in told.items() if verdict != PROVEN}, {"device", "amp_bf16", "amp_f16", "speed_bf16"}, told)
    equal(sorted(record["parts"]["pytorch"]["times_best"].values()), [2.0, 2.0])
    equal(len(record["parts"]["pytorch"]["rows"]), 12)
    holds(any(line.split()[1:5] == ["graphs-tf32", "(reserved)", "-", "7.0"] for line in out.splitlines()), out)
    equal(record["parts"]["capped"]["rows"][1]["hidden_bytes"], 7)


def autocast_is_to_be_beaten_by_half(t):
    """2 ms a step against 1 is; 1.4 is not. How fast an H100 is says nothing of another device."""
    for ns, verdict, code in ((2000000, PROVEN, 8), (1400000, MISSED, 1)):
        got, out, _, record = check(t, "--parts", "amp", ebb=canned(t), python=fake_torch(t, ns=ns, device="cuda:0"), dry=False)
        told = verdicts(record)
        equal((got, told["amp_bf16"], told["amp_f16"], told["speed_bf16"]), (code, verdict, verdict, UNPROVEN), out)
        equal(sorted(record["parts"]["amp"]["rows"]), ["eager-bf16", "eager-f16", "ebb-bf16", "ebb-f16"])
        equal(record["parts"]["amp"]["img_per_s_bf16"], 256000.0)


# What is planted in one run's documents, and what must be said of it: a fault for each goal.
FAULTS = """
if steps and 'N=32' in args: steps[-1]['loss'] = 1e-3
if '--cap' in args and 'N=500' in args: steps[1]['loss'] = None
if steps and '--costs' in args and '--budget' in args:
    for step in steps: step['ns'] *= 1.06
if '--free-engines' in args and '--no-graph' in args: told['params_hash'] = 'ff'
if '--free-engines' in args and '--no-graph' not in args: told['n_replayed'] -= 1
if '--poison' in args: told['params_hash'] = 'ff'
if told.get('verdict') == 'agree': told.update(verdict='differ', over=1, first={'op': 'r0', 'kind': 'relu'})
"""
LOW_FAULTS = """
if steps and 'f16' in args and '--budget' in args: told['params_hash'] = 'ff'
if steps and 'bf16' in args: steps[3]['loss'] = steps[2]['loss']
if steps and 'f16' in args: steps[3].update(loss=steps[2]['loss'], skipped=True)
if '--cap' in args: steps[1]['loss'] = None
if told.get('verdict') == 'agree' and 'f16' in args: told.update(verdict='differ', over=1, first={'op': 'r0', 'kind': 'relu'})
"""
MORE_FAULTS = """
if 'n_recomputed' in told and '--tf32' not in args: told['n_recomputed'] = 0
if steps and '--tf32' in args and '--budget' in args: told['params_hash'] = 'ff'
if '--cap' in args: told['params_hash'] = 'ff'
"""


def planted_faults_are_found_each_by_its_goal(t):
    code, out, _, record = check(t, "--parts", "bits,capped,full,costs,engines,compare", ebb=canned(t, FAULTS, "no"), dry=False)
    told = verdicts(record)
    equal((code, told["bits_fp32"], told["bits_tf32"], told["recorded"]), (1, UNPROVEN, UNPROVEN, MISSED), out)
    holds("steps were replayed" in record["parts"]["engines"]["why"], record["parts"]["engines"]["why"])
    for part, goal, why in (("bits", None, "the losses vanish"), ("capped", "capped", "None"), ("full", "full", "did not plan again"),
                            ("costs", "added_time", "3.00 % foretold, 9.18 % found"), ("engines", "engines", "ff"),
                            ("compare", "compare", "1 of 9 ops differ, first r0 (relu)"), ("compare", "poison", "ff")):
        equal((record["parts"][part]["status"], told.get(goal, MISSED)), ("failed", MISSED), f"{part} {goal}")
        holds(why in record["parts"][part]["why"], (part, record["parts"][part]["why"]))
    equal(told["capped_bits"], PROVEN)


def faults_of_16_bits_are_found_each_by_its_goal(t):
    """A loss that repeats is a fault where the step before it counted; a skipped step's is none."""
    code, out, _, record = check(t, "--parts", "low", ebb=canned(t, LOW_FAULTS), dry=False)
    told, why = verdicts(record), record["parts"]["low"]["why"]
    equal((code, told["bits_bf16"], told["bits_f16"], told["compare_bf16"], told["compare_f16"], told["capped_bf16"]),
          (1, UNPROVEN, MISSED, PROVEN, MISSED, MISSED), out)
    holds(all(words in why for words in ("losses repeat", "different bits", "first r0 (relu)")), why)


def chains_must_be_there_and_have_the_bits_of_ops_one_by_one(t):
    other = "if args[0] == 'run' and '3' in args: told['params_hash'] = 'ff'"
    for planted, verdict, why in (("pass", PROVEN, ""), (other, MISSED, "different bits")):
        code, out, _, record = check(t, "--parts", "chains", ebb=canned(t, planted), dry=False)
        equal((code, verdicts(record)["bits_chains"]), (int(verdict != PROVEN), verdict), out)
        holds(why in record["parts"]["chains"]["why"], out)
        equal(sorted(len(ms) for ms in record["parts"]["chains"]["ms"].values()), [3, 3], out)
    without = program(t, "apart/ebb", canned(t).read_text().replace('"kind": "fused"', '"kind": "conv2d"'))
    code, out, _, record = check(t, "--parts", "chains", ebb=without, dry=False)
    equal((code, verdicts(record)["bits_chains"]), (1, UNPROVEN), out)
    holds("no chain" in record["parts"]["chains"]["why"], out)


def bits_that_differ_are_found_each_by_its_goal(t):
    code, out, _, record = check(t, "--parts", "bits,capped,full,pytorch", ebb=canned(t, MORE_FAULTS),
                              python=fake_torch(t, ns=999000, device="cuda:0"), dry=False)
    told, parts = verdicts(record), record["parts"]
    equal((code, [told[goal] for goal in ("bits_fp32", "bits_tf32", "capped", "capped_bits", "full", "ratio_fp32", "ratio_tf32")]),
          (1, [UNPROVEN, MISSED, PROVEN, MISSED, MISSED, MISSED, MISSED]), out)
    holds("recomputes nothing" in parts["bits"]["why"] and "different bits" in parts["bits"]["why"], parts["bits"]["why"])
    equal(parts["bits"]["choices"]["conv"]["tf32 recomputed"], "b", "ops whose choice differs")
    holds("different bits" in parts["full"]["why"] and "without" in parts["capped"]["why"], parts["full"])
    holds(parts["pytorch"]["times_best"]["ratio_fp32"] < 1 and "PyTorch's eager" in parts["pytorch"]["why"], parts["pytorch"])


def each_run_is_looked_at_for_its_bytes_and_its_recording(t):
    before = "if args[0] == 'run': print('ebb: small: not recorded, its steps are launched one by one: no', file=sys.stderr)"
    code, _, _, record = check(t, "--parts", "table", ebb=wrapped(t, "if steps: told['allocated_bytes'] += 256", before))
    told = verdicts(record)
    equal((code, told["planned"], told["recorded"], record["parts"]["table"]["status"]), (1, MISSED, MISSED, "failed"))
    holds(all(word in record["parts"]["table"]["why"] for word in ("planned", "not recorded")), record["parts"])
    equal((len(record["parts"]["table"]["rows"]), len(record["parts"]["table"]["warnings"])), (4, 1))


def what_was_found_before_a_fault_is_kept(t):
    lines = ("if told and 'params_hash' in told and '--budget' in args: sys.exit('no more')\n"
             "if steps: steps[-1]['loss'] = float('nan')")
    code, _, _, record = check(t, "--parts", "bits,kinds", "--commit", "abc", ebb=wrapped(t, lines))
    equal((code, record["machine"]["commit"]), (1, "abc"))
    bits = record["parts"]["bits"]
    equal(sorted(bits["hashes"]), ["in place", "once more", "unrecorded"])
    holds("recomputed: exit code 1: no more" in bits["why"] and "a loss is no number" in bits["why"], bits["why"])
    equal(bits["hashes"]["in place"]["losses"][-1], "nan", "a loss that is no number")
    equal(record["parts"]["kinds"]["status"], "ok")


def a_dry_run_takes_ref_where_there_is_no_cpu(t):
    lines = "if told and 'devices' in told:\n    for one in told['devices']: one['available'] = one['name'] == 'ref'"
    code, _, _, record = check(t, "--parts", "questions", ebb=wrapped(t, lines))
    equal((code, record["device"]), (8, "ref"), record["parts"])


def what_an_earlier_build_left_is_not_tried(t):
    for kept in ("src/tool/ebb", "src/libebb_cuda.so"):
        program(t, f"build/{kept}", "#!/bin/sh\nexit 0\n")
    code, out, _, record = check(t, "--parts", "build,bits", ebb=False, CC="false")
    equal((code, list(record["parts"]), record["parts"]["build"]["status"]), (1, ["build"], "failed"), out)
    equal(verdicts(record)["bits_fp32"], UNPROVEN)
    holds("meson" in record["parts"]["build"]["why"], "an earlier command is not asked for the device, either")
    code, _, _, record = check(t, "--parts", "build,kinds", CC="false")
    equal((code, record["parts"]["build"]["status"], record["parts"]["kinds"]["status"]), (1, "failed", "ok"), "a command was named")


def a_kernel_that_does_not_hold_is_named(t):
    rows = [{"op": "relu", "worst": 2.5, "faults": 1, "fault": "relu is off"}, {"op": "add", "worst": None, "faults": 0, "fault": None}]
    told = {"verdict": "fails", "ops": 2, "calls": 9, "runs": 9, "faults": 1, "rows": rows}
    before = f"if '--full' in args: print({json.dumps(told)!r}); sys.exit(1)"
    code, _, _, record = check(t, "--parts", "conformance", ebb=wrapped(t, before=before))
    equal((code, verdicts(record)["conformance"]), (1, MISSED))
    holds("relu is off" in record["parts"]["conformance"]["why"], record["parts"])


def its_own_clock_ends_it_unproven(t):
    code, _, _, record = check(t, "--minutes", "0.01", "--parts", "bits,table")
    equal((code, {part["status"] for part in record["parts"].values()}), (8, {"unproven"}))
    holds(record["seconds"] < 30, record["seconds"])


def a_folder_or_command_that_is_not_there_is_one_line(t):
    for words in (["--toolkit", t.folder], ["--cudnn", t.folder], ["--ebb", t.folder / "none"], ["--python", t.folder / "none"],
                  ["--parts", "none"], ["--parts", ""], ["--minutes", "0"], ["-o", t.folder]):
        code, out, err, record = check(t, *words)
        equal((code, out, err.count("\n"), record), (2, "", 1, None), (words, err))


def without_a_gpu_it_says_so_in_one_line(t):
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("there is a GPU here")
    done = subprocess.run([sys.executable, SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, cwd=t.folder)
    equal((done.returncode, done.stdout), (5, b""))
    holds(done.stderr.startswith(b"gpu-check: no GPU here: ") and done.stderr.count(b"\n") == 1, done.stderr)


TESTS = [
    every_part_runs_without_a_gpu,
    where_nothing_is_wrong_all_goals_hold,
    with_a_gpu_and_nothing_wrong_it_is_proven,
    autocast_is_to_be_beaten_by_half,
    planted_faults_are_found_each_by_its_goal,
    faults_of_16_bits_are_found_each_by_its_goal,
    chains_must_be_there_and_have_the_bits_of_ops_one_by_one,
    bits_that_differ_are_found_each_by_its_goal,
    each_run_is_looked_at_for_its_bytes_and_its_recording,
    what_was_found_before_a_fault_is_kept,
    a_dry_run_takes_ref_where_there_is_no_cpu,
    what_an_earlier_build_left_is_not_tried,
    a_kernel_that_does_not_hold_is_named,
    its_own_clock_ends_it_unproven,
    a_folder_or_command_that_is_not_there_is_one_line,
    without_a_gpu_it_says_so_in_one_line,
    *gpu_check_others.TESTS,
    *gpu_check_units.TESTS,
    *gpu_check_devices.TESTS,
]

if __name__ == "__main__":
    sys.exit(main(TESTS))
