"""What import computes of known numbers, and what it must leave or refuse. usage: test_folds.py EBB"""

import pathlib
import subprocess
import sys
import tempfile

from written import beside, constant, failures, field, graph, model, node, number, port, tensor

EBB = sys.argv[1]


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

wrong = failures(EBB, ROWS)
with tempfile.TemporaryDirectory() as folder:
    # The file's own name of the batch, which is N here; that of another axis.
    path = pathlib.Path(folder, "m.onnx")
    path.write_bytes(model([node("Relu", ["x"], "y")], [], ["batch", "length"], ["batch", "length"]))
    for dims, wanted in ((("batch=3", "length=4"), "has no dim batch: it has N, the batch, length"), (("N=3", "length=4"), "")):
        done = subprocess.run([EBB, "import", path, *(f"--dim={d}" for d in dims), "-o", "-"], capture_output=True, text=True)
        if done.returncode != (2 if wanted else 0) or wanted not in done.stderr:
            wrong.append(f"{dims}: {done.returncode}: {done.stderr}")
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
