#!/usr/bin/env python3
"""Exports the example models, trained for a step at small sizes, and every op of tests/onnx/export_rows.h: out.py EBB DIR; check.py then
holds what onnxruntime makes of the files beside what Ebb does. Prints their names."""
import ast
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ("N=2", "H=64", "K=7")
MODELS = {"resnet18": PICTURES, "resnet50": PICTURES, "resnet101": PICTURES, "densenet121": PICTURES, "mobilenet_v2": PICTURES,
          "vgg16": PICTURES, "unet": ("N=1", "H=64", "W=8"), "gpt2_small": ("N=2", "T=16", "V=99", "C=48", "P=16")}
HEAD = "ebb 1\ngraph row\ndim N = 5\n%x = input f32[N,4,6,6]\n%m = input f32[N,8]\n%v = input f32[N,3,8]\n%i = input i32[N,3]\n"


def out(ebb, model, folder, name, dims, *more):
    """Runs the model for a step, exports it with what that left; by way of the names of the files."""
    saves = folder / "saves"
    shutil.rmtree(saves, ignore_errors=True)
    bound = [word for dim in dims for word in ("--dim", dim)]
    subprocess.run([ebb, "run", model, *bound, *more, "--steps", "1", "--save", saves], check=True, capture_output=True)
    weights, = saves.iterdir()
    free = [word for dim in dims if not dim.startswith("N=") for word in ("--dim", dim)]
    for kind, flags in (("", ()), ("-folded", ("--fold-batch-norm",))):
        path = folder / f"{name}{kind}.onnx"
        subprocess.run([ebb, "export", model, *free, *flags, "--weights", weights, "-o", path], check=True)
        print(path, flush=True)


def main(ebb, folder):
    folder = pathlib.Path(folder)
    for name, dims in MODELS.items():
        out(ebb, ROOT / "examples/models" / f"{name}.ebb", folder, name, dims)
    rows = re.findall(r'\{((?:"(?:[^"\\]|\\.)*"\s*)+),', (ROOT / "tests/onnx/export_rows.h").read_text())
    for i, row in enumerate(rows):
        text = HEAD + "".join(map(ast.literal_eval, re.findall(r'"(?:[^"\\]|\\.)*"', row))) + "%z = neg %y\noutput %z\n"
        model = folder / "row.ebb"
        model.write_text(text)
        out(ebb, model, folder, f"op{i:02}-" + text.split(" = ")[-2].split()[0], (), "--eval")


if __name__ == "__main__":
    main(*sys.argv[1:])
