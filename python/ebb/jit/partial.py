"""partial_trace and xla_trace, on Ebb's own backends."""

import functools
import warnings

from .trace import trace


class xla_trace(trace):
    """trace, whose programs run on Ebb's own kernels: XLA is not used, and a warning says so once."""

    _warned = False

    def __init__(self, function, *, without_host=True, symbolic_shape=False, **kwargs):
        if not xla_trace._warned:
            xla_trace._warned = True
            warnings.warn("xla_trace: Ebb plans and runs this on its own kernels, not on XLA", stacklevel=2)
        super().__init__(function, without_host=without_host, symbolic_shape=symbolic_shape, **kwargs)


def partial_trace(func=None, *, backend="default", without_host=True, **options):
    """For functions whose gradients are asked for outside: they run op by op, or as parts of the trace that
    calls them. What is outside decides what must be kept, so that there is nothing to plan alone."""
    if backend not in ("default", "xla"):
        raise ValueError(f"partial_trace: backend {backend!r}: default or xla, which are the same here")
    if func is None:
        return functools.partial(partial_trace, backend=backend, without_host=without_host, **options)

    @functools.wraps(func)
    def called(*args, **kwargs):
        return func(*args, **kwargs)

    return called
