"""Random tensors. The same seed draws the same again.

uniform, normal, permutation and shuffle are ops; the others, and those of an RNG, are drawn by the host: a trace
is fed them anew in each call.
"""

import numpy as np

from . import _core, _special
from ._tensor import Tensor
from .functional.math import argsort

__all__ = ["RNG", "beta", "exponential", "gamma", "get_rng_state", "normal", "permutation", "poisson", "seed", "set_rng_state",
           "shuffle", "uniform"]

_normal = _core.op("normal")
_take = _core.op("take")
_uniform = _core.op("uniform")


def _shape(size):
    size = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    return [int(s) for s in size] or None


def _drawn(op, size, **how):
    shape = _shape(size)
    return _special.without(shape, "float32") if shape and 0 in shape else op(**how, shape=shape)


def seed(seed):
    """Draws begin anew from here."""
    _core.seed(int(seed))
    _host._reseed(seed)


def get_rng_state():
    """Where all draws but an RNG's stand, dropout's too: a dict of numbers and texts, for a checkpoint."""
    seed, draws = _core.draws()
    return {"seed": seed, "draws": draws, "host": _host._rng.bit_generator.state}


def set_rng_state(state):
    """What get_rng_state gave: draws go on from there."""
    if not isinstance(state, dict) or set(state) != {"seed", "draws", "host"}:
        raise ValueError("set_rng_state: what get_rng_state gave")
    host = np.random.default_rng()
    host.bit_generator.state = state["host"]
    _core.draw_on(state["seed"], state["draws"])
    _host._rng = host  # last: what is wrong has changed nothing


def uniform(low=0, high=1, size=None):
    """float32 in [low, high)."""
    return _drawn(_uniform, size, low=float(low), high=float(high))


def normal(mean=0, std=1, size=None):
    """float32 of the normal distribution."""
    return _drawn(_normal, size, mean=float(mean), std=float(std))


def _count(n):
    """How many numbers are put in an order."""
    n = n.item() if isinstance(n, _core.Tensor) else n
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"permutation: {n!r}: a whole number from 0, or a tensor that has axes")
    return int(n)


def _any_order(n):
    return argsort(uniform(size=(n,)))


def permutation(n, *, dtype="int32"):
    """The numbers below n in any order, of a dtype, or a tensor's places along its first axis."""
    if isinstance(n, _core.Tensor) and n.ndim:
        return _take(n, _any_order(n.shape[0]), axis=0)
    return _any_order(_count(n)).astype(dtype)


def shuffle(inp):
    """Gives a tensor its places along the first axis in any order."""
    inp._replace(permutation(inp))


class RNG:
    """Draws of its own, on the host."""

    def __init__(self, seed=None, device=None):
        self._reseed(seed)

    def _reseed(self, seed):
        self._rng = np.random.default_rng(seed)

    def _draw(self, kind, size, *parameters):
        """size times the shape of the parameters together."""
        values = [p.numpy() if isinstance(p, _core.Tensor) else np.asarray(p) for p in parameters]
        own = np.broadcast_shapes(*(v.shape for v in values))
        size = tuple(_shape(size) or ()) + own
        return Tensor(np.asarray(getattr(self._rng, kind)(*values, size=size), np.float32))

    def uniform(self, low=0, high=1, size=None):
        return self._draw("uniform", size, low, high)

    def normal(self, mean=0, std=1, size=None):
        return self._draw("normal", size, mean, std)

    def gamma(self, shape, scale=1, size=None):
        return self._draw("gamma", size, shape, scale)

    def beta(self, alpha, beta, size=None):
        return self._draw("beta", size, alpha, beta)

    def poisson(self, lam, size=None):
        return self._draw("poisson", size, lam)

    def exponential(self, scale=1.0, size=None):
        return self._draw("exponential", size, scale)

    def permutation(self, n, *, dtype="int32"):
        if isinstance(n, _core.Tensor) and n.ndim:
            return _take(n, self.permutation(n.shape[0]), axis=0)
        return Tensor(self._rng.permutation(_count(n)), dtype=dtype)

    def shuffle(self, inp):
        inp._replace(self.permutation(inp))


_host = RNG()
beta, exponential, gamma, poisson = _host.beta, _host.exponential, _host.gamma, _host.poisson
