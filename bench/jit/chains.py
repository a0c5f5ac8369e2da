#!/usr/bin/env python3
"""What one op for a chain of pointwise ops buys: bytes moved a step and time, fused and not, for each who makes code.

    chains.py EBB [MODEL [NAME=SIZE ...]] [--eval] [--rounds N] [--threads N]

Without a model: chain.ebb beside this file, in evaluation mode. The ways take turns, round by round, in one run; a
round is a process of some steps; of each op its fastest step counts, for other processes only slow it down, and of rounds
the least sum. Memory-bound ops are all
but products, convolutions and attention. memcpy: as many threads as the chain has, the bytes that they read and write.
"""
import argparse
import concurrent.futures
import ctypes
import json
import os
import subprocess
import time

HEAVY = ("conv2d", "linear", "matmul", "attention", "reshape", "stop_gradient")
WAYS = {"op by op": ("--opt-level", "2"), "INTERP": ("--opt-level", "3", "--jit", "INTERP"),
        "LLVM": ("--opt-level", "3", "--jit", "LLVM"), "CC": ("--opt-level", "3", "--jit", "CC"),
        "MLIR": ("--opt-level", "3", "--jit", "MLIR"), "HALIDE": ("--opt-level", "3", "--jit", "HALIDE")}
HERE = os.path.dirname(os.path.abspath(__file__))


def memcpy_rate(threads, n=80_000_000, rounds=5):
    part = n // threads
    buffers = [(ctypes.create_string_buffer(part), ctypes.create_string_buffer(part)) for _ in range(threads)]
    for pair in buffers:
        for place in pair:
            ctypes.memset(place, 1, part)  # else all pages that are read are the same one, of zeros
    best = float("inf")
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for _ in range(rounds):
            begin = time.perf_counter()
            list(pool.map(lambda pair: ctypes.memmove(*pair, part), buffers))  # which lets other threads run
            best = min(best, time.perf_counter() - begin)
    return 2 * part * threads / best


def absent(ebb):
    """Who makes no code here."""
    told = json.loads(subprocess.run([ebb, "doctor", "--json"], capture_output=True, check=True).stdout)
    return {e["name"] for e in told["emitters"] if not e["available"]}


def step(ebb, model, options, way):
    done = subprocess.run([ebb, "run", model, *options, *WAYS[way], "--profile", "--json"], capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{way}: {done.stderr.decode().strip()}")
    rows = [r for r in json.loads(done.stdout)["profile"] if not r["kind"].startswith(HEAVY)]
    return len(rows), sum(r["bytes"] for r in rows), sum(r["least_ns"] for r in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ebb")
    parser.add_argument("model", nargs="?", default=os.path.join(HERE, "chain.ebb"))
    parser.add_argument("dims", nargs="*")
    parser.add_argument("--eval", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", default="6")
    parser.add_argument("--threads", default="1")
    args = parser.parse_args()
    options = ["--threads", args.threads, "--steps", args.steps]
    options += ["--eval"] if args.eval or args.model.endswith("jit/chain.ebb") else []
    for dim in args.dims:
        options += ["--dim", dim]
    missing, best, copy = absent(args.ebb), {}, 0
    ways = [way for way in WAYS if way not in missing]
    for _ in range(args.rounds):
        copy = max(copy, memcpy_rate(int(args.threads)))
        for way in ways:
            n, moved, ns = step(args.ebb, args.model, options, way)
            if way not in best or ns < best[way][2]:
                best[way] = (n, moved, ns)
    base = best["op by op"]
    print(f"memcpy {copy / 1e9:.1f} GB/s")
    print(f"{'':10} {'ops':>5} {'MB':>9} {'of op by op':>12} {'ms':>9} {'times as fast':>14} {'GB/s':>6} {'of memcpy':>10}")
    for way, (n, moved, ns) in best.items():
        rate = moved / ns
        print(f"{way:10} {n:5} {moved / 1e6:9.1f} {moved / base[1]:12.1%} {ns / 1e6:9.2f} {base[2] / ns:14.2f} {rate:6.1f} {rate * 1e9 / copy:10.1%}")


if __name__ == "__main__":
    main()
