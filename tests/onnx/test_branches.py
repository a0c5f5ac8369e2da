"""If: the branch that a known condition chooses stands in its place. usage: test_branches.py EBB"""

import sys

from written import branch, failures, graph, model, node, number, port, tensor

WHY = "!y (If): its condition depends on the batch: export it for a number of samples"
HALF, YES, NO = tensor("half", [], [0.5], floats=True), tensor("c", [], [1]), tensor("c", [], [0])
BOOL = node("Cast", ["c"], "b", to=9)
NEG, RELU = branch([node("Neg", ["x"], "t")], ["t"]), branch([node("Relu", ["x"], "e")], ["e"])
SIZE = [node("Shape", ["x"], "s"), node("Gather", ["s", "one"], "g"), node("Equal", ["g", "one"], "b")]


def choice(then, other, condition="b", out="y"):
    return node("If", [condition], out, then_branch=then, else_branch=other)


def one(condition, nodes, x=("N", 3), y=("N", 3), more=()):
    return model([BOOL, *nodes], [condition, *more], list(x), list(y))


def deep(n):
    """Branches in branches."""
    inner = NEG
    for i in range(n):
        inner = branch([node("If", ["b"], f"r{i}", then_branch=inner, else_branch=RELU)], [f"r{i}"])
    return inner


W, FEW = tensor("w", [3, 3], [float(i) for i in range(9)], floats=True), tensor("k", [], [0.25], floats=True)
FEW_MADE = tensor("val_1", [], [0.25], floats=True)
ROWS = [
    ("the first branch", one(YES, [choice(NEG, RELU)]), "%t = neg %x\noutput %t"),
    ("the second branch", one(NO, [choice(NEG, RELU)]), "%e = relu %x\noutput %e"),
    ("what is known by a size: squeezed", model([*SIZE, choice(branch([node("Squeeze", ["x", "one"], "t")], ["t"]), branch([node("Identity", ["x"], "e")], ["e"]))],
                                                [number("one", 1)], ["N", 1], ["N"]), "%t = reshape %x shape=[N]"),
    ("what is known by a size: left", model([*SIZE, choice(branch([node("Squeeze", ["x", "one"], "t")], ["t"]), branch([node("Identity", ["x"], "e")], ["e"])), node("Neg", ["y"], "z")],
                                            [number("one", 1)], ["N", 3], ["N", 3]), "%y = stop_gradient %x\noutput %y"),
    ("weights of a branch", one(YES, [choice(branch([node("MatMul", ["x", "w"], "m"), node("Mul", ["m", "k"], "t")], ["t"], [W, FEW]), RELU)]), "%w = param f32[3,3]"),
    ("a number of a branch", one(YES, [choice(branch([node("Mul", ["x", "val_1"], "t")], ["t"], [FEW_MADE]), RELU)]), "%t = rescale %x times=0.25"),
    ("a parameter of a branch", one(YES, [choice(branch([node("Mul", ["x", "k"], "t")], ["t"], [FEW]), RELU)]), "%k = param f32[]"),
    ("names alike in two", one(YES, [choice(NEG, RELU, out="z"), choice(branch([node("Exp", ["z"], "t")], ["t"]), RELU)]), "%t = neg %x\n%t.1 = exp %t\noutput %t.1"),
    ("weights alike in two", one(YES, [choice(branch([node("MatMul", ["x", "w"], "t")], ["t"], [W]), RELU, out="z"), choice(branch([node("MatMul", ["z", "w"], "t")], ["t"], [W]), RELU)]), "%w.1 = param f32[3,3]"),
    ("a name of a branch behind it", one(YES, [choice(NEG, RELU, out="z"), node("Exp", ["z"], "t"), node("Abs", ["t"], "y")]), "%t = neg %x\n%t.1 = exp %t\n%y = abs %t.1"),
    ("what a branch gives on, behind a name that is alike", one(YES, [choice(branch([], ["w"]), RELU, out="v"), choice(branch([node("Neg", ["x"], "t")], ["t"]), RELU, out="z"), node("Identity", ["v"], "u"), node("MatMul", ["z", "u"], "y")], more=[W]), "%w = param f32[3,3]"),
    ("what a branch reads from outside", one(YES, [node("Exp", ["x"], "h"), choice(branch([node("Mul", ["h", "half"], "m"), node("Add", ["m", "x"], "t")], ["t"]), RELU)], more=[HALF]), "%t = add %m, %x\noutput %t"),
    ("a number that a branch chooses from outside", one(YES, [node("Greater", ["x", "half"], "g"), choice(branch([node("Where", ["g", "x", "k"], "t")], ["t"]), RELU)], more=[HALF, FEW]),
     "%k = constant f32[] fill=0.25"),
    ("what is outside as it is", one(YES, [node("Exp", ["x"], "h"), choice(branch([], ["h"]), RELU), node("Neg", ["y"], "z")]), "%h = exp %x\noutput %h"),
    ("two results", one(YES, [choice(branch([node("Split", ["x"], "p q", axis=1, num_outputs=2)], ["q", "p"]), branch([node("Neg", ["x"], "p2"), node("Exp", ["x"], "q2")], ["p2", "q2"]), out="a b2"),
                              node("Sub", ["a", "b2"], "y")], ("N", 4), ("N", 2)), "%y = sub %p.1, %p"),
    ("a branch in a branch", one(YES, [choice(deep(6), RELU)]), "neg %x"),
    ("a branch that is not taken reads what none can make", one(YES, [choice(NEG, branch([node("Loop", ["x"], "e")], ["e"]))]), "neg %x"),
    ("one that the rest of the file reads", one(YES, [choice(NEG, RELU, out="r"), node("Softmax", ["r"], "y")]), "%loss = softmax_xent"),
    ("a softmax that a branch reads", graph([BOOL, node("Softmax", ["x"], "y"), choice(branch([node("Exp", ["y"], "t")], ["t"]), RELU, out="z")], [YES], [port("x", ["N", 3])], [port("y", ["N", 3]), port("z", ["N", 3])]), "softmax %x"),
    ("a condition by data", model([node("ReduceMax", ["x"], "m", keepdims=0), node("Greater", ["m", "half"], "b"), choice(NEG, RELU)], [HALF], ["N", 3], ["N", 3]),
     "!y (If): its condition is computed from data"),
    *((f"a condition by the batch, {op}", model([node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "g"), node(op, ["g", "limit"], "b"), choice(NEG, RELU)],
                                                [number("zero", 0), number("limit", limit)], ["N", 3], ["N", 3]), words)
      for op, limit, words in (("Equal", 2, WHY), ("Less", 64, WHY), ("Mod", 2, WHY))),
    *((f"a condition by a batch of {n} as the file has it", model([node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "g"), node("Equal", ["g", "two"], "b"), choice(NEG, RELU)],
                                                                  [number("zero", 0), number("two", 2)], [n, 3], [n, 3]), f"%x = input f32[{n},3]\n{words}")
      for n, words in ((2, "%t = neg %x"), (3, "%e = relu %x"))),
    ("a condition of two", model([node("Cast", ["c"], "b", to=9), choice(NEG, RELU)], [tensor("c", [2], [1, 0])], ["N", 3], ["N", 3]), "!y (If): a condition of 2 elements"),
    ("a branch without results", one(YES, [choice(branch([node("Neg", ["x"], "t")], []), RELU)]), "!y (If): its branch is missing"),
    ("a branch with inputs", one(YES, [choice(branch([node("Neg", ["x"], "t")], ["t"], inputs=["i"]), RELU)]), "!y (If): its branch is missing, has inputs"),
    ("no branch", one(YES, [node("If", ["b"], "y")]), "!y (If): its branch is missing"),
    ("a node of a branch that is refused", one(YES, [choice(branch([node("Scan", ["x"], "t")], ["t"]), RELU)]), "!1 node cannot be imported; t (Scan): num_scan_inputs 0 of 1 operands, opset 17"),
    ("a branch that reads what comes later", one(YES, [choice(branch([node("Neg", ["later"], "t")], ["t"]), RELU, out="z"), node("Exp", ["x"], "later"), node("Add", ["z", "later"], "y")]),
     "!z (If): operand later is not defined before it"),
    ("a name that is there twice", one(YES, [node("Exp", ["x"], "t"), choice(NEG, RELU, out="z"), node("Add", ["z", "t"], "y")]), "!t (Neg): its result t is there already"),
    ("a tensor that is there twice", one(YES, [choice(branch([node("MatMul", ["x", "w"], "t")], ["t"], [W]), RELU, out="z"), node("MatMul", ["z", "w"], "y")], more=[W]), "!a name that is defined twice"),
    ("branches eight deep", one(YES, [choice(deep(7), RELU)]), "neg %x"),
    ("branches nine deep", one(YES, [choice(deep(8), RELU)]), "!branches that are nested more than 8 deep"),
    ("a loop", model([node("Loop", ["x"], "y", body=NEG)], [], ["N", 3], ["N", 3]), "!y (Loop): its number of rounds is computed from data"),
]

ROWS.extend((f"no {op}", model([node(op, ["x"], "y")], [], ["N", 3], ["N", 3]), f"!y ({op}): {why}") for op, why in (
    ("SequenceEmpty", "sequences of tensors"), ("SplitToSequence", "sequences of tensors"), ("OptionalGetElement", "optional values"),
    ("DequantizeLinear", "quantized"), ("QLinearConv", "quantized"), ("MatMulInteger", "quantized"), ("StringNormalizer", "texts"), ("Det", "no op of Ebb does this")))

wrong = failures(sys.argv[1], ROWS)
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
