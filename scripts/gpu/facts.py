"""What a record says of the machine: driver, device, versions; and never where on it things lie."""
import math
import os
import pathlib
import re
import shutil
import sys
import time

import machine

HERE = pathlib.Path(__file__).resolve().parent
# A path of two folders or more that no name below stands for keeps its last word only.
PATH = re.compile(r"(?<![\w.:/~-])/(?:[\w.+@~-]+/)+([\w.+@-]*)")


def folders(check):
    """[(folder, the word that stands for it)], the longest first."""
    known = [(machine.ROOT, "."), (check.work, "WORK"), (check.build, "BUILD"), (check.logs, "OUT"), (check.toolkit, "TOOLKIT"),
             (check.cudnn, "CUDNN"), (sys.prefix, "PREFIX"), (pathlib.Path.home(), "~"), (check.python, "PYTHON"), (check.ebb, "ebb")]
    texts = {}
    for folder, word in known:
        if folder is not None:
            texts[str(folder)] = word
            texts[os.path.realpath(folder)] = word
    return sorted(((text, word) for text, word in texts.items() if len(text) > 1), key=lambda pair: -len(pair[0]))


def clean(text, known):
    for folder, word in known:
        text = re.sub(re.escape(folder) + r"(?![\w.-])", lambda _, word=word: word, text)
    return PATH.sub(r".../\1", text)


def plain(value, known):
    """The same without this machine's paths, and with words for numbers that JSON does not have: nan, inf."""
    if isinstance(value, dict):
        return {clean(str(key), known): plain(one, known) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one, known) for one in value]
    if isinstance(value, (str, pathlib.Path)):
        return clean(str(value), known)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def of_machine(commit):
    """Driver, device and commit (the given one of a copy without its history), as far as the machine tells."""
    found = {"date": time.strftime("%Y-%m-%d %H:%M:%S %z"), "python": sys.version.split()[0], "n_cpus": os.cpu_count()}
    if shutil.which("nvidia-smi"):
        names = "name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit,compute_cap"
        code, out, _ = machine.run(["nvidia-smi", f"--query-gpu={names}", "--format=csv,noheader"], 30)
        if code == 0:
            found["gpus"] = [dict(zip(names.split(","), [cell.strip() for cell in line.split(",")])) for line in out.decode().splitlines()]
    for key, command in (("commit", ["git", "rev-parse", "HEAD"]), ("changed", ["git", "status", "--porcelain", "-uno"]),
                         ("cc", ["cc", "--version"])):
        try:
            code, out, _ = machine.run(command, 30)
        except OSError:
            continue
        if code == 0:
            lines = out.decode().splitlines()
            found[key] = bool(lines) if key == "changed" else lines[0]
    if commit:
        found["commit"] = commit
    return found


# ---- libraries ------------------------------------------------------------------------------------------

def linked(module):
    """{name of a library: the file that the loader takes for it} of Ebb's module."""
    if not module.exists() or not shutil.which("ldd"):
        return {}
    code, out, _ = machine.run(["ldd", module], 30)
    rows = re.findall(r"^\s*(\S+) => (/\S+)", out.decode(errors="replace"), re.M) if code == 0 else []
    return dict(rows)


def libraries(check):
    """{cudnn, cublaslt, cudart, cupti: file}: those that the module loads, else what lies about."""
    places = [check.toolkit, check.cudnn, pathlib.Path("/usr"), *check.wheels]
    rest = [("cudnn", "libcudnn.so.9", ""), ("cublaslt", "libcublasLt.so.1*", "cublas"), ("cudart", "libcudart.so.1*", "cuda_runtime"),
            ("cupti", "libcupti.so.1*", "cuda_cupti")]
    loaded, found = linked(check.ebb.parent.parent / "libebb_cuda.so"), {}
    for key, name, wheel in rest:
        stem = name.split("*")[0]
        found[key] = next((path for library, path in loaded.items() if library.startswith(stem)), None)
        patterns = [f"lib*/{name}", f"lib/*/{name}", f"extras/CUPTI/lib64/{name}", f"cu13/lib/{name}", f"{wheel or 'cudnn'}/lib/{name}"]
        if found[key] is None:
            found[key] = next((str(path) for place in places if place for pattern in patterns
                              for path in sorted(place.glob(pattern))), None)
    return found


def versions(check):
    """What was built with and what is loaded, each by its own words; null: it is not there, or does not tell."""
    found = {}
    if check.dry and not check.args.toolkit:
        return found  # nothing of it is used
    if check.toolkit:
        code, out, _ = machine.run([check.toolkit / "bin/nvcc", "--version"], 30)
        release = re.search(rb"release [^,\n]+, (V[\d.]+)", out)
        found["nvcc"] = release.group(1).decode() if code == 0 and release else None
    given = [f"{key}={path}" for key, path in libraries(check).items() if path]
    with machine.collect(found, "versions"):
        found.update(machine.run_json([sys.executable, HERE / "versions.py", *given], 60))
    return found
