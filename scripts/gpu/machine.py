"""What the machine has: a GPU, a toolkit, tools to build with; and commands run within a time limit."""
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Failed(Exception):
    """Something cannot go on: one line of why, and the exit code of what failed, if that is a command."""

    def __init__(self, why, code=None):
        super().__init__(why)
        self.code = code


class Unproven(Failed):
    """It could not be tried here: neither well nor wrong."""


class NoTime(Unproven):
    """Nor would it at a second try."""


class Usage(Exception):
    """The command line names something that is not there."""


@contextlib.contextmanager
def collect(found, what):
    """What fails of a part does not stop the rest of it."""
    try:
        yield
    except Unproven as why:
        found.setdefault("unproven", []).append(f"{what}: {why}")
    except (Failed, OSError, ValueError, LookupError, TypeError) as fault:
        found.setdefault("faults", []).append(f"{what}: {fault if isinstance(fault, Failed) else f'{type(fault).__name__}: {fault}'}")


def ordinal(device):
    """1 of "cuda:1"; 0 where none is named."""
    number = (device or "").partition(":")[2] or "0"
    if not number.isdecimal():
        raise Usage(f"--device {device}: behind the colon is a number")
    return int(number)


def bus_id(device):
    """"0000:1b:00.0", by which nvidia-smi knows the device whatever CUDA_VISIBLE_DEVICES says; None where it is not told."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    handle, text = ctypes.c_int(), ctypes.create_string_buffer(32)
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(handle), ordinal(device)) or driver.cuDeviceGetPCIBusId(text, 32, handle):
        return None
    return text.value.decode()


def architecture(device):
    """"90" of a device of compute capability 9.0, asked of the driver; None where it does not tell."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    handle, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    ask = driver.cuDeviceGetAttribute  # 75, 76: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(handle), ordinal(device)) or ask(ctypes.byref(major), 75, handle) or \
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
    lines = (text if isinstance(text, str) else text.decode(errors="replace")).strip().splitlines()
    return lines[-1] if lines else ""


def run(command, limit_s, env=None):
    """(exit code, stdout, stderr) of a command, ended with its children at the limit: then the code is None."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        out, err = process.communicate(timeout=max(limit_s, 1))
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err


def run_told(command, limit_s, codes=(0,)):
    """(the document that a command prints, its standard error: warnings of a run that went on)."""
    code, out, err = run(command, limit_s)
    if code is None:
        raise NoTime(f"ran longer than {limit_s:.0f} s: {' '.join(map(str, command[:6]))} ...; it said last: {last_line(err) or 'nothing'}")
    if code not in codes or not out.strip():
        raise Failed(f"exit code {code}: {last_line(err)}", code)
    return json.loads(out), err.decode(errors="replace")


def run_json(command, limit_s, codes=(0,)):
    return run_told(command, limit_s, codes)[0]


# ---- tools ----------------------------------------------------------------------------------------------

def first(paths):
    return next((path for path in paths if path and pathlib.Path(path).exists()), None)


def environments(python):
    """Folders nvidia/ of this Python and of the one with torch: wheels of cuDNN and of the toolkit. Neither need be active."""
    folders = list(sys.path)
    if python and os.path.abspath(python) != os.path.abspath(sys.executable):
        try:
            folders += run_json([python, "-c", "import json, sys; print(json.dumps(sys.path))"], 30)
        except (Failed, OSError, ValueError):
            pass  # one that does not start has no torch either, which its part tells
    found = [pathlib.Path(folder) / "nvidia" for folder in folders if folder and (pathlib.Path(folder) / "nvidia").is_dir()]
    return list(dict.fromkeys(found))


def toolkit(given, wheels):
    """The toolkit's folder, or None; a wrong one that was given is a fault of the command line."""
    if given:
        if not (pathlib.Path(given) / "bin/nvcc").exists():
            raise Usage(f"--toolkit {given}: there is no bin/nvcc")
        return pathlib.Path(given).resolve()
    nvcc = shutil.which("nvcc")
    folders = [os.environ.get("CUDA_HOME"), pathlib.Path(nvcc).resolve().parent.parent if nvcc else None, "/usr/local/cuda",
               *[folder / name for folder in wheels for name in ("cu13", "cuda_nvcc")]]
    found = first(folder and pathlib.Path(folder) / "bin/nvcc" for folder in folders)
    return found and found.parent.parent


def is_cudnn(folder):
    return (folder / "include/cudnn.h").exists() and any(folder.glob("lib*/libcudnn.so.9"))


def cudnn(given, toolkit_folder, wheels):
    """cuDNN's folder, or None where the build looks by itself."""
    if given:
        if not is_cudnn(pathlib.Path(given)):
            raise Usage(f"--cudnn {given}: there is no include/cudnn.h or no lib/libcudnn.so.9")
        return pathlib.Path(given).resolve()
    folders = [toolkit_folder, pathlib.Path("/usr"), *[folder / "cudnn" for folder in wheels]]
    return next((folder for folder in folders if folder and is_cudnn(folder)), None)


def builders():
    """Commands of meson and ninja: programs, or modules of this Python."""
    meson = [shutil.which("meson")] if shutil.which("meson") else None
    if meson is None and subprocess.run([sys.executable, "-c", "import mesonbuild"],
                                        stderr=subprocess.DEVNULL, check=False).returncode == 0:
        meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
    if meson is None or not (shutil.which("ninja") or shutil.which("ninja-build")):
        raise Failed("meson or ninja is missing: pip install meson ninja")
    return meson, shutil.which("ninja") or shutil.which("ninja-build")
