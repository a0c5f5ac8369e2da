"""What pip installs as the command `ebb`: the program within the package, which stays unloaded."""

import importlib.util
import os
import pathlib
import sys


def main():
    package = pathlib.Path(importlib.util.find_spec("ebb").origin).parent
    os.execv(package / "bin" / "ebb", ["ebb", *sys.argv[1:]])
