#!/usr/bin/env python3
"""What training on JPEGs costs beside training on made-up inputs.

    throughput.py EBB MAKE_PICTURES [--model M] [--dim NAME=SIZE ...] [--count 2000] [--size 300x200] [--steps 64] [--rounds 3] [--keep-decoded BYTES]

MAKE_PICTURES: build/tests/data/make_pictures. Makes a folder of COUNT pictures, 10 of them damaged; then, in turn, ROUNDS runs
without --data, with it, and with it and --keep-decoded 0. A row a round: images a second without; ratios to it with data, and with all
decoded each time; the ratios of processor time a step, which other programs' load does not move; the processor time of decoding a
batch, where all are, beside the time of a step; how busy a step keeps its threads (in what it leaves, pictures are decoded for nothing);
how long steps waited. The rate without data is that of steps alone; with data it has all that feeds them."""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ebb")
    parser.add_argument("make_pictures")
    parser.add_argument("--model", default=str(ROOT / "examples/models/resnet18.ebb"))
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--size", default="300x200")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep-decoded")
    return parser.parse_args()


def processor_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(options, steps, *more):
    """The document, and the processor time of the process."""
    dims = [word for dim in options.dim for word in ("--dim", dim)]
    before = processor_s()
    done = subprocess.run([options.ebb, "run", options.model, *dims, "--steps", str(steps), "--threads", str(options.threads),
                           "--json", *more], check=True, capture_output=True)
    return json.loads(done.stdout), processor_s() - before


def both(options, *more):
    """The document of the steps, and the processor time of one, without what comes before the first."""
    _, first = run(options, 1, *more)
    document, whole = run(options, options.steps, *more)
    return document, (whole - first) / (options.steps - 1)


def main():
    options = arguments()
    batch = next(int(dim[2:]) for dim in options.dim if dim.startswith("N="))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        pictures = str(pathlib.Path(folder) / "pictures")
        subprocess.run([options.make_pictures, pictures, str(options.classes), str(options.count), *options.size.split("x"), "10"], check=True)
        print(f"{'without':>9} {'ratio':>7} {'none':>7} {'cpu':>7} {'none':>7} {'decode':>7} {'busy':>7} {'waited':>7} {'damaged':>8}")
        for _ in range(options.rounds):
            plain, plain_s = both(options)
            answer, loaded_s = both(options, "--data", pictures, *(("--keep-decoded", options.keep_decoded) if options.keep_decoded else ()))
            decoded, decoded_s = both(options, "--data", pictures, "--keep-decoded", "0")
            without = 1e9 * batch / plain["mean_step_ns"]
            data, each = answer["data"], decoded["data"]
            decode = batch * each["loader_threads"] / each["loader_images_per_s"] / (batch / without)
            busy = plain_s / (options.threads * plain["mean_step_ns"] / 1e9)
            waited = data["wait_ns"] / (answer["mean_step_ns"] * (options.steps - 1))
            rows.append((data["images_per_s"] / without, plain_s / loaded_s, each["images_per_s"] / without, plain_s / decoded_s))
            ratio, cpu, none, none_cpu = rows[-1]
            print(f"{without:9.1f} {ratio:7.3f} {none:7.3f} {cpu:7.3f} {none_cpu:7.3f} {decode:7.1%} {busy:7.1%} {waited:7.2%} {data['n_bad']:8d}", flush=True)
    medians = [statistics.median(row[i] for row in rows) for i in range(4)]
    print("medians: ratio {:.3f}, of processor time {:.3f}; decoding each time {:.3f}, {:.3f}".format(*medians))


if __name__ == "__main__":
    main()
