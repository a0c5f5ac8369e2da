#!/usr/bin/env python3
"""ebb report: what it counts, counted again; its formats; and one line for bad input.

    test_report.py EBB
"""
import json
import re
import sys

import harness
from harness import Case
from models import WORDS, chain, changed, text
from recount import CATEGORIES, Recount
from report_page import MIB, bytes_word, plan_file, tight_plan, time_word, view
from report_rows import FORMATS
from tester import equal, holds, main


def every_step_is_the_sum_of_its_categories_counted_again(t):
    for models in (["conv.ebb"], ["conv.ebb", "--no-reuse"], ["conv.ebb", "--momentum", "0"], ["small.ebb", "--phased"]):
        t.ebb_run("plan", *models, "-o", "plan.json")
        check_steps(t, json.loads((t.folder / "plan.json").read_text()))
    check_steps(t, tight_plan(t))
    in_place = t.json("plan", "conv.ebb")["total_bytes"]
    t.ebb_run("plan", "conv.ebb", "--budget", str(in_place - 10000), "-o", "plan.json")
    check_steps(t, json.loads((t.folder / "plan.json").read_text()))


def check_steps(t, plan):
    report = t.json("report", "plan.json")
    table = Recount(plan).table()
    equal(len(report["steps"]), len(table), "steps")
    for s, (row, step) in enumerate(zip(table, report["steps"])):
        equal(dict(zip(CATEGORIES, step["bytes"])), row, f"step {s}")
        equal(sum(step["bytes"]), step["live_bytes"], f"step {s}")
    verdict, peak = report["verdict"], report["steps"][report["verdict"]["peak_step"]]
    equal(verdict["peak_bytes"], max(step["live_bytes"] for step in report["steps"]), "peak")
    equal([c["peak_bytes"] for c in report["categories"]], peak["bytes"], "categories at the peak")
    equal(verdict["peak_bytes"] + verdict["holes_bytes"], plan["total_bytes"], "peak and holes")
    equal(verdict["max_live_bytes"], plan["max_live_bytes"], "most live")
    equal(sum(row["held_bytes"] for row in report["alive_at_peak"]) + peak["bytes"][8] + verdict["persistent_bytes"]
          + verdict["fixed_bytes"] + (-peak["bytes"][8]) % plan["alignment"], verdict["peak_bytes"], "alive at the peak")


def dropping_what_is_alive_is_counted_on_the_curve(t):
    plan = plan_file(t, chain())
    report = t.json("report", "plan.json")
    live = [step["live_bytes"] for step in report["steps"]]
    n = 0
    for row in report["alive_at_peak"]:
        if row["drop"] != "can be dropped":
            continue
        n += 1
        gap = range(row["gap_lower"], row["gap_upper"])
        holds(report["verdict"]["peak_step"] in gap, "the gap holds the peak")
        equal(row["drop_peak_bytes"], max(b - (s in gap) * row["held_bytes"] for s, b in enumerate(live)), "peak without it")
        used = [s for s, step in enumerate(plan["steps"]) if row["tensor"] in step["reads"] + step["writes"]]
        equal([s for s in used if s in gap], [], "uses in the gap")
        holds(gap[0] - 1 in used and gap[-1] + 1 in used, "the gap ends at uses")
        equal(row["drop_ns"], 1000)
    holds(n >= 3, f"{n} can be dropped")


def what_runs_again_is_told_with_what_it_saves(t):
    plan = tight_plan(t)
    report = t.json("report", "plan.json")
    again = [step["op"] for step in plan["steps"] if step["recompute"]]
    equal(sum(row["n_runs"] for row in report["run_again"]), len(again))
    equal({row["op"] for row in report["run_again"]}, set(again))
    equal(sum(row["added_ns"] for row in report["run_again"]), report["verdict"]["added_ns"])
    holds(sum(row["saved_at_peak_bytes"] for row in report["run_again"]) >= 2 * MIB, "the budget's bytes are saved")
    for row in report["run_again"]:
        equal(row["bytes_per_ms"], row["saved_bytes"] * 10**6 // row["added_ns"], "bytes per ms")
    rates = [row["bytes_per_ms"] for row in report["run_again"]]
    equal(rates, sorted(rates, reverse=True), "order")
    fates = {tensor["fate"] for tensor in report["tensors"]}
    holds({"dropped", "kept", "given", "lasts", "used_up"} <= fates, f"fates {fates}")
    for tensor in report["tensors"]:
        if tensor["fate"] == "dropped":
            holds(report["tensors"][tensor["next"]]["recomputed"], "the next life is made again")
            holds(f"made again in step {report['tensors'][tensor['next']]['lower']}" in tensor["why"], tensor["why"])


def a_view_that_runs_again_hides_no_op(t):
    (t.folder / "words.ebb").write_text(WORDS)
    t.ebb_run("plan", "words.ebb", "--budget", "60%", "-o", "plan.json")
    rows = t.json("report", "plan.json")["run_again"]
    nothing = [row["saved_bytes"] == 0 and row["added_ns"] == 0 for row in rows]
    holds(any(nothing), "a view runs again")
    equal(nothing, sorted(nothing), "views last")


def what_is_saved_is_counted_again_from_the_plan(t):
    graph = chain(n=9)
    for op in graph["ops"][1:9:2]:
        op["in_place"] = [[0, 0]]  # each second one may be written over the one before
    graph["ops"][11]["inputs"] = graph["ops"][11]["inputs"][:1]
    total = plan_file(t, graph)["total_bytes"]
    plan, saved = plan_file(t, graph, budget=total - 3 * MIB), {}
    count, report = Recount(plan), t.json("report", "plan.json")
    lives = {}
    for step in plan["steps"]:
        for b in step["writes"]:
            lives.setdefault(plan["buffers"][b]["value"], []).append(b)
    for value, made in lives.items():
        row = saved.setdefault(next(op["id"] for op in plan["graph"]["ops"] if value in op["outputs"]), [0, 0])
        gaps = []
        for b, following in zip(made, made[1:]):
            first = count.first(b)
            steps = [s for s in range(count.n) if count.owner_at(first, s) is not None]
            if count.owner_at(first, steps[-1]) == b and steps[-1] + 1 < plan["buffers"][following]["lower"]:
                gaps.append(range(steps[-1] + 1, plan["buffers"][following]["lower"]))
        held = count.up(plan["buffers"][made[0]]["bytes"])
        row[0] += held * bool(gaps)
        row[1] += held * any(report["verdict"]["peak_step"] in gap for gap in gaps)
    equal({row["op"]: [row["saved_bytes"], row["saved_at_peak_bytes"]] for row in report["run_again"]},
          {step["op"]: saved[step["op"]] for step in plan["steps"] if step["recompute"]}, "saved")
    holds(any(row["saved_bytes"] == 0 for row in report["run_again"]), "some run again for others only")


def a_measurement_of_the_plan_stands_beside_it(t):
    run = t.json("run", "small.ebb", "--steps", "2")
    (t.folder / "run.json").write_text(json.dumps(run))
    t.ebb_run("plan", "small.ebb", "-o", "plan.json")
    report = t.json("report", "plan.json", "--measured", "run.json")
    equal(report["measured"]["n_steps"], 2)
    for key in ("planned_bytes", "allocated_bytes", "process_peak_bytes", "mean_step_ns", "best_step_ns"):
        equal(report["measured"][key], run[key], key)
    for name in ([], ["--markdown"]):
        words = view(t, "--measured", "run.json", *name)
        holds("Measured over 2 steps" in words, "heading")
        for word in (bytes_word(run["allocated_bytes"]), time_word(run["mean_step_ns"]), time_word(run["best_step_ns"])):
            holds(word in words, word)
    other = {**run, "planned_bytes": run["planned_bytes"] + 64}
    for name, document, stderr in [("another plan", other, rb"this very plan"), ("another graph", {**run, "graph": "x"}, rb"graph \"x\""),
                                   ("another backend", {**run, "backend": "x"}, rb"backend \"x\""),
                                   ("no steps", {**run, "steps": []}, rb"nothing was measured"),
                                   ("another schema", {**run, "schema": "ebb.run/2"}, rb"must be \"ebb\.run/1\"")]:
        (t.folder / "run.json").write_text(json.dumps(document))
        done = t.ebb_run("report", "plan.json", "--measured", "run.json", code=3)
        holds(re.search(stderr, done.stderr) and done.stderr.count(b"\n") == 1 and not done.stdout, f"{name}: {done.stderr}")


def the_same_plan_gives_the_same_bytes(t):
    tight_plan(t)
    for name in FORMATS:
        once = t.ebb_run("report", "plan.json", "--format", name).stdout
        equal(t.ebb_run("report", "plan.json", "--format", name).stdout, once, name)
        t.ebb_run("report", "plan.json", "--format", name, "-o", "out")
        equal((t.folder / "out").read_bytes(), once, f"{name} in a file")


def a_suffix_names_the_format(t):
    tight_plan(t)
    done = t.ebb_run("report", "plan.json", "-o", "out.pdf", code=2)
    holds(b"out.pdf: its ending names no format: .txt, .json, .md and .html do" in done.stderr and not (t.folder / "out.pdf").exists(), done.stderr)
    for suffix, name in [(".json", "json"), (".md", "markdown"), (".txt", "text"), (".html", "html"), ("", "json")]:
        t.ebb_run("report", "plan.json", "-o", "out" + suffix)
        equal((t.folder / ("out" + suffix)).read_bytes(), t.ebb_run("report", "plan.json", "--format", name).stdout, suffix)
    for flags, name in [([], "json"), (["--json"], "json"), (["--markdown"], "markdown"), (["--format", "text"], "text"), (["--text"], "text")]:
        equal(t.ebb_run("report", "plan.json", "-o", "-", *flags).stdout, t.ebb_run("report", "plan.json", "--format", name).stdout)
    t.ebb_run("report", "plan.json", "--trace", "-o", "out.json")
    holds("traceEvents" in json.loads((t.folder / "out.json").read_text()), "a flag is stronger than a suffix")


def bad_input_is_one_line(t):
    plan = tight_plan(t)
    broken = {
        "another version": (changed(plan, schema="ebb.plan/2"), r"ebb\.plan/2"),
        "a figure that lies": (changed(plan, arena_bytes=plan["arena_bytes"] + 64), r"p\.json: the plan does not hold: .*arena_bytes"),
        "a life that lies": (changed(plan, buffers__3__upper=2), r"p\.json: the plan does not hold: "),
        "no plan": ({"schema": "ebb.graph/1"}, r"p\.json"),
    }
    cases = [Case(name, ["report", "p.json", "-o", "{d}/out.html"], 3, stderr, files={"p.json": text(document)})
             for name, (document, stderr) in broken.items()]
    good = {"p.json": text(plan)}
    cases += [
        Case("truncated", ["report", "p.json"], 3, r"p\.json: line \d+", files={"p.json": text(plan)[:5000]}),
        Case("no file", ["report", "p.json"], 7, r"p\.json"),
        Case("a folder that is not there", ["report", "p.json", "-o", "no/such/x.html"], 7, r"no/such/x\.html", files=good),
        Case("a full device", ["report", "p.json", "-o", "/dev/full"], 7, r"/dev/full", files=good),
        Case("standard output is full", ["report", "p.json"], 7, r"standard output", files=good, stdout="/dev/full"),
        Case("no measurement", ["report", "p.json", "--measured", "no.json"], 7, r"no\.json", files=good),
        Case("two formats", ["report", "p.json", "--trace", "--json"], 2, r"json and trace are both", files=good),
        Case("text and a page", ["report", "p.json", "--text", "--html"], 2, r"text and html are both", files=good),
        Case("an unknown format", ["report", "p.json", "--format", "pdf"], 2, r"\"pdf\"", files=good),
        Case("no plan at all", ["report"], 2, r"report needs a PLAN"),
    ]
    wrong = [(case.name, fault) for case in cases for fault in harness.faults(t.ebb, case)]
    equal(wrong, [], "rows")


TESTS = [
    every_step_is_the_sum_of_its_categories_counted_again,
    dropping_what_is_alive_is_counted_on_the_curve,
    what_runs_again_is_told_with_what_it_saves,
    a_view_that_runs_again_hides_no_op,
    what_is_saved_is_counted_again_from_the_plan,
    a_measurement_of_the_plan_stands_beside_it,
    the_same_plan_gives_the_same_bytes,
    a_suffix_names_the_format,
    bad_input_is_one_line,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
