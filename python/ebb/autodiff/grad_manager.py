"""GradManager: what is attached gets its gradients in `.grad`."""

import contextlib
import weakref

from .. import _core
from .._shape import broadcast_to
from .._special import is_without
from .._tensor import Tensor, as_tensor
from ..jit.trace import give_grad, may_differ
from . import function


class _Attached:
    """A tensor and what is to be done with its gradients. An argument of a traced call is the caller's tensor, by
    another handle of the same attributes: the last that was attached, and is there, counts."""

    def __init__(self):
        self._handles, self.callbacks = [], []

    def add(self, tensor):
        if self.tensor() is not tensor:
            self._handles = [*(ref for ref in self._handles if ref() is not None), weakref.ref(tensor)]

    def tensor(self):
        return next((ref() for ref in reversed(self._handles) if ref() is not None), None)


class GradManager:
    """Records what is done with the tensors that are attached, and puts gradients into their `.grad`.

    with gm:  or  gm.record() ... begins; gm.backward(y, dy) adds the gradients to what `.grad` holds, and ends.
    """

    def __init__(self):
        self._attached = {}
        self._tape = None
        self._watched = {}
        self._calls = []

    # ---- what is attached

    def attach(self, tensors, callbacks=None):
        """A tensor or several. callbacks: functions of (tensor, gradient) that return the gradient to use."""
        if callbacks is None:
            callbacks = []
        elif callable(callbacks):
            callbacks = [callbacks]
        if hasattr(tensors, "parameters"):
            raise TypeError(f"attach: tensors, not {type(tensors).__name__}: give its parameters()")
        tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"attach: tensors, not {type(tensor).__name__}")
        for tensor in tensors:
            key = id(vars(tensor))
            if key not in self._attached or self._attached[key].tensor() is None:
                self._attached[key] = _Attached()
            self._attached[key].add(tensor)
            self._attached[key].callbacks.extend(callbacks)
            self._watch(key)
        return self

    def attached_tensors(self):
        return [a.tensor() for a in self._attached.values() if a.tensor() is not None]

    def _watch(self, key):
        tensor = self._attached[key].tensor()
        if self._tape is None or key in self._watched or tensor is None or is_without(tensor):
            return
        # The value of now: an update within the record gives the tensor another one.
        value = Tensor.__new__(Tensor)
        value._share(tensor)
        self._tape.watch(value)
        self._watched[key] = value

    # ---- a record

    def record(self):
        """From now on ops are recorded."""
        self._record(None)

    def _record(self, depth):
        if self._tape is not None:
            raise RuntimeError("already recording")
        self._tape = _core.Tape()
        self._calls = function.begin(self._tape, function.depth() if depth is None else depth, self._watched)
        try:
            for key in list(self._attached):
                if self._attached[key].tensor() is None:
                    del self._attached[key]
                else:
                    self._watch(key)
        except BaseException:
            self.release()
            raise

    def release(self):
        """Forgets what was recorded."""
        if self._tape is not None:
            function.end(self._tape)
            self._tape.close()
        self._tape = None
        self._calls = []
        self._watched = {}

    def backward(self, y=None, dy=None):
        """Gradients of y, a tensor or several, weighed by dy (ones), are added to those of the attached."""
        if self._tape is None:
            raise RuntimeError(
                "no computation history: record() comes before backward(), which can be called once for it"
            )
        try:
            ys, dys = self._pairs(y, dy)
            keys = [k for k in self._watched if self._attached[k].tensor() is not None]
            values = [self._watched[k] for k in keys]
            gradients = [None] * len(keys)
            if ys:
                with function.seen_from_outside(self._tape):
                    gradients = function.gradients(self._tape, self._calls, ys, dys, values)
            function.end(self._tape)
            self._tape.close()
            self._tape = None  # what follows is not recorded any more
            for key, gradient in zip(keys, gradients):
                if gradient is not None:
                    self._give(self._attached[key], gradient)
        finally:
            self.release()

    @staticmethod
    def _pairs(y, dy):
        ys = [] if y is None else list(y) if isinstance(y, (tuple, list)) else [y]
        for one in ys:
            if not isinstance(one, _core.Tensor):
                raise TypeError(f"backward: tensors, not {type(one).__name__}")
        dys = [None] * len(ys) if dy is None else list(dy) if isinstance(dy, (tuple, list)) else [dy]
        if len(ys) != len(dys):
            raise ValueError(f"backward: {len(ys)} tensors and {len(dys)} gradients of them")
        there = [(one, d) for one, d in zip(ys, dys) if not is_without(one)]
        return [one for one, _ in there], [d if d is None else broadcast_to(as_tensor(d, one.dtype), one.shape) for one, d in there]

    @staticmethod
    def _give(attached, gradient):
        tensor = attached.tensor()
        for callback in attached.callbacks:
            gradient = callback(tensor, gradient)
        present = tensor.grad
        if present is None:
            give_grad(tensor, gradient)
            return
        before = may_differ(True)
        present += gradient
        may_differ(before)

    def __enter__(self):
        self.record()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.release()

    def __or__(self, other):
        if isinstance(other, GradManager):
            return GradManagerGroup([self, other])
        return NotImplemented

    __ror__ = __or__


class GradManagerGroup:
    """Several at once: `with a | b:`. Each is asked for its own backward."""

    def __init__(self, managers):
        self._managers = list(managers)

    def merge_with(self, other):
        if isinstance(other, GradManager):
            other = GradManagerGroup([other])
        return GradManagerGroup([*self._managers, *other._managers])

    __or__ = merge_with
    __ror__ = merge_with

    def __enter__(self):
        depth = function.depth()
        with contextlib.ExitStack() as begun:  # all of them, or none
            for manager in self._managers:
                manager._record(depth)
                begun.callback(manager.release)
            begun.pop_all()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        for manager in self._managers:
            manager.release()
