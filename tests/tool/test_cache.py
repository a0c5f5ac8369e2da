#!/usr/bin/env python3
"""Cached plans: the same answers to the byte, and no trust in a file that lies.

    test_cache.py EBB
"""
import os
import re
import sys

from tester import equal, holds, main

MIB = 1 << 20


def cached_answers_are_the_same_to_the_byte(t):
    budget = str(t.json("plan", "chain.json")["total_bytes"] - 2 * MIB)
    rows = [("plan", "chain.json", "--budget", budget, "--effort", "2000"),
            ("plan", "conv.ebb", "--method", "megengine"),
            ("plan", "conv.ebb", "--dump=schedule"),
            ("frontier", "chain.json", "--points", "4", "--effort", "2000"),
            ("frontier", "conv.ebb", "--budgets", "100%,1KiB", "--effort", "2000")]
    for row in rows:
        for more in ([], ["--json"]):
            plain = t.ebb_run(*row, *more)
            for _ in range(2):
                cached = t.ebb_run(*row, *more, "--cache", "made")
                equal((cached.stdout, cached.stderr), (plain.stdout, plain.stderr), str(row))
    holds(all(name.endswith(".plan.json") for name in os.listdir(t.folder / "made")), "names")
    for name in os.listdir(t.folder / "made"):
        t.ebb_run("verify", f"made/{name}")


def a_cache_is_used_where_a_flag_or_else_a_variable_names_it(t):
    row = ("plan", "chain.json", "--budget", "11MB", "--effort", "2000", "--json")
    t.ebb_run(*row, env={"EBB_CACHE": ""})
    holds(not (t.folder / "a").exists() and not (t.folder / "b").exists(), "none")
    t.ebb_run(*row, env={"EBB_CACHE": "a"})
    t.ebb_run(*row, "--cache", "b", env={"EBB_CACHE": "c"})
    for folder in "ab":
        equal(len(os.listdir(t.folder / folder)), 1, folder)
    holds(not (t.folder / "c").exists(), "the flag comes first")


def a_cached_plan_that_lies_is_warned_of_and_replaced(t):
    row = ("plan", "chain.json", "--budget", "11MB", "--effort", "2000", "--json", "--cache", "made")
    plain = t.ebb_run(*row)
    path = t.folder / "made" / os.listdir(t.folder / "made")[0]
    good = path.read_bytes()
    equal(good, plain.stdout, "what is printed is what is stored")
    path.write_bytes(good.replace(b'"lower": 0', b'"lower": 1', 1))
    again = t.ebb_run(*row)
    equal(again.stdout, plain.stdout)
    holds(re.match(rb"ebb: cached plan made/[0-9a-f]{32}\.plan\.json is not used, and planned anew: [^\n]+\n", again.stderr),
          again.stderr)
    equal(path.read_bytes(), good, "replaced")


def a_run_from_a_cache_has_the_same_losses(t):
    budget = str(t.json("plan", "conv.ebb", "--device", "ref")["total_bytes"] - 4096)
    row = ("run", "conv.ebb", "--device", "ref", "--budget", budget, "--cache", "made")
    losses = [[step["loss"] for step in t.json(*row)["steps"]] for _ in range(2)]
    equal(losses[1], losses[0])
    equal(len(os.listdir(t.folder / "made")), 1)


TESTS = [
    cached_answers_are_the_same_to_the_byte,
    a_cache_is_used_where_a_flag_or_else_a_variable_names_it,
    a_cached_plan_that_lies_is_warned_of_and_replaced,
    a_run_from_a_cache_has_the_same_losses,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
