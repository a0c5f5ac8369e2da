"""What plants faults in a dry run of `scripts/gpu-check`: commands that stand in for Ebb, PyTorch and the sanitizer."""
import json
import os
import pathlib
import subprocess
import sys

import harness

ROOT = pathlib.Path(sys.argv[2]).resolve()
SCRIPT = ROOT / "scripts/gpu-check"
HELD, PROVEN, MISSED, UNPROVEN, NOT_ASKED = "held dry", "proven", "missed", "unproven", "not asked"


# The script where there seems to be a GPU.
WITH_GPU = f"""import runpy, sys
sys.path.insert(0, {str(SCRIPT.parent / "gpu")!r})
import machine
machine.n_gpus = lambda: (1, "")
runpy.run_path({str(SCRIPT)!r}, run_name="__main__")"""


def check(t, *args, ebb=None, python=None, dry=True, **env):
    """(exit code, stdout, stderr, record or None) of a dry run, which finds its device itself; or of one with a GPU. Without
    a command (False) it is to build one."""
    record = t.folder / "out/record.json"
    command = [sys.executable, *([SCRIPT, "--dry"] if dry else ["-c", WITH_GPU]), *([] if ebb is False else ["--ebb", ebb or t.ebb]),
               "--build", t.folder / "build", "-o", record, "--python", python or no_torch(t), *args]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=280, check=False,
                          env={**os.environ, **harness.ENVIRONMENT, **env})
    told = json.loads(record.read_text(), parse_constant=refuse) if record.exists() else None
    return done.returncode, done.stdout.decode(), done.stderr.decode(), told


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


def verdicts(record):
    return {goal["goal"]: goal["verdict"] for goal in record["goals"]}


def program(t, name, text):
    path = t.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


# ---- Ebb ------------------------------------------------------------------------------------------------

# Before Ebb is called: a host that takes the flags of a GPU. --auto finds too little memory, and says so.
LIKE_A_GPU = """
full = "--auto" in args
for word, n in (("--tf32", 0), ("--free-engines", 0), ("--auto", 0), ("--cap", 1), ("--watch-memory", 0)):
    while word in args: del args[args.index(word):args.index(word) + 1 + n]
if full:
    args += ["--budget", "2300000"]
    print("ebb: planning again within 2300000 bytes", file=sys.stderr)
"""


def wrapped(t, lines="", before=""):
    """A command that is Ebb, but for what `before` does to its `args`, and `lines` to its document `told`."""
    return program(t, "ebb", f"#!{sys.executable} -IS\nimport json, subprocess, sys\nargs = sys.argv[1:]\n{before}\n"
                   f"done = subprocess.run([{t.ebb!r}, *args], stdout=subprocess.PIPE)\n"
                   "told = json.loads(done.stdout) if done.stdout[:1] == b'{' else None\n"
                   "steps = told.get('steps', []) if told and told.get('schema') == 'ebb.run/1' else []\n" + lines +
                   "\nsys.stdout.write(json.dumps(told) if told else done.stdout.decode())\nsys.exit(done.returncode)\n")


def like_a_gpu(t):
    return wrapped(t, before=LIKE_A_GPU)


# A device of 80 GB on which all is well but for what is planted, at no cost: what it would tell, from the flags alone.
CANNED = """
import json, sys
args = sys.argv[1:]
def of(word, default=None):
    return int(args[args.index(word) + 1]) if word in args else default
def tell(**told):
    steps = told.get("steps", [])
    PLANTED
    print(json.dumps(told))
    sys.exit(0)
budget, n = of("--budget"), of("--steps", 3)
if "--help" in args: sys.exit(print("--free-engines"))
if args[0] == "bench": sys.exit(open(args[args.index("-o") + 1], "w").close())
if args[0] == "doctor": tell(verdict="holds", ops=9, calls=9, runs=9, faults=0,
                             rows=[{"op": "relu", "runs": 9, "worst": 0.5, "faults": 0, "fault": None}])
if args[0] == "plan":
    with open(args[args.index("-o") + 1], "w") as file:
        json.dump({"graph": {"ops": [{"name": "conv", "kind": "fused"}]}, "steps": [{"op": 0, "alternative": "b" if budget else "a"}]}, file)
    tell(total_bytes=40 << 30, arena_bytes=30 << 30, n_recomputed=5 if budget else 0)
if "--compare" in args: tell(verdict="agree", ops=9, over=0, first=None, worst=[])
if "--auto" in args: print("ebb: AGAIN within 5 bytes", file=sys.stderr)
planned = 5 if "--auto" in args else min(budget or 40 << 30, 40 << 30)
memory = {"total_bytes": 80 << 30, "ballast_bytes": of("--cap", 0) and 1, "process_bytes": 9,
          "hidden_bytes": 7 if "--watch-memory" in args else None}
profile = [{"kind": "relu", "median_ns": 5, "predicted_ns": 5}]
ns = 1030000 if budget else 1000000
tell(schema="ebb.run/1", steps=[{"ns": ns, "loss": 7 - 0.1 * i} for i in range(n)], planned_bytes=planned, allocated_bytes=planned,
     device_memory=memory,
     n_replayed=0 if {"--no-graph", "--profile", "--check-finite"} & set(args) else n - 1, predicted_step_ns=ns,
     params_hash="ab" if "--tf32" in args else "cd", profile=profile)
"""


def canned(t, planted="pass", again="planning again"):
    text = CANNED.replace("PLANTED", planted.strip().replace("\n", "\n    ")).replace("AGAIN", again)
    return program(t, "canned/ebb", f"#!{sys.executable} -IS\n{text}")


# ---- PyTorch --------------------------------------------------------------------------------------------

def no_torch(t):
    return program(t, "no-torch/python", "#!/bin/sh\nexit 1\n")


FAKE_TORCH = """
import json, sys
if "import torch" in sys.argv[-1]: sys.exit(0)
if sys.argv[1] == "-c": sys.exit(1)
print("of no use", file=sys.stderr)
variant, device = sys.argv[2], sys.argv[5]
graphs = variant.startswith("graphs")
if device != DEVICE: sys.exit(f"not of {device}")
optimizer = "fused" if variant.startswith(("fused", "compile", "graphs")) else "foreach"
print(json.dumps({"torch": "0", "cuda": "13", "cudnn": 91900, "optimizer": optimizer, "tf32": [variant.endswith("-tf32")] * 2,
                  "amp": variant.partition("-")[2] if variant.endswith("f16") else None}), flush=True)
for i, line in enumerate(sys.stdin):
    if i == FAILS_AT: sys.exit("it is too large")
    memory = "reserved_bytes" if graphs else "steady_peak_bytes"
    told = {"ns": [NS] * int(line), "memory": memory, memory: 7 << 20, **({"cudagraph_skips": 0} if graphs else {})}
    PLANTED
    print(json.dumps(told), flush=True)
"""


def fake_torch(t, fails_at=9, ns=2000000, device="cpu", planted="pass"):
    text = FAKE_TORCH.replace("FAILS_AT", str(fails_at)).replace("NS", str(ns)).replace("DEVICE", repr(device))
    text = text.replace("PLANTED", planted.strip().replace("\n", "\n    "))
    return program(t, "torch/python", f"#!{sys.executable} -IS\n{text}")


# ---- sanitizer ------------------------------------------------------------------------------------------

# A version that offers two filters, of which one hides every kernel: the program with planted faults tells.
SANITIZER = """#!/bin/sh
case "$*" in
*--help*) echo "  --kernel-name arg   --kernel-regex arg"; exit 0 ;;
*kernel_substring=*"/control "*) echo "========= ERROR SUMMARY: 0 errors"; exit 0 ;;
*"--tool initcheck"*"/control initcheck ORDINAL") SEES ;;
*"/control "*" ORDINAL") echo "=========     at cuda_kernel_control+0x90"; exit 99 ;;
*"--tool memcheck"*"doctor --full"*) MEMCHECK ;;
*"--tool racecheck"*"doctor --full"*) RACECHECK ;;
*"--tool initcheck"*" run "*) INITCHECK ;;
*) exit 3 ;;
esac
"""
NVCC = """#!/bin/sh
case "$*" in *control.cu) COMPILES; while [ "$1" != -o ]; do shift; done; : > "$2" ;; *) echo 'release 13.0, V13.0.88' ;; esac
"""
CLEAN = {"MEMCHECK": 'echo "========= ERROR SUMMARY: 0 errors"', "INITCHECK": 'echo "========= ERROR SUMMARY: 0 errors"',
         "SEES": 'echo "=========     at cuda_kernel_control+0x40"; exit 99', "ORDINAL": "0", "COMPILES": ":",
         "RACECHECK": 'echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"'}


def fake_toolkit(t, **tools):
    """A toolkit's folder with that sanitizer; a tool that is not given finds nothing."""
    text, nvcc = SANITIZER, NVCC
    for tool, does in {**CLEAN, **tools}.items():
        text, nvcc = text.replace(tool, does), nvcc.replace(tool, does)
    program(t, "toolkit/bin/nvcc", nvcc)
    return program(t, "toolkit/bin/compute-sanitizer", text).parent.parent
