#!/usr/bin/env python3
"""`ebb run --save`: what is left of a run that was killed, interrupted or had no room, and how another goes on from it.

    test_saves.py EBB

EBB_KILLS: how many times a run is killed (6).
"""
import ctypes
import errno
import os
import platform
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import time

from tester import equal, holds, main
import harness

MODEL = """ebb 1
graph kept
dim N = 7
%x = input f32[N,3,9,9]
%labels = input i32[N]
%w = param f32[5,3,3,3] init=kaiming
%g = param f32[5] init=one
%b = param f32[5]
%m = state f32[5]
%v = state f32[5] init=one
%c = conv2d %x, %w pad=1
%n = batch_norm %c, %g, %b, %m, %v
%r = relu %n
%w2 = param f32[5,5,3,3] init=kaiming
%c2 = conv2d %r, %w2 pad=1
%r2 = relu %c2
%w3 = param f32[5,5,3,3] init=kaiming
%c3 = conv2d %r2, %w3 pad=1
%r3 = relu %c3
%p = max_pool %r3 kernel=3 stride=2
%f = flatten %p
%d = dropout %f p=0.25
%u = param f32[4,80] init=uniform
%l = linear %d, %u
%loss = softmax_xent %l, %labels
loss %loss
"""
RUN = ("run", "kept.ebb", "--device", "ref", "--schedule", "cosine", "--lr", "0.05", "--warmup", "3")


def model(t, text=MODEL):
    (t.folder / "kept.ebb").write_text(text)


def saves(t):
    return sorted(os.listdir(t.folder / "s"))


def budget(t):
    plan = t.json("plan", "kept.ebb", "--device", "ref")
    return ("--budget", str(plan["total_bytes"] - plan["arena_bytes"] // 20))


def a_run_that_is_killed_at_any_moment_goes_on_to_the_same_bits(t):
    model(t)
    steps, draw = 40, random.Random(21)
    want = t.json(*RUN, "--steps", str(steps), "--hash")["params_hash"]
    ways = [(), budget(t), ("--no-reuse",)]
    n_killed = n_runs = 0
    began = time.monotonic()
    t.ebb_run(*RUN, "--steps", str(steps), "--save", "s", "--every", "1")
    seconds = time.monotonic() - began
    kills = int(os.environ.get("EBB_KILLS", "6"))
    while n_killed < kills:
        for name in saves(t):
            (t.folder / "s" / name).unlink()
        for _ in range(3):  # of one run: each goes on from the one before
            process = subprocess.Popen([t.ebb, *RUN, *draw.choice(ways), "--steps", str(steps), "--save", "s", "--every", "1", "--resume"],
                                       cwd=t.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.ENVIRONMENT)
            try:
                process.wait(timeout=draw.uniform(0, seconds))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                n_killed += 1
            holds(len([name for name in saves(t) if name.endswith(".tmp")]) <= 1, saves(t))
        got = t.json(*RUN, *draw.choice(ways), "--steps", str(steps), "--hash", "--save", "s", "--every", "1", "--resume")
        equal(got["params_hash"], want, f"after {n_killed} kills")
        equal(saves(t), [f"step-{step:012}.safetensors" for step in (38, 39, 40)], "saves")
        n_runs += 1
    print(f"killed {n_killed} times in {n_runs} runs")


def an_interrupt_saves_the_run(t):
    """A repeated one, too: `timeout` signals a process and its group."""
    model(t)
    for folder, repeats in (("s", 0), ("s1", 1), ("s2", 20)):
        process = subprocess.Popen([t.ebb, *RUN, "--steps", "100000000", "--save", folder], cwd=t.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=harness.ENVIRONMENT)
        for line in process.stdout:
            if line.startswith(b"step 5 "):
                process.send_signal(signal.SIGINT)
                break
        for _ in range(repeats):
            time.sleep(0.0005)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
        equal(process.returncode, 130, stderr)
        done = int(stderr.split(b"interrupted after step ")[1].split()[0])
        equal(os.listdir(t.folder / folder), [f"step-{done:012}.safetensors"], "saves")


def at_five_interruptions_the_rest_of_the_losses_is_the_same(t):
    model(t)
    whole = [step["loss"] for step in t.json(*RUN, "--steps", "12")["steps"]]
    for at in (1, 2, 5, 8, 11):
        for step in saves(t) if (t.folder / "s").exists() else []:
            (t.folder / "s" / step).unlink()
        # The schedule is over --steps, which is the whole run's: the part is a run of 12 whose later saves are lost.
        t.ebb_run(*RUN, "--steps", "12", "--save", "s", "--every", "1", "--keep-saves", "12")
        for name in saves(t)[at:]:
            (t.folder / "s" / name).unlink()
        rest = t.json(*RUN, "--steps", "12", "--save", "s", "--resume")
        equal(rest["resumed_after"], at, "the step")
        equal([step["loss"] for step in rest["steps"]], whole[at:], "losses")


def a_file_system_without_room_leaves_the_old_save(t):
    model(t)
    t.ebb_run(*RUN, "--steps", "4", "--save", "s")
    before = (t.folder / "s" / saves(t)[0]).read_bytes()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    for how in (("--every", "1"), ()):
        done = subprocess.run([t.ebb, *RUN, "--steps", "9", "--save", "s", "--resume", *how], cwd=t.folder, capture_output=True,
                              check=False, preexec_fn=limit, env=harness.ENVIRONMENT, timeout=60)
        equal(done.returncode, 7, done.stderr)
        lines = done.stderr.decode().splitlines()
        equal((lines[0], len(lines)), ("ebb: resumed after step 4", 2), lines)
        holds("cannot write s/step-" in lines[1], lines)
        equal(saves(t), ["step-000000000004.safetensors"], "saves")
        equal((t.folder / "s" / saves(t)[0]).read_bytes(), before, "the old save")


def a_folder_that_cannot_be_written_is_refused(t):
    model(t)
    if os.geteuid() == 0:
        folder = "/proc/self/s"  # where root cannot make one either
    else:
        (t.folder / "closed").mkdir(mode=0o500)
        folder = "closed/s"
    there = "/proc/self" if os.geteuid() == 0 else "closed"
    for name, words in ((folder, b"cannot make"), (there, b"cannot write into")):
        done = t.ebb_run(*RUN, "--steps", "9", "--save", name, code=7)
        equal(done.stderr.count(b"\n"), 1, done.stderr)
        holds(words in done.stderr and b"step 1" not in done.stdout, done)


def two_runs_do_not_save_into_one_folder(t):
    model(t)
    arguments = (*RUN, "--steps", "1000000", "--save", "s", "--every", "1", "--resume")
    first = subprocess.Popen([t.ebb, *arguments], cwd=t.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.ENVIRONMENT)
    try:
        ends = time.monotonic() + 60
        while not (t.folder / "s").is_dir() or not saves(t):
            holds(first.poll() is None and time.monotonic() < ends, "the first run saves")
            time.sleep(0.01)
        second = t.ebb_run(*arguments, code=2)
        equal(second.stderr.decode(), "ebb: another run saves into s: wait until it has ended, or name another folder\n", "the second")
        holds(first.poll() is None, "the first run goes on")
    finally:
        first.kill()
        first.wait()
    newest = max(int(name[5:17]) for name in saves(t) if name.endswith(".safetensors"))
    t.ebb_run(*RUN, "--steps", str(newest + 9), "--save", "s", "--resume")  # a killed run's lock is gone


def a_run_that_is_done_has_no_step_left(t):
    model(t)
    t.ebb_run(*RUN, "--steps", "4", "--save", "s")
    done = t.ebb_run(*RUN, "--steps", "4", "--save", "s", "--resume")
    holds(b"per step         none was left to run\n" in done.stdout, done.stdout)


def lists_no_folder():
    """From now on this process's getdents64 fails with EIO: a filter of system calls (seccomp(2), bpf's four instructions)."""
    number = {"x86_64": 217, "aarch64": 61}[platform.machine()]
    load, equals, give = 0x20, 0x15, 0x06  # a word; a jump; an answer: 0x0005....: this errno, 0x7fff0000: go on
    rows = ((load, 0, 0, 0), (equals, 0, 1, number), (give, 0, 0, 0x00050000 | errno.EIO), (give, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        raise OSError(ctypes.get_errno(), "prctl")


def a_folder_that_cannot_be_listed_is_not_an_empty_one(t):
    model(t)
    t.ebb_run(*RUN, "--steps", "4", "--save", "s")
    before = saves(t)
    leaks = {"ASAN_OPTIONS": harness.ENVIRONMENT.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # which looks for threads in a folder
    done = subprocess.run([t.ebb, *RUN, "--steps", "9", "--save", "s", "--resume"], cwd=t.folder, capture_output=True, check=False,
                          preexec_fn=lists_no_folder, env=harness.ENVIRONMENT | leaks, timeout=60)
    equal(done.returncode, 7, done.stderr)
    holds(done.stderr.count(b"\n") == 1 and b"cannot read s: Input/output error" in done.stderr, done.stderr)
    equal(saves(t), before, "saves")


def what_does_not_fit_is_named_in_one_line(t):
    model(t)
    t.ebb_run(*RUN, "--steps", "4", "--save", "s")
    done = t.ebb_run(*RUN, "--steps", "4", "--save", "s", code=2)
    holds(b"has saves up to step 4" in done.stderr, done.stderr)
    done = t.ebb_run(*RUN, "--steps", "9", "--save", "s", "--resume", "--seed", "7", code=2)
    holds(b"--seed 7" in done.stderr, done.stderr)
    done = t.ebb_run(*RUN, "--steps", "4", "--save", "s", "--resume", "--optimizer", "adamw", code=3)
    equal(done.stderr.count(b"\n"), 1, done.stderr)
    holds(b"w.momentum F32[5,3,3,3] is not in the model" in done.stderr or b"differences" in done.stderr, done.stderr)
    model(t, MODEL.replace("[4,80]", "[9,80]"))
    done = t.ebb_run(*RUN, "--steps", "4", "--save", "s", "--resume", code=3)
    holds(b"u is F32[9,80], but F32[4,80] in it" in done.stderr, done.stderr)
    done = t.ebb_run(*RUN, "--steps", "4", "--init-from", "s/step-000000000004.safetensors")
    holds(b"left out: u is F32[9,80], but F32[4,80] in it" in done.stderr, done.stderr)
    done = t.ebb_run(*RUN, "--steps", "4", "--init-from", "s/step-000000000004.safetensors", "--optimizer", "adamw")
    lines = [line for line in done.stderr.decode().splitlines() if ".momentum" in line or ".exp_avg" in line]
    equal(len(lines), 2, lines)
    holds(re.search(r"left out: \S+\.exp_avg\S* F32\[\S*\] and \d+ other states of params are not in it$", lines[0]), lines)
    holds(re.search(r"left out: \S+\.momentum F32\[\S*\] and \d+ other states of params are not in the model$", lines[1]), lines)
    deeper = "".join(f"%w{i} = param f32[80,80] init=uniform\n%d{i} = linear %d{i - 1}, %w{i}\n" for i in range(11, 31))
    model(t, MODEL.replace("%d,", "%d30,").replace("%u = param", deeper.replace("%d10,", "%d,") + "%u = param"))
    done = t.ebb_run(*RUN, "--steps", "4", "--init-from", "s/step-000000000004.safetensors")
    lines = done.stderr.decode().splitlines()
    holds(sum("left out" in line for line in lines) == 12 and any(re.fullmatch(r"ebb: \d+ more differences", line) for line in lines), lines)
    path = t.folder / "s" / "step-000000000004.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    done = t.ebb_run(*RUN, "--steps", "4", "--save", "s", "--resume", code=3)
    equal(done.stderr.count(b"\n"), 1, done.stderr)
    (t.folder / "far").mkdir()
    t.ebb_run(*RUN, "--steps", "4", "--save", "other")
    whole = (t.folder / "other" / "step-000000000004.safetensors").read_bytes()
    n = 8 + int.from_bytes(whole[:8], "little")
    for step in (b"18446744073709551615", b"1000000000000"):
        head = re.sub(rb'"ebb.step": *"4"', b'"ebb.step":"' + step + b'"', whole[8:n])
        holds(step in head, head[:200])
        (t.folder / "far" / "step-000000000004.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + whole[n:])
        done = t.ebb_run(*RUN, "--steps", "4", "--save", "far", "--resume", code=3)
        holds(done.stderr.count(b"\n") == 1 and b"is of step " + step in done.stderr, done.stderr)
    for wrong in (("--resume",), ("--every", "2"), ("--keep-saves", "2"), ("--save", ""), ("--save", "x", "--device", "shadow"),
                  ("--save", "x", "--eval"),
                  ("--lr-every", "2"), ("--schedule", "step"), ("--lr-factor", "0.5"), ("--lr-least", "0.1"), ("--warmup", "3", "--schedule", "cosine"),
                  ("--schedule", "one-cycle", "--warmup", "1", "--steps", "9")):
        done = t.ebb_run("run", "kept.ebb", *wrong, code=2)
        equal(done.stderr.count(b"\n"), 1, done.stderr)


if __name__ == "__main__":
    sys.exit(main([a_run_that_is_killed_at_any_moment_goes_on_to_the_same_bits, an_interrupt_saves_the_run,
                   at_five_interruptions_the_rest_of_the_losses_is_the_same, a_file_system_without_room_leaves_the_old_save,
                   a_folder_that_cannot_be_written_is_refused, a_folder_that_cannot_be_listed_is_not_an_empty_one,
                   two_runs_do_not_save_into_one_folder, a_run_that_is_done_has_no_step_left, what_does_not_fit_is_named_in_one_line]))
