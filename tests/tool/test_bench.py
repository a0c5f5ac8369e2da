#!/usr/bin/env python3
"""`ebb bench` and what reads its file: --costs of every command, predicted beside measured time, profiles in reports.

    test_bench.py EBB
"""
import json
import os
import re
import sys

from models import SMALL
from tester import equal, holds, main

REF = ["--device", "ref", "--threads", "1"]
USAGE, BAD_INPUT, BAD_IO = 2, 3, 7


def measured(t, name="costs.json", *more):
    t.ebb_run("bench", "--ops", "small.ebb", *REF, "--steps", "3", "-o", name, *more)
    return json.loads((t.folder / name).read_text())


def n_run(plan):
    """Ops that a step in place runs, and so those that are measured: what only some ways of others read is left out."""
    return sum(not op.get("optional", False) for op in plan["graph"]["ops"])


def a_costs_file_has_each_distinct_op_once(t):
    costs = measured(t)
    equal((costs["schema"], costs["backend"], costs["n_threads"]), ("ebb.costs/1", "ref", 1))
    plan = t.json("plan", "small.ebb", *REF)
    kinds = [op["kind"] for op in plan["graph"]["ops"] if not op.get("optional")]  # a step in place runs no other
    equal(sum(op["n_uses"] for op in costs["ops"]), len(kinds), "every op of the step")
    kinds = [kind.removesuffix("_choice") for kind in kinds]  # by its first way
    equal({op["op"].split()[0] for op in costs["ops"]}, set(kinds), "kinds")
    equal(len({op["op"] for op in costs["ops"]}), len(costs["ops"]), "distinct")
    equal({line["kind"] for line in costs["lines"]}, set(kinds), "a line for each kind")
    holds(all(0 < op["least_ns"] <= op["time_ns"] for op in costs["ops"]), "times")
    equal(t.json("bench", "--ops", "small.ebb", *REF, "--steps", "1")["schema"], "ebb.costs/1")
    holds(b"distinct ops of" in t.ebb_run("bench", "--ops", "small.ebb", *REF, "--steps", "1").stdout, "a table")


def sixteen_bits_are_kinds_of_their_own(t):
    for precision in "bf16", "f16":
        t.ebb_run("bench", "--ops", "small.ebb", "--device", "cpu", "--threads", "1", "--steps", "1", "--precision", precision,
                  "-o", precision + ".json")
        costs = json.loads((t.folder / (precision + ".json")).read_text())
        low = {op["kind"] for op in costs["ops"] if f" {precision}[" in op["op"]}
        holds(low and all(kind.endswith(" " + precision) for kind in low), low)
        holds(all(op["kind"].endswith(" " + precision) == (op["kind"] in low) for op in costs["ops"]), costs["ops"])
        equal({line["kind"] for line in costs["lines"]}, {op["kind"] for op in costs["ops"]}, "a line for each kind")


def every_command_that_plans_reads_it_and_says_how_much_was_measured(t):
    costs = measured(t)
    by_op = {op["op"]: op for op in costs["ops"]}
    want = sum(op["n_uses"] * op["time_ns"] for op in by_op.values())
    args = ["small.ebb", *REF, "--costs", "costs.json"]
    plan = t.json("plan", *args)
    equal(plan["time_ns"], want, "the plan's time")
    equal(plan["graph"]["costs"]["measured"], n_run(plan))
    equal(plan["graph"]["costs"]["calibrated"] + plan["graph"]["costs"]["built_in"], len(plan["graph"]["ops"]) - n_run(plan))
    text = t.ebb_run("plan", *args, "-o", "plan.json").stdout.decode()
    holds(re.search(r"\ncosts: 13 ops measured, [01] by lines fitted to measurements, [01] by the built-in model \(", text), text)
    equal(t.json("plan", *args, "-o", "plan.json")["costs"], plan["graph"]["costs"], "the summary's")
    t.ebb_run("verify", "plan.json")
    equal(t.json("plan", "small.ebb", *REF, "-o", "plain.json")["costs"], None)
    run = t.json("run", *args)
    equal((run["predicted_step_ns"], run["costs"]), (want, plan["graph"]["costs"]))
    note = rb"\nebb: costs: [0-9]+ ops measured, [0-9]+ by lines fitted to measurements, [0-9]+ by the built-in model \("
    done = t.ebb_run("fit", *args, "--budget", "1MiB", "--effort", "200", "--plans", "plans")
    holds(re.search(note, b"\n" + done.stderr), done.stderr)
    done = t.ebb_run("frontier", *args, "--points", "2", "--effort", "200")
    holds(re.search(note, b"\n" + done.stderr), done.stderr)
    equal(t.json("inspect", *args)["time_ns"], want, "inspect")
    plan = t.json("plan", *args, "--dim", "N=9")
    holds(0 < plan["graph"]["costs"]["measured"] < len(plan["graph"]["ops"]), "another batch: some are known")
    equal(sum(plan["graph"]["costs"][key] for key in ("measured", "calibrated", "built_in")), len(plan["graph"]["ops"]))


def a_second_model_is_added_to_a_file(t):
    first = measured(t)
    (t.folder / "small.ebb").write_text(SMALL.replace("dim N = 7", "dim N = 8"))
    both = measured(t, "both.json", "--costs", "costs.json")
    holds({op["op"] for op in first["ops"]} < {op["op"] for op in both["ops"]}, "the first one's ops are there")
    for n in ("7", "8"):
        plan = t.json("plan", "small.ebb", *REF, "--dim", f"N={n}", "--costs", "both.json")
        equal(plan["graph"]["costs"]["measured"], n_run(plan), n)


def a_calibration_is_kept_by_machine_backend_threads_and_convolutions(t):
    wide = [*REF[:2], "--threads", "2"]
    t.ebb_run("plan", "small.ebb", *REF, "--costs", "machine", code=USAGE)
    t.ebb_run("plan", "small.ebb", *REF, "--costs", "machine", "--cache", "kept", code=USAGE)
    t.ebb_run("bench", "--calibrate", *REF, code=USAGE)
    if "cpu" in [d["name"] for d in t.json("doctor")["devices"] if d["available"]]:
        cpu = ["--device", "cpu", "--threads", "2"]
        t.ebb_run("bench", "--calibrate", *cpu, "--steps", "1", "--cache", "kept")
        names = os.listdir(t.folder / "kept")
        equal(len(names), 1)
        plan = t.json("plan", "small.ebb", *cpu, "--cache", "kept", "--costs", "machine")
        costs = plan["graph"]["costs"]
        holds(costs["calibrated"] > 0 and costs["built_in"] <= len(plan["graph"]["ops"]) - n_run(plan), costs)
        # Apart, the loss's gradient begins with an op that the calibration has measured, too.
        apart = t.json("plan", "small.ebb", *cpu, "--no-fuse", "--cache", "kept", "--costs", "machine")["graph"]["costs"]
        holds(apart["measured"] > 0 and apart["calibrated"] > 0, apart)
        t.ebb_run("plan", "small.ebb", *cpu[:3], "1", "--cache", "kept", "--costs", "machine", code=USAGE)
        # One of direct convolutions would be another, and is asked for by its name.
        direct = [*cpu, "--direct-conv", "--cache", "kept", "--costs", "machine"]
        done = t.ebb_run("plan", "small.ebb", *direct, code=USAGE)
        holds(b"ebb bench --calibrate --cache kept --direct-conv" in done.stderr, done.stderr)
    done = t.ebb_run("plan", "small.ebb", *wide, "--costs", "machine", "--cache", "kept", code=USAGE)
    holds(b"ebb bench --calibrate --cache kept" in done.stderr, done.stderr)


def a_look_at_this_machine_is_kept_unless_it_was_busy(t):
    t.ebb_run("plan", "small.ebb", "--device", "shadow", "--costs", "host", "--cache", "looks", code=USAGE)
    if "cpu" not in [d["name"] for d in t.json("doctor")["devices"] if d["available"]]:
        return
    cpu = ["small.ebb", "--device", "cpu", "--threads", "1", "--costs", "host"]
    for cached in (["--cache", "looks"], []):
        home = {"XDG_CACHE_HOME": str(t.folder)}
        done = t.ebb_run("plan", *cpu, *cached, "-o", "plan.json", env=home)
        kept = list((t.folder / ("looks" if cached else "ebb")).glob("host-*.json"))
        equal(len(kept), 0 if b"busy" in done.stderr else 1, done.stderr)
        plan = json.loads((t.folder / "plan.json").read_text())
        equal((plan["graph"]["costs"]["measured"], plan["graph"]["costs"]["built_in"]), (0, 0))
        holds(plan["time_ns"] > 0, plan["time_ns"])
        for file in kept:
            look = json.loads(file.read_text())
            holds(look["ops"] == [] and look["others"]["flops_permille"] > 0, look)
            again = t.ebb_run("plan", *cpu, *cached, "-o", "again.json", env=home)
            holds(b"busy" not in again.stderr, again.stderr)
            equal(json.loads((t.folder / "again.json").read_text()), plan)
            file.write_text("{}")
            t.ebb_run("plan", *cpu, *cached, code=BAD_INPUT, env=home)
    t.ebb_run("plan", *cpu, code=USAGE, env={"HOME": "", "XDG_CACHE_HOME": ""})


def threads_sleep_while_they_wait_unless_the_caller_says_how(t):
    if "cpu" not in [d["name"] for d in t.json("doctor")["devices"] if d["available"]]:
        return
    verbose = {"OMP_DISPLAY_ENV": "verbose", "OMP_WAIT_POLICY": None, "GOMP_SPINCOUNT": None}
    for said, spins in (({}, b"1000"), ({"OMP_WAIT_POLICY": "passive"}, b"0"), ({"GOMP_SPINCOUNT": "7"}, b"7")):
        done = t.ebb_run("--version", env={**verbose, **said})
        found = re.findall(rb"GOMP_SPINCOUNT = '(\d+)'", done.stderr)
        if found:  # another runtime than libgomp says nothing of it
            equal(found[-1], spins, done.stderr)


def what_does_not_fit_is_refused_in_one_line(t):
    costs = measured(t)
    (t.folder / "other.json").write_text(json.dumps({**costs, "machine": "another one"}))
    (t.folder / "bad.json").write_text(json.dumps({**costs, "schema": "ebb.costs/2"}))
    rows = [
        (["plan", "small.ebb", "--device", "ref", "--threads", "2", "--costs", "costs.json"], USAGE, rb"ref with 1 threads"),
        (["plan", "small.ebb", "--device", "shadow", "--costs", "costs.json"], USAGE, rb"measure them for these"),
        (["plan", "chain.json", "--costs", "costs.json"], USAGE, rb"has times of its own"),
        (["plan", "small.ebb", *REF, "--costs", "bad.json"], BAD_INPUT, rb"must be \"ebb\.costs/1\""),
        (["plan", "small.ebb", *REF, "--costs", "no.json"], BAD_IO, rb"no\.json"),
        (["bench", "--ops", "small.ebb", *REF, "--costs", "other.json", "-o", "x.json"], USAGE, rb"begin new ones"),
        (["bench", "small.ebb"], USAGE, rb"give one of the two"),
        (["bench"], USAGE, rb"needs a MODEL"),
        (["bench", "--ops", "--calibrate", "small.ebb"], USAGE, rb"leave out one of the two"),
        (["bench", "--calibrate", "small.ebb"], USAGE, rb"leave out the MODEL"),
        (["bench", "--calibrate", "--dim", "N=2"], USAGE, rb"leave out --dim"),
        (["bench", "--ops", "small.ebb", "--device", "shadow"], USAGE, rb"computes nothing"),
        (["bench", "--ops", "chain.json"], USAGE, rb"planning graph"),
        (["bench", "--ops", "small.ebb", *REF, "--steps", "20000"], USAGE, rb"at most 10000"),
    ]
    for args, code, stderr in rows:
        done = t.ebb_run(*args, code=code)
        holds(re.search(stderr, done.stderr) and done.stderr.count(b"\n") == 1 and not done.stdout, f"{args}: {done.stderr}")
    holds("x.json" not in os.listdir(t.folder), "nothing is left")
    done = t.ebb_run("fit", "small.ebb", *REF, "--costs", "other.json", "--budget", "1MiB", "--effort", "200")
    holds(b"another machine than this one" in done.stderr, done.stderr)


def a_profile_tells_of_each_step_and_joins_the_report(t):
    t.ebb_run("plan", "small.ebb", *REF, "-o", "plan.json")
    plan = json.loads((t.folder / "plan.json").read_text())
    equal(t.json("run", "small.ebb", *REF).get("profile"), None, "off by default")
    text = t.ebb_run("run", "small.ebb", *REF, "--steps", "4", "--profile", "-o", "run.json").stdout.decode()
    holds("by kind of op, medians of 4 steps" in text and re.search(r"\nlinear +2 +0 +[0-9.]+ [um]?s ", text), text)
    holds(re.search(r"\npredicted step   [0-9.]+ [um]?s by the built-in model \(measured: mean [+-]", text), text)
    run = json.loads((t.folder / "run.json").read_text())
    equal(run["profile_runs"], 4)
    equal([step["op"] for step in run["profile"]], [step["op"] for step in plan["steps"]])
    ops = plan["graph"]["ops"]
    for step in run["profile"]:
        op = ops[step["op"]]
        equal((step["name"], step["kind"], step["phase"], step["predicted_ns"]), (op["name"], op["kind"], op["phase"], op["time_ns"]))
        equal(step["bytes"], sum(plan["graph"]["values"][v]["bytes"] for v in op["inputs"] + op["outputs"]), op["name"])
        holds(0 < step["least_ns"] <= step["median_ns"], step)
    equal(sum(step["predicted_ns"] for step in run["profile"]), run["predicted_step_ns"])
    parts = t.json("run", "small.ebb", *REF, "--steps", "2", "--profile", "--accumulate", "3")
    for step in parts["profile"]:
        times = 1 if step["phase"] == "update" else 3
        holds(step["predicted_ns"] % times == 0 and "predicted_step_ns" not in parts, step)
    equal({step["phase"] for step in parts["profile"]}, {"forward", "backward", "update"})
    first = run["profile"][0], parts["profile"][0]
    equal((first[0]["name"], 3 * first[0]["predicted_ns"]), (first[1]["name"], first[1]["predicted_ns"]), "of three parts")
    report = t.json("report", "plan.json", "--measured", "run.json")
    equal(report["measured"]["steps"], [step["median_ns"] for step in run["profile"]])
    kinds = report["measured"]["kinds"]
    equal(sum(kind["measured_ns"] for kind in kinds), sum(step["median_ns"] for step in run["profile"]))
    equal(sum(kind["n_steps"] for kind in kinds), len(run["profile"]))
    equal([k["measured_ns"] for k in kinds], sorted((k["measured_ns"] for k in kinds), reverse=True), "longest first")
    for view, heading in (("text", "Measured by kind of op"), ("markdown", "### Measured by kind of op"),
                          ("html", "For each kind of op")):
        text = t.ebb_run("report", "plan.json", "--measured", "run.json", "--format", view).stdout.decode()
        holds(heading in text and "softmax_xent_value_and_grad" in text.split(heading, 1)[1], view)
    short, moved = {**run, "profile": run["profile"][1:]}, {**run, "profile": run["profile"][::-1]}
    huge = {**run, "profile": [{**step, "median_ns": 2**62} for step in run["profile"]]}
    for name, document in (("short", short), ("moved", moved), ("huge", huge)):
        (t.folder / "run.json").write_text(json.dumps(document))
        done = t.ebb_run("report", "plan.json", "--measured", "run.json", code=BAD_INPUT)
        holds(done.stderr.count(b"\n") == 1 and b"profile" in done.stderr, f"{name}: {done.stderr}")


def a_report_of_a_run_without_a_profile_is_as_it_was(t):
    t.ebb_run("plan", "small.ebb", *REF, "-o", "plan.json")
    t.ebb_run("run", "small.ebb", *REF, "-o", "run.json")
    report = t.json("report", "plan.json", "--measured", "run.json")
    equal(report["measured"]["kinds"], [])
    equal(report["measured"]["steps"], None, "no time")


TESTS = [
    a_costs_file_has_each_distinct_op_once,
    sixteen_bits_are_kinds_of_their_own,
    every_command_that_plans_reads_it_and_says_how_much_was_measured,
    a_second_model_is_added_to_a_file,
    a_calibration_is_kept_by_machine_backend_threads_and_convolutions,
    a_look_at_this_machine_is_kept_unless_it_was_busy,
    threads_sleep_while_they_wait_unless_the_caller_says_how,
    what_does_not_fit_is_refused_in_one_line,
    a_profile_tells_of_each_step_and_joins_the_report,
    a_report_of_a_run_without_a_profile_is_as_it_was,
]

if __name__ == "__main__":
    sys.exit(main(TESTS))
