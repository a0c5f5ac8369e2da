#!/usr/bin/env python3
"""`ebb run --data DIR` keeps decoded pictures by itself where it comes to them again, within a share of what memory there is.

    test_decoded_run.py EBB SOURCE MAKE_PICTURES HOW       HOW: plain, or sanitized: sanitizers take terabytes of addresses
"""
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tool"))
import harness
from tester import equal, holds, main

SOURCE, MAKE_PICTURES = pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
DIGITS = str(SOURCE / "examples/resnet50/data/digits.csv.gz")

MODEL = """ebb 1
graph seen
dim N = 6
%x = input f32[N,3,16,20]
%labels = input i32[N]
%w = param f32[10,3,3,3] init=kaiming
%c = conv2d %x, %w pad=1 stride=2
%p = global_avg_pool %c
%loss = softmax_xent %p, %labels
loss %loss
"""


def begin(t):
    (t.folder / "seen.ebb").write_text(MODEL)
    subprocess.run([MAKE_PICTURES, str(t.folder / "p"), "4", "60", "40", "30"], check=True)


def of(t, *more, data="p"):
    return t.json("run", "seen.ebb", "--data", data, "--hash", *more)


def two_epochs_keep_them_and_fewer_do_not(t):
    begin(t)
    twice = of(t, "--steps", "20")
    holds(twice["data"]["kept_bytes"] > 0 and twice["data"]["n_from_kept"] > 0, twice["data"])
    for more in ("--steps", "19"), ("--steps", "20", "--keep-decoded", "0"), ("--eval",):
        equal(of(t, *more)["data"]["kept_bytes"], 0, str(more))
    holds(of(t, "--steps", "5", "--accumulate", "4")["data"]["kept_bytes"] > 0, "parts count")
    equal(of(t, "--steps", "20", "--keep-decoded", "0")["params_hash"], twice["params_hash"], "bits")


def a_resumed_run_counts_what_is_left(t):
    begin(t)
    whole = of(t, "--steps", "39")
    of(t, "--steps", "20", "--save", "s")
    rest = of(t, "--steps", "39", "--save", "s", "--resume")
    equal((rest["data"]["kept_bytes"], rest["params_hash"]), (0, whole["params_hash"]), "19 steps are left")


def records_are_not_kept(t):
    begin(t)
    equal(of(t, "--steps", "400", data=DIGITS)["data"]["kept_bytes"], 0, "records")


def a_limit_of_the_address_space_is_heeded(t):
    """Below it there is room for what is kept: the share is of the limit, not of the machine."""
    begin(t)
    limit = 3 << 30
    done = subprocess.run([t.ebb, "run", "seen.ebb", "--data", "p", "--steps", "20", "--threads", "1"], cwd=t.folder, env=harness.ENVIRONMENT,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)), capture_output=True, check=False)
    equal(done.returncode, 0, done.stderr)
    holds(b"\ndecoded pictures " in done.stdout, done.stdout)


if __name__ == "__main__":
    limited = [a_limit_of_the_address_space_is_heeded] if sys.argv[4] == "plain" else []
    sys.exit(main([two_epochs_keep_them_and_fewer_do_not, a_resumed_run_counts_what_is_left, records_are_not_kept, *limited]))
