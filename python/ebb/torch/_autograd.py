"""What a call's result hangs on: the graphs that were compiled, and ops between them that keep tensors for their gradients untold."""

import weakref

import torch

from . import _private as private


class Found:
    """The nodes of autograd between tensors and those of `inputs`: `compiled` are the graphs next to the tensors, and `outside` says whether an
    op that is in no graph keeps tensors."""

    def __init__(self, result, inputs):
        ends = {tensor.grad_fn for tensor in tensors_of(inputs) if tensor.grad_fn is not None}
        self.compiled, self.outside = [], False
        stack = [(tensor.grad_fn, True) for tensor in tensors_of(result) if tensor.grad_fn is not None]
        seen = set()
        while stack:
            node, near = stack.pop()
            if node in seen or node in ends:
                continue
            seen.add(node)
            if private.is_compiled(node):
                if near:
                    self.compiled.append(weakref.ref(node))
                near = False
            elif not self.outside:
                self.outside = private.keeps_tensors(node)
            stack.extend((below, near) for below, _ in node.next_functions if below is not None)


def tensors_of(value):
    return [leaf for leaf in private.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


class Waiting:
    """A forward half that has run, whose backward half may be asked for yet: what it holds is there while later calls run. That is as long as
    anything can ask for it (`nodes`: references to nodes of autograd; None while the call runs) and what it has saved is there, retained or not
    (`saved`: a weak reference to a storage of its own; None: nothing but others', until a backward half of its kind has run)."""

    def __init__(self, plan):
        self.plan, self.saved, self.nodes = plan, None, None

    def counts(self):
        """Those of a call that failed do not."""
        return any(ref() is not None for ref in self.nodes or ()) and not (self.saved is not None and self.saved.expired())


def begin(waiting):
    """The plans of earlier calls that still count, in the order of their forward halves."""
    waiting[:] = [entry for entry in waiting if entry.counts()]
    return [entry.plan for entry in waiting]


def close(waiting, key):
    """A backward half of a graph with this key has run."""
    for i in reversed(range(len(waiting))):
        if waiting[i].saved is None and waiting[i].plan.key == key:
            del waiting[i]
            return


def hang(waiting, references):
    """A call has ended, and its result hangs on these."""
    for entry in waiting:
        if entry.nodes is None:
            entry.nodes = references


def saved_place(graph, n_results):
    """Which result of a forward half is the largest that it saves of its own, and that the caller is not given; None: there is none."""
    values = [n.meta.get("val") if isinstance(n, torch.fx.Node) else None for n in graph.output_node().args[0]]
    others = [n.meta.get("val") for n in graph.find_nodes(op="placeholder")] + values[:n_results]
    known = {private.storage_key(t) for t in others if isinstance(t, torch.Tensor)}
    own = [i for i, t in enumerate(values) if i >= n_results and isinstance(t, torch.Tensor) and private.storage_key(t) not in {None, *known}]
    return max(own, key=lambda i: private.storage_bytes(values[i]), default=None)
