"""Runs the package's tests and README's Python example with the package that is installed; see scripts/python-test. Code
that Ebb keeps goes to a folder of its own, not to the user's.

    python-test.py LOG TESTS [README]
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def record(log, name, began, good, text):
    print(text, flush=True)
    result = {"name": name, "result": "OK" if good else "FAIL", "duration": time.monotonic() - began, "stdout": text}
    log.write(json.dumps(result) + "\n")
    return good


def tests(log, folder):
    began = time.monotonic()
    suite = unittest.defaultTestLoader.discover(folder)
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    text = f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped"
    return record(log, "python", began, not failed and result.testsRun > 0, text)


def examples(log, readme):
    with open(readme, encoding="utf-8") as file:
        found = EXAMPLE.findall(file.read())
    good = bool(found)
    for i, example in enumerate(found):
        began = time.monotonic()
        run = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=300)
        good &= record(log, f"README's Python {i}", began, run.returncode == 0, run.stdout + run.stderr)
    return good


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as log, tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        good = tests(log, sys.argv[2])
        if len(sys.argv) > 3:
            good &= examples(log, sys.argv[3])
    return 0 if good else 1


sys.exit(main())
