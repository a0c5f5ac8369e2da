#!/usr/bin/env python3
"""`--backend xla`: steps that XLA runs, where a plugin is here; and what is told where none is.

    test_xla.py EBB
"""
import sys

from tester import Skip, equal, holds, main, rows

MODEL = """ebb 1
graph dropped
dim N = 33
%x = input f32[N,3,8,8]
%labels = input i32[N]
%k = param f32[5,3,3,3] init=kaiming
%g = param f32[5] init=one
%z = param f32[5]
%rm = state f32[5]
%rv = state f32[5] init=one
%w = param f32[7,5] init=uniform
%c = conv2d %x, %k pad=1
%n = batch_norm %c, %g, %z, %rm, %rv
%r = relu %n
%p = max_pool %r kernel=3 stride=2 pad=1
%d = dropout %p p=0.4
%a = global_avg_pool %d
%logits = linear %a, %w
%loss = softmax_xent %logits, %labels
loss %loss
"""
USAGE, UNAVAILABLE = 2, 5
XLA = ("--backend", "xla")
NEAR = 1e-5  # of two losses, as a part of them


def write(t):
    (t.folder / "dropped.ebb").write_text(MODEL)


def here(t):
    write(t)
    if not t.json("doctor")["xla"]["available"]:
        raise Skip("no PJRT plugin is here: nothing runs on XLA")


def losses(run):
    return [step["loss"] for step in run["steps"]]


def near(a, b):
    return len(a) == len(b) and all(abs(x - y) <= NEAR * abs(x) for x, y in zip(a, b))


def an_absent_or_other_plugin_is_one_line(t):
    write(t)
    with open("/proc/self/maps", encoding="ascii") as maps:
        libc = next(line.split()[-1] for line in maps if "/libc." in line)
    for file, words in (("/nowhere.so", b"EBB_PJRT_PLUGIN is /nowhere.so, which cannot be read"),
                        (str(t.folder / "dropped.ebb"), b"the plugin cannot be opened"),
                        (libc, b"it is no PJRT plugin")):
        env = {"EBB_PJRT_PLUGIN": file}
        done = t.ebb_run("run", "dropped.ebb", *XLA, code=UNAVAILABLE, env=env)
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)
        told = t.json("doctor", env=env)["xla"]
        holds(not told["available"] and words.decode() in told["why"], told)
        holds(words in t.ebb_run("doctor", env=env).stdout, "in words")
    done = t.ebb_run("run", "dropped.ebb", *XLA, code=UNAVAILABLE, env={"EBB_PJRT_TARGET": "h100.txtpb"})
    holds(done.stderr.count(b"\n") == 1 and b"describes a device" in done.stderr, done.stderr)


def what_xla_cannot_do_is_refused(t):
    write(t)
    for words, *args in ((b"leave phased out", "run", "--phased"), (b"leave accumulate out", "run", "--accumulate", "2"),
                         (b"leave poison out", "run", "--poison"), (b"leave check_finite out", "run", "--check-finite"),
                         (b"leave --opt-level 3 out", "run", "--opt-level", "3"), (b"leave --jit out", "run", "--jit", "CC"),
                         (b"leave --direct-conv out", "run", "--direct-conv"),
                         (b"leave out --ops", "bench", "--ops"),
                         (b"--compile-only belongs to --backend xla", "bench", "--ops", "--compile-only")):
        backend = () if "--compile-only" in args else XLA
        done = t.ebb_run(args[0], "dropped.ebb", *args[1:], *backend, code=USAGE)
        holds(done.stderr.count(b"\n") == 1 and words in done.stderr and not done.stdout, done.stderr)


def losses_are_those_of_our_own_kernels(t):
    here(t)
    run = ("run", "dropped.ebb", "--steps", "5", "--lr", "0.1")
    own, xla = t.json(*run), t.json(*run, *XLA)
    holds(near(losses(own), losses(xla)), (losses(own), losses(xla)))
    holds(losses(xla)[0] != losses(xla)[4], "it learns")
    memory = xla["xla_memory"]
    holds(memory["temp_bytes"] > 0 and memory["arguments_bytes"] > 0, memory)
    holds(0 < memory["alias_bytes"] <= memory["outputs_bytes"], "params and states are donated")
    holds("xla_memory" not in own, "of XLA alone")
    other = t.json(*run, *XLA, "--seed", "2")
    holds(not near(losses(other), losses(xla)), "another seed, other draws")


def in_doubles_it_is_the_same_for_twenty_steps(t):
    """In f32 rounding grows from step to step; in f64 it stays too small for that."""
    here(t)
    (t.folder / "doubles.ebb").write_text(MODEL.replace("f32", "f64"))
    told = t.json("bench", "doubles.ebb", *XLA, "--device", "ref", "--steps", "20")
    holds(told["own_loss"] > 0 and told["xla_loss"] > 0, told)
    holds(told["loss_off"] < 1e-12 and told["param_off"] < 1e-12, told)


def a_run_is_saved_and_goes_on_elsewhere(t):
    here(t)
    run = ("run", "dropped.ebb", "--lr", "0.1", "--save", "saves")
    whole = t.json("run", "dropped.ebb", "--lr", "0.1", "--steps", "6")
    first = t.json(*run, "--steps", "3", *XLA)
    then = t.json(*run, "--steps", "5", "--resume")
    last = t.json(*run, "--steps", "6", "--resume", *XLA)
    holds(near(losses(whole), losses(first) + losses(then) + losses(last)), "three runs, two backends")


def every_op_agrees_on_its_own_inputs(t):
    here(t)
    for more in rows((("--optimizer", "adamw", "--clip-norm", "0.5"), ())):
        told = t.json("run", "dropped.ebb", "--compare", "ref", *XLA, *more)
        equal((told["verdict"], told["over"], told["xla"]), ("agree", 0, True), told)
        holds(told["ops"] > 15, told["ops"])
    holds(b"one step on XLA and on ref, each op on the inputs that XLA has" in t.ebb_run("run", "dropped.ebb", "--compare", "ref", *XLA).stdout, "in words")
    holds(b" by XLA, planned for cpu, " in t.ebb_run("run", "dropped.ebb", *XLA, "--steps", "1").stdout, "who runs")


def repeated_steps_are_not_merged(t):
    here(t)
    plan = t.json("plan", "dropped.ebb", "--dim", "N=512", "--no-fuse", "-o", "plan.json")
    budget = plan["total_bytes"] - plan["arena_bytes"] * 3 // 10
    once = t.json("bench", "dropped.ebb", "--dim", "N=512", *XLA, "--budget", str(budget), "--steps", "1")
    holds(once["own_ns"] > 0 and once["xla_ns"] > 0, once)
    told = t.json("bench", "dropped.ebb", "--dim", "N=512", *XLA, "--budget", str(budget), "--steps", "3")
    holds(told["n_recomputed"] > 0 and told["steps"] == 3 and told["temp_bytes"] < told["merged_temp_bytes"], told)
    holds(told["loss_off"] <= NEAR and told["param_off"] < 1e-3 and told["xla_ns"] > 0, told)


def bytes_are_told_without_a_step(t):
    here(t)
    bench = ("bench", "dropped.ebb", *XLA, "--compile-only")
    told = t.json(*bench)
    holds(told["steps"] == 0 and told["temp_bytes"] > 0, told)
    holds(b"xla temp" in t.ebb_run(*bench).stdout, "in words")


def sixteen_bits_are_rounded_as_by_our_kernels(t):
    here(t)
    wide = losses(t.json("run", "dropped.ebb", "--steps", "5", "--lr", "0.1", *XLA))
    for precision, off in rows((("bf16", 1e-2), ("f16", 2e-3))):
        low = ("run", "dropped.ebb", "--precision", precision)
        told = t.json(*low, "--compare", "ref", *XLA)
        equal((told["verdict"], told["over"]), ("agree", 0), told)
        own, xla = (losses(t.json(*low, "--steps", "5", "--lr", "0.1", *more)) for more in ((), XLA))
        holds(all(abs(x - y) <= off * x for x, y in zip(own, xla)), (precision, own, xla))
        holds(not near(wide, xla), "it was rounded")


TESTS = [an_absent_or_other_plugin_is_one_line, what_xla_cannot_do_is_refused, losses_are_those_of_our_own_kernels,
         in_doubles_it_is_the_same_for_twenty_steps,
         a_run_is_saved_and_goes_on_elsewhere, every_op_agrees_on_its_own_inputs, repeated_steps_are_not_merged,
         bytes_are_told_without_a_step, sixteen_bits_are_rounded_as_by_our_kernels]

if __name__ == "__main__":
    sys.exit(main(TESTS))
