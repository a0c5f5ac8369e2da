#!/usr/bin/env python3
"""`ebb run --data`: digits, folders and files are trained on, evaluated, interrupted and gone on with.

    test_data_run.py EBB SOURCE MAKE_PICTURES
"""
import gzip
import os
import pathlib
import re
import signal
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tool"))
import harness
from tester import equal, holds, main

SOURCE, MAKE_PICTURES = pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
DIGITS = str(SOURCE / "examples/resnet50/data/digits.csv.gz")
SQUARES = SOURCE / "tests/fuzz/data"

FLAT = """ebb 1
graph flat
dim N = 32
dim F = 64
dim K = 10
%x = input f32[N,F]
%labels = input i32[N]
%w = param f32[48,F] init=kaiming
%u = param f32[K,48] init=uniform
%h = linear %x, %w
%r = relu %h
%d = dropout %r p=0.1
%l = linear %d, %u
%loss = softmax_xent %l, %labels
loss %loss
"""
SEEN = """ebb 1
graph seen
dim N = 6
dim C = 3
%x = input f32[N,C,16,20]
%labels = input i32[N]
%w = param f32[8,C,3,3] init=kaiming
%g = param f32[8] init=one
%b = param f32[8]
%m = state f32[8]
%v = state f32[8] init=one
%c = conv2d %x, %w pad=1 stride=2
%n = batch_norm %c, %g, %b, %m, %v
%r = relu %n
%p = global_avg_pool %r
%u = param f32[4,8] init=uniform
%l = linear %p, %u
%loss = softmax_xent %l, %labels
loss %loss
"""
LAYER = "%w{0} = param f32[F,F] init=kaiming\n%h{0} = linear %a{0}, %w{0}\n%a{1} = tanh %h{0}\n"
DEEP = f"""ebb 1
graph deep
dim N = 512
dim F = 64
%a0 = input f32[N,F]
%labels = input i32[N]
{"".join(LAYER.format(i, i + 1) for i in range(8))}
%u = param f32[10,F] init=uniform
%l = linear %a8, %u
%loss = softmax_xent %l, %labels
loss %loss
"""
RUN = ("run", "flat.ebb", "--data", DIGITS, "--held-out", "20%", "--lr", "0.1", "--schedule", "cosine")


def models(t):
    (t.folder / "flat.ebb").write_text(FLAT)
    (t.folder / "seen.ebb").write_text(SEEN)
    (t.folder / "deep.ebb").write_text(DEEP)


def pictures(t, *args):
    subprocess.run([MAKE_PICTURES, str(t.folder / "p"), *args], check=True)


def after_each_of_five_interruptions_accuracy_and_bits_are_those_of_the_whole_run(t):
    models(t)
    steps = ("--steps", "600", "--evaluate-every", "600", "--accumulate", "2")
    whole = t.json(*RUN, *steps, "--hash")
    last = whole["evaluations"][-1]
    holds(last["top1"] > 0.9 and last["top5"] > 0.99 and last["n"] == 355, last)
    for at in (3, 50, 200, 333, 550):
        for file in (t.folder / "s").glob("*"):
            file.unlink()
        process = subprocess.Popen([t.ebb, *RUN, *steps, "--save", "s", "--every", "7"], cwd=t.folder, env=harness.ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in process.stdout:
            if line.startswith(b"step %d " % at):
                process.send_signal(signal.SIGINT)
                break
        _, stderr = process.communicate(timeout=60)
        holds(process.returncode == 130 or b"interrupted" not in stderr, stderr)
        got = t.json(*RUN, *steps, "--hash", "--save", "s", "--resume")
        equal(got["params_hash"], whole["params_hash"], f"interrupted at {at}")
        if got["steps"]:
            equal(got["evaluations"][-1], last, f"interrupted at {at}")


def a_killed_run_goes_on_to_the_same_accuracy(t):
    models(t)
    steps = ("--steps", "40", "--evaluate-every", "10")
    whole = t.json(*RUN, *steps, "--hash")
    for at in (10, 20, 30):
        for file in (t.folder / "s").glob("*"):
            file.unlink()
        t.ebb_run(*RUN, *steps, "--save", "s", "--every", "10", "--keep-saves", "9")
        for file in (t.folder / "s").glob("*"):
            if int(file.name[5:17]) > at:
                file.unlink()
        got = t.json(*RUN, *steps, "--hash", "--save", "s", "--resume")
        equal((got["resumed_after"], got["params_hash"]), (at, whole["params_hash"]), "the rest")
        equal(got["evaluations"], [e for e in whole["evaluations"] if e["step"] > at], "evaluations")
    done = t.ebb_run(*RUN[:-6], "--held-out", "30%", "--steps", "41", "--save", "s", "--resume")
    holds(b"are not those of s/step-000000000040" in done.stderr, done.stderr)
    done = t.ebb_run(*RUN[:2], "--steps", "42", "--save", "s", "--resume", code=2)
    holds(b"s/step-000000000041.safetensors was trained on data" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    equal(sorted(file.name for file in (t.folder / "s").glob("*"))[-1], "step-000000000041.safetensors", "nothing was saved")


def a_save_is_evaluated_with_the_bits_of_the_run_that_made_it(t):
    models(t)
    run = (*RUN[:6], "--evaluate-every", "9", "--steps", "9", "--save", "s")
    last = t.json(*run)["evaluations"][-1]
    # No step is left: what there is is evaluated.
    again = t.json(*run, "--resume")
    equal((again["steps"], again["evaluations"]), ([], [last]), "nothing left to run")
    save = ("--init-from", "s/step-000000000009.safetensors")
    for more in (), ("--no-reuse",), ("--data-threads", "1"):
        alone = t.json(*RUN[:6], "--eval", *save, *more)
        equal(alone["evaluations"], [{**last, "step": 0}], str(more))
    whole = t.json(*RUN[:4], "--eval", *save)
    equal((whole["evaluations"][0]["n"], whole["data"]["n_train"], whole["steps"]), (1797, 0, []), "all of the data")
    right = [e["n"] * e["top1"] for e in (whole["evaluations"][0], last)]  # of all, and of a part of them
    holds(all(abs(n - round(n)) < 1e-6 for n in right) and right[1] <= right[0] <= right[1] + 1442, right)
    text = t.ebb_run(*RUN[:6], "--eval", *save)
    holds(re.search(rb"\nheld out         loss [0-9.]+, top-1 [0-9.]+ %, top-5 [0-9.]+ %, of 355\n", text.stdout), text.stdout)
    holds(b"per step" not in text.stdout and b"begins with" not in text.stderr and b"--init-from" in t.ebb_run(*RUN[:6], "--eval").stderr, text)


def what_is_hardly_meant_is_told(t):
    models(t)
    (t.folder / "mute.ebb").write_text(SEEN.replace("loss %loss", "output %loss"))
    for zero in " init=zero", " init=0":
        (t.folder / "zero.ebb").write_text(FLAT.replace(" init=kaiming", "").replace(" init=uniform", zero))
        holds(b"all weights start at zero" in t.ebb_run("run", "zero.ebb", "--steps", "1").stderr, zero)
    holds(b"has no loss" in t.ebb_run("run", "mute.ebb", "--steps", "1").stderr, "mute.ebb")
    for args in ("flat.ebb",), ("mute.ebb", "--eval"):
        equal(t.ebb_run("run", *args, "--steps", "1").stderr, b"", str(args))


def neither_threads_nor_evaluation_nor_memory_change_a_bit(t):
    models(t)
    pictures(t, "4", "60", "40", "30")
    plan = t.json("plan", "seen.ebb", "--accumulate", "3")
    run = ("run", "seen.ebb", "--data", "p", "--held-out", "0.2", "--steps", "6", "--accumulate", "3", "--hash")
    ways = ((), ("--data-threads", "1"), ("--data-threads", "5"), ("--keep-decoded", "90kB", "--evaluate-every", "1"), ("--evaluate-every", "2"), ("--no-reuse",),
            ("--budget", str(plan["total_bytes"])), ("--no-fuse",))
    equal(len({t.json(*run, *way)["params_hash"] for way in ways}), 1, "hashes")
    for other in (("--seed", "5"), ("--flip", "no"), ("--crop", "1")):
        holds(t.json(*run, *other)["params_hash"] != t.json(*run)["params_hash"], f"{other} is heard")


def a_share_of_the_plan_that_trains_is_a_budget_of_evaluation_too(t):
    models(t)
    run = ("run", "deep.ebb", "--data", DIGITS, "--held-out", "20%", "--steps", "4", "--hash", "--evaluate-every", "2")
    for more in (), ("--accumulate", "2"):
        plain, within = (t.json(*run, *more, *budget) for budget in ((), ("--budget", "75%")))
        equal((within["params_hash"], within["evaluations"]), (plain["params_hash"], plain["evaluations"]), str(more))
        holds(within["n_recomputed"] > 0 and within["planned_bytes"] <= 0.75 * plain["planned_bytes"], within["planned_bytes"])


def damaged_pictures_are_named_counted_and_passed_over(t):
    models(t)
    pictures(t, "4", "50", "64", "48", "10")
    run = ("run", "seen.ebb", "--data", "p", "--steps", "60")
    done = t.ebb_run(*run, "--json")
    lines = done.stderr.decode().splitlines()
    equal(len([line for line in lines if line.startswith("ebb: passed over: p/class")]), 10, lines)
    equal(len(set(lines)), len(lines), "each once")
    holds(b'"n_bad": 10' in done.stdout, done.stdout[-600:])
    done = t.ebb_run(*run, "--strict", code=3)
    equal(done.stderr.count(b"\n"), 1, done.stderr)
    holds(b"leave strict out" in done.stderr, done.stderr)


def the_same_pixels_train_the_same_whatever_holds_them(t):
    models(t)
    run = ("run", "flat.ebb", "--dim", "F=25", "--dim", "K=3", "--dim", "N=4", "--steps", "5", "--hash", "--data")
    answers = [t.json(*run, str(SQUARES / name)) for name in ("squares.npz", "packed.npz", "squares.rec")]
    equal(len({a["params_hash"] for a in answers}), 1, "hashes")
    equal(len({a["data"]["hash"] for a in answers}), 1, "the data's hashes")
    packed = t.json(*run, str(SQUARES / "squares.csv.gz"))
    lines = gzip.decompress((SQUARES / "squares.csv.gz").read_bytes()).splitlines(keepends=True)
    parts = [gzip.compress(b"".join(part)) for part in (lines[:5], [], lines[5:])]
    (t.folder / "parts.csv.gz").write_bytes(b"".join(parts))
    equal(t.json(*run, "parts.csv.gz")["params_hash"], packed["params_hash"], "members one after the other")
    turned = parts[0][:20] + bytes([parts[0][20] ^ 1]) + parts[0][21:]
    for name, data in (("cut", b"".join(parts)[:-9]), ("more", b"".join(parts) + b"more"), ("turned", parts[2] + turned)):
        (t.folder / "bad.csv.gz").write_bytes(data)
        done = t.ebb_run(*run, "bad.csv.gz", code=3)
        holds(b"bad.csv.gz is damaged" in done.stderr and done.stderr.count(b"\n") == 1, (name, done.stderr))
    seen = ("run", "seen.ebb", "--data", str(SQUARES / "squares.npz"), "--held-out", "0.5", "--evaluate-every", "1", "--precision")
    wide, *low = ([e["loss"] for e in t.json(*seen, precision)["evaluations"]] for precision in ("f32", "bf16", "f16"))
    for losses, most in zip(low, (0.02, 0.004)):
        holds(len(losses) == len(wide) and all(abs(a - b) <= most * b for a, b in zip(losses, wide)), (wide, losses))
    (t.folder / "two.ebb").write_text(SEEN.replace("loss %loss", "%other = softmax_xent %p, %labels smooth=0.5\noutput %other\nloss %loss"))
    equal(len(t.json("run", "two.ebb", *seen[2:-1], "--steps", "4")["evaluations"]), 4, "another softmax_xent behind the loss's")
    t.json("run", "seen.ebb", "--dim", "C=1", "--data", str(SQUARES / "pictures"), "--dim", "N=2")


def an_npz_of_floats_is_told_what_it_must_hold(t):
    models(t)

    def array(dtype, shape, data):
        head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data

    for images, labels, words in ((array("<f4", (4, 8, 8), bytes(1024)), array("<i8", (4,), bytes(32)), b'"images" is of dtype <f4; images are uint8'),
                                  (array("|u1", (4, 8, 8), bytes(256)), array("<f8", (4,), bytes(32)), b'"labels" is of dtype <f8; images are uint8'),
                                  (array("|u1", (4, 8, 8), bytes(256)), array("<i2", (4,), bytes(6) + b"\xff\xff"), b'number 3 of "labels" is below 0'),
                                  (array("|u1", (4, 8, 8), bytes(255)), array("<i8", (4,), bytes(32)), b"255 bytes behind its head")):
        with zipfile.ZipFile(t.folder / "f.npz", "w") as file:
            file.writestr("images.npy", images)
            file.writestr("labels.npy", labels)
        done = t.ebb_run("run", "flat.ebb", "--data", "f.npz", code=3)
        holds(words in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)


def waits_are_those_of_the_steps_that_are_timed(t):
    """The first step's parts may wait longer than the second one runs."""
    models(t)
    pictures(t, "4", "8", "1600", "1200")
    done = t.ebb_run("run", "seen.ebb", "--data", "p", "--steps", "2", "--accumulate", "12", "--data-threads", "1", "--keep-decoded", "0")
    remedy, waited = b"with --keep-decoded", float(re.search(rb"steps waited ([0-9.]+) %", done.stdout).group(1))
    holds(waited <= 100 and remedy in done.stdout and remedy not in t.ebb_run("run", "seen.ebb", "--data", "p", "--dim", "N=2", "--steps", "3", "--keep-decoded", "0").stdout, done.stdout)


def metrics_have_what_evaluations_found(t):
    models(t)
    for name in ("m.csv", "m.jsonl"):
        t.ebb_run(*RUN, "--steps", "5", "--evaluate-every", "2", "--save", name + ".s", "--every", "1", "--metrics", name)
        whole = (t.folder / name).read_text().splitlines()
        for file in sorted((t.folder / (name + ".s")).glob("*"))[-2:]:
            file.unlink()
        t.ebb_run(*RUN, "--steps", "5", "--evaluate-every", "2", "--save", name + ".s", "--resume", "--metrics", name)
        rows = (t.folder / name).read_text().splitlines()
        equal(len(rows), len(whole), "rows")
        if name == "m.csv":
            equal(rows[0], "step,rate,loss,ns,held_out_loss,top1,top5", "head")
            equal([row.count(",") for row in rows], [6] * 6, rows)
            equal([row.endswith(",,,") for row in rows[1:]], [True, False, True, False, False], rows)
        else:
            equal(['"top5"' in row for row in rows], [False, True, False, True, True], rows)


def what_does_not_belong_together_is_refused_in_one_line(t):
    models(t)
    pictures(t, "4", "8", "20", "20")
    (t.folder / "other.ebb").write_text(FLAT.replace("%h = linear %x", "%y = input f32[N,F]\n%z = add %x, %y\n%h = linear %z"))
    own = "%e = embedding %t, %labels\n%o = add %l, %e\n%y = argmax %l axis=1\n%loss = softmax_xent %o, %y"
    (t.folder / "own.ebb").write_text(FLAT.replace("%h = linear %x", "%t = param f32[100,K] init=uniform\n%h = linear %x").replace(
        "%loss = softmax_xent %l, %labels", own))
    (t.folder / "mute.ebb").write_text(SEEN.replace("loss %loss", "output %loss"))
    (t.folder / "mean.ebb").write_text(FLAT.replace("%loss = softmax_xent %l, %labels", "%e = softmax_xent %l, %labels\n%loss = rescale %e times=2"))
    for code, words, *args in (
            (2, b"--data", "flat.ebb", "--held-out", "0.1"), (2, b"--data", "flat.ebb", "--strict"),
            (2, b"--held-out", "flat.ebb", "--data", DIGITS, "--evaluate-every", "2"),
            (2, b"shadow", "flat.ebb", "--data", DIGITS, "--held-out", "0.1", "--evaluate-every", "1", "--device", "shadow"),
            (2, b"--eval", "flat.ebb", "--data", DIGITS, "--eval", "--steps", "2"), (2, b"trains nothing", "flat.ebb", "--data", DIGITS, "--eval", "--schedule", "cosine"),
            (2, b"trains nothing", "flat.ebb", "--data", DIGITS, "--eval", "--lr", "0.1"), (2, b"trains nothing", "flat.ebb", "--data", DIGITS, "--eval", "--accumulate", "2"), (2, b"looks at nothing", "flat.ebb", "--data", DIGITS, "--eval", "--held-out", "0"),
            (2, b"--compare", "flat.ebb", "--data", DIGITS, "--compare", "ref"), (3, b"softmax_xent", "mean.ebb", "--data", DIGITS, "--eval"), (2, b"phased", "flat.ebb", "--phased", "--accumulate", "2"),
            (2, b"share", "flat.ebb", "--data", DIGITS, "--held-out", "1"), (7, b"nowhere", "flat.ebb", "--data", "nowhere"),
            (3, b"64 values", "flat.ebb", "--data", "p"), (3, b"others", "other.ebb", "--data", DIGITS),
            (3, b"softmax_xent", "mean.ebb", "--data", DIGITS, "--held-out", "0.1", "--evaluate-every", "1"),
            (3, b"reads y, for 32 rows of 10", "own.ebb", "--data", DIGITS, "--held-out", "0.1", "--evaluate-every", "1"),
            (3, b"10 classes", "seen.ebb", "--data", DIGITS), (3, b"no loss to train with", "mute.ebb", "--data", "p"), (3, b"2 channels", "seen.ebb", "--dim", "C=2", "--data", "p"),
            (2, b"--keep-decoded", "flat.ebb", "--keep-decoded", "1MB"),
            (2, b"need no decoding", "flat.ebb", "--data", DIGITS, "--keep-decoded", "1MB"),
            (2, b"give more", "seen.ebb", "--data", "p", "--keep-decoded", "9"), (2, b"crop", "seen.ebb", "--data", "p", "--crop", "0")):
        done = t.ebb_run("run", *args, code=code)
        equal(done.stderr.count(b"\n"), 1, done.stderr)
        holds(words in done.stderr, f"{args}: {done.stderr}")


if __name__ == "__main__":
    sys.exit(main([a_share_of_the_plan_that_trains_is_a_budget_of_evaluation_too,
                   after_each_of_five_interruptions_accuracy_and_bits_are_those_of_the_whole_run, a_killed_run_goes_on_to_the_same_accuracy,
                   a_save_is_evaluated_with_the_bits_of_the_run_that_made_it, what_is_hardly_meant_is_told, an_npz_of_floats_is_told_what_it_must_hold,
                   neither_threads_nor_evaluation_nor_memory_change_a_bit, damaged_pictures_are_named_counted_and_passed_over,
                   the_same_pixels_train_the_same_whatever_holds_them, metrics_have_what_evaluations_found, waits_are_those_of_the_steps_that_are_timed,
                   what_does_not_belong_together_is_refused_in_one_line]))
