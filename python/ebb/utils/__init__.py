"""Helpers."""

from . import dlpack, naming
