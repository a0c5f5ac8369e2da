"""How the library's threads wait for one another."""

import contextlib
import os

SAID = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


@contextlib.contextmanager
def asleep():
    """Around the extension's import: its threads sleep while they wait, unless the user has said how they do.
    OpenMP's runtime reads the variable once, when it is loaded; what the process starts later does not see it."""
    if any(name in os.environ for name in SAID):
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        del os.environ["OMP_WAIT_POLICY"]
