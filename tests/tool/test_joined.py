#!/usr/bin/env python3
"""Layer norm's gradients as one op, a loss with its own, and attention with its operand's bias: the same bits at every `--opt-level`, whole and by phase, and no larger peak.

    test_joined.py EBB ROOT
"""
import sys
from pathlib import Path

from tester import equal, holds, main, rows

MODEL = Path(sys.argv[2]) / "examples" / "models" / "gpt2_small.ebb"
# 68 rows of 66: two chunks of sums, and more rows than the least that a bias's gradient goes along with.
SMALL = sum((("--dim", size) for size in ("N=4", "T=17", "V=61", "C=66", "A=2", "P=32")), ())
NORMS, BLOCKS = 25, 12


def no_level_changes_a_bit(t):
    for device in rows(("cpu", "ref")):
        ways = [("--opt-level", level, *more) for level in "0123" for more in ((), ("--phased",))]
        ways += [("--opt-level", level, "--budget", "90%") for level in "23"]
        run = ("run", str(MODEL), *SMALL, "--device", device, "--threads", "2", "--steps", "2", "--hash")
        equal(len({t.json(*run, *way)["params_hash"] for way in ways}), 1, f"hashes on {device}")


def every_norm_is_joined(t):
    for level, phased, alone in rows((("1", (), 0), ("2", (), NORMS), ("2", ("--phased",), NORMS), ("3", (), 1))):
        done = t.ebb_run("plan", str(MODEL), *SMALL, "--opt-level", level, *phased, "--dump", "simplify" if level == "1" else "norm",
                         "-o", "plan.json")
        counts = [done.stderr.count(b"= " + op) for op in (b"ln_backward %", b"ln_backward_bias %", b"ln_grad %", b"ln_grad_sums %")]
        apart = NORMS if level == "1" else 0
        equal(counts, [alone, 0 if apart else NORMS - alone, apart, apart], f"level {level} {phased}")


def every_bias_of_attention_is_joined(t):
    for how, joined, grads, sums in rows(((("--opt-level", "1"), 0, BLOCKS, 0), ((), BLOCKS, BLOCKS, 0), (("--phased",), BLOCKS, BLOCKS, 0),
                                          (("--opt-level", "3"), BLOCKS, 0, BLOCKS), (("--eval",), BLOCKS, 0, 0),
                                          (("--precision", "bf16"), 0, BLOCKS, 0))):
        last = "simplify" if "1" in how else "qkv"
        done = t.ebb_run("plan", str(MODEL), *SMALL, *how, "--dump", last, "-o", "plan.json")
        counts = [done.stderr.count(b"= " + op) for op in (b"attention_bias %", b"attention_bias_grad %", b"attention_bias_backward %",
                                                           b"attention %", b"attention_grad %")]
        apart = BLOCKS - joined
        equal(counts, [joined, min(joined, grads), sums, apart, apart], f"{how}")


def no_peak_grows(t):
    for phased in rows(((), ("--phased",))):
        peaks = [t.json("plan", str(MODEL), *SMALL, "--opt-level", level, *phased)["arena_bytes"] for level in "12"]
        holds(peaks[1] <= peaks[0], f"{peaks} {phased}")


TESTS = [no_level_changes_a_bit, every_norm_is_joined, every_bias_of_attention_is_joined, no_peak_grows]

if __name__ == "__main__":
    sys.exit(main(TESTS))
