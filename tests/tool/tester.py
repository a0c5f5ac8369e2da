"""Tests that are functions: each gets the command and a folder of its own with the small models."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import harness
from models import CONV, SMALL, chain, text


class Skip(Exception):
    """This build or machine lacks what the test is about."""


class Tester:
    def __init__(self, ebb):
        self.ebb, self.passed, self.failed, self.skipped = ebb, 0, 0, 0
        self.folder = None

    def ebb_run(self, *args, code=0, **options):
        done = harness.run(self.ebb, args, self.folder, **options)
        if done.returncode != code:
            raise AssertionError(f"{args}: exit code {done.returncode}, expected {code}: {done.stderr.decode()!r}")
        return done

    def json(self, *args, **options):
        return json.loads(self.ebb_run(*args, "--json", **options).stdout)

    def check(self, test):
        with tempfile.TemporaryDirectory() as name:
            self.folder = pathlib.Path(name)
            (self.folder / "small.ebb").write_text(SMALL)
            (self.folder / "conv.ebb").write_text(CONV)
            (self.folder / "chain.json").write_text(text(chain()))
            try:
                test(self)
                self.passed += 1
            except Skip as why:
                self.skipped += 1
                print(f"SKIP {test.__name__}: {why}")
            except (AssertionError, KeyError, ValueError, TypeError, IndexError, OSError,
                    subprocess.TimeoutExpired) as fault:
                self.failed += 1
                print(f"FAIL {test.__name__}: {fault!r}")


def rows(table):
    """Of a table whose rows take seconds each: as many as EBB_TEST_ROWS says, all by default (tests/support/count.h)."""
    return table[:int(os.environ.get("EBB_TEST_ROWS", len(table)))]


def effort(n):
    """A search of n candidates, or of one in EBB_TEST_EFFORT_PART of them: where the command is that much slower, it takes as long."""
    return "--effort", str(n // int(os.environ.get("EBB_TEST_EFFORT_PART", 1)))


def equal(a, b, what=""):
    if a != b:
        raise AssertionError(f"{what}: {str(a)[:200]} is not {str(b)[:200]}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def interrupted(t, seconds, *arguments, progress="none"):
    """The error output of a command that is interrupted after so long."""
    process = subprocess.Popen([t.ebb, *arguments, f"--progress={progress}"], env=harness.ENVIRONMENT,
                               cwd=t.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    try:
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    equal(process.returncode, 130, "exit code")
    return stderr


def main(tests):
    """Runs them on argv's command; prints the closing line; the exit code."""
    tester = Tester(os.path.abspath(sys.argv[1]))
    for test in tests:
        tester.check(test)
    print(f"{tester.passed} passed, {tester.failed} failed" + (f", {tester.skipped} skipped" if tester.skipped else ""))
    return 1 if tester.failed else 0
