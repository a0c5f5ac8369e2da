#!/usr/bin/env python3
"""scripts/test-count: no failure is lost on the way to the closing line.

    test_count.py SOURCE-ROOT
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def synthesis(tested, passing, failing, crashing):
    return (f"[\x1b[0;34m====\x1b[0m] \x1b[0;1mSynthesis: Tested: \x1b[0;34m{tested}\x1b[0m | Passing: \x1b[0;32m{passing}\x1b[0m "
            f"| Failing: \x1b[0;31m{failing}\x1b[0m | Crashing: \x1b[0;31m{crashing}\x1b[0m \n")


def log(result, stdout="", stderr=""):
    return {"name": "t", "result": result, "stdout": stdout, "stderr": stderr}


FAILED, TIMED_OUT = "FAILED t (FAIL)", "FAILED t (TIMEOUT)"
COMPLAINT = "[\x1b[0;31mFAIL\x1b[0m] rooms::walls: (0.00s)\n[\x1b[0;34m----\x1b[0m] tests/rooms.c:7: Assertion Failed\n"

# what, BROKEN, log, what stands before the closing line, that line, exit code
ROWS = [
    ("Criterion's cases", "0", [log("OK", stderr=synthesis(7, 7, 0, 0))], [], "7 passed, 0 failed", 0),
    ("a failing and a crashing case", "0", [log("FAIL", stderr=synthesis(7, 5, 1, 1))], [FAILED], "5 passed, 2 failed", 1),
    ("a plain line", "0", [log("OK", "3 passed, 0 failed\n")], [], "3 passed, 0 failed", 0),
    ("a plain line with a failure", "0", [log("FAIL", "FAIL x\n2 passed, 1 failed\n")], [FAILED, "    FAIL x"], "2 passed, 1 failed", 1),
    ("an executable that tells nothing", "0", [log("OK")], [], "1 passed, 0 failed", 0),
    ("one that fails and tells nothing", "0", [log("FAIL")], [FAILED], "0 passed, 1 failed", 1),
    ("a timeout after good cases", "0", [log("TIMEOUT", stderr=synthesis(7, 7, 0, 0))], [TIMED_OUT], "6 passed, 1 failed", 1),
    ("a sanitizer's report at the end", "0", [log("FAIL", stderr=synthesis(3, 3, 0, 0))], [FAILED], "2 passed, 1 failed", 1),
    ("a skip is seen", "0", [log("OK"), log("SKIP")], [], "1 passed, 0 failed, 1 skipped", 0),
    ("a case that Criterion skips is seen", "0",
     [log("OK", stderr="SKIP no such backend\n" + synthesis(7, 7, 0, 0))], [], "7 passed, 0 failed, 1 skipped", 0),
    ("a skip in a plain line is counted once", "0", [log("OK", "SKIP x: no such backend\n3 passed, 0 failed, 1 skipped\n")],
     [], "3 passed, 0 failed, 1 skipped", 0),
    ("a skip alone is no success", "0", [log("SKIP")], [], "0 passed, 0 failed, 1 skipped", 1),
    ("a build that failed", "1", [log("OK")], ["FAILED a build or a run that left no log"], "1 passed, 1 failed", 1),
    ("no test at all", "0", [], [], "0 passed, 0 failed", 1),
    ("several executables", "0", [log("OK", "3 passed, 0 failed\n"), log("OK", stderr=synthesis(4, 4, 0, 0))],
     [], "7 passed, 0 failed", 0),
    ("a failure says what and why", "0", [log("FAIL", COMPLAINT), log("OK")],
     [FAILED, "    [FAIL] rooms::walls: (0.00s)", "    [----] tests/rooms.c:7: Assertion Failed"], "1 passed, 1 failed", 1),
]


def main():
    script = pathlib.Path(sys.argv[1]) / "scripts/test-count"
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.json"
        for what, broken, records, before, line, code in ROWS:
            path.write_text("".join(json.dumps(record) + "\n" for record in records))
            done = subprocess.run([sys.executable, str(script), broken, str(path)], stdout=subprocess.PIPE, text=True,
                                  check=False)
            said = [text.replace(f", whole in {path}", "") for text in done.stdout.splitlines()]
            if (said, done.returncode) != ([*before, line], code):
                failed += 1
                print(f"FAIL {what}: {done.stdout!r}, exit code {done.returncode}")
    print(f"{len(ROWS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
