"""What the library's statuses become beside ValueError, MemoryError and RuntimeError."""


class InputError(ValueError, RuntimeError):
    """A call that cannot be done as it is: a ValueError, and, as MegEngine's users expect of ops, a RuntimeError."""


class OverBudget(RuntimeError):
    """No plan fits the budget; the text names the smallest one that does."""


class TraceError(RuntimeError):
    """A traced call cannot go on: it differs from its recording, or reads what is not there."""
