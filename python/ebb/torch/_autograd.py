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


# Graphs of earlier calls whose backward halves have not run count as long as the calls' results can still ask for them: what they hold is there
# while this call runs. A list of [plan, references to nodes of autograd, or None while the call runs], in the order of the forward halves.


def begin(waiting):
    """The plans of earlier calls that still count. Those of a call that failed do not."""
    waiting[:] = [entry for entry in waiting if entry[1] is not None and any(ref() is not None for ref in entry[1])]
    return [entry[0] for entry in waiting]


def close(waiting, key):
    """A backward half of a graph with this key has run."""
    for i in reversed(range(len(waiting))):
        if waiting[i][0].key == key:
            del waiting[i]
            return


def hang(waiting, references):
    """A call has ended, and its result hangs on these."""
    for entry in waiting:
        if entry[1] is None:
            entry[1] = references
