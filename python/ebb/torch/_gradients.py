"""Gradients lie as their parameters do. Where one lies otherwise, autograd copies it once the backward half has run, with all others there: the copy
is made in the graph, where it is planned, and what it is made of dies."""

import torch
from torch import fx

from . import _layouts
from . import _private as private

aten = torch.ops.aten


def lay(graph, primals, gradients, leaves):
    """The gradients with copies in place of those that autograd would copy for a leaf among the inputs; the same if nothing is known of these."""
    mode = private.detect_fake_mode([n.meta.get("val") for n in primals])
    if mode is None or not len(leaves) == len(primals) == len(gradients):
        return gradients
    laid = list(gradients)
    with private.no_modes(), mode, torch.no_grad():
        for i, (primal, gradient, leaf) in enumerate(zip(primals, gradients, leaves)):
            order = order_kept(gradient.meta.get("val"), primal.meta.get("val")) if leaf and isinstance(gradient, fx.Node) else None
            if order:
                laid[i] = copy_of(graph, gradient, order)
    return laid


def order_kept(gradient, parameter):
    """The order of axes, from the farthest apart to the nearest, in which autograd keeps a parameter's gradient: the parameter's, or that of rows where
    it is not dense. None: the gradient lies so."""
    if not all(isinstance(t, torch.Tensor) and _layouts.plain(t) for t in (gradient, parameter)) or gradient.shape != parameter.shape:
        return None
    rows = list(range(parameter.dim()))
    order = next((o for o in (_layouts.order_of(parameter), rows) if lies(parameter, o)), rows)
    return None if lies(gradient, order) else order


def lies(tensor, order):
    """Whether it is dense in this order: axes of one element lie anyhow."""
    step = 1
    for d in reversed(order):
        if tensor.shape[d] > 1 and tensor.stride(d) != step:
            return False
        step *= tensor.shape[d]
    return True


def copy_of(graph, node, order):
    """After the node: its values with its axes in this order, from the farthest apart to the nearest."""
    made = node
    for target, args, kwargs in (
        (aten.permute.default, (order,), {}),
        (aten.clone.default, (), {"memory_format": torch.contiguous_format}),
        (aten.permute.default, ([order.index(d) for d in range(len(order))],), {}),
    ):
        with graph.inserting_after(made):
            after = graph.call_function(target, (made, *args), kwargs)
        after.meta.update(node.meta)
        after.meta["val"] = target(made.meta["val"], *args, **kwargs)
        made = after
    return made
