"""Names of values: a trace numbers them, and keeps nothing between functions."""

__all__ = ["AutoNaming"]


class AutoNaming:
    """MegEngine's, of which there is nothing to forget."""

    @classmethod
    def clear(cls):
        """Nothing."""
