"""Runs rows of a table through the real command, and counts."""
import os
import pathlib
import re
import subprocess
import tempfile

# Tests share the processors: threads that spin while they wait would take them from one another, and so do searches of several
# workers, whose answers are the same for any number.
WORKERS = "MGB_SUBLINEAR_MEMORY_WORKERS"
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive"}
ENVIRONMENT.update((key, value) for key, value in os.environ.items() if not key.startswith(("MGB_", "EBB_CACHE")))
ENVIRONMENT[WORKERS] = "1"
ENVIRONMENT["XDG_CACHE_HOME"] = "/dev/null"  # no code that an earlier run made, and none is left


class Case:
    """One row. `files` are written before; {d} in args and env is the row's own folder."""

    def __init__(self, name, args, code, stderr=None, *, files=None, env=None, stdin=None, stdout=None, prepare=None):
        self.name, self.args, self.code, self.stderr = name, args, code, stderr
        self.files, self.env, self.stdin, self.stdout = files or {}, env or {}, stdin, stdout
        self.prepare = prepare


def run(ebb, args, folder, env=None, stdin=None, stdout=subprocess.PIPE, timeout=120):
    """A variable that is None is not set."""
    variables = {**ENVIRONMENT, **(env or {})}
    return subprocess.run(
        [ebb, *(arg.replace("{d}", str(folder)) for arg in args)],
        cwd=folder, env={key: value for key, value in variables.items() if value is not None}, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
        stdout=stdout, stderr=subprocess.PIPE, timeout=timeout, check=False,
    )


def faults(ebb, case):
    """What is wrong with the command's answer to this row: a list of lines."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path, content in case.files.items():
            (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())
        if case.prepare:
            case.prepare(folder)
        before = set(os.listdir(folder))
        stdout = open(case.stdout, "wb") if case.stdout else subprocess.PIPE
        try:
            done = run(ebb, case.args, folder, case.env, case.stdin, stdout)
        except subprocess.TimeoutExpired:
            return ["ran for two minutes"]
        finally:
            if case.stdout:
                stdout.close()
        wrong = []
        text = done.stderr.decode(errors="replace")
        if done.returncode != case.code:
            wrong.append(f"exit code {done.returncode}, expected {case.code}")
        if case.code not in (0,):
            if text.count("\n") != 1 or not text.endswith("\n"):
                wrong.append(f"{text.count(chr(10))} lines on standard error, expected 1")
            if not case.stdout and case.code != 1 and done.stdout:
                wrong.append(f"data on standard output beside an error: {done.stdout[:80]!r}")
            left = set(os.listdir(folder)) - before
            if left:
                wrong.append(f"left behind: {sorted(left)}")
        if case.stderr is not None and not re.search(case.stderr, text):
            wrong.append(f"standard error does not match {case.stderr!r}")
        return [*wrong, f"standard error: {text[:400]!r}"] if wrong else []


def check_all(ebb, cases):
    """Prints faults and the closing line; the exit code."""
    failed = 0
    for case in cases:
        wrong = faults(ebb, case)
        failed += bool(wrong)
        for line in wrong:
            print(f"FAIL {case.name}: {line}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0
