"""Ops that move elements, look places up, or reduce axes."""

from ._table import dtype_of, node_dtype, rule
from ._text import Refused

# ---- shapes ----


@rule("view.default", "reshape.default", "_unsafe_view.default", "_reshape_copy.default", "view_copy.default", "flatten.using_ints",
      "unflatten.int", "unsqueeze.default", "squeeze.default", "squeeze.dim", "squeeze.dims")
def reshape(b, self, node, size=None, shape=None, dim=None, start_dim=0, end_dim=-1, sizes=None):
    return b.reshape(self, node.meta["val"].shape)


@rule("permute.default", "permute_copy.default")
def permute(b, self, dims):
    return b.permute(self, [d % len(self.shape) for d in dims])


@rule("transpose.int")
def transpose(b, self, dim0, dim1):
    order = list(range(len(self.shape)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return b.permute(self, order)


@rule("t.default", "numpy_T.default", "mT.default")
def turned(b, self):
    n = len(self.shape)
    return self if n < 2 else b.permute(self, [*range(n - 2), n - 1, n - 2])


@rule("expand.default", "broadcast_to.default", "expand_copy.default")
def expand(b, self, node, size):
    return b.expand(self, node.meta["val"].shape)


@rule("expand_as.default")
def expand_as(b, self, other):
    return b.expand(self, other.shape)


@rule("repeat.default")
def repeat(b, self, repeats):
    x = b.reshape(self, (1,) * (len(repeats) - len(self.shape)) + self.shape)
    for axis, n in enumerate(repeats):
        if n != 1:
            x = b.concat([x] * n, axis)
    return x


# ---- parts ----


@rule("slice.Tensor", "slice_copy.Tensor", "narrow.default")
def part(b, self, dim=0, start=None, end=None, step=1, length=None):
    axis = dim % len(self.shape)
    n = self.shape[axis]
    begin = 0 if start is None else min(max(start + n if start < 0 else start, 0), n)
    end = begin + length if length is not None else n if end is None else min(max(end + n if end < 0 else end, 0), n)
    if end <= begin:
        raise Refused("a part of no elements")
    if step == 1:
        return b.slice(self, axis, begin, end - begin)
    sizes = [*self.shape]
    sizes[axis] = -(-(end - begin) // step)
    begins, steps = [0] * len(sizes), [1] * len(sizes)
    begins[axis], steps[axis] = begin, step
    return b.op("strided_slice", self, result=sizes, begin=begins, size=sizes, step=steps)


@rule("select.int", "select_copy.int")
def select(b, self, dim, index):
    axis = dim % len(self.shape)
    one = b.slice(self, axis, index % self.shape[axis], 1)
    return b.reshape(one, self.shape[:axis] + self.shape[axis + 1:])


@rule("split.Tensor", "split_with_sizes.default", "split.sizes", "chunk.default", "unsafe_split.Tensor", "tensor_split.sections")
def split(b, self, node, split_size=None, split_sizes=None, chunks=None, sections=None, dim=0):
    axis, at, parts = dim % len(self.shape), 0, []
    for one in node.meta["val"]:
        parts.append(b.slice(self, axis, at, one.shape[axis]))
        at += one.shape[axis]
    return parts


@rule("unbind.int")
def unbind(b, self, dim=0):
    return [select(b, self, dim, i) for i in range(self.shape[dim % len(self.shape)])]


@rule("cat.default", "concat.default")
def concat(b, tensors, node, dim=0):
    kind = node_dtype(node)
    there = [b.cast(x, kind) for x in tensors]
    axis = dim % len(there[0].shape)
    while len(there) > 64:
        there = [b.concat(there[i:i + 64], axis) for i in range(0, len(there), 64)]
    return b.concat(there, axis)


@rule("stack.default")
def stack(b, tensors, node, dim=0):
    axis = dim % (len(tensors[0].shape) + 1)
    return concat(b, [b.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in tensors], node, axis)


@rule("constant_pad_nd.default", "pad.default")
def pad(b, self, pad, value=0, mode="constant"):
    if mode != "constant":
        raise Refused(f"mode={mode}")
    x = self
    for i in range(len(pad) // 2):
        axis = len(x.shape) - 1 - i
        before, after = pad[2 * i], pad[2 * i + 1]
        if before < 0 or after < 0:
            raise Refused("pads below 0")
        edge = [n and b.fill((*x.shape[:axis], n, *x.shape[axis + 1:]), value or 0, x.dtype) for n in (before, after)]
        x = b.concat([p for p in (edge[0], x, edge[1]) if p], axis)
    return x


@rule("roll.default")
def roll(b, self, shifts, dims=()):
    if not dims:
        raise Refused("without dims")
    x = self
    for shift, dim in zip(shifts, dims):
        axis = dim % len(x.shape)
        n = x.shape[axis]
        at = -shift % n
        if at:
            x = b.concat([b.slice(x, axis, at, n - at), b.slice(x, axis, 0, at)], axis)
    return x


@rule("flip.default")
def flip(b, self, dims):
    x = self
    for dim in dims:
        n = x.shape[dim]
        places = b.ops("iota", [], [((n,), "i32")], shape=(n,), axis=0)[0]
        backwards = b.binary("sub", b.fill((), n - 1, "i32"), places)
        x = b.op("take", x, backwards, axis=dim % len(x.shape))
    return x


@rule("tril.default")
def tril(b, self, diagonal=0):
    return triangle(b, self, diagonal, True)


@rule("triu.default")
def triu(b, self, diagonal=0):
    return triangle(b, self, diagonal, False)


def triangle(b, x, diagonal, lower):
    shape = x.shape[-2:]
    rows, columns = (b.ops("iota", [], [(shape, "i32")], shape=shape, axis=axis)[0] for axis in (0, 1))
    edge = b.binary("add", rows, b.fill((), diagonal, "i32"))
    kept = b.binary("less_equal", *((columns, edge) if lower else (edge, columns)), kind="bool")
    return b.op("where", kept, x, b.fill((), 0, x.dtype), kind=x.dtype, result=x.shape)


# ---- places ----


@rule("index_select.default")
def index_select(b, self, dim, index):
    return take(b, self, dim, index)


def take(b, x, dim, index):
    axis = dim % len(x.shape)
    return b.op("take", x, index, axis=axis, result=x.shape[:axis] + index.shape + x.shape[axis + 1:])


@rule("index.Tensor")
def index(b, self, indices):
    named = [(axis, one) for axis, one in enumerate(indices) if one is not None]
    if len(named) != 1 or named[0][1].dtype != "i32":
        raise Refused("several tensors of indices, or a mask")
    return take(b, self, *named[0])


@rule("gather.default")
def gather(b, self, dim, index):
    axis = dim % len(self.shape)
    if index.shape[axis] != 1 or any(n != m for d, (n, m) in enumerate(zip(index.shape, self.shape)) if d != axis):
        raise Refused("more than one place along the axis")
    rest = self.shape[:axis] + self.shape[axis + 1:]
    return b.reshape(b.op("pick", self, b.reshape(index, rest), axis=axis, result=rest), index.shape)


@rule("embedding.default")
def embedding(b, weight, indices, padding_idx=-1, scale_grad_by_freq=False):
    if scale_grad_by_freq:
        raise Refused("scale_grad_by_freq=True")
    ids = b.reshape(indices, (indices.count,))
    rows = b.op("embedding", weight, ids, result=(ids.count, weight.shape[1]))
    if padding_idx >= 0:  # that row has no gradient
        there = b.reshape(b.binary("equal", ids, b.fill((), padding_idx, "i32"), kind="bool"), (ids.count, 1))
        rows = b.op("where", there, b.op("stop_gradient", rows), rows, kind=rows.dtype, result=rows.shape)
    return b.reshape(rows, (*indices.shape, weight.shape[1]))


# ---- reductions ----


def reduction(op):
    def made(b, self, node, dim=None, keepdim=False, dtype=None):
        x = self if dtype is None else b.cast(self, dtype_of(dtype))
        x = b.cast(x, node_dtype(node)) if op != "reduce_max" and op != "reduce_min" else x
        axes = [dim] if isinstance(dim, int) else dim
        return b.reduce(op, x, axes, keepdim)

    return made


rule("sum.default", "sum.dim_IntList")(reduction("reduce_sum"))
rule("mean.default", "mean.dim")(reduction("reduce_mean"))
rule("amax.default", "max.default")(reduction("reduce_max"))
rule("amin.default", "min.default")(reduction("reduce_min"))
rule("prod.default", "prod.dim_int")(reduction("reduce_prod"))


@rule("any.dim", "any.dims", "any.default", "all.dim", "all.dims", "all.default")
def some(b, self, node, dim=None, keepdim=False):
    op = "reduce_max" if "any" in node.target._schema.name else "reduce_min"
    axes = [dim] if isinstance(dim, int) else dim
    return b.cast(b.reduce(op, b.cast(b.cast(self, "bool"), "f32"), axes, keepdim), "bool")


@rule("var.correction", "std.correction")
def variance(b, self, node, dim=None, correction=None, keepdim=False):
    middle = b.reduce("reduce_mean", self, dim, True)
    away = b.binary("sub", self, middle)
    square = b.binary("mul", away, away)
    sums = b.reduce("reduce_sum", square, dim, keepdim)
    n = self.count // sums.count - (1 if correction is None else correction)
    if n <= 0:
        raise Refused("a variance of one element")
    found = b.rescale(sums, 1 / n)
    return b.op("sqrt", found) if "std" in node.target._schema.name else found


@rule("argmax.default", "argmin.default")
def arg(b, self, node, dim=None, keepdim=False):
    if dim is None:
        raise Refused("without dim")
    axis = dim % len(self.shape)
    rest = self.shape[:axis] + self.shape[axis + 1:]
    found = b.op(node.target._schema.name.split("::")[1], self, axis=axis, result=rest, kind="i32")
    return b.reshape(found, node.meta["val"].shape)


@rule("cumsum.default")
def cumsum(b, self, node, dim, dtype=None):
    return b.op("cumsum", b.cast(self, node_dtype(node)), axis=dim % len(self.shape))
