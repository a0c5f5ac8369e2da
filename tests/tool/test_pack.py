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


def bytes_of(row):
    """For each step the bytes that the row has in it: (low, high)."""
    offset, size = int(row["offset"]), int(row["size"])
    held = {step: (offset, offset + size) for step in range(int(row["lower"]), int(row["upper"]))}
    for gap in (row.get("gaps") or "").split():
        steps, _, window = gap.partition("@")
        lower, upper = steps.split("-")
        low, high = window.split(":") if window else (0, 0)
        for step in range(int(lower), int(upper)):
            held[step] = (offset + int(low), offset + int(high))
    return {step: at for step, at in held.items() if at[0] < at[1]}


def recount(path):
    """The height; every two rows that share a step share no byte."""
    held = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for step, at in bytes_of(row).items():
                held.setdefault(step, []).append(at)
    for step, all_bytes in held.items():
        all_bytes.sort()
        for (_, end), (begin, _) in zip(all_bytes, all_bytes[1:]):
            holds(end <= begin, f"two rows share byte {begin} in step {step}")
    return max(high for all_bytes in held.values() for _, high in all_bytes)


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


def bytes_that_stay_in_use_in_a_gap_are_kept(t):
    """a keeps its upper half from 3 to 6; b finds room in the lower half only, c none in that time."""
    head = "id,lower,upper,size,gaps\na,0,9,8,3-6@4:8\n"
    (t.folder / "r.csv").write_text(head + "b,3,6,4,\n")
    answer = t.json("pack", "r.csv", "-o", "out.csv")
    equal((answer["height"], answer["proven"], recount(t.folder / "out.csv")), (8, True, 8))
    (t.folder / "r.csv").write_text(head + "b,3,6,4,\nc,3,6,1,\n")
    equal(t.json("pack", "r.csv", "--effort", "1000", "-o", "out.csv")["height"], 9)
    equal(recount(t.folder / "out.csv"), 9)
    rng = random.Random(3)
    lines = ["id,lower,upper,size,alignment,gaps"]
    for i in range(400):
        lower, size, gaps, at = rng.randrange(100), rng.randrange(2, 900), [], 1
        length = rng.randrange(5, 60)
        while rng.random() < 0.6 and at + 4 < length:
            end, low = at + rng.randrange(1, 4), rng.randrange(size)
            window = f"@{low}:{rng.randrange(low, size) + 1}" if rng.random() < 0.7 else ""
            gaps.append(f"{lower + at}-{lower + end}{window}")
            at = end + rng.randrange(3)
        lines.append(f"{i},{lower},{lower + length},{size},{2 ** rng.randrange(5)},{' '.join(gaps)}")
    (t.folder / "r.csv").write_text("\n".join(lines))
    answer = t.json("pack", "r.csv", "--effort", "20000", "-o", "out.csv")
    equal(recount(t.folder / "out.csv"), answer["height"])
    holds(answer["gap"] < 0.3, answer)


def rows_are_written_over_others_where_that_saves_most(t):
    """At step 4 x and y live, and b may be written over either: over x, its like, nothing is lost."""
    (t.folder / "r.csv").write_text("id,lower,upper,size,may_overwrite\nx,0,5,8,\ny,0,5,2,\nb,4,9,8,y x\nc,5,9,2,\n")
    answer = t.json("pack", "r.csv", "-o", "out.csv")
    equal((answer["height"], answer["lower_bound"], answer["proven"]), (10, 10, True))
    with open(t.folder / "out.csv", newline="", encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    equal((rows["b"]["offset"], rows["b"]["may_overwrite"]), (rows["x"]["offset"], "y x"))
    lines, rng = ["id,lower,upper,size,may_overwrite"], random.Random(5)
    for i in range(200):  # each may be written over the one before
        lines.append(f"v{i},{i},{i + 2},{rng.randrange(1, 900)},{f'v{i - 1}' if i else ''}")
        lines.append(f"w{i},{i},{i + rng.randrange(3, 90)},{rng.randrange(1, 90)},")
    (t.folder / "r.csv").write_text("\n".join(lines))
    merged = t.json("pack", "r.csv", "--effort", "5000")
    (t.folder / "r.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines))
    apart = t.json("pack", "r.csv", "--effort", "5000")
    holds(merged["height"] < apart["lower_bound"] - 300, f"{merged} beside {apart}")


def rows_go_to_pools_with_room(t):
    head = "id,lower,upper,size,pool\n"
    (t.folder / "r.csv").write_text(head + "a,0,4,6,fast\nb,0,4,6,\nc,0,4,4,\nd,4,8,10,fast\n")
    answer = t.json("pack", "r.csv", "--pool", "fast=10", "--pool", "slow", "-o", "out.csv")
    equal((answer["verdict"], answer["height"], answer["proven"]), ("fits", 6, True))
    equal(answer["pools"], [{"name": "fast", "capacity": 10, "height": 10}, {"name": "slow", "height": 6}])
    with open(t.folder / "out.csv", newline="", encoding="utf-8") as file:
        equal([row["pool"] for row in csv.DictReader(file)], ["fast", "slow", "fast", "fast"])
    equal(t.json("pack", "out.csv")["pools"][0]["height"], 10, "an answer is read again")
    equal(t.json("pack", "r.csv", "--pool", "fast=10", "--pool", "slow=5", code=1)["verdict"], "impossible")
    (t.folder / "r.csv").write_text(draw(300, 4))
    load = t.json("pack", "r.csv", "--effort", "1")["lower_bound"]
    parts = [load * 6 // 10, load * 6 // 10]
    answer = t.json("pack", "r.csv", *[word for k in (0, 1) for word in ("--pool", f"p{k}={parts[k]}")], "-o", "out.csv",
                    "--effort", "20000")
    equal(answer["verdict"], "fits")
    with open(t.folder / "out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for k in (0, 1):
        keys = ["id", "lower", "upper", "size", "offset"]
        table = [",".join(keys)] + [",".join(row[key] for key in keys) for row in rows if row["pool"] == f"p{k}"]
        (t.folder / "one.csv").write_text("\n".join(table))
        holds(recount(t.folder / "one.csv") <= parts[k], f"pool {k}")
    t.ebb_run("pack", "r.csv", "--pool", "p0", "--svg", "out.svg", "--effort", "1")


def a_capacity_that_is_not_met_is_packed_no_higher_than_without(t):
    for seed in (11, 13, 18):
        (t.folder / "r.csv").write_text(draw(400, seed))
        free = t.json("pack", "r.csv", "--effort", "100")
        holds(free["height"] > free["lower_bound"], "too easy to tell")
        for capacity, verdict in ((free["lower_bound"] - 1, "impossible"), (free["lower_bound"], "unknown")):
            bound = t.json("pack", "r.csv", "--effort", "100", "--capacity", str(capacity), "-o", "out.csv", code=1)
            equal(bound["verdict"], verdict)
            holds(bound["height"] <= free["height"], f"{bound} beside {free}")
            equal(recount(t.folder / "out.csv"), bound["height"])


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
    bytes_that_stay_in_use_in_a_gap_are_kept,
    rows_are_written_over_others_where_that_saves_most,
    rows_go_to_pools_with_room,
    a_capacity_that_is_not_met_is_packed_no_higher_than_without,
    any_number_of_workers_gives_the_same_file,
    impossible_and_unknown_are_told_apart,
    the_drawing_has_a_rectangle_for_each_part,
    rows_come_from_standard_input,
    a_time_limit_and_an_interrupt_keep_the_best,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
