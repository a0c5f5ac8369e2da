#!/usr/bin/env python3
"""`--precision`: 16 bits for activations and gradients, with the same bits whatever memory is saved.

    test_precision.py EBB
"""
import json
import sys

from tester import equal, holds, main, rows
import harness

MODEL = """ebb 1
graph halves
dim N = 4
%x = input f32[N,3,16,16]
%labels = input i32[N]
%w1 = param f32[16,3,3,3] init=kaiming
%g1 = param f32[16] init=one
%b1 = param f32[16]
%m1 = state f32[16]
%v1 = state f32[16] init=one
%w2 = param f32[16,16,3,3] init=kaiming
%g2 = param f32[16] init=one
%b2 = param f32[16]
%m2 = state f32[16]
%v2 = state f32[16] init=one
%u = param f32[5,16] init=uniform
%c1 = conv2d %x, %w1 pad=1
%n1 = batch_norm %c1, %g1, %b1, %m1, %v1
%r1 = relu %n1
%c2 = conv2d %r1, %w2 pad=1
%n2 = batch_norm %c2, %g2, %b2, %m2, %v2
%s = add %n2, %r1
%r2 = relu %s
%p = global_avg_pool %r2
%l = linear %p, %u
%loss = softmax_xent %l, %labels
output %l
loss %loss
"""
# Products of one large matrix each: the rows of one are cut into parts, or what is summed, or nothing.
PRODUCTS = """ebb 1
graph products
%x = param f32[1,2100,2048] init=uniform
%w = param f32[1,2048,2] init=uniform
%v = param f32[1,2,2100] init=uniform
%y = matmul %x, %w
%z = matmul %x, %v transpose_a=true transpose_b=true
%s = reduce_mean %y axis=[0,1,2] keep=false
%t = reduce_mean %z axis=[0,1,2] keep=false
%loss = mul %s, %t
loss %loss
"""
LARGE = """ebb 1
graph large
%x = input f32[8,3,16,16]
%labels = input i32[8]
%k1 = param f32[16,3,3,3] init=kaiming
%k2 = param f32[16,16,3,3] init=kaiming
%k3 = param f32[16,16,3,3] init=kaiming
%u = param f32[256,16] init=uniform
%w = param f32[1024,256] init=uniform
%v = param f32[10,1024] init=uniform
%c1 = conv2d %x, %k1 pad=1
%r1 = silu %c1
%c2 = conv2d %r1, %k2 pad=1
%r2 = silu %c2
%c3 = conv2d %r2, %k3 pad=1
%r3 = silu %c3
%p = global_avg_pool %r3
%g = linear %p, %u
%h = linear %g, %w
%l = linear %h, %v
%loss = softmax_xent %l, %labels
loss %loss
"""
RUN = ("run", "halves.ebb", "--steps", "3", "--lr", "0.05")
LOW, HALF = ("--precision", "bf16"), ("--precision", "f16")
START = 32768  # f16's loss scale


def device(name):
    return () if name == "cpu" else ("--device", name)


def a_step_in_16_bits_learns_as_one_in_f32_does(t):
    (t.folder / "halves.ebb").write_text(MODEL)
    for name in "cpu", "ref":
        for precision, near in (LOW, 0.03), (HALF, 0.005):
            full, low = ([s["loss"] for s in t.json(*RUN, *device(name), *p)["steps"]] for p in ((), precision))
            holds(low != full and all(abs(a - b) < near * b for a, b in zip(low, full)), f"{name}: {low} beside {full}")
            holds(low[-1] < low[0], low)


def products_in_parts_agree_with_ref(t):
    (t.folder / "products.ebb").write_text(PRODUCTS)
    told = t.json("run", "products.ebb", *LOW, "--compare", "ref")
    equal((told["verdict"], told["over"]), ("agree", 0), str(told["first"]))


def memory_that_is_saved_changes_no_bit_of_16(t):
    (t.folder / "halves.ebb").write_text(MODEL)
    n_recomputed = 0
    for name, low in rows((("cpu", LOW), ("ref", LOW), ("cpu", HALF), ("ref", HALF))):
        ways = (), ("--no-reuse",), ("--no-fuse",), ("--phased",), ("--method", "megengine"), ("--threads", "2", "--poison")
        runs = [t.json(*RUN, *device(name), *low, *way, "--hash") for way in ways]
        equal(len({run["params_hash"] for run in runs}), 1, f"{name}: hashes")
        n_recomputed += sum(run["n_recomputed"] for run in runs)
    holds(n_recomputed > 0, "nothing was recomputed")


def a_gradient_that_waits_for_a_cast_has_the_same_bits(t):
    """In a step where *recast* makes a large weight's gradient after its cast is read."""
    (t.folder / "large.ebb").write_text(LARGE)
    text = t.ebb_run("plan", "large.ebb", *LOW, "--dump", "recast").stderr.decode()
    holds(0 < text.index("%g.grad = linear_dgrad") < text.index("%w.cast.grad = linear_wgrad"), text)
    for name, low in rows((("cpu", LOW), ("ref", LOW), ("cpu", HALF))):
        ways = ("--budget", "97%"), (), ("--no-reuse",), ("--no-fuse",), ("--phased",), ("--threads", "2", "--poison")
        runs = [t.json("run", "large.ebb", "--steps", "3", "--lr", "0.05", *device(name), *low, *way, "--hash") for way in ways]
        equal(len({run["params_hash"] for run in runs}), 1, f"{name}: hashes")
        holds(runs[0]["n_recomputed"] > 0, "nothing was recomputed")


def products_by_the_processor_learn_the_same_and_memory_changes_no_bit(t):
    native, low = (*LOW, "--native-bf16", "--dim", "N=16"), (*LOW, "--dim", "N=16")
    (t.folder / "halves.ebb").write_text(MODEL.replace("[16", "[32").replace("16,3,3]", "32,3,3]").replace("[5,16]", "[5,32]"))
    for wrong in ("--native-bf16",), (*HALF, "--native-bf16"), (*native, "--device", "ref"):
        done = t.ebb_run(*RUN, *wrong, code=2)
        holds(b"native-bf16" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    limited = harness.run(t.ebb, [*RUN, *native], t.folder, env={"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"})
    equal(limited.returncode, 5, limited.stderr)
    holds(b"AVX512-BF16" in limited.stderr and limited.stderr.count(b"\n") == 1, limited.stderr)
    if harness.run(t.ebb, [*RUN, *native], t.folder).returncode == 5:
        print("SKIP this processor has no AVX512-BF16")
        return
    for other in "ref", "cpu": # which computes without it
        t.ebb_run("run", "halves.ebb", *native, "--compare", other)
    parts = t.json(*RUN, *low, "--hash")
    for width in rows(("3", "1")):
        plan = t.json("plan", "halves.ebb", *native, "--threads", width)
        budget = str(plan["total_bytes"] - plan["arena_bytes"] // 16)
        ways = (), ("--no-reuse",), ("--no-fuse",), ("--phased",), ("--budget", budget), ("--poison",)
        runs = [t.json(*RUN, *native, *way, "--hash", "--threads", width) for way in ways]
        equal(len({run["params_hash"] for run in runs}), 1, "hashes")
        holds(any(run["n_recomputed"] for run in runs), "nothing was recomputed")
        holds(runs[0]["params_hash"] != parts["params_hash"], "no product was the processor's")
        pairs = zip((s["loss"] for s in runs[0]["steps"]), (s["loss"] for s in parts["steps"]))
        holds(all(abs(a - b) < 0.01 * b for a, b in pairs), (runs[0]["steps"], parts["steps"]))


def a_state_that_the_model_updates_keeps_its_cast_for_backward(t):
    (t.folder / "book.ebb").write_text("""ebb 1
graph book
%x = input f32[6,8]
%labels = input i32[6]
%w = param f32[8,8] init=uniform
%q = state f32[4,8] init=uniform
%h = linear %x, %w
%l = linear %h, %q
%n = rescale %q times=0.9
%next = assign %q, %n
%loss = softmax_xent %l, %labels
loss %loss
""")
    for low in LOW, HALF:
        runs = [t.json("run", "book.ebb", "--steps", "3", *low, *way, "--hash") for way in ((), ("--no-reuse",), ("--method", "megengine"))]
        equal(len({run["params_hash"] for run in runs}), 1, f"{low}: hashes")
        holds(runs[0]["steps"][-1]["loss"] < runs[0]["steps"][0]["loss"], runs[0]["steps"])


def f16_evaluates(t):
    (t.folder / "halves.ebb").write_text(MODEL)
    full, low = (t.json(*RUN, "--eval", *p) for p in ((), HALF))
    a, b = full["steps"][0]["loss"], low["steps"][0]["loss"]
    holds(a != b and abs(a - b) < 0.01 * a and "loss_scale" not in low, f"{a} beside {b}")


def steps_beyond_f16_are_skipped_and_told(t):
    """Gradients of a loss times 1,000 are beyond f16 until the scale has been halved often enough."""
    (t.folder / "steep.ebb").write_text(MODEL.replace("%loss = softmax", "%small = softmax").replace(
        "output %l", "%loss = rescale %small times=1000\noutput %l"))
    run = ("run", "steep.ebb", "--steps", "12", "--lr", "0.00001", *HALF)
    whole = t.json(*run, "--hash", "--metrics", "m.jsonl")
    skipped = [step.get("skipped", False) for step in whole["steps"]]
    n = sum(skipped)
    holds(0 < n < 12 and skipped == [True] * n + [False] * (12 - n), skipped)
    equal(whole["n_skipped"], n, "steps that changed nothing")
    equal(whole["loss_scale"], START / 2**n, "scale")
    losses = [step["loss"] for step in whole["steps"]]
    equal(len(set(losses[:n + 1])), 1, "losses until something changes")
    holds(losses[-1] < losses[0], losses)
    lines = [json.loads(line) for line in (t.folder / "m.jsonl").read_text().splitlines()]
    equal([(line["scale"], line["skipped"]) for line in lines],
          [(START / 2**min(k, n), min(k, n)) for k in range(1, 13)], "metrics")
    said = t.ebb_run(*run).stdout.decode()
    equal(said.count("skipped: "), n, "lines of skipped steps")
    holds(f"loss scale       {START // 2**n}, {n} of 12 steps changed nothing" in said, said)
    # What is skipped in a run that is resumed, and after it.
    for k in 2, n + 1:
        save = ("--save", f"saves{k}", "--metrics", f"m{k}.csv")
        t.ebb_run(*run, *save, "--steps", str(k))
        equal(t.json(*run, *save, "--resume", "--hash")["params_hash"], whole["params_hash"], f"resumed after {k}")
        text = (t.folder / f"m{k}.csv").read_text()
        equal(text.splitlines()[0], "step,rate,loss,ns,scale,skipped", "head")
        equal([line.split(",")[4:] for line in text.splitlines()[1:]],
              [[f"{line['scale']:.9g}", str(line["skipped"])] for line in lines], "metrics of a resumed run")


def an_update_that_is_read_has_no_condition(t):
    (t.folder / "read.ebb").write_text(MODEL.replace("%l = linear", "%t = state f32[4,16]\n%t.next = assign %t, %p\n"
                                                     "%q = add %p, %t.next\n%l = linear").replace("%p, %u", "%q, %u"))
    t.ebb_run(*RUN[:1], "read.ebb")
    refused = t.ebb_run(*RUN[:1], "read.ebb", *HALF, code=3)
    holds(not refused.stdout and refused.stderr.count(b"\n") == 1 and b"train in bf16" in refused.stderr, refused.stderr)


def what_is_fed_may_be_of_16_bits(t):
    for dtype in "f16", "bf16":
        (t.folder / "halves.ebb").write_text(
            f"ebb 1\ngraph fed\n%x = input {dtype}[4,8]\n%labels = input i32[4]\n%w = param {dtype}[3,8] init=uniform\n"
            "%l = linear %x, %w\n%loss = softmax_xent %l, %labels\nloss %loss\n")
        cpu, ref = (t.json(*RUN, *device(name), "--eval")["steps"][0]["loss"] for name in ("cpu", "ref"))
        holds(abs(cpu - ref) < 0.01 and cpu != 0, f"{dtype}: {cpu} and {ref}")


def a_plan_says_where_16_bits_save_nothing(t):
    (t.folder / "few.ebb").write_text(
        "ebb 1\ngraph few\ndim N = 1\n%x = input f32[N,16]\n%labels = input i32[N]\n%w = param f32[64,16] init=uniform\n"
        "%u = param f32[4,64] init=uniform\n%h = linear %x, %w\n%r = relu %h\n%l = linear %r, %u\n"
        "%loss = softmax_xent %l, %labels\nloss %loss\n")
    for low in LOW, HALF:
        sizes = [t.json("plan", "few.ebb", *flags)["total_bytes"] for flags in ((), low)]
        told = t.ebb_run("plan", "few.ebb", *low).stderr.decode()
        holds(sizes[1] >= sizes[0] and told.count("\n") == 1, f"{sizes}: {told}")
        holds(told.startswith(f"ebb: {low[1]} saves nothing here: {sizes[1]} bytes in place and {sizes[0]} in f32; leave --precision out, or try a larger batch"), told)
        for flags in (), (*low, "--dim", "N=100000"):
            equal(t.ebb_run("plan", "few.ebb", *flags).stderr, b"", f"{flags}")


if __name__ == "__main__":
    sys.exit(main([a_step_in_16_bits_learns_as_one_in_f32_does, products_in_parts_agree_with_ref, memory_that_is_saved_changes_no_bit_of_16,
                   products_by_the_processor_learn_the_same_and_memory_changes_no_bit,
                   a_gradient_that_waits_for_a_cast_has_the_same_bits,
                   a_state_that_the_model_updates_keeps_its_cast_for_backward, f16_evaluates,
                   steps_beyond_f16_are_skipped_and_told, an_update_that_is_read_has_no_condition,
                   what_is_fed_may_be_of_16_bits, a_plan_says_where_16_bits_save_nothing]))
