"""The package's version."""

from ._core import version as __version__

__all__ = ["__version__"]
