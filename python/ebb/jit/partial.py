"""partial_trace and xla_trace, on Ebb's own backends."""

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


class partial_trace(trace):
    """trace, for functions whose gradients are asked for outside: the forward is planned, and what backward will
    read is kept; the backward outside runs op by op. Within another traced call it is a part of that."""

    def __init__(self, function, *, backend="default", without_host=True, symbolic=True, **options):
        if backend not in ("default", "xla"):
            raise ValueError(f"partial_trace: backend {backend!r}: default or xla, which are the same here")
        super().__init__(function, symbolic, without_host=without_host, **options)
