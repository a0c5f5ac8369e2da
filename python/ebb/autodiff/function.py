"""Function: an operation whose gradient is given by its author; and which managers see what."""

import contextlib

from .. import _core, _shape
from .._tensor import Tensor

_recording = []  # (tape, calls, depth, watched) of the managers that record; inner ones are deeper
_unseen = []  # of each unseen() that goes on: the tapes that it has paused
_parts = []  # of each part() that goes on


class Call:
    """One call of a Function: what it took, and its results as the tapes know them."""

    def __init__(self, function, inputs, outputs):
        self.function, self.inputs, self.outputs = function, inputs, outputs

    def gradients(self, of_outputs):
        """(input, gradient) of each input that gets one."""
        given = self.function.backward(*of_outputs)
        given = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if given == (None,):
            return []
        if len(given) != len(self.inputs):
            name = type(self.function).__name__
            raise ValueError(f"{name}.backward: {len(given)} gradients for {len(self.inputs)} inputs")
        return [(x, g) for x, g in zip(self.inputs, given) if g is not None]


class Function:
    """forward(*tensors) says what it gives, backward(*gradients) what its inputs get.

    backward takes a gradient, or None, for each result of forward, and returns one, or None, for each input. It is
    made of ops, too: an outer GradManager sees them.
    """

    saved_tensors = ()

    def forward(self, *inputs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def backward(self, *gradients):
        raise NotImplementedError(f"{type(self).__name__} has no backward()")

    def save_for_backward(self, *tensors):
        """Tensors that backward finds in saved_tensors."""
        self.saved_tensors = tensors

    def __call__(self, *inputs):
        for x in inputs:
            if not isinstance(x, _core.Tensor):
                raise TypeError(f"op {type(self).__name__} expect type Tensor as inputs, got {type(x).__name__}")
        if _parts:
            raise RuntimeError(f"{type(self).__name__}: a gradient of its own cannot be part of a planned backward: call it outside of partial_trace")
        tapes = [(tape, calls) for tape, calls, *_ in _recording]
        with unseen():
            given = self.forward(*inputs)
            several = isinstance(given, (tuple, list))
            outputs = tuple(_shape.detach(y) for y in (given if several else (given,)))
        # Values of now: an update behind this call gives a parameter another one.
        call = Call(self, tuple(value_of(x) for x in inputs), outputs) if tapes else None
        for tape, calls in tapes:
            for y in outputs:
                tape.watch(y)
            calls.append(call)
        return outputs if several else outputs[0]

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "saved_tensors"}


def value_of(x):
    """Another tensor with x's value of now."""
    value = Tensor.__new__(Tensor)
    value._share(x)
    return value


def depth():
    """The depth of a manager that begins now."""
    return 1 + max((depth for _, _, depth, _ in _recording), default=0)


def begin(tape, depth, watched):
    """The list that calls under this tape are put into, until end(). watched: what the tape does, by any key."""
    calls = []
    _recording.append((tape, calls, depth, watched))
    return calls


def alone():
    """(tape, calls, watched) of the one manager that records, or None where there is none, or several, or where none
    sees what is done."""
    if len(_recording) != 1 or _unseen:
        return None
    tape, calls, _, watched = _recording[0]
    return tape, calls, watched


@contextlib.contextmanager
def part():
    """What is done here is for a tape of the part's own, and for no manager of now."""
    _parts.append(True)
    try:
        with unseen():
            yield
    finally:
        _parts.pop()


@contextlib.contextmanager
def unseen():
    """No manager of now records what is done here."""
    tapes = [] if _unseen else [tape for tape, *_ in _recording]
    _unseen.append(tapes)
    for tape in tapes:
        tape.pause(True)
    try:
        yield
    finally:
        _unseen.pop()
        for tape in tapes:
            tape.pause(False)


@contextlib.contextmanager
def seen_from_outside(tape):
    """What is done here is recorded by managers outside of this tape's: not by those beside it, or within."""
    own = next(depth for one, _, depth, _ in _recording if one is tape)
    paused = [one for one, _, depth, _ in _recording if depth >= own and one is not tape]
    for one in paused:
        one.pause(True)
    try:
        yield
    finally:
        for one in paused:
            one.pause(False)


def end(tape):
    _recording[:] = [one for one in _recording if one[0] is not tape]


def _add(a, b):
    return b if a is None else a if b is None else a + b


def _swept(tape, calls, ys, dys, of):
    """Through calls that know where on the tape they were, in the tape's own order."""
    sweep = _core.Sweep(tape, ys, dys, [*of, *(y for call in calls for y in call.outputs)])
    for call in reversed(calls):
        sweep.back(call.position)
        call.sweep(sweep)
    sweep.back(0)
    return [sweep.get(x) for x in of]


def gradients(tape, calls, ys, dys, of):
    """What tape.gradients gives, through calls of Functions, the last one first.

    Their results are values that the tape watches, so that each piece of work between calls is gone through by
    itself."""
    if not calls:
        return tape.gradients(ys, dys, of)
    if all(hasattr(call, "sweep") for call in calls):
        return _swept(tape, calls, ys, dys, of)
    results = [y for call in calls for y in call.outputs]
    wanted = [*of, *results]
    found = [None] * len(wanted)

    def add(ys, dys):
        for i, g in enumerate(tape.gradients(ys, dys, wanted, True)):
            found[i] = _add(found[i], g)

    add(ys, dys)
    at = len(wanted)
    for call in reversed(calls):
        at -= len(call.outputs)
        mine = found[at : at + len(call.outputs)]
        pairs = call.gradients(mine) if any(g is not None for g in mine) else []
        if pairs:
            add([x for x, _ in pairs], [g for _, g in pairs])
    return found[: len(of)]
