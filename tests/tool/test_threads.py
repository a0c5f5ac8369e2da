#!/usr/bin/env python3
"""What starts threads: the search's workers and the cpu backend's teams. Answers do not depend on their number, and
under the thread sanitizer, whose reports change the exit code, there is no race.

    test_threads.py EBB
"""
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

import harness
from models import CONV, WORDS, chain, text

UNAVAILABLE = 5
SKIP = "this build has no cpu backend"
PICTURES = pathlib.Path(__file__).resolve().parents[1] / "fuzz/data/pictures"
# (what, arguments, the flag whose number must not matter, numbers)
ROWS = [
    ("the search within a budget", ["plan", "chain.json", "--budget", "12MiB", "--effort", "20000"], "--num-worker", (1, 2, 4)),
    ("the search at work in a pool of 7", ["plan", "chain.json", "--budget", "13MiB", "--effort", "5000", "--genetic-pool-size",
                                         "7", "--genetic-nr-iter", "3"], "--num-worker", (1, 3)),
    ("MegEngine's search", ["plan", "chain.json", "--method", "megengine", "--genetic-nr-iter", "3"], "--num-worker", (1, 2, 4)),
    ("plans of a model", ["plan", "conv.ebb", "--dim", "N=33", "--budget", "6MiB", "--effort", "3000", "--threads", "2"],
     "--num-worker", (1, 4)),
    ("fit", ["fit", "conv.ebb", "--budget", "8MiB", "--effort", "500", "--threads", "2"], "--num-worker", (1, 3)),
    ("steps on cpu", ["run", "conv.ebb", "--dim", "N=33", "--device", "cpu", "--threads", "2"], None, ()),
    ("steps on cpu, by phases and with poison", ["run", "conv.ebb", "--dim", "N=33", "--device", "cpu", "--threads", "2",
                                                 "--phased", "--poison"], None, ()),
    ("steps on cpu, three threads on any machine", ["run", "conv.ebb", "--dim", "N=65", "--device", "cpu", "--threads", "3"],
     None, ()),
    ("a transformer on cpu", ["run", "words.ebb", "--device", "cpu", "--threads", "3", "--optimizer", "adamw", "--clip-norm", "1",
                              "--budget", "1400KB", "--effort", "2000", "--poison"], None, ()),
    ("a loader beside cpu", ["run", "conv.ebb", "--dim", "N=2", "--device", "cpu", "--threads", "2", "--steps", "20", "--data", str(PICTURES),
                             "--held-out", "0.5", "--evaluate-every", "3", "--accumulate", "2", "--data-threads", "3"], None, ()),
    ("evaluation on cpu", ["run", "conv.ebb", "--dim", "N=33", "--device", "cpu", "--threads", "2", "--eval"], None, ()),
]


def fault(ebb, args, flag, numbers):
    """A line, None, or SKIP."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "conv.ebb").write_text(CONV)
        (folder / "words.ebb").write_text(WORDS)
        (folder / "chain.json").write_text(text(chain(20)))
        return fault_in(folder, ebb, args, flag, numbers)


def fault_in(folder, ebb, args, flag, numbers):
    answers = []
    for more in [[flag, str(n)] for n in numbers] or [[]]:
        done = harness.run(ebb, [*args, *more, "--json"], folder)
        if done.returncode == UNAVAILABLE and "cpu" in args:
            return SKIP
        if done.returncode != 0:
            return f"{more}: exit code {done.returncode}: {done.stderr.decode(errors='replace')[-3000:]}"
        answers.append(done.stdout)
        json.loads(done.stdout)
    return None if len(set(answers)) == 1 else "the answers differ"


def main():
    ebb = os.path.abspath(sys.argv[1])
    failed = skipped = 0
    # The thread sanitizer makes them slow, and most of each is one thread's: as many at once as there are processors.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, line in zip(ROWS, pool.map(lambda row: fault(ebb, *row[1:]), ROWS)):
            if line == SKIP:
                skipped += 1
                print(f"SKIP {row[0]}: {line}")
            elif line is not None:
                failed += 1
                print(f"FAIL {row[0]}: {line}")
    passed = len(ROWS) - failed - skipped
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
