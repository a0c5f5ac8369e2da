"""Loop and Scan: rounds that are known in number stand one behind the other. usage: test_loops.py EVALUATE EBB"""
import pathlib
import struct
import sys
import tempfile

from computed import held
from written import Branch, failures, field, graph, node, port, tensor

PAIR = [1.0, 2.0]
DOUBLE = tensor("w", [2, 2], [2.0, 0.0, 0.0, 2.0], floats=True)
GOES_ON = node("Identity", ["c"], "on")


def body(nodes, inputs, outputs, tensors=()):
    return Branch(b"".join(field(1, n) for n in nodes) + field(2, "b") + b"".join(field(5, t) for t in tensors)
                  + b"".join(field(11, field(1, x)) for x in inputs) + b"".join(field(12, field(1, y)) for y in outputs))


def rounds(nodes, outputs=("on", "t"), states=("h",), tensors=()):
    return body([*nodes, GOES_ON], ["i", "c", *states], outputs, tensors)


def number(name, n):
    return tensor(name, [], [n])


def whole(nodes, tensors, outputs, opset=17):
    """x is a pair."""
    return graph(nodes, tensors, [port("x", [1, 2])], [port(name, dims) for name, dims in outputs], opset)


def loop(the_body, operands=("m", "", "x"), results="y"):
    return node("Loop", list(operands), results, body=the_body)


ADDS = rounds([node("Add", ["h", "x"], "t")])
TIMES = rounds([node("MatMul", ["h", "w"], "t")], tensors=[DOUBLE])
CONSTANT = rounds([node("Constant", [], "w", value=DOUBLE), node("MatMul", ["h", "w"], "t")])
GATHERS = rounds([node("Gather", ["x", "i"], "r", axis=1), node("Add", ["h", "r"], "t"), node("Cast", ["i"], "n", to=1)], ("on", "t", "n", "t"))
ENDS = body([node("Add", ["h", "x"], "t"), node("Less", ["i", "m"], "on")], ["i", "c", "h"], ["on", "t"])
CHOICE = node("If", ["is"], "t", then_branch=body([node("Neg", ["h"], "q")], [], ["q"]), else_branch=body([node("Add", ["h", "x"], "q")], [], ["q"]))
CHOOSES = rounds([node("Equal", ["i", "two"], "is"), CHOICE])
NESTED = rounds([node("Loop", ["two", "", "h"], "t", body=body([node("MatMul", ["g", "w"], "u"), node("Identity", ["k"], "on2")], ["j", "k", "g"], ["on2", "u"], [DOUBLE]))])
PASSES = rounds([node("Loop", ["none", "", "h"], "t", body=body([node("Neg", ["g"], "u"), node("Identity", ["k"], "on2")], ["j", "k", "g"], ["on2", "u"]))])
SUMS = body([node("Add", ["s", "p"], "t"), node("Neg", ["t"], "r")], ["s", "p"], ["t", "r"])
TWO_NAMED_ALIKE = [loop(ADDS, results="z"), loop(ADDS, ("m", "", "z"))]

COMPUTED = [
    ("three rounds", whole([loop(ADDS)], [number("m", 3)], [("y", [1, 2])]), [[4.0, 8.0]]),
    ("two loops whose names are alike", whole(TWO_NAMED_ALIKE, [number("m", 3)], [("y", [1, 2])]), [[7.0, 14.0]]),
    ("no round", whole([loop(ADDS, results="z"), node("Neg", ["z"], "y")], [number("m", 0)], [("y", [1, 2])]), [[-1.0, -2.0]]),
    ("a condition that is false", whole([node("Cast", ["n"], "no", to=9), loop(ADDS, ("m", "no", "x"), "z"), node("Neg", ["z"], "y")], [number("m", 3), number("n", 0)], [("y", [1, 2])]), [[-1.0, -2.0]]),
    ("as long as the body says", whole([loop(ENDS, ("", "", "x"))], [number("m", 2)], [("y", [1, 2])]), [[4.0, 8.0]]),
    ("its own weights", whole([loop(TIMES)], [number("m", 3)], [("y", [1, 2])]), [[8.0, 16.0]]),
    ("results of rounds", whole([loop(GATHERS, ("m", "", "z"), "y n t")], [number("m", 2), tensor("z", [1], [0.0], floats=True)], [("y", [1]), ("n", [2]), ("t", [2, 1])]), [[3.0], [0.0, 1.0], [1.0, 3.0]]),
    ("a branch by the round", whole([loop(CHOOSES)], [number("m", 4), number("two", 2)], [("y", [1, 2])]), [[-2.0, -4.0]]),
    ("a loop in a loop", whole([loop(NESTED)], [number("m", 2), number("two", 2)], [("y", [1, 2])]), [[16.0, 32.0]]),
    ("a loop without rounds in a loop", whole([loop(PASSES, results="z"), node("Neg", ["z"], "y")], [number("m", 2), number("none", 0)], [("y", [1, 2])]), [[-1.0, -2.0]]),
    ("scanned", whole([node("Scan", ["s0", "x"], "s y", body=SUMS, num_scan_inputs=1, scan_input_axes=[1])], [tensor("s0", [1], [0.0], floats=True)], [("s", [1]), ("y", [2, 1])]), [[3.0], [-1.0, -3.0]]),
    ("scanned, gathered along the last axis", whole([node("Scan", ["s0", "x"], "s y", body=SUMS, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[-1])],
                                                    [tensor("s0", [1], [0.0], floats=True)], [("s", [1]), ("y", [1, 2])]), [[3.0], [-1.0, -3.0]]),
]


def text(what, nodes, tensors, words):
    return what, whole(nodes, tensors, [("y", [1, 2])]), words


M = number("m", 3)
TEXTS = [
    text("weights of a body are one param", [loop(TIMES)], [M], "%w = param f32[2,2]\n"),
    text("a constant of a body is one param", [loop(CONSTANT)], [M], "%w = param f32[2,2]\n"),
    text("rounds by data", [node("ReduceSum", ["x"], "n", keepdims=0), loop(ADDS, ("n", "", "x"))], [], "!y (Loop): its number of rounds is computed from data: it must be known"),
    text("begins by data", [node("ReduceSum", ["x"], "s", keepdims=0), node("Cast", ["s"], "n", to=9), loop(ADDS, ("m", "n", "x"))], [M], "!y (Loop): whether it begins is computed from data"),
    text("goes on by data", [loop(body([node("ReduceSum", ["h"], "s", keepdims=0), node("Cast", ["s"], "on", to=9)], ["i", "c", "h"], ["on", "h"]))], [M], "!y (Loop): whether it goes on is computed from data"),
    text("without end", [loop(ADDS, ("", "", "x"))], [], "!y (Loop): more than 1024 rounds"),
    text("too many rounds", [loop(ADDS)], [number("m", 1025)], "!y (Loop): more than 1024 rounds"),
    text("too many nodes", [loop(rounds([node("Loop", ["m", "", "h"], "t", body=body([node("Add", ["g", "x"], "u"), node("Identity", ["k"], "on2")], ["j", "k", "g"], ["on2", "u"]))]))],
         [number("m", 1000)], "!t (Loop): loops of more than 32768 nodes, 20480 ops or 4194304 bytes of text: take fewer steps"),
    text("no body", [node("Loop", ["m", "", "x"], "y")], [M], "!y (Loop): its body is missing"),
    text("a body of other inputs", [loop(body([GOES_ON], ["i", "c"], ["on", "i"]))], [M], "!y (Loop): its body is missing, or has other inputs or outputs than it"),
    text("an input that is there already", [node("Neg", ["x"], "h"), loop(ADDS, results="z"), node("Add", ["z", "h"], "y")], [M], "!z (Loop): h is there already"),
    text("an output that the body does not make", [loop(rounds([], ("on", "nothing")))], [M], "!y (Loop): operand nothing is not defined before it"),
    text("a node that is refused", [loop(rounds([node("Det", ["h"], "t")]))], [M], "!1 node cannot be imported; t (Det): no op of Ebb does this"),
    text("no rounds to gather", [loop(rounds([node("Add", ["h", "x"], "t")], ("on", "t", "t")), results="z y")], [number("m", 0)], "!z (Loop): it has no rounds to gather"),
    text("two numbers of rounds", [loop(ADDS)], [tensor("m", [2], [3, 3])], "!y (Loop): 2 numbers where it has one"),
    text("goes on by the batch, which is then the file's", [node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "n"), loop(body([node("Less", ["i", "n"], "on"), node("Neg", ["h"], "t")], ["i", "c", "h"], ["on", "t"]))],
         [M, number("zero", 0)], "%x = input f32[1,2]\n%t = neg %x\n%t.1 = neg %t\noutput %t.1\n"),
    text("goes on by two numbers", [loop(body([node("Identity", ["both"], "on"), node("Neg", ["h"], "t")], ["i", "c", "h"], ["on", "t"], [tensor("both", [2], [1, 1])]))], [M],
         "!y (Loop): whether it goes on is not one number"),
    text("results of too many axes", [node("Reshape", ["x", "eight"], "e"), loop(rounds([node("Neg", ["h"], "t")], ("on", "t", "t")), ("m", "", "e"), "z r"), node("Reshape", ["r", "six"], "y")],
         [M, tensor("six", [2], [-1, 6]), tensor("eight", [8], [1, 1, 1, 1, 1, 1, 1, 2])], "!z (Loop): rank 9: at most 8 axes"),
    text("a further result that is there outside", [node("Neg", ["x"], "n"), loop(rounds([node("Relu", ["h"], "t n")]), results="z"), node("Add", ["z", "n"], "y")], [M], "!z (Loop): n is there already"),
    text("scanned backwards", [node("Scan", ["x"], "y", body=body([node("Neg", ["p"], "r")], ["p"], ["r"]), num_scan_inputs=1, scan_input_directions=[1])], [], "!y (Scan): scan_input_directions backwards"),
    text("nothing to scan", [node("Scan", ["x"], "y", body=SUMS)], [], "!y (Scan): num_scan_inputs 0 of 1 operands"),
]

FED = {"x": struct.pack("<2f", *PAIR)}
with tempfile.TemporaryDirectory() as folder:
    wrong = failures(sys.argv[2], TEXTS) + [line for row in COMPUTED for line in held(row[0], row[1], FED, row[2], pathlib.Path(folder))]
print("\n".join(wrong) or f"ok: {len(TEXTS) + len(COMPUTED)}")
sys.exit(bool(wrong))
