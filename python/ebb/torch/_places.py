"""Where the program that was traced made a node."""

import os

import torch

OWN = os.path.dirname(torch.__file__) + os.sep


def place_of(node):
    """The last line of Python that asked for a node, outside of PyTorch where there is one."""
    text = node.meta.get("stack_trace") or ""
    lines = [line.strip().removeprefix("File ") for line in text.splitlines() if line.strip().startswith("File ")]
    others = [line for line in lines if not line.strip('"').startswith(OWN)]
    return (others or lines or [""])[-1]
