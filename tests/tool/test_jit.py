#!/usr/bin/env python3
"""`--opt-level` and `--jit`: chains of pointwise ops as single ops, by each who makes their code: the same bits.

    test_jit.py EBB LLVM_FAKE
"""
import shutil
import sys

from tester import Skip, equal, holds, main, rows

MODEL = """ebb 1
graph gated
dim N = 70
%x = input f32[N,24]
%labels = input i32[N]
%w = param f32[40,24] init=uniform
%b = param f32[40] init=uniform
%g = param f32[1,40] init=one
%u = param f32[5,40] init=uniform
%h = linear %x, %w
%h1 = bias %h, %b
%a = gelu %h1
%s = sigmoid %h1
%m = mul %a, %s
%e = mul %m, %g
%y = silu %e
%l = linear %y, %u
%loss = softmax_xent %l, %labels
loss %loss
"""
RUN = ("run", "gated.ebb", "--steps", "3", "--lr", "0.05", "--hash")
USAGE, UNAVAILABLE = 2, 5


def emitters(t):
    return [e["name"] for e in t.json("doctor")["emitters"] if e["available"] and e["device"] == "cpu"]


def write(t):
    (t.folder / "gated.ebb").write_text(MODEL)


def no_level_and_nobodys_code_changes_a_bit(t):
    write(t)
    for precision in rows(((), ("--precision", "bf16"))):
        ways = [("--opt-level", str(level)) for level in range(4)]
        ways += [("--opt-level", "3", "--jit", name, *more) for name in emitters(t) for more in ((), ("--threads", "2"))]
        ways += [("--opt-level", "3", "--method", "megengine"), ("--opt-level", "3", "--no-fuse")]
        runs = [t.json(*RUN, *precision, *way, env={"XDG_CACHE_HOME": str(t.folder)}) for way in ways]
        equal(len({run["params_hash"] for run in runs}), 1, f"hashes {precision}")
    tight = [t.json(*RUN, "--dim", "N=700", "--budget", "500kB", "--opt-level", level)["params_hash"] for level in "23"]
    equal(*tight, "within a budget")
    equal(t.json("plan", "gated.ebb")["total_bytes"], t.json("plan", "gated.ebb", "--opt-level", "2")["total_bytes"])


def chains_are_fused_at_level_3_alone(t):
    write(t)
    for level, code in (("2", b""), ("3", b"= fused %")):
        done = t.ebb_run("plan", "gated.ebb", "--opt-level", level, "--dump", "pointwise", "-o", "plan.json")
        holds(code in done.stderr and (code or b"fused" not in done.stderr), done.stderr[-300:])
        t.ebb_run("verify", "plan.json")
    done = t.ebb_run("plan", "gated.ebb", "--opt-level", "3", "--no-fuse", "--dump", "pointwise")
    holds(b"fused" not in done.stderr, "--no-fuse leaves it out")


def what_is_named_and_not_there_is_one_line(t):
    write(t)
    for code, words, *args in ((UNAVAILABLE, b"jit NVRTC is of the device cuda", "--jit", "NVRTC"),
                               (USAGE, b'jit "TCC" is not known', "--jit", "TCC"),
                               (USAGE, b"device ref makes no code", "--jit", "LLVM", "--device", "ref")):
        done = t.ebb_run(*RUN, "--opt-level", "3", *args, code=code)
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)
    done = t.ebb_run(*RUN, "--opt-level", "3", code=UNAVAILABLE, env={"MGB_JIT_BACKEND": "NVRTC"})
    holds(done.stderr.count(b"\n") == 1 and b"NVRTC" in done.stderr, done.stderr)


def a_module_that_is_not_there_or_another_library_is_one_line(t):
    write(t)
    with open("/proc/self/maps", encoding="ascii") as maps:
        some = next(line.split()[-1] for line in maps if "/libc." in line)
    for name, module, words in ((name, *row) for name in ("MLIR", "HALIDE")
                                for row in (("/nowhere.so", "its module cannot be opened: /nowhere.so"), (some, "its module is another one, or of another build"))):
        words = f"jit {name}: {words}".encode()
        done = t.ebb_run(*RUN, "--opt-level", "3", "--jit", name, code=UNAVAILABLE, env={f"EBB_{name}_MODULE": module})
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)


def a_library_that_lacks_a_function_is_refused_where_it_is_named(t):
    """One by LLVM's newest name that is found first and is something else."""
    write(t)
    if "LLVM" not in emitters(t):
        raise Skip("no libLLVM is here")
    with open("/proc/self/maps", encoding="ascii") as maps:
        some = next(line.split()[-1] for line in maps if "/libc." in line)
    shutil.copy(some, t.folder / "libLLVM-19.so.1")
    env = {"LD_LIBRARY_PATH": str(t.folder)}
    done = t.ebb_run(*RUN, "--opt-level", "3", "--jit", "LLVM", code=UNAVAILABLE, env=env)
    holds(done.stderr.count(b"\n") == 1 and b"libLLVM 19 has no LLVM" in done.stderr, done.stderr)
    there = t.json(*RUN, "--opt-level", "3")["params_hash"]
    equal(t.json(*RUN, "--opt-level", "3", env=env)["params_hash"], there, "not named: by who else is there")
    equal(t.json(*RUN, "--opt-level", "3", env={**env, "CC": "no-such-cc"})["params_hash"], there, "interpreted")


def a_library_that_is_not_of_its_names_version_is_refused_where_it_is_named(t):
    write(t)
    if "LLVM" not in emitters(t):
        raise Skip("no libLLVM is here")
    shutil.copy(sys.argv[2], t.folder / "libLLVM-19.so.1")
    env = {"LD_LIBRARY_PATH": str(t.folder)}
    done = t.ebb_run(*RUN, "--opt-level", "3", "--jit", "LLVM", code=UNAVAILABLE, env=env)
    holds(done.stderr.count(b"\n") == 1 and b"what is called libLLVM 19 is version 99: install libllvm14" in done.stderr, done.stderr)
    row = next(e for e in t.json("doctor", env=env)["emitters"] if e["name"] == "LLVM")
    holds(not row["available"] and "is version 99" in row["why"], row)
    done = t.ebb_run(*RUN, "--opt-level", "3", env=env)
    equal(done.stderr, b"", "not named: by who else is there")
    equal(*(t.json(*RUN, "--opt-level", "3", env=e)["params_hash"] for e in (env, None)), "the same bits")


def a_c_compiler_takes_its_place(t):
    """One that is counted: it compiles each body once, and none where they were kept."""
    write(t)
    if "CC" not in emitters(t):
        raise Skip("no C compiler is here")
    real, calls = shutil.which("cc"), t.folder / "calls"
    wrapper = t.folder / "cc"
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    env = {"CC": str(wrapper), "XDG_CACHE_HOME": str(t.folder / "cache")}
    lines = []
    for _ in range(2):
        t.ebb_run(*RUN, "--opt-level", "3", "--jit", "CC", env=env)
        lines.append([line for line in calls.read_text().splitlines() if line != "--version"])
    holds(len(lines[0]) > 0 and all("-ffp-contract=off" in line for line in lines[0]), lines)
    equal(len(lines[1]), len(lines[0]), "compiled again")
    equal((t.folder / "cache/ebb/code").stat().st_mode & 0o777, 0o700, "who may enter")
    t.ebb_run(*RUN, "--opt-level", "3", "--jit", "CC", env={**env, "CC": f"{wrapper} -O1"})
    holds(len(calls.read_text().splitlines()) > len(lines[1]) + 3, "other options are other code")


def a_compiler_that_fails_is_one_line_where_it_is_named(t):
    write(t)
    for command, code, words in (("no-such-cc", UNAVAILABLE, b'no C compiler is at "no-such-cc"'),
                                 ("false", UNAVAILABLE, b'no C compiler is at "false"'),
                                 ("cc -no-such-option", UNAVAILABLE, b"jit CC: cc ends with 1: "),
                                 ("a b c d e f g h i", UNAVAILABLE, b"CC has more than 8 words")):
        done = t.ebb_run(*RUN, "--opt-level", "3", "--jit", "CC", code=code, env={"CC": command})
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)


TESTS = [no_level_and_nobodys_code_changes_a_bit, chains_are_fused_at_level_3_alone,
         what_is_named_and_not_there_is_one_line, a_module_that_is_not_there_or_another_library_is_one_line,
         a_library_that_lacks_a_function_is_refused_where_it_is_named,
         a_library_that_is_not_of_its_names_version_is_refused_where_it_is_named,
         a_c_compiler_takes_its_place, a_compiler_that_fails_is_one_line_where_it_is_named]

if __name__ == "__main__":
    sys.exit(main(TESTS))
