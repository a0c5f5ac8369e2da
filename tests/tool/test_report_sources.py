#!/usr/bin/env python3
"""Sizes that fit and times of ops in a report. Every view shows the same, and a file that is not of this plan is
refused.

    test_report_sources.py EBB
"""
import json
import re
import sys

import harness
from harness import Case
from models import changed, text
from report_page import MIB, bytes_word, check_page, tight_plan, time_word, view
from report_rows import change_word, columns_of, markdown_rows
from report_sources import FIT, fit_of, logged_plan, profiled_run
from tester import equal, holds, main


def sizes_that_fit_are_drawn_for_each_device(t):
    own = fit_of(tight_plan(t))
    larger = {**own, "budget_bytes": 128 * MIB, "rows": [{**row, "batch": 2 * row["batch"], "total_bytes": 2 * row["total_bytes"]}
                                                        for row in FIT["rows"]],
              "tried": [{**FIT["rows"][1], "batch": 10, "total_bytes": 70 * MIB}, {**FIT["rows"][1], "batch": 18, "total_bytes": 124 * MIB}]}
    (t.folder / "a.json").write_text(json.dumps(own))
    (t.folder / "b.json").write_text(json.dumps(larger))
    given = ["--fit", "b.json", "--fit", "a.json"]
    report = t.json("report", "plan.json", *given)
    equal(report["devices"], [64 * MIB, 128 * MIB])
    rows = report["batches"]
    equal([(row["mode"], row["batch"], row["answer"]) for row in rows],
          [("none", 3, True), ("none", 6, True), ("in_place", 9, True), ("in_place", 10, False), ("in_place", 18, True),
           ("budget", 20, True), ("budget", 40, True)])
    plain, marked, page = columns_of(view(t, *given)), markdown_rows(view(t, *given, "--markdown")), check_page(view(t, *given, "--html"))
    for row in rows:
        cells = [row["mode"], bytes_word(row["budget_bytes"]), str(row["batch"]), bytes_word(row["total_bytes"]),
                 time_word(row["time_ns"]), change_word(row["time_ns"], row["baseline_time_ns"])]
        equal([cells in plain, cells in marked], [row["answer"]] * 2, f"{cells}")
    table = [[cell[1] for cell in row] for row in page.rows("batches")[1:]]
    equal([(r[0], int(r[1]), int(r[2]), r[3], r[4], bool(r[7])) for r in table],
          [(r["mode"], r["batch"], r["total_bytes"], bytes_word(r["total_bytes"]), time_word(r["time_ns"]), r["answer"]) for r in rows])
    document = view(t, *given, "--html")
    part = document[document.index('id="batches"'):]
    equal(part.count('class="budget"'), 2, "device lines")
    equal(part.count('class="mark '), len(rows) + 4, "marks and the legend's")
    width, height, left, right, top, bottom = 12000, 4600, 900, 330, 150, 450  # the chart's margins
    most_x = max(row["batch"] for row in rows) * 1.04
    most_y = max(report["devices"] + [row["total_bytes"] for row in rows]) * 1.06
    places = [(left + int(row["batch"] / most_x * (width - left - right) + 0.5),
               height - bottom - int(row["total_bytes"] / most_y * (height - top - bottom) + 0.5)) for row in rows]
    drawn = [(int(x), int(y)) for x, y in re.findall(r'class="mark \w+" d="M(\d+) (\d+)', part)]
    equal([place for place in drawn if place != (120, 120)], places, "marks stand where their figures are")
    equal(t.json("report", "plan.json")["batches"], [])


def a_fit_of_the_command_itself_is_taken(t):
    t.ebb_run("plan", "small.ebb", "-o", "plan.json")
    t.ebb_run("fit", "small.ebb", "--budget", "1MiB", "--effort", "200", "--plans", "plans", "-o", "fit.json")
    fit = json.loads((t.folder / "fit.json").read_text())
    report = t.json("report", "plan.json", "--fit", "fit.json")
    equal({(r["mode"], r["batch"], r["total_bytes"]) for r in report["batches"] if r["answer"]},
          {(r["mode"], r["batch"], r["total_bytes"]) for r in fit["rows"] if r["batch"]})
    equal({(r["mode"], r["batch"]) for r in report["batches"]},
          {(r["mode"], r["batch"]) for r in fit["rows"] + fit["tried"] if r["batch"]}, "sizes that were tried")
    for row in fit["rows"][:2]:
        tries = {r["batch"]: r["total_bytes"] for r in fit["tried"] if r["mode"] == row["mode"]}
        equal(tries[row["batch"]], row["total_bytes"], f"{row['mode']}: the answer was tried")
        holds(tries[row["batch"] + 1] > fit["budget_bytes"], f"{row['mode']}: the next size was tried in vain")
    check_page(view(t, "--fit", "fit.json", "--html"))
    t.ebb_run("plan", "conv.ebb", "-o", "plan.json")
    refused = t.ebb_run("report", "plan.json", "--fit", "fit.json", code=3).stderr.decode()
    holds(refused.count("\n") == 1 and 'sizes of graph "small"' in refused and 'the plan is of "conv"' in refused, refused)
    # Another tool's answer need not say whose it is.
    bare = {key: value for key, value in fit.items() if key not in ("graph", "backend", "n_threads")}
    (t.folder / "fit.json").write_text(json.dumps(bare))
    equal(len(t.json("report", "plan.json", "--fit", "fit.json")["batches"]), len(report["batches"]), "an answer of another tool")


def every_view_shows_the_times_of_ops(t):
    run = profiled_run(t)
    given = ["--measured", "run.json"]
    report = t.json("report", "plan.json", *given)
    measured, sums = report["measured"], {}
    equal(measured["steps"], [row["median_ns"] for row in run["profile"]])
    equal(measured["ops_ns"], sum(measured["steps"]))
    for step, ns in zip(report["steps"], measured["steps"]):
        row = sums.setdefault(step["op"], [0, 0, 0])
        row[0], row[1], row[2] = row[0] + 1, row[1] + step["time_ns"], row[2] + ns
    equal({row["op"]: [row["n_runs"], row["predicted_ns"], row["measured_ns"]] for row in measured["ops"]}, sums)
    holds(any(row["n_runs"] > 1 for row in measured["ops"]), "something ran again")
    apart = [abs(row["measured_ns"] - row["predicted_ns"]) for row in measured["ops"]]
    equal(apart, sorted(apart, reverse=True), "order")
    plain, marked, page = columns_of(view(t, *given)), markdown_rows(view(t, *given, "--markdown")), check_page(view(t, *given, "--html"))
    equal([row["bytes"] for row in measured["ops"]], [4096 * row["op"] + 1 for row in measured["ops"]], "bytes of a run")
    rows = [[row["name"], str(row["n_runs"]), bytes_word(row["bytes"]), time_word(row["predicted_ns"]), time_word(row["measured_ns"]),
             change_word(row["measured_ns"], row["predicted_ns"])] for row in measured["ops"]]
    for row in rows[:20]:
        holds(row in marked, f"markdown: {row}")
        holds(row[1:] + row[:1] in plain, f"text: {row}")
    table = [[cell[1] for cell in row] for row in page.rows("measured")]
    for row in rows:
        holds(any([cells[0], *cells[2:6], cells[-1]] == row for cells in table), f"page: {row}")
    total = ["ops, sum", time_word(report["verdict"]["time_ns"]), time_word(measured["ops_ns"]),
             change_word(measured["ops_ns"], report["verdict"]["time_ns"])]
    for name, table in (("text", plain), ("markdown", marked), ("page", table)):
        holds(total in table, f"{name}: {total}")


def bad_sources_are_one_line(t):
    log = logged_plan(t)
    plan = (t.folder / "plan.json").read_text()
    run = profiled_run(t)
    measured_plan = (t.folder / "plan.json").read_text()
    search = lambda document: {"p.json": plan, "s.json": document if isinstance(document, str) else text(document)}
    fit = lambda document: {"p.json": plan, "f.json": document if isinstance(document, str) else text(document)}
    timed = lambda document: {"p.json": measured_plan, "m.json": text(document)}
    with_search = ["report", "p.json", "--search", "s.json", "-o", "{d}/out.html"]
    with_fit = ["report", "p.json", "--fit", "f.json", "-o", "{d}/out.html"]
    with_run = ["report", "p.json", "--measured", "m.json", "-o", "{d}/out.html"]
    huge = 2**63 - 1
    own = fit_of(json.loads(plan))
    cases = [
        Case("another version of the log", with_search, 3, r"s\.json: schema is \"ebb\.search/2\"", files=search({**log, "schema": "ebb.search/2"})),
        Case("a truncated log", with_search, 3, r"s\.json: line \d+", files=search(text(log)[:300])),
        Case("another plan's log", with_search, 3, r"this very plan", files=search(changed(log, plan__total_bytes=1))),
        *[Case(f"a log with another {key}", with_search, 3, r"this very plan", files=search(changed(log, **{f"plan__{key}": 1})))
          for key in ("n_steps", "arena_bytes", "time_ns")],
        Case("another graph's log", with_search, 3, r"this very plan", files=search({**log, "graph": "x"})),
        Case("a log without its config", with_search, 3, r"s\.json.*config", files=search({**log, "config": None})),
        Case("a round that is none", with_search, 3, r"searches\[0\]\.rounds\[0\].*time_ns", files=search(changed(log, searches__0__rounds__0__time_ns="x"))),
        Case("a point that is none", with_search, 3, r"searches\[0\]\.points\[0\]", files=search(changed(log, searches__0__points__0=[1]))),
        Case("candidates beyond all integers", with_search, 3, r"64-bit",
             files=search({**log, "searches": [{**log["searches"][0], "n_scored": huge}] * 2})),
        Case("no log", with_search, 7, r"s\.json", files={"p.json": plan}),
        Case("another version of a fit", with_fit, 3, r"f\.json: schema is \"ebb\.fit/2\"", files=fit({**own, "schema": "ebb.fit/2"})),
        Case("a truncated fit", with_fit, 3, r"f\.json: line \d+", files=fit(text(own)[:100])),
        Case("an unknown mode", with_fit, 3, r"rows\[1\]: mode is \"magic\"", files=fit(changed(own, rows__1__mode="magic"))),
        Case("a negative batch", with_fit, 3, r"rows\[0\].*batch", files=fit(changed(own, rows__0__batch=-1))),
        Case("another graph's fit", with_fit, 3, r"f\.json: sizes of graph \"x\"", files=fit({**own, "graph": "x"})),
        Case("a fit on another backend", with_fit, 3, r"f\.json: sizes of graph \"conv\" on x ", files=fit({**own, "backend": "x"})),
        Case("a fit with other threads", with_fit, 3, r"with 99 threads", files=fit({**own, "n_threads": 99})),
        Case("no fit", with_fit, 7, r"f\.json", files={"p.json": plan}),
        Case("too few steps", with_run, 3, r"profile has \d+ steps, but the plan has \d+", files=timed({**run, "profile": run["profile"][1:]})),
        Case("another op", with_run, 3, r"profile\[2\]: op is 999", files=timed(changed(run, profile__2__op=999))),
        Case("a time below 0", with_run, 3, r"profile\[2\].*median_ns", files=timed(changed(run, profile__2__median_ns=-1))),
        Case("times beyond all integers", with_run, 3, r"64-bit", files=timed(changed(run, profile__2__median_ns=huge, profile__3__median_ns=huge))),
        Case("a log that cannot be written", ["plan", "m.ebb", "-o", "p.json", "--log", "no/such.json"], 7, r"no/such\.json",
             files={"m.ebb": (t.folder / "conv.ebb").read_text()}),
        Case("a log to a full device", ["plan", "m.ebb", "--log", "/dev/full"], 7, r"/dev/full", files={"m.ebb": (t.folder / "conv.ebb").read_text()}),
        Case("a log where the table goes", ["plan", "m.ebb", "--log", "-"], 2, r"--log", files={"m.ebb": (t.folder / "conv.ebb").read_text()}),
    ]
    wrong = [(case.name, fault) for case in cases for fault in harness.faults(t.ebb, case)]
    equal(wrong, [], "rows")


TESTS = [
    sizes_that_fit_are_drawn_for_each_device,
    a_fit_of_the_command_itself_is_taken,
    every_view_shows_the_times_of_ops,
    bad_sources_are_one_line,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
