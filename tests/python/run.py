"""Runs one file of tests with the package of the source tree and the extension that was built. Code that it keeps goes to a
folder of its own, not to the user's.

    run.py <the extension> <the tree's python/> <test_x.py> [unittest's arguments]
"""

import importlib.util
import os
import pathlib
import runpy
import sys
import tempfile


def main():
    core, package, test = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:4])
    sys.path[:0] = [package, str(pathlib.Path(test).parent)]
    spec = importlib.util.spec_from_file_location("ebb._core", core)
    module = importlib.util.module_from_spec(spec)
    sys.modules["ebb._core"] = module  # found before the package looks for it
    spec.loader.exec_module(module)
    sys.argv = [test, *sys.argv[4:]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        runpy.run_path(test, run_name="__main__")


main()
