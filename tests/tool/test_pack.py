#!/usr/bin/env python3
"""What `ebb pack` answers: a packing that holds by a recount of its own, verdicts, documents and drawings.

    test_pack.py EBB
"""
import csv
import os
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

from tester import equal, holds, main

# a leaves its bytes to c in its gap; d must lie at 4
TABLE = 'id,lower,upper,size,alignment,gaps,offset\na,0,9,4,2,3-5,\n"b,b",0,9,4,1,,\nc,3,5,4,1,,\nd,6,7,2,4,,8\n'


def draw(n, seed):
    rng = random.Random(seed)
    rows = [(rng.randrange(300), rng.randrange(1, 60), rng.randrange(1, 4000)) for _ in range(n)]
    return "id,lower,upper,size\n" + "".join(f"{i},{a},{a + d},{s}\n" for i, (a, d, s) in enumerate(rows))


def steps_of(row):
    steps = set(range(int(row["lower"]), int(row["upper"])))
    for gap in (row.get("gaps") or "").split():
        lower, upper = gap.split("-")
        steps -= set(range(int(lower), int(upper)))
    return steps


def recount(path):
    """The height; every two rows that share a step share no byte."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(steps_of(row), int(row["offset"]), int(row["offset"]) + int(row["size"])) for row in csv.DictReader(file)]
    for i, (steps, low, high) in enumerate(rows):
        for other, bottom, top in rows[:i]:
            holds(high <= bottom or top <= low or not steps & other, f"row {i} shares bytes")
    return max(high for _, _, high in rows)


def rows_with_gaps_and_fixed_offsets_are_packed(t):
    (t.folder / "r.csv").write_text(TABLE)
    answer = t.json("pack", "r.csv", "-o", "out.csv")
    equal(answer["schema"], "ebb.pack/1")
    equal((answer["verdict"], answer["height"], answer["proven"], answer["gap"]), ("fits", 10, True, 0))
    equal(recount(t.folder / "out.csv"), 10)
    with open(t.folder / "out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    equal([row["id"] for row in rows], ["a", "b,b", "c", "d"])
    equal(rows[3]["offset"], "8")


def any_number_of_workers_gives_the_same_file(t):
    (t.folder / "r.csv").write_text(draw(300, 1))
    for workers in (1, 2, 5):
        t.ebb_run("pack", "r.csv", "--effort", "20000", "--num-worker", str(workers), "-o", f"{workers}.csv")
        equal((t.folder / f"{workers}.csv").read_bytes(), (t.folder / "1.csv").read_bytes(), f"{workers} workers")
    equal(recount(t.folder / "1.csv"), t.json("pack", "r.csv", "--effort", "20000")["height"])


def impossible_and_unknown_are_told_apart(t):
    (t.folder / "r.csv").write_text(draw(300, 2))
    bound = t.json("pack", "r.csv", "--effort", "1")["lower_bound"]
    equal(t.json("pack", "r.csv", "--capacity", str(bound - 1), code=1)["verdict"], "impossible")
    equal(t.json("pack", "r.csv", "--capacity", str(bound), "--effort", "1", code=1)["verdict"], "unknown")
    equal(t.json("pack", "r.csv", "--capacity", str(2 * bound))["verdict"], "fits")


def the_drawing_has_a_rectangle_for_each_part(t):
    (t.folder / "r.csv").write_text(TABLE)
    t.ebb_run("pack", "r.csv", "--svg", "out.svg")
    titles = [e.text for e in xml.etree.ElementTree.parse(t.folder / "out.svg").iter("{http://www.w3.org/2000/svg}title")]
    equal(len(titles), 5)
    equal(sum(title.startswith("a:") for title in titles), 2)


def rows_come_from_standard_input(t):
    equal(t.json("pack", "-", stdin=b"id,lower,upper,size\na,0,2,5\n")["height"], 5)


def a_time_limit_and_an_interrupt_keep_the_best(t):
    (t.folder / "r.csv").write_text(draw(3000, 3))
    holds(t.json("pack", "r.csv", "--time-limit", "0.5")["seconds"] < 30, "the time limit")
    child = subprocess.Popen([t.ebb, "pack", "r.csv", "--time-limit", "100", "--json", "-o", "out.csv"], cwd=t.folder,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ)
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    equal(child.returncode, 130, err)
    holds(b'"verdict": "fits"' in out, out)
    recount(t.folder / "out.csv")


TESTS = [
    rows_with_gaps_and_fixed_offsets_are_packed,
    any_number_of_workers_gives_the_same_file,
    impossible_and_unknown_are_told_apart,
    the_drawing_has_a_rectangle_for_each_part,
    rows_come_from_standard_input,
    a_time_limit_and_an_interrupt_keep_the_best,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
