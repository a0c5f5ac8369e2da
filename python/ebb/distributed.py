"""A process has one device and belongs to no group: questions have their answers, and what needs others is refused."""

import functools

from ._absent import Absent
from .device import get_device_count

_WHY = "a process has one device, and no others beside it"
WORLD = None


def get_rank():
    return 0


def get_world_size():
    return 1


def is_distributed():
    return False


def group_barrier(group=WORLD):
    """There is nobody to wait for."""


def bcast_list_(inps, group=WORLD):
    """There is nobody to tell."""


get_device_count_by_fork = get_device_count


def launcher(*args, **kwargs):
    """A decorator: the function can be named, and not be called."""

    def decorator(function):
        @functools.wraps(function)
        def refused(*args, **kwargs):
            raise NotImplementedError(f"{__name__}.launcher: {_WHY}")

        return refused

    return decorator(args[0]) if args and callable(args[0]) else decorator


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Absent(f"{__name__}.{name}", _WHY)
