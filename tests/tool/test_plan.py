#!/usr/bin/env python3
"""ebb plan: what it answers, whatever the words it is asked with, and that its files hold.

    test_plan.py EBB SOURCE-ROOT
"""
import json
import os
import subprocess
import sys

from models import CONV, chain, text
from tester import equal, holds, main, rows

MIB = 1 << 20


def a_plan_without_a_budget_recomputes_nothing(t):
    plan = t.json("plan", "conv.ebb")
    equal(plan["schema"], "ebb.plan/1")
    equal([step["op"] for step in plan["steps"] if step["recompute"]], [])
    equal(plan["budget_bytes"], None)
    equal(plan["baseline"]["arena_bytes"], plan["arena_bytes"])
    equal(plan["time_ns"], plan["baseline"]["time_ns"])


def no_reuse_needs_more_than_in_place(t):
    holds(t.json("plan", "conv.ebb", "--no-reuse")["arena_bytes"] > t.json("plan", "conv.ebb")["arena_bytes"],
          "no reuse needs more")


def a_share_is_a_budget_of_that_part_of_the_plan_in_place(t):
    budget = int(0.8 * t.json("plan", "chain.json")["total_bytes"])
    share = t.json("plan", "chain.json", "--budget", "80%")
    equal((share["budget_bytes"], share), (budget, t.json("plan", "chain.json", "--budget", str(budget))))
    whole = t.json("plan", "chain.json", "--budget", "100%")
    equal((whole["time_ns"], whole["budget_bytes"]), (whole["baseline"]["time_ns"], whole["baseline"]["total_bytes"]))


def a_budget_is_kept_and_a_plan_holds(t):
    in_place = t.json("plan", "chain.json")
    budget = in_place["total_bytes"] - 2 * MIB
    done = t.ebb_run("plan", "chain.json", "--budget", str(budget), "-o", "plan.json")
    holds(b"default effort" in done.stderr, "says that the default effort was used")
    plan = json.loads((t.folder / "plan.json").read_text())
    holds(plan["total_bytes"] <= budget, "within the budget")
    holds(any(step["recompute"] for step in plan["steps"]), "something runs again")
    equal(plan["budget_bytes"], budget)
    t.ebb_run("verify", "plan.json")
    equal(t.json("verify", "plan.json")["verdict"], "holds")
    holds(t.ebb_run("verify", "plan.json").stdout.startswith(b"plan.json: holds: "), "names its file")


def units_of_a_budget_are_read(t):
    total = t.json("plan", "chain.json")["total_bytes"]
    for word, n in [("16MiB", 16 * MIB), ("16MB", 16 * 10**6), ("0.016GB", 16 * 10**6), ("16777216", 16 * MIB)]:
        equal(t.json("plan", "chain.json", "--budget", word)["budget_bytes"], n, word)
    holds(total < 16 * 10**6, "the budgets do not bind")


def a_plan_in_a_file_leaves_its_summary_on_standard_output(t):
    summary = t.json("plan", "conv.ebb", "-o", "plan.json")
    plan = json.loads((t.folder / "plan.json").read_text())
    equal(summary["schema"], "ebb.plan-summary/1")
    for key in ("arena_bytes", "persistent_bytes", "total_bytes", "max_live_bytes", "time_ns", "budget_bytes"):
        equal(summary[key], plan[key], key)
    equal(summary["n_steps"], len(plan["steps"]))
    equal(summary["plan"], "plan.json")
    equal(sorted(os.listdir(t.folder)), ["chain.json", "conv.ebb", "plan.json", "small.ebb"])


def the_same_plan_for_any_number_of_workers(t):
    budget = str(t.json("plan", "chain.json")["total_bytes"] - 2 * MIB)
    plans = {t.ebb_run("plan", "chain.json", "--budget", budget, "--effort", "3000", "--num-worker", n, "--json").stdout
             for n in ("1", "2", "3")}
    equal(len(plans), 1, "plans")


def one_try_of_a_threshold_is_legal(t):
    t.ebb_run("plan", "chain.json", "--thresh-nr-try", "1")
    t.ebb_run("plan", "chain.json", "--thresh-nr-try", "0")
    t.ebb_run("plan", "chain.json", env={"MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY": "1"})


def a_sublinear_flag_finds_least_bytes(t):
    in_place = t.json("plan", "chain.json")["total_bytes"]
    least = t.json("plan", "chain.json", "--genetic-nr-iter", "5")
    equal(least["budget_bytes"], None)
    holds(least["total_bytes"] < in_place, "fewer bytes than in place")
    equal(t.json("plan", "chain.json", "--method", "megengine", "--genetic-nr-iter", "5"), least)


def both_words_for_the_lower_bound_mean_the_same(t):
    mib = t.json("plan", "chain.json", "--lb-memory-mb", "4")
    equal(t.json("plan", "chain.json", "--lb-memory", "4MiB"), mib)
    equal(t.json("plan", "chain.json", "--method", "megengine", env={"MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB": "4"}), mib)
    equal(t.json("plan", "chain.json", "--lb-memory-mb", "4", env={"MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB": "9"}), mib,
          "a flag overrides its variable")


def a_model_from_standard_input(t):
    equal(json.loads(t.ebb_run("plan", "-", "--json", stdin=CONV.encode()).stdout)["arena_bytes"],
          t.json("plan", "conv.ebb")["arena_bytes"])


def dimensions_change_a_plan(t):
    holds(t.json("plan", "conv.ebb", "--dim", "N=33")["arena_bytes"] > t.json("plan", "conv.ebb")["arena_bytes"],
          "a larger batch needs more")


def a_plan_that_lies_is_found_out(t):
    plan = t.json("plan", "chain.json")
    busy = [b for b in plan["buffers"] if b["region"] == "transient" and b["bytes"] > 64]
    lies = {
        "two live buffers on one address": lambda p: p["buffers"][busy[1]["id"]].update(offset=busy[0]["offset"]),
        "a smaller arena": lambda p: p.update(arena_bytes=p["arena_bytes"] - 64),
        "a shorter time": lambda p: p.update(time_ns=p["time_ns"] - 1),
        "less live": lambda p: p.update(max_live_bytes=p["max_live_bytes"] - 64),
        "two steps exchanged": lambda p: p["steps"].insert(1, p["steps"].pop(2)),
    }
    for name, lie in lies.items():
        false = json.loads(json.dumps(plan))
        lie(false)
        (t.folder / "false.json").write_text(json.dumps(false))
        done = t.ebb_run("verify", "false.json", "--json", code=1)
        answer = json.loads(done.stdout)
        equal((answer["plan"], answer["verdict"]), ("false.json", "violated"), name)
        equal(done.stderr.decode(), f"ebb: false.json: {answer['fault']}\n", name)


def the_optimizer_is_chosen(t):
    def optimized(*args):
        return t.ebb_run("plan", "conv.ebb", "--dump=optimizer", *args).stderr

    for args, there, not_there in [([], b" = sgd_momentum ", b"adamw"), (["--momentum", "0"], b" = sgd ", b"momentum"),
                                   (["--optimizer", "sgd", "--nesterov"], b"nesterov=true", b"adamw"),
                                   (["--optimizer=adamw", "--beta2", "0.5"], b"beta2=0.5 ", b"sgd"),
                                   (["--clip-norm", "2"], b" norm=2 ", b"adamw")]:
        holds(there in optimized(*args) and not_there not in optimized(*args), args)
    plain, adamw = (t.json("plan", "conv.ebb", *args)["persistent_bytes"] for args in ([], ["--optimizer", "adamw"]))
    holds(adamw > plain, "two states a parameter")
    steps = t.json("run", "small.ebb", "--device", "ref", "--steps", "8", "--optimizer", "adamw", "--clip-norm", "1")["steps"]
    holds(steps[-1]["loss"] < steps[0]["loss"], "the loss falls")


def dumps_go_to_standard_error_and_change_nothing(t):
    plain = t.ebb_run("plan", "conv.ebb", "--json").stdout
    for name in ("parse", "lower", "grad", "optimizer", "simplify", "query"):
        done = t.ebb_run("plan", "conv.ebb", "--json", f"--dump={name}")
        equal(done.stdout, plain, name)
        holds(done.stderr.startswith(f"# after {name}\n".encode()) and b"conv" in done.stderr, f"--dump={name} prints")


def values_to_drop_that_a_loose_budget_bears_are_not_searched_for(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    log = ("--log", "s.json", "-o", "plan.json")
    for names, added in ((["f5"], 1), (["f5", "f6", "f20"], 3), (["f1*"], 11)):
        drop = [word for name in names for word in ("--drop", name)]
        t.ebb_run("plan", "long.json", "--budget", "1GiB", *drop, *log)
        plan, search = (json.loads((t.folder / name).read_text()) for name in ("plan.json", "s.json"))
        equal(plan["time_ns"] - plan["baseline"]["time_ns"], 1000 * added, names)
        equal([s["n_scored"] for s in search["searches"]], [1], names)


def a_budget_is_shown_as_it_was_typed_and_to_the_byte(t):
    quick = ("--effort", "200")
    for typed, word in [("16MB", "15.26 MiB (16MB, 16000000 bytes)"), ("16MiB", "16.00 MiB (16777216 bytes)"),
                        ("16000000", "15.26 MiB (16000000 bytes)"), ("0.016GB", "15.26 MiB (0.016GB, 16000000 bytes)")]:
        holds(f" within {word}\n" in t.ebb_run("plan", "chain.json", "--budget", typed).stdout.decode(), typed)
        holds(f"within {word};" in t.ebb_run("tune", "chain.json", "--budget", typed).stdout.decode(), typed)
    fit = t.ebb_run("fit", "small.ebb", "--budget", "1MB", *quick, "--plans", "p").stdout.decode()
    holds("within 976.56 KiB (1MB, 1000000 bytes)\n" in fit, fit)
    fit = t.ebb_run("fit", "small.ebb", "--budget", "1MB", "--reserve", "1kB", *quick, "--plans", "p").stdout.decode()
    holds("within 975.59 KiB (999000 bytes)\n" in fit, fit)
    fit = t.ebb_run("fit", "small.ebb", "--budget", "1MB", "--batch", "3", *quick, "--plans", "p").stdout.decode()
    holds("N=3 within 976.56 KiB (1MB, 1000000 bytes): fits\n" in fit, fit)
    curve = t.ebb_run("frontier", "chain.json", "--budgets", "16MB").stdout.decode()
    holds("15.26 MiB (16000000 bytes)" in curve, curve)


def a_search_ends_near_what_is_proved(t):
    model = (os.path.join(sys.argv[2], "examples", "models", "resnet50.ebb"), "--dim", "N=32", "--no-fuse")
    budget = ("--budget", str(t.json("plan", *model)["total_bytes"] * 9 // 10))
    t.ebb_run("plan", *model, *budget, "--log", "s.json", "-o", "plan.json")
    plan, search = (json.loads((t.folder / name).read_text()) for name in ("plan.json", "s.json"))
    base_ns, bound_ns = plan["baseline"]["time_ns"], plan["certificate"]["time_ns_lower_bound"]
    holds(bound_ns <= plan["time_ns"] <= bound_ns + base_ns // 2000 and bound_ns > base_ns, "memory binds, and the bound is near")
    holds([s["how"] for s in search["searches"]] == ["seeds"] and search["searches"][0]["n_scored"] < 20000, search["searches"])
    t.ebb_run("verify", "plan.json")

    def limited():
        t.ebb_run("plan", *model, *budget, "--time-limit", "600", "-o", "limited.json")
        equal((t.folder / "limited.json").read_bytes(), (t.folder / "plan.json").read_bytes(), "a limit that does not strike")

    def tuned():
        found = [row for row in t.json("tune", *model, *budget)["rows"] if row["config"]["method"] == "budget"]
        holds(all(row["candidates"] < 20000 for row in found), [row["candidates"] for row in found])
        equal([row["time_ns"] for row in found if row["default"]], [plan["time_ns"]], "tune's default is that plan")

    for same in rows((limited, tuned)):
        same()


def a_model_that_asks_for_nothing_is_refused(t):
    (t.folder / "idle.ebb").write_text("ebb 1\ngraph idle\n%x = input f32[4]\n%y = relu %x\n")
    ended = subprocess.run([t.ebb, "plan", "idle.ebb", "-o", "idle.json"], cwd=t.folder, capture_output=True,
                           check=False)
    equal(ended.returncode, 3, "exit code")
    holds(b"nothing to run" in ended.stderr and ended.stderr.count(b"\n") == 1, ended.stderr)
    holds(not (t.folder / "idle.json").exists(), "nothing written")


TESTS = [
    a_plan_without_a_budget_recomputes_nothing,
    no_reuse_needs_more_than_in_place,
    a_share_is_a_budget_of_that_part_of_the_plan_in_place,
    a_budget_is_kept_and_a_plan_holds,
    units_of_a_budget_are_read,
    a_plan_in_a_file_leaves_its_summary_on_standard_output,
    the_same_plan_for_any_number_of_workers,
    one_try_of_a_threshold_is_legal,
    a_sublinear_flag_finds_least_bytes,
    both_words_for_the_lower_bound_mean_the_same,
    a_model_from_standard_input,
    dimensions_change_a_plan,
    a_plan_that_lies_is_found_out,
    the_optimizer_is_chosen,
    dumps_go_to_standard_error_and_change_nothing,
    values_to_drop_that_a_loose_budget_bears_are_not_searched_for,
    a_budget_is_shown_as_it_was_typed_and_to_the_byte,
    a_search_ends_near_what_is_proved,
    a_model_that_asks_for_nothing_is_refused,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
