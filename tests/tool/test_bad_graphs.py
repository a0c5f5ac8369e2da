#!/usr/bin/env python3
"""Models and planning graphs that are wrong: the right exit code, one line that helps, nothing left behind.

    test_bad_graphs.py EBB
"""
import sys

from bad_input import BAD_INPUT, OUT, USAGE, main
from harness import Case
from models import CONV, SMALL, chain, changed, text


def text_rows():
    """(name, old text, new text, stderr)"""
    rows = [
        ("an op that does not exist, with its place", "= relu %h2", "= rleu %h2", r"m\.ebb:11:\d+: .*rleu"),
        ("a value that nothing makes", "= relu %h2", "= relu %nope", r"m\.ebb:11:\d+: .*nope"),
        ("an op that reads itself", "%h3 = relu %h2", "%h3 = relu %h3", r"m\.ebb:11:\d+: .*h3"),
        ("an op that reads what comes later", "%h3 = relu %h2", "%h3 = relu %logits", r"m\.ebb:11:\d+: .*logits"),
        ("a value made twice", "%h3 = relu %h2", "%h2 = relu %h2", r"m\.ebb:11:\d+: .*h2"),
        ("shapes that do not agree: the op and both", "f32[5,33]", "f32[5,32]",
         r"m\.ebb:12:.*linear.*7,33\].*5,32\]"),
        ("a bias of another size", "f32[33] init", "f32[34] init", r"m\.ebb:10:.*bias.*7,33\].*34\]"),
        ("an operand too few", "linear %x, %w1", "linear %x", r"m\.ebb:9:\d+: .*linear"),
        ("an operand too many", "= relu %h2", "= relu %h2, %h1", r"m\.ebb:11:\d+: .*relu"),
        ("an unknown attribute", "= relu %h2", "= relu %h2 size=3", r"m\.ebb:11:\d+: .*size"),
        ("an unknown dtype", "input f32[N,3]", "input f33[N,3]", r"m\.ebb:4:\d+: .*f33"),
        ("an unknown dimension", "input f32[N,3]", "input f32[M,3]", r"m\.ebb:4:\d+: .*M"),
        ("a default of zero", "dim N = 7", "dim N = 0", r"m\.ebb:3:\d+"),
        ("a shape of zero", "f32[33,3]", "f32[0,3]", r"m\.ebb:6:\d+"),
        ("a negative shape", "f32[33,3]", "f32[-33,3]", r"m\.ebb:6:\d+"),
        ("a shape whose bytes overflow", "f32[33,3]", "f32[4611686018427387904,3]", r"m\.ebb:6:\d+"),
        ("a number past the largest integer", "dim N = 7", "dim N = 99999999999999999999", r"m\.ebb:3:\d+"),
        ("another version", "ebb 1\n", "ebb 2\n", r"m\.ebb:1:\d+.*2"),
        ("no header", "ebb 1\ngraph small\n", "", r"m\.ebb:1:\d+"),
        ("a loss that is no value", "loss %loss\n", "loss %lost\n", r"m\.ebb:14:\d+: .*lost"),
        ("a loss that is no scalar", "loss %loss\n", "loss %h3\n", r"m\.ebb(:\d+:\d+)?: .*h3"),
        ("a line that is cut off", "%h3 = relu %h2", "%h3 =", r"m\.ebb:11:\d+"),
        ("bytes that are no text", "%h3 = relu %h2", "%h3 = \x01\x7f", r"m\.ebb:11:\d+"),
        ("labels that are floats", "i32[N]", "f32[N]", r"m\.ebb:13:.*softmax_xent"),
        ("an unknown way to start", "init=zero", "init=one-ish", r"m\.ebb:7:\d+"),
    ]
    for name, old, new, stderr in rows:
        assert SMALL.count(old) >= 1, name
        yield Case(name, ["plan", "m.ebb", "-o", OUT], BAD_INPUT, stderr, files={"m.ebb": SMALL.replace(old, new)})
    for name, content, stderr in [
        ("an empty file", "", r"m\.ebb"),
        ("a file of zeros", b"\0" * 4096, r"m\.ebb"),
        ("random bytes", bytes(range(256)) * 16, r"m\.ebb"),
        ("a line of a megabyte", "ebb 1\ngraph m\n%" + "x" * (1 << 20) + " = y\n", r"m\.ebb:3:"),
        ("a kernel larger than the image", CONV.replace("dim H = 7", "dim H = 1").replace(" pad=1", ""),
         r"conv2d"),
    ]:
        yield Case(name, ["plan", "m.ebb", "-o", OUT], BAD_INPUT, stderr, files={"m.ebb": content})
    yield Case("dimensions whose bytes overflow", ["plan", "m.ebb", "--dim", "N=9000000000000000000", "-o", OUT],
               BAD_INPUT, r"N|f32|bytes|large|overflow", files={"m.ebb": SMALL})
    yield Case("dimensions whose sum overflows", ["plan", "m.ebb", "--dim", "N=60000000000000000", "-o", OUT],
               BAD_INPUT, r"bytes|large|overflow|is more than", files={"m.ebb": SMALL})


def graph_rows():
    good = chain()
    ops, values = good["ops"], good["values"]
    duplicate = text(good).replace('"name": "chain"', '"name": "chain", "name": "twice"')
    rows = [
        ("another schema", changed(good, schema="ebb.graph/2"), r"schema.*ebb\.graph/2"),
        ("no schema", {k: v for k, v in good.items() if k != "schema"}, r"schema"),
        ("no ops", {k: v for k, v in good.items() if k != "ops"}, r"ops"),
        ("ops that are no list", changed(good, ops={}), r"ops"),
        ("an op that is no object", changed(good, ops__1=7), r"ops\[1\]"),
        ("a value's id that is not its index", changed(good, values__2__id=7), r"values\[2\].*id = 7"),
        ("an op's id of a thousand million", changed(good, ops__2__id=1000000000), r"ops\[2\].*1000000000"),
        ("an input of a thousand million", changed(good, ops__2__inputs=[1000000000]), r"ops\[2\].*1000000000"),
        ("a negative input", changed(good, ops__2__inputs=[-1]), r"ops\[2\].*-1"),
        ("an input that is no integer", changed(good, ops__2__inputs=[1.5]), r"ops\[2\]"),
        ("an input that nothing made", changed(good, ops__1__inputs=[9]), r"ops\[1\]"),
        ("an op that reads its own output", changed(good, ops__1__inputs=ops[1]["outputs"]), r"ops\[1\]"),
        ("a value made twice", changed(good, ops__1__outputs=ops[0]["outputs"]), r"ops\[1\]"),
        ("an activation that nothing makes", changed(good, values=[*values, {
            "id": len(values), "name": "orphan", "bytes": 1, "role": "activation"}]), r"orphan"),
        ("an input that an op makes", changed(good, values__1__role="input"), r"values\[1\]|ops\[0\]"),
        ("a role that does not exist", changed(good, values__1__role="wieght"), r"values\[1\].*wieght"),
        ("a negative size", changed(good, values__1__bytes=-1), r"values\[1\].*-1"),
        ("a size past the largest integer", text(good).replace("1048576", "99999999999999999999", 1), r"g\.json"),
        ("sizes whose sum overflows", changed(good, values__1__bytes=2**62, values__2__bytes=2**62, values__3__bytes=2**62),
         r"bytes|overflow|large"),
        ("a negative time", changed(good, ops__1__time_ns=-5), r"ops\[1\].*-5"),
        ("times whose sum overflows", changed(good, ops__1__time_ns=2**62, ops__2__time_ns=2**62, ops__3__time_ns=2**62),
         r"time"),
        ("negative scratch", changed(good, ops__1__scratch_bytes=-64), r"ops\[1\].*-64"),
        ("a phase that does not exist", changed(good, ops__1__phase="sideways"), r"ops\[1\].*sideways"),
        ("in place over no operand", changed(good, ops__1__in_place=[[ops[1]["outputs"][0], 5]]), r"ops\[1\].*in_place"),
        ("a view past its base", changed(good, ops__1__views=[[ops[1]["outputs"][0], ops[1]["inputs"][0], 2**40]]),
         r"ops\[1\].*view"),
        ("an update of an activation", changed(good, ops__1__update=[[ops[1]["outputs"][0], ops[1]["inputs"][0]]]),
         r"ops\[1\].*update"),
        ("after an op that does not exist", changed(good, ops__1__after=[10**6]), r"ops\[1\].*after"),
        ("after an op that comes later", changed(good, ops__1__after=[5]), r"ops\[1\].*after"),
        ("negative fixed bytes", changed(good, fixed_bytes=-1), r"fixed_bytes.*-1"),
        ("fixed bytes that are text", changed(good, fixed_bytes="many"), r"fixed_bytes"),
        ("a file that is cut off", text(good)[: len(text(good)) // 2], r"g\.json"),
        ("two documents", text(good) + text(good), r"g\.json"),
        ("a key given twice", duplicate, r"g\.json"),
        ("a nest of a hundred thousand brackets", '{"schema":' + "[" * 100000, r"g\.json"),
        ("a list of all", "[1, 2, 3]", r"g\.json"),
        ("broken UTF-8", text(good).encode().replace(b"chain", b"ch\xff\xfein"), r"g\.json"),
    ]
    for name, document, stderr in rows:
        content = document if isinstance(document, (str, bytes)) else text(document)
        yield Case(name + " (planning graph)", ["plan", "g.json", "-o", OUT], BAD_INPUT, stderr, files={"g.json": content})
    yield Case("a planning graph takes no dimensions", ["plan", "g.json", "--dim", "N=3", "-o", OUT], USAGE, r"\bN\b|dim",
               files={"g.json": text(good)})
    yield Case("a planning graph has no kernels to run", ["run", "g.json"], USAGE, r"planning graph",
               files={"g.json": text(good)})


def verdict_rows():
    smallest = r"(\d{3,}|[KMG]i?B)"
    yield Case("a budget below the minimum names the smallest", ["plan", "m.ebb", "--budget", "4KiB", "--effort", "2000", "-o",
                                                                  OUT], 1, smallest, files={"m.ebb": CONV})
    yield Case("a planning graph below the minimum", ["plan", "g.json", "--budget", "1MB", "--effort", "2000", "-o", OUT], 1,
               smallest, files={"g.json": text(chain())})
    yield Case("nothing fits", ["fit", "m.ebb", "--budget", "1KiB", "--effort", "2000"], 1, r"nothing fits: not even N=1 within 1024 bytes: the smallest found needs \d+: raise --budget",
               files={"m.ebb": CONV})


if __name__ == "__main__":
    sys.exit(main(text_rows, graph_rows, verdict_rows))
