"""partial_trace and xla_trace."""

import functools

from .. import _core
from ..autodiff import function as autodiff
from .structure import tensors_of
from .trace import _inside, trace


class xla_trace(trace):
    """trace, whose programs XLA compiles and runs, the first call's too. Where no plugin is found they run on Ebb's own
    kernels: `backend` tells, and a warning does once. backend="xla": nothing but XLA will do."""

    def __init__(self, function=None, *, without_host=True, symbolic_shape=False, symbolic=True, backend=None, **kwargs):
        super().__init__(function, symbolic, without_host=without_host, symbolic_shape=symbolic_shape,
                         backend=backend or "own", **kwargs)
        self._xla_if_here = backend is None


class partial_trace(trace):
    """trace, for functions whose gradients are asked for outside. The forward is planned, and gives what backward
    will read; the backward of each call is planned, too, and runs when the GradManager outside comes to it: what is
    done between runs op by op. `backward` is the trace of the backwards: backward.plan(), and so on.

    backend="xla": as xla_trace does, both by XLA; the values that backward reads of forward are results of the one and
    arguments of the other.

    Where several managers record, the backward runs op by op, so that gradients of gradients can be had. Within
    another traced call it is a part of that."""

    def __init__(self, function=None, *, backend="default", without_host=True, symbolic=True, **options):
        if backend not in ("default", "xla"):
            raise ValueError(f"partial_trace: backend {backend!r}: default or xla")
        super().__init__(function, symbolic, without_host=without_host, **options)
        if "budget_share" in self._options:
            raise ValueError(f"partial_trace: budget={self._options['budget_share']:g}: a share is of one program's plan, and "
                             'here forward and backward have one each: give bytes, "11GiB"')
        self.backward = _Backward(function, True, without_host=without_host, **options)
        self._xla_if_here = self.backward._xla_if_here = backend == "xla"

    def __call__(self, *args, **kwargs):
        outside = None if _inside() else autodiff.alone()
        if outside is None:
            return super().__call__(*args, **kwargs)
        part = _Part(self.backward, outside, (args, kwargs))
        result = self._traced(functools.partial(part.run, self.__wrapped__), " with its backward", args, kwargs)
        part.results_watch(outside[0], result)
        outside[1].append(part)
        return result

    def fit(self, arguments, budget=None, **how):
        raise ValueError("partial_trace: fit: what a step takes depends on what is done outside of it, too: trace the whole "
                         "step")


class _Backward(trace):
    """What came of the backwards of a partial_trace; they are called by _Part."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._options.update(arguments_stay=True, keep=False, strict=False)

    def gradients(self, tape, ys, dys, of):
        try:
            return tape.gradients(ys, dys, of, False, self._start())
        finally:
            self._line.clear()


class _Part:
    """A call, as the GradManager outside sees it: where it was on the outer tape, what it took, its results, and its
    own tape."""

    def __init__(self, backward, outside, arguments):
        seen_by, _, watched = outside
        self._backward, self._tape, self.position = backward, _core.Tape(), seen_by.length()
        self.inputs, self.outputs, found = [], [], []
        self._tape.pause(True)
        tensors_of(arguments, found)
        for x in [*watched.values(), *(autodiff.value_of(x) for x in found if seen_by.sees(x))]:
            if not self._tape.sees(x):  # once, whatever it is called
                self._tape.watch(x)
                self.inputs.append(x)

    def run(self, function, *args, **kwargs):
        self._tape.pause(False)
        try:
            with autodiff.part():
                return function(*args, **kwargs)
        finally:
            self._tape.pause(True)

    def results_watch(self, tape, result):
        """What was made of the inputs is watched outside; what is an input is known there."""
        found = []
        tensors_of(result, found)
        for y in found:
            if self._tape.sees(y) and not tape.sees(y):
                self.outputs.append(autodiff.value_of(y))
                tape.watch(y)

    def _gradients(self, ys, dys):
        return self._backward.gradients(self._tape, ys, dys, self.inputs)

    def gradients(self, given):
        """(input, gradient) of each input that gets one."""
        pairs = [(y, g) for y, g in zip(self.outputs, given) if g is not None]
        found = self._gradients([y for y, _ in pairs], [g for _, g in pairs])
        return [(x, g) for x, g in zip(self.inputs, found) if g is not None]

    def sweep(self, sweep):
        """Goes on with what has come to the results. What has come to the inputs is what their sums begin with."""
        given = [(y, sweep.get(y)) for y in self.outputs]
        if all(g is None for _, g in given):
            return
        given += [(x, sweep.get(x)) for x in self.inputs]
        pairs = [(y, g) for y, g in given if g is not None]
        for x, g in zip(self.inputs, self._gradients([y for y, _ in pairs], [g for _, g in pairs])):
            if g is not None:
                sweep.set(x, g)
