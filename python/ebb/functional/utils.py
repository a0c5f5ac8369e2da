"""What tests ask of tensors."""

from ..logger import get_logger
from .elemwise import abs, as_real, maximum
from .math import max

__all__ = []


def _assert_equal(expect, actual, *, maxerr=0.0001, verbose=False):
    """An AssertionError where they differ by more than maxerr of the larger one, or of 1. The host reads them."""
    expect, actual = as_real(expect), as_real(actual)
    differ = max(abs(expect - actual) / maximum(maximum(abs(expect), abs(actual)), 1.0)).item()
    if not differ <= maxerr:
        raise AssertionError(f"assert_equal: they differ by {differ}, more than {maxerr}")
    if verbose:
        get_logger(__name__).info("assert_equal: they differ by %g", differ)
    return actual
