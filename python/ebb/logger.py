"""Loggers by name, below "ebb"."""

import logging

__all__ = ["enable_debug_log", "get_logger", "set_log_level"]


def get_logger(name=None):
    return logging.getLogger("ebb" if not name or name == "ebb" else f"ebb.{name}")


def set_log_level(level):
    """Of all of them. Returns the level that there was."""
    logger = get_logger()
    before = logger.level
    logger.setLevel(level)
    return before


def enable_debug_log():
    set_log_level(logging.DEBUG)
