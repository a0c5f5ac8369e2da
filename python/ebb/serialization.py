"""save and load: pickles in which a tensor is its class, its array and its own attributes."""

import pickle

__all__ = ["load", "save"]


def save(obj, f, pickle_module=pickle, pickle_protocol=pickle.HIGHEST_PROTOCOL):
    """Writes any object that can be pickled, tensors included, to a path or an open file."""
    if hasattr(f, "write"):
        pickle_module.dump(obj, f, pickle_protocol)
        return
    with open(f, "wb") as file:
        pickle_module.dump(obj, file, pickle_protocol)


def load(f, map_location=None, pickle_module=pickle):
    """Reads what save has written. Only of files that are trusted: a pickle may run code.

    map_location is accepted and changes nothing: there is one device in a process.
    """
    if hasattr(f, "read"):
        return pickle_module.load(f)
    with open(f, "rb") as file:
        return pickle_module.load(file)
