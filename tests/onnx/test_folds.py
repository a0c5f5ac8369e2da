"""What import computes of known numbers, and what it must leave or refuse. usage: test_folds.py EBB"""

import pathlib
import subprocess
import sys
import tempfile

from written import field, graph, model, node, port, tensor

EBB = sys.argv[1]


def beside(nodes, tensors):
    """c, int64, cast and added to x."""
    return model([*nodes, node("Cast", ["c"], "f", to=1), node("Add", ["x", "f"], "y")], tensors, ["N", 4], ["N", 4])


def number(name, n):
    return tensor(name, [1], [n])


ROWS = [
    ("sum of an axis", beside([node("ReduceSum", ["k", "axes"], "c", keepdims=0)],
                              [tensor("k", [2, 4], range(8)), tensor("axes", [1], [0])]), "reduce_sum %k axis=[0] keep=false"),
    ("sum of all", beside([node("ReduceSum", ["k"], "c", keepdims=0)], [tensor("k", [4], [1, 2, 3, 4])]), "plus=10"),
    ("sum of none", beside([node("ReduceSum", ["k"], "c", keepdims=0, noop_with_empty_axes=1)],
                           [tensor("k", [4], [1, 2, 3, 4])]), "cast %k to=f32"),
    ("largest of 2", beside([node("Max", ["a", "b"], "c")], [number("a", 1), number("b", 9)]), "plus=9"),
    ("largest of 3", beside([node("Max", ["a", "b", "d"], "c")], [number("a", 1), number("b", 2), number("d", 9)]),
     "maximum %c, %d"),
    ("largest of 1", beside([node("Max", ["a"], "c")], [number("a", -5)]), "cast %a to=f32"),
    ("mod", beside([node("Mod", ["a", "b"], "c")], [number("a", -7), number("b", 3)]), "plus=2"),
    ("fmod", beside([node("Mod", ["a", "b"], "c", fmod=1)], [number("a", -7), number("b", 3)]), "plus=-1"),
    ("truth", beside([node("Cast", ["a"], "t", to=9), node("Cast", ["t"], "c", to=7)], [number("a", 5)]), "plus=1"),
    ("clip", beside([node("Clip", ["a", "l", "h"], "c")], [number("a", 7), tensor("l", [], [2]), tensor("h", [], [5])]), "plus=5"),
    ("clip above", beside([node("Clip", ["a", "", "h"], "c")], [number("a", 7), tensor("h", [], [6])]), "plus=6"),
    ("clip below", beside([node("Clip", ["a", "l", ""], "c")], [number("a", -7), tensor("l", [], [-2])]), "plus=-2"),
    ("clip between bounds turned round", beside([node("Clip", ["a", "l", "h"], "c")], [number("a", 2), tensor("l", [], [6]), tensor("h", [], [3])]), "plus=3"),
    ("a summand that is missing", beside([node("Add", ["a", ""], "c")], [number("a", 7)]), "!c (Add): operand 1 is missing"),
    ("absolute", beside([node("Abs", ["a"], "c")], [number("a", -7)]), "plus=7"),
    ("slice without starts", beside([node("Slice", ["a", "s", "e"], "p"), node("ReduceSum", ["p"], "c", keepdims=0)],
                                    [tensor("a", [3], [5, 6, 7]), tensor("s", [0], []), number("e", 2)]), "!starts and ends"),
    ("an end beyond 2^53", beside([node("Range", ["a", "b", "d"], "r"), node("Size", ["r"], "c")],
                                  [tensor("a", [], [2**53 - 1]), tensor("b", [], [2**53 + 1]), tensor("d", [], [1])]), "!below 2^53"),
    ("a range beyond 2^53", beside([node("Range", ["a", "b", "d"], "r"), node("Size", ["r"], "c")],
                                   [tensor("a", [], [-(2**53 - 1)]), tensor("b", [], [2**53 - 1]), tensor("d", [], [2**52])]), "!below 2^53"),
    ("equal beyond 2^53", beside([node("Equal", ["a", "b"], "t"), node("Cast", ["t"], "c", to=7)],
                                 [number("a", 2**53 + 1), number("b", 2**53)]), "!below 2^53"),
    ("order beyond 2^53", beside([node("Less", ["a", "b"], "t"), node("Cast", ["t"], "c", to=7)],
                                 [number("a", 2**53), number("b", 2**60)]), "plus=1"),
    ("no end", beside([node("Equal", ["a", "b"], "t"), node("Cast", ["t"], "c", to=7)],
                      [number("a", 2**63 - 1), number("b", 2**63 - 1)]), "plus=1"),
    ("the smaller of no end", beside([node("Min", ["a", "b"], "c")], [number("a", 2**63 - 1), number("b", 9)]), "plus=9"),
    ("a power below 1", beside([node("Pow", ["a", "b"], "c")], [number("a", 2), number("b", -1)]), "!2 to the power of -1 in whole numbers"),
    ("gather of axis 4", model([node("Relu", ["x"], "h"), node("Gather", ["h", "i"], "y", axis=4)],
                               [tensor("i", [2], [0, 1])], ["N", 2, 2, 2, 5], ["N", 2, 2, 2, 2]), "take %h, %i axis=4"),
    ("gather outside", model([node("Neg", ["i"], "n"), node("Gather", ["x", "n"], "y", axis=1)],
                              [tensor("i", [], [9])], ["N", 4], ["N"]),
     "!place -9 of an axis of 4"),
]
ROWS.append(("a shape beyond all sizes", model([node("Reshape", ["x", "k"], "y")], [tensor("k", [2], [1 << 62, 4])], [1, 4], [1, 4]),
             "!elements as a shape"))
ROWS.append(("a split beyond all sizes", model([node("Split", ["x", "k"], "y")], [tensor("k", [1], [(1 << 63) - 1])], ["N", 4], ["N", 4]), "!y"))
BATCH = [node("Shape", ["x"], "n", start=0, end=1), node("Squeeze", ["n"], "m"), node("Range", ["a", "m", "d"], "r"), node("Unsqueeze", ["r", "axis"], "c")]
ROWS += [(f"a range of the batch from {a} by {d}", beside(BATCH, [tensor("a", [], [a]), tensor("d", [], [d]), number("axis", 1)]), wanted)
         for a, d, wanted in ((0, 1, "%r = iota shape=[N] axis=0\n%c = reshape %r shape=[N,1]"), (1 << 40, 1, "!r (Range): "))]
ROWS.append(("a range of more than the batch", model([node("Shape", ["x"], "n", start=0, end=1), node("Squeeze", ["n"], "m"), node("Mul", ["m", "d"], "l"), node("Range", ["a", "l", "d"], "r"),
    node("Cast", ["r"], "f", to=1), node("Mul", ["x", "f"], "y")], [tensor("a", [], [0]), tensor("d", [], [-3])], ["N"], ["N"]), "%r = iota shape=[N] axis=0\n%r.1 = constant i32[] fill=-3"))
ROWS.append(("a range of floats of the batch", model([node("Shape", ["x"], "n", start=0, end=1), node("Squeeze", ["n"], "m"), node("Cast", ["m"], "l", to=1),
    node("Range", ["a", "l", "d"], "r"), node("Mul", ["x", "r"], "y")], [tensor("a", [], [0.0], floats=True), tensor("d", [], [1.0], floats=True)], ["N"], ["N"]),
    "%r.1 = cast %r to=f32"))
SIZE = [node("Shape", ["x"], "n", start=0, end=1)]
ROWS.append(("a tile by the batch", model([*SIZE, node("Concat", ["one", "n"], "r", axis=0), node("Tile", ["k", "r"], "y")],
    [number("one", 1), tensor("k", [2, 3], [1.0] * 6, floats=True)], ["N"], [2, "N"]), "reshape %k shape=[2,1,3]\n%y.1 = broadcast_to %y shape=[2,N,3]"))
ROWS.append(("integers of the batch's shape", model([*SIZE, node("ConstantOfShape", ["n"], "c", value=tensor("", [1], [3])), node("Gather", ["k", "c"], "t", axis=0), node("Mul", ["x", "t"], "y")],
    [tensor("k", [5], [1.0] * 5, floats=True)], ["N"], ["N"]), "%c = constant i32[] fill=3\n%c.1 = broadcast_to %c shape=[N]"))
PLACES = [node("Unsqueeze", ["rows", "last"], "a"), node("Expand", ["a", "wide"], "b"), node("Expand", ["columns", "wide"], "c"), node("Unsqueeze", ["b", "last"], "d"),
          node("Unsqueeze", ["c", "last"], "e"), node("Concat", ["d", "e"], "i", axis=-1), node("ScatterND", ["k", "i", "u"], "s"), node("Mul", ["x", "s"], "y")]
ROWS.append(("a part assigned", model(PLACES, [tensor("rows", [2], [0, 1]), tensor("columns", [2], [1, 2]), tensor("wide", [2], [2, 2]), number("last", -1),
    tensor("k", [3, 3], [1.0] * 9, floats=True), tensor("u", [2, 2], [2.0] * 4, floats=True)], ["N", 3, 3], ["N", 3, 3]), "take %s.2, %s.3 axis=0"))
ROWS.append(("lower triangle", model([node("Trilu", ["x", "k"], "y", upper=0)], [tensor("k", [], [1])], ["N", 3, 5], ["N", 3, 5]),
             "shape=[3,5] axis=1\n%y.2 = constant i32[] fill=1\n%y.3 = add %y, %y.2\n%y.4 = less_equal %y.1, %y.3"))
ROWS.append(("what no output needs", model(
    [node("NonZero", ["x"], "n"), node("MatMul", ["x", "w"], "z"), node("Det", ["z"], "d"), node("Relu", ["x"], "y")],
    [tensor("w", [4, 4], [1.0] * 16, floats=True)], ["N", 4], ["N", 4]), "%x = input f32[N,4]\n%y = relu %x\noutput %y"))
ROWS.append(("forty of one kind, one of another", model(
    [*(node("NonZero", ["x"], f"n{i}") for i in range(40)), node("Det", ["x"], "d"), node("Concat", [*(f"n{i}" for i in range(40)), "d"], "y")], [], ["N", 4], ["N", 4]),
    "!41 nodes cannot be imported; n0, n1, n2 and 37 more (NonZero): no op of Ebb does this; d (Det): no op of Ebb does this"))
# Numbers that are no batch.
ROWS += [
    ("more than the batch", model([node("Expand", ["x", "s"], "e"), node("Relu", ["e"], "y")], [tensor("s", [3], [2, 1, 6])], [1, 3, 1], [2, 3, 6]), "%x = input f32[1,3,1]\n%e = broadcast_to %x shape=[2,3,6]"),
    ("the batch, frozen", model([node("Expand", ["x", "s"], "e"), node("Relu", ["e"], "y")], [tensor("s", [3], [2, 1, 6])], [2, 3, 1], [2, 3, 6]), "%e = broadcast_to %x shape=[N,3,6]"),
    ("a kernel as an input", graph([node("Conv", ["x", "k"], "y")], [], [port("x", [1, 3, 8, 8]), port("k", [4, 3, 3, 3])], [port("y", [1, 4, 6, 6])]), "%x = input f32[N,3,8,8]\n%k = input f32[4,3,3,3]"),
    ("a row beside a named batch", graph([node("Add", ["x", "s"], "y")], [], [port("x", ["n", 5]), port("s", [1, 5])], [port("y", ["n", 5])]), "%x = input f32[N,5]\n%s = input f32[1,5]"),
]
# What training minimises.
for what, nodes, x, y, words in (
        ("one place", [node("Relu", ["x"], "y")], ["N", 1], ["N", 1], "%labels = input f32[N,1]\n%loss = sub %y, %labels\n%loss.1 = mul %loss, %loss\n%loss.2 = reduce_mean"),
        ("Sigmoid of one place", [node("Relu", ["x"], "r"), node("Sigmoid", ["r"], "y")], ["N", 1], ["N", 1], " %r axis=1\n%labels = input i32[N]\n%loss = softmax_xent"),
        ("Sigmoid of pixels", [node("Relu", ["x"], "r"), node("Sigmoid", ["r"], "y")], ["N", 1, 4, 4], ["N", 1, 4, 4], "%labels = input i32[N,4,4]\n%loss = softmax_xent"),
        ("Sigmoid of several", [node("Relu", ["x"], "r"), node("Sigmoid", ["r"], "y")], ["N", 3], ["N", 3], "%labels = input f32[N,3]\n%loss = neg"),
        ("Softmax behind pixels", [node("Transpose", ["x"], "t", perm=[0, 2, 3, 1]), node("Softmax", ["t"], "y", axis=-1)], ["N", 5, 4, 4], ["N", 4, 4, 5], "%labels = input i32[N,4,4]"),
        ("Softmax along axis 1 of three", [node("Relu", ["x"], "r"), node("Softmax", ["r"], "y", axis=1)], ["N", 5, 7], ["N", 5, 7],
         "permute %r order=[0,2,1]\n%v.1 = reshape %v shape=[N*7,5]\n%labels = input i32[N*7]\n%loss = softmax_xent %v.1"),
        ("Softmax under a name of its own", [node("Relu", ["x"], "r"), node("Softmax", ["r"], "s"), node("Identity", ["s"], "y")], ["N", 5], ["N", 5], "output %r\n%labels = input i32[N]\n%loss = softmax_xent %r,"),
        ("Softmax along images", [node("Relu", ["x"], "r"), node("Softmax", ["r"], "y", axis=0)], ["N", 5], ["N", 5], "%labels = input i32[N]\n%loss = softmax_xent %r,")):
    ROWS.append((f"loss: {what}", model(nodes, [], x, y), words))
ROWS += [
    ("no loss: Sigmoid of rank 1", model([node("Squeeze", ["x", "a"], "r"), node("Sigmoid", ["r"], "y")], [tensor("a", [1], [1])], ["N", 1], ["N"]), "= sigmoid %r"),
    ("no loss: Softmax of rank 5", model([node("Relu", ["x"], "r"), node("Softmax", ["r"], "y")], [], ["N", 2, 2, 2, 3], ["N", 2, 2, 2, 3]), "= softmax "),
    ("dead, beside an operand left out", model([node("NonZero", ["x"], ""), node("Clip", ["x", "", "m"], "y")], [tensor("m", [], [1.0], floats=True)], ["N", 4], ["N", 4]), "minimum %x"),
    ("Clip, above", model([node("Clip", ["x", "a", "b"], "y")], [tensor("a", [], [2.0], floats=True), tensor("b", [], [0.0], floats=True)], ["N", 4], ["N", 4]), "minimum"),
    ("Clip at large numbers", model([node("Clip", ["x", "a", "b"], "y")], [tensor("a", [], [-3e38], floats=True), tensor("b", [], [3e38], floats=True)], ["N", 4], ["N", 4]), "maximum"),
]
ROWS.append(("loss: Softmax that is read", graph([node("Relu", ["x"], "r"), node("Softmax", ["r"], "y"), node("Relu", ["y"], "z")], [],
                                                 [port("x", ["N", 5])], [port("y", ["N", 5]), port("z", ["N", 5])]), "%loss = softmax_xent %r, %labels"))
listed = field(1, 1 << 20 | 1) + field(2, 7) + field(8, "k") + field(7, b"\1" * (1 << 20 | 1))
ROWS.append(("eight bytes for each byte of a file", beside([node("ReduceSum", ["k"], "c", keepdims=0)], [listed]), "!1048576 numbers one by one"))
for mode, wanted in (("round_prefer_floor", "upsample %x factor=[2,2]"), ("floor", "take %x, %y axis=2"), ("ceil", "take %x, %y axis=2")):
    ROWS.append((f"resize, {mode}", model(
        [node("Resize", ["x", "", "s"], "y", mode="nearest", nearest_mode=mode, coordinate_transformation_mode="half_pixel")],
        [tensor("s", [4], [1, 1, 2, 2], floats=True)], ["N", 2, 3, 3], ["N", 2, 6, 6]), wanted))

moved = [tensor("p", [4], [1, 2, 0, 0]), tensor("two", [2], [-1, 2]), number("minus", -1), number("least", -99), number("first", 0), tensor("line", [1], [-1])]
ROWS.append(("pads as PyTorch's first exporter has them", model(
    [node("Reshape", ["p", "two"], "a"), node("Slice", ["a", "minus", "least", "first", "minus"], "b"), node("Transpose", ["b"], "c", perm=[1, 0]),
     node("Reshape", ["c", "line"], "d"), node("Cast", ["d"], "e", to=7), node("Pad", ["x", "e"], "y", mode="constant")], moved, ["N", 4], ["N", 7]),
    "%y = constant f32[N,1] fill=0\n%y.1 = constant f32[N,2] fill=0\n%y.2 = concat %y, %x, %y.1 axis=1"))
for what, op, known, wanted in (("the batch of a frozen size stays N", "Resize", [2, 4, 5, 7], "axis=2"), ("another first size", "Resize", [3, 4, 5, 7], "take %x, %y.1 axis=0")):
    ROWS.append((what, graph([node(op, ["x", "", "", "s"], "y", mode="linear")], [tensor("s", [4], known)], [port("x", [2, 4, 3, 3])], [port("y", [2, 4, 5, 7])]), wanted))
ROWS.append(("backwards along the batch", model([node("Slice", ["x", "minus", "least", "first", "minus"], "y")], moved, ["N", 4], ["N", 4]), "!the batch is read backwards"))
ROWS.append(("more than there are", model([node("TopK", ["x", "k"], "y")], [number("k", 5)], ["N", 4], ["N", 5]), "!5 of 4 places"))
ROWS.append(("a part of an image", model([node("Resize", ["x", "r", "s"], "y", mode="linear", coordinate_transformation_mode="tf_crop_and_resize")],
                                        [tensor("r", [0], [], floats=True), tensor("s", [4], [1, 1, 2, 2], floats=True)], ["N", 2, 3, 3], ["N", 2, 6, 6]), "!tf_crop_and_resize"))
ROWS.append(("a param that has the rate's name", model([node("Mul", ["x", "lr"], "y")], [tensor("lr", [4], [1.0] * 4, floats=True)], ["N", 4], ["N", 4]), "%lr.1 = param f32[4]\n"))
ROWS.append(("a result that has the rate's name", model([node("Neg", ["x"], "lr"), node("Relu", ["lr"], "y")], [], ["N", 4], ["N", 4]), "%lr.1 = neg %x\n"))
ROWS.append(("an input that is the rate", graph([node("Mul", ["x", "lr"], "y")], [], [port("x", ["N", 4]), port("lr", [])], [port("y", ["N", 4])]), "%lr = input f32[]\n"))
for kind in (10, 16):
    ROWS.append((f"16 bits of type {kind}", graph([node("Cast", ["x"], "h", to=kind), node("Neg", ["h"], "i"), node("Cast", ["i"], "y", to=11)], [], [port("x", ["N", 4], kind)], [port("y", ["N", 4], kind)]),
                 "%x = input f32[N,4]\n%i = neg %x\n%y = cast %i to=f64\n"))
ROWS.append(("powers of whole numbers", graph([node("Pow", ["x", "k"], "y")], [number("k", 5)], [port("x", ["N", 4], 7)], [port("y", ["N", 4], 7)]), "!y (Pow): powers of i32: cast its base to float32"))
ROWS.append(("a transposed window that is too small", model([node("ConvTranspose", ["x", "w"], "y", strides=[2], output_shape=[12])], [tensor("w", [1, 1, 2], [1.0, 2.0], floats=True)], ["N", 1, 5], ["N", 1, 12]),
             "!y (ConvTranspose): output_shape 12: 5 places by a stride of 2 reach 10"))
for equation, n, words in (("ii->i", 1, "equation ii->i: a label twice in one term"), ("ij,jk,kl->il", 3, "3 operands: one or two are read"), ("ij->ij", 2, "equation ij->ij: not of 2 operands"), ("ij,ij->ij", 1, "not of 1 operands"),
                           ("ij,jk->il", 2, "no operand has label 1 of its result"), ("ijk,jk->i", 2, "3 labels of an operand of rank 2"), ("ij,jk->ik->k", 2, "more than one result"),
                           ("ij,j1->i", 2, "letters, ... and -> are read"), ("ij,ki->jk", 2, "one label of 48 and of 4 places"), ("......", 1, "letters, ... and -> are read"), ("", 1, "0 labels of an operand of rank 2")):
    ROWS.append((f"Einsum {equation}", model([node("Einsum", ["x", "w", "w"][:n], "y", equation=equation)], [tensor("w", [4, 4], [1.0] * 16, floats=True)], ["N", 4], ["N", 4]), f"!{words}"))
ROWS.append(("attention's scores turn nothing", graph([node("Einsum", ["q", "k"], "y", equation="bhid,bhjd->bhij")], [], [port("q", ["N", 2, 5, 4]), port("k", ["N", 2, 3, 4])], [port("y", ["N", 2, 5, 3])]), " transpose_b=true\n"))
for what, dims, at, axis, words in (("more rows", ["N", 4, 3], ["N", 5, 1], 2, "axis 1: 5 indices of 4 places"), ("other ranks", [4, 4], [4], 1, "indices of rank 1 of an operand of rank 2"), ("the batch", ["N", 4], ["N", 4], 0, "places along the batch")):
    ROWS.append((f"GatherElements, {what}", graph([node("GatherElements", ["x", "i"], "y", axis=axis)], [], [port("x", dims), port("i", at, 7)], [port("y", at)]), f"!{words}"))

# An axis named twice would read beyond the numbers; the rule refuses it.
ROWS.append(("known numbers, an axis twice", beside([node("Reshape", ["k", "s"], "a"), node("Transpose", ["a"], "b", perm=[0, 0]), node("Slice", ["b", "z", "z4", "z"], "d"),
                                                     node("Reshape", ["d", "line"], "c")],
                                                    [tensor("k", [4], [1, 2, 3, 4]), tensor("s", [2], [4, 1]), number("z", 0), number("z4", 1), tensor("line", [1], [-1])]), "!order must name each of the 2 axes"))
for sizes, mode in (([100, 1], "linear"), ([1, 100], "linear"), ([1, 100], "nearest")):
    ROWS.append((f"sizes {sizes} that keep the ratio, {mode}", graph(
        [node("Resize", ["x", "", "", "s"], "y", mode=mode, axes=[2, 3], keep_aspect_ratio_policy="not_larger")], [tensor("s", [2], sizes)],
        [port("x", ["N", 2, 10, 100] if sizes[0] > 1 else ["N", 2, 100, 10])], [port("y", ["N", 2, 1, 1])], 18), "!by 0.01"))
batch = [node("Shape", ["x"], "shape"), node("Gather", ["shape", "first"], "n")]
for what, nodes, words in (
        ("pads", [node("Concat", ["first", "first", "first", "n"], "q", axis=0), node("Pad", ["x", "q"], "y")], "!operand 1 depends on the batch"),
        ("a slice backwards", [node("Slice", ["x", "n", "least", "one", "minus"], "y")], "!places that depend on the batch"),
        ("sizes", [node("Resize", ["x", "", "", "n"], "y", mode="nearest", axes=[1])], "!its size depends on the batch")):
    ROWS.append((f"{what} of the batch", model([*batch, *nodes], [*moved, number("one", 1)], ["N", 100], ["N", 100]), words))
# Axes are turned of operands that have them.
for op, ops in (("RotaryEmbedding", ["x", "c", "c"]), ("Gemm", ["x", "c"])):
    ROWS.append((f"{op} of rank 5", model([node(op, ops, "q", transA=1), node("Det", ["x"], "z"), node("Add", ["q", "z"], "y")], [tensor("c", [1, 3, 2], [1.0] * 6, floats=True)], ["N", 2, 3, 4, 5], ["N", 2, 3, 4, 5]),
                 f"!2 nodes cannot be imported; q ({op}): an operand of rank 5, not"))
for op, words, attributes in (("MeanVarianceNormalization", "!no axes", {"axes": []}), ("LpNormalization", "!p=3", {"p": 3})):
    ROWS.append((op, model([node(op, ["x"], "y", **attributes)], [], ["N", 4], ["N", 4]), words))
ROWS.append(("a bound of two numbers", model([node("Clip", ["x", "k"], "h"), node("Relu", ["h"], "y")], [tensor("k", [2], [0.0, 1.0], floats=True)], ["N", 2], ["N", 2]), "!a bound of 2 numbers"))
ROWS.append(("a bound of none", model([node("Shape", ["k"], "none"), node("Clip", ["x", "none"], "h"), node("Relu", ["h"], "y")], [tensor("k", [], [1.0], floats=True)], ["N", 2], ["N", 2]), "!a bound of 0 numbers"))
ROWS.append(("like what is not cast to", graph([node("CastLike", ["x", "u"], "h"), node("Relu", ["h"], "y")], [], [port("x", ["N", 4]), port("u", [1], 2)], [port("y", ["N", 4])]), "!to uint8"))

# Nine axes: of a file's tensor, input or output, and of what a node would make.
NINE = [1] * 9
ROWS += [
    ("a tensor of rank 9", model([node("Add", ["x", "w"], "y")], [tensor("w", NINE, [1.0], floats=True)], ["N", 4], ["N", 4]), "!m.onnx: tensor w: rank 9: Ebb takes at most 8 axes"),
    ("its dims in one piece", model([node("Add", ["x", "w"], "y")], [field(1, bytes(NINE)) + tensor("w", [], [1.0], floats=True)], ["N", 4], ["N", 4]), "!m.onnx: tensor w: rank 9: Ebb takes at most 8 axes"),
    ("an input of rank 9", model([node("Relu", ["x"], "y")], [], ["N", *NINE], ["N", 4]), "!m.onnx: input x: rank 10: Ebb takes at most 8 axes"),
    ("an output of rank 9", model([node("Relu", ["x"], "y")], [], ["N", 4], NINE), "!m.onnx: output y: rank 9: Ebb takes at most 8 axes"),
    ("rank 8", model([node("Add", ["x", "w"], "y")], [tensor("w", NINE[1:], [1.0], floats=True)], ["N", *NINE[2:]], ["N", *NINE[2:]]), "%x = input f32[N,1,1,1,1,1,1,1]\n%w = param f32[1,1,1,1,1,1,1,1]"),
]
ROWS.append(("a constant of rank 9", model([node("Constant", [], "k") + field(5, field(1, "value") + field(5, tensor("", NINE, [1])) + field(20, 4)), node("Relu", ["x"], "y")], [], ["N", 4], ["N", 4]),
             "!m.onnx: tensor (no name): rank 9: Ebb takes at most 8 axes"))
for op, given, rank in (("Reshape", NINE, 9), ("Expand", NINE, 9), ("Unsqueeze", range(9), 11)):
    ROWS.append((f"{op} to rank {rank}", model([node(op, ["x", "s"], "y")], [tensor("s", [9], given)], ["N", 1], ["N", 1]), f"!y ({op}): rank {rank}: at most 8 axes"))
ROWS.append(("ConstantOfShape of rank 9", model([node("ConstantOfShape", ["s"], "c"), node("Add", ["x", "c"], "y")], [tensor("s", [9], NINE)], ["N", 4], ["N", 4]), "!c (ConstantOfShape): rank 9: at most 8 axes"))
ROWS.append(("OneHot of rank 8", model([node("OneHot", ["x", "d", "v"], "y")], [number("d", 3), tensor("v", [2], [0.0, 1.0], floats=True)], ["N", *NINE[2:]], ["N", 3]), "!y (OneHot): rank 9: at most 8 axes"))


def constant(name, dims, values):
    return node("Constant", [], name, value=tensor("", dims, values))


ROWS.append(("a leaky part that is 0 of infinity, no NaN", model([node("LeakyRelu", ["x"], "y")], [], ["N", 4], ["N", 4]), "minimum %x, "))

# A place's own axes stand where the axis was.
ROWS += [
    ("gather at [[3]]", model([constant("i", [1, 1], [3]), node("Gather", ["x", "i"], "y", axis=1)], [], ["N", 7, 4], ["N", 1, 1, 4]), "size=[1,1,4]"),
    ("gather beyond rank 8", model([constant("i", NINE[1:], [0]), node("Gather", ["x", "i"], "y", axis=1)], [], ["N", 7], ["N"]), "!y (Gather): rank 9: at most 8 axes"),
    ("one axis of two squeezed", model([constant("k", [1, 1], [3]), node("Squeeze", ["k", "a"], "i"), node("Gather", ["x", "i"], "y", axis=1)],
                                       [tensor("a", [1], [0])], ["N", 7, 4], ["N", 1, 4]), "output %y\n%v = reshape %y"),
    ("all axes squeezed", model([constant("k", [1, 1], [3]), node("Squeeze", ["k"], "i"), node("Gather", ["x", "i"], "y", axis=1)],
                                [], ["N", 7, 4], ["N", 4]), "%y.1 = reshape %y shape=[N,4]\noutput %y.1"),
    ("two axes more", model([constant("k", [], [3]), node("Unsqueeze", ["k", "a"], "i"), node("Gather", ["x", "i"], "y", axis=1)],
                            [tensor("a", [2], [0, 1])], ["N", 7, 4], ["N", 1, 1, 4]), "size=[1,1,4]"),
    ("nine axes of a number", model([constant("k", [], [3]), node("Unsqueeze", ["k", "a"], "i"), node("Gather", ["x", "i"], "y", axis=1)],
                                    [tensor("a", [9], range(9))], ["N", 7, 4], ["N", 4]), "!i (Unsqueeze): rank 9: at most 8 axes"),
    ("a sum beyond doubles", beside([constant("a", [1], [(1 << 53) + 1]), constant("b", [1], [1 << 53]), node("Sub", ["a", "b"], "c")], []),
     "!c (Sub): 0 as a whole number: they are computed below 2^53"),
    ("a sum of a list beyond doubles", beside([constant("a", [2], [1 << 53, 1]), node("ReduceSum", ["a"], "c")], []),
     "!c (ReduceSum): 9.0072e+15 as a whole number: they are computed below 2^53"),
    ("a product beyond doubles", beside([constant("a", [3], [1 << 30, 1 << 30, 0]), node("ReduceProd", ["a"], "c")], []),
     "!c (ReduceProd): 1.15292e+18 as a whole number: they are computed below 2^53"),
    ("a range beyond doubles", beside([constant("a", [], [(1 << 53) - 1]), constant("b", [], [(1 << 53) + 3]), constant("s", [], [1]), node("Range", ["a", "b", "s"], "c")], []),
     "!c (Range): 9.0072e+15 as a whole number: they are computed below 2^53"),
]
# What exporters write as one tensor or as none, and what they write as a tensor that is none of a model's.
HALF, FOURS = tensor("half", [], [0.5], floats=True), tensor("fours", [4, 4], [float(i) for i in range(16)], floats=True)
NORMS = [node("BatchNormalization", ["x", "one", "zero", "zero", "one"], "a"), node("BatchNormalization", ["a", "one", "zero", "zero", "one"], "y")]
PLAIN = [tensor("one", [4], [1.0] * 4, floats=True), tensor("zero", [4], [0.0] * 4, floats=True)]
ROWS += [
    ("a number beside x", model([node("Mul", ["x", "val_1"], "y")], [tensor("val_1", [], [0.5], floats=True)], ["N", 4], ["N", 4]), "%y = rescale %x times=0.5"),
    ("a parameter of one number", model([node("Mul", ["x", "gate.half"], "y")], [tensor("gate.half", [], [0.5], floats=True)], ["N", 4], ["N", 4]), "%gate.half = param f32[]"),
    ("statistics of their own", model(NORMS, PLAIN, ["N", 4], ["N", 4]), "%a = batch_norm %x, %one, %zero, %zero.1, %one.1"),
    ("statistics of the second", model(NORMS, PLAIN, ["N", 4], ["N", 4]), "%y = batch_norm %a, %one, %zero, %zero.2, %one.2"),
    ("statistics by name", model([node("Identity", ["one"], "var"), node("Identity", ["zero"], "mean"), node("BatchNormalization", ["x", "one", "zero", "mean", "var"], "y")],
                                 PLAIN, ["N", 4], ["N", 4]), "%mean = state f32[4]\n%var = state f32[4]\n%y = batch_norm %x, %one, %zero, %mean, %var"),
    ("constant statistics", model([node("Constant", [], "v", value=PLAIN[0]), node("BatchNormalization", ["x", "one", "zero", "zero", "v"], "y")], PLAIN, ["N", 4], ["N", 4]), "%v = state f32[4]"),
    ("computed statistics", model([node("Abs", ["zero"], "v"), node("BatchNormalization", ["x", "one", "zero", "zero", "v"], "y")], PLAIN, ["N", 4], ["N", 4]),
     "%y.1 = sqrt %y\n%y.2 = div %one, %y.1"),
    ("equal tensors joined", model([node("Identity", ["zero"], "b"), node("Add", ["x", "zero"], "h"), node("Add", ["h", "b"], "y")], PLAIN, ["N", 4], ["N", 4]), "%b = param f32[4]\n%y = add %h, %b"),
    ("one tensor of two names", model([node("Identity", ["fours"], "w"), node("MatMul", ["x", "fours"], "h"), node("MatMul", ["h", "w"], "y")], [FOURS], ["N", 4], ["N", 4]), "%y.1 = reshape %fours"),
    ("a constant that is a weight", model([node("Constant", [], "w", value=FOURS), node("MatMul", ["x", "w"], "y")], [], ["N", 4], ["N", 4]), "%w = param f32[4,4]"),
    ("a constant that is none", model([node("Constant", [], "w", value=FOURS), node("Add", ["x", "w"], "y")], [], ["N", 4, 4], ["N", 4, 4]), "%w = state f32[4,4]"),
    ("many constants", model([node("Constant", [], "w", value=tensor("", [1, 5000], [float(i) for i in range(5000)], floats=True)), node("Add", ["x", "w"], "y")], [], ["N", 5000], ["N", 5000]), "%w = state f32[1,5000]"),
    ("alike for each sample", model([node("Add", ["x", "k"], "y")], [tensor("k", [2, 2], [1.0, 2.0] * 2, floats=True)], [2, 2], [2, 2]), "%y = slice %k axis=0 begin=0 size=1\n%y.1 = add %x, %y"),
    ("a mask", model([node("Add", ["x", "k"], "y")], [tensor("k", [2, 2], [0.0, float("-inf"), 0.0, 0.0], floats=True)], ["N", 2, 2], ["N", 2, 2]), "%k = state f32[2,2]"),
    ("not alike", model([node("Add", ["x", "k"], "y")], [tensor("k", [2, 2], [1.0, 2.0, 1.0, 3.0], floats=True)], [2, 2], [2, 2]), "input f32[2,2]"),
    ("a choice alike for each sample", model([node("Cast", ["k"], "c", to=9), node("Where", ["c", "x", "half"], "y")], [tensor("k", [2, 2], [1, 0] * 2), HALF], [2, 2], [2, 2]), "input f32[N,2]"),
    ("joined with each sample", model([node("Concat", ["k", "x"], "y", axis=1)], [tensor("k", [1, 2], [1.0, 2.0], floats=True)], [1, 3], [1, 5]), "%y = broadcast_to %k shape=[N,2]\n%y.1 = concat %y, %x axis=1"),
    ("below each sample", model([node("Concat", ["x", "k"], "c", axis=-2), node("ReduceSum", ["c", "first"], "y", keepdims=0)], [tensor("k", [2, 3], [1.0] * 6, floats=True), tensor("first", [1], [0])], [2, 3], [3]),
     "%k = param f32[2,3]\n%c = concat %x, %k axis=0\n"),
    ("computed and joined", model([node("Neg", ["k"], "n"), node("Concat", ["n", "x"], "y", axis=1)], [tensor("k", [1, 2], [1.0, 2.0], floats=True)], [1, 3], [1, 5]), "%y = broadcast_to %n shape=[N,2]"),
    ("samples' numbers", model([node("ArgMax", ["x"], "a", axis=1, keepdims=1), node("Concat", ["k", "a"], "i", axis=1), node("GatherND", ["x", "i"], "y")], [tensor("k", [1, 1], [0])], [1, 3], [1]), "%i.1 = reshape %i shape=[N,1]\n%i.2 = concat %i.1, %a.1 axis=1"),
    ("all places of two samples", model([node("Reshape", ["x", "s"], "f"), node("Gather", ["f", "i"], "y")], [tensor("s", [1], [-1]), tensor("i", [2, 3], range(6))], [2, 3], [2, 3]), "%y = reshape %f shape=[N,3]\noutput %y"),
    ("some places of two samples", model([node("Reshape", ["x", "s"], "f"), node("Gather", ["f", "i"], "y")], [tensor("s", [1], [-1]), tensor("i", [2, 2], [2, 0, 5, -3])], [2, 3], [2, 2]),
     "%y.1 = state i32[2]\n%y.2 = take %y, %y.1 axis=1\noutput %y.2"),
    ("other places of the second sample", model([node("Reshape", ["x", "s"], "f"), node("Gather", ["f", "i"], "y")], [tensor("s", [1], [-1]), tensor("i", [2, 2], [2, 0, 5, 4])], [2, 3], [2, 2]), "input f32[2,3]"),
    ("a batch that is lost", model([node("ReduceSum", ["x", "s"], "r"), node("Add", ["r", "fours"], "y")], [number("s", 0), FOURS], [4, 4], [4, 4]), "input f32[4,4]"),
    ("a token of each sample", graph([node("Concat", ["k", "x"], "i", axis=1), node("Gather", ["fours", "i"], "y")], [tensor("k", [1, 1], [2]), FOURS], [port("x", [1, 3], 7)], [port("y", [1, 4, 4])]),
     "%i = broadcast_to %k shape=[N,1]\n%i.1 = concat %i, %x axis=1\n"),
    ("what reads no sample", graph([node("Neg", ["k"], "z"), node("Relu", ["x"], "y")], [tensor("k", [1, 2, 2], [1.0] * 4, floats=True)], [port("x", [1, 3])], [port("y", [1, 3]), port("z", [1, 2, 2])]),
     "%x = input f32[N,3]\n%k = param f32[1,2,2]\n"),
    ("joined with two samples", model([node("Concat", ["x", "k"], "y", axis=-1)], [tensor("k", [2, 1], [1.0, 1.0], floats=True)], [2, 3], [2, 4]), "%y.1 = broadcast_to %y shape=[N,1]\n%y.2 = concat %x, %y.1 axis=1"),
    ("normal draws", model([node("RandomNormalLike", ["x"], "r", scale=0.5), node("Add", ["x", "r"], "y")], [], ["N", 3], ["N", 3]), "%r = normal shape=[N,3] mean=0 std=0.5\n%y = add %x, %r"),
    ("draws in a range", model([node("RandomUniform", [], "r", shape=[2, 3], low=-1.0), node("Add", ["x", "r"], "y")], [], ["N", 2, 3], ["N", 2, 3]), "%r = uniform shape=[2,3] low=-1 high=1"),
    ("draws of doubles", model([node("RandomUniformLike", ["x"], "r", dtype=11), node("Add", ["x", "r"], "y")], [], ["N", 3], ["N", 3]), "!r (RandomUniformLike): of float64"),
    ("weights listed before the input", graph([node("Gemm", ["x", "fours"], "y")], [FOURS], [port("fours", [4, 4]), port("x", [1, 4])], [port("y", [1, 4])], 8), "input f32[N,4]"),
    ("a softmax of masked rows", model([node("Softmax", ["x"], "s"), node("IsNaN", ["s"], "n"), node("Where", ["n", "o", "s"], "y")], [tensor("o", [], [0.0], floats=True)], ["N", 3], ["N", 3]),
     "%s.4 = equal %s.2, %s.2\n%s.5 = where %s.4, %x, %s.3\n%s.6 = softmax %s.5\n%s.7 = where %s.4, %s.6, %s.3\noutput %s.7"),
    ("a classifier's labels first", graph([node("MatMul", ["x", "fours"], "h"), node("Softmax", ["h"], "p"), node("ArgMax", ["p"], "a", axis=1), node("ArrayFeatureExtractor", ["k", "a"], "l", domain="ai.onnx.ml")],
     [FOURS, tensor("k", [4], [5, 6, 7, 8])], [port("x", ["N", 4])], [port("l", [1, "N"], 7), port("p", ["N", 4])]), "%l.1 = take %k, %l axis=0\n%l.2 = reshape %l.1 shape=[1,N]\noutput %l.2\noutput %p\n%labels = input i32[N]\n%loss = softmax_xent %h.3, %labels"),
    ("a scaler", model([node("Scaler", ["x"], "y", domain="ai.onnx.ml", offset=[1.0, 2.0, 3.0], scale=[0.5])], [], ["N", 3], ["N", 3]), "%y.2 = sub %x, %y\n%y.3 = mul %y.2, %y.1"),
    ("a scaler of another size", model([node("Scaler", ["x"], "y", domain="ai.onnx.ml", offset=[1.0, 2.0])], [], ["N", 3], ["N", 3]), "!y (Scaler): offset of another size than 3"),
    ("an op of trees", model([node("TreeEnsemble", ["x"], "y", domain="ai.onnx.ml")], [], ["N", 3], ["N", 3]), "!y (TreeEnsemble): no op of domain ai.onnx.ml is read"),
    ("an op in a foreign domain", model([node("Relu", ["x"], "y", domain="com.example")], [], ["N", 3], ["N", 3]), "!y (Relu): no op of domain com.example is read"),
    ("weights of one number", model([node("ConstantOfShape", ["s"], "w", value=tensor("", [1], [0.5], floats=True)), node("MatMul", ["x", "w"], "y")], [tensor("s", [2], [2048, 2048])], ["N", 2048], ["N", 2048]),
     "%w = constant f32[2048,2048] fill=0.5"),
    ("the length of nothing", model([node("ReduceL2", ["x"], "l", axes=[1]), node("Mul", ["x", "l"], "y")], [], ["N", 3], ["N", 3]), "%l.7 = where %l.3, %l.2, %l.6"),
    ("places of each sample", model([node("GatherND", ["x", "i"], "y")], [tensor("i", [2, 2, 2], [0, 3, 0, 0, 1, -1, 1, 0])], [2, 4], [2, 2]), "%y.1 = state i32[2]\n%y.2 = take %y, %y.1 axis=1\n"),
    ("places of another sample", model([node("GatherND", ["x", "i"], "y")], [tensor("i", [2, 1, 2], [0, 3, 0, 3])], [2, 4], [2, 1]), "input f32[2,4]"),
    ("places of one sample", model([node("GatherND", ["x", "i"], "y")], [tensor("i", [1, 1], [0])], ["N", 4], [1, 4]), "!y (GatherND): places along the batch"),
    ("tuples of more numbers than there are", model([node("GatherND", ["x", "i"], "y", batch_dims=1)], [tensor("i", [0, *[1] * 6, 2**63 - 1], [])], [2] * 8, [2, 2]), f"!tuples of {2**63 - 1} indices behind 1 axes of 8"),
    *((f"a shape below 0, {sizes}", beside([node("ConstantOfShape", ["s"], "k", value=tensor("", [1], [7])), node("Concat", ["k", "k"], "d", axis=axis), node("Size", ["d"], "c")], [tensor("s", [len(sizes)], sizes)]), words)
      for sizes, axis, words in (([-1, 1, -1, 1], 3, "!k (ConstantOfShape): axis 0 of -1 places"), ([1 << 40, 1 << 40], 1, "!k (ConstantOfShape): axis 0 of 1.09951e+12 places"), ([-1, -5], 0, "!k (ConstantOfShape): axis 0 of -1 places"))),
    ("no tuples of 2^40 samples", graph([node("GatherND", ["x", "i"], "y")], [tensor("i", [1 << 40, 0, 2], [])], [port("x", [1 << 40, 4])], [port("y", [1 << 40, 0])]), "!y (GatherND): "),
    ("numbers joined beyond all sizes", beside([node("Concat", ["k", "k"], "d", axis=1), node("Size", ["d"], "c")], [tensor("k", [0, 2**63 - 1], [])]), "!d (Concat): k is of rank 2 and has 0 elements"),
    ("strides beyond all sizes", beside([node("Unsqueeze", ["k", "a"], "d"), node("Size", ["d"], "c")], [tensor("k", [0, 2**63 - 1, 2**63 - 1], []), tensor("a", [1], [0])]), "!d (Unsqueeze): k is of rank 3 and has 0 elements"),
    ("pads beyond all sizes", model([node("MaxPool", ["x"], "y", kernel_shape=[2], pads=[2**63 - 1, 1])], [], ["N", 2, 4], ["N", 2, 4]), f"!y (MaxPool): pads={2**63 - 1}"),
    ("places of samples among samples", model([node("Transpose", ["x"], "t", perm=[1, 0]), node("MatMul", ["x", "t"], "g"), node("GatherND", ["g", "i"], "y")], [tensor("i", [2, 2], [0, -1, 1, -1])], [2, 4], [2]), "input f32[2,4]"),
    *((f"{op} of one sample, exported as a number", model([node(op, ["x", "i"], "g", **what), node("Add", ["x", "g"], "y")], [tensor("i", dims, [2])], [1, 3], [1, 3]), "input f32[1,3]")
      for op, dims, what in (("GatherND", [1, 1, 1], {"batch_dims": 1}), ("GatherElements", [1, 1], {"axis": 1}))),
    ("draws for one sample, exported as a number", model([node("RandomNormal", [], "r", shape=[1, 3]), node("Add", ["x", "r"], "y")], [], [1, 3], [1, 3]), "input f32[1,3]"),
    ("draws alike for four samples", model([node("RandomNormal", [], "r", shape=[1, 3]), node("Add", ["x", "r"], "y")], [], [4, 3], [4, 3]), "input f32[N,3]"),
    *((f"the one sample, by {'a constant' if made else 'an initializer'} of {dims}", model([*([constant("i", dims, [0])] if made else []), node("Gather", ["x", "i"], "y", axis=0)], [] if made else [tensor("i", dims, [0])], [1, 3], [*dims, 3]), words)
      for made in (False, True) for dims, words in (([1], "input f32[N,3]"), ([], "input f32[1,3]"))),
]

wrong = []
with tempfile.TemporaryDirectory() as folder:
    for what, data, wanted in ROWS:
        path = pathlib.Path(folder, "m.onnx")
        path.write_bytes(data)
        done = subprocess.run([EBB, "import", path, "-o", "-"], capture_output=True, text=True)
        fails = wanted.startswith("!")
        text = done.stderr if fails else done.stdout
        if done.returncode != (3 if fails else 0) or wanted.lstrip("!") not in text or (fails and done.stderr.count("\n") != 1):
            wrong.append(f"{what}: {done.returncode}: {done.stderr}{done.stdout}")
    # The file's own name of the batch, which is N here; that of another axis.
    path.write_bytes(model([node("Relu", ["x"], "y")], [], ["batch", "length"], ["batch", "length"]))
    for dims, wanted in ((("batch=3", "length=4"), "has no dim batch: it has N, the batch, length"), (("N=3", "length=4"), "")):
        done = subprocess.run([EBB, "import", path, *(f"--dim={d}" for d in dims), "-o", "-"], capture_output=True, text=True)
        if done.returncode != (2 if wanted else 0) or wanted not in done.stderr:
            wrong.append(f"{dims}: {done.returncode}: {done.stderr}")
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
