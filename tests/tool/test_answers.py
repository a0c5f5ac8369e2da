#!/usr/bin/env python3
"""What the command answers: exit codes, documents on standard output, files, and their agreement.

    test_answers.py EBB SOURCE-ROOT
"""
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import time

from models import CONV, SMALL, chain, text
from tester import Skip, equal, holds, main

MIB = 1 << 20


def version_and_help_go_to_standard_output(t):
    holds(t.ebb_run("--version").stdout.startswith(b"ebb "), "version")
    commands = ["inspect", "plan", "fit", "frontier", "tune", "run", "verify", "report", "diff", "pack", "doctor"]
    overview = t.ebb_run("help").stdout.decode()
    for command in commands:
        holds(f"  {command} " in overview, f"help lists {command}")
        once = t.ebb_run("help", command).stdout
        equal(t.ebb_run(command, "--help").stdout, once, command)
        holds(b"--json" in once, f"{command} lists --json")


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


def fit_answers_for_every_mode_with_plans_that_hold(t):
    budget = 3 * MIB
    answer = t.json("fit", "conv.ebb", "--budget", str(budget), "--effort", "2000", "--plans", "plans")
    equal((answer["schema"], answer["budget_bytes"]), ("ebb.fit/1", budget))
    rows = {row["mode"]: row for row in answer["rows"]}
    equal(list(rows), ["none", "in_place", "sublinear", "budget"])
    holds(0 < rows["none"]["batch"] <= rows["in_place"]["batch"] <= rows["budget"]["batch"], f"batches grow: {rows}")
    for mode, row in rows.items():
        equal(sorted(row), ["baseline_time_ns", "batch", "mode", "next_total_bytes", "plan", "time_ns", "total_bytes"])
        equal(row["plan"], f"plans/conv.{mode}.plan.json")
        plan = json.loads((t.folder / row["plan"]).read_text())
        holds(plan["total_bytes"] == row["total_bytes"] <= budget, f"{mode} fits")
        t.ebb_run("verify", row["plan"])


def fit_writes_plans_into_this_folder_by_default(t):
    answer = t.json("fit", "small.ebb", "--budget", "1MiB", "--effort", "500")
    for row in answer["rows"]:
        holds((t.folder / row["plan"]).is_file() and "/" not in row["plan"], row["plan"])


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


def a_model_without_a_loss_goes_forward_only(t):
    (t.folder / "forward.ebb").write_text(SMALL.replace("loss %loss", "output %loss"))
    facts = t.json("inspect", "forward.ebb")
    equal((facts["n_forward"], facts["n_backward"], facts["n_update"]), (facts["n_ops"], 0, 0))


def inspect_counts_parameters(t):
    facts = t.json("inspect", "small.ebb")
    equal(facts["n_param_elements"], 33 * 3 + 33 + 5 * 33)
    equal(facts["n_ops"], facts["n_forward"] + facts["n_backward"] + facts["n_update"])
    holds(t.json("inspect", "small.ebb", "--eval")["n_backward"] == 0, "evaluation has no backward")


def run_takes_exactly_the_planned_bytes(t):
    for device in ("ref", "cpu"):
        known = {d["name"]: d["available"] for d in t.json("doctor")["devices"]}
        if not known.get(device):
            raise Skip(f"this build has no {device} backend")
        report = t.json("run", "conv.ebb", "--steps", "3", "--device", device)
        equal(len(report["steps"]), 3)
        equal(report["planned_bytes"], report["allocated_bytes"], device)
        holds(report["process_peak_bytes"] > 0, "process peak")
        holds(report["steps"][2]["loss"] < report["steps"][0]["loss"], f"{device}: the loss falls: {report['steps']}")


def runs_in_every_mode_have_equal_losses(t):
    budget = t.json("plan", "conv.ebb", "--device", "ref")["total_bytes"] - 4096
    modes = [[], ["--no-reuse"], ["--method", "megengine"], ["--phased"], ["--poison"], ["--budget", str(budget)]]
    losses = [[step["loss"] for step in t.json("run", "conv.ebb", "--device", "ref", *mode)["steps"]] for mode in modes]
    for mode, found in zip(modes, losses):
        equal(found, losses[0], str(mode))


def doctor_lists_devices(t):
    report = t.json("doctor")
    names = [device["name"] for device in report["devices"]]
    for name in ("ref", "shadow"):
        holds(name in names, name)
    holds(report["n_usable_processors"] >= 1, "processors")


def dumps_go_to_standard_error_and_change_nothing(t):
    plain = t.ebb_run("plan", "conv.ebb", "--json").stdout
    for name in ("parse", "lower", "grad", "optimizer", "simplify", "query"):
        done = t.ebb_run("plan", "conv.ebb", "--json", f"--dump={name}")
        equal(done.stdout, plain, name)
        holds(done.stderr.startswith(f"# after {name}\n".encode()) and b"conv" in done.stderr, f"--dump={name} prints")


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


def no_bar_without_a_terminal(t):
    done = t.ebb_run("plan", "chain.json", "--budget", "12MiB", "--effort", "500", "--progress")
    holds(b"\r" not in done.stderr and b"[" not in done.stderr, done.stderr.decode())


def progress_for_programs_is_one_object_a_line(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    row = ("plan", "long.json", "--budget", "20MiB", "--effort", "300000", "--json")
    done = t.ebb_run(*row, "--progress=json")
    equal(done.stdout, t.ebb_run(*row).stdout, "the answer")
    lines = [line for line in done.stderr.decode().splitlines() if not line.startswith("ebb: ")]
    states = [json.loads(line) for line in lines]
    keys = ["best_added_ppm", "done", "elapsed_ms", "left_ms", "rate_per_s", "schema", "search", "total"]
    for state in states:
        equal((state["schema"], sorted(state)), ("ebb.progress/1", keys))
        holds(0 <= state["done"] <= state["total"] and state["search"] >= 1, state)
    holds(states[0]["rate_per_s"] is None and states[-1]["done"] > 0, "a rate takes a while")
    for before, after in zip(states, states[1:]):
        holds(after["elapsed_ms"] >= before["elapsed_ms"] and after["search"] >= before["search"], "in order")
        holds(after["search"] > before["search"] or after["done"] >= before["done"], "a search goes on")
    rated = [state for state in states if state["rate_per_s"]]
    holds(rated and all(s["left_ms"] <= 1000 * (s["total"] - s["done"]) / s["rate_per_s"] + 2 +
                        s["left_ms"] / s["rate_per_s"] for s in rated), rated[:1])
    holds(any(state["best_added_ppm"] is not None for state in states), "a plan is found")


def without_a_terminal_there_is_a_line_per_ten_seconds(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    begin = time.monotonic()
    stderr = interrupted(t, 12, "plan", "long.json", "--budget", "20MiB", "--effort", "100000000000")
    lines = stderr.decode().splitlines()
    holds(1 <= len(lines) - 1 <= (time.monotonic() - begin) / 10, lines)
    for line in lines[:-1]:
        holds(re.fullmatch(r"ebb: search \d+ for the least time: \d+ % of \d+ candidates, [\d.]+( million)?/s, \d+ s left, "
                           r"(best \+[\d.]+ % time|nothing fits yet), bound \+[\d.]+ %", line), line)


def on_a_terminal(t, *flags, terminal="xterm", columns=0):
    """What a search writes to standard error where that is a terminal."""
    (t.folder / "long.json").write_text(text(chain(60)))
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(t.folder / "out.json", "wb") as out:
        process = subprocess.Popen([t.ebb, "plan", "long.json", "--budget", "20MiB", "--effort", "100000", "--json", *flags],
                                   cwd=t.folder, stdout=out, stderr=theirs, env={**os.environ, "TERM": terminal})
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65536):
            seen += chunk
    except OSError:  # the end, for a terminal
        pass
    os.close(ours)
    equal(process.wait(timeout=100), 0, "exit code")
    json.loads((t.folder / "out.json").read_text())
    return seen


def a_bar_on_a_terminal_and_none_of_it_left(t):
    for flags in ((), ("--progress",)):
        seen = on_a_terminal(t, *flags)
        holds(b"\r[" in seen and b" %" in seen, f"{flags}: a bar: {seen[:200]!r}")
        holds(seen.rfind(b"\x1b[K") > seen.rfind(b"]"), f"{flags}: the bar is wiped: {seen[-200:]!r}")
    narrow = on_a_terminal(t, columns=40)
    drawn = [line.split(b"\x1b[K")[0] for line in narrow.split(b"\r") if line.startswith(b"[")]
    equal(max(map(len, drawn), default=0), 39, "no line is wrapped")


def no_bar_where_it_is_not_wanted(t):
    for seen in (on_a_terminal(t, "--progress=none"), on_a_terminal(t, terminal="dumb"), on_a_terminal(t, "--progress=lines"),
                 on_a_terminal(t, "--dump", "schedule").split(b"}")[-1]):
        holds(b"\r[" not in seen and b"\x1b" not in seen, seen[:200])
    done = t.ebb_run("plan", "long.json", "--budget", "20MiB", "--effort", "2000")
    equal(done.stderr, b"", "without a terminal, and done in less than ten seconds")


def a_budget_is_shown_as_it_was_typed_and_to_the_byte(t):
    for typed, word in [("16MB", "15.26 MiB (16MB, 16000000 bytes)"), ("16MiB", "16.00 MiB (16777216 bytes)"),
                        ("16000000", "15.26 MiB (16000000 bytes)"), ("0.016GB", "15.26 MiB (0.016GB, 16000000 bytes)")]:
        holds(f" within {word}\n" in t.ebb_run("plan", "chain.json", "--budget", typed).stdout.decode(), typed)
        holds(f"within {word};" in t.ebb_run("tune", "chain.json", "--budget", typed).stdout.decode(), typed)
    fit = t.ebb_run("fit", "small.ebb", "--budget", "1MB", "--plans", "p").stdout.decode()
    holds("within 976.56 KiB (1MB, 1000000 bytes)\n" in fit, fit)
    fit = t.ebb_run("fit", "small.ebb", "--budget", "1MB", "--reserve", "1kB", "--plans", "p").stdout.decode()
    holds("within 975.59 KiB (999000 bytes)\n" in fit, fit)
    fit = t.ebb_run("fit", "small.ebb", "--budget", "1MB", "--batch", "3", "--plans", "p").stdout.decode()
    holds("N=3 within 976.56 KiB (1MB, 1000000 bytes): fits\n" in fit, fit)
    curve = t.ebb_run("frontier", "chain.json", "--budgets", "16MB").stdout.decode()
    holds("15.26 MiB (16000000 bytes)" in curve, curve)


def values_to_drop_that_a_loose_budget_bears_are_not_searched_for(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    log = ("--log", "s.json", "-o", "plan.json")
    for names, added in ((["f5"], 1), (["f5", "f6", "f20"], 3), (["f1*"], 11)):
        drop = [word for name in names for word in ("--drop", name)]
        t.ebb_run("plan", "long.json", "--budget", "1GiB", *drop, *log)
        plan, search = (json.loads((t.folder / name).read_text()) for name in ("plan.json", "s.json"))
        equal(plan["time_ns"] - plan["baseline"]["time_ns"], 1000 * added, names)
        equal([s["n_scored"] for s in search["searches"]], [1], names)


def a_search_ends_near_what_is_proved(t):
    model = (os.path.join(sys.argv[2], "examples", "models", "resnet50.ebb"), "--dim", "N=32", "--no-fuse")
    budget = ("--budget", str(t.json("plan", *model)["total_bytes"] * 9 // 10))
    t.ebb_run("plan", *model, *budget, "--log", "s.json", "-o", "plan.json")
    plan, search = (json.loads((t.folder / name).read_text()) for name in ("plan.json", "s.json"))
    base_ns, bound_ns = plan["baseline"]["time_ns"], plan["certificate"]["time_ns_lower_bound"]
    holds(bound_ns <= plan["time_ns"] <= bound_ns + base_ns // 2000 and bound_ns > base_ns, "memory binds, and the bound is near")
    holds([s["how"] for s in search["searches"]] == ["seeds"] and search["searches"][0]["n_scored"] < 20000, search["searches"])
    t.ebb_run("verify", "plan.json")
    t.ebb_run("plan", *model, *budget, "--time-limit", "600", "-o", "limited.json")
    equal((t.folder / "limited.json").read_bytes(), (t.folder / "plan.json").read_bytes(), "a limit that does not strike")
    rows = [row for row in t.json("tune", *model, *budget)["rows"] if row["config"]["method"] == "budget"]
    holds(all(row["candidates"] < 20000 for row in rows), [row["candidates"] for row in rows])
    equal([row["time_ns"] for row in rows if row["default"]], [plan["time_ns"]], "tune's default is that plan")


def interrupted(t, seconds, *arguments):
    """The error output of a command that is interrupted after so long."""
    process = subprocess.Popen([t.ebb, *arguments], cwd=t.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    try:
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    equal(process.returncode, 130, "exit code")
    return stderr


def an_interrupt_ends_the_search(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    budget = t.json("plan", "long.json")["total_bytes"] // 3
    stderr = interrupted(t, 1, "plan", "long.json", "--budget", str(budget), "--effort", "10000000000",
                         "--genetic-nr-iter", "100000", "-o", "plan.json")
    equal(stderr.count(b"\n"), 1, "lines")
    holds(json.loads((t.folder / "plan.json").read_text())["total_bytes"] <= budget, "the best plan so far")
    t.ebb_run("verify", "plan.json")


def what_an_interrupted_search_has_found_is_packed(t):
    """As soon as an answer is reported: packed only quickly it would take more than the budget."""
    model = (os.path.join(sys.argv[2], "examples", "models", "resnet50.ebb"), "--dim", "N=8", "--no-fuse")
    budget = t.json("plan", *model)["total_bytes"] * 2 // 5
    process = subprocess.Popen([t.ebb, "plan", *model, "--budget", str(budget), "--progress=json", "-o", "plan.json"],
                               cwd=t.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in process.stderr:
        if line.startswith(b"{") and json.loads(line).get("best_added_ppm") is not None:
            break
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    equal((process.returncode, stderr.splitlines()[-1:]), (130, [b"ebb: interrupted: the best plan so far was written"]), stderr)
    holds(json.loads((t.folder / "plan.json").read_text())["total_bytes"] <= budget, "within the budget")
    t.ebb_run("verify", "plan.json")


def an_interrupt_of_frontier_tells_what_was_found(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    for seconds in (1, 2, 4, 8, 16):  # the smallest plan is searched first
        stderr = interrupted(t, seconds, "frontier", "long.json", "--points", "60", "--effort", "40000", "-o", "f.json")
        if b"before" not in stderr:
            break
        equal(stderr, b"ebb: interrupted before there was an answer\n", "the line")
        holds(not (t.folder / "f.json").exists(), "nothing written")
    equal(stderr, b"ebb: interrupted: the answer is what was found until then\n", "the line")
    rows = json.loads((t.folder / "f.json").read_text())["rows"]
    holds(0 < len(rows) < 60 and all(row["found"] for row in rows), rows)


def an_interrupt_of_fit_tells_what_was_found(t):
    (t.folder / "wide.ebb").write_text(
        "ebb 1\ngraph wide\ndim N = 4\n%x = input f32[N,64]\n%l = input i32[N]\n" +
        "".join(f"%w{i} = param f32[64,64]\n%a{i} = linear %{'x' if i == 0 else f'r{i - 1}'}, %w{i}\n"
                f"%r{i} = relu %a{i}\n" for i in range(40)) + "%loss = softmax_xent %r39, %l\nloss %loss\n")
    stderr = interrupted(t, 2, "fit", "wide.ebb", "--budget", "4MiB", "--effort", "10000000000", "-o", "fit.json")
    equal(stderr, b"ebb: interrupted: the answer is what was found until then\n", "the line")
    rows = json.loads((t.folder / "fit.json").read_text())["rows"]
    holds(len(rows) >= 2 and rows[1]["batch"] > rows[0]["batch"] > 0, rows)


def a_model_that_asks_for_nothing_is_refused(t):
    (t.folder / "idle.ebb").write_text("ebb 1\ngraph idle\n%x = input f32[4]\n%y = relu %x\n")
    ended = subprocess.run([t.ebb, "plan", "idle.ebb", "-o", "idle.json"], cwd=t.folder, capture_output=True,
                           check=False)
    equal(ended.returncode, 3, "exit code")
    holds(b"nothing to run" in ended.stderr and ended.stderr.count(b"\n") == 1, ended.stderr)
    holds(not (t.folder / "idle.json").exists(), "nothing written")


TESTS = [
    cached_answers_are_the_same_to_the_byte,
    a_cache_is_used_where_a_flag_or_else_a_variable_names_it,
    a_cached_plan_that_lies_is_warned_of_and_replaced,
    a_run_from_a_cache_has_the_same_losses,
    frontier_is_a_curve_with_plans_that_hold,
    frontier_of_given_budgets_says_where_there_is_no_plan,
    most_added_time_ends_a_frontier,
    an_interrupt_of_frontier_tells_what_was_found,
    an_interrupt_of_fit_tells_what_was_found,
    a_model_that_asks_for_nothing_is_refused,
    version_and_help_go_to_standard_output,
    a_plan_without_a_budget_recomputes_nothing,
    no_reuse_needs_more_than_in_place,
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
    fit_answers_for_every_mode_with_plans_that_hold,
    fit_writes_plans_into_this_folder_by_default,
    a_model_without_a_loss_goes_forward_only,
    inspect_counts_parameters,
    run_takes_exactly_the_planned_bytes,
    runs_in_every_mode_have_equal_losses,
    doctor_lists_devices,
    the_optimizer_is_chosen,
    dumps_go_to_standard_error_and_change_nothing,
    no_bar_without_a_terminal,
    progress_for_programs_is_one_object_a_line,
    without_a_terminal_there_is_a_line_per_ten_seconds,
    a_bar_on_a_terminal_and_none_of_it_left,
    no_bar_where_it_is_not_wanted,
    values_to_drop_that_a_loose_budget_bears_are_not_searched_for,
    a_budget_is_shown_as_it_was_typed_and_to_the_byte,
    a_search_ends_near_what_is_proved,
    an_interrupt_ends_the_search,
    what_an_interrupted_search_has_found_is_packed,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
