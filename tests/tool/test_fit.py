#!/usr/bin/env python3
"""fit: one batch, devices that give a budget, reserves, and what is said when the answer is no.

    test_fit.py EBB
"""
import json
import os
import re
import sys

from tester import equal, holds, main

MIB = 1 << 20
QUICK = ("--effort", "4000")
DEVICE = {"deviceName": "Small <one>", "totalGlobalMem": 600 * MIB, "multiProcessorCount": 3}
# Two batch norms, and a batch that is too small to be cut in two without their noticing.
NORMS = """ebb 1
graph norms
dim N = 8
%x = input f32[N,3,9,9]
%labels = input i32[N]
%w1 = param f32[8,3,3,3] init=kaiming
%g1 = param f32[8] init=one
%b1 = param f32[8] init=zero
%m1 = state f32[8] init=zero
%v1 = state f32[8] init=one
%w2 = param f32[8,8,3,3] init=kaiming
%g2 = param f32[8] init=one
%b2 = param f32[8] init=zero
%m2 = state f32[8] init=zero
%v2 = state f32[8] init=one
%wf = param f32[5,8] init=uniform
%c1 = conv2d %x, %w1 pad=1
%n1 = batch_norm %c1, %g1, %b1, %m1, %v1
%r1 = relu %n1
%c2 = conv2d %r1, %w2 pad=1
%n2 = batch_norm %c2, %g2, %b2, %m2, %v2
%r2 = relu %n2
%p = global_avg_pool %r2
%logits = linear %p, %wf
%loss = softmax_xent %logits, %labels
loss %loss
"""


def device(t, **members):
    (t.folder / "gpu.json").write_text(json.dumps({**DEVICE, **members}))
    return ("--device", "gpu.json")


def a_device_gives_its_memory_less_context_and_reserve(t):
    rows = [((), {}, 600 * MIB - 512 * MIB), ((), {"context_bytes": 598 * MIB}, 2 * MIB),
            (("--reserve", "1MiB"), {"context_bytes": 598 * MIB}, MIB)]
    for args, members, budget in rows:
        answer = t.json("fit", "conv.ebb", *device(t, **members), "--effort", "500", "--plans", "p", *args)
        equal(answer["budget_bytes"], budget)
        equal(answer["reserve_bytes"], MIB if args else 0)
        equal(answer["device"], {"name": "Small <one>", "memory_bytes": 600 * MIB,
                                 "context_bytes": members.get("context_bytes", 512 * MIB)})
        for row in answer["rows"]:
            holds(row["total_bytes"] <= budget, row)
    plain = t.json("fit", "conv.ebb", "--budget", "2MiB", "--effort", "500", "--plans", "p")
    equal(plain["device"], None)
    reserved = t.json("fit", "conv.ebb", "--budget", "3MiB", "--reserve", "1MiB", "--effort", "500", "--plans", "p")
    equal(reserved["rows"], plain["rows"], "a reserve is a smaller budget")


def one_more_was_tried_in_vain(t):
    answer = t.json("fit", "conv.ebb", "--budget", "3MiB", *QUICK, "--plans", "p")
    for row in answer["rows"][:3]:
        more = t.json("fit", "conv.ebb", "--budget", "3MiB", "--batch", str(row["batch"] + 1), *QUICK, "--plans", "q")
        same = {r["mode"]: r for r in more["rows"]}[row["mode"]]
        equal((same["fits"], same["total_bytes"], same["plan"]), (False, row["next_total_bytes"], None), row["mode"])
        holds(row["next_total_bytes"] > 3 * MIB, row)
    equal(os.path.exists(t.folder / "q" / "conv.none.plan.json"), False, "what does not fit is not written")


def a_batch_that_fits_has_plans_that_hold(t):
    answer = t.json("fit", "conv.ebb", "--budget", "3MiB", "--batch", "120", "--plans", "p")
    equal((answer["schema"], answer["batch"], answer["fits"]), ("ebb.fit-batch/1", 120, True))
    equal((answer["smallest_budget_bytes"], answer["largest_batch"]), (None, None))
    fitting = [row for row in answer["rows"] if row["fits"]]
    equal([row["mode"] for row in fitting], ["sublinear", "budget"])
    for row in fitting:
        plan = json.loads((t.folder / row["plan"]).read_text())
        equal((plan["total_bytes"], plan["time_ns"]), (row["total_bytes"], row["time_ns"]))
        holds(plan["total_bytes"] <= 3 * MIB, "fits")
        t.ebb_run("verify", row["plan"])


def no_names_changes_that_make_it_a_yes(t):
    asked = ("fit", "conv.ebb", "--batch", "300", *QUICK, "--plans", "p", "--progress=none")
    done = t.ebb_run(*asked, "--budget", "3MiB", "--json", code=1)
    answer = json.loads(done.stdout)
    equal(answer["fits"], False)
    equal(done.stderr.count(b"\n"), 1, "lines")
    budget, batch = answer["smallest_budget_bytes"], answer["largest_batch"]
    micro = answer["accumulation"]
    for number in (budget, batch, micro["n_micro"], micro["micro_batch"]):
        holds(re.search(rf"\b{number}\b", done.stderr.decode()), f"{number} is named: {done.stderr}")
    holds(json.loads(t.ebb_run(*asked, "--budget", str(budget), "--json").stdout)["fits"], "the budget")
    holds(t.json("fit", "conv.ebb", "--budget", "3MiB", "--batch", str(batch), *QUICK, "--plans", "p")["fits"], "the batch")
    holds(micro["total_bytes"] <= 3 * MIB and micro["n_micro"] * micro["micro_batch"] >= 300, micro)
    holds(t.json("fit", "conv.ebb", "--budget", "3MiB", "--batch", str(micro["micro_batch"]), *QUICK, "--plans", "p")["rows"][1]["fits"],
          "a micro-batch fits in place")


def accumulation_says_which_layers_see_less(t):
    (t.folder / "norms.ebb").write_text(NORMS)
    equal(t.json("fit", "norms.ebb", "--budget", "1MiB", "--batch", "8", "--plans", "p")["accumulation"]["n_batch_norms"], 2)
    table = t.ebb_run("fit", "norms.ebb", "--budget", "1MiB", "--batch", "8", "--plans", "p").stdout.decode()
    holds("2 batch norms see 4 items in place of 8" in table, table)
    plain = t.ebb_run("fit", "conv.ebb", "--budget", "3MiB", "--batch", "8", "--plans", "p").stdout.decode()
    odd = t.ebb_run("fit", "conv.ebb", "--budget", "3MiB", "--batch", "7", "--plans", "p").stdout.decode()
    holds("2 micro-batches of 4 (8 in all)," in odd, odd)
    holds("2 micro-batches of 4, nothing" in plain and "batch norms" not in plain, plain)
    equal(t.json("fit", "conv.ebb", "--budget", "3MiB", "--batch", "1", "--plans", "p")["accumulation"], None)


def a_device_is_told_whose_times_they_are(t):
    for args in ((), ("--batch", "2")):
        described = t.ebb_run("fit", "conv.ebb", *device(t), "--device", "gpu.json", "--effort", "500", "--plans", "p", *args).stdout
        holds(b"times are predicted for the backend cpu " in described and b"not for the device" in described, described)
        plain = t.ebb_run("fit", "conv.ebb", "--budget", "3MiB", "--effort", "500", "--plans", "p", *args).stdout
        holds(b"times are predicted" not in plain, plain)
        equal(b"--batch asks for one N" in plain, not args)


def the_table_names_the_device_and_the_rate(t):
    table = t.ebb_run("fit", "conv.ebb", *device(t, context_bytes=597 * MIB), "--reserve", "1MiB", "--plans", "p",
                      "--effort", "500").stdout.decode()
    holds("Small <one>: 600.00 MiB, less 597.00 MiB of context and 1.00 MiB in reserve\n" in table, table)
    holds("within 2.00 MiB" in table and re.search(r"\d/s", table) and "one more did not fit: none N=" in table, table)


def fit_answers_for_every_mode_with_plans_that_hold(t):
    budget = 3 << 20
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


TESTS = [
    a_device_gives_its_memory_less_context_and_reserve,
    one_more_was_tried_in_vain,
    a_batch_that_fits_has_plans_that_hold,
    no_names_changes_that_make_it_a_yes,
    accumulation_says_which_layers_see_less,
    a_device_is_told_whose_times_they_are,
    the_table_names_the_device_and_the_rate,
    fit_answers_for_every_mode_with_plans_that_hold,
    fit_writes_plans_into_this_folder_by_default,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
