"""The process's device: one, chosen by EBB_DEVICE or before the first tensor is made."""

import os
import re

from . import _core

__all__ = [
    "coalesce_free_memory", "get_allocated_memory", "get_default_device", "get_device_count", "get_max_allocated_memory",
    "get_mem_status_bytes", "get_reserved_memory", "is_atlas_available", "is_cambricon_available", "is_cuda_available",
    "is_rocm_available", "reset_max_memory_stats", "set_default_device", "set_prealloc_config", "what_is_xpu",
]

_NAME = re.compile(r"(xpu|cpu|gpu|cuda|multithread)(x|\d+)?(:\d+)?")


def _kind(device):
    match = _NAME.fullmatch(str(device))
    if not match:
        raise ValueError(f"device {device!r}: names are cpu0, gpu0 and xpux")
    kind, number = match.group(1), match.group(2)
    return {"gpu": "cuda", "multithread": "cpu"}.get(kind, kind), number


def check_device(device):
    """A tensor can be where the process's device is, and nowhere else."""
    kind, _ = _kind(device)
    own = "cuda" if _core.device().startswith("cuda") else "cpu"
    if kind not in ("xpu", own):
        raise ValueError(f"device {device!r}: this process uses {_core.device()}: set EBB_DEVICE")


def is_host():
    """Whether values lie in host memory."""
    return not _core.device().startswith("cuda")


def set_default_device(device="xpux"):
    """Chooses the device: before the first tensor is made."""
    kind, number = _kind(device)
    if kind != "xpu":
        _core.device(f"cuda:{number}" if kind == "cuda" and number not in (None, "x") else kind)


def get_default_device():
    return "xpux"


def is_cuda_available():
    return any(name == "cuda" and available for name, available, _ in _core.devices())


def get_device_count(device_type="xpu"):
    """1 where a device of the type is there: which others a machine has is not asked."""
    kind, _ = _kind(device_type)
    if kind == "cuda":
        return int(is_cuda_available())
    return 1


def get_allocated_memory(device=None):
    """Bytes in use: of values that exist now, and of the block of traced programs."""
    figures = _core.memory()
    return figures["live_bytes"] + figures["arena_bytes"]


def get_reserved_memory(device=None):
    """Bytes taken of the device: the pool, and the block of traced programs."""
    figures = _core.memory()
    return figures["pool_bytes"] + figures["arena_bytes"]


def get_max_allocated_memory(device=None):
    """The most bytes that were in use at one time, since the start or reset_max_memory_stats()."""
    return _core.memory()["peak_bytes"]


def get_mem_status_bytes(device=None):
    """(bytes in all, bytes that are free) of the memory in which values are."""
    if not is_host():
        raise NotImplementedError("get_mem_status_bytes: of host memory only: get_reserved_memory has what is taken")
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_PHYS_PAGES") * page, os.sysconf("SC_AVPHYS_PAGES") * page


def set_prealloc_config(alignment=1, min_req=32 << 20, max_overhead=0, growth_factor=2.0, device_type=None):
    """Accepted, and changes nothing: the pool takes what is asked for, and a plan its one block."""


def what_is_xpu():
    return "cpu" if is_host() else "gpu"


def _never():
    """A device of this kind is never there."""
    return False


is_atlas_available = is_cambricon_available = is_rocm_available = _never


def reset_max_memory_stats(device=None):
    _core.reset_peak()


def coalesce_free_memory():
    """Gives free blocks of the pool back to the device."""
    _core.trim()
