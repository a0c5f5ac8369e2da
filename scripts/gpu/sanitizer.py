"""The part of gpu-check that looks for wrong accesses: compute-sanitizer, each of its tools with a limit of its own."""
import concurrent.futures
import os
import pathlib
import re

import machine
from goals import PROVEN, UNPROVEN
from machine import ROOT, Failed, NoTime, Unproven, collect

# How versions of it name a filter of kernels: all of Ebb's are called cuda_kernel_*.
FILTERS = [("--kernel-name", "kernel_substring=cuda_kernel_"), ("--kernel-regex", "kns=cuda_kernel_"),
           ("--filter", "kernel_substring=cuda_kernel_")]
CLEAN = {"memcheck": r"ERROR SUMMARY: 0 errors", "racecheck": r"RACECHECK SUMMARY: 0 hazards", "initcheck": r"ERROR SUMMARY: 0 errors"}
FOUND_CODE = 99
LIBRARIES = [word for op in ("conv2d", "conv2d_dgrad", "conv2d_wgrad", "linear", "linear_dgrad", "linear_wgrad", "matmul")
             for word in ("--op", op)]  # whose kernels are cuDNN's and cuBLASLt's
BROKEN = "Internal Sanitizer Error"  # in kernels of libraries, filtered out or not
MOST_SHARES = 12  # of racecheck, side by side: each has a context on the device
# Where an error is: "at cuda_kernel_control+0x90". A fault of a call or of the launch names the kernel in a frame of the host only.
AT_CONTROL = re.compile(r"\bat\b.*\bcuda_kernel_control\b")


class Answer:
    """What a tool says of a command."""

    def __init__(self, check, program, tool, words, command, limit_s):
        limit_s = check.left(limit_s)
        self.asked = " ".join(map(str, command[1:]))
        self.code, self.out, self.err = machine.run([program, "--tool", tool, *words, "--error-exitcode", FOUND_CODE, *command], limit_s)
        if self.code is None:
            raise NoTime(f"longer than {limit_s:.0f} s")
        self.lines = [line.strip("= ") for line in (self.out + self.err).decode(errors="replace").splitlines() if line.startswith("=====")]
        self.summary = next((line for line in self.lines if "SUMMARY" in line), None)
        self.broken = next((line for line in self.lines if BROKEN in line), None)  # the tool itself: it found nothing
        self.faulty = not self.broken and (self.code == FOUND_CODE or bool(self.summary and not re.search(CLEAN[tool], self.summary)))
        self.in_control = any(AT_CONTROL.search(line) and "Host Frame" not in line for line in self.lines)


def control_of(check, found):
    """A program with a fault for each tool, or None where it cannot be made."""
    if check.toolkit is None:
        found["control"] = "there is no nvcc"
        return None
    control, arch = check.work / "control", None if check.dry else machine.architecture(check.device)
    code, out, err = machine.run([check.toolkit / "bin/nvcc", *([f"-arch=sm_{arch}"] if arch else []), "-o", control,
                                  pathlib.Path(__file__).resolve().parent / "control.cu"], check.left(60))
    if code == 0 and control.exists():
        return control
    found["control"] = f"not built: {machine.last_line(err or out)}"
    return None


def words_of(check, program, tool, filters, control):
    """The filter with which this tool still finds the planted fault, where it is; none where no filter does."""
    for words in [*filters, []]:
        answer = Answer(check, program, tool, words, [control, tool, check.ordinal], 30)
        if answer.faulty and answer.in_control:
            return words
    raise Unproven("it does not find a planted fault, or not in its kernel")


def judge(check, goal, answer):
    if answer.faulty:
        check.goals.judge(goal, False, answer.summary or f"exit code {answer.code}")
    elif answer.broken:
        raise Unproven(f"{answer.asked}: {answer.broken}")
    elif answer.code == 1:
        raise Failed(f"ebb's exit code 1: {machine.last_line(answer.err)}")
    elif answer.code != 0 or answer.summary is None:
        raise Unproven(f"exit code {answer.code}, and it does not say that all is well: {machine.last_line(answer.out + answer.err)}")
    else:
        check.goals.say(goal, PROVEN, f"{answer.asked}: {answer.summary}")


def halves(command):
    """The command with each half of its ops; none of one op."""
    first = command.index("--op") if "--op" in command else len(command)
    middle = first + (len(command) - first) // 4 * 2
    return [[*command[:middle]], [*command[:first], *command[middle:]]] if middle > first else []


def ask(check, program, tool, words, command):
    """Answers to a command, or to parts of it where the tool broke: what it breaks in is found, and the rest is tried."""
    answer = Answer(check, program, tool, words, command, check.tool_limits[tool])
    parts = halves(command) if answer.broken else []
    return [one for part in parts for one in ask(check, program, tool, words, part)] or [answer]


def use(check, program, goal, tool, words, commands, found):
    """The tool on each command, side by side; it found nothing when it found nothing in any."""
    with concurrent.futures.ThreadPoolExecutor(len(commands)) as pool:
        asked = [pool.submit(ask, check, program, tool, words, command) for command in commands]
    answers = [answer for one in asked if one.exception() is None for answer in one.result()]
    found[goal] = [{"command": one.asked, "filter": " ".join(words), "code": one.code, "summary": one.summary,
                    **({"lines": [line for line in one.lines if line][:12]} if one.faulty or one.broken else {})} for one in answers]
    for answer in sorted(answers, key=lambda one: (not one.faulty, one.broken is not None)):
        judge(check, goal, answer)
    for one in asked:
        one.result()  # that it was too slow is told last: a fault that another found counts more


def shares(check, doctor):
    """Commands that try some ops each and together all, alike in work: racecheck is slow on one."""
    rows = machine.run_json([*doctor, *check.checked_ops, "--json"], check.left(60))["rows"]
    n = min(os.cpu_count(), MOST_SHARES, len(rows))
    parts = [[0, []] for _ in range(n)]
    for row in sorted(rows, key=lambda row: -row["runs"]):
        least = min(parts, key=lambda part: part[0])
        least[0] += row["runs"]
        least[1] += ["--op", row["op"]]
    return [[*doctor, *ops] for _, ops in parts]


def sanitizer(check, found):
    """memcheck and racecheck of every kernel of Ebb's at every size of the conformance rows, memcheck of what libraries do with
    the memory that they are given, and initcheck of a model's step: it must see what libraries write."""
    places = [check.toolkit and check.toolkit / "bin/compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"]
    program = machine.first(places if not check.dry else places[:1] if check.args.toolkit else [])
    if program is None:
        raise Unproven("no compute-sanitizer" + (" in a dry run" if check.dry else ""))
    _, out, err = machine.run([program, "--help"], check.left(20))
    filters = [[option, value] for option, value in FILTERS if option.encode() in out + err]
    control = control_of(check, found)
    doctor = [check.ebb, "doctor", "--full", "--device", check.device]
    model = [check.ebb, "run", ROOT / "examples/models/resnet18.ebb", "--dim", "N=2", "--dim", "H=33", "--device", check.device,
             "--no-graph", "--steps", 1]
    rows = [("memcheck", "memcheck", filters, lambda: [[*doctor, *check.checked_ops]]),
            ("racecheck", "racecheck", filters, lambda: shares(check, doctor)),
            ("initcheck", "initcheck", [], lambda: [model]),
            ("libraries", "memcheck", [], lambda: [[*doctor, *(check.checked_ops or LIBRARIES)]])]
    for goal, tool, may, commands in rows:
        with collect(found, goal):
            try:
                if control is None:
                    raise Unproven(f"without a planted fault it would prove nothing: {found['control']}")
                use(check, program, goal, tool, words_of(check, program, tool, may, control), commands(), found)
            except Unproven as why:
                check.goals.say(goal, UNPROVEN, str(why))
