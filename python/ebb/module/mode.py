"""Which modules are in evaluation.

A traced call depends on the modes of the modules that it runs, and which those are is not known before it has
run. So a recording's key has a number that stands for all modules' modes: each module has 64 bits of its own,
and the number is the exclusive or of those that are in evaluation. train() and eval() change it and change it
back, in a few nanoseconds; modules that are made, or dropped, leave it alone. A module that a trace does not
use costs that trace one more recording when its mode changes.
"""

import random

_bits = random.Random("modes of modules")
_now = 0


def now():
    return _now


class Mode:
    """A module's mode; in training at first."""

    __slots__ = ("training", "_own")

    def __init__(self):
        self.training = True
        self._own = _bits.getrandbits(64)

    def set(self, training):
        global _now
        if self.training != training:
            self.training = training
            _now ^= self._own

    def __del__(self):
        self.set(True)

    def __deepcopy__(self, memo):
        copy = Mode()
        copy.set(self.training)
        return copy

    def __reduce__(self):
        return _rebuild, (self.training,)


def _rebuild(training):
    mode = Mode()
    mode.set(training)
    return mode
