#!/usr/bin/env python3
"""tune: its table, its document, and a config file that the other commands accept.

    test_tune.py EBB
"""
import json
import os
import sys

from models import chain, text
from tester import effort, equal, holds, interrupted, main

MIB = 1 << 20
QUICK = effort(20000)


def uneven(n=24):
    """A chain with times and bytes that differ, so that it matters what is dropped."""
    graph = chain(n)
    for i, op in enumerate(graph["ops"]):
        op["time_ns"] = 500 + 7919 * i % 1733
    for i, value in enumerate(graph["values"][1:n + 1]):
        value["bytes"] = 2**18 + (104729 * i % 31) * 2**15
    return graph


def half(t):
    (t.folder / "uneven.json").write_text(text(uneven()))
    return t.json("plan", "uneven.json")["total_bytes"] // 2


def a_share_is_of_the_plan_in_place(t):
    (t.folder / "uneven.json").write_text(text(uneven()))
    bytes_in_place = t.json("plan", "uneven.json")["total_bytes"]
    for share in (50, 80):
        answer = t.json("tune", "uneven.json", "--budget", f"{share}%", *QUICK)
        equal(answer["budget_bytes"], t.json("plan", "uneven.json", "--budget", f"{share}%", *QUICK)["budget_bytes"], "as plan's")
        equal(answer["baseline"]["total_bytes"], bytes_in_place)
    table = t.ebb_run("tune", "uneven.json", "--budget", "80%", "--keep", "f3", *QUICK, "-o", "c.json").stdout.decode()
    holds(f"--budget {bytes_in_place * 8 // 10} --config c.json" in table, table)
    t.ebb_run("tune", "conv.ebb", "--device", "ref", "--dim", "N=2", "--budget", "90%", *QUICK)
    done = t.ebb_run("tune", "uneven.json", "--budget", "101%", code=2)
    holds(b"a size or a share in (0%, 100%]" in done.stderr, done.stderr)


def within(config):
    return config["method"] == "budget"


def the_recommended_config_is_a_row_and_a_plan(t):
    budget = half(t)
    answer = t.json("tune", "uneven.json", "--budget", str(budget), "-o", "c.json")
    equal((answer["schema"], answer["budget_bytes"], answer["config"]), ("ebb.tune/1", budget, "c.json"))
    rows, best = answer["rows"], answer["rows"][answer["recommended"]]
    holds(best["fits"] and best["total_bytes"] <= budget, "it fits")
    defaults = [row for row in rows if row["default"]]
    equal([row["what"].split(",")[0] for row in defaults], ["default"] * 3, "off, on, and Ebb's own")
    for row in defaults:
        holds(not row["fits"] or best["time_ns"] <= row["time_ns"], f"never worse than {row['what']}")
    names = {row["what"].split(" ")[0] for row in rows}
    for name in ("thresh_nr_try", "genetic_nr_iter", "genetic_pool_size", "search_seed", "effort", "MegEngine's,"):
        holds(name in names, f"{name} is tried: {names}")
    config = json.loads((t.folder / "c.json").read_text())
    equal((config["schema"], config["method"]), ("ebb.config/1", best["config"]["method"]))
    budget_flag = ("--budget", str(budget)) if within(config) else ()
    plan = t.json("plan", "uneven.json", *budget_flag, "--config", "c.json")
    equal((plan["total_bytes"], plan["time_ns"]), (best["total_bytes"], best["time_ns"]), "what the file gives")


def the_same_answer_twice_but_for_seconds(t):
    budget = str(half(t))
    answers = [t.json("tune", "uneven.json", "--budget", budget, *QUICK) for _ in range(2)]
    for answer in answers:
        answer.pop("num_worker")
        for row in answer["rows"]:
            holds(row.pop("planning_ns") > 0, "planning takes time")
    equal(answers[0], answers[1])


def a_config_from_one_command_is_accepted_by_all(t):
    budget = t.json("plan", "conv.ebb", "--device", "ref")["total_bytes"] * 9 // 10
    t.ebb_run("tune", "conv.ebb", "--device", "ref", "--budget", str(budget), "--effort", "2000", "-o", "c.json")
    flag = ("--budget", str(budget)) if within(json.loads((t.folder / "c.json").read_text())) else ()
    for command in (["plan", *flag], ["run", *flag], ["fit", "--budget", "3MiB", "--plans", "p"],
                    ["frontier", "--points", "3"], ["tune", "--budget", str(budget)]):
        t.ebb_run(command[0], "conv.ebb", "--device", "ref", *command[1:], "--config", "c.json", "--effort", "2000")


def what_is_given_is_a_row(t):
    budget = str(half(t))
    (t.folder / "c.json").write_text('{"schema": "ebb.config/1", "genetic_pool_size": 60, "effort": 9000}')
    rows = {row["what"]: row for row in t.json("tune", "uneven.json", "--budget", budget, "--config", "c.json")["rows"]}
    equal((rows["as given"]["default"], rows["as given"]["config"]["genetic_pool_size"]), (True, 60))
    equal(rows["default"]["config"]["genetic_pool_size"], 20)
    holds("as given" not in {row["what"] for row in t.json("tune", "uneven.json", "--budget", budget)["rows"]}, "only then")


def the_table_marks_the_recommended_row(t):
    table = t.ebb_run("tune", "uneven.json", "--budget", str(half(t)), *QUICK).stdout.decode()
    equal(len([line for line in table.splitlines() if line.endswith("recommended")]), 1, table)
    for word in ("candidates", "planning", "added", "default, genetic search off"):
        holds(word in table, word)


def values_to_keep_leave_no_row_that_ignores_them(t):
    budget = str(half(t))
    rows = t.json("tune", "uneven.json", "--budget", budget, "--keep", "f3", *QUICK)["rows"]
    equal({row["config"]["method"] for row in rows}, {"budget"})


def a_budget_without_a_plan_names_the_smallest(t):
    half(t)
    done = t.ebb_run("tune", "uneven.json", "--budget", "1MB", "-o", "c.json", "--progress=none", code=1)
    holds(b"the smallest found needs" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    equal(done.stdout, b"")
    holds(not (t.folder / "c.json").exists(), "nothing written")


def an_interrupt_of_tune_keeps_what_it_has(t):
    (t.folder / "long.json").write_text(text(uneven(200)))
    budget = t.json("plan", "long.json")["total_bytes"] // 3
    for seconds in (0.2, 1, 2, 4, 8, 16):
        stderr = interrupted(t, seconds, "tune", "long.json", "--budget", str(budget), "-o", "c.json")
        if os.path.exists(t.folder / "c.json"):
            break
    equal(stderr, b"ebb: interrupted: the answer is what was found until then\n", "the line")
    flag = ("--budget", str(budget)) if within(json.loads((t.folder / "c.json").read_text())) else ()
    t.ebb_run("plan", "long.json", *flag, "--print-config", "--config", "c.json")


TESTS = [
    a_share_is_of_the_plan_in_place,
    the_recommended_config_is_a_row_and_a_plan,
    the_same_answer_twice_but_for_seconds,
    a_config_from_one_command_is_accepted_by_all,
    what_is_given_is_a_row,
    the_table_marks_the_recommended_row,
    values_to_keep_leave_no_row_that_ignores_them,
    a_budget_without_a_plan_names_the_smallest,
    an_interrupt_of_tune_keeps_what_it_has,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
