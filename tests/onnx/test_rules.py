"""What ops of ONNX compute, beside numbers worked out by hand. usage: test_rules.py EVALUATE [FOLDER]

EVALUATE is bench/onnx/evaluate.c, compiled. With FOLDER the files stay there, named by row, for scripts/fuzz."""
import math
import struct

from computed import check, row
from written import FLOAT, INT64, graph, node, port, tensor

NAN, LN3 = math.nan, math.log(3)
LINE = [0.0, 1.0, 2.0, 3.0]


def resized(what, numbers, scale, wanted, opset=23, **attributes):
    known = [(None, None)] * (opset > 10) + [([4], [1.0, 1.0, 1.0, scale])]
    return row(f"Resize, {what}", "Resize", [([1, 1, 1, len(numbers)], numbers)], [([1, 1, 1, len(wanted)], wanted)], known, opset=opset, **attributes)


def resized_first(rank):
    """Along the first axis of many."""
    ones = [1] * (rank - 1)
    return row(f"Resize, linear, rank {rank}", "Resize", [([2, *ones], [0.0, 1.0])], [([4, *ones], [0, 0.25, 0.75, 1])],
               [(None, None), ([rank], [2.0, *map(float, ones)])], mode="linear")


def pooled(op, rank, wanted):
    """Of two channels: 2 places along the third axis, 2 along the last."""
    return row(f"{op}, rank {rank}", op, [([1, 2, 2, *[1] * (rank - 4), 2], [0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])], [([1, 2, *[1] * (rank - 2)], wanted)])


def padded(mode, wanted):
    return row(f"Pad, {mode}", "Pad", [([1, 4], LINE)], [([1, len(wanted)], wanted)], [([2], [2, 1]), (None, None), ([1], [-1])], mode=mode)


def sliced(step, wanted):
    return row(f"Slice by {step}", "Slice", [([1, 4], LINE)], [([1, len(wanted)], wanted)], [([1], [-1]), ([1], [-99]), ([1], [1]), ([1], [step])])


def curve(op, x, y):
    return row(op, op, [([2], [x, -x] if op != "Acosh" else [x, x])], [([2], [y, y if op in ("Cosh", "Acosh") else -y])])


def spread(what, wanted, **attributes):
    """ConvTranspose of 1, 2 by stride 2: all that its windows 1, 10, 100 reach is 1, 10, 102, 20, 200."""
    return row(f"ConvTranspose, {what}", "ConvTranspose", [([1, 1, 2], [1.0, 2.0])], [([1, 1, len(wanted)], wanted)], [([1, 1, 3], [1.0, 10.0, 100.0])], strides=[2], **attributes)


def summed(equation, a, b, wanted):
    return row(f"Einsum {equation}", "Einsum", [x for x in (a, b) if x], [wanted], equation=equation)


def means(what, n, wanted, **attributes):
    """Of two places of 1, 2, ... n."""
    return row(f"AveragePool, {what}", "AveragePool", [([1, 1, n], [float(i + 1) for i in range(n)])], [([1, 1, len(wanted)], wanted)], kernel_shape=[2], **attributes)


SQUARE, OTHER, PAIRS = ([2, 2], [1.0, 2.0, 3.0, 4.0]), ([2, 2], [1.0, 0.0, 2.0, 1.0]), ([2, 1, 2], [1.0, 2.0, 3.0, 4.0])
CUBE = [2, 2, 2], list(map(float, range(8)))


def picked(what, x, i, wanted, axis):
    return row(f"GatherElements, {what}", "GatherElements", [x, i], [wanted], ints=[1], axis=axis)


def tuples(what, x, i, wanted, ints=(1,), **attributes):
    return row(f"GatherND, {what}", "GatherND", [x, i], [wanted], ints=ints, **attributes)


def scattered(what, updates, places, wanted, **attributes):
    return row(f"ScatterND, {what}", "ScatterND", [SQUARE], [([2, 2], wanted)], [places, *updates], **attributes)


def written(what, x, i, updates, wanted, ints=(1,), op="ScatterElements", **attributes):
    return row(f"{op}, {what}", op, [x, i, updates], [(x[0], wanted)], ints=ints, **attributes)


def reversed_steps(what, lengths, wanted, **attributes):
    """Of three samples of two, first by samples; all by steps of three in the other order."""
    return row(f"ReverseSequence, {what}", "ReverseSequence", [([2, 3], STEPS), ([len(lengths)], lengths)], [([2, 3], wanted)], ints=[1], **attributes)


STEPS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
# Two queries, 0 and 1; keys 0 and log 3; values 1 and 5: weights 1/2 and 1/2, then 1/4 and 3/4.
Q, K, V = ([1, 1, 2, 1], [0.0, 1.0]), ([1, 1, 2, 1], [0.0, LN3]), ([1, 1, 2, 1], [1.0, 5.0])
TURN = ([1, 1, 1, 4], [1.0, 2.0, 3.0, 4.0]), ([1, 1, 2], [0.0, 1.0]), ([1, 1, 2], [1.0, 0.0])
ROWS = [
    resized("linear", [0.0, 1.0], 2.0, [0, 0.25, 0.75, 1], mode="linear"),
    resized("linear, ends on ends", [0.0, 1.0], 1.5, [0, 0.5, 1], mode="linear", coordinate_transformation_mode="align_corners"),
    resized("linear, from the start", [0.0, 1.0], 2.0, [0, 0.5, 1, 1], mode="linear", coordinate_transformation_mode="asymmetric"),
    resized("linear, antialiased", LINE, 0.5, [0.625, 2.375], mode="linear", antialias=1),
    resized("linear, inside alone", LINE, 0.5, [(0.75 + 0.5) / 1.75, 3 - (0.75 + 0.5) / 1.75], mode="linear", antialias=1, exclude_outside=1),
    resized("cubic", LINE, 0.5, [0.40625, 2.59375], mode="cubic"),
    resized("nearest", LINE, 0.5, [0, 2], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    resized("nearest, below", LINE, 0.75, [0, 1, 3], mode="nearest"),
    *(resized(f"nearest, {n} by {scale:.3f}", list(map(float, range(n))), scale, wanted, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
      for n, scale, wanted in ((15, 1 / 3, [0, 3, 6, 9, 12]), (6, 2 / 3, [0, 1, 3, 4]), (3, 4 / 3, [0, 0, 1, 2]), (11, 28 / 11, [i * 11 // 28 for i in range(28)]))),
    resized("linear, ends on ends of whole sizes", [*LINE, 4.0], 1.4, [0, 2 / 3, 4 / 3, 2, 8 / 3, 10 / 3, 4], mode="linear", coordinate_transformation_mode="align_corners"),
    resized("nearest, symmetric", [*LINE, 4.0], 1.5, [0, 0, 1, 2, 2, 3, 4], mode="nearest", coordinate_transformation_mode="half_pixel_symmetric", nearest_mode="floor"),
    resized("cubic, to one place", LINE, 0.25, [0], mode="cubic", coordinate_transformation_mode="pytorch_half_pixel"),
    resized("nearest, opset 10", [*LINE, 4.0], 0.7, [0, 2, 3], opset=10, mode="nearest"),
    *map(resized_first, (6, 7, 8)),
    *(pooled(op, rank, wanted) for rank in range(4, 9) for op, wanted in (("GlobalAveragePool", [2, 5]), ("GlobalMaxPool", [5, 8]))),
    padded("reflect", [2, 1, 0, 1, 2, 3, 2]), padded("edge", [0, 0, 0, 1, 2, 3, 3]), padded("wrap", [2, 3, 0, 1, 2, 3, 0]), padded("constant", [0, 0, 0, 1, 2, 3, 0]),
    sliced(-1, [3, 2, 1, 0]), sliced(-2, [3, 1]), sliced(-3, [3, 0]), sliced(-4, [3]),
    spread("as it is", [1, 10, 102, 20, 200], auto_pad="VALID"), spread("less at the end", [1, 10, 102], pads=[0, 2]), spread("less in front", [20, 200], pads=[3, 0]),
    spread("less at both", [10, 102], pads=[1, 2]), spread("same, upper", [1, 10, 102, 20], auto_pad="SAME_UPPER"), spread("same, lower", [10, 102, 20, 200], auto_pad="SAME_LOWER"),
    means("the end padded", 3, [1.5, 2.5, 3], pads=[0, 1]), means("the begin padded", 3, [1, 1.5, 2.5], pads=[1, 0]),
    means("the end padded, counted", 3, [1.5, 2.5, 1.5], pads=[0, 1], count_include_pad=1), means("ceiling", 3, [1.5, 3], strides=[2], ceil_mode=1),
    means("ceiling, counted", 3, [1.5, 3], strides=[2], ceil_mode=1, count_include_pad=1), means("ceiling, both ends", 4, [1, 2.5, 4], pads=[1, 0], strides=[2], ceil_mode=1),
    means("ceiling, both ends, counted", 4, [0.5, 2.5, 4], pads=[1, 0], strides=[2], ceil_mode=1, count_include_pad=1),
    spread("a size", [10, 102, 20], output_shape=[3]), spread("a size, upper", [1, 10, 102, 20], auto_pad="SAME_UPPER", output_shape=[4]),
    spread("a size, lower", [10, 102, 20, 200], output_shape=[4]), spread("a size beyond", [1, 10, 102, 20, 200, 0], output_shape=[6]),
    spread("a size, one more", [10, 102, 20, 200], output_shape=[4], output_padding=[1]),
    summed("ij,jk->ik", SQUARE, OTHER, ([2, 2], [5, 2, 11, 4])), summed("ij,jk", SQUARE, OTHER, ([2, 2], [5, 2, 11, 4])), summed("ij,kj->ki", SQUARE, OTHER, ([2, 2], [1, 3, 4, 10])),
    summed("ji,jk->ik", SQUARE, OTHER, ([2, 2], [7, 3, 10, 4])), summed("ij,ij->ij", SQUARE, OTHER, ([2, 2], [1, 0, 6, 4])), summed("ij,ij->", SQUARE, OTHER, ([], [11])),
    summed("ij,k->i", SQUARE, ([2], [1.0, 3.0]), ([2], [12, 28])), summed("i , j -> ji", ([2], [1.0, 2.0]), ([2], [3.0, 4.0]), ([2, 2], [3, 6, 4, 8])), summed(",ij->ji", ([], [2.0]), SQUARE, ([2, 2], [2, 6, 4, 8])),
    summed("bid,bjd->bij", PAIRS, ([2, 1, 2], [1.0, 1.0, 2.0, 0.0]), ([2, 1, 1], [3, 6])), summed("...ij,jk->...ik", PAIRS, OTHER, ([2, 1, 2], [5, 2, 11, 4])),
    summed("bij,bjk->bik", ([1, 1, 2], [1.0, 2.0]), CUBE, ([2, 1, 2], [4, 7, 16, 19])), summed("ij->ji", SQUARE, None, ([2, 2], [1, 3, 2, 4])), summed("ba", SQUARE, None, ([2, 2], [1, 3, 2, 4])),
    summed("bij->jb", CUBE, None, ([2, 2], [2, 10, 4, 12])), summed("...j->...", SQUARE, None, ([2], [3, 7])),
    picked("one", SQUARE, ([2, 1], [1, -2]), ([2, 1], [2, 3]), 1), picked("as many", SQUARE, ([2, 2], [0, 0, 1, 0]), ([2, 2], [1, 1, 4, 3]), 1), picked("more", SQUARE, ([2, 3], [0, -1, 1, 1, 0, 0]), ([2, 3], [1, 2, 2, 4, 3, 3]), 1),
    picked("first axis, a part", SQUARE, ([3, 1], [1, 0, -1]), ([3, 1], [3, 1, 3]), 0),
    picked("rank 4", ([1, 2, 2, 2], CUBE[1]), ([1, 2, 1, 2], [1, 0, 0, 1]), ([1, 2, 1, 2], [2, 1, 4, 7]), 2),
    tuples("elements", SQUARE, ([2, 2], [0, 1, -1, -2]), ([2], [2, 3])), tuples("rows", SQUARE, ([3, 1], [1, 0, -1]), ([3, 2], [3, 4, 1, 2, 3, 4])),
    tuples("rows of rank 3", CUBE, ([1, 2, 2], [0, 1, 1, -1]), ([1, 2, 2], [2, 3, 6, 7])), tuples("of a batch", CUBE, ([2, 1], [1, 0]), ([2, 2], [2, 3, 4, 5]), batch_dims=1),
    tuples("elements of a batch", SQUARE, ([2, 1, 1], [1, -2]), ([2, 1], [2, 3]), batch_dims=1), tuples("integers", ([2, 2], [5, 6, 7, 8]), ([1, 1, 1, 1, 2], [1, 1]), ([1, 1, 1, 1], [8]), ints=(0, 1)),
    tuples("matrices", CUBE, ([1, 1], [1]), ([1, 2, 2], [4, 5, 6, 7])),
    scattered("rows", [([1, 2], [9.0, 8.0])], ([1, 1], [-1]), [1, 2, 9, 8]), scattered("elements", [([2], [9.0, 8.0])], ([2, 2], [0, 1, -1, -2]), [1, 9, 8, 4]),
    scattered("the last one stays", [([2, 1, 2], [9.0, 8.0, 7.0, 6.0])], ([2, 1, 1], [1, 1]), [1, 2, 7, 6]),
    *(scattered(how, [([3, 2], [5.0, -3.0, 1.5, 2.0, 3.0, 0.5])], ([3, 1], [1, 0, -1]), wanted, reduction=how)
      for how, wanted in (("add", [2.5, 4, 11, 1.5]), ("mul", [1.5, 4, 45, -6]), ("max", [1.5, 2, 5, 4]), ("min", [1, 2, 3, -3]))),
    scattered("added elements", [([3], [9.0, 8.0, 7.0])], ([3, 2], [0, 1, -1, -2, 0, 1]), [1, 18, 11, 4], reduction="add"),
    written("rows", SQUARE, ([1, 2], [1, -2]), ([1, 2], [9.0, 8.0]), [1, 8, 9, 4]), written("the last one stays", SQUARE, ([2, 2], [1, 1, 0, 0]), ([2, 2], [9.0, 8.0, 7.0, 6.0]), [1, 8, 6, 4], axis=1),
    written("infinity", SQUARE, ([2, 1], [1, 0]), ([2, 1], [-math.inf, math.inf]), [1, -math.inf, math.inf, 4], axis=1), written("a part", CUBE, ([1, 1, 2], [1, 0]), ([1, 1, 2], [9.0, 8.0]), [0, 8, 9, 3, 4, 5, 6, 7], axis=1),
    written("no place", SQUARE, ([2, 1], [2, -3]), ([2, 1], [9.0, 8.0]), [1, 2, 3, 4], axis=1), written("known", SQUARE, ([2, 2], [0, 1, 1, 0]), ([2, 2], [9.0, 8.0, 7.0, 6.0]), [9, 6, 7, 8], op="Scatter", opset=10),
    written("integers", ([2, 2], [5, 6, 7, 8]), ([1, 2], [1, 0]), ([1, 2], [1, -1]), [5, -1, 1, 8], ints=(0, 1, 2)), written("integers, least", ([2, 2], [5, 6, 7, 8]), ([1, 2], [1, 0]), ([1, 2], [1, 9]), [5, 6, 1, 8], ints=(0, 1, 2), reduction="min"),
    *(written(how, SQUARE, ([2, 3], [0, 0, 1, 1, 1, 1]), ([2, 3], [5.0, -3.0, 1.5, 2.0, 3.0, 0.5]), wanted, axis=1, reduction=how)
      for how, wanted in (("add", [3, 3.5, 3, 9.5]), ("mul", [-15, 3, 3, 12]), ("max", [5, 2, 3, 4]), ("min", [-3, 1.5, 3, 0.5]))),
    written("rank 4", ([1, 2, 2, 2], CUBE[1]), ([1, 2, 1, 2], [1, 0, 0, 1]), ([1, 2, 1, 2], [9.0, 8.0, 7.0, 6.0]), [0, 8, 9, 3, 7, 5, 6, 6], axis=2),
    reversed_steps("samples first", [2, 3], [2, 1, 3, 6, 5, 4], batch_axis=0, time_axis=1), reversed_steps("steps first", [1, 2, 0], [1, 5, 3, 4, 2, 6]),
    row("ReverseSequence, rank 3", "ReverseSequence", [CUBE, ([2], [2, 1])], [(CUBE[0], [4, 5, 2, 3, 0, 1, 6, 7])], ints=[1]),
    row("ReverseSequence, known", "ReverseSequence", [CUBE], [(CUBE[0], [2, 3, 0, 1, 4, 5, 6, 7])], [([2], [2, 1])], batch_axis=0, time_axis=1),
    row("MaxPool, places apart", "MaxPool", [([1, 1, 3, 4], [float(n) for n in (5, 1, 2, 3, 9, 8, 4, 0, 7, 6, 11, 10)])], [([1, 1, 1, 2], [11, 10])], kernel_shape=[2, 2], dilations=[2, 2]),
    row("MaxPool, places apart, padded", "MaxPool", [([1, 1, 5], [5.0, 4.0, 3.0, -1.0, -2.0])], [([1, 1, 3], [4, 4, -1])], kernel_shape=[2], dilations=[2], pads=[1, 1], strides=[2]),
    row("MaxPool, places apart, by ceiling", "MaxPool", [([1, 1, 6], [5.0, 4.0, 3.0, 2.0, 6.0, 7.0])], [([1, 1, 3], [5, 6, 6])], kernel_shape=[2], dilations=[2], strides=[2], ceil_mode=1),
    row("Tile", "Tile", [([2, 2], [1.0, 2.0, 3.0, 4.0])], [([2, 6], [1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4])], [([2], [1, 3])]),
    row("Tile, often", "Tile", [([1, 2], [1.0, 2.0])], [([1, 130], [1, 2] * 65)], [([2], [1, 65])]), row("Tile of one", "Tile", [([1, 1], [3.0])], [([70, 1], [3] * 70)], [([2], [70, 1])]),
    row("Pow, whole", "Pow", [([2], [1.5, 2.0])], [([2], [5.0625, 16])], [([1], [4])]),
    row("Pow, whole numbers", "Pow", [([3], [1.5, 2.0, 3.0])], [([3], [1.5, 8, 1 / 9])], [([3], [1, 3, -2])]),
    row("Pow, computed", "Pow", [([2], [1.5, 2.0]), ([2], [2, 5])], [([2], [2.25, 32])], ints=[1]),
    row("Mod, as the first", "Mod", [([4], [5.5, -5.5, 5.5, -5.5]), ([4], [2.0, 2.0, -2.0, -2.0])], [([4], [1.5, -1.5, 1.5, -1.5])], fmod=1),
    row("Mod, whole, as the first", "Mod", [([4], [7, -7, 7, -7]), ([4], [3, 3, -3, -3])], [([4], [1, -1, 1, -1])], ints=[0, 1], fmod=1),
    row("Mod, whole, of the least", "Mod", [([3], [-(1 << 31), 5, -(1 << 31)]), ([3], [3, -(1 << 31), -1])], [([3], [-2, 5, 0])], ints=[0, 1], fmod=1),
    row("BatchNormalization, rank 5", "BatchNormalization", [([1, 2, 1, 1, 2], [2.0, 0.0, 4.0, 0.0])], [([1, 2, 1, 1, 2], [1, -1, 11, 9])],
        [([2], [1.0, 1.0]), ([2], [0.0, 10.0]), ([2], [1.0, 2.0]), ([2], [1.0, 4.0])]),
    row("BatchNormalization, computed statistics", "BatchNormalization", [([1, 2, 1, 2], [2.0, 0.0, 4.0, 0.0]), *[([2], x) for x in ([1.0, 1.0], [0.0, 10.0], [1.0, 2.0], [1.0, 4.0])]],
        [([1, 2, 1, 2], [1, -1, 11, 9])]),
    row("CumSum, exclusive, of one", "CumSum", [([2, 1], [1.0, 2.0])], [([2, 1], [0, 0])], [([], [1])], exclusive=1),
    row("CumSum, exclusive", "CumSum", [([3], [1.0, 2.0, 3.0])], [([3], [0, 1, 3])], [([], [0])], exclusive=1),
    row("CumSum, exclusive, reverse", "CumSum", [([3], [1.0, 2.0, 3.0])], [([3], [5, 3, 0])], [([], [0])], exclusive=1, reverse=1),
    row("OneHot", "OneHot", [([3], [1, -1, 7])], [([3, 3], [2, 5, 2, 2, 2, 5, 2, 2, 2])], [([], [3]), ([2], [2.0, 5.0])], ints=[0]),
    row("OneHot, first", "OneHot", [([2], [0, 2])], [([3, 2], [1, 0, 0, 0, 0, 1])], [([], [3]), ([2], [0.0, 1.0])], ints=[0], axis=0),
    row("OneHot, rank 4", "OneHot", [([1, 2, 2], [0, 2, 1, 0])], [([1, 2, 2, 3], [1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0])], [([], [3]), ([2], [0.0, 1.0])], ints=[0]),
    row("ArgMax, rank 4", "ArgMax", [([1, 2, 2, 2], [0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 7.0])], [([1, 2, 2, 1], [1, 0, 0, 1])], axis=3),
    row("ArgMin, rank 4", "ArgMin", [([1, 2, 2, 2], [0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 6.0, -7.0])], [([1, 1, 2, 2], [0, 0, 0, 1])], axis=1),
    row("Reshape of integers to rank 4", "Reshape", [([2, 8], [*range(16)])], [([2, 2, 2, 2], [*range(16)])], [([4], [2, 2, 2, 2])], ints=[0]),
    row("TopK", "TopK", [([1, 4], [1.0, 3.0, 2.0, 0.0])], [([1, 2], [3, 2]), ([1, 2], [1, 2])], [([1], [2])]),
    row("TopK, smallest", "TopK", [([1, 4], [1.0, 3.0, 2.0, 0.0])], [([1, 3], [0, 1, 2]), ([1, 3], [3, 0, 2])], [([1], [3])], largest=0),
    row("RMSNormalization", "RMSNormalization", [([1, 2], [3.0, 4.0])], [([1, 2], [3 / math.sqrt(12.5), 8 / math.sqrt(12.5)])], [([2], [1.0, 2.0])]),
    row("LayerNormalization", "LayerNormalization", [([1, 2], [1.0, 3.0])], [([1, 2], [-1, 1]), ([1, 1], [2]), ([1, 1], [1])], [([2], [1.0, 1.0])]),
    row("LpNormalization", "LpNormalization", [([2, 2], [3.0, 4.0, 0.0, 0.0])], [([2, 2], [0.6, 0.8, 0, 0])]),
    row("LpNormalization, 1", "LpNormalization", [([1, 2], [1.0, -3.0])], [([1, 2], [0.25, -0.75])], p=1),
    row("MeanVarianceNormalization", "MeanVarianceNormalization", [([1, 2], [1.0, 5.0])], [([1, 2], [-1, 1])], axes=[1]),
    row("ReduceLogSumExp", "ReduceLogSumExp", [([2, 2], [0.0, LN3, 1000.0, 1000.0])], [([2], [math.log(4), 1000 + math.log(2)])], [([1], [1])], keepdims=0),
    row("SpaceToDepth", "SpaceToDepth", [([1, 1, 2, 4], [0.0, 1.0, 4.0, 5.0, 2.0, 3.0, 6.0, 7.0])], [([1, 4, 1, 2], [0, 4, 1, 5, 2, 6, 3, 7])], blocksize=2),
    row("Clip from below", "Clip", [([3], [-1.0, 0.5, 3.0])], [([3], [0, 0.5, 3])], [([], [0.0])]),
    row("Clip, computed", "Clip", [([3], [-1.0, 0.5, 3.0]), ([], [0.0]), ([], [2.0])], [([3], [0, 0.5, 2])]),
    row("CastLike", "CastLike", [([2], [1.5, -2.5]), ([1], [7])], [([2], [1, -2])], ints=[1]),
    row("ThresholdedRelu", "ThresholdedRelu", [([3], [1.0, 2.0, 2.5])], [([3], [0, 0, 2.5])], alpha=2.0),
    row("Shrink", "Shrink", [([4], [-2.0, -1.0, 1.0, 2.0])], [([4], [-1.5, 0, 0, 1.5])], lambd=1.0, bias=0.5),
    row("IsNaN", "IsNaN", [([3], [NAN, 1.0, math.inf])], [([3], [True, False, False])]),
    row("IsInf", "IsInf", [([4], [NAN, 1.0, math.inf, -math.inf])], [([4], [False, False, True, True])]),
    row("IsInf above", "IsInf", [([2], [math.inf, -math.inf])], [([2], [True, False])], detect_negative=0),
    curve("Tan", 0.5, math.tan(0.5)), curve("Sinh", 1e-4, math.sinh(1e-4)), curve("Cosh", 0.5, math.cosh(0.5)),
    curve("Asinh", 3.0, math.asinh(3)), curve("Acosh", 3.0, math.acosh(3)), curve("Atanh", 0.5, math.atanh(0.5)),
    row("Attention", "Attention", [Q, K, V], [([1, 1, 2, 1], [3, 4])]),
    row("Attention, causal", "Attention", [Q, K, V], [([1, 1, 2, 1], [1, 4])], is_causal=1),
    row("Attention, causal, fewer keys", "Attention", [([1, 1, 3, 1], [0.0, 0.0, 1.0]), K, V], [([1, 1, 3, 1], [1, 3, 4])], is_causal=1),
    row("Attention, a mask", "Attention", [Q, K, V, ([2, 2], [0.0, -1e30, 0.0, 0.0])], [([1, 1, 2, 1], [1, 4])]),
    row("Attention, a mask of heads", "Attention", [Q, K, V, ([1, 1, 2, 2], [-1e30, 0.0, 0.0, 0.0])], [([1, 1, 2, 1], [5, 4])]),
    row("Attention, capped", "Attention", [Q, K, V], [([1, 1, 2, 1], [3, 1 + 4 / (1 + math.exp(-math.tanh(LN3)))])], softcap=1.0),
    row("Attention, scaled", "Attention", [Q, K, V], [([1, 1, 2, 1], [3, 4.6])], scale=2.0),
    row("Attention, two heads of one", "Attention", [([1, 2, 1, 1], [0.0, 1.0]), K, V], [([1, 2, 1, 1], [3, 4])]),
    row("Attention, rank 3", "Attention", [([1, 1, 2], [0.0, 1.0]), ([1, 2, 1], K[1]), ([1, 2, 1], V[1])], [([1, 1, 2], [3, 4])], q_num_heads=2, kv_num_heads=1),
    row("RotaryEmbedding", "RotaryEmbedding", TURN, [([1, 1, 1, 4], [-3, 2, 1, 4])]),
    row("RotaryEmbedding, neighbours", "RotaryEmbedding", TURN, [([1, 1, 1, 4], [-2, 1, 3, 4])], interleaved=1),
    row("RotaryEmbedding, a part, rank 3", "RotaryEmbedding", [([1, 1, 4], TURN[0][1]), ([1, 1, 1], [0.0]), ([1, 1, 1], [1.0])], [([1, 1, 4], [-2, 1, 3, 4])],
        rotary_embedding_dim=2, num_heads=1),
    row("RotaryEmbedding, by places", "RotaryEmbedding", [([1, 2, 2], [1.0, 2.0, 1.0, 2.0]), ([3, 1], [1.0, 0.0, -1.0]), ([3, 1], [0.0, 1.0, 0.0]), ([1, 2], [1, 2])],
        [([1, 2, 2], [-2, 1, -1, -2])], ints=[3], num_heads=1),
]


def of_ones(what, outs, wanted, n, **attributes):
    """Attention of one query, 1, and one key, 0, whose value is 1; before them a key log 3 with value 5."""
    operands = ["x0", "x1", "x2", "", "x3", "x4"]
    ports = [port(y, [1, 1, 1, len(numbers)]) for y, numbers in zip(outs.split(), wanted)]
    data = graph([node("Attention", operands[:n], outs, **attributes)], [], [port(x, [1, 1, 1, 1]) for x in operands[:n] if x], ports, 23)
    numbers = dict(zip(("x0", "x1", "x2", "x3", "x4"), (1.0, 0.0, 1.0, LN3, 5.0)))
    return what, data, {x: struct.pack("<f", numbers[x]) for x in operands[:n] if x}, wanted


ROWS.append(of_ones("Attention, after the past", "y0 y1 y2", [[4], [LN3, 0], [5, 1]], 6, is_causal=1))
ROWS.append(of_ones("Attention, its weights", "y0   y3", [[4], [0.75, 0.25]], 6, qk_matmul_output_mode=3))
ROWS.append(of_ones("Attention, its scores", "y0   y3", [[1], [0]], 3))


def masked_and_causal():
    """Three queries of two keys: what the first may see is masked."""
    known = [tensor("k", [1, 1, 2, 1], K[1], floats=True), tensor("v", [1, 1, 2, 1], V[1], floats=True), tensor("m", [3, 2], [0, 1, 1, 1, 1, 1])]
    data = graph([node("Cast", ["m"], "b", to=9), node("Attention", ["x0", "k", "v", "b"], "y0", is_causal=1)], known, [port("x0", [1, 1, 3, 1])], [port("y0", [1, 1, 3, 1])], 23)
    return "Attention, nothing to be seen", data, {"x0": struct.pack("<3f", 0, 0, 1)}, [[0, 3, 4]]


ROWS.append(masked_and_causal())
ROWS.append((*scattered("outside", [([1, 2], [9.0, 8.0])], ([1, 1], [2]), [0] * 4)[:3], "place 2 of an axis of 2"))
for pair in ([0, 2], [2, 0], [-3, 1], [1, -3]):
    ROWS.append((*tuples(f"place {pair} of two by two", SQUARE, ([1, 2], pair), ([1], [0]))[:3], "is outside [-4, 4)"))
for place in (2, -3):  # of two, where all of them are counted through
    ROWS.append((*picked(f"place {place} of two", SQUARE, ([2, 2], [0, place, 1, 0]), ([2, 2], [0, 0, 0, 0]), 1)[:3], "is outside [-4, 4)"))


def unread(op, **attributes):
    """Older exporters name results that nothing reads."""
    x = port("x0", [1, 1, 2])
    data = graph([node(op, ["x0"], "y0 extra", **attributes)], [], [x], [port("y0", [1, 1, 2])], 9)
    return f"{op}, a result that nothing reads", data, {"x0": struct.pack("<2f", 1, 2)}, [[1, 2]]


ROWS.extend((unread("Dropout", ratio=0.5), unread("MaxPool", kernel_shape=[1])))


def of_rank_4(what, nodes, given, wanted):
    """What is no real number, in rank 4, which lies in an order of its own. given: (dims, numbers), whole ones and floats."""
    known = [tensor("one", [1], [1]), tensor("two", [1], [2]), tensor("shape", [4], [1, 2, 2, 2]), tensor("flat", [2], [2, 4]),
             tensor("all", [], [1.0], floats=True), tensor("low", [], [-10000.0], floats=True)]
    whole = [all(isinstance(n, int) for n in numbers) for _, numbers in given]
    ports = [port(f"x{i}", dims, INT64 if ints else FLOAT) for i, ((dims, _), ints) in enumerate(zip(given, whole))]
    data = graph(nodes, known, ports, [port("y", wanted[0])])
    fed = {f"x{i}": struct.pack(f"<{len(numbers)}{'i' if ints else 'f'}", *numbers) for i, ((_, numbers), ints) in enumerate(zip(given, whole))}
    return what, data, fed, [wanted[1]]


ROWS.append(of_rank_4("A mask of tokens beside scores",
    [node("Unsqueeze", ["x0", "one"], "a"), node("Unsqueeze", ["a", "two"], "b"), node("Cast", ["b"], "c", to=1), node("Sub", ["all", "c"], "d"),
     node("Mul", ["d", "low"], "e"), node("Add", ["x1", "e"], "f"), node("Softmax", ["f"], "y", axis=-1)],
    [([2, 3], [1, 1, 0, 1, 0, 0]), ([2, 2, 1, 3], [0.0] * 12)], ([2, 2, 1, 3], [0.5, 0.5, 0, 0.5, 0.5, 0, 1, 0, 0, 1, 0, 0])))
MINUS, LEAST = -math.inf, -3.4028234663852886e38
ROWS.append(("BatchNormalization by its samples", graph([node("Neg", ["x0"], "n"), node("ReduceMax", ["n", "all"], "m", keepdims=0), node("BatchNormalization", ["x0", "s", "b", "m", "m"], "y", training_mode=1, epsilon=0.0)],
    [tensor("s", [2], [1.0, 2.0], floats=True), tensor("b", [2], [0.0, 0.5], floats=True), tensor("all", [2], [0, 2])], [port("x0", [2, 2, 1])], [port("y", [2, 2, 1])], 18), {"x0": struct.pack("<4f", 1, 5, 3, 9)}, [[-1, -1.5, 1, 2.5]]))
for opset, axis in ((17, -1), (11, 1)):
    ROWS.append((f"Softmax of masked rows, opset {opset}", graph([node("Softmax", ["x0"], "s", axis=axis), node("IsNaN", ["s"], "n"), node("Where", ["n", "o", "s"], "y")], [tensor("o", [], [0.0], floats=True)],
        [port("x0", [6, 2])], [port("y", [6, 2])], opset), {"x0": struct.pack("<12f", 0, LN3, 1, MINUS, MINUS, MINUS, math.inf, 1, NAN, 0, LEAST, LEAST)}, [[0.25, 0.75, 1, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.5]]))
ROWS.append(("Many that are infinite", graph([node("ConstantOfShape", ["s"], "c", value=tensor("", [1], [MINUS], floats=True)), node("Add", ["x0", "c"], "a"), node("IsInf", ["a"], "i"),
    node("Cast", ["i"], "f", to=1), node("ReduceMin", ["f", "all"], "y", keepdims=0)], [tensor("s", [2], [300, 300]), tensor("all", [1], [2])], [port("x0", [1, 1, 1])], [port("y", [1, 300])]),
    {"x0": struct.pack("<f", 1)}, [[1.0] * 300]))
ROWS.append(of_rank_4("A choice by truth values of rank 4",
    [node("Cast", ["x0"], "a", to=9), node("Reshape", ["a", "shape"], "b"), node("Not", ["b"], "c"), node("Where", ["c", "x1", "all"], "y")],
    [([1, 8], [1, 0, 0, 1, 0, 1, 1, 0]), ([1, 2, 2, 2], [float(n) for n in range(2, 10)])], ([1, 2, 2, 2], [1, 3, 4, 1, 6, 1, 1, 9])))
ROWS.append(of_rank_4("Truth values from rank 4",
    [node("Less", ["x0", "all"], "a"), node("Transpose", ["a"], "b", perm=[0, 2, 3, 1]), node("Reshape", ["b", "flat"], "y")],
    [([1, 2, 2, 2], [0.0, 2.0, 2.0, 0.0, 2.0, 2.0, 0.0, 0.0])], ([2, 4], [True, False, False, False, False, True, True, True])))


check(ROWS)
