#!/usr/bin/env python3
"""ebb frontier: a curve of budgets and times, each point a plan that holds.

    test_frontier.py EBB
"""
import json
import os
import sys

from tester import equal, holds, main


def frontier_is_a_curve_with_plans_that_hold(t):
    for model in ("conv.ebb", "chain.json"):
        answer = t.json("frontier", model, "--points", "5", "--effort", "2000", "--plans", "plans")
        equal((answer["schema"], len(answer["rows"])), ("ebb.frontier/1", 5))
        equal(answer["rows"][0]["budget_bytes"], answer["baseline"]["total_bytes"])
        equal(answer["rows"][-1]["budget_bytes"], answer["smallest_bytes"])
        times = [row["time_ns"] for row in answer["rows"]]
        equal(times, sorted(times), "less budget never takes less time")
        holds(times[-1] > answer["baseline"]["time_ns"] == times[0], "the smallest costs time")
        for row in answer["rows"]:
            equal(row["plan"], f"plans/{model.split('.')[0]}.{row['budget_bytes']}.plan.json")
            plan = json.loads((t.folder / row["plan"]).read_text())
            for key in ("budget_bytes", "total_bytes", "time_ns"):
                equal(plan[key], row[key], key)
            equal(plan["certificate"]["time_ns_lower_bound"], row["time_ns_lower_bound"])
            holds(row["time_ns_lower_bound"] <= row["time_ns"], "the bound is below")
            t.ebb_run("verify", row["plan"])


def frontier_of_given_budgets_says_where_there_is_no_plan(t):
    total = t.json("plan", "chain.json")["total_bytes"]
    answer = t.json("frontier", "chain.json", "--effort", "2000", "--budgets", f"1MB,{total},80%,2%", "-o", "f.json")
    equal([row["budget_bytes"] for row in answer["rows"]], [total, int(0.8 * total), 10**6, int(0.02 * total)])
    equal([row["found"] for row in answer["rows"]], [True, True, False, False])
    for row in answer["rows"]:
        equal((row["time_ns"] is None, row["total_bytes"] is None, row["plan"]), (not row["found"], not row["found"], None))
    holds(10**6 < answer["smallest_bytes"] < 0.8 * total, "the smallest found is named")
    equal(json.loads((t.folder / "f.json").read_text()), answer)
    table = t.ebb_run("frontier", "chain.json", "--effort", "2000", "--budgets", f"{total},1MB").stdout.decode()
    holds("none found" in table and str(answer["smallest_bytes"]) in table, table)
    t.ebb_run("frontier", "chain.json", "--effort", "2000", "--budgets", "1MB,2%", code=1)
    equal(sorted(os.listdir(t.folder)), ["chain.json", "conv.ebb", "f.json", "small.ebb"])


def most_added_time_ends_a_frontier(t):
    whole = t.json("frontier", "chain.json", "--effort", "2000", "--points", "6")
    cut = t.json("frontier", "chain.json", "--effort", "2000", "--points", "6", "--max-added", "15%")
    most = 1.15 * whole["baseline"]["time_ns"]
    holds(0 < len(cut["rows"]) < 6 and whole["rows"][-1]["time_ns"] > most, "it is cut")
    holds(all(row["time_ns"] <= most for row in cut["rows"]), "at what was asked")


TESTS = [
    frontier_is_a_curve_with_plans_that_hold,
    frontier_of_given_budgets_says_where_there_is_no_plan,
    most_added_time_ends_a_frontier,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
