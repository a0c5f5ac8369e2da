"""Gradients at which a traced function looks: each call has others, and its recording depends on which are there."""

import contextlib
import threading
import weakref

from .._special import is_without
from .._tensor import on_grad


class Gradients:
    """Of one trace: the tensors whose gradients its calls have looked at so far, in that order."""

    def __init__(self):
        self._known = []  # weak references
        self._seen = {}  # of the call that goes on, by id: so that each is told once

    def key(self, parts, tensors):
        """A call's key: these parts, and which arguments, and which of the known, have gradients now."""
        self._parts, self._n_told = parts, len(self._known)
        self._arguments = "".join(str(i) + "," for i, t in enumerate(tensors) if t.__dict__.get("grad") is not None)
        self._there = [ref() is not None and ref().__dict__.get("grad") is not None for ref in self._known]
        return self._text()

    def _text(self):
        there = "".join(str(i) + "," for i, is_there in enumerate(self._there) if is_there)
        return "\n".join([*self._parts, f"gradients {self._arguments}:{there}"]).encode()

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
            if id(tensor) not in arguments and not any(ref() is tensor for ref in self._known):
                self._known.append(weakref.ref(tensor))
                self._there.append(gradient is not None)
            if gradient is not None and not is_without(gradient):
                core.beside(tensor, gradient)

        on_grad.append(look)
        try:
            yield
            if len(self._known) > self._n_told:
                core.rekey(self._text())
        finally:
            on_grad.remove(look)
            self._seen.clear()
