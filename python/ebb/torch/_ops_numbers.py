"""Copies, casts, and tensors that are made of numbers."""

from ._ops_pointwise import linear_in
from ._table import dtype_of, node_dtype, rule

# ---- copies and numbers ----


@rule("clone.default", "contiguous.default", "detach.default", "detach_.default", "alias.default", "lift_fresh_copy.default",
      "_to_copy.default", "to.dtype", "to.dtype_layout", "to.device", "type_as.default")
def copied(b, self, dtype=None, other=None, node=None):
    if node.target._schema.name == "aten::detach":
        return b.op("stop_gradient", self)
    if other is not None:
        return b.cast(self, other.dtype)
    return self if dtype is None else b.cast(self, dtype_of(dtype))


@rule("full.default", "full_like.default", "new_full.default", "scalar_tensor.default")
def full(b, node, self=None, size=None, fill_value=None, s=None, dtype=None):
    return b.fill(node.meta["val"].shape, s if s is not None else fill_value, node_dtype(node))


@rule("zeros.default", "zeros_like.default", "new_zeros.default")
def zeros(b, node, self=None, size=None, dtype=None):
    return b.fill(node.meta["val"].shape, 0, node_dtype(node))


@rule("ones.default", "ones_like.default", "new_ones.default")
def ones(b, node, self=None, size=None, dtype=None):
    return b.fill(node.meta["val"].shape, 1, node_dtype(node))


@rule("arange.default", "arange.start", "arange.start_step")
def arange(b, node, start=0, end=None, step=1, dtype=None):
    places = b.ops("iota", [], [(node.meta["val"].shape, "i32")], shape=node.meta["val"].shape, axis=0)[0]
    kind = node_dtype(node)
    if all(isinstance(n, int) for n in (start, step)):
        return b.cast(linear_in(b, places, step, start), kind)
    return b.rescale(b.cast(places, kind), step, start)
