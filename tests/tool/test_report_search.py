#!/usr/bin/env python3
"""The log of a search, and what a report says of it. Every view says the same.

    test_report_search.py EBB
"""
import json
import sys

from models import chain, text
from report_page import bytes_word, check_page, plan_file, time_word, view
from report_rows import change_word, columns_of, markdown_rows
from report_sources import logged_plan
from tester import equal, holds, main


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


def a_search_that_finds_no_plan_leaves_its_log(t):
    total = plan_file(t, chain(n=60))["total_bytes"]
    least = ["plan", "graph.json", "--budget", str(total // 50), "--effort", "2000", "-o", "none.json", "--log", "search.json"]
    done = t.ebb_run(*least, code=1)
    holds(b"the smallest found needs" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    log = json.loads((t.folder / "search.json").read_text())
    equal((log["schema"], log["plan"], log["mode"], log["graph"]), ("ebb.search/1", None, "budget", chain(n=60)["name"]))
    holds(log["searches"] and all(search["n_scored"] > 0 for search in log["searches"]), log["searches"])
    holds(not (t.folder / "none.json").exists(), "there is no plan")
    done = t.ebb_run("report", "plan.json", "--search", "search.json", code=3)
    holds(b"found no plan" in done.stderr, done.stderr)
    t.ebb_run(*least[:-1], "no/such.json", code=7)


def seeds_beyond_the_largest_integer_are_their_digits(t):
    t.ebb_run("plan", "conv.ebb", "--method", "megengine", "-o", "plan.json", "--log", "search.json")
    log = json.loads((t.folder / "search.json").read_text())
    for seed, code in ((2**63 - 1, 0), (str(2**63), 0), (str(2**64 - 1), 0), (str(2**64), 3), ("-1", 3), (-1, 3), ("1x", 3), (" 1", 3), (None, 3)):
        (t.folder / "other.json").write_text(json.dumps({**log, "seed": seed}))
        done = t.ebb_run("report", "plan.json", "--search", "other.json", "--json", code=code)
        if code == 0:
            equal(json.loads(done.stdout)["search"]["seed"], seed, "seed")
            for flags in ([], ["--markdown"], ["--html"]):
                holds(str(seed) in view(t, "--search", "other.json", *flags), flags)
        else:
            holds(b'"seed" is' in done.stderr, done.stderr)


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


TESTS = [
    a_log_is_the_same_for_any_number_of_workers_and_changes_no_plan,
    a_log_tells_what_was_asked_and_what_came_of_it,
    a_log_of_megengines_search_has_its_points_and_one_round,
    without_a_search_the_log_says_so,
    how_each_search_went_is_told,
    a_cached_plan_is_searched_again_for_its_log,
    a_search_that_finds_no_plan_leaves_its_log,
    seeds_beyond_the_largest_integer_are_their_digits,
    the_report_holds_the_log_and_its_front,
    every_view_shows_the_search_alike,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
