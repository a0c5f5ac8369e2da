#!/usr/bin/env python3
"""The ResNet-50 example: bad flags and data, and the same parameters in every memory mode.

    test_resnet50.py RESNET50
"""
import gzip
import json
import os
import pathlib
import sys
import tempfile

import harness
from harness import Case

USAGE, BAD_INPUT, IO = 2, 3, 7
SCAN = ",".join(["3"] * 64)


def flag_rows():
    for name, args, stderr in [
        ("an unknown flag", ["--bach", "3"], r"\"--bach\": unknown"),
        ("a flag without its value", ["--batch"], r"--batch needs a value"),
        ("no images", ["--batch", "0"], r"--batch: bad value \"0\""),
        ("a batch that is no number", ["--batch=x"], r"--batch: bad value \"x\""),
        ("a side of one pixel", ["--image", "1"], r"--image: bad value"),
        ("a budget without a number", ["--budget", "%"], r"--budget: \"%\""),
        ("a budget of no share", ["--budget", "0%"], r"--budget: \"0%\""),
        ("an unknown unit", ["--budget", "4XB"], r"--budget: \"4XB\""),
        ("an unknown mode", ["--memory", "much"], r"--memory: \"much\""),
        ("the budget mode without a budget", ["--memory", "budget"], r"--budget go together"),
        ("a budget in another mode", ["--memory", "none", "--budget", "35%"], r"--budget go together"),
        ("an unknown schedule", ["--schedule", "sine"], r"--schedule: \"sine\""),
        ("a negative learning rate", ["--lr", "-1"], r"--lr: bad value"),
    ]:
        yield Case(name, args, USAGE, stderr)


def data_rows():
    good = "".join(f"{SCAN},{i % 10}\n" for i in range(60))
    for name, content, stderr in [
        ("pixels that are too bright", good.replace("3,", "17,", 1), r"d\.gz:1: expected 64 pixels"),
        ("a pixel too few", good + ",".join(["3"] * 63) + ",1\n", r"d\.gz:61: "),
        ("a pixel too many", good + "3," + SCAN + ",1\n", r"d\.gz:61: "),
        ("a digit that is none", good + SCAN + ",10\n", r"d\.gz:61: "),
        ("words", "pixels\n", r"d\.gz:1: "),
        ("a line that never ends", "3," * 100000, r"d\.gz:1: "),
        ("no scans", "", r"too few"),
        ("one scan", SCAN + ",1\n", r"too few"),
        ("too many scans", (SCAN + ",1\n") * 5000, r"more than 4096 scans"),
    ]:
        yield Case(name, ["--data", "d.gz"], BAD_INPUT, stderr, files={"d.gz": gzip.compress(content.encode())})
    yield Case("a file that is cut off", ["--data", "d.gz"], BAD_INPUT, r"d\.gz", files={
        "d.gz": gzip.compress("".join(f"{SCAN},{i * 7 % 10}\n" for i in range(600)).encode())[:40]})
    yield Case("a file that is not there", ["--data", "nowhere.gz"], BAD_INPUT, r"cannot open nowhere\.gz")
    yield Case("data that are not there", ["--data", "nowhere"], IO, r"cannot open nowhere")
    yield Case("words as records", ["--data", "d.rec"], BAD_INPUT, r"EBBREC01", files={"d.rec": b"words"})
    yield Case("all of it held out", ["--held-out", "1"], USAGE, r"--held-out")
    yield Case("a model that is not there", ["--model", "nowhere.ebb"], IO, r"nowhere\.ebb")
    yield Case("a folder for the losses", ["--csv", "{d}"], IO, r"cannot write")
    yield Case("a budget below the minimum", ["--batch", "3", "--image", "32", "--steps", "1", "--effort", "1000", "--budget", "1MB"], 1,
               r"(\d{3,}|[KMG]i?B)")


def same_parameters(resnet50):
    """Faults, as lines."""
    args = ["--batch", "7", "--image", "32", "--steps", "2", "--lr", "0.01", "--threads", "2", "--effort", "1000", "--json"]
    reports = []
    with tempfile.TemporaryDirectory() as name:
        for mode in (["--memory", "none"], ["--memory", "in-place"], ["--budget", "70%"]):
            done = harness.run(resnet50, [*args, *mode], pathlib.Path(name))
            if done.returncode:
                return [f"{mode}: exit code {done.returncode}: {done.stderr.decode()}"]
            reports.append(json.loads(done.stdout))
    none, in_place, budget = reports
    wrong = []
    if len({report["sha256"] for report in reports}) != 1:
        wrong.append("the parameters differ")
    if any(report["planned_block_bytes"] != report["allocated_block_bytes"] for report in reports):
        wrong.append("a block is not as planned")
    if not none["arena_bytes"] > in_place["arena_bytes"] > budget["arena_bytes"]:
        wrong.append("the arenas do not shrink")
    if budget["n_recomputed"] == 0 or in_place["n_recomputed"] != 0:
        wrong.append("only the budget recomputes")
    return wrong


def own_data_and_models(resnet50):
    """Faults of training on a folder, on records, and with an ONNX model, as lines."""
    tests = pathlib.Path(__file__).resolve().parents[1]
    data, onnx = tests / "fuzz/data", str(tests / "onnx/models/frozen.onnx")
    small, wrong = ["--image", "32", "--batch", "2", "--epochs", "1", "--held-out", "0.5"], []
    rows = [("an ONNX model", ["--model", onnx, "--data", str(data / "packed.npz")]), ("a folder", ["--data", str(data / "pictures")]),
            ("records", ["--data", str(data / "squares.rec")])]
    for name, args in rows[:int(os.environ.get("EBB_TEST_ROWS", len(rows)))]:
        with tempfile.TemporaryDirectory() as folder:
            done = harness.run(resnet50, [*small, *args, "--json"], pathlib.Path(folder))
        report = json.loads(done.stdout) if done.returncode == 0 else {}
        if not report or report["steps"] < 1 or not 0 <= (report["held_out_accuracy"] or 0) <= 1 or report["held_out_accuracy"] is None:
            wrong.append(f"{name}: exit code {done.returncode}: {done.stderr.decode()} {report}")
        elif report["planned_block_bytes"] != report["allocated_block_bytes"]:
            wrong.append(f"{name}: the block is not as planned")
    return wrong


def main():
    resnet50 = os.path.abspath(sys.argv[1])
    cases = [*flag_rows(), *data_rows()]
    failed = 0
    for case in cases:
        wrong = harness.faults(resnet50, case)
        for line in wrong:
            print(f"FAIL {case.name}: {line}")
        failed += bool(wrong)
    wrong = same_parameters(resnet50)
    for line in wrong:
        print(f"FAIL every memory mode ends in the same parameters: {line}")
    failed += bool(wrong)
    wrong = own_data_and_models(resnet50)
    for line in wrong:
        print(f"FAIL one's own data and models: {line}")
    failed += bool(wrong)
    print(f"{len(cases) + 2 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
