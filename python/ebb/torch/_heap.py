"""The C library's heap on the host. glibc hands its free top back to the system whenever that is above some bound, and ops that follow pay for each
of these pages again, as much as for their work: so the bound is put above what a step takes, once for the process. Blocks of 32 MiB and more are
mapped one by one, whatever is asked."""

import ctypes
import os

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # malloc.h
LARGEST_IN_HEAP = 32 << 20
SLACK = 2  # what lies between holes
NEVER = -1  # of an int's range no other number is above all
kept = 0  # bytes


def chosen_by_user():
    """Whether the environment has a word on malloc."""
    named = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_")
    return any(name in os.environ for name in named) or "glibc.malloc." in os.environ.get("GLIBC_TUNABLES", "")


def keep(n_bytes):
    """So many bytes that are freed within a step stay in the process for the ops after it."""
    global kept
    bound = SLACK * int(n_bytes)
    if bound <= kept or chosen_by_user():
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, LARGEST_IN_HEAP)
        mallopt(TRIM_THRESHOLD, bound if bound < 1 << 31 else NEVER)
    kept = bound
