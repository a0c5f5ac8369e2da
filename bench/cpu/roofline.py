#!/usr/bin/env python3
"""Where a training step's time goes, op by op, against the roofline measured on this machine; one thread, processor time.

    roofline.py BUILD [--only MODEL,MODEL] [--isa ALL,AVX2] [--repeats 3] [--rows 12]

BUILD has bench/cpu/bench_cpu_kernels (ninja -C BUILD bench/cpu/bench_cpu_kernels). Every distinct call runs alone, on
operands that no cache holds. --isa: what oneDNN may use (ONEDNN_MAX_CPU_ISA); loops of Ebb's own take what the processor
has. The roof of an op is max(flops / peak, bytes / bandwidth): `of roof` is that over its time, `over` is what
lies between them. Prints Markdown.
"""
import argparse
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = {"resnet50": ["N=4"], "mobilenet_v2": ["N=4"], "gpt2_small": ["N=1", "T=64"], "unet": ["N=1", "H=128"], "vgg16": ["N=1"],
          "densenet121": ["N=2"]}
PEAK = re.compile(r"peak ([\d.]+) GFLOP/s in vectors of 32 bytes, ([\d.]+) in 64; ([\d.]+) GB/s")
LINE = re.compile(r"^(\S+) +(\d+) +([\d.]+) ms +([\d.]+) GFLOP/s +([\d.]+) GB/s +model +([\d.]+) ms", re.MULTILINE)
SUMS = ("convolutions",)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--isa", default="ALL,AVX2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=12)
    return parser.parse_args()


def run(args, words, isa="ALL"):
    env = dict(os.environ, OMP_NUM_THREADS="1", ONEDNN_MAX_CPU_ISA=isa)
    return subprocess.run([args.build / "bench" / "cpu" / "bench_cpu_kernels", *words, "cputime"], env=env, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def rows_of(text, flops_peak, bytes_peak):
    rows = []
    for name, n, ms, gflops, gbytes, model in LINE.findall(text):
        if name in SUMS:
            continue
        ms, gflops, gbytes = float(ms), float(gflops), float(gbytes)
        of_roof = max(gflops / flops_peak, gbytes / bytes_peak)
        rows.append({"name": name, "n": int(n), "ms": ms, "gflops": gflops, "gbytes": gbytes, "of": of_roof, "over": ms * (1 - of_roof),
                     "model": float(model)})
    return sorted(rows, key=lambda row: -row["over"])


def print_model(name, dims, isa, rows, most):
    step = sum(row["ms"] for row in rows)
    over = sum(row["over"] for row in rows)
    print(f"\n### {name}, {', '.join(dims)}, {isa}: {step:.0f} ms, {over:.0f} of them over the roof\n")
    print("| op | calls | ms | share | GFLOP/s | GB/s | of roof | over, ms |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows[:most]:
        print(f"| {row['name']} | {row['n']} | {row['ms']:.1f} | {100 * row['ms'] / step:.1f} % | {row['gflops']:.1f} | {row['gbytes']:.1f} |"
              f" {100 * row['of']:.0f} % | {row['over']:.1f} |")
    rest = rows[most:]
    if rest:
        print(f"| {len(rest)} more | {sum(r['n'] for r in rest)} | {sum(r['ms'] for r in rest):.1f} |"
              f" {100 * sum(r['ms'] for r in rest) / step:.1f} % | | | | {sum(r['over'] for r in rest):.1f} |")


def main():
    args = arguments()
    narrow, wide, stream = (float(x) for x in PEAK.search(run(args, ["peak"])).groups())
    print(f"Peak of one thread: {narrow:.0f} GFLOP/s in vectors of 32 bytes, {wide:.0f} in 64; {stream:.1f} GB/s (y = a + b).")
    for name in args.only.split(","):
        for isa in args.isa.split(","):
            dims = MODELS[name]
            text = run(args, [ROOT / "examples" / "models" / f"{name}.ebb", *dims, "threads=1", f"repeats={args.repeats}", "rotate"], isa)
            print_model(name, dims, isa, rows_of(text, narrow if isa.startswith("AVX2") else max(wide, narrow), stream), args.rows)


if __name__ == "__main__":
    main()
