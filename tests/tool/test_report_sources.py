#!/usr/bin/env python3
"""What a report takes up from other commands: the search's log, sizes that fit, times of ops. Every view shows the
same, and a file that is not of this plan is refused.

    test_report_sources.py EBB
"""
import json
import re
import sys

import harness
from harness import Case
from models import chain, changed, text
from report_page import (HOSTILE, MIB, bytes_word, check_page, hostile_plan, is_plain, plan_file, shown, tight_plan, time_word,
                         view)
from tester import equal, holds, main


def change_word(now, before):
    return f"{100 * (now - before) / before:+.1f} %" if before else "-"


def logged_plan(t, *args):
    """A plan in which something runs again, and the log of its search."""
    total = t.json("plan", "conv.ebb")["total_bytes"]
    t.ebb_run("plan", "conv.ebb", "--dim", "N=3", "--budget", str(total - 10000), "-o", "plan.json", "--log", "search.json", *args)
    return json.loads((t.folder / "search.json").read_text())


def columns_of(document):
    return [re.split(r"\s{2,}", line.strip()) for line in document.splitlines()]


def markdown_rows(document):
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in document.splitlines() if line.startswith("|")]


def a_log_is_the_same_for_any_number_of_workers_and_changes_no_plan(t):
    total = t.json("plan", "conv.ebb")["total_bytes"]
    t.ebb_run("plan", "conv.ebb", "--dim", "N=3", "--budget", str(total - 10000), "-o", "without.json")
    logs = []
    for workers in ("1", "2", "3"):
        logged_plan(t, "--num-worker", workers, "--effort", "20000")
        logs.append((t.folder / "search.json").read_bytes())
    equal(len(set(logs)), 1, "logs")
    logged_plan(t)
    equal((t.folder / "plan.json").read_bytes(), (t.folder / "without.json").read_bytes(), "the plan")


def a_log_tells_what_was_asked_and_what_came_of_it(t):
    # so few candidates that the exact search, which gets a quarter of them, cannot come to its end
    log = logged_plan(t, "--seed", "7", "--genetic-nr-iter", "3", "--genetic-pool-size", "15", "--effort", "2000")
    plan = json.loads((t.folder / "plan.json").read_text())
    equal([log[key] for key in ("schema", "graph", "mode", "dims", "seed")],
          ["ebb.search/1", "conv", "budget", [{"name": "N", "size": 3}], 7])
    equal(log["config"], {"thresh_nr_try": 10, "genetic_nr_iter": 3, "genetic_pool_size": 15, "lb_memory_bytes": 0})
    equal(log["plan"], {"n_steps": len(plan["steps"]), **{key: plan[key] for key in ("arena_bytes", "total_bytes", "time_ns")}})
    search = log["searches"][0]
    equal(len(search["rounds"]), 5, "the seeds, three generations, the last one")
    scored = [row["n_scored"] for row in search["rounds"]]
    equal(scored, sorted(set(scored)), "candidates grow")
    equal(scored[-1], search["n_scored"])
    standing = plan["total_bytes"] - plan["arena_bytes"]
    equal(log["searches"][-1]["method"], "budget")
    holds(log["searches"][-1]["limit_bytes"] <= plan["budget_bytes"] - standing, "the limit")
    for row in search["rounds"]:
        equal(row["fits"], row["peak_bytes"] <= search["limit_bytes"], "fits")
        holds([row["peak_bytes"], row["time_ns"]] in search["points"], "a round's best was offered")
    best = [(not row["fits"], row["time_ns"] if row["fits"] else row["peak_bytes"]) for row in search["rounds"]]
    equal(best, sorted(best, reverse=True), "the best gets no worse")
    baseline = [plan["baseline"]["arena_bytes"], plan["baseline"]["time_ns"]]
    holds(any(point[1] == baseline[1] and point[0] <= baseline[0] for point in search["points"]), "no recomputation is a candidate")


def a_log_of_megengines_search_has_its_points_and_one_round(t):
    t.ebb_run("plan", "conv.ebb", "--method", "megengine", "-o", "plan.json", "--log", "search.json")
    log = json.loads((t.folder / "search.json").read_text())
    equal((log["mode"], log["dims"], len(log["searches"])), ("sublinear", [], 1))
    search = log["searches"][0]
    equal((search["method"], search["limit_bytes"], len(search["rounds"])), ("megengine", None, 1))
    equal(search["rounds"][0]["fits"], False, "there is nothing to fit")
    holds(len(search["points"]) > 10, "points")
    report = t.json("report", "plan.json", "--search", "search.json")
    equal(report["search"]["about"], "genetic search off: thresholds only")
    for words in (view(t, "--search", "search.json"), view(t, "--search", "search.json", "--markdown"),
                  view(t, "--search", "search.json", "--html")):
        holds("genetic search off" in words, "says outright that the genetic search is off")
    check_page(view(t, "--search", "search.json", "--html"))


def without_a_search_the_log_says_so(t):
    t.ebb_run("plan", "conv.ebb", "-o", "plan.json", "--log", "search.json")
    report = t.json("report", "plan.json", "--search", "search.json")
    equal((report["search"]["n_searches"], report["search"]["about"]), (0, "none in this mode"))
    check_page(view(t, "--search", "search.json", "--html"))
    t.ebb_run("plan", "conv.ebb", "--budget", "1GiB", "--optimizer", "sgd", "-o", "plan.json", "--log", "search.json")
    holds(t.json("report", "plan.json", "--search", "search.json")["search"]["about"].startswith(("none: it fits", "genetic search on")),
          "about")


def how_each_search_went_is_told(t):
    for graph, budget, how, about in [(chain(n=4), 0.9, ["every", "orders"],
                                       "genetic search off: every candidate was tried or ruled out, other orders of ops too"),
                                      (chain(n=60), 0.5, ["genetic", "orders"],
                                       "genetic search on, generations by effort, other orders of ops too")]:
        total = plan_file(t, graph)["total_bytes"]
        t.ebb_run("plan", "graph.json", "--budget", str(int(total * budget)), "-o", "plan.json", "--log", "search.json", "--effort", "70000")
        log = json.loads((t.folder / "search.json").read_text())
        equal(sorted({search["how"] for search in log["searches"]}), how, "how")
        equal(t.json("report", "plan.json", "--search", "search.json")["search"]["about"], about)


def a_cached_plan_is_searched_again_for_its_log(t):
    total = t.json("plan", "conv.ebb")["total_bytes"]
    args = ["plan", "conv.ebb", "--budget", str(total - 10000), "--cache", "cache", "-o", "plan.json", "--log", "search.json"]
    t.ebb_run(*args)
    first = (t.folder / "search.json").read_bytes()
    t.ebb_run(*args)
    equal((t.folder / "search.json").read_bytes(), first)
    holds(json.loads(first)["searches"], "there was a search")


def expected_search(log):
    """The report's own figures, made again from the log."""
    points = sorted({tuple(point) for search in log["searches"] for point in search["points"]})
    front = [p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)]
    rounds, before = [], 0
    for k, search in enumerate(log["searches"]):
        rounds += [{"search": k, "generation": i, **row, "n_scored": before + row["n_scored"]} for i, row in enumerate(search["rounds"])]
        before += search["n_scored"]
    limits = [search["limit_bytes"] for search in log["searches"] if search["limit_bytes"] is not None]
    return {"mode": log["mode"], "dims": ", ".join(f"{d['name']}={d['size']}" for d in log["dims"]), "seed": log["seed"], **log["config"],
            "n_searches": len(log["searches"]), "n_scored": before, "n_left_out": 0, "limit_bytes": limits[-1] if limits else None,
            "rounds": rounds, "points": [list(p) for p in points], "front": [list(p) for p in front]}


def the_report_holds_the_log_and_its_front(t):
    log = logged_plan(t)
    search = t.json("report", "plan.json", "--search", "search.json")["search"]
    expected = expected_search(log)
    equal({key: search[key] for key in expected}, expected)
    holds(len(search["front"]) > 2, "a front")
    equal(t.json("report", "plan.json")["search"], None)


def every_view_shows_the_search_alike(t):
    logged_plan(t)
    given = ["--search", "search.json"]
    report = t.json("report", "plan.json", *given)
    search, base = report["search"], report["verdict"]["baseline_time_ns"]
    rows = [[str(r["search"] + 1), str(r["generation"]), str(r["n_scored"]), bytes_word(r["peak_bytes"]), time_word(r["time_ns"]),
             change_word(r["time_ns"], base), "yes" if r["fits"] else "no"] for r in search["rounds"]]
    facts = [["seed", str(search["seed"]), "of the search"], ["genetic_pool_size", str(search["genetic_pool_size"])],
             ["candidates scored", str(search["n_scored"]), f"in {search['n_searches']} searches"], ["batch", "-", "N=3"]]
    plain, marked, page = columns_of(view(t, *given)), markdown_rows(view(t, *given, "--markdown")), check_page(view(t, *given, "--html"))
    for row in rows[-20:]:  # text and Markdown show the last ones
        holds(row in plain, f"text: {row}")
        holds(row in marked, f"markdown: {row}")
    table = [[cell[1] for cell in row] for row in page.rows("search")[1:]]
    equal([row[:3] + row[4:] for row in table], rows, "page")
    equal([int(row[3]) for row in table], [r["peak_bytes"] for r in search["rounds"]], "exact bytes")
    verdict = [[cell[1] for cell in row] for row in page.rows("verdict")]
    for fact in facts:
        for name, table in (("text", plain), ("markdown", marked), ("page", verdict)):
            holds(any(row[:len(fact)] == fact for row in table), f"{name}: {fact}")
    titles = [text for place, text in page.titles if place.endswith("svg/path")]
    most = max(10, 3 * 100 * report["verdict"]["added_ns"] / base)
    drawn = [p for p in search["points"] if 100 * (p[1] - base) / base <= most]
    for peak, time in drawn:
        about = "on the front" if [peak, time] in search["front"] else "a candidate"
        holds(f"{about}\n{bytes_word(peak)} live, {time_word(time)} ({change_word(time, base)})" in titles, f"a mark for {peak}, {time}")
    equal(sum(t.startswith(("on the front", "a candidate")) for t in titles), len(drawn), "marks")


FIT = {"schema": "ebb.fit/1", "budget_bytes": 64 * MIB, "rows": [
    {"mode": "none", "batch": 3, "total_bytes": 63 * MIB, "time_ns": 3000, "baseline_time_ns": 3000, "plan": None},
    {"mode": "in_place", "batch": 9, "total_bytes": 62 * MIB, "time_ns": 9000, "baseline_time_ns": 9000, "plan": None},
    {"mode": "sublinear", "batch": 0, "total_bytes": 0, "time_ns": 0, "baseline_time_ns": 0, "plan": None},
    {"mode": "budget", "batch": 20, "total_bytes": 64 * MIB, "time_ns": 26000, "baseline_time_ns": 20000, "plan": None}]}


def fit_of(plan):
    return {**FIT, "graph": plan["graph"]["name"], "backend": plan["backend"], "n_threads": plan["n_threads"]}


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
    t.ebb_run("fit", "small.ebb", "--budget", "1MiB", "--plans", "plans", "-o", "fit.json")
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


def profiled_run(t):
    """A run of a plan in which something runs again, as ebb run --profile tells of it; the times are made up."""
    plan = tight_plan(t)
    run = {"schema": "ebb.run/1", "steps": [{"ns": 5}], "graph": plan["graph"]["name"], "backend": plan["backend"], "n_threads": plan["n_threads"],
           "planned_bytes": plan["arena_bytes"] + plan["persistent_bytes"], "allocated_bytes": 7, "process_peak_bytes": 8, "mean_step_ns": 9,
           "best_step_ns": 4, "profile": [{"op": step["op"], "bytes": 4096 * step["op"] + 1, "median_ns": 100 * (i * i % 7) + i}
                                          for i, step in enumerate(plan["steps"])]}
    (t.folder / "run.json").write_text(json.dumps(run))
    return run


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


def hostile_texts_of_the_sources_are_inert(t):
    plan = hostile_plan(t)
    log = {"schema": "ebb.search/1", "graph": plan["graph"]["name"], "mode": HOSTILE[4], "seed": 1,
           "dims": [{"name": name, "size": 3} for name in HOSTILE[:3] + HOSTILE[11:13]],
           "config": {"thresh_nr_try": 1, "genetic_nr_iter": 0, "genetic_pool_size": 2, "lb_memory_bytes": 0},
           "plan": {"n_steps": len(plan["steps"]), **{key: plan[key] for key in ("arena_bytes", "total_bytes", "time_ns")}}, "searches": []}
    (t.folder / "search.json").write_text(json.dumps(log))
    for name in ("text", "json", "markdown", "html", "trace", "megengine"):
        document = view(t, "--search", "search.json", "--format", name)
        equal({c for c in document if c != "\n" and not is_plain(c)}, set(), name)
    page = check_page(view(t, "--search", "search.json", "--html"))
    holds(any(row[0][1] == "batch" and row[2][1].startswith(shown(HOSTILE[0])) for row in page.rows("verdict")), "the batch, escaped")
    batch = next(row for row in markdown_rows(view(t, "--search", "search.json", "--markdown")) if row[0] == "batch")
    equal(len(batch), 3, "cells")


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
    a_log_is_the_same_for_any_number_of_workers_and_changes_no_plan,
    a_log_tells_what_was_asked_and_what_came_of_it,
    a_log_of_megengines_search_has_its_points_and_one_round,
    without_a_search_the_log_says_so,
    how_each_search_went_is_told,
    a_cached_plan_is_searched_again_for_its_log,
    the_report_holds_the_log_and_its_front,
    every_view_shows_the_search_alike,
    sizes_that_fit_are_drawn_for_each_device,
    a_fit_of_the_command_itself_is_taken,
    every_view_shows_the_times_of_ops,
    hostile_texts_of_the_sources_are_inert,
    bad_sources_are_one_line,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
