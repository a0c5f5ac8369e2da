"""Small models and planning graphs for the rows."""
import copy
import json

SMALL = """ebb 1
graph small
dim N = 7
%x = input f32[N,3]
%labels = input i32[N]
%w1 = param f32[33,3] init=uniform
%b1 = param f32[33] init=zero
%w2 = param f32[5,33] init=uniform
%h1 = linear %x, %w1
%h2 = bias %h1, %b1
%h3 = relu %h2
%logits = linear %h3, %w2
%loss = softmax_xent %logits, %labels
loss %loss
"""

CONV = """ebb 1
graph conv
dim N = 3
dim H = 7
%x = input f32[N,3,H,H]
%labels = input i32[N]
%c1.weight = param f32[33,3,3,3] init=kaiming
%c1 = conv2d %x, %c1.weight pad=1
%r1 = relu %c1
%c2.weight = param f32[33,33,3,3] init=kaiming
%c2 = conv2d %r1, %c2.weight pad=1
%r2 = relu %c2
%c3.weight = param f32[33,33,3,3] init=kaiming
%c3 = conv2d %r2, %c3.weight pad=1
%r3 = relu %c3
%pool = global_avg_pool %r3
%fc.weight = param f32[5,33] init=uniform
%logits = linear %pool, %fc.weight
%loss = softmax_xent %logits, %labels
output %logits
loss %loss
"""

# A block of a transformer, large enough for a team to share.
WORDS = """ebb 1
graph words
dim N = 2
dim T = 130
%ids = input i32[N*T]
%labels = input i32[N*T]
%words = param f32[257,48] init=uniform
%g1 = param f32[48] init=one
%b1 = param f32[48]
%w1 = param f32[144,48] init=uniform
%w2 = param f32[192,48] init=uniform
%w3 = param f32[48,192] init=uniform
%x = embedding %words, %ids
%n1 = layer_norm %x, %g1, %b1
%a1 = linear %n1, %w1
%qkv = reshape %a1 shape=[N,T,144]
%a2, %lse = attention %qkv heads=3 causal=true
%a3 = reshape %a2 shape=[N*T,48]
%s1 = add %x, %a3
%m1 = linear %s1, %w2
%m2 = gelu %m1
%m3 = linear %m2, %w3
%s2 = add %s1, %m3
%rows = reshape %s2 shape=[N,T,48]
%scores = matmul %rows, %rows transpose_b=true
%weights = softmax %scores causal=true
%mixed = matmul %weights, %rows
%sums = reduce_sum %mixed axis=1
%all = expand %sums axis=1 size=T
%centered = sub %mixed, %all
%s3 = reshape %centered shape=[N*T,48]
%logits = linear %s3, %words
%loss = softmax_xent %logits, %labels
loss %loss
"""

# Its loss is 0 * infinity, after a relu.
NAN = """ebb 1
graph nan
dim N = 4
%x = input f32[N,3]
%labels = input i32[N]
%w1 = param f32[5,3] init=uniform
%w2 = param f32[2,5] init=uniform
%large = constant f32[N,5] fill=3e38
%zero = constant f32[N,5] fill=0
%h1 = linear %x, %w1
%h2 = mul %h1, %large
%h3 = mul %h2, %large
%h4 = mul %h3, %zero
%h5 = relu %h4
%logits = linear %h5, %w2
%loss = softmax_xent %logits, %labels
loss %loss
"""


def chain(n=6, unit=1 << 20):
    """A planning graph: n forward ops, a loss, n backward ops that read what forward made."""
    values = [{"id": 0, "name": "x", "bytes": unit, "role": "input"}]
    ops = []

    def op(name, phase, inputs, n_bytes, role="activation"):
        out = len(values)
        values.append({"id": out, "name": name, "bytes": n_bytes, "role": role})
        ops.append({"id": len(ops), "name": name, "kind": "op", "phase": phase, "inputs": inputs, "outputs": [out],
                    "time_ns": 1000, "scratch_bytes": 0})
        return out

    acts = [0]
    for i in range(n):
        acts.append(op(f"f{i}", "forward", [acts[-1]], unit))
    grad = op("loss", "forward", [acts[-1]], 64)
    for i in reversed(range(n)):
        grad = op(f"b{i}", "backward", [grad, acts[i]], unit, "output" if i == 0 else "gradient")
    return {"schema": "ebb.graph/1", "name": "chain", "values": values, "ops": ops}


def changed(document, **paths):
    """A copy with members replaced: changed(g, values__2__bytes=-1) sets g["values"][2]["bytes"]."""
    document = copy.deepcopy(document)
    for path, value in paths.items():
        *way, last = [int(key) if key.isdigit() else key for key in path.split("__")]
        place = document
        for key in way:
            place = place[key]
        place[last] = value
    return document


def text(document):
    return json.dumps(document)
