"""MegEngine's switches: they may be set, and change nothing. A plan's kernels are chosen with it, and the bits are the
same whatever is chosen for memory's sake."""

import contextlib

__all__ = [
    "async_level", "auto_format_convert", "benchmark_kernel", "bn_format", "deterministic_kernel",
    "disable_memory_forwarding", "override",
]

async_level = 2
auto_format_convert = False
benchmark_kernel = False
bn_format = "dim_1c11"
deterministic_kernel = True
disable_memory_forwarding = False


@contextlib.contextmanager
def override(**switches):
    """Sets switches for a while."""
    unknown = set(switches) - set(__all__)
    if unknown:
        raise TypeError(f"config: no switch {sorted(unknown)[0]!r}")
    before = {name: globals()[name] for name in switches}
    globals().update(switches)
    try:
        yield
    finally:
        globals().update(before)


_override = override
