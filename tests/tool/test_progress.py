#!/usr/bin/env python3
"""What a search tells while it goes on: a bar on a terminal, objects for programs. Lines elsewhere, one in ten seconds:
test_pace.c, which has a clock of its own.

    test_progress.py EBB
"""
import fcntl
import json
import os
import struct
import subprocess
import sys
import termios

import harness
from models import chain, text
from tester import effort, equal, holds, main


def no_bar_without_a_terminal(t):
    done = t.ebb_run("plan", "chain.json", "--budget", "12MiB", "--effort", "500", "--progress")
    holds(b"\r" not in done.stderr and b"[" not in done.stderr, done.stderr.decode())


def progress_for_programs_is_one_object_a_line(t):
    (t.folder / "long.json").write_text(text(chain(60)))
    row = ("plan", "long.json", "--budget", "20MiB", *effort(200000), "--json")
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


def on_a_terminal(t, *flags, terminal="xterm", columns=0):
    """What a search writes to standard error where that is a terminal."""
    (t.folder / "long.json").write_text(text(chain(60)))
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(t.folder / "out.json", "wb") as out:
        process = subprocess.Popen([t.ebb, "plan", "long.json", "--budget", "20MiB", *effort(100000), "--json", *flags],
                                   cwd=t.folder, stdout=out, stderr=theirs, env={**harness.ENVIRONMENT, "TERM": terminal})
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


TESTS = [
    no_bar_without_a_terminal,
    progress_for_programs_is_one_object_a_line,
    a_bar_on_a_terminal_and_none_of_it_left,
    no_bar_where_it_is_not_wanted,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
