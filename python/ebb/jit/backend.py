"""Who runs the programs of traces: Ebb's own kernels, or XLA where a plugin is (docs/xla.md)."""

import contextlib
import os
import sys
import warnings

from .. import _core

_told = False  # that XLA is not used


@contextlib.contextmanager
def plugins():
    """Plugins of the environment whose Python this is are found, whether it was activated or not."""
    named = "VIRTUAL_ENV" in os.environ or sys.prefix == sys.base_prefix
    if not named:
        os.environ["VIRTUAL_ENV"] = sys.prefix
    try:
        yield
    finally:
        if not named:
            del os.environ["VIRTUAL_ENV"]


def xla_is_here(who):
    """Within plugins(). False: Ebb's own kernels do it, and a warning says so once. A plugin that EBB_PJRT_PLUGIN names
    has to work: what is wrong with it is told when it is opened."""
    global _told
    here, why = _core.xla()
    if here or os.environ.get("EBB_PJRT_PLUGIN"):
        return True
    if not _told:
        _told = True
        warnings.warn(f"{who} runs on Ebb's own kernels: {why}", stacklevel=6)
    return False
