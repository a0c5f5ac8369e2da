"""What the tests of bad input share: exit codes, the file that must not be left, and the runner."""
import os
import sys

import harness

USAGE, BAD_INPUT, DEVICE, IO = 2, 3, 5, 7
OUT = "{d}/out.json"


def main(*tables):
    """Runs the rows of all tables on argv's command; the exit code."""
    return harness.check_all(os.path.abspath(sys.argv[1]), [case for rows in tables for case in rows()])
