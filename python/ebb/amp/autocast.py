"""Ops in 16 bits within a context, or in a function."""

import contextlib

from .. import _dtype, _precision


class autocast(contextlib.ContextDecorator):
    """with autocast(): or @autocast(low_prec_dtype="bfloat16"). enabled=False: as it is without, within, too."""

    def __init__(self, enabled=True, low_prec_dtype="float16", high_prec_dtype="float32"):
        if low_prec_dtype not in ("float16", "bfloat16"):
            raise ValueError(f"autocast: low_prec_dtype {low_prec_dtype!r}: float16 or bfloat16")
        if high_prec_dtype != "float32":
            raise ValueError(f"autocast: high_prec_dtype {high_prec_dtype!r}: float32")
        self.enabled, self.low_prec_dtype, self.high_prec_dtype = enabled, low_prec_dtype, high_prec_dtype
        self._dtypes = tuple(_dtype.DTYPES[_dtype.element_of(d)] for d in (low_prec_dtype, high_prec_dtype))
        self._before = []

    def __enter__(self):
        self._before.append(_precision.now())
        _precision.set(self._dtypes if self.enabled else None)
        return self

    def __exit__(self, *error):
        _precision.set(self._before.pop())
        return False
