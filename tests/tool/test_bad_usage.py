#!/usr/bin/env python3
"""Calls that the command cannot take: the right exit code, one line that helps, nothing left behind.

    test_bad_usage.py EBB
"""
import sys

from bad_input import DEVICE, OUT, USAGE, main
from harness import Case
from models import SMALL

PLAN = ["plan", "m.ebb", "-o", OUT]


def usage(rows):
    for name, args, stderr in rows:
        yield Case(name, args, USAGE, stderr, files={"m.ebb": SMALL})


def word_rows():
    """Commands, flags and their values, whatever they mean."""
    return usage([
        ("no command", [], r"no command.*ebb help"),
        ("a misspelt command names the nearest", ["pln", "m.ebb"], r"unknown command \"pln\": did you mean plan\?"),
        ("a command like no other", ["flabbergast"], r"unknown command \"flabbergast\": `ebb help`"),
        ("a command with a line break stays one line", ["a\nb"], r"unknown command \"a\?b\""),
        ("a misspelt flag names the nearest", [*PLAN, "--bugdet", "4"], r"--bugdet: did you mean --budget\?"),
        ("an unknown short flag", [*PLAN, "-q"], r"unknown flag -q"),
        ("a flag of another command", ["verify", "p.json", "--budget", "1"], r"verify takes no --budget"),
        ("a flag without its value", ["plan", "m.ebb", "--budget"], r"--budget needs a value"),
        ("a flag with an empty value", ["plan", "m.ebb", "-o", ""], r"--output needs a value"),
        ("a switch with a value", [*PLAN, "--json=1"], r"--json takes no value"),
        ("a way to tell of progress that is none", [*PLAN, "--progress=jsn"], r"\"jsn\": did you mean json\?"),
        ("a way to tell of progress that is empty", [*PLAN, "--progress="], r"--progress needs a value"),
        ("no model", ["plan"], r"plan needs a MODEL"),
        ("two models", ["plan", "a", "b"], r"one argument too many"),
        ("an operand where none belongs", ["doctor", "x"], r"one argument too many"),
        ("a way to tell of progress behind a space", [*PLAN, "--progress", "none"], r"did you mean --progress=none\?"),
        ("an op that is tried without --full", ["doctor", "--op", "silu"], r"--op.*--full"),
        ("an op that there is none of", ["doctor", "--full", "--device", "ref", "--op", "slu"], r"did you mean silu\?"),
        ("help for an unknown command", ["help", "paln"], r"did you mean plan\?"),
    ])


def size_rows():
    """Budgets and dimensions."""
    return usage([
        ("a budget without digits", [*PLAN, "--budget", "lots"], r"--budget: \"lots\" is not a positive size"),
        ("a budget with an unknown unit", [*PLAN, "--budget", "4XB"], r"--budget: \"4XB\""),
        ("a budget of nothing", [*PLAN, "--budget", "0"], r"--budget: \"0\" is not a positive size"),
        ("a negative budget", [*PLAN, "--budget", "-5"], r"--budget: \"-5\""),
        ("a budget of half a byte", [*PLAN, "--budget", "0.5"], r"--budget: \"0\.5\""),
        ("a budget past the largest integer", [*PLAN, "--budget", "9999999999GiB"], r"--budget"),
        ("a dimension without a size", [*PLAN, "--dim", "N"], r"--dim: \"N\" is not NAME=SIZE"),
        ("a dimension without a name", [*PLAN, "--dim", "=3"], r"is not NAME=SIZE"),
        ("a dimension of zero", [*PLAN, "--dim", "N=0"], r"--dim N: \"0\" is not an integer in \[1, "),
        ("a negative dimension", [*PLAN, "--dim", "N=-3"], r"--dim N: \"-3\""),
        ("a dimension past the largest integer", [*PLAN, "--dim", "N=99999999999999999999"], r"is not an integer"),
        ("a dimension given twice", [*PLAN, "--dim", "N=1", "--dim", "N=2"], r"N is given twice: 1 and 2"),
        ("a dimension that the model lacks", [*PLAN, "--dim", "M=4"], r"\bM\b"),
    ])


def search_rows():
    """Methods, and how long a search may last."""
    return usage([
        ("an unknown method", [*PLAN, "--method", "megengin"], r"\"megengin\": did you mean megengine\?"),
        ("a share of nothing", [*PLAN, "--budget", "0%"], r"\"0%\" is not a size or a share in \(0%, 100%\]"),
        ("a share of more than all", [*PLAN, "--budget", "101%"], r"not a size or a share in \(0%, 100%\]"),
        ("a share less a reserve", [*PLAN, "--budget", "50%", "--reserve", "1MB"], r"--reserve takes a budget in bytes"),
        ("a share of what a device leaves", ["run", "m.ebb", "--budget", "50%", "--compare", "ref"], r"--compare takes a budget in bytes"),
        ("the budget method without a budget", [*PLAN, "--method", "budget"], r"needs --budget"),
        ("MegEngine's method with a budget", [*PLAN, "--method", "megengine", "--budget", "1GB"], r"takes no --budget"),
        ("no reuse within a budget", [*PLAN, "--no-reuse", "--budget", "1GB"], r"--no-reuse excludes --budget"),
        ("both lower bounds", [*PLAN, "--lb-memory", "1", "--lb-memory-mb", "1"], r"--lb-memory and --lb-memory-mb"),
        ("a pool of nobody", [*PLAN, "--genetic-pool-size", "0"], r"genetic_pool_size is 0.*\[1, "),
        ("no workers", [*PLAN, "--num-worker", "0"], r"num_worker is 0.*\[1, "),
        ("a negative number of tries", [*PLAN, "--thresh-nr-try=-1"], r"--thresh-nr-try: \"-1\""),
        ("a fraction of a generation", [*PLAN, "--genetic-nr-iter", "1.5"], r"--genetic-nr-iter: \"1\.5\""),
        ("a time limit that is no number", [*PLAN, "--time-limit", "nan"], r"--time-limit: \"nan\""),
        ("a time limit of nothing", [*PLAN, "--time-limit", "0"], r"--time-limit: \"0\" is not a number above 0"),
        ("a time limit of nothing for a packing", ["pack", "r.csv", "--time-limit", "0.0"], r"is not a number above 0"),
        ("progress of another kind", [*PLAN, "--progress=line"], r"--progress: unknown value \"line\": did you mean lines\?"),
        ("an unknown pass", [*PLAN, "--dump=schedul"], r"did you mean schedule\?"),
    ])


def sweep_rows():
    """fit, tune and frontier."""
    return usage([
        ("fit without a budget", ["fit", "m.ebb"], r"fit needs --budget"),
        ("fit within a share", ["fit", "m.ebb", "--budget", "60%"], r"\"60%\" is not a size: write 11GiB"),
        ("fit with a share that is none", ["fit", "m.ebb", "--budget", "1GB", "--max-added", "x%"], r"--max-added"),
        ("a batch of nobody", ["fit", "m.ebb", "--budget", "1GB", "--batch", "0"], r"--batch: \"0\" is not an integer in \[1, "),
        ("a reserve that leaves nothing", ["fit", "m.ebb", "--budget", "1MB", "--reserve", "1MB"], r"leaves nothing of 1000000"),
        ("one batch of a dimension that the model lacks", ["fit", "m.ebb", "--budget", "1MB", "--batch", "2", "--over", "M"],
         r"\bM\b"),
        ("tune without a budget", ["tune", "m.ebb"], r"tune needs --budget"),
        ("tune has no method of its own", ["tune", "m.ebb", "--budget", "1GB", "--method", "budget"], r"tune takes no --method"),
        ("tune takes no cache", ["tune", "m.ebb", "--budget", "1GB", "--cache", "c"], r"tune takes no --cache"),
        ("a curve of one point", ["frontier", "m.ebb", "--points", "1"], r"--points: \"1\" is not an integer in \[2, 64\]"),
        ("points and budgets", ["frontier", "m.ebb", "--points", "3", "--budgets", "1GB"], r"--points and --budgets"),
        ("a list with an empty budget", ["frontier", "m.ebb", "--budgets", "1GB,,2GB"], r"--budgets: \"\" is not a size"),
        ("a list with a share of nothing", ["frontier", "m.ebb", "--budgets", "1GB,0%"], r"--budgets: \"0%\" is not"),
        ("a list with a share that is none", ["frontier", "m.ebb", "--budgets", "x%"], r"--budgets: \"x%\" is not"),
        ("a list that is too long", ["frontier", "m.ebb", "--budgets", ",".join(["1GB"] * 65)], r"more than 64 sizes"),
        ("a curve within one budget", ["frontier", "m.ebb", "--budget", "1GB"], r"frontier takes no --budget"),
        ("fit takes no cache", ["fit", "m.ebb", "--budget", "1GB", "--cache", "c"], r"fit takes no --cache"),
    ])


ATTENDED = """ebb 1
graph q
%x = input f32[60,8]
%labels = input i32[60]
%w = param f32[24,8] init=uniform
%b = param f32[24]
%y = linear %x, %w
%sum = bias %y, %b
%qkv = reshape %sum shape=[2,30,24]
%a, %lse = attention %qkv heads=2
%rows = reshape %a shape=[60,8]
%loss = softmax_xent %rows, %labels
loss %loss
"""


def pin_rows():
    """Values to keep and to drop."""
    keep = ["plan", "q.ebb", "-o", OUT, "--budget", "1GB", "--keep", "sum"]
    yield Case("a value to keep that was fused", keep, USAGE, r"has no value %sum in the end: .*\(--no-fuse\)", files={"q.ebb": ATTENDED})
    yield Case("the same unfused", [*keep, "--no-fuse"], 0, r"", files={"q.ebb": ATTENDED})
    yield from usage([
        ("keep without a budget", [*PLAN, "--keep", "h1"], r"keep or drop \(h1\) are chosen within a budget"),
        ("drop without a budget (run)", ["run", "m.ebb", "--device", "ref", "--drop", "h*"], r"\(h\*\) are chosen within"),
        ("drop with MegEngine's method", [*PLAN, "--method", "megengine", "--drop", "h1"], r"\(h1\) are chosen within"),
        ("a value to keep that is not there", [*PLAN, "--budget", "1GB", "--keep", "h9"], r"has no value %h9"),
        ("a glob that fits nothing", [*PLAN, "--budget", "1GB", "--drop", "z*"], r"has no value like z\*"),
        ("a glob that fits nothing (frontier)", ["frontier", "m.ebb", "--keep", "z*"], r"has no value like z\*"),
        ("a glob that fits nothing (fit)", ["fit", "m.ebb", "--budget", "1GB", "--keep", "z*"], r"has no value like z\*"),
        ("a glob that fits nothing (run)", ["run", "m.ebb", "--budget", "1GB", "--keep", "z*"], r"has no value like z\*"),
        ("a value both kept and dropped", [*PLAN, "--budget", "1GB", "--keep", "h3", "--drop", "h*"],
         r"%h3 is both kept and dropped"),
        ("an input to drop", [*PLAN, "--budget", "1GB", "--drop", "x"], r"%x cannot be dropped: it is given"),
        ("a parameter to drop", [*PLAN, "--budget", "1GB", "--drop", "%w1"], r"%w1 cannot be dropped"),
        ("too many values to keep", [*PLAN, *["--keep", "h1"] * 65], r"--keep is given more than 64 times"),
    ])


def optimizer_rows():
    """The optimizer and its numbers."""
    return usage([
        ("an unknown optimizer", [*PLAN, "--optimizer", "adam"], r"did you mean adamw\?"),
        ("nesterov with adamw", [*PLAN, "--nesterov", "--optimizer", "adamw"], r"Nesterov"),
        ("a beta of one", [*PLAN, "--optimizer", "adamw", "--beta2", "1"], r"beta1 and beta2 are 0\.9 and 1;"),
        ("nesterov without momentum", [*PLAN, "--nesterov", "--momentum", "0"], r"momentum"),
    ])


def device_rows():
    yield Case("a device that is not here lists those that are", [*PLAN, "--device", "gpx"], DEVICE, r"\"gpx\".*ref",
               files={"m.ebb": SMALL})


def variable_rows():
    """MegEngine's environment variables."""
    variables = {"THRESH_NR_TRY": "x", "GENETIC_NR_ITER": "-1", "GENETIC_POOL_SIZE": "0", "LOWER_BOUND_MB": "1.5",
                 "WORKERS": "0"}
    for name, value in variables.items():
        variable = f"MGB_SUBLINEAR_MEMORY_{name}"
        yield Case(f"environment variable {name} is nonsense", PLAN, USAGE, f"{variable}.*{value}",
                   files={"m.ebb": SMALL}, env={variable: value})


if __name__ == "__main__":
    sys.exit(main(word_rows, size_rows, search_rows, sweep_rows, pin_rows, optimizer_rows, device_rows, variable_rows))
