"""ONNX files through the command: what is read, what is refused, and that no damage to a file does more than one line.

test_onnx.py EBB ROOT; EBB_ONNX_MUTATIONS: how many damaged files (default 100)."""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile

EBB, MODELS = sys.argv[1], pathlib.Path(sys.argv[2]) / "tests/onnx/models"
wrong = []


def ebb(*args):
    done = subprocess.run([EBB, *map(str, args)], capture_output=True, text=True, errors="replace", timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(what, held):
    if not held:
        wrong.append(what)


def params(*args):
    code, out, err = ebb("run", *args, "--steps", "3", "--json", "--hash")
    expect(f"run {args}: exit code {code}: {err}", code == 0)
    return json.loads(out)["params_hash"] if code == 0 else None


def read(folder):
    """A batch that the exporter froze is free, Softmax gives way to the loss, and every way to run it ends in the same bits."""
    model, text, weights = MODELS / "frozen.onnx", folder / "m.ebb", folder / "m.safetensors"
    code, _, err = ebb("import", model, "--dim", "N=6", "-o", text, "--weights", weights)
    expect(f"import: {code} {err}", code == 0)
    lines = text.read_text().splitlines()
    expect("the batch is not N", "%x = input f32[N,3,8,8]" in lines and "dim N = 6" in lines)
    expect("Softmax is still there", not any("= softmax " in line for line in lines) and any("softmax_xent" in line for line in lines))
    expect("running statistics are no states", "%mean = state f32[4]" in lines)
    first = params(model, "--dim", "N=6")
    expect("budget changes bits", first == params(model, "--dim", "N=6", "--budget", "33kB"))
    expect("no reuse changes bits", first == params(model, "--dim", "N=6", "--no-reuse"))
    expect("text and weights end in other bits", first == params(text, "--init-from", weights))
    expect("weights do not matter", first != params(text))


def recurrent():
    """An LSTM both ways, a GRU and a loop: the same bits in every memory mode, and something is run again."""
    model, dim = MODELS / "recurrent.onnx", ("--dim", "batch=8")
    first = params(model, *dim)
    for mode in ("--no-reuse",), ("--phased",), ("--budget", "60%"), ("--threads", "1"):
        expect(f"recurrent, {mode}: other bits", first == params(model, *dim, *mode))
    code, out, err = ebb("plan", model, *dim, "--budget", "60%", "--json")
    expect(f"recurrent: {code} {err}", code == 0 and len(json.loads(out)["steps"]) > 0)
    plan = json.loads(out) if code == 0 else {}
    expect("recurrent: nothing is run again", plan.get("time_ns", 0) > plan.get("baseline_time_ns", 0))


def refused():
    code, out, err = ebb("plan", MODELS / "refused.onnx")
    expect(f"refused: {code} {err}", code == 3 and err.count("\n") == 1 and not out)
    expect("not all nodes are named", "2 nodes" in err and "where (NonZero)" in err and "determinant (Det)" in err)


def joined():
    """A batch that is a part of the graph stays what it is, and another is refused."""
    code, _, err = ebb("plan", MODELS / "joined.onnx", "--dim", "Batch=2")
    expect(f"an unknown dim: {err}", code == 2 and "has no dim Batch: it has N, the batch" in err and err.count("\n") == 1)
    code, _, err = ebb("plan", MODELS / "joined.onnx", "--dim", "N=2")
    expect(f"joined, N=2: {code} {err}", code == 0)
    code, out, err = ebb("plan", MODELS / "joined.onnx", "--dim", "N=4")
    expect(f"joined, N=4: {code} {err}", code == 3 and err.count("\n") == 1 and not out and "its batch is 2 and cannot become 4" in err)


def tensors(path):
    data = path.read_bytes()
    n = int.from_bytes(data[:8], "little") + 8
    return {name: (row["shape"], data[n + row["data_offsets"][0]: n + row["data_offsets"][1]])
            for name, row in json.loads(data[8:n]).items() if name != "__metadata__"}


def exported(folder):
    """A trained model goes out and comes back with its weights; what is there stays when it cannot."""
    model, saves, out, back = MODELS / "frozen.onnx", folder / "saves", folder / "out.onnx", folder / "back.safetensors"
    code, _, err = ebb("run", model, "--dim", "N=6", "--steps", "3", "--save", saves)
    expect(f"run --save: {code} {err}", code == 0)
    save = saves / "step-000000000003.safetensors"
    code, printed, err = ebb("export", model, "--weights", save, "-o", out)
    expect(f"export: {code} {err}", code == 0 and not printed)
    code, text, err = ebb("import", out, "--weights", back)
    expect(f"import: {code} {err}", code == 0 and "%mean = state f32[4]" in text)
    expect("Softmax is lost", b"Softmax" in out.read_bytes())
    want, got = tensors(save), tensors(back)
    expect(f"other weights: {sorted(got)}", len(got) > 5 and all(want[name] == data for name, data in got.items()))
    expect("other bits", params(model, "--dim", "N=6", "--init-from", back) == params(out, "--dim", "N=6"))
    whole = out.read_bytes()
    for what, code, *args in (("no such dim", 2, model, "-o", out, "--dim", "sequence=3"), ("no such weights", 7, model, "--weights", folder / "none", "-o", out),
                              ("no -o", 2, model), ("no weights", 2, folder / "m.ebb", "-o", out), ("no folder", 7, model, "-o", folder / "no/out.onnx")):
        exit_code, printed, err = ebb("export", *args)
        expect(f"{what}: {exit_code} {err}", exit_code == code and err.count("\n") == 1 and not printed)
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    for args in (("export", model, "-o", out), ("import", model, "-o", folder / "full.ebb", "--weights", back)):
        done = subprocess.run([EBB, *map(str, args)], capture_output=True, text=True, preexec_fn=limit, timeout=120, check=False)
        expect(f"full: {args[0]}: {done.returncode} {done.stderr}", done.returncode == 7 and done.stderr.count("\n") == 1)
    expect("a failure changed a file", whole == out.read_bytes() and got == tensors(back) and not (folder / "full.ebb").exists())
    code, _, err = ebb("export", model, "-o", out, "--fold-batch-norm")
    expect(f"folded: {code} {err}", code == 0 and b"BatchNormalization" not in out.read_bytes() and len(list(folder.glob("*.tmp"))) == 0)


def damaged(folder):
    """Truncated at seeded places and with seeded bytes changed: read, or one line."""
    whole, path, rng = (MODELS / "frozen.onnx").read_bytes(), folder / "damaged.onnx", random.Random(5)
    for i in range(int(os.environ.get("EBB_ONNX_MUTATIONS", "100"))):
        data = bytearray(whole[: rng.randrange(len(whole))] if i % 2 else whole)
        for _ in range(0 if i % 2 else rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        code, _, err = ebb("import", path, "-o", folder / "out.ebb")
        expect(f"damaged file {i}: {code} {err!r}", code in (0, 3, 7) and err.count("\n") == (0 if code == 0 else 1))


def twice(folder):
    """An output's type that is there twice: protobuf would merge them."""
    whole, path = (MODELS / "frozen.onnx").read_bytes(), folder / "twice.onnx"
    output = b"b\x13\n\x01y\x12\x0e\n\x0c\x08\x01"
    expect("the output of frozen.onnx is another one", whole.count(output) == 1)
    path.write_bytes(whole.replace(output, b"b\x13\n\x01y\xfd\x0e\n\x0c\x08\x01"))  # what was its shape is a type now, of two tensors
    code, _, err = ebb("import", path, "-o", folder / "out.ebb")
    expect(f"a type twice: {code} {err!r}", code == 3 and "an input or output" in err and err.count("\n") == 1)


with tempfile.TemporaryDirectory() as name:
    read(pathlib.Path(name))
    exported(pathlib.Path(name))
    recurrent()
    refused()
    joined()
    damaged(pathlib.Path(name))
    twice(pathlib.Path(name))
print("\n".join(wrong) or "ok")
sys.exit(bool(wrong))
