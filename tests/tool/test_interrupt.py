#!/usr/bin/env python3
"""An interrupt ends a search with what it has found.

    test_interrupt.py EBB SOURCE-ROOT
"""
import json
import os
import signal
import subprocess
import sys
import time

from models import chain, text
from tester import equal, holds, interrupted, main


def an_interrupt_ends_the_search(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    budget = t.json("plan", "long.json")["total_bytes"] // 3
    stderr = interrupted(t, 1, "plan", "long.json", "--budget", str(budget), "--effort", "10000000000",
                         "--genetic-nr-iter", "100000", "-o", "plan.json")
    equal(stderr.count(b"\n"), 1, "lines")
    holds(json.loads((t.folder / "plan.json").read_text())["total_bytes"] <= budget, "the best plan so far")
    t.ebb_run("verify", "plan.json")


def an_interrupt_is_heard_in_a_large_graph(t):
    (t.folder / "large.json").write_text(text(chain(6000)))
    budget = t.json("plan", "large.json")["total_bytes"] * 6 // 10
    process = subprocess.Popen([t.ebb, "plan", "large.json", "--budget", str(budget)], cwd=t.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    waited = time.monotonic() - began
    slower = 4 if int(os.environ.get("EBB_TEST_EFFORT_PART", "1")) > 1 else 1  # with a sanitizer
    holds(process.returncode == 130 and waited < 3 * slower, f"exit code {process.returncode} after {waited:.1f} s")


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


TESTS = [
    an_interrupt_ends_the_search,
    an_interrupt_is_heard_in_a_large_graph,
    what_an_interrupted_search_has_found_is_packed,
    an_interrupt_of_frontier_tells_what_was_found,
    an_interrupt_of_fit_tells_what_was_found,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
