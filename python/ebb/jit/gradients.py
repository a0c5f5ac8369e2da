"""Gradients at which a traced function looks: each call has others, and its recording depends on which are there."""

import contextlib
import threading
import weakref

from .._special import is_without
from .._tensor import on_grad


class Gradients:
    """Of one trace: the tensors whose gradients its calls have looked at so far."""

    def __init__(self):
        self._known = {}  # by id: a number of its own, and a weak reference
        self._n_numbers = 0
        self._seen = {}  # of the call that goes on, by id: so that each is told once

    def key(self, parts, tensors):
        """A call's key: these parts, and which arguments, and which of the known, have gradients now."""
        self._parts, self._grown, self._there = parts, False, []
        self._arguments = [str(i) for i, t in enumerate(tensors) if t.__dict__.get("grad") is not None]
        for name, (number, ref) in list(self._known.items()):
            tensor = ref()
            if tensor is None:
                del self._known[name]
            elif tensor.__dict__.get("grad") is not None:
                self._there.append(str(number))
        return self._text()

    def _text(self):
        return "\n".join([*self._parts, f"gradients {' '.join(self._arguments)}:{' '.join(self._there)}"]).encode()

    def _learn(self, tensor, gradient):
        known = self._known.get(id(tensor))
        if known is not None and known[1]() is tensor:
            return
        self._known[id(tensor)] = self._n_numbers, weakref.ref(tensor)
        if gradient is not None:
            self._there.append(str(self._n_numbers))
            self._grown = True
        self._n_numbers += 1

    @contextlib.contextmanager
    def of_call(self, core, tensors):
        """While the function runs. Then the recording has the key that it would have had, had all been known."""
        thread, arguments = threading.get_ident(), {id(t) for t in tensors}

        def look(tensor, gradient, looks):
            if id(tensor) in self._seen or threading.get_ident() != thread:
                return
            self._seen[id(tensor)] = tensor
            if not looks:  # what was there before is of no matter
                return
            if id(tensor) not in arguments:
                self._learn(tensor, gradient)
            if gradient is not None and not is_without(gradient):
                core.beside(tensor, gradient)

        on_grad.append(look)
        try:
            yield
            if self._grown:
                core.rekey(self._text())
        finally:
            on_grad.remove(look)
            self._seen.clear()
