"""What traces and loaded graphs are told of memory."""

from .config import DTRConfig, SublinearMemoryConfig


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
        options.update(budget=budget, memory="budget")
    if memory is not None:
        if memory == "budget" and budget is None:
            raise ValueError('trace: memory="budget" needs budget="11GiB" or a number of bytes')
        if memory != "budget" and budget is not None:
            raise ValueError(f'trace: budget={budget!r} is kept by memory="budget" alone, not by {memory!r}: leave one of them out')
        options["memory"] = memory
    return options
