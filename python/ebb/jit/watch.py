"""A call that ran outside of its trace's budget is told once."""

import os
import sys
import warnings

_LIMITS = ("budget", "budget_share")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _level():
    """Of the nearest caller outside of the package, counted from who asks."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


class Watch:
    def __init__(self, options):
        # Without symbolic the first call runs op by op by design.
        self._on = options["symbolic"] and any(options.get(name) is not None for name in _LIMITS)
        self._n_runs = 0

    def look(self, core):
        """After a call."""
        if not self._on:
            return
        facts = core.facts()
        if facts["n_runs"] == self._n_runs and facts["n_entries"]:
            self._on = False
            why = f"and so will others like it: {facts['refused']}" if facts["refused"] else (
                "because it took another course than those before it: a value was read for the first time, or there was something "
                "else to do; the next call like it is planned")  # fmt: skip
            warnings.warn(f"trace: this call ran op by op, outside of the budget, {why}", RuntimeWarning, stacklevel=_level())
        self._n_runs = facts["n_runs"]
