"""Random tensors. The same seed draws the same again."""

from . import _core

__all__ = ["normal", "seed", "uniform"]

_normal = _core.op("normal")
_uniform = _core.op("uniform")


def _shape(size):
    size = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    return [int(s) for s in size] or None


def seed(seed):
    """Draws begin anew from here."""
    _core.seed(int(seed))


def uniform(low=0, high=1, size=None):
    """float32 in [low, high)."""
    return _uniform(low=float(low), high=float(high), shape=_shape(size))


def normal(mean=0, std=1, size=None):
    """float32 of the normal distribution."""
    return _normal(mean=float(mean), std=float(std), shape=_shape(size))
