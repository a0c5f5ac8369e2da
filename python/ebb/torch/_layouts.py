"""How results lie in memory. FakeTensors do not always say what an op returns: some leave a result in a larger storage, with other
strides, or of another type, which the ops after them then see. What was measured sets such results right, and what is made of them is traced anew. Where a view or a
group of ops cannot read a result as it lies, it is copied to where the graph says right after its op."""

import operator

import torch
from torch import fx

from . import _joint, _recurrent
from . import _private as private


def plain(value):
    """A dense tensor whose sizes are numbers."""
    return value.layout is torch.strided and all(isinstance(n, int) for n in (*value.shape, *value.stride(), value.storage_offset()))


class describe:
    """Prints as a tensor's kind, `placed` with its place in its storage; other values as themselves."""

    def __init__(self, value, placed=False):
        self.value, self.placed = value, placed

    def __repr__(self):
        value = self.value
        if isinstance(value, torch.Tensor):
            place = f"{value.storage_offset()}/{private.storage_bytes(value)}" if self.placed and plain(value) else ""
            sizes = "" if plain(value) else tuple(map(private.hint, (*value.shape, *value.stride())))  # what its symbols stand for
            return f"{value.dtype}{tuple(value.shape)}{value.stride()}{value.device}{place}{sizes}"
        if isinstance(value, (list, tuple)):
            return repr([describe(one, self.placed) for one in value])
        return f"{value} = {private.number(value)}" if isinstance(value, torch.SymInt) else repr(value)


def real(value):
    """A tensor like a FakeTensor. Indices are zeros, which are inside of any table."""
    if isinstance(value, (list, tuple)):
        return type(value)(real(one) for one in value)
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        return private.number(value)
    if not isinstance(value, torch.Tensor):
        return value
    if plain(value) and not value.is_conj():
        base = torch.empty(private.storage_bytes(value) // value.element_size(), dtype=value.dtype, device=value.device)
        tensor = base.as_strided(value.shape, value.stride(), value.storage_offset())
    else:
        sizes = [tuple(map(private.hint, numbers)) for numbers in (value.shape, value.stride())]  # int() of a symbol would settle it for good
        base = tensor = torch.empty_strided(*sizes, dtype=value.dtype, device=value.device)
    base.fill_(0.5) if value.is_floating_point() else base.zero_()
    return tensor


def layout(value):
    """[(strides, offset, bytes of the storage, dtype)] of the tensors of a result; None for one that is not plain."""
    return [(tuple(t.stride()), t.storage_offset(), private.storage_bytes(t), t.dtype) if plain(t) else None for t in _joint.tensors_of(value)]


def hinted(value):
    """A FakeTensor like one of symbolic sizes, of the numbers that they stand for now; other values as they are."""
    if isinstance(value, (list, tuple)):
        return type(value)(hinted(one) for one in value)
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        return private.number(value)
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided or plain(value):
        return value
    return torch.empty_strided(*[tuple(map(private.hint, sizes)) for sizes in (value.shape, value.stride())], dtype=value.dtype, device=value.device)


def follow(joint, node, found):
    """Of a node of symbolic sizes: results that lie otherwise than said, by what was measured (`found`) and what it is made of, are followed to the
    views that cannot read them so."""
    said = value = hinted(node.meta["val"])
    if any(n in joint.actual for n in node.all_input_nodes) and (node.target is operator.getitem or isinstance(node.target, torch._ops.OpOverload)):
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: joint.actual[n] if n in joint.actual else hinted(n.meta.get("val")))
        try:
            value = node.target(*args, **kwargs)
        except (RuntimeError, TypeError, ValueError):
            joint.restored.update(joint.made[r].node for r in joint.roots(node) if r in joint.made and r in joint.actual)
    elif found is not None and None not in layout(said) and len(found) == len(layout(said)):
        value = laid(said, list(found))
    joint.actual.pop(node, None)
    if node not in joint.restored and [place and place[0] for place in layout(value)] != [place and place[0] for place in layout(said)]:
        joint.actual[node] = value


def laid(value, layouts):
    """FakeTensors like `value` that lie so; layouts is used up."""
    if isinstance(value, (list, tuple)):
        return type(value)(laid(one, layouts) for one in value)
    if not isinstance(value, torch.Tensor):
        return value
    place = layouts.pop(0)
    if place is None:
        return value
    strides, offset, n_bytes, dtype = place
    base = torch.empty(n_bytes // dtype.itemsize, dtype=dtype, device=value.device)
    return base.as_strided(value.shape, strides, offset)


def traced(joint, node, value):
    """The node's result on operands as they lie now."""
    if not any(n in joint.layouts for n in node.all_input_nodes):
        return value
    if node.target is not operator.getitem and not isinstance(node.target, torch._ops.OpOverload):
        return value
    args, kwargs = fx.map_arg((node.args, node.kwargs), joint.value_of)
    try:
        return node.target(*args, **kwargs)
    except (RuntimeError, TypeError, ValueError):
        restore(joint, joint.roots(node))  # a view that these strides do not allow
        return value


def order_of(tensor):
    """Its dimensions from the farthest apart to the nearest."""
    strides = [private.hint(n) for n in tensor.stride()]
    return sorted(range(len(strides)), key=lambda d: (-strides[d], d))


def restore(joint, roots):
    joint.restored.update(joint.made[r].node for r in roots if r in joint.made and r in joint.layouts)


def target_of(joint, node, target=None):
    """What runs a node: its op, or `target` in its place, and where that has to be the copies of its results."""
    run = _recurrent.callable_of(target or node.target)
    if node not in joint.restored:
        return run
    orders = [order_of(t) for t in _joint.tensors_of(node.meta["val"])]

    def restored(*args, **kwargs):
        return in_order(run(*args, **kwargs), list(orders))

    restored.__name__ = restored.__qualname__ = f"restored_{node.target._schema.name.split('::')[1]}"
    return restored


def in_order(value, orders):
    """The result with its tensors' dimensions in these orders, which are used up."""
    if isinstance(value, (list, tuple)):
        return type(value)(in_order(one, orders) for one in value)
    if not isinstance(value, torch.Tensor):
        return value
    order = orders.pop(0)
    return value.permute(order).contiguous().permute([order.index(d) for d in range(len(order))])


def settle(joint, measured):
    """Goes through the graph once; measured(unit) gives the layout of a unit's results as it runs now, or None. True: layouts are others
    than they were, so that some units are to be measured on other operands."""
    units = {unit.node: unit for unit in joint.units if unit.fused is None}
    inside = {node for unit in joint.units if unit.fused is not None for node in unit.nodes}
    changed, n_restored = False, len(joint.restored)
    mode = private.detect_fake_mode([n.meta.get("val") for n in joint.placeholders])
    if mode is None:
        return False
    with private.no_modes(), mode, torch.no_grad():
        for node in joint.graph.nodes:
            if node.op != "call_function" or node in inside or not _joint.tensors_of(node.meta.get("val")):
                continue
            value = traced(joint, node, node.meta["val"])
            found = measured(units[node]) if node in units else None
            if not all(map(plain, _joint.tensors_of(value))):
                follow(joint, node, found)
            elif found is not None and None not in layout(value) and len(found) == len(layout(value)) and found != layout(value):
                value = laid(value, list(found))
            before = layout(joint.value_of(node))
            if layout(value) != before:
                changed = True
                joint.layouts[node] = value
    for unit in joint.units:
        if unit.fused is not None:
            restore(joint, [r for r in unit.roots if r in joint.layouts and joint.layouts[r].stride() != r.meta["val"].stride()])
    for node, made in joint.made.items():
        if node in joint.layouts:
            made.bytes = private.storage_bytes(joint.layouts[node])
    return changed or len(joint.restored) > n_restored
