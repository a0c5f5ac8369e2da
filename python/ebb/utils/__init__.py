"""Helpers."""

from . import dlpack
