#!/usr/bin/env python3
"""Config files: who says what comes first, where values come from, and that a file does what its flags would.

    test_config.py EBB
"""
import json
import sys

import harness
from models import chain, text
from tester import equal, holds, main

MIB = 1 << 20
del harness.ENVIRONMENT[harness.WORKERS]  # where values come from is what this is about
FIVE = {"thresh_nr_try": ("--thresh-nr-try", "MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY"),
        "genetic_nr_iter": ("--genetic-nr-iter", "MGB_SUBLINEAR_MEMORY_GENETIC_NR_ITER"),
        "genetic_pool_size": ("--genetic-pool-size", "MGB_SUBLINEAR_MEMORY_GENETIC_POOL_SIZE"),
        "num_worker": ("--num-worker", "MGB_SUBLINEAR_MEMORY_WORKERS")}


def config(t, **members):
    (t.folder / "c.json").write_text(json.dumps({"schema": "ebb.config/1", **members}))
    return ("--config", "c.json")


def settings(t, *args, **options):
    document = t.json("plan", "--print-config", *args, **options)
    equal(document["schema"], "ebb.settings/1")
    return {row["key"]: (row["value"], row["from"], row["name"]) for row in document["rows"]}


def flags_come_before_variables_before_the_file_before_defaults(t):
    for key, (flag, variable) in FIVE.items():
        default = settings(t)[key]
        equal(default[1:], ("default", None), key)
        file = config(t, **{key: 7})
        equal(settings(t, *file)[key], (7, "file", "c.json"), key)
        equal(settings(t, *file, env={variable: "8"})[key], (8, "variable", variable), key)
        equal(settings(t, *file, flag, "9", env={variable: "8"})[key], (9, "flag", flag[2:]), key)
        equal(settings(t, flag, "9", env={variable: "8"})[key], (9, "flag", flag[2:]), key)
        equal(settings(t, *file, env={variable: ""})[key], (7, "file", "c.json"), "an empty variable is none")


def what_has_no_variable_comes_from_flag_or_file(t):
    for key, flag in (("seed", "--seed"), ("search_seed", "--search-seed"), ("effort", "--effort")):
        file = config(t, **{key: 70})
        equal(settings(t, *file)[key], (70, "file", "c.json"), key)
        equal(settings(t, *file, flag, "90")[key], (90, "flag", key.replace("_", "-")), key)
    file = config(t, time_limit_ms=1500)
    equal(settings(t, *file)["time_limit_ms"], (1500, "file", "c.json"))
    equal(settings(t, *file, "--time-limit", "0.25")["time_limit_ms"], (250, "flag", "time-limit"))


def the_lower_bound_is_bytes_whoever_says_it(t):
    variable = {"MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB": "5"}
    equal(settings(t, *config(t, lb_memory_mb=3))["lb_memory"], (3 * MIB, "file", "c.json"))
    equal(settings(t, *config(t, lb_memory=77))["lb_memory"], (77, "file", "c.json"))
    equal(settings(t, *config(t, lb_memory=77), env=variable)["lb_memory"][:2], (5 * MIB, "variable"))
    equal(settings(t, "--lb-memory-mb", "6", env=variable)["lb_memory"][:2], (6 * MIB, "flag"))


def the_mode_is_chosen_by_flags_or_by_the_files_method(t):
    for members, args, want in [
            ({"genetic_nr_iter": 3}, [], ("in_place", "default")), ({"method": "megengine"}, [], ("sublinear", "file")),
            ({"method": "megengine"}, ["--no-reuse"], ("none", "flag")),
            ({"method": "budget"}, ["--budget", "1GB"], ("budget", "flag")),
            ({"method": "budget"}, ["--method", "megengine"], ("sublinear", "flag")),
            ({"method": "megengine"}, ["--method", "budget", "--budget", "1GB"], ("budget", "flag"))]:
        equal(settings(t, *config(t, **members), *args)["memory"][:2], want, f"{members} {args}")


def a_budget_is_bytes_or_a_share(t):
    for budget, key, value in ("1GB", "budget_bytes", 10**9), ("60%", "budget_share", 0.6):
        equal(settings(t, "--budget", budget)[key][:2], (value, "flag"), budget)
    equal({"budget_bytes", "budget_share"} & set(settings(t, "--budget", "60%")), {"budget_share"}, "one of them")


def a_file_does_what_its_flags_do(t):
    budget = ("--budget", str(t.json("plan", "chain.json")["total_bytes"] - 2 * MIB))
    file = config(t, effort=700, search_seed=5, thresh_nr_try=3, genetic_nr_iter=6, genetic_pool_size=10, num_worker=2)
    flags = ("--effort", "700", "--search-seed", "5", "--thresh-nr-try", "3", "--genetic-nr-iter", "6",
             "--genetic-pool-size", "10")
    (t.folder / "long.json").write_text(text(chain(40)))
    long = ("--budget", str(t.json("plan", "long.json")["total_bytes"] // 2))
    for command in (("plan", "chain.json", *budget), ("plan", "long.json", *long), ("frontier", "chain.json", "--points", "4"),
                    ("fit", "conv.ebb", "--budget", "3MiB", "--plans", "p"),
                    ("plan", "conv.ebb", "--method", "megengine")):
        equal(t.ebb_run(*command, "--json", *file).stdout, t.ebb_run(*command, "--json", *flags).stdout, command[0])

    def losses(*args):
        return [step["loss"] for step in t.json("run", "conv.ebb", "--device", "ref", *args)["steps"]]

    equal(losses(*config(t, seed=3)), losses("--seed", "3"), "the seed")
    equal(losses(*config(t, search_seed=3)), losses(), "the search's seed changes no result")
    holds(losses(*config(t, seed=3)) != losses(), "but the seed does")


def a_file_without_a_search_is_told_of(t):
    done = t.ebb_run("plan", "conv.ebb", *config(t, genetic_nr_iter=9))
    holds(b"nothing asked for one" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    equal(t.ebb_run("plan", "conv.ebb", "--json", *config(t)).stdout, t.ebb_run("plan", "conv.ebb", "--json").stdout)
    equal(t.ebb_run("plan", "conv.ebb", "--method", "megengine", *config(t)).stderr, b"")


def the_table_says_where_values_come_from(t):
    table = t.ebb_run("plan", "--print-config", *config(t, effort=12345), "--seed", "4",
                      env={"MGB_SUBLINEAR_MEMORY_WORKERS": "3"}).stdout.decode()
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines()}
    equal(rows["effort"], ["12345", "c.json"])
    equal(rows["seed"], ["4", "--seed"])
    equal(rows["num_worker"], ["3", "MGB_SUBLINEAR_MEMORY_WORKERS"])
    equal(rows["thresh_nr_try"], ["10", "default"])
    equal(rows["memory"], ["in_place", "default"])
    holds("memory" not in t.ebb_run("fit", "--print-config").stdout.decode().split(), "fit has all modes")


TESTS = [
    flags_come_before_variables_before_the_file_before_defaults,
    what_has_no_variable_comes_from_flag_or_file,
    the_lower_bound_is_bytes_whoever_says_it,
    the_mode_is_chosen_by_flags_or_by_the_files_method,
    a_budget_is_bytes_or_a_share,
    a_file_does_what_its_flags_do,
    a_file_without_a_search_is_told_of,
    the_table_says_where_values_come_from,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
