"""What the machine has: a GPU, a toolkit, tools to build with; and commands run within a time limit."""
import contextlib
import ctypes
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Failed(Exception):
    """Something cannot go on: one line of why."""


class NoTime(Failed):
    """Nor would it at a second try."""


@contextlib.contextmanager
def collect(found, what):
    """What fails of a part does not stop the rest of it."""
    try:
        yield
    except (Failed, OSError, ValueError, LookupError, TypeError) as fault:
        found.setdefault("faults", []).append(f"{what}: {fault if isinstance(fault, Failed) else f'{type(fault).__name__}: {fault}'}")


def plain(value):
    """The same with words for numbers that JSON does not have: nan, inf."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def architecture(device):
    """"90" of a device of compute capability 9.0, asked of the driver; None where it does not tell."""
    ordinal = int(device.partition(":")[2] or 0)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    handle, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    ask = driver.cuDeviceGetAttribute  # 75, 76: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(handle), ordinal) or ask(ctypes.byref(major), 75, handle) or \
            ask(ctypes.byref(minor), 76, handle):
        return None
    return f"{major.value}{minor.value}"


def n_gpus():
    """(number of GPUs, why there is none)."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0, "there is no NVIDIA driver (libcuda.so.1)"
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0, "the NVIDIA driver does not start (cuInit)"
    return count.value, "the NVIDIA driver has no device"


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def run(command, limit_s, env=None, stdin=None):
    """(exit code, stdout, stderr) of a command, ended with its children at the limit: then the code is None."""
    process = subprocess.Popen([str(word) for word in command], stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        out, err = process.communicate(timeout=max(limit_s, 1))
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err


def run_json(command, limit_s, codes=(0,), env=None):
    """The document that a command prints."""
    code, out, err = run(command, limit_s, env)
    if code is None:
        raise NoTime(f"ran longer than {limit_s:.0f} s: {' '.join(map(str, command[:6]))} ...; it said last: {last_line(err) or 'nothing'}")
    if code not in codes or not out.strip():
        raise Failed(f"exit code {code}: {last_line(err)}")
    return json.loads(out)


def first(paths):
    return next((path for path in paths if path and pathlib.Path(path).exists()), None)


def environments():
    """Folders nvidia/ of this Python: wheels of cuDNN and of the toolkit."""
    return [pathlib.Path(folder) / "nvidia" for folder in sys.path if folder and (pathlib.Path(folder) / "nvidia").is_dir()]


def toolkit(given):
    nvcc = shutil.which("nvcc")
    wheels = [folder / name for folder in environments() for name in ("cu13", "cuda_nvcc")]
    folders = [given, os.environ.get("CUDA_HOME"), pathlib.Path(nvcc).resolve().parent.parent if nvcc else None, "/usr/local/cuda", *wheels]
    return first(folder and pathlib.Path(folder) / "bin/nvcc" for folder in folders)


def cudnn(given, toolkit_folder):
    """cuDNN's folder, or None where the build looks by itself."""
    folders = [given, toolkit_folder, "/usr", *[folder / "cudnn" for folder in environments()]]
    for folder in filter(None, map(lambda f: f and pathlib.Path(f), folders)):
        if (folder / "include/cudnn.h").exists() and any(folder.glob("lib*/libcudnn.so.9")):
            return folder
    return None


def builders():
    """Commands of meson and ninja: programs, or modules of this Python."""
    meson = [shutil.which("meson")] if shutil.which("meson") else None
    if meson is None and subprocess.run([sys.executable, "-c", "import mesonbuild"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
    if meson is None or not (shutil.which("ninja") or shutil.which("ninja-build")):
        raise Failed("meson or ninja is missing: pip install meson ninja")
    return meson, shutil.which("ninja") or shutil.which("ninja-build")


def facts(commit):
    """Driver, device and commit (the given one of a copy without its history), as far as the machine tells."""
    found = {"date": time.strftime("%Y-%m-%d %H:%M:%S %z"), "python": sys.version.split()[0], "n_cpus": os.cpu_count()}
    if shutil.which("nvidia-smi"):
        names = "name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit,compute_cap"
        code, out, _ = run(["nvidia-smi", f"--query-gpu={names}", "--format=csv,noheader"], 30)
        if code == 0:
            found["gpus"] = [dict(zip(names.split(","), [cell.strip() for cell in line.split(",")])) for line in out.decode().splitlines()]
    for key, command in (("commit", ["git", "rev-parse", "HEAD"]), ("changed", ["git", "status", "--porcelain", "-uno"]), ("cc", ["cc", "--version"])):
        try:
            code, out, _ = run(command, 30)
        except OSError:
            continue
        if code == 0:
            lines = out.decode().splitlines()
            found[key] = bool(lines) if key == "changed" else lines[0]
    if commit:
        found["commit"] = commit
    return found
