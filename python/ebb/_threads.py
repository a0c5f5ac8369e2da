"""How the library's threads wait for one another."""

import contextlib
import os

SAID = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
ASLEEP = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}


@contextlib.contextmanager
def asleep():
    """Around the extension's import: its threads spin for some microseconds and then sleep while they wait, unless the
    user has said how they do. OpenMP's runtime reads the variables once, when it is loaded; what the process starts
    later does not see them."""
    if any(name in os.environ for name in SAID):
        yield
        return
    os.environ.update(ASLEEP)
    try:
        yield
    finally:
        for name in ASLEEP:
            del os.environ[name]
