"""A batch that a file has as a number becomes another one, or stays with the file. usage: test_batch.py EBB EVALUATE

EVALUATE is bench/onnx/evaluate.c, compiled. What a file says of each sample, or of each two, is compared with what comes of three times as many."""
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from written import model, node, tensor

EBB, EVALUATE = sys.argv[1:3]
PLACES, FEATURES = 3, 4


def dims(name, *sizes):
    return tensor(name, [len(sizes)], sizes)


def weights(name, *sizes):
    rng, n = random.Random(name), 1
    for size in sizes:
        n *= size
    return tensor(name, sizes, [rng.uniform(-1, 1) for _ in range(n)], floats=True)


def turned(x, y, *order):
    return node("Transpose", [x], y, perm=list(order))


def attention(batch, heads, places=PLACES, mask=None):
    """As PyTorch has it: the batch behind the places, joined with the heads."""
    each, known = FEATURES // heads, [weights("w", FEATURES, FEATURES), weights("b", FEATURES)]
    known += [dims("split", places, batch * heads, each), dims("apart", batch, heads, places, each), dims("rows", places * batch, FEATURES), dims("back", places, batch, FEATURES)]
    nodes = [turned("x", "t", 1, 0, 2), node("Reshape", ["t", "split"], "s"), turned("s", "h", 1, 0, 2), node("Reshape", ["h", "apart"], "q"), turned("q", "k", 0, 1, 3, 2),
             node("MatMul", ["q", "k"], "scores")]
    if mask:
        known.append(mask)
        nodes.append(node("Add", ["scores", "mask"], "masked"))
    nodes += [node("Softmax", ["masked" if mask else "scores"], "p", axis=-1), node("MatMul", ["p", "q"], "o"), turned("o", "f", 2, 0, 1, 3), node("Reshape", ["f", "rows"], "r"),
              node("Gemm", ["r", "w", "b"], "g"), node("Reshape", ["g", "back"], "z"), turned("z", "l", 1, 0, 2), node("Add", ["l", "x"], "y")]
    return model(nodes, known, [batch, places, FEATURES], [batch, places, FEATURES])


def token(batch):
    """One for each sample, repeated as often as there were samples, in front of its places."""
    nodes = [node("Expand", ["token", "each"], "e"), node("Concat", ["e", "x"], "y", axis=1)]
    return model(nodes, [weights("token", 1, 1, FEATURES), dims("each", batch, 1, FEATURES)], [batch, PLACES, FEATURES], [batch, PLACES + 1, FEATURES])


def repeated(batch):
    """Samples along the second axis, which Expand says once more."""
    nodes = [turned("x", "t", 1, 0, 2), node("Unsqueeze", ["t", "first"], "u"), node("Expand", ["u", "wide"], "e"), node("ReduceSum", ["e", "first"], "r", keepdims=0), turned("r", "y", 1, 0, 2)]
    return model(nodes, [dims("first", 0), dims("wide", 2, PLACES, batch, FEATURES)], [batch, PLACES, FEATURES], [batch, PLACES, FEATURES])


SAME = [(f"{heads} heads of {places} places, {batch} samples", attention(batch, heads, places), batch, places)
        for batch in (1, 2, 3) for heads in (1, 2) for places in (1, 2, 3) if batch > 1 or places > 1]
SAME += [(f"{what}, {batch} samples", make(batch), batch, PLACES) for batch in (1, 2) for what, make in (("a token", token), ("Expand of the second axis", repeated))]


def picked(batch):
    """As CLIP finds a text's last token: by tuples of the sample's own number and a computed place."""
    known = [tensor("own", [batch, 1], range(batch)), dims("last", -1), dims("split", batch, PLACES, 2, 2), dims("joined", 2 * batch, PLACES, 2), dims("back", batch, PLACES, FEATURES)]
    nodes = [node("ReduceMax", ["x"], "m", axes=[2], keepdims=0), node("ArgMax", ["m"], "i", axis=1, keepdims=0), node("Unsqueeze", ["i", "last"], "u"),
             node("Concat", ["own", "u"], "t", axis=-1), node("Reshape", ["x", "split"], "s"), turned("s", "h", 0, 2, 1, 3), node("Reshape", ["h", "joined"], "j"),
             node("Softmax", ["j"], "p", axis=1), node("Reshape", ["p", "parted"], "q"), turned("q", "r", 0, 2, 1, 3), node("Reshape", ["r", "back"], "b"), node("GatherND", ["b", "t"], "y")]
    return model(nodes, [*known, dims("parted", batch, 2, PLACES, 2)], [batch, PLACES, FEATURES], [batch, FEATURES])


def elements(batch):
    """As RoBERTa finds the kinds of tokens: in rows that are alike."""
    nodes = [node("ArgMax", ["x"], "i", axis=2, keepdims=0), node("GatherElements", ["k", "i"], "g", axis=1), node("Unsqueeze", ["g", "last"], "u"), node("Add", ["x", "u"], "y")]
    known = [tensor("k", [batch, 5], [0.5, -1.0, 2.0, 3.0, 4.0] * batch, floats=True), dims("last", -1)]
    return model(nodes, known, [batch, PLACES, FEATURES], [batch, PLACES, FEATURES])


SAME += [(f"{what}, {batch} samples", make(batch), batch, PLACES) for batch in (1, 2) for what, make in (("tuples of the sample's own", picked), ("elements of rows alike", elements))]
SAME.append(("a mask of places", attention(1, 2, mask=tensor("mask", [3, 3], [0.0, -9.0, -9.0, 0.0, 0.0, -9.0, 0.0, 0.0, 0.0], floats=True)), 1, PLACES))


def shaped(batch, *nodes, out=None, x=(PLACES, FEATURES)):
    """Shapes: of the places, of places and samples joined, of the samples in front, of two halves."""
    known = [dims("rows", PLACES * batch, FEATURES), dims("back", batch, PLACES, FEATURES), dims("halves", 2, PLACES * batch, FEATURES // 2), dims("more", 1, batch, PLACES, FEATURES),
             dims("open", batch, -1), tensor("first", [], [0]), tensor("second", [], [1]), dims("front", 0), dims("twice", 0, 1, 2, 0, 1, 2),
             tensor("pair", [1, 2], [0, 3])]
    return model(nodes, known, [batch, *x], out or [batch, *x])


ROWS = [
    ("heads behind places", attention(1, 2), "%s = reshape %t shape=[3,N*2,2]"),
    ("rows of places and samples", attention(2, 2), "%r.1 = reshape %r shape=[N*3,4]"),
    # One sample: the rows that Softmax is along are places of one sample, or of all.
    ("along rows", shaped(1, node("Reshape", ["x", "rows"], "r"), node("Softmax", ["r"], "s", axis=0), node("Reshape", ["s", "back"], "y")), "input f32[1,3,4]"),
    ("the mean of rows", shaped(1, node("Reshape", ["x", "rows"], "r"), node("ReduceMean", ["r"], "m", axes=[0]), node("Sub", ["r", "m"], "s"), node("Reshape", ["s", "back"], "y")), "input f32[1,3,4]"),
    ("sums along rows", shaped(1, node("Reshape", ["x", "rows"], "r"), node("CumSum", ["r", "first"], "s"), node("Reshape", ["s", "back"], "y")), "input f32[1,3,4]"),
    ("sums beside rows", shaped(1, node("Reshape", ["x", "rows"], "r"), node("CumSum", ["r", "second"], "s"), node("Reshape", ["s", "back"], "y")), "%s = cumsum %r axis=1 reverse=false\n%y = reshape %s shape=[N,3,4]"),
    ("a sum of an axis of one place", shaped(1, node("Reshape", ["x", "more"], "r"), node("ReduceSum", ["r", "front"], "s", keepdims=0), node("Sub", ["x", "s"], "y")), "input f32[1,3,4]"),
    ("rows in two orders", shaped(1, node("Reshape", ["x", "rows"], "a"), turned("x", "t", 1, 0, 2), node("Reshape", ["t", "rows"], "b"), node("Add", ["a", "b"], "s"), node("Reshape", ["s", "back"], "y")), "input f32[1,3,4]"),
    ("places in front again, as numbers", shaped(1, turned("x", "t", 1, 0, 2), node("Reshape", ["t", "back"], "s"), node("Relu", ["s"], "y")), "input f32[1,3,4]"),
    ("one of the samples", shaped(1, node("Gather", ["x", "first"], "g"), node("Add", ["x", "g"], "y")), "input f32[1,3,4]"),
    ("rows by known places", shaped(2, turned("x", "t", 1, 0, 2), node("Reshape", ["t", "rows"], "r"), node("Gather", ["r", "twice"], "g"), node("Reshape", ["g", "back"], "y")), "input f32[2,3,4]"),
    ("tuples of rows", shaped(1, node("Reshape", ["x", "rows"], "r"), node("GatherND", ["r", "pair"], "g"), node("Mul", ["x", "g"], "y")), "input f32[1,3,4]"),
    ("own numbers of another tensor", model([node("ArgMax", ["x"], "i", axis=1, keepdims=1), node("Concat", ["own", "i"], "t", axis=1), node("GatherND", ["k", "t"], "y")],
                                            [tensor("own", [2, 1], [0, 1]), weights("k", 2, 3)], [2, 3], [2]), "input f32[2,3]"),
    ("numbers that are read", model([node("ArgMax", ["x"], "i", axis=1, keepdims=1), node("Concat", ["own", "i"], "t", axis=1), node("Cast", ["t"], "y", to=1)],
                                    [tensor("own", [2, 1], [0, 1])], [2, 3], [2, 2]), "input f32[2,3]"),
    # Two samples: a third of both is of no sample.
    ("taken apart", model([node("Reshape", ["x", "s"], "r"), node("Softmax", ["r"], "p", axis=1), node("Reshape", ["p", "b"], "y")], [dims("s", 3, 4), dims("b", 2, 6)], [2, 6], [2, 6]), "input f32[2,6]"),
    ("an open axis", shaped(2, turned("x", "t", 1, 0, 2), turned("t", "u", 1, 0, 2), node("Reshape", ["u", "open"], "y"), out=[2, 12]), "reshape %u shape=[N,12]"),
]


def evaluated(path, folder, batch, numbers):
    """What comes of the numbers; batch 0: as the file has it."""
    (folder / "x").write_bytes(struct.pack(f"<{len(numbers)}f", *numbers))
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([EVALUATE, path, str(batch), f"x={folder / 'x'}", out], capture_output=True, text=True, check=False)
        files = sorted(pathlib.Path(out).iterdir())
        data = files[0].read_bytes() if files else b""
    return done.returncode, done.stderr, list(struct.unpack(f"<{len(data) // 4}f", data))


def differences(what, path, folder, batch, places):
    rng, n = random.Random(what), batch * places * FEATURES
    numbers = [rng.uniform(-1, 1) for _ in range(3 * n)]
    parts = [evaluated(path, folder, 0, numbers[i * n:(i + 1) * n]) for i in range(3)]
    code, line, whole = evaluated(path, folder, 3 * batch, numbers)
    wanted = [x for _, _, out in parts for x in out]
    if code or any(part[0] for part in parts) or len(whole) != len(wanted) or not wanted:
        return [f"{what}: {code} {line} {[part[:2] for part in parts]}: {len(whole)} numbers, not {len(wanted)}"]
    far = max(abs(a - b) for a, b in zip(whole, wanted))
    return [f"{what}: {far} apart"] if far > 1e-5 else []


wrong = []
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    path = folder / "m.onnx"
    for what, data, batch, places in SAME:
        path.write_bytes(data)
        wrong += differences(what, path, folder, batch, places)
    for what, data, wanted in ROWS:
        path.write_bytes(data)
        done = subprocess.run([EBB, "import", path, "-o", "-"], capture_output=True, text=True, check=False)
        if done.returncode or wanted not in done.stdout:
            wrong.append(f"{what}: {done.returncode}: {done.stderr}{done.stdout}")
print("\n".join(wrong) or f"ok: {len(SAME) + len(ROWS)}")
sys.exit(bool(wrong))
