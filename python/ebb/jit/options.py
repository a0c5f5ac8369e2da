"""What traces and loaded graphs are told of memory."""

import math
import numbers

from .. import _core
from .config import DTRConfig, SublinearMemoryConfig

_MOST = 2**63 - 1  # bytes are counted in 64 bits


def budget_of(budget, who="trace"):
    """Bytes ("11GiB" or a number of them), or a share of what the plan in place takes: 0.6 or "60%"."""
    said = f"{who}: budget={budget!r}"
    if isinstance(budget, str) and budget.endswith("%"):
        try:
            share = float(budget[:-1]) / 100
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            raise ValueError(f"{said}: a share is above 0% and at most 100%")
        return {"budget_share": share}
    if isinstance(budget, str):
        try:
            number = _core.parse_bytes(budget)
        except ValueError:
            raise ValueError(f'{said}: bytes are "11GiB" or a number, and a share is 0.6 or "60%"') from None
    elif isinstance(budget, numbers.Real) and not isinstance(budget, bool):
        number = budget
    else:
        raise TypeError(f'{said}: bytes are "11GiB" or a number, and a share is 0.6 or "60%"')
    if not isinstance(number, numbers.Integral) and not math.isfinite(number):
        raise ValueError(f"{said}: no number of bytes, and no share")
    if number <= 0:
        raise ValueError(f"{said}: bytes and shares are above 0")
    if number <= 1 and not isinstance(number, numbers.Integral):
        return {"budget_share": float(number)}
    if number != int(number):
        raise ValueError(f"{said}: a share is at most 1, and bytes are whole")
    if int(number) > _MOST:
        raise ValueError(f"{said}: more than {_MOST} bytes")
    return {"budget": int(number)}


def level_options(opt_level):
    if opt_level not in (None, 0, 1, 2, 3):
        raise ValueError(f"trace: opt_level is {opt_level!r}: 0, 1, 2 or 3")
    return {"opt_level": 2 if opt_level is None else opt_level, "algebra": bool(opt_level)}


_MEMORY = ("none", "in_place", "sublinear", "budget")


def memory_options(sublinear, dtr, budget, memory, who="trace"):
    """Options that say how memory is saved."""
    options = {}
    if sublinear is not None:
        if not isinstance(sublinear, SublinearMemoryConfig):
            raise TypeError(f"sublinear_memory_config is no {type(sublinear).__name__}")
        options.update(sublinear.options(), memory="sublinear")
    if dtr is not None:
        if not isinstance(dtr, DTRConfig):
            raise TypeError(f"dtr_config is no {type(dtr).__name__}")
        budget = dtr.eviction_threshold if budget is None else budget
    if budget is not None:
        options.update(memory="budget", **budget_of(budget, who))
    if memory is not None:
        if memory not in _MEMORY:
            raise ValueError(f"{who}: memory {memory!r}: {', '.join(_MEMORY)}")
        if memory == "budget" and budget is None:
            raise ValueError(f'{who}: memory="budget" needs budget="11GiB", a number of bytes, or a share: 0.6')
        if memory != "budget" and budget is not None:
            raise ValueError(f'{who}: budget={budget!r} is kept by memory="budget" alone, not by {memory!r}: leave one of them out')
        options["memory"] = memory
    return options
