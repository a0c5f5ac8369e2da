"""What the library's statuses become beside ValueError, MemoryError and RuntimeError."""

import re


class InputError(ValueError, RuntimeError):
    """A call that cannot be done as it is: a ValueError, and, as MegEngine's users expect of ops, a RuntimeError."""


class OverBudget(RuntimeError):
    """No plan fits the budget. least_bytes: those of the smallest plan that was found, as the text says where nobody else does; None: none
    was. smallest: that plan (ebb.plan/1), where it is at hand."""

    smallest = None

    def __init__(self, text="", least_bytes=None):
        super().__init__(text)
        found = re.search(r"smallest found needs (\d+) bytes", str(text))
        self.least_bytes = least_bytes if least_bytes is not None else int(found[1]) if found else None


class TraceError(RuntimeError):
    """A traced call cannot go on: it differs from its recording, or reads what is not there."""
