#!/usr/bin/env python3
"""Options of training as people do it: smoothed labels, metrics.

    test_training.py EBB
"""
import json
import sys

from tester import equal, holds, main

MODEL = """ebb 1
graph taught
%x = input f32[9,7]
%labels = input i32[9]
%w = param f32[12,7] init=kaiming
%u = param f32[5,12] init=uniform
%h = linear %x, %w
%r = relu %h
%l = linear %r, %u
%loss = softmax_xent %l, %labels
loss %loss
"""
RUN = ("run", "taught.ebb", "--steps", "4", "--lr", "0.1")


def losses(t, *options):
    return [step["loss"] for step in t.json(*RUN, *options)["steps"]]


def near(a, b, what):
    holds(abs(a - b) <= 1e-6 * abs(b), f"{what}: {a} beside {b}")


def labels_are_smoothed_in_training_alone(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    for device in (("--device", "ref"), ()):
        none, half, every = (losses(t, *device, "--label-smoothing", s) for s in ("0", "0.5", "1"))
        equal(none, losses(t, *device), "0 is the default")
        near(half[0], (none[0] + every[0]) / 2, "the loss is linear in the share")
        holds(half[1] < half[0] and half[1] != none[1], f"{half} beside {none}")
        evaluated = losses(t, *device, "--eval", "--label-smoothing", "0.5")
        equal(evaluated[0], none[0], "evaluation")


def smoothed_labels_give_the_same_bits_in_every_memory_mode(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    plan = t.json("plan", "taught.ebb", "--label-smoothing", "0.1")
    ways = (), ("--no-reuse",), ("--threads", "2"), ("--no-fuse",), ("--budget", str(plan["total_bytes"]))
    equal(len({t.json(*RUN, *way, "--label-smoothing", "0.1", "--hash")["params_hash"] for way in ways}), 1, "hashes")


def what_the_text_says_of_smoothing_stays(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    want = losses(t, "--label-smoothing", "0.25")
    (t.folder / "taught.ebb").write_text(MODEL.replace("%l, %labels", "%l, %labels smooth=0.25"))
    equal(losses(t), want, "as an attribute")
    equal(losses(t, "--label-smoothing", "0.5"), want, "as both")


def smoothing_that_cannot_be_is_refused_in_one_line(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    (t.folder / "other.ebb").write_text(
        MODEL.replace("%loss = softmax_xent %l, %labels", "%s = reduce_sum %l axis=[0,1]\n%loss = reshape %s shape=[]"))
    for model, share in (("taught.ebb", "1.5"), ("taught.ebb", "nan"), ("other.ebb", "0.1")):
        done = t.ebb_run("run", model, "--label-smoothing", share, code=2)
        equal(done.stderr.count(b"\n"), 1, done.stderr)


def rows(t, name):
    text = (t.folder / name).read_text()
    holds(text.endswith("\n"), text)
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    lines = text.splitlines()
    equal(lines[0], "step,rate,loss,ns", "head")
    kinds = {"step": int, "rate": float, "loss": float, "ns": int}
    return [{key: kinds[key](word) for key, word in zip(kinds, line.split(","), strict=True)} for line in lines[1:]]


def metrics_are_those_of_the_run(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    for name in ("m.csv", "m.jsonl"):
        steps = t.json(*RUN, "--metrics", name, "--schedule", "cosine")["steps"]
        got = rows(t, name)
        equal([row["step"] for row in got], [1, 2, 3, 4], "steps")
        equal([(row["loss"], row["ns"]) for row in got], [(step["loss"], step["ns"]) for step in steps], "losses and times")
        holds(got[0]["rate"] == 0.1 and got[3]["rate"] < got[1]["rate"] < 0.1, got)
        t.ebb_run(*RUN, "--metrics", name)
        equal([row["step"] for row in rows(t, name)], [1, 2, 3, 4], "written anew")


def a_loss_that_is_not_finite_has_no_number(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    wild = ("run", "taught.ebb", "--steps", "9", "--lr", "1e30")
    t.ebb_run(*wild, "--metrics", "m.jsonl")
    equal(rows(t, "m.jsonl")[8]["loss"], None, "JSON")
    t.ebb_run(*wild, "--metrics", "m.csv")
    equal((t.folder / "m.csv").read_text().splitlines()[9].split(",")[2], "", "CSV")


def a_resumed_run_goes_on_in_its_metrics(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    for name in ("m.csv", "m.jsonl"):
        t.ebb_run("run", "taught.ebb", "--steps", "9", "--metrics", "whole-" + name)
        save = ("--save", name + ".saves", "--metrics", name)
        t.ebb_run("run", "taught.ebb", "--steps", "5", *save)
        path = t.folder / name
        last = path.read_text().splitlines()[-1]
        # As after a crash: steps behind the save, the last of them cut off.
        path.write_text(path.read_text() + last.replace("5", "6", 1) + "\n" + last.replace("5", "7", 1)[:-3])
        t.ebb_run("run", "taught.ebb", "--steps", "9", *save, "--resume")
        whole, got = ([(row["step"], row["rate"], row["loss"]) for row in rows(t, n)] for n in ("whole-" + name, name))
        equal(got, whole, name)


def metrics_that_cannot_be_written_end_the_run_in_one_line(t):
    (t.folder / "taught.ebb").write_text(MODEL)
    t.ebb_run(*RUN, "--save", "s")
    (t.folder / "other.csv").write_text("names,of,people\n")
    for options, code in ((("--metrics", "none/m.csv"), 7), (("--metrics", "."), 7), (("--metrics", "/dev/full"), 7),
                          (("--metrics", "other.csv", "--save", "s", "--resume", "--steps", "9"), 3)):
        done = t.ebb_run(*RUN, *options, code=code)
        equal(done.stderr.count(b"\n"), 2 if "--resume" in options else 1, done.stderr)
    equal((t.folder / "other.csv").read_text(), "names,of,people\n", "another's file")


if __name__ == "__main__":
    sys.exit(main([labels_are_smoothed_in_training_alone, smoothed_labels_give_the_same_bits_in_every_memory_mode,
                   what_the_text_says_of_smoothing_stays, smoothing_that_cannot_be_is_refused_in_one_line,
                   metrics_are_those_of_the_run, a_loss_that_is_not_finite_has_no_number, a_resumed_run_goes_on_in_its_metrics,
                   metrics_that_cannot_be_written_end_the_run_in_one_line]))
