#!/usr/bin/env python3
"""`ebb run` while it runs: what it tells of a loss, interrupts, a reader that goes away; and `-o -` of every command.

    test_run.py EBB
"""
import json
import math
import os
import re
import signal
import subprocess
import sys
import time

from models import NAN, WORDS
from tester import Skip, equal, holds, main

FOREVER = "1000000000"
BAD_IO, INTERRUPTED = 7, 130


def devices(t):
    return [d["name"] for d in t.json("doctor")["devices"] if d["available"]]


def started(t, *more):
    """`ebb run` for a long time, after its third step; its next lines on .stdout."""
    process = subprocess.Popen([t.ebb, "run", "small.ebb", "--device", "ref", "--steps", FOREVER, *more], cwd=t.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in process.stdout:
        if line.startswith(b"step 3 "):
            return process
    process.kill()
    raise AssertionError(f"no third step: {process.communicate()[1]!r}")


def ended(process):
    """(standard output, standard error) of what must end soon."""
    try:
        return process.communicate(timeout=60)
    finally:
        process.kill()


def an_interrupt_ends_a_run_between_two_steps(t):
    for number in (signal.SIGINT, signal.SIGTERM):
        process = started(t, "-o", "run.json")
        process.send_signal(number)
        stdout, stderr = ended(process)
        equal(process.returncode, INTERRUPTED, "exit code")
        told = re.fullmatch(rb"ebb: interrupted after step (\d+) of 1000000000\n", stderr)
        holds(told, stderr)
        report = json.loads((t.folder / "run.json").read_text())
        equal(len(report["steps"]), int(told.group(1)), "the steps that were finished")
        holds(b"\nper step " in stdout, "what ran is told")


def an_interrupt_a_second_after_another_ends_it_as_usual(t):
    """In the middle of a step, which is long here."""
    (t.folder / "long.ebb").write_text("ebb 1\ngraph long\ndim N = 2000\n%x = input f32[N,3000]\n%w = param f32[3000,3000] init=kaiming\n"
                                       "%labels = input i32[N]\n%y = linear %x, %w\n%l = softmax_xent %y, %labels\nloss %l\n")
    process = subprocess.Popen([t.ebb, "run", "long.ebb", "--device", "ref", "--steps", "1"], cwd=t.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    holds(process.stdout.readline().startswith(b"long on ref"), "it is planned")
    time.sleep(3)  # then inputs are made up, and a step begins of most of a minute
    for wait in (0.1, 1.2):  # the second counts as the first
        process.send_signal(signal.SIGINT)
        time.sleep(wait)
        equal(process.poll(), None)
    process.send_signal(signal.SIGINT)
    _, stderr = ended(process)
    equal((process.returncode, stderr), (-signal.SIGINT, b""))


def a_reader_that_goes_away_ends_a_run(t):
    process = started(t)
    process.stdout.close()
    stderr = process.stderr.read()
    equal(process.wait(timeout=60), BAD_IO, "exit code")
    holds(re.fullmatch(rb"ebb: cannot write standard output: Broken pipe[^\n]*\n", stderr), stderr)


def a_loss_that_is_no_number_is_told(t):
    (t.folder / "nan.ebb").write_text(NAN)
    for device in [name for name in devices(t) if name != "shadow"]:
        done = t.ebb_run("run", "nan.ebb", "--device", device)
        equal(done.stdout.count(b"loss nan\n"), 3, device)
        equal(done.stderr.count(b"the loss is not a number at step 1: --check-finite"), 1, done.stderr)
        steps = t.json("run", "nan.ebb", "--device", device)["steps"]
        equal([step["loss"] for step in steps], [None] * 3, device)
    if "cpu" not in devices(t):
        raise Skip("this build has no cpu backend")


def no_loss_is_made_up(t):
    (t.folder / "forward.ebb").write_text((t.folder / "small.ebb").read_text().replace("loss %loss", "output %loss"))
    for args in (["small.ebb", "--device", "shadow"], ["forward.ebb", "--device", "ref"]):
        holds(b"loss" not in t.ebb_run("run", *args).stdout, args)
        equal([sorted(step) for step in t.json("run", *args)["steps"]], [["ns"]] * 3, args)


def a_model_without_a_loss_gets_its_inputs(t):
    (t.folder / "forward.ebb").write_text((t.folder / "small.ebb").read_text().replace("loss %loss", "output %loss"))
    # Labels that nobody filled would be read as they lie, and refused.
    t.ebb_run("run", "forward.ebb", "--device", "ref", env={"MALLOC_PERTURB_": "165"})


def labels_are_of_several_classes(t):
    """Where nothing but a bias is trained, the loss comes down to the labels' entropy, which is 0 of one class."""
    (t.folder / "labels.ebb").write_text("ebb 1\ngraph labels\n%labels = input i32[64]\n%zero = constant f32[64,5]\n%b = param f32[5]\n"
                                         "%h = bias %zero, %b\n%logits = rescale %h times=10\n%loss = softmax_xent %logits, %labels\nloss %loss\n")
    losses = [step["loss"] for step in t.json("run", "labels.ebb", "--device", "ref", "--steps", "50")["steps"]]
    equal(len(losses), 50)
    holds(abs(losses[0] - math.log(5)) < 1e-5, losses[0])
    holds(all(math.log(5) / 2 < loss < losses[0] for loss in losses[1:]), losses)


def a_dash_for_a_file_is_standard_output(t):
    t.ebb_run("plan", "conv.ebb", "-o", "plan.json")
    commands = [["inspect", "conv.ebb"], ["plan", "conv.ebb"], ["verify", "plan.json"], ["doctor"],
                ["fit", "small.ebb", "--budget", "1MiB", "--effort", "500", "--plans", "plans"],
                ["run", "small.ebb", "--device", "ref"]]
    for command in commands:
        want = t.json(*command)
        for more in (["-o", "-"], ["--output=-", "--json"]):
            got = json.loads(t.ebb_run(*command, *more).stdout)
            equal(sorted(got), sorted(want), command)
            if command[0] != "run":
                equal(got, want, command)
    holds("-" not in os.listdir(t.folder), "no file of that name")
    t.ebb_run("inspect", "conv.ebb", "-o", "./-")
    holds("-" in os.listdir(t.folder), "a file of that name where it is asked for")


def what_the_block_takes_is_told(t):
    """As the system counts its pages, and as jemalloc does where the command runs on it."""
    for device in [name for name in devices(t) if name != "shadow"]:
        run = t.json("run", "small.ebb", "--dim", "N=30000", "--device", device, "--steps", "1")
        planned, resident = run["planned_bytes"], run["resident_block_bytes"]
        if device == "cuda":  # its memory is its own
            equal((resident, run["device_memory"]["block_bytes"]), (-1, planned))
            continue
        holds(planned > 4 << 20 and abs(resident - planned) <= max(4096 * 2, planned // 50), f"{device}: {resident} of {planned}")
        block = run["block_memory"]
        if not t.json("doctor")["allocator"].startswith("jemalloc"):
            equal(block, None)
        elif device == "cpu":
            holds(planned <= block["allocated_bytes"] <= block["active_bytes"] <= planned * 5 // 4 + 8192, block)
            holds(block["active_bytes"] <= block["resident_bytes"], block)
    t.ebb_run("plan", "conv.ebb", "-o", "plan.json")
    t.ebb_run("run", "conv.ebb", "-o", "run.json")
    holds(b"block in memory" in t.ebb_run("report", "plan.json", "--measured", "run.json").stdout, "the report has it")


def the_first_number_that_is_none_is_named(t):
    (t.folder / "nan.ebb").write_text(NAN)
    for device in [name for name in devices(t) if name not in ("shadow", "cuda")]:
        done = t.ebb_run("run", "nan.ebb", "--device", device, "--check-finite", "-o", "run.json", code=1)
        holds(re.fullmatch(rb"ebb: not finite: step \d+ \(h3\) of training step 1 gives -?inf at .*\n", done.stderr), done.stderr)
        holds(not (t.folder / "run.json").exists(), "nothing is left")
        plain, checked = (t.json("run", "small.ebb", "--device", device, *more)["steps"] for more in ([], ["--check-finite"]))
        equal([step["loss"] for step in plain], [step["loss"] for step in checked], "losses")


def dead_bytes_are_poisoned_and_nothing_changes(t):
    plain, poisoned = (t.json("run", "conv.ebb", "--device", "ref", *more)["steps"] for more in ([], ["--poison"]))
    equal([step["loss"] for step in plain], [step["loss"] for step in poisoned], "losses")


def a_step_on_two_devices_is_compared_op_by_op(t):
    (t.folder / "words.ebb").write_text(WORDS)
    for device in [name for name in devices(t) if name not in ("shadow", "cuda")]:
        for model in ("small.ebb", "conv.ebb", "words.ebb"):
            told = t.json("run", model, "--device", device, "--compare", "ref")
            equal((told["schema"], told["verdict"], told["over"], told["first"]), ("ebb.compare/1", "agree", 0, None))
            holds(told["ops"] > 10 and all(0 <= row["part"] <= 1 for row in told["worst"]), told["worst"])
            holds(told["device_bytes"] > 0 and told["other_bytes"] > 0 and told["room_bytes"] > 0, told)
        text = t.ebb_run("run", "small.ebb", "--device", device, "--compare", "ref").stdout
        holds(b"ops: 0 differ by more than is allowed" in text, text)
    for code, words, *args in ((1, b"every value", "--budget", "10kB"), (2, b"one step", "--steps", "2"),
                               (2, b"computes nothing", "--device", "shadow"), (2, b"one of ref cpu", "--compare", "abacus"),
                               *((2, b"of the initial params", *more) for more in (("--init-from", "none"), ("--save", "s"), ("--lr", "1")))):
        done = t.ebb_run("run", "conv.ebb", "--compare", "ref", *args, code=code)
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)


def a_hash_tells_whether_two_runs_gave_the_same_bits(t):
    for device in [name for name in devices(t) if name not in ("shadow", "cuda")]:
        def params(*more):
            return t.json("run", "conv.ebb", "--device", device, "--hash", *more)["params_hash"]
        plain = params()
        equal(len(plain), 32)
        equal(params("--budget", "335kB"), plain, "with and without recomputation")
        holds(len({plain, params("--steps", "2"), params("--seed", "2"), params("--momentum", "0.5")}) == 4, "each bit counts")
    holds(b"nothing to hash" in t.ebb_run("run", "conv.ebb", "--device", "shadow", "--hash", code=2).stderr, "shadow")


def run_takes_exactly_the_planned_bytes(t):
    for device in ("ref", "cpu"):
        known = {d["name"]: d["available"] for d in t.json("doctor")["devices"]}
        if not known.get(device):
            raise Skip(f"this build has no {device} backend")
        report = t.json("run", "conv.ebb", "--steps", "3", "--device", device)
        equal(len(report["steps"]), 3)
        equal(report["planned_bytes"], report["allocated_bytes"], device)
        holds(report["process_peak_bytes"] > 0, "process peak")
        holds(report["steps"][2]["loss"] < report["steps"][0]["loss"], f"{device}: the loss falls: {report['steps']}")


def runs_in_every_mode_have_equal_losses(t):
    budget = t.json("plan", "conv.ebb", "--device", "ref")["total_bytes"] - 4096
    modes = [[], ["--no-reuse"], ["--method", "megengine"], ["--phased"], ["--poison"], ["--budget", str(budget)]]
    losses = [[step["loss"] for step in t.json("run", "conv.ebb", "--device", "ref", *mode)["steps"]] for mode in modes]
    for mode, found in zip(modes, losses):
        equal(found, losses[0], str(mode))


TESTS = [
    a_hash_tells_whether_two_runs_gave_the_same_bits,
    the_first_number_that_is_none_is_named,
    dead_bytes_are_poisoned_and_nothing_changes,
    a_step_on_two_devices_is_compared_op_by_op,
    what_the_block_takes_is_told,
    an_interrupt_ends_a_run_between_two_steps,
    an_interrupt_a_second_after_another_ends_it_as_usual,
    a_reader_that_goes_away_ends_a_run,
    a_loss_that_is_no_number_is_told,
    no_loss_is_made_up,
    a_model_without_a_loss_gets_its_inputs,
    labels_are_of_several_classes,
    a_dash_for_a_file_is_standard_output,
    run_takes_exactly_the_planned_bytes,
    runs_in_every_mode_have_equal_losses,
]

if __name__ == "__main__":
    sys.exit(main(TESTS))
