"""What import takes for a param, a state or a constant, and which sizes are the batch's. usage: test_meanings.py EBB"""

import sys

from written import beside, constant, failures, graph, model, node, number, port, tensor

# What exporters write as one tensor or as none, and what they write as a tensor that is none of a model's.
HALF, FOURS = tensor("half", [], [0.5], floats=True), tensor("fours", [4, 4], [float(i) for i in range(16)], floats=True)
NORMS = [node("BatchNormalization", ["x", "one", "zero", "zero", "one"], "a"), node("BatchNormalization", ["a", "one", "zero", "zero", "one"], "y")]
PLAIN = [tensor("one", [4], [1.0] * 4, floats=True), tensor("zero", [4], [0.0] * 4, floats=True)]
WEIGHTS = [tensor("w", [1, 2, 4], [0.5] * 8, floats=True), tensor("r", [1, 2, 2], [0.5] * 4, floats=True)]
LOOP = [node("Transpose", ["x"], "t", perm=[1, 0, 2]), node("RNN", ["t", "w", "r", "", "", "h"], "all last"), node("Squeeze", ["last"], "y", axes=[0])]


def loop(*h):
    """Over three steps of two samples, from the state h."""
    return graph(LOOP, [*WEIGHTS, tensor("h", [1, 2, 2], h, floats=True)], [port("x", [2, 3, 4])], [port("y", [2, 2])], opset=11)


ROWS = [
    ("a state of zeros for the file's batch", loop(0.0, 0.0, 0.0, 0.0), "input f32[N,3,4]"),
    ("a state of zeros is no param", loop(0.0, 0.0, 0.0, 0.0), " = constant f32[N,2] fill=0"),
    ("a state of its own for each sample", loop(0.0, 1.0, 2.0, 3.0), "input f32[2,3,4]"),
    ("rows scattered by data", graph([node("ScatterND", ["fours", "i", "x"], "y")], [FOURS], [port("x", ["N", 4]), port("i", ["N", 1], 7)], [port("y", [4, 4])]),
     "!y (ScatterND): its places are computed from data: they must be known"),
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
    *((f"a Range by N of {'doubles' if kind == 11 else 'floats'}", graph([node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "n"), node("Cast", ["n"], "f", to=kind), node("Cast", ["zero"], "b", to=kind), node("Cast", ["one"], "d", to=kind),
          node("Range", ["b", "f", "d"], "r"), node("Add", ["x", "r"], "y")], [tensor("zero", [], [0]), tensor("one", [], [1])], [port("x", ["N"], kind)], [port("y", ["N"], kind)]), f"%r.1 = cast %r to={dtype}\n%y = add %x, %r.1")
      for kind, dtype in ((1, "f32"), (11, "f64"))),
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

wrong = failures(sys.argv[1], ROWS)
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
