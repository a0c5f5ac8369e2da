"""Runs the package's tests and README's Python examples with the package that is installed; see scripts/python-test. Code
that Ebb keeps goes to a folder of its own, not to the user's.

    python-test.py LOG TESTS [README [torch]]    torch: the examples that import it, else the others

A file of tests that asks for a device of its own is run by itself: a process chooses one, and the others take the default."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

OWN_DEVICE = re.compile(r'^_core\.device\("', re.MULTILINE)
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def record(log, name, began, good, text):
    print(text, flush=True)
    result = {"name": name, "result": "OK" if good else "FAIL", "duration": time.monotonic() - began, "stdout": text}
    log.write(json.dumps(result) + "\n")
    return good


def run(suite):
    """(whether all is well, the closing line)"""
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    text = f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped"
    return not failed and result.testsRun > 0, text


def alone(file):
    """The tests of one file, in this process: its exit code tells."""
    sys.path.insert(0, os.path.dirname(file))
    good, text = run(unittest.defaultTestLoader.loadTestsFromName(pathlib.Path(file).stem))
    print(text, flush=True)
    return 0 if good else 1


def tests(log, folder):
    files = sorted(pathlib.Path(folder).glob("test_*.py"))
    own = [file for file in files if OWN_DEVICE.search(file.read_text(encoding="utf-8"))]
    good = True
    for file in own:
        began = time.monotonic()
        done = subprocess.run([sys.executable, __file__, "--alone", file], stdout=subprocess.PIPE, text=True, timeout=600, check=False)
        good &= record(log, file.stem, began, done.returncode == 0, done.stdout)
    began = time.monotonic()
    sys.path.insert(0, folder)
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(file.stem) for file in files if file not in own)
    return good & record(log, "python", began, *run(suite))


def examples(log, readme, torch):
    with open(readme, encoding="utf-8") as file:
        found = [example for example in EXAMPLE.findall(file.read()) if example.startswith("import torch\n") == torch]
    good = bool(found)
    for i, example in enumerate(found):
        began = time.monotonic()
        run = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=300)
        good &= record(log, f"README's Python {i}", began, run.returncode == 0, run.stdout + run.stderr)
    return good


def main():
    if sys.argv[1] == "--alone":
        return alone(sys.argv[2])
    with open(sys.argv[1], "w", encoding="utf-8") as log, tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        good = tests(log, sys.argv[2])
        if len(sys.argv) > 3:
            good &= examples(log, sys.argv[3], "torch" in sys.argv[4:])
    return 0 if good else 1


sys.exit(main())
