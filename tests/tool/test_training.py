#!/usr/bin/env python3
"""Options of training as people do it: smoothed labels.

    test_training.py EBB
"""
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


if __name__ == "__main__":
    sys.exit(main([labels_are_smoothed_in_training_alone, smoothed_labels_give_the_same_bits_in_every_memory_mode,
                   what_the_text_says_of_smoothing_stays, smoothing_that_cannot_be_is_refused_in_one_line]))
