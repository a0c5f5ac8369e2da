"""save and load: pickles in which a tensor is its class, its array and its own attributes."""

import os
import pickle

from ._files import whole

__all__ = ["load", "save"]


def save(obj, f, pickle_module=pickle, pickle_protocol=pickle.HIGHEST_PROTOCOL):
    """Writes any object that can be pickled, tensors included, to an open file, or whole or not at all to a path."""
    if hasattr(f, "write"):
        pickle_module.dump(obj, f, pickle_protocol)
        return
    with whole(f) as file:
        pickle_module.dump(obj, file, pickle_protocol)


def load(f, map_location=None, pickle_module=pickle):
    """Reads what save has written. Only of files that are trusted: a pickle may run code.

    map_location is accepted and changes nothing: there is one device in a process.
    """
    if hasattr(f, "read"):
        return pickle_module.load(f)
    with open(f, "rb") as file:
        try:
            return pickle_module.load(file)
        except (pickle.UnpicklingError, EOFError, IndexError, KeyError, ValueError) as error:
            raise ValueError(f"load: {os.fspath(f)} is no file that save has written whole: {error}") from error
