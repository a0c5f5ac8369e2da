"""What traces and loaded graphs are told of memory."""

import numpy as np

from .config import DTRConfig, SublinearMemoryConfig


def _budget(budget):
    """Bytes ("11GiB" or a number of them), or a share of what the plan in place takes: 0.6 or "60%"."""
    share = budget
    try:
        if isinstance(budget, str) and budget.endswith("%"):
            share = float(budget[:-1]) / 100
    except ValueError:
        share = 0.0
    if isinstance(share, (float, np.floating)):
        if 0 < share <= 1:
            return {"budget_share": float(share)}
        if isinstance(budget, str) or not (share > 1 and float(share).is_integer()):
            raise ValueError(f"trace: budget={budget!r}: a share is in (0, 1], and bytes are whole")
        budget = int(share)
    return {"budget": budget}


def memory_options(sublinear, dtr, budget, memory):
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
        options.update(memory="budget", **_budget(budget))
    if memory is not None:
        if memory == "budget" and budget is None:
            raise ValueError('trace: memory="budget" needs budget="11GiB", a number of bytes, or a share: 0.6')
        if memory != "budget" and budget is not None:
            raise ValueError(f'trace: budget={budget!r} is kept by memory="budget" alone, not by {memory!r}: leave one of them out')
        options["memory"] = memory
    return options
